// The check "problem": cases from texts, expectation from the contract, remedies by the rule that decided.
#include "driver/given_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lt_audit/contract.h"
#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

struct RuleRemedy {
  /// How the rule id of the contract begins; the longest fitting one counts.
  std::string_view prefix;
  std::string_view remedy;
};

constexpr std::array kRemedies{
    RuleRemedy{"amax", "do not set CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, and find amax in a kernel of your own"},
    RuleRemedy{"aux-ld",
               "set CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD to the rows of D rounded up to 8, for a ReLU mask to 128"},
    RuleRemedy{"aux-pointer", "put aux on a 16-byte boundary and set its pointer before the query"},
    RuleRemedy{"aux-type", "leave CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE at its default"},
    RuleRemedy{"batch", "set CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT to at least 1 in all four layouts"},
    RuleRemedy{"batch-above-65535", "keep all matrices in order col, or split the batch into calls of at most 65535"},
    RuleRemedy{"bias-type", "leave CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE at its default and convert the bias vector"},
    RuleRemedy{"bias-row-order", "keep D in CUBLASLT_ORDER_COL, or add the bias in a kernel of your own"},
    RuleRemedy{"conjugate-row-order",
               "keep A, B, C and D in one order, or write the conjugate in a kernel of your own and use CUBLAS_OP_T"},
    RuleRemedy{
        "d-batches-overlap",
        "set the batch stride of D to at least ldd times the columns of D, or to the rows of D with ldd at least the "
        "batch count times the rows"},
    RuleRemedy{"dimension-above-int32", "split the product so that m, n and k are below 2147483648"},
    RuleRemedy{"emulation", "use CUBLAS_COMPUTE_32F or CUBLAS_COMPUTE_64F on this GPU"},
    RuleRemedy{"epilogue-operand-gradient",
               "for bgrada store A so that TRANSA = CUBLAS_OP_N, for bgradb B so that TRANSB = CUBLAS_OP_T, or sum in "
               "a kernel of "
               "your own"},
    RuleRemedy{"epilogue", "use CUBLASLT_EPILOGUE_DEFAULT and apply the epilogue in a kernel of your own"},
    RuleRemedy{"fp8-16-byte-rule",
               "pad k, m and the leading dimensions so that each is a multiple of 16 bytes in its type"},
    RuleRemedy{"fp8-needs-tn",
               "store A transposed and call with CUBLASLT_MATMUL_DESC_TRANSA = CUBLAS_OP_T, TRANSB = CUBLAS_OP_N"},
    RuleRemedy{"fp8-types", "compare with a run of the same product in R_16BF, and report the call to NVIDIA"},
    RuleRemedy{"in-place", "give C and D the same layout, or let them be different memory"},
    RuleRemedy{"int8-alpha-beta", "use alpha and beta of 0 or 1, or scale type CUDA_R_32F with an INT8 D"},
    RuleRemedy{"int8-default-epilogue", "use CUBLASLT_EPILOGUE_DEFAULT with INT8 inputs"},
    RuleRemedy{"int8-epilogue", "use CUBLASLT_EPILOGUE_DEFAULT with INT8 inputs"},
    RuleRemedy{"int8-multiples-of-4", "pad m, k and the leading dimensions to multiples of 4"},
    RuleRemedy{"int8-needs-tn",
               "store A transposed and call with CUBLASLT_MATMUL_DESC_TRANSA = CUBLAS_OP_T, TRANSB = CUBLAS_OP_N"},
    RuleRemedy{"k-of-zero", "do not call with k of 0: fill D with beta * C"},
    RuleRemedy{"ld", "set every leading dimension to at least the rows (order col) or columns (order row)"},
    RuleRemedy{"plane-below-16", "make CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET a multiple of 16 bytes"},
    RuleRemedy{"pointer-below-promise",
               "set CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES to _D_BYTES to the real alignment of the pointers, or "
               "align the pointers to 16 bytes"},
    RuleRemedy{"pointer-below-the-type",
               "align the pointer (16 bytes for FP8, 4 for INT8) and declare at least as much in the preference"},
    RuleRemedy{"scalar-scale-16-bytes", "align the scale factor to 16 bytes"},
    RuleRemedy{"scale-16-bytes", "align the table of scale factors to 16 bytes"},
    RuleRemedy{"scale-modes",
               "use scale mode SCALAR_32F for A and B, or a pair of modes that this GPU has, with a 16-bit or FP32 D"},
    RuleRemedy{"scale-modes-fast-accumulation",
               "leave CUBLASLT_MATMUL_DESC_FAST_ACCUM at 0, or use scale mode OUTER_VEC_32F or SCALAR_32F"},
    RuleRemedy{"scale-multiples-of-4", "pad m and n to multiples of 4, or use scale mode OUTER_VEC_32F"},
    RuleRemedy{"scale-of", "do not set the scale pointer: put the factor into alpha or beta"},
    RuleRemedy{"types-not-on-this-gpu", "use R_16BF or R_16F on this GPU, or a newer library"},
    RuleRemedy{"types-unlisted",
               "choose a row of the documented table: change the type of C and D, the compute type or the scale type, "
               "and convert in a kernel of your own where needed"},
    RuleRemedy{"workspace", "align the workspace to 256 bytes"},
    RuleRemedy{"zero-dimension", "do not call with m or n of 0"},
};

