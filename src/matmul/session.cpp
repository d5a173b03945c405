// Session: the engine as a check sees it.
#include "lt_audit/session.h"

#include <stdexcept>
#include <utility>

#include "lt_audit/error.h"
#include "matmul/bench.h"
#include "matmul/engine.h"

namespace lt_audit {

Session::Session(const Platform& platform, const Target& target, MatmulEngine& engine, OtherProcess other_process)
    : platform_(platform), target_(target), engine_(engine), other_process_(std::move(other_process)) {}

Observation Session::run(const MatmulProblem& problem) { return engine_.run(problem); }

Observation Session::run(const MatmulProblem& problem, const RunOptions& options) {
  return engine_.run(problem, options);
}

CublasObservation Session::run_cublas(const MatmulProblem& problem) { return engine_.run_cublas(problem); }

Observation Session::run_in_other_process(const MatmulProblem& problem) { return run_in_other_process(problem, {}); }

Observation Session::run_in_other_process(const MatmulProblem& problem, const OtherProcessOptions& options) {
  if (!other_process_) throw AuditError(ErrorKind::cannot_run, "this session cannot start another process");
  return other_process_(problem, options);
}

cublasLtHandle_t Session::handle() { return engine_.handle(); }

PreparedMatmul Session::prepare(const MatmulProblem& problem) {
  auto bench = engine_.bench();
  // One reference is the engine's, one this one.
  if (bench.use_count() > 2) throw std::logic_error("Session::prepare: the engine's memory is in use");
  return {std::move(bench), problem, engine_.options().seed};
}

PreparedMatmul Session::prepare_apart(const MatmulProblem& problem) {
  const auto seed = engine_.options().seed;
  return {std::make_shared<Bench>(platform_, seed, 0), problem, seed};
}

void Session::release_engine() { engine_.release(); }

}  // namespace lt_audit
