#!/usr/bin/env bash
# Formats all C++ and CUDA files in place; with --check changes nothing and fails when a file would change.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

arguments=(-i)
case ${1:-} in
  "") ;;
  --check) arguments=(--dry-run --Werror) ;;
  *) die 2 "usage: scripts/format.sh [--check]" ;;
esac

# Another version formats differently, so the name carries the version.
clang_format=${CLANG_FORMAT:-clang-format-14}
command -v "$clang_format" >/dev/null || die 3 "$clang_format not found: run scripts/install_packages.sh test"

cd "$LT_AUDIT_ROOT"
find benchmarks checks fuzz include src tests -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 -n 16 -P "$(nproc)" "$clang_format" "${arguments[@]}"
