// One problem in a process of its own, asked for by a worker in the middle of a case.
#pragma once

#include "driver/protocol.h"
#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"

namespace lt_audit {

/// Starts a worker like the one that `start` describes, runs the problem through its engine, ends it. Throws NotRun
/// when the device takes no second process; a crash or lost context over there is the observation's end.
Observation run_in_other_process(const StartRequest& start, const MatmulProblem& problem);

}  // namespace lt_audit
