// The audit's kernels as work of the simulated machine: bounds, faults and capture hold for them too.
#include <utility>

#include "platform/audit_kernels.h"
#include "platform/simulator/runtime.h"

namespace lt_audit::simulator {
namespace {

std::size_t bytes_of_shape(const MatrixShape& shape) { return static_cast<std::size_t>(shape.bytes()); }

void add_regions(const RegionSet& regions, std::vector<Access>* accesses) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(regions.count); ++i) {
    accesses->push_back({regions.region[i].begin, regions.region[i].bytes});
  }
}

std::vector<Access> accesses_of(const PrepareSpec& spec) {
  std::vector<Access> accesses;
  add_regions(spec.regions, &accesses);
  return accesses;
}

std::vector<Access> accesses_of(const InspectSpec& spec) {
  std::vector<Access> accesses;
  add_regions(spec.regions, &accesses);
  return accesses;
}

std::vector<Access> accesses_of(const CompareSpec& spec) { return {{spec.d, bytes_of_shape(spec.d_shape)}}; }

std::vector<Access> accesses_of(const ProductSpec& spec) {
  std::vector<Access> accesses{{spec.a, bytes_of_shape(spec.a_shape)},
                               {spec.b, bytes_of_shape(spec.b_shape)},
                               {spec.d, bytes_of_shape(spec.d_shape)},
                               {spec.scratch, product_scratch_bytes(spec.m, spec.n, spec.k, spec.vectors)}};
  if (spec.c != nullptr && spec.beta != 0) accesses.push_back({spec.c, bytes_of_shape(spec.c_shape)});
  if (spec.bias != nullptr)
    accesses.push_back({spec.bias, static_cast<std::size_t>(spec.m) * bytes_of(spec.bias_type)});
  return accesses;
}

cudaError_t launch(World& world, std::vector<Access> accesses, std::function<void()> run, cudaStream_t handle) {
  const std::lock_guard guard(world.machine.mutex);
  Stream* stream = nullptr;
  Context* context = nullptr;
  cudaError_t error = world.machine.current(&context);
  if (error == cudaSuccess) error = world.streams.resolve(handle, &stream);
  // A launch into a stream of another context fails (CUDA Programming Guide, section 3.4.1.3).
  if (error == cudaSuccess && stream->context != context) error = cudaErrorInvalidResourceHandle;
  if (error == cudaSuccess) error = world.streams.submit(*stream, {context, std::move(accesses), std::move(run)});
  return world.machine.record(error);
}

template <class Spec>
Fn<cudaError_t(const Spec&, VerificationRecord*, cudaStream_t)> guarded(
    const std::shared_ptr<World>& world,
    const Fn<cudaError_t(const Spec&, VerificationRecord*, cudaStream_t)>& kernel) {
  return [world, kernel](const Spec& spec, VerificationRecord* record, cudaStream_t stream) {
    auto accesses = accesses_of(spec);
    accesses.push_back({record, sizeof *record});
    return launch(
        *world, std::move(accesses), [=] { static_cast<void>(kernel(spec, record, nullptr)); }, stream);
  };
}

}  // namespace

KernelApi guard_kernels(const std::shared_ptr<World>& world, const KernelApi& kernels) {
  KernelApi guarded_kernels;
  guarded_kernels.prepare = [world, kernel = kernels.prepare](const PrepareSpec& spec, cudaStream_t stream) {
    return launch(
        *world, accesses_of(spec), [=] { static_cast<void>(kernel(spec, nullptr)); }, stream);
  };
  guarded_kernels.inspect = guarded<InspectSpec>(world, kernels.inspect);
  guarded_kernels.compare = guarded<CompareSpec>(world, kernels.compare);
  guarded_kernels.freivalds = guarded<ProductSpec>(world, kernels.freivalds);
  guarded_kernels.occupy = [world](std::int64_t, cudaStream_t handle) {
    const std::lock_guard guard(world->machine.mutex);
    Stream* stream = nullptr;
    cudaError_t error = world->streams.resolve(handle, &stream);
    if (error == cudaSuccess) error = world->streams.occupy(*stream);
    return world->machine.record(error);
  };
  guarded_kernels.copy_late = [world, kernel = kernels.copy_late](void* to, const void* from, std::size_t bytes,
                                                                  std::int64_t nanoseconds, cudaStream_t stream) {
    return launch(
        *world, {{to, bytes}, {from, bytes}}, [=] { static_cast<void>(kernel(to, from, bytes, nanoseconds, nullptr)); },
        stream);
  };
  return guarded_kernels;
}

}  // namespace lt_audit::simulator
