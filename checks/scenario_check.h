// A check made of scenarios: named sequences of calls, each run for products of several types and judged by what it
// left behind. The base of "handle-lifetime", "graph-capture" and "workspace".
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/session.h"

namespace lt_audit {

/// Disputed: the documents contradict each other, so a refusal of what "must work" is a trap and no broken promise.
/// Isolated: may end the process or its context.
enum class Nature { plain, disputed, isolated };

/// One sequence of calls.
struct Scenario {
  /// Unique; the second part of the case id and the first of the reason codes unless `group` says otherwise.
  std::string id;
  /// Scenarios of one group share their reason codes, title and remedy.
  std::string group;
  /// Start of a finding's title: "A handle used in another context".
  std::string title;
  Expectation expectation = Expectation::must_work;
  std::string rule;
  /// What to change in the application.
  std::string remedy;
  Observation (*run)(Session&, const Case&) = nullptr;
  Nature nature = Nature::plain;
  /// Claims that circulate (docs/claims.md) and what each predicts of the case, "C9=fails C4=fails": works, fails,
  /// refused, an outcome as the report spells it, or a fact and its value, "C3=unused_ids=-1".
  std::string claims;
  /// What `run` needs to know beyond the problem: parameters of the case.
  std::map<std::string, std::string> parameters;
};

/// What goes wrong: the second part of a reason code, the rest of the title, what is expected instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
};

/// How a scenario came out, in a reason code's words.
struct ScenarioResult {
  Outcome outcome = Outcome::correct;
  Status status = Status::pass;
  /// Of `Defect`; empty for pass.
  std::string defect;
};

class ScenarioCheck : public Check {
 public:
  /// The case of one scenario: "FORM.SCENARIO", without a form "SCENARIO".
  static Case make_case(const Scenario& scenario, std::string_view form, const MatmulProblem& problem);

  Observation observe(Session& session, const Case& the_case) const override;
  Verdict judge(const Case& the_case, const Observation& observation) const override;
  Advice advice(const Case& the_case, const Verdict& verdict) const override;

 protected:
  /// Both must outlive the check. `defects` are those that only this check knows.
  ScenarioCheck(std::span<const Scenario> scenarios, std::span<const Defect> defects)
      : scenarios_(scenarios), defects_(defects) {}

  /// What this check alone sees in an observation of a process and context that survived; nothing leaves the judgement
  /// to the outcome.
  virtual std::optional<ScenarioResult> judge_scenario(const Scenario& scenario, const Observation& observation) const;
  /// The sentence of a verdict; the default is the title and what the observation says.
  virtual std::string sentence(const Scenario& scenario, const Observation& observation) const;

 private:
  const Scenario* scenario_of(const Case& the_case) const;
  const Defect* defect_of(const Scenario& scenario, std::string_view reason) const;

  std::span<const Scenario> scenarios_;
  std::span<const Defect> defects_;
};

/// Stage whose status is the answer to a scenario that is not about a matmul.
inline constexpr const char* kAnswerStage = "answer";

}  // namespace lt_audit
