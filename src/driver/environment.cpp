// Reads the environment and warns of what may mislead.
#include "driver/environment.h"

#include <cublas_v2.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "lt_audit/variables.h"
#include "platform/process_facts.h"

namespace lt_audit {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// A container often has no entry for its user id in any database, so the id itself is the last resort.
std::string user_name() {
  for (const char* name : {"USER", "LOGNAME"}) {
    if (auto value = variable(name); !value.empty()) return value;
  }
  return fmt::format("uid {}", geteuid());
}

/// PRETTY_NAME of /etc/os-release, without quotes.
std::string distribution() {
  std::ifstream file("/etc/os-release");
  static constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (!std::string_view(line).starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    std::erase_if(line, [](char c) { return c == '"' || c == '\''; });
    return line;
  }
  return {};
}

std::string operating_system() {
  utsname names{};
  std::string kernel = uname(&names) == 0 ? fmt::format("{} {} {}", names.sysname, names.release, names.machine) : "";
  const auto pretty = distribution();
  if (pretty.empty()) return kernel;
  return kernel.empty() ? pretty : fmt::format("{} ({})", pretty, kernel);
}

}  // namespace

Environment read_environment() {
  Environment environment;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) environment.host = host.data();
  environment.user = user_name();
  environment.os = operating_system();
  environment.variables = variables_of_cuda();
  return environment;
}

std::vector<std::string> environment_warnings(const Environment& environment, const Target& target) {
  std::vector<std::string> warnings;
  if (target.kind == PlatformKind::gpu) {
    const auto& lt = target.cublaslt;
    const auto& blas = target.cublas;
    if (blas.loaded() && blas.number() != lt.number()) {
      warnings.push_back(fmt::format(
          "cuBLAS is {} ({}) and cuBLASLt is {} ({}): use both of one version, with --cublas and --cublaslt",
          blas.version(), blas.path, lt.version(), lt.path));
    }
    if (lt.loaded() && lt.number() != CUBLAS_VERSION) {
      warnings.push_back(fmt::format(
          "cuBLASLt is {} and lt-audit was built with the headers of {}.{}.{}: enumerators newer than the older of the "
          "two are unknown",
          lt.version(), CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH));
    }
  }
  for (const auto& rule : variable_rules()) {
    if (!changes_something(rule, environment.variables)) continue;
    warnings.push_back(
        fmt::format("{}={} is set: {}", rule.name, environment.variables.at(std::string(rule.name)), rule.effect));
  }
  return warnings;
}

}  // namespace lt_audit
