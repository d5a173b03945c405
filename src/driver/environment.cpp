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

bool is_relevant(std::string_view name) {
  // What container images demand of a host: pages of text that no library reads.
  if (name == "NVIDIA_REQUIRE_CUDA") return false;
  return name.starts_with("CUDA_") || name.starts_with("CUBLAS") || name.starts_with("NVIDIA_") ||
         name == "LD_LIBRARY_PATH" || name == "LD_PRELOAD";
}

struct VariableWarning {
  const char* name;
  const char* text;
};
constexpr std::array kVariableWarnings{
    VariableWarning{"CUBLASLT_LOG_LEVEL", "the library's logger is switched on and slows every call"},
    VariableWarning{"CUBLASLT_LOG_MASK", "the library's logger is switched on and slows every call"},
    VariableWarning{"CUBLASLT_LOG_FILE", "the library's own log goes into that file"},
    VariableWarning{"CUDA_LAUNCH_BLOCKING", "every launch waits, so that times mean little and races do not show"},
    VariableWarning{"NVIDIA_TF32_OVERRIDE", "the library ignores or forces TF32 whatever the compute type says"},
    VariableWarning{"LD_PRELOAD", "a preloaded library may replace functions under test"},
};

}  // namespace

Environment read_environment() {
  Environment environment;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) environment.host = host.data();
  environment.user = user_name();
  environment.os = operating_system();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !is_relevant(text.substr(0, equals))) continue;
    environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
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
  for (const auto& [name, text] : kVariableWarnings) {
    const auto found = environment.variables.find(name);
    if (found == environment.variables.end() || found->second.empty()) continue;
    if (found->second == "0" && std::string_view(name) != "NVIDIA_TF32_OVERRIDE") continue;
    warnings.push_back(fmt::format("{}={} is set: {}", name, found->second, text));
  }
  return warnings;
}

}  // namespace lt_audit
