// make_simulator_platform: the simulated machine, the libraries on it and the audit's kernels as one platform.
#include "platform/host_kernels.h"
#include "platform/platforms.h"
#include "platform/simulator/library.h"

namespace lt_audit {

Platform make_simulator_platform(const SimulatorOptions& options) {
  const auto world = std::make_shared<simulator::World>(options);
  const auto library = std::make_shared<simulator::Library>(world);
  Platform platform;
  platform.kind = PlatformKind::simulator;
  platform.cuda = simulator::make_cuda_api(world);
  platform.lt = simulator::make_lt_api(library);
  platform.blas = simulator::make_blas_api(library);
  platform.kernels = simulator::guard_kernels(world, host_kernel_table());
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
