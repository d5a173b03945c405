// The same product through cuBLAS, the call that an application migrates from.
#pragma once

#include <string>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/owners.h"
#include "lt_audit/platform.h"
#include "lt_audit/prepared_matmul.h"
#include "matmul/buffers.h"
#include "matmul/scalars.h"

namespace lt_audit {

/// Why the problem cannot be put to this cuBLAS in the form; empty when it can.
std::string why_not_in_form(const BlasApi& blas, const MatmulProblem& problem, const CublasForm& form);

class CublasCall {
 public:
  /// Creates a cuBLAS handle on the stream. Throws AuditError when that fails.
  CublasCall(const Platform& platform, cudaStream_t stream);

  /// Pointer mode of the problem, math mode and workspace of the form. False when one is refused: function and status
  /// are in `result`.
  bool set_modes(const MatmulProblem& problem, const BufferPlan& buffers, const CublasForm& form,
                 CublasObservation& result);

  /// One call with C and D in the same memory (buffers.d). True when it returned SUCCESS; the status is in `result`.
  bool gemm(const MatmulProblem& problem, const BufferPlan& buffers, CublasObservation& result);
  /// The same with scalars of the caller, which lie where the pointer mode says.
  bool gemm(const MatmulProblem& problem, const BufferPlan& buffers, const ScalarPointers& scalars,
            CublasObservation& result);
  /// The same by cublasSgemm or cublasDgemm.
  bool gemm_by_type(const MatmulProblem& problem, const BufferPlan& buffers, const ScalarPointers& scalars,
                    CublasObservation& result);

 private:
  const Platform& platform_;
  BlasHandle handle_;
};

}  // namespace lt_audit
