#include "driver/other_process.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "driver/audit_parts.h"
#include "driver/supervisor.h"
#include "lt_audit/error.h"
#include "lt_audit/prepared_matmul.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// The case that waits has the same limit as this one, and must not be killed before it can tell how this one ended.
constexpr double kShareOfTheLimit = 0.7;

}  // namespace

Observation run_in_other_process(const StartRequest& start, const MatmulProblem& problem,
                                 const Session::OtherProcessOptions& how) {
  SupervisorOptions options;
  options.command = default_parts().worker_command;
  options.start = start;
  options.start.selection = {};
  options.start.selection.problems = {to_text(problem)};
  options.start.worker.timeout_s *= kShareOfTheLimit;
  options.start_limit_s = options.start.worker.timeout_s;
  options.start.engine.run = how.run;
  options.variables = how.variables;
  Supervisor supervisor(std::move(options));
  try {
    static_cast<void>(supervisor.start());
  } catch (const AuditError& error) {
    throw NotRun(fmt::format("needs a second process on the device, and none came up: {}", error.what()));
  }
  Observation seen;
  const std::array items{WorkItem{0, 0, "problem-1", false}};
  const auto end =
      supervisor.run(items, [&seen](std::size_t, Observation&& observation) { seen = std::move(observation); });
  supervisor.finish();
  const auto& costs = supervisor.costs();
  seen.facts[kStartSecondsFact] = fmt::format("{:.3f}", costs.start_s + costs.warm_s);
  if (!end.complete()) throw AuditError(ErrorKind::cannot_run, "the second process: " + end.reason);
  return seen;
}

}  // namespace lt_audit
