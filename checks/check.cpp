// What a check does unless it says otherwise: it applies everywhere, the engine runs its cases, the table judges them.
#include "lt_audit/check.h"

#include "lt_audit/session.h"

namespace lt_audit {

std::optional<std::string> Check::skip_reason(const Target& /*target*/) const { return std::nullopt; }

std::vector<Case> Check::cases_about(const Target& /*target*/, const MatmulProblem& /*problem*/) const { return {}; }

Observation Check::observe(Session& session, const Case& the_case) const {
  Observation observation = session.run(the_case.problem);
  // After a lost context every further call fails and would be told as a result of cuBLAS.
  if (the_case.with_cublas && observation.not_run.empty() && observation.end == ProcessEnd::survived) {
    observation.cublas = session.run_cublas(the_case.problem);
  }
  return observation;
}

Verdict Check::judge(const Case& the_case, const Observation& observation) const {
  return judge_by_table(the_case.expectation, observation);
}

}  // namespace lt_audit
