// Check "int8": INT8 inputs into INT32, INT8 and FP32. int8_cases.cpp has the table, int8_steps.cpp what is more than
// one run of the engine, int8_planted.cpp the planted values, this file the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "int8_cases.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace int8;

constexpr CheckInfo kInfo{
    "int8", "INT8 products are exact up to the 32-bit edge, and round and saturate as documented",
    "cuBLAS 13.2 documentation, cublasLtMatmul, tables of supported types and IMMA kernels; cublasLt.h 13.1.0, "
    "cublasLtOrder_t (lines 1056-1089); release notes of CUDA 13.0 Update 1 (CUB-8873, CUB-8874) and 13.1"};

constexpr std::string_view kOtherWay =
    "convert A and B to FP16 with an FP32 D for this product (exact while the sums stay below 2^24), or report the "
    "call "
    "to NVIDIA with the repro line";

/// First part of a reason code, start of a finding's title, and what an application can change.
struct Subject {
  std::string_view id;
  std::string_view title;
  std::string_view remedy;
};
constexpr std::array kSubjects{
    Subject{"algorithm", "An INT8 product with another algorithm or workspace",
            "give 32 MiB of workspace and the first result of cublasLtMatmulAlgoGetHeuristic in place of a null "
            "algorithm, and leave out the algorithm that is named here"},
    Subject{"batch", "A batch of INT8 products",
            "call cublasLtMatmul once for each matrix of the batch, or cublasGemmStridedBatchedEx where it takes the "
            "product"},
    Subject{"bias-type", "Another type of bias with an INT8 D",
            "leave CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE at its default and give the bias as FP32"},
    Subject{"conversion", "The conversion of sums to an INT8 D",
            "take D as R_32I with CUBLASLT_EPILOGUE_DEFAULT, and scale, round and saturate in a kernel of your own"},
    Subject{
        "epilogue", "An epilogue with an INT8 D",
        "use CUBLASLT_EPILOGUE_DEFAULT into R_32I and apply scale, bias and activation in a kernel of your own: the "
        "documentation announces that the epilogue will be refused (CUB-10067)"},
    Subject{"epilogue-conversion", "An INT8 D with bias or activation, near the ends of INT8",
            "use CUBLASLT_EPILOGUE_DEFAULT into R_32I and apply scale, bias and activation in a kernel of your own"},
    Subject{"imma-order", "An order of the IMMA kernels of Turing and Ampere",
            "use CUBLASLT_ORDER_COL with A transposed and B not, on Hopper and later the only way"},
    Subject{"many-columns", "An INT8 product with many columns", "split n into parts of at most 65536 columns"},
    Subject{"many-rows", "An INT8 product with many rows", "split m into parts of at most 65536 rows"},
    Subject{"multiples-of-4", "A size or leading dimension of an INT8 product",
            "pad m, k, lda, ldb and ldc to multiples of 4, better of 16"},
    Subject{"regular", "An INT8 product in plain column order", kOtherWay},
    Subject{"row-order", "An INT8 product with matrices in order row",
            "use CUBLASLT_ORDER_COL for all matrices, with A transposed and B not: the transpose of a row-major "
            "matrix is a column-major one"},
    Subject{
        "scalars", "Scalars of an INT8 product",
        "with scale type R_32I use alpha 1 or 0 and beta 0 or 1, in host memory, and scale in a kernel of your own"},
    Subject{"size", "An INT8 product of a small or uneven size", "pad m and k to 32 and n to 8"},
    Subject{"sum", "INT8 products with large sums", kOtherWay},
    Subject{"transpose", "An INT8 product in another operation than TN",
            "store A so that it is transposed and B so that it is not (TN)"},
};

/// What goes wrong: the second part of a reason code, the rest of the title, and what the contract expects instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
  /// Only for those that a sequence finds itself; the others have the status of their outcome.
  Status status = Status::fail;
  Outcome outcome = Outcome::wrong_result;
};
constexpr std::string_view kRightOrRefused = "right numbers, or a refusal by status";
constexpr std::array kDefects{
    Defect{"accepted-against-rule", "is accepted and works although the documentation forbids it",
           "refused with a status, so that the application learns of it on this library and not on the next"},
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"context-lost", "leaves the CUDA context unusable", kRightOrRefused},
    Defect{"crashed", "kills the process", kRightOrRefused},
    Defect{"depends-on-size", "works at some sizes and is refused at others",
           "the same answer at every size that keeps to the rules", Status::warn, Outcome::correct},
    Defect{"input-changed", "is accepted and changes an input", "right numbers and nothing else changed, or a refusal"},
    Defect{"low-bits-lost", "loses the low bits of sums that INT32 holds", "exact integers up to 2^31 - 1 and -2^31"},
    Defect{"not-run", "was not run", "enough free memory to run the case"},
    Defect{"null-slower", "takes over twice as long without an algorithm and a workspace",
           "about the time of the first result of the heuristic with 32 MiB", Status::warn, Outcome::slower},
    Defect{"out-of-bounds", "is accepted and memory outside D is overwritten", "nothing outside D is written"},
    Defect{"refused-late", "is refused only by cublasLtMatmul",
           "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way"},
    Defect{"refused-though-documented", "is refused although the documentation promises that it works",
           "cublasLtMatmul returns SUCCESS with the right numbers"},
    Defect{"rounded-first", "is rounded to INT8 before the bias is added",
           "one conversion to INT8, after the bias and the activation"},
    Defect{"slower", "takes far longer than the same call should", "a call of this size returns in well under 0.25 s"},
    Defect{"sum-saturates", "gives 2^31 for an FP32 sum beyond it", "the sum, which FP32 holds"},
    Defect{"sum-wraps", "gives a sum beyond 2^31 the wrong sign though D is FP32", "the sum, which FP32 holds"},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"truncated", "cuts off fractions in place of rounding", "the nearest integer", Status::warn},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "is accepted and elements of D are never written", "every element of D is written"},
    Defect{"value-wrong", "gives a wrong value", "the sum, scaled, rounded once and saturated"},
    Defect{"wraps", "wraps around in place of saturating", "-128 and 127 for what lies beyond them"},
    Defect{"wrong-result", "is accepted and gives wrong numbers in D", kRightOrRefused},
};

