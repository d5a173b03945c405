// Fills the buffers of a problem and finds out afterwards what the matmul did to them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/owners.h"
#include "lt_audit/platform.h"
#include "matmul/buffers.h"
#include "matmul/exact_inputs.h"

namespace lt_audit {

class Verifier {
 public:
  Verifier(const Platform& platform, cudaStream_t stream, std::uint64_t seed);

  /// Bytes behind the buffers that verification of this problem needs.
  std::size_t scratch_bytes(const MatmulProblem& problem, const ExactInputs& inputs) const;
  void use_scratch(void* scratch) { scratch_ = scratch; }

  /// Inputs, poison, guard zones; zeroes the record. Asynchronous. Throws AuditError when a launch fails.
  void prepare(const MatmulProblem& problem, const ExactInputs& inputs, const BufferPlan& buffers);

  /// Launches inspection of all memory and, for an accepted call, the comparison of D, and copies the record to the
  /// host. Asynchronous; a status other than success means that the context was already lost.
  cudaError_t launch(const MatmulProblem& problem, const ExactInputs& inputs, const BufferPlan& buffers, bool accepted);

  /// What was found; the stream must have been synchronized. A failed Freivalds check is followed by the full
  /// comparison, which synchronizes once more.
  Verification read(const MatmulProblem& problem, const ExactInputs& inputs, const BufferPlan& buffers, bool accepted);

  /// Zeroes the record, as prepare does: for a second look at memory that was prepared once. Asynchronous.
  cudaError_t reset_record();

 private:
  cudaError_t fetch_record();
  bool uses_freivalds(const MatmulProblem& problem, const ExactInputs& inputs) const;
  VerificationRecord* device_record() const { return static_cast<VerificationRecord*>(device_record_.get()); }

  const Platform& platform_;
  cudaStream_t stream_;
  std::uint64_t seed_;
  void* scratch_ = nullptr;
  DeviceMemory device_record_;
  HostMemory host_record_;
};

}  // namespace lt_audit
