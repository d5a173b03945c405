// Check "fp8-scaling": scale factors of FP8 products, in every mode and type. fp8_cases.cpp has the table,
// fp8_steps.cpp and fp8_numbers.cpp the cases that are sequences of calls, this file the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fp8_cases.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace fp8_scaling;

constexpr CheckInfo kInfo{
    "fp8-scaling", "FP8 scale factors of every mode act where the documentation says, and D and amax follow exactly",
    "cuBLAS 13.2 documentation, Narrow Precision Data Types Usage and cublasLtMatmul, FP8 table; cublasLt.h 13.1.0, "
    "cublasLtMatmulMatrixScale_t (lines 921-941) and CUBLASLT_MATMUL_DESC_A_SCALE_POINTER to _FAST_ACCUM (lines "
    "1417-1533)"};

/// First part of a reason code, start of a finding's title, and what an application can change.
struct Subject {
  std::string_view id;
  std::string_view title;
  std::string_view remedy;
};
constexpr std::string_view kReport =
    "compare with the same product in R_16BF and report the call to NVIDIA with the repro line";
constexpr std::array kSubjects{
    Subject{
        "accumulation", "An FP8 sum without fast accumulation",
        "set CUBLASLT_MATMUL_DESC_FAST_ACCUM to 0 and compare with the product in R_16BF; split k and add the parts "
        "in FP32 where the small terms matter"},
    Subject{"amax", "An FP8 product with amax of D",
            "compute the largest magnitude in a kernel of your own, before D is scaled"},
    Subject{"block-128", "A product with scale factors for blocks of 128 x 128",
            "use VEC128_32F for A and B with the same factor in every row of a block, or SCALAR_32F"},
    Subject{"block-scaled", "A block-scaled mode of compute capability 10.0", kReport},
    Subject{"epilogue", "An epilogue beside scale factors",
            "use CUBLASLT_EPILOGUE_DEFAULT and apply the epilogue in a kernel of your own"},
    Subject{"host-pointer", "A scale or amax pointer to host memory",
            "put scale factors and amax into device memory (cudaMalloc), or at least into pinned memory"},
    Subject{"mode-pair", "A pair of scale modes that is not documented",
            "use OUTER_VEC_32F for both, VEC128_32F for both, or VEC128_32F with BLK128x128_32F"},
    Subject{"no-scale", "An FP8 product without scale factors", kReport},
    Subject{"null-pointer", "A scale pointer of NULL",
            "set a table before CUBLASLT_MATMUL_DESC_A_SCALE_MODE, or leave the mode at SCALAR_32F, where NULL counts "
            "as a factor of 1"},
    Subject{"outer-vector", "A product with scale factors for rows of A and columns of B",
            "use SCALAR_32F, and scale the rows and columns of an FP32 D in a kernel of your own"},
    Subject{"scalar", "A scale factor of A or B", "leave the pointer at NULL and multiply alpha by the factor"},
    Subject{"scalar-pointer", "A scale or amax pointer to one value",
            "align every scale and amax pointer to 16 bytes, not to the 4 of a float"},
    Subject{"scale-c", "A scale factor of C", "leave the pointer at NULL and multiply beta by the factor"},
    Subject{"scale-d", "A scale factor of an FP8 D",
            "compute D in R_16BF or R_32F and convert it in a kernel of your own"},
    Subject{"scale-order", "A product with scale factors that round", kReport},
    Subject{"table-layout", "The layout of a table of scale factors",
            "lay VEC128_32F out with the rows of A (columns of B) contiguous, and BLK128x128_32F with the blocks of k "
            "contiguous and a leading dimension that is a multiple of 4"},
    Subject{"table-output", "A table of scale factors beside an FP8 D, or beside a scale or amax of D",
            "give D the type R_16BF, R_16F or R_32F and convert it in a kernel of your own"},
    Subject{"table-pointer", "A pointer to a table of scale factors", "align tables of scale factors to 16 bytes"},
    Subject{"types", "A combination of FP8 types that stands in no row of the table",
            "make A or B E4M3, and choose C and D from the FP8 table"},
    Subject{"vector-128", "A product with scale factors for 128 elements of k",
            "use OUTER_VEC_32F or SCALAR_32F, or split k and add the parts in FP32"},
    Subject{"wide-input", "A scale factor or amax beside matrices that are not narrow",
            "do not set the pointer: put the factor into alpha or beta"},
    Subject{"wide-output", "A scale factor or amax of a D or aux that is not FP8",
            "do not set the pointer: put the factor into alpha, beta and the bias"},
    Subject{"workspace", "A product with scale factors under a workspace limit",
            "give the workspace that the first result of the heuristic asks for, and choose again when it changes"},
    Subject{"zero-factor", "A scale factor of 0", "use a factor other than 0; for C, set beta to 0 instead (CUB-9627)"},
};

