// Check "epilogue": every epilogue with every type, operation and kind of shape, and what an application sets beside
// it. epilogue_cases.cpp has the table, epilogue_steps.cpp the cases with planted inputs, this file the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue_cases.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace epilogue;

constexpr CheckInfo kInfo{
    "epilogue", "Every epilogue gives what its definition says in D, aux and bias gradient, at every type and shape",
    "cublasLt.h 13.1.0, cublasLtEpilogue_t (lines 1931-2039) and CUBLASLT_MATMUL_DESC_BIAS_POINTER to "
    "_EPILOGUE_AUX_BATCH_STRIDE (lines 1313-1400); cuBLAS 13.2 documentation, cublasLtMatmul, tables of supported "
    "types"};

constexpr std::string_view kOwnKernel =
    "use CUBLASLT_EPILOGUE_DEFAULT for this product and apply the epilogue in a kernel of your own; report the call to "
    "NVIDIA with the repro line";

/// First part of a reason code, start of a finding's title, and what an application can change.
struct Subject {
  std::string_view id;
  std::string_view title;
  std::string_view remedy;
};
constexpr std::array kSubjects{
    Subject{"activation", "An activation", kOwnKernel},
    Subject{"activation-gradient", "The gradient of an activation", kOwnKernel},
    Subject{"aux", "An epilogue that writes aux",
            "use the epilogue without aux, and write the mask or the input of GELU in a kernel of your own; report the "
            "call to NVIDIA with the repro line"},
    Subject{"aux-layout", "A leading dimension of aux that breaks its rule",
            "set CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD to the rows of D rounded up to 8, for a ReLU mask to 128"},
    Subject{"aux-pointer", "An aux pointer below a 256-byte boundary",
            "put aux on a 16-byte boundary and set CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER before the query: no "
            "preference declares its alignment"},
    Subject{"aux-type", "Another type of aux than D's",
            "leave CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE at its default (-1)"},
    Subject{"bias", "A bias epilogue", kOwnKernel},
    Subject{
        "bias-gradient", "A gradient of an activation with bias gradient",
        "use CUBLASLT_EPILOGUE_DRELU or _DGELU and sum the columns of D in a kernel of your own; report the call to "
        "NVIDIA with the repro line"},
    Subject{"bias-rounding", "A product with a 16-bit D and a bias",
            "set CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK to CUBLASLT_REDUCTION_SCHEME_NONE or _COMPUTE_TYPE before "
            "the query, or give D the type R_32F and convert in a kernel of your own"},
    Subject{"bias-type", "Another type of bias than the tables list",
            "leave CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE at its default (-1) and convert the vector"},
    Subject{"mask-type", "A type that is set for a ReLU mask",
            "leave CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE at its default (-1): a mask has no type"},
    Subject{"no-epilogue", "A product without epilogue",
            "nothing in the epilogue explains it: compare with another algorithm and another version of the library"},
    Subject{"operand-gradient", "A bias gradient of A or B",
            "sum the rows of op(A) or the columns of op(B) in a kernel of your own; report the call to NVIDIA with the "
            "repro line"},
    Subject{"row-order", "A bias epilogue with D in order row",
            "keep D in CUBLASLT_ORDER_COL and swap A and B, or add the bias in a kernel of your own"},
    Subject{"special-values", "An activation of NaN, infinity, the largest or a denormal number",
            "look for NaN in D of a product without activation, and apply the activation in a kernel of your own where "
            "such values matter"},
    Subject{"unused-pointer", "A bias or aux pointer beside an epilogue that does not use it",
            "set CUBLASLT_MATMUL_DESC_BIAS_POINTER and _EPILOGUE_AUX_POINTER to NULL when an epilogue does not need "
            "them, or make a descriptor for each epilogue"},
};

