// What Check::observe works with: a platform, the target's facts and the matmul engine behind two calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/platform.h"
#include "lt_audit/target.h"

namespace lt_audit {

class MatmulEngine;

class Session {
 public:
  /// `engine` must outlive the session.
  Session(const Platform& platform, const Target& target, MatmulEngine& engine);

  const Platform& platform() const { return platform_; }
  const Target& target() const { return target_; }

  /// Runs the problem with guarded buffers and verifies the result; never throws for a status of the library.
  /// Throws AuditError when the audit's own calls fail (allocation, stream, kernels).
  Observation run(const MatmulProblem& problem);

  /// Runs the same product through cuBLAS on freshly prepared buffers.
  CublasObservation run_cublas(const MatmulProblem& problem);

 private:
  const Platform& platform_;
  const Target& target_;
  MatmulEngine& engine_;
};

}  // namespace lt_audit
