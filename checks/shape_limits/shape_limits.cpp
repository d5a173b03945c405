// Check "shape-limits": dimensions and leading dimensions of 0 and 1, and sizes around the limits of 16 and 32 bits.
// shape_cases.cpp and shape_large.cpp have the table, shape_steps.cpp the sequences, this file the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"
#include "shape_cases.h"

namespace lt_audit {
namespace {

using namespace shape_limits;

constexpr CheckInfo kInfo{
    "shape-limits", "Zero, one and very large dimensions, leading dimensions and spans give right numbers or a refusal",
    "cublasLt.h 13.1.0, CUBLASLT_MATRIX_LAYOUT_ROWS, _COLS and _LD (lines 1121-1145); cuBLAS 13.2 documentation, "
    "cublasLtMatmul"};

constexpr std::string_view kRightOrRefused = "right numbers, or a refusal by status";

/// First part of a reason code, start of a finding's title, and what an application can change.
struct Subject {
  std::string_view id;
  std::string_view title;
  std::string_view remedy;
};
constexpr std::array kSubjects{
    Subject{kBroadcastC, "A C with a leading dimension of 0 (one column for all)",
            "write the column into every column of C, or add it with CUBLASLT_EPILOGUE_BIAS and beta 0"},
    Subject{"dimension-above-int32", "A dimension of 2^31 or more",
            "split the product so that m, n and k are below 2147483648"},
    Subject{kEmpty, "A product with m or n of 0", "do not call cublasLtMatmul when D has no elements"},
    Subject{"far-ld", "A leading dimension far above the rows",
            "copy the matrix to memory of its own with a leading dimension near its rows"},
    Subject{"k-one", "A product with k of 1", "use a kernel of your own for an outer product, or another algorithm"},
    Subject{"k-zero", "A product with k of 0",
            "do not call cublasLtMatmul with k of 0: fill D with beta * C (and bias)"},
    Subject{"ld-above-int32", "A leading dimension of 2^31 bytes or more",
            "copy the matrix to memory of its own, or leave out algorithm 66 of the heuristic's results "
            "(CUBLASLT_ALGO_CONFIG_ID); CUB-9572 is fixed in cuBLAS 12.8.5, 12.9.2, 13.1.1 and 13.2.2"},
    Subject{"ld-below-rows", "A leading dimension below the rows",
            "set CUBLASLT_MATRIX_LAYOUT_LD to at least the rows (order col)"},
    Subject{"long-k", "A product with a very long k", "split k, and add the parts with beta 1"},
    Subject{"long-vector", "A vector or a matrix beside it of 2^31 elements",
            "split the product along its long side, or take another of the heuristic's results"},
    Subject{"many-tiles", "A product with more rows or columns than 16 bits count",
            "split the product along its long side"},
    Subject{"one-column-ld", "A leading dimension below the rows of a single column",
            "set CUBLASLT_MATRIX_LAYOUT_LD to at least the rows, also where there is one column"},
    Subject{"span", "A matrix that reaches over 2^31 elements or bytes",
            "split the product so that every matrix spans fewer than 2^31 elements, or take another of the heuristic's "
            "results"},
    Subject{"vector", "A product with m or n of 1",
            "use a matrix-vector kernel of your own, or another of the heuristic's results"},
};

/// What goes wrong: the second part of a reason code, the rest of the title, and what the contract expects instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
};
constexpr std::array kDefects{
    Defect{"accepted-against-rule", "is accepted although the documentation forbids it",
           "refused with a status, so that the application learns of it on this library and not on the next"},
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"context-lost", "leaves the CUDA context unusable", kRightOrRefused},
    Defect{"crashed", "kills the process", kRightOrRefused},
    Defect{"cublas-only", "is refused by cuBLASLt and right through cuBLAS",
           "the same product through cuBLASLt, or a refusal that the port of the application expects"},
    Defect{"cublas-wrong", "is wrong through cuBLAS", "right numbers through cuBLAS too, and nothing else written"},
    Defect{"input-changed", "is accepted and changes an input", "right numbers and unchanged inputs, or a refusal"},
    Defect{"not-run", "was not run", "enough free memory to run the case"},
    Defect{"out-of-bounds", "is accepted and memory outside D is overwritten", "nothing outside D is written"},
    Defect{"refused-late", "is refused only by cublasLtMatmul",
           "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way"},
    Defect{"refused-though-documented", "is refused although the documentation promises that it works",
           "cublasLtMatmul returns SUCCESS with the right numbers"},
    Defect{"slower", "takes far longer than the same call should", "a call of this size returns in well under 0.25 s"},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "is accepted and elements of D are never written", "every element of D is written"},
    Defect{"wrong-result", "is accepted and gives wrong numbers", kRightOrRefused},
};

const Subject& subject_of(const Case& the_case) {
  const auto found = the_case.parameters.find(kSubject);
  const auto* const subject = std::find_if(kSubjects.begin(), kSubjects.end(), [&](const Subject& s) {
    return found != the_case.parameters.end() && s.id == found->second;
  });
  return subject == kSubjects.end() ? kSubjects.front() : *subject;
}