const Subject& subject_of(const Case& the_case) {
  const auto found = the_case.parameters.find(kSubject);
  const auto* const subject = std::find_if(kSubjects.begin(), kSubjects.end(), [&](const Subject& s) {
    return found != the_case.parameters.end() && s.id == found->second;
  });
  return subject == kSubjects.end() ? kSubjects.front() : *subject;
}

const Defect* defect_named(std::string_view id) {
  const auto* const found =
      std::find_if(kDefects.begin(), kDefects.end(), [id](const Defect& defect) { return defect.id == id; });
  return found == kDefects.end() ? nullptr : &*found;
}

/// "i8 x i8 -> i32, 272x208x144, TN": what decides of the case.
std::string what_is_called(const Case& the_case) {
  const auto& p = the_case.problem;
  std::string text =
      fmt::format("i8 x i8 -> {} ({}, scale {}), {}x{}x{}, {}{}", name_of(p.type_d), name_of(p.compute_type),
                  name_of(p.scale_type), p.m, p.n, p.k, name_of(p.transa), name_of(p.transb));
  if (const auto order = the_case.parameters.find(kOrder); order != the_case.parameters.end()) {
    return text + fmt::format(", A and D in COL32, B in {}", order->second);
  }
  text += fmt::format(", orders {}, {}, {}", name_of(p.order_a), name_of(p.order_b), name_of(p.order_d));
  if (p.lda != 0 || p.ldb != 0 || p.ldc != 0) {
    text += fmt::format(", ld {}, {}, {}", shape_a(p).ld, shape_b(p).ld, shape_c(p).ld);
  }
  if (p.alpha != 1 || p.beta != 0) text += fmt::format(", alpha {}, beta {}", p.alpha, p.beta);
  if (p.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE) text += ", scalars in device memory";
  if (p.batch_count > 1) text += fmt::format(", batch {}", p.batch_count);
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) text += fmt::format(", epilogue {}", name_of(p.epilogue));
  if (p.type_bias) text += fmt::format(", bias of {}", name_of(*p.type_bias));
  if (p.algo == AlgoChoice::null) text += ", algorithm null";
  if (p.workspace_bytes == 0) text += ", no workspace";
  return text;
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto detail = observation.fact(kDefectDetail);
  const bool planted = !observation.fact(kDefect).empty();
  auto text = what_is_called(the_case) + ": ";
  text += planted ? detail : describe(observation);
  if (!planted && !detail.empty()) text += "; " + detail;
  if (observation.cublas && !observation.cublas->call.empty()) {
    const auto& seen = observation.cublas->verification;
    text += fmt::format("; {}: {}", observation.cublas->call, observation.cublas->status);
    if (seen) text += seen->all_right() ? " and right" : " and wrong";
  }
  return text;
}

/// The outcome in a defect's word.
std::string_view defect_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::out_of_bounds:
      return "out-of-bounds";
    case Outcome::input_changed:
      return "input-changed";
    case Outcome::unwritten:
      return "unwritten";
    case Outcome::slower:
      return "slower";
    case Outcome::unproven:
      return "unproven";
    default:
      return "wrong-result";
  }
}

class Int8 : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override { return int8::cases(target, depth); }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return int8::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    return int8::observe(session, the_case);
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    Outcome outcome = outcome_of(observation);
    if (observation.end != ProcessEnd::survived || outcome == Outcome::not_run || outcome == Outcome::audit_error) {
      return judge_by_table(the_case.expectation, observation);
    }
    const auto verdict = [&](Status status, std::string_view defect) {
      return Verdict{status, outcome, fmt::format("{}-{}", subject_of(the_case).id, defect),
                     sentence_of(the_case, observation)};
    };
    if (const auto* const own = defect_named(observation.fact(kDefect)); own != nullptr) {
      outcome = own->outcome;
      return verdict(own->status, own->id);
    }
    // What planted values show is no verification of the engine's; without a result that ran they show nothing.
    if (outcome == Outcome::unproven && ran_planted(the_case, observation)) outcome = Outcome::correct;
    switch (outcome) {
      case Outcome::correct:
        return the_case.expectation == Expectation::must_refuse ? verdict(Status::warn, "accepted-against-rule")
                                                                : pass(outcome);
      case Outcome::refused:
      case Outcome::late_refusal:
        if (the_case.expectation == Expectation::must_work) return verdict(Status::fail, "refused-though-documented");
        // The query does not know the scalars.
        return outcome == Outcome::refused || subject_of(the_case).id == "scalars"
                   ? pass(outcome)
                   : verdict(Status::warn, "refused-late");
      default:
        return verdict(status_of(Expectation::must_work, outcome), defect_of(outcome));
    }
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

 private:
  static Verdict pass(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    return verdict;
  }

  static bool ran_planted(const Case& the_case, const Observation& observation) {
    const auto found = the_case.parameters.find(kSteps);
    const auto results = observation.fact(kResults);
    return found != the_case.parameters.end() && found->second == kPlanted && !results.empty() && results != "0";
  }
};

}  // namespace

std::unique_ptr<Check> make_int8() { return std::make_unique<Int8>(); }

}  // namespace lt_audit
