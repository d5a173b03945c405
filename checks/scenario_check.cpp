// Judgement that all scenarios share: what the process, the context, the memory and the numbers say.
#include "scenario_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lt_audit {
namespace {

constexpr const char* kParameter = "scenario";

constexpr std::array kCommonDefects{
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"context-lost", "leaves the CUDA context unusable", "right numbers, or a refusal by status"},
    Defect{"crashed", "kills the process", "right numbers, or a refusal by status"},
    Defect{"input-changed", "changes an input", "right numbers and unchanged inputs"},
    Defect{"misuse-accepted", "is accepted: the misuse is not noticed",
           "refused with a status, so that the application learns of its mistake"},
    Defect{"not-run", "was not run", "the case is run"},
    Defect{"out-of-bounds", "writes outside D", "nothing outside D is written"},
    Defect{"refused", "is refused although the documentation allows it", "SUCCESS with the right numbers"},
    Defect{"slower", "takes far longer than it should", "a call of this size returns in well under 0.25 s"},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "returns SUCCESS and leaves elements of D unwritten", "every element of D is written"},
    Defect{"wrong-result", "returns SUCCESS with wrong numbers", "right numbers, or a refusal by status"},
};

std::string kebab(std::string_view words) {
  std::string text(words);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

bool is_refusal(Outcome outcome) { return outcome == Outcome::refused || outcome == Outcome::late_refusal; }

/// The outcome, with the answer of a scenario that is not about a matmul.
Outcome outcome_with_answer(const Observation& observation) {
  const Outcome outcome = outcome_of(observation);
  const Stage* answer = observation.stage(kAnswerStage);
  const bool numbers_are_fine = outcome == Outcome::correct || outcome == Outcome::refused;
  return answer != nullptr && !answer->ok() && numbers_are_fine ? Outcome::refused : outcome;
}

ScenarioResult judge_by_outcome(const Scenario& scenario, Outcome outcome) {
  if (is_refusal(outcome)) {
    if (scenario.expectation != Expectation::must_work) return {outcome, Status::pass, {}};
    return {outcome, scenario.nature == Nature::disputed ? Status::warn : Status::fail, "refused"};
  }
  if (outcome == Outcome::correct) {
    if (scenario.expectation != Expectation::must_refuse) return {outcome, Status::pass, {}};
    return {outcome, Status::warn, "misuse-accepted"};
  }
  return {outcome, status_of(Expectation::must_work, outcome), kebab(name_of(outcome))};
}

}  // namespace

Case ScenarioCheck::make_case(const Scenario& scenario, std::string_view form, const MatmulProblem& problem) {
  Case made;
  made.id = form.empty() ? scenario.id : fmt::format("{}.{}", form, scenario.id);
  made.problem = problem;
  made.expectation = scenario.expectation;
  made.rule = scenario.rule;
  made.isolated = scenario.nature == Nature::isolated;
  made.scenario = true;
  made.parameters = scenario.parameters;
  made.parameters[kParameter] = scenario.id;
  if (!scenario.claims.empty()) made.parameters["claims"] = scenario.claims;
  return made;
}

const Scenario* ScenarioCheck::scenario_of(const Case& the_case) const {
  const auto found = the_case.parameters.find(kParameter);
  if (found == the_case.parameters.end()) return nullptr;
  const auto position = std::find_if(scenarios_.begin(), scenarios_.end(),
                                     [&](const Scenario& scenario) { return scenario.id == found->second; });
  return position == scenarios_.end() ? nullptr : &*position;
}

Observation ScenarioCheck::observe(Session& session, const Case& the_case) const {
  const auto* scenario = scenario_of(the_case);
  return scenario == nullptr ? session.run(the_case.problem) : scenario->run(session, the_case);
}

std::optional<ScenarioResult> ScenarioCheck::judge_scenario(const Scenario& /*scenario*/,
                                                            const Observation& /*observation*/) const {
  return std::nullopt;
}

std::string ScenarioCheck::sentence(const Scenario& scenario, const Observation& observation) const {
  const Stage* answer = observation.stage(kAnswerStage);
  const Outcome outcome = outcome_of(observation);
  const bool told_by_answer = answer != nullptr && (outcome == Outcome::correct || outcome == Outcome::refused);
  return fmt::format(
      "{}: {}", scenario.title,
      told_by_answer ? fmt::format("{} returns {}", answer->call, answer->status) : describe(observation));
}

Verdict ScenarioCheck::judge(const Case& the_case, const Observation& observation) const {
  const auto* found = scenario_of(the_case);
  if (found == nullptr) return judge_by_table(the_case.expectation, observation);
  Scenario scenario = *found;
  // The product may promise less than the scenario, and an older library less than a newer one.
  scenario.expectation = the_case.expectation;
  const Outcome outcome = outcome_with_answer(observation);
  const bool ended =
      observation.end != ProcessEnd::survived || outcome == Outcome::not_run || outcome == Outcome::audit_error;
  std::optional<ScenarioResult> result;
  if (!ended) result = judge_scenario(scenario, observation);
  if (!result) result = judge_by_outcome(scenario, outcome);
  Verdict verdict;
  verdict.outcome = result->outcome;
  verdict.status = result->status;
  if (verdict.status == Status::pass) return verdict;
  verdict.reason = fmt::format("{}-{}", scenario.group, result->defect);
  verdict.sentence = sentence(scenario, observation);
  return verdict;
}

const Defect* ScenarioCheck::defect_of(const Scenario& scenario, std::string_view reason) const {
  const auto is_it = [&](const Defect& defect) { return reason == fmt::format("{}-{}", scenario.group, defect.id); };
  for (const auto defects : {defects_, std::span<const Defect>(kCommonDefects)}) {
    const auto found = std::find_if(defects.begin(), defects.end(), is_it);
    if (found != defects.end()) return &*found;
  }
  return nullptr;
}

Advice ScenarioCheck::advice(const Case& the_case, const Verdict& verdict) const {
  const auto* scenario = scenario_of(the_case);
  const auto* defect = scenario == nullptr ? nullptr : defect_of(*scenario, verdict.reason);
  return {fmt::format("{} {}", scenario == nullptr ? "A scenario" : scenario->title,
                      defect == nullptr ? "did not work as expected" : defect->title),
          std::string(defect == nullptr ? "right numbers, or a refusal by status" : defect->expected), the_case.rule,
          scenario == nullptr ? "run the case with --trace" : scenario->remedy};
}

}  // namespace lt_audit
