// The matmul engine: runs one problem on a platform and returns the observation. Owns the pooled device memory, the
// stream and the library handles of a worker, so that a warm case allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/platform.h"
#include "lt_audit/prepared_matmul.h"

namespace lt_audit {

/// What the engine may use and how.
struct EngineOptions {
  /// Every input is derived from it.
  std::uint64_t seed = 1;
  /// Take GPU times with events (costs two event records a case).
  bool time_on_gpu = true;
  /// Results asked of the heuristic.
  int requested_results = 8;
  /// Of runs that say nothing else.
  RunOptions run = {};
  /// Called with each line of the library's logger as it comes (--trace); may be empty.
  std::function<void(const LogLine&)> on_log;
};

class Bench;

class MatmulEngine {
 public:
  /// Creates stream, handle and pools on the current device. Throws AuditError when it cannot.
  MatmulEngine(const Platform& platform, const EngineOptions& options);
  ~MatmulEngine();
  MatmulEngine(const MatmulEngine&) = delete;
  MatmulEngine& operator=(const MatmulEngine&) = delete;

  /// create, heuristic, algo_check, matmul, synchronize, verify. Statuses are data. A problem that does not fit into
  /// free memory comes back with Observation::not_run. Throws AuditError when the audit's own calls fail.
  Observation run(const MatmulProblem& problem);
  Observation run(const MatmulProblem& problem, const RunOptions& options);

  /// The same through cuBLAS, or the reason why cuBLAS cannot express it.
  CublasObservation run_cublas(const MatmulProblem& problem);

  const EngineOptions& options() const;
  /// The engine's handle, and its bench for a sequence of calls (Session::prepare).
  cublasLtHandle_t handle();
  std::shared_ptr<Bench> bench();
  /// Gives back everything on the device: for a case that resets it. The next use makes it anew.
  void release();

  void clear_log();
  /// What explains a refusal, of the library's log since clear_log.
  std::vector<LogLine> take_log();

  /// Microseconds that the engine spent by phase since construction, for --profile.
  struct Profile {
    double setup_us = 0, prepare_us = 0, heuristic_us = 0, matmul_us = 0, verify_us = 0, wait_us = 0, cublas_us = 0;
    /// Cases that are sequences of steps (Session::prepare), as a whole.
    double steps_us = 0;
  };
  const Profile& profile() const;
  /// Counts time that a case spent in steps of its own.
  void add_steps(double us);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lt_audit
