#!/usr/bin/env bash
# The step of action.yml: inputs come as variables, outputs go to $GITHUB_OUTPUT, the exit code is the program's.
set -euo pipefail

program=${LT_AUDIT:-lt-audit}
command -v "$program" >/dev/null || {
  echo "::error::lt-audit is not on this runner: '$program' not found; install the .deb or give the input 'program'"
  exit 3
}

if [[ -n ${INPUT_REPORT:-} ]]; then
  report=$INPUT_REPORT
  command=(gate "$report")
else
  report=${INPUT_JSON:-lt-audit.json}
  command=(run --json "$report" --progress never)
fi
[[ -z ${INPUT_BASELINE:-} ]] || command+=(--baseline "$INPUT_BASELINE")
[[ -z ${INPUT_WAIVERS:-} ]] || command+=(--waivers "$INPUT_WAIVERS")
[[ -z ${INPUT_FAIL_ON:-} ]] || command+=(--fail-on "$INPUT_FAIL_ON")
[[ -z ${INPUT_SARIF:-} ]] || command+=(--sarif "$INPUT_SARIF")
read -r -a further <<<"${INPUT_ARGS:-}"
command+=(${further[@]+"${further[@]}"})

code=0
"$program" "${command[@]}" || code=$?
{
  echo "report=$report"
  echo "exit-code=$code"
} >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
