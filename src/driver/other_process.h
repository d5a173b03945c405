// One problem in a process of its own, asked for by a worker in the middle of a case.
#pragma once

#include "driver/protocol.h"
#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/session.h"

namespace lt_audit {

/// The seconds from the start of the process until it could take the problem.
inline constexpr const char* kStartSecondsFact = "start_s";

/// Starts a worker like the one that `start` describes, runs the problem through its engine, ends it. Throws NotRun
/// when the device takes no second process; a crash or lost context over there is the observation's end.
Observation run_in_other_process(const StartRequest& start, const MatmulProblem& problem,
                                 const Session::OtherProcessOptions& how);

}  // namespace lt_audit