/// What goes wrong: the second part of a reason code, the rest of the title, and what the contract expects instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
  /// Only for those that a sequence finds itself; the others have the status of their outcome.
  Status status = Status::fail;
};
constexpr std::string_view kRightOrRefused = "right numbers, or a refusal by status";
constexpr std::array kDefects{
    Defect{"accepted-against-rule", "is accepted and works although the documentation forbids it",
           "refused with a status, so that the application learns of it on this library and not on the next"},
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"beside-pointer-changed", "is accepted and memory beside the value is overwritten",
           "4 bytes are read or written and no more"},
    Defect{"context-lost", "leaves the CUDA context unusable", kRightOrRefused},
    Defect{"crashed", "kills the process", kRightOrRefused},
    Defect{"input-changed", "is accepted and changes an input, a scale factor, or memory beside them",
           "right numbers and nothing else changed, or a refusal"},
    Defect{"layout-undecided", "cannot be told: more than one layout gives the right D",
           "the documented layout alone gives the right D", Status::warn},
    Defect{"not-run", "was not run", "a GPU that has the mode, and enough free memory"},
    Defect{"other-layout", "is another one than documented", "the documented layout gives the right D"},
    Defect{"out-of-bounds", "is accepted and memory outside D is overwritten", "nothing outside D is written"},
    Defect{"precision-lost", "loses most of its small terms",
           "intermediate results are promoted to FP32 periodically when fast accumulation is off", Status::warn},
    Defect{"refused-late", "is refused only by cublasLtMatmul",
           "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way"},
    Defect{"refused-though-documented", "is refused although the documentation promises that it works",
           "cublasLtMatmul returns SUCCESS with the right numbers"},
    Defect{"slower", "takes far longer than the same call should", "a call of this size returns in well under 0.25 s"},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "is accepted and elements of D are never written", "every element of D is written"},
    Defect{"value-wrong", "gives a wrong value", "the exact value, but for the roundings of the definition"},
    Defect{"wrong-amax", "gives a right D and a wrong amax", "the largest magnitude of D before its scale factor"},
    Defect{"wrong-aux", "gives a right D and a wrong aux", "what goes into the activation"},
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

/// "e4m3 x e4m3 -> bf16, 272x208x144, scale_a scalar, scale_b scalar, amax": what decides of the case.
std::string what_is_called(const Case& the_case) {
  const auto& p = the_case.problem;
  std::string text = fmt::format("{} x {} -> {} (C {}), {}x{}x{}", name_of(p.type_a), name_of(p.type_b),
                                 name_of(p.type_d), name_of(p.type_c), p.m, p.n, p.k);
  const auto scale = [&text](const char* name, const std::optional<cublasLtMatmulMatrixScale_t>& mode,
                             std::int64_t offset) {
    if (!mode) return;
    text += fmt::format(", scale_{} {}", name, name_of(*mode));
    if (offset != 0) text += fmt::format(" {} bytes behind a 256-byte boundary", offset);
  };
  scale("a", p.scale_a, p.scale_a_offset);
  scale("b", p.scale_b, p.scale_b_offset);
  scale("c", p.scale_c, 0);
  scale("d", p.scale_d, 0);
  if (p.amax_d) text += ", amax";
  if (p.beta != 0) text += fmt::format(", beta {}", p.beta);
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) text += fmt::format(", {}", name_of(p.epilogue));
  if (p.fast_accum) text += ", fast accumulation";
  const auto parameter = [&](const char* name, const char* word) {
    const auto found = the_case.parameters.find(name);
    if (found != the_case.parameters.end()) text += fmt::format(", {} {}", word, found->second);
  };
  parameter(kOperand, "of");
  parameter(kOffset, "at byte");
  parameter(kMemory, "in memory that is");
  return text;
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto detail = observation.fact(kDefectDetail);
  return fmt::format("{}: {}", what_is_called(the_case), detail.empty() ? describe(observation) : detail);
}

/// The outcome in a defect's word.
std::string_view defect_of(Outcome outcome, const Observation& observation) {
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
      break;
  }
  const auto& seen = observation.verification;
  if (!seen || seen->wrong > 0) return "wrong-result";
  return seen->aux_wrong > 0 ? "wrong-aux" : "wrong-amax";
}

class Fp8Scaling : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    return fp8_scaling::cases(target, depth);
  }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return fp8_scaling::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    return fp8_scaling::observe(session, the_case);
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
      outcome = Outcome::wrong_result;
      return verdict(own->status, own->id);
    }
    if (outcome == Outcome::unproven && proves_itself(the_case, observation)) outcome = Outcome::correct;
    switch (outcome) {
      case Outcome::correct:
        // What nobody documents and works is no finding: the simulator does it too.
        return the_case.expectation == Expectation::must_refuse ? verdict(Status::warn, "accepted-against-rule")
                                                                : pass(outcome);
      case Outcome::refused:
      case Outcome::late_refusal:
        if (the_case.expectation == Expectation::must_work) return verdict(Status::fail, "refused-though-documented");
        // The header has cublasLtMatmul refuse what a scale pointer does not go with (lines 1425-1426), so that only a
        // refusal that nobody documents comes late.
        return outcome == Outcome::late_refusal && the_case.expectation == Expectation::may_refuse
                   ? verdict(Status::warn, "refused-late")
                   : pass(outcome);
      default:
        return verdict(status_of(Expectation::must_work, outcome), defect_of(outcome, observation));
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
            std::string(verdict.status == Status::skip
                            ? "run the audit on a GPU of compute capability 10.0 or later, or free memory"
                            : subject.remedy)};
  }

 private:
  static Verdict pass(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    return verdict;
  }

  /// Values that a sequence compares itself, and a D that must be 0 everywhere, where poison would be no 0.
  static bool proves_itself(const Case& the_case, const Observation& observation) {
    const auto steps = the_case.parameters.find(kSteps);
    if (steps == the_case.parameters.end()) return false;
    if (steps->second == kAccumulation) return !observation.fact(kLostPrecise).empty();
    if (steps->second == kOrder) return !observation.fact(kScaleOrder).empty();
    return steps->second == kZero && the_case.parameters.at(kOperand) == "d" && observation.verification &&
           observation.verification->all_right();
  }
};

}  // namespace

std::unique_ptr<Check> make_fp8_scaling() { return std::make_unique<Fp8Scaling>(); }

}  // namespace lt_audit
