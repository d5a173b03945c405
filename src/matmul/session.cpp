// Session: the engine as a check sees it.
#include "lt_audit/session.h"

#include "matmul/engine.h"

namespace lt_audit {

Session::Session(const Platform& platform, const Target& target, MatmulEngine& engine)
    : platform_(platform), target_(target), engine_(engine) {}

Observation Session::run(const MatmulProblem& problem) { return engine_.run(problem); }

CublasObservation Session::run_cublas(const MatmulProblem& problem) { return engine_.run_cublas(problem); }

}  // namespace lt_audit
