// The same product through cuBLAS, the call that an application migrates from.
#pragma once

#include <string>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/owners.h"
#include "lt_audit/platform.h"
#include "matmul/buffers.h"

namespace lt_audit {

/// Why cublasGemmEx and cublasGemmStridedBatchedEx cannot express the problem; empty when they can.
std::string why_not_cublas(const MatmulProblem& problem);

class CublasCall {
 public:
  /// Creates a cuBLAS handle on the stream. Throws AuditError when that fails.
  CublasCall(const Platform& platform, cudaStream_t stream);

  /// One call with C and D in the same memory (buffers.d). True when it returned SUCCESS; the status is in `result`.
  bool gemm(const MatmulProblem& problem, const BufferPlan& buffers, CublasObservation& result);

 private:
  const Platform& platform_;
  BlasHandle handle_;
};

}  // namespace lt_audit
