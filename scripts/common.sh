# shellcheck shell=bash
# Sourced by the other scripts: where the project is, how to speak, where CUDA is.

# shellcheck disable=SC2034  # used by the scripts that source this file
LT_AUDIT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly LT_AUDIT_ROOT
readonly LT_AUDIT_CUDA_MINIMUM=13

# Everything that a script says goes to stderr: stdout belongs to the program that it runs.
say() { printf '%s\n' "$*" >&2; }

# die CODE SENTENCE
die() {
  local code=$1
  shift
  say "$*"
  exit "$code"
}

# Major release of an nvcc, 0 when it does not say.
cuda_major() {
  local release
  release=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  printf '%s' "${release:-0}"
}

# Makes CMake take an nvcc that is new enough. By itself it looks on PATH only, and the installers of NVIDIA put it into
# /usr/local/cuda*/bin without touching PATH.
require_cuda() {
  local nvcc seen="" candidates=()
  [[ -n ${CUDACXX:-} ]] && candidates+=("$CUDACXX")
  nvcc=$(command -v nvcc) && candidates+=("$nvcc")
  while IFS= read -r nvcc; do candidates+=("$nvcc"); done < <(
    find /usr/local -maxdepth 3 -path '/usr/local/cuda*/bin/nvcc' 2>/dev/null | sort -rV)
  for nvcc in "${candidates[@]}"; do
    if [[ $(cuda_major "$nvcc") -ge $LT_AUDIT_CUDA_MINIMUM ]]; then
      PATH=$(dirname "$nvcc"):$PATH
      export PATH CUDACXX="$nvcc"
      return 0
    fi
    seen=${seen:-$nvcc is older than that}
  done
  die 3 "CUDA toolkit $LT_AUDIT_CUDA_MINIMUM.0 or newer not found (${seen:-no nvcc on PATH or under /usr/local/cuda*/bin}):" \
    "install it from https://developer.nvidia.com/cuda-downloads (package cuda-toolkit-13-0), or set CUDACXX to its nvcc."
}

# logged FILE COMMAND...: the output goes to FILE; a failure shows its end and says where the rest is.
logged() {
  local log=$1 code=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null || code=$?
  if [[ $code -ne 0 ]]; then
    tail -n 40 "$log" >&2
    say "failed with code $code: $* (all of its output: $log)"
  fi
  return "$code"
}