std::string kebab(std::string_view words) {
  std::string text(words);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

/// D has no elements, so there is nothing to compare; the guard zones were looked at.
bool is_empty(const MatmulProblem& p) { return p.m == 0 || p.n == 0; }

/// What the engine cannot call proven here is: D is full of poison before the call, so that zeros were written.
bool is_right(const MatmulProblem& p, const Verification& seen) {
  if (!seen.nothing_else_written() || seen.wrong > 0) return false;
  return is_empty(p) || (p.k == 0 && seen.compared > 0);
}

bool cublas_is_wrong(const Observation& observation) {
  if (!observation.cublas || observation.cublas->status != "SUCCESS" || !observation.cublas->verification) return false;
  const auto& seen = *observation.cublas->verification;
  return seen.wrong > 0 || !seen.nothing_else_written();
}

/// An empty product that succeeds has shown nothing.
bool cublas_is_right(const MatmulProblem& p, const Observation& observation) {
  if (is_empty(p) || !observation.cublas || observation.cublas->status != "SUCCESS" ||
      !observation.cublas->verification) {
    return false;
  }
  const auto& seen = *observation.cublas->verification;
  return is_right(p, seen) || (seen.all_right() && seen.nothing_else_written());
}

Outcome outcome_here(const Case& the_case, const Observation& observation) {
  const Outcome outcome = outcome_of(observation);
  const bool unproven = outcome == Outcome::unproven && observation.verification;
  return unproven && is_right(the_case.problem, *observation.verification) ? Outcome::correct : outcome;
}

/// "f16 x f16 -> f16, 96x80x0, NN, beta 1, lda 96": what decides of the case.
std::string what_is_called(const Case& the_case) {
  const auto& p = the_case.problem;
  std::string text = fmt::format("{} x {} -> {}, {}x{}x{}, {}{}", name_of(p.type_a), name_of(p.type_b),
                                 name_of(p.type_d), p.m, p.n, p.k, name_of(p.transa), name_of(p.transb));
  if (p.beta != 0) text += fmt::format(", beta {}", p.beta);
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) text += fmt::format(", {}", name_of(p.epilogue));
  for (const auto& operand : kOperands) {
    if (const auto shape = operand.shape(p); shape.ld != shape.rows)
      text += fmt::format(", ld{} {}", operand.name, shape.ld);
  }
  if (const auto ld = the_case.parameters.find(kLd); ld != the_case.parameters.end()) {
    text += fmt::format(", ld{} set to {}", the_case.parameters.at(kOperand), ld->second);
  }
  if (p.batch_count > 1) text += fmt::format(", batch {}", p.batch_count);
  if (p.in_place) text += ", in place";
  if (p.algo == AlgoChoice::null) text += ", no algorithm given";
  if (p.sm_count_target != 0) text += fmt::format(", {} multiprocessors", p.sm_count_target);
  return text;
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  std::string text = fmt::format("{}: {}", what_is_called(the_case), describe(observation));
  if (const auto algorithm = observation.fact(kAlgorithm); !algorithm.empty()) text += fmt::format("; {}", algorithm);
  if (observation.cublas && !observation.cublas->call.empty()) {
    text += fmt::format("; {} returns {}{}", observation.cublas->call, observation.cublas->status,
                        cublas_is_wrong(observation) ? " and is wrong" : "");
  }
  return text;
}

class ShapeLimits : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    return shape_limits::cases(target, depth);
  }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return shape_limits::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    if (the_case.parameters.count(kSteps) == 0) return Check::observe(session, the_case);
    return shape_limits::observe(session, the_case);
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    const Outcome outcome = outcome_here(the_case, observation);
    if (observation.end != ProcessEnd::survived || outcome == Outcome::not_run || outcome == Outcome::audit_error) {
      return judge_by_table(the_case.expectation, observation);
    }
    const auto verdict = [&](Status status, std::string_view defect) {
      return Verdict{status, outcome, fmt::format("{}-{}", subject_of(the_case).id, defect),
                     sentence_of(the_case, observation)};
    };
    const bool refused = outcome == Outcome::refused || outcome == Outcome::late_refusal;
    const bool numbers = outcome == Outcome::correct || outcome == Outcome::wrong_result ||
                         outcome == Outcome::unwritten || outcome == Outcome::unproven;
    // Columns that overlap have no right numbers.
    if (numbers && the_case.expectation == Expectation::must_refuse) {
      return verdict(Status::warn, "accepted-against-rule");
    }
    if (refused && the_case.expectation == Expectation::must_work) {
      return verdict(Status::fail, "refused-though-documented");
    }
    if (refused && cublas_is_right(the_case.problem, observation)) return verdict(Status::warn, "cublas-only");
    if (outcome == Outcome::late_refusal) return verdict(Status::warn, "refused-late");
    if (outcome != Outcome::correct && !refused) {
      return verdict(status_of(Expectation::must_work, outcome), kebab(name_of(outcome)));
    }
    if (cublas_is_wrong(observation)) return verdict(Status::fail, "cublas-wrong");
    Verdict pass;
    pass.outcome = outcome;
    return pass;
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    const Subject& subject = subject_of(the_case);
    const auto* const defect = std::find_if(kDefects.begin(), kDefects.end(), [&](const Defect& d) {
      return verdict.reason == d.id || verdict.reason == fmt::format("{}-{}", subject.id, d.id);
    });
    const bool known = defect != kDefects.end();
    return {fmt::format("{} {}", subject.title, known ? defect->title : "did not work as expected"),
            std::string(known ? defect->expected : kRightOrRefused), the_case.rule,
            std::string(verdict.status == Status::skip ? "free memory on the GPU and run the audit again"
                                                       : subject.remedy)};
  }
};

}  // namespace

std::unique_ptr<Check> make_shape_limits() { return std::make_unique<ShapeLimits>(); }

}  // namespace lt_audit
