// What runs and verifies one matmul at a time in one context: a slab of device memory, a stream, the verifier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/owners.h"
#include "lt_audit/platform.h"
#include "matmul/buffers.h"
#include "matmul/cublas_call.h"
#include "matmul/exact_inputs.h"
#include "matmul/verifier.h"

namespace lt_audit {

class Bench {
 public:
  /// Makes a non-blocking stream in the current context. The slab comes with the first problem, and at least
  /// `first_slab_bytes` of it, so that later problems find it. Throws AuditError.
  Bench(const Platform& platform, std::uint64_t seed, std::size_t first_slab_bytes);

  const Platform& platform() const { return platform_; }
  cudaStream_t stream() const { return stream_.get(); }
  Verifier& verifier() { return verifier_; }
  /// cuBLAS on this stream, its handle made at the first use.
  CublasCall& cublas();
  /// GPU microseconds of what `work` launches, a handful of calls: with more the host falls behind a GPU that is
  /// faster, and its time counts too. Synchronises the stream. Nothing where the platform has no clock.
  std::optional<double> gpu_us(const std::function<void()>& work);

  /// Buffers with addresses for the problem; those of an earlier problem are gone. Nothing, and the reason in
  /// `not_run`, when it cannot be laid out or does not fit into free memory.
  std::optional<BufferPlan> place(const MatmulProblem& problem, const ExactInputs& inputs, std::string& not_run);

 private:
  std::optional<std::string> make_room(std::size_t bytes);

  const Platform& platform_;
  std::size_t first_slab_bytes_;
  Stream stream_;
  DeviceMemory slab_;
  std::size_t slab_bytes_ = 0;
  Verifier verifier_;
  std::unique_ptr<CublasCall> cublas_;
  Event started_;
  Event stopped_;
};

}  // namespace lt_audit
