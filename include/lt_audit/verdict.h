// From observation to status: outcome, the table expectation x outcome -> status, verdict.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lt_audit/observation.h"

namespace lt_audit {

/// What the documented contract says of a case.
enum class Expectation { must_work, must_refuse, may_refuse };

/// The observation in one word. Which stage refused is in the observation's stages.
enum class Outcome {
  correct,
  unproven,      ///< nothing wrong seen, but the comparison proves nothing (results nearly all zero, none compared)
  refused,       ///< before matmul was called: create, attribute, heuristic (also SUCCESS with no result)
  late_refusal,  ///< the heuristic accepted, matmul refused
  wrong_result,
  unwritten,
  out_of_bounds,
  input_changed,
  not_captured,
  stale,
  nondeterministic,
  context_lost,
  crashed,
  timed_out,
  slower,
  not_run,      ///< does not apply or does not fit here
  audit_error,  ///< the audit broke
};

enum class Status { pass, warn, fail, skip, error };

std::string_view name_of(Expectation expectation);
std::string_view name_of(Outcome outcome);
std::string_view name_of(Status status);
std::optional<Expectation> expectation_from(std::string_view name);
std::optional<Outcome> outcome_from(std::string_view name);
std::optional<Status> status_from(std::string_view name);

/// The observation in one word. Order of severity: how the process ended, memory outside D, inputs, numbers, speed.
Outcome outcome_of(const Observation& observation);

/// The table. Pure.
Status status_of(Expectation expectation, Outcome outcome);

/// The worse of two statuses: pass < skip < warn < error < fail.
Status worse(Status left, Status right);

/// One case judged. Every status but pass carries a reason code and a sentence.
struct Verdict {
  Status status = Status::pass;
  Outcome outcome = Outcome::correct;
  /// Stable kebab-case code that names the cause; cases with the same check, status and reason form one finding.
  std::string reason;
  /// What was measured, one sentence, figures from this case.
  std::string sentence;
};

/// The verdict of the table, with reason "EXPECTATION-OUTCOME" in kebab-case ("must-work-late-refusal") and a sentence
/// made from the stages and the verification.
Verdict judge_by_table(Expectation expectation, const Observation& observation);

/// The sentence that judge_by_table writes: which stage said what, and what the verification saw.
std::string describe(const Observation& observation);

}  // namespace lt_audit
