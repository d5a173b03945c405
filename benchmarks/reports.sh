#!/usr/bin/env bash
# Time and memory of what reads reports: show, gate, diff and every format on reports of 50,000 cases, merge on 100 reports of 10,000.
# Usage: benchmarks/reports.sh LT_AUDIT [CASES]      prints a table in Markdown; needs GNU time (Debian: time)
# The reports are made of the committed one of an H200 by scripts/make_report.py.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[[ $# -ge 1 && -x $1 ]] || { echo "usage: benchmarks/reports.sh LT_AUDIT [CASES]" >&2; exit 2; }
[[ -x /usr/bin/time ]] || { echo "GNU time is missing: apt-get install time" >&2; exit 3; }
program=$(realpath "$1")
cases=${2:-50000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

make_report() { "$root/scripts/make_report.py" "$root/docs/reports/h200-cublaslt-13.1.0.json" "$@"; }
make_report "$cases" new.json --changed 50
make_report "$cases" old.json --slower 1.1
for node in 1 2 3 4; do make_report 10000 "node$node.json" --host "node$node" --slower "1.0$node"; done
hundred=()
for _ in {1..25}; do hundred+=(node1.json node2.json node3.json node4.json); done

commands=$("$program" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
# measure WHAT COMMAND...: the median of five of the wall times and of the processor's (a busy machine lengthens the first alone),
# and the largest memory.
measure() {
  local what=$1 code=0
  shift
  if ! grep -qx "$1" <<<"$commands"; then
    echo "| $what | not in this lt-audit | | | |"
    return
  fi
  : >"times"
  for _ in 1 2 3 4 5; do
    /usr/bin/time --quiet --append --output=times --format='%e %U %S %M' "$program" "$@" >output 2>errors || code=$?
  done
  if [[ $code -gt 1 ]]; then
    echo "| $what | exit code $code: $(head -n 1 errors) | | | |"
    return
  fi
  awk '{print $1, $2 + $3, $4}' "times" | sort -n >sorted
  awk '{print $2}' sorted | sort -n | sed -n 3p >processor
  awk -v what="$what" -v code="$code" -v processor="$(cat processor)" '
    {wall[NR] = $1; if ($3 > most) most = $3}
    END {printf "| %s | %.2f s | %.2f s | %.0f MiB | %d |\n", what, wall[3], processor, most / 1024, code}' sorted
}

echo "| $cases cases, $(($(stat -c %s new.json) / 1048576)) MiB | wall, median of 5 | processor | peak memory | exit code |"
echo "| --- | --- | --- | --- | --- |"
measure "show" show new.json
measure "show --junit" show new.json --junit out.xml
measure "show --sarif" show new.json --sarif out.sarif
measure "show --markdown" show new.json --markdown out.md
measure "show --html" show new.json --html out.html
measure "gate" gate new.json
measure "gate --baseline" gate new.json --baseline old.json
measure "diff" diff old.json new.json
measure "diff --json" diff old.json new.json --json out.json
measure "merge of 100 reports of 10000 cases" merge "${hundred[@]}" --json out.json --markdown out.md
