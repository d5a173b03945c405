// make_simulator_platform: the simulated machine, the libraries on it and the audit's kernels as one platform.
#include "platform/host_kernels.h"
#include "platform/platforms.h"
#include "platform/process_facts.h"
#include "platform/simulator/library.h"

namespace lt_audit {
namespace {

std::map<std::string, std::string> simulated_variables(const SimulatorOptions& options) {
  auto variables = variables_of_cuda();
  for (const auto& [name, value] : options.variables) {
    if (value.empty()) variables.erase(name);
    if (!value.empty()) variables[name] = value;
  }
  return variables;
}

}  // namespace

Platform make_simulator_platform(const SimulatorOptions& options) {
  const auto world = std::make_shared<simulator::World>(options);
  const auto variables = simulated_variables(options);
  const auto tf32 = variables.find("NVIDIA_TF32_OVERRIDE");
  const auto library = std::make_shared<simulator::Library>(world, tf32 != variables.end() && tf32->second == "0");
  Platform platform;
  platform.kind = PlatformKind::simulator;
  platform.cuda = simulator::make_cuda_api(world);
  platform.lt = simulator::make_lt_api(library);
  platform.blas = simulator::make_blas_api(library);
  platform.kernels = simulator::guard_kernels(world, host_kernel_table());
  platform.process_facts = [world] {
    const auto& simulated = world->machine.options();
    return ProcessFacts{simulated_variables(simulated), simulated.libraries};
  };
  LibraryFacts facts;
  facts.major = options.library_number / 10000;
  facts.minor = options.library_number / 100 % 100;
  facts.patch = options.library_number % 100;
  facts.version_number = static_cast<std::uint64_t>(options.library_number);
  platform.cublaslt = facts;
  platform.cublas = facts;
  platform.owner = library;
  return platform;
}

}  // namespace lt_audit
