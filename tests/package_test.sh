#!/usr/bin/env bash
# The installed program works: from `cmake --install`, from the .deb and from the .tar.gz, with nothing of CUDA in reach.
# Usage: tests/package_test.sh BUILD_DIR PACKAGE_DIR
set -euo pipefail

build=$1
packages=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect TEXT COMMAND...: counts, and says what failed with the output of the command.
expect() {
  local text=$1
  shift
  if "$@" >"$work/output" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "package_test: FAILED: $text"
    tail -n 20 "$work/output"
  fi
}

# No CUDA: neither the variables of this shell nor its PATH.
bare() { env -i PATH=/usr/bin:/bin HOME="$work" LANG=C.UTF-8 "$@"; }

says() {
  local pattern=$1
  shift
  bare "$@" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
  cat "$work/said"
  grep -q -- "$pattern" "$work/said"
}

# Only glibc, and no library of CUDA: those are opened at run time, so that one binary audits any version.
needs_only_glibc() {
  local needed foreign
  needed=$(readelf --dynamic "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  foreign=$(grep -vE '^((libc|libm|libdl|librt|libpthread)\.so\.[0-9]+|ld-linux.*\.so\.[0-9]+)$' <<<"$needed" || true)
  echo "needed: $needed"
  [[ -n $needed && -z $foreign ]]
}

# The fastest of five, in microseconds: a busy machine must not fail the test, a slow program must.
starts_quickly() {
  local best=999999999 began elapsed
  for _ in 1 2 3 4 5; do
    began=${EPOCHREALTIME/[.,]/}
    bare "$@" >/dev/null || return 1
    elapsed=$((${EPOCHREALTIME/[.,]/} - began))
    [[ $elapsed -lt $best ]] && best=$elapsed
  done
  echo "fastest of five: $best us: $*"
  [[ $best -lt 50000 ]]
}

# check_tree NAME PREFIX
check_tree() {
  local name=$1 program=$2/bin/lt-audit documents=$2/share/doc/lt-audit file
  expect "$name: --version" says '^lt-audit [0-9]*\.[0-9]*\.[0-9]*' "$program" --version
  expect "$name: list names alignment" says alignment "$program" list
  expect "$name: explain alignment" says alignment "$program" explain alignment
  expect "$name: no library but glibc" needs_only_glibc "$program"
  expect "$name: --version starts within 50 ms" starts_quickly "$program" --version
  expect "$name: list starts within 50 ms" starts_quickly "$program" list
  expect "$name: explain starts within 50 ms" starts_quickly "$program" explain alignment
  for file in README.md LICENSE CHANGELOG.md docs/report.md docs/report.schema.json data/known-issues.json deploy/slurm/lt-audit.sbatch ../../lt-audit/lt-audit.cmake checks/alignment/alignment.md; do
    expect "$name: $file is installed" test -s "$documents/$file"
  done
  expect "$name: runs from there" says 'SIMULATOR' "$program" run --target simulator --depth quick --json "$work/$name.json" alignment
}

only() {
  [[ $# -eq 1 && -f $1 ]] || { echo "package_test: expected one package of each kind in $packages, found: $*" >&2; exit 1; }
  printf '%s' "$1"
}
deb=$(only "$packages"/*.deb)
archive=$(only "$packages"/*.tar.gz)

expect "cmake --install" cmake --install "$build" --prefix "$work/install"
check_tree install "$work/install"

expect "dpkg -x" dpkg -x "$deb" "$work/deb"
check_tree deb "$work/deb/usr"
expect "the .deb depends on glibc alone" bash -c "[[ \$(dpkg-deb -f '$deb' Depends) =~ ^libc6\ \(\>=\ [0-9.]+\)\$ ]]"

mkdir "$work/archive"
expect "tar -x" tar -xzf "$archive" -C "$work/archive" --strip-components=1
check_tree archive "$work/archive"

echo "package: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
