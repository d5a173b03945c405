// Scenarios that only look: libraries, driver, device, memory, variables.
#include <cublas_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "environment_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/variables.h"

namespace lt_audit::environment {
namespace {

/// "13.1.0" by the library's own word; empty when it has none.
template <class Api>
std::string version_of(const Api& api) {
  if (!api.get_property) return {};
  std::array<int, 3> parts{};
  constexpr std::array kProperties{MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (api.get_property(kProperties[i], &parts[i]) != CUBLAS_STATUS_SUCCESS) return {};
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

/// 13000 -> "13.0".
std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The files of the first library that is loaded more than once.
std::string loaded_twice(const std::vector<std::string>& paths) {
  for (const std::string_view stem : {"libcublasLt.so", "libcublas.so"}) {
    std::string files;
    int count = 0;
    for (const auto& path : paths) {
      if (!file_name(path).starts_with(stem)) continue;
      files += (count == 0 ? "" : " ") + path;
      ++count;
    }
    if (count > 1) return files;
  }
  return {};
}

std::string name_of_compute_mode(int mode) {
  switch (mode) {
    case cudaComputeModeDefault:
      return "default";
    case cudaComputeModeProhibited:
      return "prohibited";
    default:
      return "exclusive";
  }
}

}  // namespace

Observation look_at_libraries(Session& session, const Case& /*the_case*/) {
  const auto& platform = session.platform();
  Observation seen;
  auto& facts = seen.facts;
  facts[kLtVersion] = version_of(platform.lt);
  facts[kLtMajor] = facts[kLtVersion].substr(0, facts[kLtVersion].find('.'));
  facts[kBlasVersion] = version_of(platform.blas);
  facts[kLtPath] = platform.cublaslt.path;
  facts[kBlasPath] = platform.cublas.path;
  facts[kHeaders] = fmt::format("{}.{}.{}", CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH);
  if (platform.process_facts) facts[kTwice] = loaded_twice(platform.process_facts().libraries);
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return seen;
}

Observation look_at_driver(Session& session, const Case& the_case) {
  auto seen = look_at_libraries(session, the_case);
  int driver = 0;
  int runtime = 0;
  require(session.platform().cuda.driver_get_version(&driver), "cudaDriverGetVersion");
  require(session.platform().cuda.runtime_get_version(&runtime), "cudaRuntimeGetVersion");
  seen.facts[kDriver] = cuda_version(driver);
  seen.facts["runtime_cuda"] = cuda_version(runtime);
  return seen;
}

Observation look_at_device(Session& session, const Case& the_case) {
  DeviceModes modes;
  require(session.platform().cuda.get_device_modes(&modes, session.target().device), "cudaDeviceGetAttribute");
  Observation seen;
  const auto& what = the_case.parameters.at(kDeviceParameter);
  const auto on_or_off = [](bool on) { return std::string(on ? "on" : "off"); };
  auto& mode = seen.facts[kMode];
  if (what == "compute-mode") mode = name_of_compute_mode(modes.compute_mode);
  if (what == "mig") mode = on_or_off(modes.mig);
  if (what == "mps") mode = on_or_off(modes.mps);
  if (what == "ecc") {
    // The attribute says "off" also for a device that has none; those of data centres all have it.
    constexpr std::array kWithEcc{80, 90, 100, 103};
    const auto& facts = session.target().device_facts;
    const bool has_ecc = std::count(kWithEcc.begin(), kWithEcc.end(), facts.compute_capability()) > 0;
    mode = modes.ecc || has_ecc ? on_or_off(modes.ecc) : "unknown";
  }
  return seen;
}

Observation look_at_memory(Session& session, const Case& /*the_case*/) {
  std::size_t free_now = 0;
  std::size_t total = 0;
  require(session.platform().cuda.mem_get_info(&free_now, &total), "cudaMemGetInfo");
  Observation seen;
  seen.facts[kFreeMiB] = fmt::to_string(free_now >> 20);
  seen.facts["total_mib"] = fmt::to_string(total >> 20);
  return seen;
}

Observation look_at_variable(Session& session, const Case& the_case) {
  if (!session.platform().process_facts) throw NotRun("the platform does not tell the variables of the process");
  const auto variables = session.platform().process_facts().variables;
  const auto& name = the_case.parameters.at(kNameParameter);
  Observation seen;
  const auto found = variables.find(name);
  if (found == variables.end()) return seen;
  const auto rules = variable_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const VariableRule& r) { return r.name == name; });
  const bool matters = rule != rules.end() && changes_something(*rule, variables);
  seen.facts[matters ? kValue : "harmless_value"] = found->second;
  return seen;
}

}  // namespace lt_audit::environment
