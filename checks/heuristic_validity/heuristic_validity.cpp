// Check "heuristic-validity": what cublasLtMatmulAlgoGetHeuristic returns is looked at, compared with AlgoCheck and the
// algorithm's own capabilities, and run. heuristic_cases.cpp has the grid, heuristic_steps.cpp the sequences, this file
// the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heuristic_cases.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace heuristic_validity;

constexpr CheckInfo kInfo{
    "heuristic-validity",
    "Every result of the heuristic is within the limits asked for, runs and gives the right numbers",
    "cublasLt.h 13.1.0, cublasLtMatmulHeuristicResult_t and cublasLtMatmulAlgoGetHeuristic (lines 2221-2279), "
    "cublasLtMatmulAlgoCheck (lines 2322-2347)"};

constexpr std::string_view kTryAnother =
    "run AlgoCheck and a test product for each algorithm before it enters a cache, take the next result of the list, "
    "and report this one to NVIDIA with the repro line";
constexpr std::string_view kCheckAll =
    "look at the status, the returned count, the state and the workspaceSize of each result before using one";

/// Reason code, title, what should happen, what to change.
struct Cause {
  std::string_view reason;
  std::string_view title;
  std::string_view expected;
  std::string_view remedy;
};
constexpr std::array kCauses{
    Cause{"accepted-against-rule", "The heuristic offers algorithms for a product that the documentation forbids",
          "refused by cublasLtMatmulAlgoGetHeuristic, so that the application learns of it on this library",
          "do not depend on it, since the next version may refuse it: pad the dimension as the rule says"},
    Cause{"algo-check-disagrees", "AlgoCheck asks for another workspace than the heuristic",
          "the same workspaceSize from both",
          "give the larger of the two, and report it to NVIDIA with the repro line"},
    Cause{"algo-check-refuses", "AlgoCheck refuses an algorithm that the heuristic returned",
          "AlgoCheck accepts what the heuristic returns for the same descriptors", kTryAnother},
    Cause{"algorithm-input-changed", "An algorithm that the heuristic returned changes an input", "unchanged inputs",
          kTryAnother},
    Cause{"algorithm-out-of-bounds", "An algorithm that the heuristic returned writes outside D",
          "nothing outside D is written", kTryAnother},
    Cause{"algorithm-refused", "cublasLtMatmul refuses an algorithm that the heuristic returned",
          "cublasLtMatmul accepts it: pointers and workspace are as promised", kTryAnother},
    Cause{"algorithm-unwritten", "An algorithm that the heuristic returned leaves elements of D unwritten",
          "every element of D is written", kTryAnother},
    Cause{"algorithm-wrong-result", "An algorithm that the heuristic returned gives wrong numbers",
          "the right numbers from each result of the list", kTryAnother},
    Cause{"audit-error", "Results of the heuristic could not be audited", "the audit runs the case",
          "look at the message, and run the audit again"},
    Cause{"capability-above-promise", "An algorithm states that it needs more alignment than was promised",
          "the heuristic leaves out algorithms that need more than the preference promises", kTryAnother},
    Cause{"capability-contradicts-result", "An algorithm states that it cannot do what it is offered for",
          "capabilities that include the split of k, the batch and the epilogue of the query", kTryAnother},
    Cause{"context-lost", "An algorithm that the heuristic returned leaves the CUDA context unusable",
          "right numbers, or a refusal by status", kTryAnother},
    Cause{"crashed", "A query or an algorithm kills the process", "right numbers, or a refusal by status", kTryAnother},
    Cause{"misuse-accepted", "A misuse of query or workspace is accepted", "CUBLAS_STATUS_INVALID_VALUE",
          "check the requested count and the workspace size in the application: this library does not"},
    Cause{"misuse-unsafe", "An algorithm that is handed too little workspace runs and goes wrong",
          "CUBLAS_STATUS_INVALID_VALUE",
          "compare workspaceSize of the result with the buffer before each call: this library does not"},
    Cause{"more-than-requested", "The heuristic returns more results than were requested",
          "at most as many results as requested", kCheckAll},
    Cause{"no-result", "The heuristic returns SUCCESS and no result",
          "at least one result, or a status other than SUCCESS", kCheckAll},
    Cause{"not-run", "Results of the heuristic were not run", "the case is run",
          "see the sentence of the case: free memory, or a GPU that takes a second process"},
    Cause{"query-refused", "The heuristic refuses a documented product",
          "SUCCESS with a result: the documentation lists the combination",
          "raise the workspace limit, or keep this product on cuBLAS, and report it to NVIDIA with the repro line"},
    Cause{"reuse-failed", "A result of the heuristic cannot be used again",
          "the same algorithm works on other streams and buffers, and in another process with the same library",
          "query again for each stream or process, and report it to NVIDIA with the repro line"},
    Cause{"slower", "An algorithm takes far longer than it should", "a call of this size returns in well under 0.25 s",
          kTryAnother},
    Cause{"state-not-success", "A returned result has a state other than SUCCESS", "results whose state is SUCCESS",
          kCheckAll},
    Cause{"timed-out", "A query or an algorithm hangs", "right numbers, or a refusal by status", kTryAnother},
    Cause{"unproven", "An algorithm runs, but the comparison proves nothing",
          "results that are mostly not zero, all compared", "run the case with other sizes: lt-audit replay"},
    Cause{"workspace-above-limit", "A result needs more workspace than the limit of the preference",
          "workspaceSize within CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES",
          "compare workspaceSize with the buffer before the call and take the next result"},
};

