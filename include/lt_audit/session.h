// What Check::observe works with: a platform, the target's facts and the matmul engine, whole or in steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/platform.h"
#include "lt_audit/prepared_matmul.h"
#include "lt_audit/target.h"

namespace lt_audit {

class MatmulEngine;

class Session {
 public:
  /// How another process differs from this one.
  struct OtherProcessOptions {
    RunOptions run = {};
    /// Variables set over there, in place of those of the same name here; an empty value takes one away.
    std::map<std::string, std::string> variables = {};
  };
  /// Runs a problem as the engine does, in a fresh process with the same options.
  using OtherProcess = std::function<Observation(const MatmulProblem&, const OtherProcessOptions&)>;

  /// `engine` must outlive the session.
  Session(const Platform& platform, const Target& target, MatmulEngine& engine, OtherProcess other_process = {});

  const Platform& platform() const { return platform_; }
  const Target& target() const { return target_; }

  /// Runs the problem with guarded buffers and verifies the result; never throws for a status of the library.
  /// Throws AuditError when the audit's own calls fail (allocation, stream, kernels).
  Observation run(const MatmulProblem& problem);
  Observation run(const MatmulProblem& problem, const RunOptions& options);

  /// Runs the same product through cuBLAS on freshly prepared buffers.
  CublasObservation run_cublas(const MatmulProblem& problem);

  /// The problem run by another process on the same device, which makes its own handle and loads its own kernels. Its
  /// crash or lost context is its observation's end.
  Observation run_in_other_process(const MatmulProblem& problem);
  Observation run_in_other_process(const MatmulProblem& problem, const OtherProcessOptions& options);

  /// The engine's handle, made in the context of the worker's device.
  cublasLtHandle_t handle();

  /// The problem in the engine's pooled memory, for a sequence of calls. One at a time: std::logic_error for a second,
  /// and run must wait until it is gone.
  PreparedMatmul prepare(const MatmulProblem& problem);
  /// The problem in memory and on a stream of its own, in the context and on the device that are current. Any number.
  PreparedMatmul prepare_apart(const MatmulProblem& problem);

  /// Gives back what the engine holds on the device: before the device is reset.
  void release_engine();

 private:
  const Platform& platform_;
  const Target& target_;
  MatmulEngine& engine_;
  OtherProcess other_process_;
};

}  // namespace lt_audit
