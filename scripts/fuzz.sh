#!/usr/bin/env bash
# Fuzzes the readers of untrusted input with libFuzzer, AddressSanitizer and UBSan.
# Usage: scripts/fuzz.sh SECONDS [NAME...]      NAME of fuzz/NAME_fuzz.cpp; without one, all; Debian: clang-14
# What is found stays in build/fuzz/NAME; exit code 1 when something was.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$LT_AUDIT_ROOT"

[[ ${1:-} =~ ^[0-9]+$ ]] || die 2 "usage: scripts/fuzz.sh SECONDS [NAME...]"
seconds=$1
shift
clang=${CLANGXX:-clang++-14}
command -v "$clang" >/dev/null || die 3 "$clang not found: apt-get install clang-14"
names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
  for file in fuzz/*_fuzz.cpp; do names+=("$(basename "$file" _fuzz.cpp)"); done
fi

# recorded_calls.cpp is of the tests.
# CUDA's headers are wanted for their enumerators alone.
include=(-Iinclude -Isrc -isystem /usr/local/cuda/include)
sources=(src/workload/importers/*.cpp src/workload/import.cpp src/workload/workload_builder.cpp
  src/workload/problem_text.cpp src/model/*.cpp src/report/*.cpp src/gate/*.cpp src/compare/*.cpp)
mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -v -e '_test\.cpp$' -e recorded_calls -e sample_)

# Compiled once for all names.
# shellcheck disable=SC2054
flags=(-std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined "${include[@]}")
launcher=()
if command -v ccache >/dev/null; then launcher=(ccache); fi
say "fuzz: compiling ${#sources[@]} files"
rm -rf build/fuzz/objects
mkdir -p build/fuzz/objects
# shellcheck disable=SC2016
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c \
  '"${@:1:$#-1}" -c "${@: -1}" -o "build/fuzz/objects/$(tr / _ <<<"${@: -1}").o"' fuzz \
  "${launcher[@]}" "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link

failed=0
for name in "${names[@]}"; do
  [[ -f fuzz/${name}_fuzz.cpp ]] || die 2 "there is no fuzz/${name}_fuzz.cpp"
  folder=build/fuzz/$name
  mkdir -p "$folder/corpus"
  say "fuzz: $name for $seconds s"
  "$clang" "${flags[@]}" -fsanitize=fuzzer "fuzz/${name}_fuzz.cpp" build/fuzz/objects/*.o -lz -o "$folder/$name"
  seeds=tests/data/fuzz/$name
  [[ -d $seeds ]] || seeds=tests/data/workloads
  "$folder/$name" "$folder/corpus" "$seeds" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 \
    -artifact_prefix="$folder/" -print_final_stats=1 2>"$folder/log" || failed=1
  grep -E 'stat::number_of_executed_units|ERROR|SUMMARY' "$folder/log" || true
done
exit "$failed"