bool is_reuse(std::string_view kind) {
  return kind == kRestored || kind == kOtherProcess || kind == kOtherStreams || kind == kOtherBuffers;
}

bool is_misuse(std::string_view kind) { return kind == kNoneRequested || kind == kWorkspaceWithheld; }

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto& p = the_case.problem;
  const auto product = fmt::format("{} x {} -> {}, {}, {}x{}x{}, {}{}, workspace limit {}", name_of(p.type_a),
                                   name_of(p.type_b), name_of(p.type_d), name_of(p.compute_type), p.m, p.n, p.k,
                                   name_of(p.transa), name_of(p.transb), p.workspace_bytes);
  const auto detail = observation.fact(kDefectDetail);
  const auto algorithm = observation.fact(kAlgorithm);
  const auto numbers = outcome_of(observation);
  if (!detail.empty() && (numbers == Outcome::correct || numbers == Outcome::refused)) {
    return fmt::format("{} ({})", detail, product);
  }
  return fmt::format("{}{} ({})", algorithm.empty() ? "" : algorithm + ": ", describe(observation), product);
}

std::string reason_of(const Case& the_case, Outcome outcome) {
  std::string word(name_of(outcome));
  std::replace(word.begin(), word.end(), '_', '-');
  const bool refusal = outcome == Outcome::refused || outcome == Outcome::late_refusal;
  const bool numbers = outcome == Outcome::wrong_result || outcome == Outcome::unwritten ||
                       outcome == Outcome::out_of_bounds || outcome == Outcome::input_changed;
  if (is_reuse(kind_of(the_case)) && (refusal || numbers)) return "reuse-failed";
  if (outcome == Outcome::refused) return "query-refused";
  if (outcome == Outcome::late_refusal) return "algorithm-refused";
  return numbers ? "algorithm-" + word : word;
}

/// The reason when a product runs that the documentation forbids.
std::string against_rule(Outcome outcome) {
  return outcome == Outcome::correct ? "accepted-against-rule" : reason_of(Case{}, outcome);
}

/// The reason when a misuse runs.
std::string of_misuse(Outcome outcome) {
  if (outcome == Outcome::correct) return "misuse-accepted";
  const auto reason = reason_of(Case{}, outcome);
  return reason.starts_with("algorithm-") ? "misuse-unsafe" : reason;
}

class HeuristicValidity : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    return heuristic_validity::cases(target, depth);
  }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return heuristic_validity::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    return heuristic_validity::observe(session, the_case);
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    const Outcome outcome = outcome_of(observation);
    const auto verdict = [&](Status status, std::string reason) {
      return Verdict{status, outcome, std::move(reason), sentence_of(the_case, observation)};
    };
    const bool ended =
        observation.end != ProcessEnd::survived || outcome == Outcome::not_run || outcome == Outcome::audit_error;
    if (ended) return verdict(status_of(the_case.expectation, outcome), reason_of(the_case, outcome));
    const auto kind = kind_of(the_case);
    const bool refusal = outcome == Outcome::refused || outcome == Outcome::late_refusal;
    Verdict pass;
    pass.outcome = outcome;
    if (kind == kUnusedResults) return pass;
    if (the_case.expectation == Expectation::must_refuse) {
      const auto* query = observation.stage("heuristic");
      const bool answered = kind == kNoneRequested && query != nullptr && query->ok();
      if (answered) return verdict(Status::warn, "misuse-accepted");
      if (refusal) return pass;
      const auto reason = is_misuse(kind) ? of_misuse(outcome) : against_rule(outcome);
      return verdict(status_of(the_case.expectation, outcome), reason);
    }
    const bool numbers_wrong = outcome != Outcome::correct && !refusal && outcome != Outcome::unproven;
    if (numbers_wrong) return verdict(status_of(Expectation::must_work, outcome), reason_of(the_case, outcome));
    if (const auto defect = observation.fact(kDefect); !defect.empty()) {
      // What an algorithm says of itself is a trap, not a wrong answer; and what nobody promised may come back empty.
      const bool trap = defect.starts_with("capability-") || defect == "algo-check-disagrees" ||
                        the_case.expectation != Expectation::must_work;
      return verdict(trap ? Status::warn : Status::fail, defect);
    }
    if (refusal) return judge_refusal(the_case, observation, outcome);
    return outcome == Outcome::correct ? pass : verdict(Status::warn, reason_of(the_case, outcome));
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    const auto* const cause =
        std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& c) { return c.reason == verdict.reason; });
    if (cause == kCauses.end()) {
      return {"A result of the heuristic did not work as expected", "right numbers, or a refusal by status",
              the_case.rule, std::string(kCheckAll)};
    }
    return {std::string(cause->title), std::string(cause->expected), the_case.rule, std::string(cause->remedy)};
  }

 private:
  /// A query may say no to what no document promises; what it offered must run.
  static Verdict judge_refusal(const Case& the_case, const Observation& observation, Outcome outcome) {
    const bool promised = the_case.expectation == Expectation::must_work;
    Verdict verdict;
    verdict.outcome = outcome;
    if (!promised && outcome == Outcome::refused) return verdict;
    verdict.status = promised ? Status::fail : Status::warn;
    verdict.reason = reason_of(the_case, outcome);
    verdict.sentence = sentence_of(the_case, observation);
    return verdict;
  }
};

}  // namespace

std::unique_ptr<Check> make_heuristic_validity() { return std::make_unique<HeuristicValidity>(); }

}  // namespace lt_audit
