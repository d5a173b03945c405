#include "known_issue_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "known_issues/match.h"
#include "lt_audit/contract.h"

namespace lt_audit {
namespace {

/// Each runs the whole problem again.
constexpr std::size_t kMostOfAProblem = 8;

/// The sources do not say that the place has it.
bool is_denied(const KnownIssue& issue, const IssuePlace& place) {
  const auto answer = issue.sources_say.find(place.text());
  return answer != issue.sources_say.end() && answer->second == SourcesSay::no;
}

Case case_of(const IssueMatch& match, const Target& target, const MatmulProblem& problem) {
  const auto& issue = *match.issue;
  Case made;
  made.problem = problem;
  auto promise = promise_of(problem, scope_of(target));
  made.expectation = promise.expectation;
  made.rule = fmt::format("{}; {} ({})", promise.rule, issue.id, fmt::join(issue.source, ", "));
  const bool dangerous = issue.symptom == SymptomKind::hang || issue.symptom == SymptomKind::crash ||
                         issue.symptom == SymptomKind::illegal_access;
  // A process costs more than the run: not for what the sources do not even say of this place.
  made.isolated = dangerous && !is_denied(issue, place_of(target));
  made.scenario = depends_on_algorithm(issue, problem);
  made.parameters[kIssueParameter] = issue.id;
  made.parameters["title"] = issue.summary;
  made.parameters["match"] = match.applies() ? "applies" : fmt::format("may apply: {}", fmt::join(match.doubts, "; "));
  if (match.fixed_in) made.parameters["fixed_in"] = match.fixed_in->text();
  if (!issue.workaround.empty()) made.parameters["workaround"] = issue.workaround;
  return made;
}

/// A product that stands in the place of one that no run can show.
MatmulProblem no_problem() { return uniform_problem(CUDA_R_16F, 96, 80, 64); }

}  // namespace

bool depends_on_algorithm(const KnownIssue& issue, const MatmulProblem& problem) {
  return std::any_of(issue.problem.begin(), issue.problem.end(),
                     [&](const Predicate& predicate) { return !predicate.holds(problem, {}); });
}

std::vector<Case> known_issue_cases(const Target& target) {
  const auto place = place_of(target);
  std::vector<Case> cases;
  for (const auto& issue : known_issues()) {
    const auto match = match_issue(issue, place);
    if (!match) continue;
    for (std::size_t i = 0; i < issue.witness.size(); ++i) {
      auto& made = cases.emplace_back(case_of(*match, target, issue.witness[i]));
      made.id = fmt::format("{}.{}", issue.id, i + 1);
    }
    if (!issue.witness.empty()) continue;
    auto& made = cases.emplace_back(case_of(*match, target, no_problem()));
    made.id = fmt::format("{}.no-witness", issue.id);
    made.parameters[kNoWitnessParameter] = issue.no_witness;
    made.isolated = false;
    made.scenario = true;
  }
  return cases;
}

std::vector<Case> known_issue_cases_about(const Target& target, const MatmulProblem& problem) {
  const auto place = place_of(target);
  std::vector<Case> cases;
  for (const auto& match : match_issues(place, problem)) {
    const auto& issue = *match.issue;
    // What a run cannot show it cannot clear either; the command known-issues names those.
    const bool can_show = match.applies() ? issue.symptom != SymptomKind::slow && issue.symptom != SymptomKind::leak &&
                                                issue.symptom != SymptomKind::other
                                          : !issue.witness.empty() && !is_denied(issue, place);
    if (!can_show || cases.size() == kMostOfAProblem) continue;
    auto& made = cases.emplace_back(case_of(match, target, problem));
    made.id = fmt::format("known-issue.{}", issue.id);
  }
  return cases;
}

}  // namespace lt_audit