std::string_view remedy_for(std::string_view rule_id) {
  const RuleRemedy* best = nullptr;
  for (const auto& entry : kRemedies) {
    if (rule_id.starts_with(entry.prefix) && (best == nullptr || entry.prefix.size() > best->prefix.size())) {
      best = &entry;
    }
  }
  if (best != nullptr) return best->remedy;
  return "run `lt-audit replay` with this problem to see every step, and try the call without epilogue, batch and "
         "offsets";
}

/// What happened, as a heading.
std::string_view title_for(Expectation expectation, Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
      return "A documented call is refused";
    case Outcome::late_refusal:
      return "The heuristic accepts the call and matmul refuses it";
    case Outcome::correct:
      return expectation == Expectation::must_refuse ? "A call that breaks a documented rule is accepted"
                                                     : "A call outside of the documentation happens to work";
    case Outcome::wrong_result:
      return "The call returns SUCCESS and D is wrong";
    case Outcome::unwritten:
      return "The call returns SUCCESS and does not write all of D";
    case Outcome::out_of_bounds:
      return "The call writes outside of D";
    case Outcome::input_changed:
      return "The call changes its inputs";
    case Outcome::slower:
      return "The call takes far longer than its size explains";
    case Outcome::unproven:
      return "The result cannot be proven right: nearly all of it is 0";
    default:
      return "The call does not do what it should";
  }
}

std::string_view expected_for(Expectation expectation) {
  switch (expectation) {
    case Expectation::must_work:
      return "accepted, and D right: the documentation promises this call";
    case Expectation::must_refuse:
      return "refused with a status: the call breaks a documented rule";
    case Expectation::may_refuse:
      break;
  }
  return "refused before matmul, or right: the documentation does not promise this call";
}

class GivenProblems final : public Check {
 public:
  explicit GivenProblems(const std::vector<std::string>& texts) {
    problems_.reserve(texts.size());
    for (const auto& text : texts) problems_.push_back(read(text));
  }

  const CheckInfo& info() const override {
    static constexpr CheckInfo kInfo{kGivenProblemsId, "Matrix products given on the command line keep the contract",
                                     "cuBLAS documentation, cublasLtMatmul; cublasLt.h (rules as of cuBLAS 13.2)"};
    return kInfo;
  }

  std::vector<Case> cases(const Target& target, Depth /*depth*/) const override {
    const ContractScope scope{target.device_facts.compute_capability(), target.cublaslt.number()};
    std::vector<Case> cases;
    cases.reserve(problems_.size());
    for (const auto& problem : problems_) {
      Promise promise = promise_of(problem, scope);
      Case the_case;
      the_case.id = fmt::format("{}-{}", kGivenProblemsId, cases.size() + 1);
      the_case.problem = problem;
      the_case.expectation = promise.expectation;
      the_case.rule = std::move(promise.rule);
      the_case.with_cublas = true;
      the_case.parameters[std::string(kRuleParameter)] = std::move(promise.rule_id);
      if (promise.refused_by == RefusedBy::matmul) the_case.parameters["refused_by"] = "matmul";
      cases.push_back(std::move(the_case));
    }
    return cases;
  }

  /// The table's verdict, told apart by the rule: two problems with different remedies are two findings.
  Verdict judge(const Case& the_case, const Observation& observation) const override {
    Verdict verdict = judge_by_table(the_case.expectation, observation);
    // What only matmul can see (the workspace pointer, alpha) it alone can refuse: no trap, but the rule kept.
    if (the_case.expectation == Expectation::must_refuse && verdict.outcome == Outcome::late_refusal &&
        the_case.parameters.contains("refused_by")) {
      return {Status::pass, verdict.outcome, "", ""};
    }
    if (!verdict.reason.empty()) verdict.reason += fmt::format("-{}", rule_id(the_case));
    return verdict;
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    Advice advice;
    advice.title = title_for(the_case.expectation, verdict.outcome);
    advice.expected = expected_for(the_case.expectation);
    advice.rule = the_case.rule;
    advice.remedy = the_case.expectation == Expectation::must_work && verdict.outcome != Outcome::late_refusal
                        ? "avoid the call with this library: change one attribute (types, transposes, leading "
                          "dimensions, epilogue, algorithm) until `lt-audit replay` passes, and report it to NVIDIA"
                        : std::string(remedy_for(rule_id(the_case)));
    return advice;
  }

 private:
  static MatmulProblem read(const std::string& text) {
    try {
      return problem_from_text(text);
    } catch (const AuditError& error) {
      throw AuditError(error.kind(), fmt::format("problem '{}': {}", text, error.what()));
    }
  }

  static std::string rule_id(const Case& the_case) {
    const auto found = the_case.parameters.find(std::string(kRuleParameter));
    return found == the_case.parameters.end() ? std::string() : found->second;
  }

  std::vector<MatmulProblem> problems_;
};

}  // namespace

std::unique_ptr<Check> make_given_problems(const std::vector<std::string>& texts) {
  return std::make_unique<GivenProblems>(texts);
}

}  // namespace lt_audit
