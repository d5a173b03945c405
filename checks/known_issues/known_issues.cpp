// Check "known-issues": the known issues that the version and the GPU have by the data (src/known_issues), each with a
// small problem that would show it, where one can. known_issue_cases.cpp has the cases, this file runs and judges.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "known_issue_cases.h"
#include "known_issues/match.h"
#include "lt_audit/check.h"
#include "lt_audit/session.h"

namespace lt_audit {
namespace {

constexpr CheckInfo kInfo{"known-issues",
                          "Known issues of this version on this GPU do not show where a small run can show them",
                          "data/known-issues.json: CUDA release notes 11.8, 12.9.1 and 13.4 Update 1, cuBLAS patch "
                          "release notes, public threads; each issue names its own"};

/// Results asked for when an issue is one of some algorithms alone, and how many that fit are run.
constexpr int kRequestedResults = 64;
constexpr std::size_t kMostAlgorithms = 4;

std::string kebab(std::string_view words) {
  std::string text;
  std::transform(words.begin(), words.end(), std::back_inserter(text),
                 [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return text;
}

std::string parameter(const Case& the_case, const char* name) {
  const auto found = the_case.parameters.find(name);
  return found == the_case.parameters.end() ? std::string() : found->second;
}

const KnownIssue& issue_of(const Case& the_case) {
  const auto* issue = find_known_issue(parameter(the_case, kIssueParameter));
  if (issue == nullptr) throw std::logic_error("known-issues: the case " + the_case.id + " names no known issue");
  return *issue;
}

/// The problem once for each algorithm of the heuristic that the issue speaks of, with that algorithm; at most
/// kMostAlgorithms. `words` says which they are.
std::vector<MatmulProblem> with_fitting_algorithms(Session& session, const KnownIssue& issue,
                                                   const MatmulProblem& problem, std::vector<std::string>& words) {
  std::vector<MatmulProblem> problems;
  PreparedMatmul prepared = session.prepare(problem);
  Observation ignored;
  if (!prepared.describe(ignored)) return problems;
  for (const auto& result : prepared.query(session.handle(), kRequestedResults).results) {
    if (result.state != CUBLAS_STATUS_SUCCESS || problems.size() == kMostAlgorithms) continue;
    const HeuristicResult read = prepared.read(result);
    const AlgorithmFacts facts{read.algo_id, read.split_k};
    const bool fits = std::all_of(issue.problem.begin(), issue.problem.end(), [&](const Predicate& predicate) {
      return predicate.holds(problem, facts).value_or(false);
    });
    if (!fits) continue;
    auto& given = problems.emplace_back(problem);
    given.algo = AlgoChoice::given;
    std::copy(std::begin(result.algo.data), std::end(result.algo.data), given.algo_words.begin());
    words.push_back(fmt::format("algorithm {} with split-K {}", read.algo_id, read.split_k));
  }
  return problems;
}

/// Runs the fitting algorithms until one does not give the right numbers.
Observation run_algorithms(Session& session, const Case& the_case, const KnownIssue& issue) {
  std::vector<std::string> words;
  const auto problems = with_fitting_algorithms(session, issue, the_case.problem, words);
  if (problems.empty()) {
    std::string conditions;
    for (const auto& predicate : issue.problem) conditions += (conditions.empty() ? "" : " && ") + predicate.text();
    throw NotRun("no algorithm to show it: the heuristic offers none with " + conditions);
  }
  Observation observation;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    observation = session.run(problems[i]);
    observation.facts["algorithm"] = words[i];
    if (outcome_of(observation) != Outcome::correct) break;
  }
  return observation;
}

/// SUCCESS, and then wrong numbers or foreign memory. Which of them a defect in a kernel shows as depends on the shape.
bool is_harm(Outcome outcome) {
  return outcome == Outcome::wrong_result || outcome == Outcome::unwritten || outcome == Outcome::out_of_bounds ||
         outcome == Outcome::input_changed || outcome == Outcome::nondeterministic;
}

bool is_refusal(Outcome outcome) { return outcome == Outcome::refused || outcome == Outcome::late_refusal; }

/// The run looks as the issue says.
bool shows(const KnownIssue& issue, Expectation expectation, Outcome outcome) {
  switch (issue.symptom) {
    case SymptomKind::refused:
      // A refusal of what nothing promises is no defect, nor is one that the documentation asks for by now.
      return is_refusal(outcome) && expectation == Expectation::must_work;
    case SymptomKind::accepted_though_invalid:
      return is_harm(outcome) || (outcome == Outcome::correct && expectation == Expectation::must_refuse);
    case SymptomKind::wrong_result:
    case SymptomKind::out_of_bounds:
    case SymptomKind::illegal_access:
    case SymptomKind::crash:
      return is_harm(outcome);
    default:
      return false;
  }
}

class KnownIssues : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth /*depth*/) const override { return known_issue_cases(target); }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return known_issue_cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    const auto& issue = issue_of(the_case);
    if (const auto reason = parameter(the_case, kNoWitnessParameter); !reason.empty())
      throw NotRun("no run can show it: " + reason);
    Observation observation = depends_on_algorithm(issue, the_case.problem) ? run_algorithms(session, the_case, issue)
                                                                            : session.run(the_case.problem);
    if (observation.not_run.empty() && outcome_of(observation) == Outcome::correct)
      observation.facts["cleared"] = issue.id + " does not show in this problem; others may have it";
    return observation;
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    const auto& issue = issue_of(the_case);
    const Outcome outcome = outcome_of(observation);
    const auto sentence = [&](std::string_view says) {
      const auto algorithm = observation.fact("algorithm");
      return fmt::format("{} {}: {}{}", issue.id, says, describe(observation),
                         algorithm.empty() ? "" : fmt::format(" ({})", algorithm));
    };
    if (shows(issue, the_case.expectation, outcome))
      return {Status::fail, outcome, "confirmed-" + kebab(issue.id), sentence("shows")};
    const bool allowed = is_refusal(outcome) && the_case.expectation != Expectation::must_work;
    if (outcome == Outcome::correct || allowed) return {Status::pass, outcome, "", ""};
    return {status_of(Expectation::must_work, outcome), outcome, "another-" + kebab(name_of(outcome)),
            sentence("does not show, and the call is not right either")};
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    const auto& issue = issue_of(the_case);
    if (!verdict.reason.starts_with("confirmed-")) {
      return {
          fmt::format("A call that a known issue speaks of fails in another way ({})", name_of(verdict.outcome)),
          "right numbers", the_case.rule,
          "no known issue explains it: run `lt-audit doctor` with the problem of the case, and report what it finds "
          "to NVIDIA"};
    }
    std::string remedy = issue.workaround;
    if (const auto fixed = parameter(the_case, "fixed_in"); !fixed.empty())
      remedy = fmt::format("use cuBLASLt {} or later{}{}", fixed, remedy.empty() ? "" : "; or: ", remedy);
    if (remedy.empty()) remedy = "no release has a fix and no workaround is known: avoid the call";
    return {fmt::format("{} is in this library: {}", issue.id, issue.summary.substr(0, issue.summary.rfind('.'))),
            the_case.expectation == Expectation::must_refuse ? "refused with a status" : "accepted, with right numbers",
            the_case.rule, remedy};
  }
};

}  // namespace

std::unique_ptr<Check> make_known_issues() { return std::make_unique<KnownIssues>(); }

}  // namespace lt_audit
