#!/usr/bin/env bash
# The one list of Debian and Ubuntu packages; installs those that are missing and looks for the CUDA toolkit.
# Usage: scripts/install_packages.sh [build|test]     build: what the program needs (default); test: what scripts/test.sh needs
# LT_AUDIT_SKIP_INSTALL=1 trusts the machine and installs nothing. Exit code 3 when something cannot be had.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

build_packages=(
  cmake
  g++
  libcli11-dev
  libfmt-dev
  # Waiver files are TOML; headers alone, nothing of it is needed at run time.
  libtomlplusplus-dev
  ninja-build
  nlohmann-json3-dev
  # Logs come compressed; the format is zlib's.
  zlib1g-dev
)
# clang-format and clang-tidy by version: another version formats and warns differently.
test_packages=(
  "${build_packages[@]}"
  binutils
  ccache
  clang-format-14
  clang-tidy-14
  dpkg-dev
  file
  libgtest-dev
  # xmllint holds JUnit documents against the schema of their consumers.
  libxml2-utils
  # slurmd and slurmctld take credentials from munge; tests/slurm_test.sh starts all three.
  munge
  python3
  python3-jsonschema
  # The validators of JUnit, SARIF and the files under deploy/ come from PyPI and get environments of their own.
  python3-venv
  shellcheck
  # The job file for clusters runs on the real slurmctld and slurmd.
  slurm-wlm
)

# Opens the HTML pages as a reader does, through WebDriver. Ubuntu has Chromium as a snap alone: its test is skipped there.
browser_packages=(
  chromium
  chromium-driver
  python3-selenium
)

case ${1:-build} in
  build) packages=("${build_packages[@]}") ;;
  test)
    packages=("${test_packages[@]}")
    if grep -qsx 'ID=debian' /etc/os-release; then packages+=("${browser_packages[@]}"); fi
    ;;
  *) die 2 "usage: scripts/install_packages.sh [build|test]" ;;
esac

install_missing() {
  local missing=() package as_root=()
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return 0
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || die 3 "These packages are missing and this user is not root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "packages: installing ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
  # A stale or half reachable index is no reason to stop while the packages themselves can be had.
  "${as_root[@]}" update </dev/null >&2 || say "packages: apt-get update had errors, going on with the index there is"
  "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2 ||
    die 3 "apt-get could not install ${missing[*]}: install them by hand and run again."
}

if [[ ${LT_AUDIT_SKIP_INSTALL:-0} != 1 ]]; then
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    die 3 "This is neither Debian nor Ubuntu: install the equivalents of ${packages[*]}, then run again with" \
      "LT_AUDIT_SKIP_INSTALL=1 in the environment."
  fi
  install_missing
fi
require_cuda
