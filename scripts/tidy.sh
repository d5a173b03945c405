#!/usr/bin/env bash
# clang-tidy over every .cpp file (or the files given), several at a time; .clang-tidy in the root says which checks.
# Usage: scripts/tidy.sh BUILD_DIR [FILE...]      BUILD_DIR has compile_commands.json
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

[[ $# -ge 1 && -f $1/compile_commands.json ]] ||
  die 2 "usage: scripts/tidy.sh BUILD_DIR [FILE...] (BUILD_DIR/compile_commands.json must exist: configure first)"
build=$(cd "$1" && pwd)
shift
clang_tidy=${CLANG_TIDY:-clang-tidy-14}
command -v "$clang_tidy" >/dev/null || die 3 "$clang_tidy not found: run scripts/install_packages.sh test"

tidy_one() {
  local output code=0
  output=$("$1" -p "$2" --quiet "$3" 2>&1) || code=$?
  if [[ $code -ne 0 ]]; then
    printf '%s\n' "$output" | grep -v 'warnings generated\|Suppressed [0-9]* warnings\|Use -header-filter' || true
    printf 'clang-tidy: %s\n' "$3"
  fi
  return "$code"
}
export -f tidy_one

# clang 14 takes GCC's own warning flags for errors.
mkdir -p "$build/tidy"
sed 's/ -Wno-restrict//g' "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
build=$build/tidy

cd "$LT_AUDIT_ROOT"
if [[ $# -gt 0 ]]; then
  files=("$@")
else
  # Big files first, so that no long one is left alone at the end.
  mapfile -t files < <(find checks src tests -name '*.cpp' -printf '%s %p\n' | sort -rn | cut -d' ' -f2-)
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy_one "$@"' tidy "$clang_tidy" "$build" ||
  die 1 "clang-tidy found something; each finding names its check, .clang-tidy lists them"
