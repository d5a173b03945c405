// The simulated CUDA runtime as a function table.
#pragma once

#include <memory>

#include "platform/simulator/streams.h"

namespace lt_audit::simulator {

/// What the function tables of one platform share. Functions hold it by shared pointer, so a copied table stays usable.
struct World {
  explicit World(const SimulatorOptions& options) : machine(options), streams(machine) {}
  Machine machine;
  Streams streams;
};

CudaApi make_cuda_api(const std::shared_ptr<World>& world);

/// The audit's kernels run on the host as work of a stream: regions outside live memory are a fault, capture captures.
KernelApi guard_kernels(const std::shared_ptr<World>& world, const KernelApi& kernels);

}  // namespace lt_audit::simulator
