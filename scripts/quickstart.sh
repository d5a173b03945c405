#!/usr/bin/env bash
# From a fresh checkout to a report: installs what is missing, builds, audits this machine.
# Arguments are those of `lt-audit run`; the report is lt-audit.json in the current directory; the exit code is the run's.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
build=$LT_AUDIT_ROOT/build/release

build_program() {
  # Unix Makefiles or another leftover generator in the folder would be CMake's error to explain; it does.
  (cd "$LT_AUDIT_ROOT" && cmake --preset release -DLT_AUDIT_TESTS=OFF) &&
    cmake --build "$build" --parallel "$(nproc)" --target lt-audit
}

say "[1/3] packages and CUDA toolkit"
"$LT_AUDIT_ROOT/scripts/install_packages.sh" build || exit 3
require_cuda

say "[2/3] build: $build/lt-audit (log: $build/quickstart.log)"
logged "$build/quickstart.log" build_program || exit 3

# `auto` audits the GPU, and the simulator with a loud first line when there is none; the user's own --target wins.
target=(--target auto)
for argument in "$@"; do
  [[ $argument == --target || $argument == --target=* ]] && target=()
done
say "[3/3] lt-audit run ${target[*]} $*"
exec "$build/lt-audit" run "${target[@]}" "$@"
