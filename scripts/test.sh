#!/usr/bin/env bash
# Sets up the machine and runs all tests; no GPU needed, tests that want one skip themselves.
# Usage: scripts/test.sh [STEP...]      steps in their order: format release package asan tidy; without one, all of them
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$LT_AUDIT_ROOT"

all_steps=(format release package asan tidy)
jobs=$(nproc)

# A compiler cache only shortens the second run; a launcher chosen by the user stays.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}
}

# configure PRESET: with tests, also where quickstart.sh has configured the same folder without them.
configure() { logged "build/$1/configure.log" cmake --preset "$1" -DLT_AUDIT_TESTS=ON; }
build() { logged "build/$1/build.log" cmake --build "build/$1" --parallel "$jobs"; }

step_format() {
  scripts/format.sh --check
  shellcheck -x .ci/run benchmarks/*.sh deploy/*/*.sh deploy/slurm/lt-audit.sbatch scripts/*.sh tests/*.sh
}

step_release() {
  configure release
  build release
  ctest --preset release --parallel "$jobs"
}

step_package() {
  configure release
  build release
  logged build/release/cpack.log cpack --config build/release/CPackConfig.cmake -G "DEB;TGZ" -B build/release/packages
  tests/package_test.sh build/release build/release/packages
}

# LeakSanitizer needs ptrace, which some containers forbid: then it fails in every program, a leak or not.
leak_detection() {
  local probe=build/asan/leak_probe
  mkdir -p build/asan
  echo 'int main() {}' >"$probe.cpp"
  g++ -fsanitize=address -o "$probe" "$probe.cpp"
  if ASAN_OPTIONS=detect_leaks=1 "$probe" >/dev/null 2>&1; then echo 1; else echo 0; fi
}

step_asan() {
  local leaks
  leaks=$(leak_detection)
  [[ $leaks == 1 ]] || say "asan: LeakSanitizer does not work here, leaks are not looked for"
  configure asan
  build asan
  # handle_segv=0: a worker that dies of SIGSEGV must die of it, since the tests look at the signal.
  # No GPU tests: CUDA and the shadow memory want the same addresses.
  ASAN_OPTIONS=detect_leaks=$leaks:handle_segv=0:handle_abort=0:handle_sigbus=0:strict_string_checks=1 \
    UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan --parallel "$jobs" --label-exclude gpu
}

step_tidy() {
  configure release
  scripts/tidy.sh build/release
}

steps=("$@")
[[ $# -gt 0 ]] || steps=("${all_steps[@]}")
for step in "${steps[@]}"; do
  [[ " ${all_steps[*]} " == *" $step "* ]] || die 2 "scripts/test.sh: no step '$step'; steps are: ${all_steps[*]}"
done

trap 'code=$?; [[ $code -eq 0 ]] || say "== ${step:-setup} failed (exit code $code)"' EXIT
unset step
scripts/install_packages.sh test
require_cuda
use_ccache
for step in "${steps[@]}"; do
  say "== $step"
  began=$SECONDS
  # Not in a condition: `set -e` does not hold inside one, and a failing command in the middle of a step would be lost.
  "step_$step"
  say "== $step passed in $((SECONDS - began)) s"
done