/// What goes wrong: the second part of a reason code, the rest of the title, and what the contract expects instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
  /// Only for those that a sequence finds itself; the others have the status of their outcome.
  Status status = Status::fail;
  /// In place of the subject's.
  std::string_view remedy = {};
};
constexpr std::string_view kRightOrRefused = "right numbers, or a refusal by status";
constexpr std::array kDefects{
    Defect{"above-limit", "brings an algorithm that asks for more workspace than the limit, and is refused",
           "workspaceSize within CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES (cublasLt.h 13.1.0, lines 2084-2088)",
           Status::fail,
           "raise CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES and the buffer above 0, and compare workspaceSize of the "
           "result with the buffer before the call"},
    Defect{"accepted-against-rule", "is accepted and works although the documentation forbids it",
           "refused with a status, so that the application learns of it on this library and not on the next"},
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"aux-wrong", "leaves a wrong aux", "the mask of what is above 0, or the input of GELU"},
    Defect{"context-lost", "leaves the CUDA context unusable", kRightOrRefused},
    Defect{"crashed", "kills the process", kRightOrRefused},
    Defect{"denormal-flushed", "gives 0 for a denormal number", "the number, as a product without activation gives it",
           Status::warn},
    Defect{"input-changed", "is accepted and changes an input, or memory beside aux or bias",
           "right numbers and nothing else changed, or a refusal"},
    Defect{"inf-made", "gives infinity for a number that D's type holds",
           "the number, as GELU in the order 0.5 x times 1 + tanh gives it in FP32", Status::warn},
    Defect{"nan-lost", "hides NaN", "NaN, as the activations of PyTorch, JAX and TensorFlow give it", Status::warn},
    Defect{"nan-made", "gives NaN for a number", "a number, for every input but NaN and GELU's -infinity"},
    Defect{"not-run", "was not run", "enough free memory to run the case"},
    Defect{"out-of-bounds", "is accepted and memory outside D is overwritten", "nothing outside D is written"},
    Defect{"refused-late", "is refused only by cublasLtMatmul",
           "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way"},
    Defect{"refused-though-documented", "is refused although the documentation promises that it works",
           "cublasLtMatmul returns SUCCESS with the right numbers"},
    Defect{"rounded-first", "has its sum rounded to D's type before the bias is added",
           "one rounding, of sum and bias together, as a product into R_32F with a separate addition has",
           Status::warn},
    Defect{"slower", "takes far longer than the same call should", "a call of this size returns in well under 0.25 s"},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "is accepted and elements of D are never written", "every element of D is written"},
    Defect{"value-wrong", "gives a wrong value", "the value of the definition"},
    Defect{"wrong-aux", "gives a right D and a wrong aux", "the mask or the input of GELU, of every element"},
    Defect{"wrong-gradient", "gives a right D and a wrong bias gradient", "the sum over a row of D, or over k"},
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

/// "gelu_aux, f16 x f16 -> f16, 272x208x144, NN": what decides of the case.
std::string what_is_called(const Case& the_case) {
  const auto& p = the_case.problem;
  std::string text =
      fmt::format("{} ({} x {} -> {}, {}, {}x{}x{}, {}{}", name_of(p.epilogue), name_of(p.type_a), name_of(p.type_b),
                  name_of(p.type_d), name_of(p.compute_type), p.m, p.n, p.k, name_of(p.transa), name_of(p.transb));
  if (p.batch_count > 1) text += fmt::format(", batch {}", p.batch_count);
  if (p.type_bias) text += fmt::format(", bias of {}", name_of(*p.type_bias));
  if (p.type_aux) text += fmt::format(", aux of {}", name_of(*p.type_aux));
  if (p.ldaux != 0) text += fmt::format(", aux ld {}", p.ldaux);
  if (p.aux_offset != 0) text += fmt::format(", aux {} bytes behind a 256-byte boundary", p.aux_offset);
  if (p.workspace_bytes == 0) text += ", no workspace";
  if (const auto pointer = the_case.parameters.find(kPointer); pointer != the_case.parameters.end()) {
    text += fmt::format(", {} pointer set", pointer->second);
  }
  return text + ")";
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
  return seen->aux_wrong > 0 ? "wrong-aux" : (seen->gradient_wrong > 0 ? "wrong-gradient" : "wrong-result");
}

class Epilogue : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override { return epilogue::cases(target, depth); }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return epilogue::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    return epilogue::observe(session, the_case);
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
    // What a sequence compares itself is no verification of the engine's.
    if (outcome == Outcome::unproven && compares_itself(the_case)) outcome = Outcome::correct;
    switch (outcome) {
      case Outcome::correct:
        // What nobody documents and works is no finding: the simulator does it too.
        return the_case.expectation == Expectation::must_refuse ? verdict(Status::warn, "accepted-against-rule")
                                                                : pass(outcome);
      case Outcome::refused:
      case Outcome::late_refusal:
        if (outcome == Outcome::late_refusal && is_above_limit(the_case, observation)) {
          return verdict(Status::fail, "above-limit");
        }
        if (the_case.expectation == Expectation::must_work) return verdict(Status::fail, "refused-though-documented");
        return outcome == Outcome::refused ? pass(outcome) : verdict(Status::warn, "refused-late");
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
    const auto remedy = known && !defect->remedy.empty() ? defect->remedy : subject.remedy;
    return {fmt::format("{} {}", subject.title, known ? defect->title : "did not work as expected"),
            std::string(known ? defect->expected : kRightOrRefused), the_case.rule,
            std::string(verdict.status == Status::skip ? "free memory on the GPU and run the audit again" : remedy)};
  }

 private:
  static Verdict pass(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    return verdict;
  }

  static bool is_above_limit(const Case& the_case, const Observation& observation) {
    return !observation.heuristic.empty() &&
           observation.heuristic.front().workspace_bytes > static_cast<std::uint64_t>(the_case.problem.workspace_bytes);
  }

  static bool compares_itself(const Case& the_case) {
    const auto found = the_case.parameters.find(kSteps);
    return found != the_case.parameters.end() && found->second != kUnusedPointer;
  }
};

}  // namespace

std::unique_ptr<Check> make_epilogue() { return std::make_unique<Epilogue>(); }

}  // namespace lt_audit
