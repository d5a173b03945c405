// Check "compute-type": the whole product of compute type, scale type and matrix types against the documented tables.
// Listed rows must work; anything else must be refused or harmless.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {
namespace {

constexpr CheckInfo kInfo{
    "compute-type", "Combinations of types run when the documentation lists them and are refused otherwise",
    "cuBLAS 13.2 documentation, cublasLtMatmul, tables of supported types; cublas_api.h 13.1.0, cublasComputeType_t "
    "(lines 198-219)"};

struct ScaleType {
  cudaDataType_t type;
  std::string_view name;
  bool full_only;
};
constexpr std::array kScaleTypes{ScaleType{CUDA_R_16F, "r16f", false},  ScaleType{CUDA_R_32F, "r32f", false},
                                 ScaleType{CUDA_R_64F, "r64f", false},  ScaleType{CUDA_R_32I, "r32i", false},
                                 ScaleType{CUDA_R_16BF, "r16bf", true}, ScaleType{CUDA_C_32F, "c32f", true},
                                 ScaleType{CUDA_C_64F, "c64f", true}};

/// Two types that stand beside each other: A and B, or C and D.
struct TypePair {
  cudaDataType_t first;
  cudaDataType_t second;
  bool full_only;
  /// Real and imaginary parts lie in planes of their own.
  bool planar = false;
};
constexpr std::array kInputs{
    TypePair{CUDA_R_64F, CUDA_R_64F, false},         TypePair{CUDA_R_32F, CUDA_R_32F, false},
    TypePair{CUDA_R_16F, CUDA_R_16F, false},         TypePair{CUDA_R_16BF, CUDA_R_16BF, false},
    TypePair{CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, false}, TypePair{CUDA_R_8F_E5M2, CUDA_R_8F_E5M2, false},
    TypePair{CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, false}, TypePair{CUDA_R_8F_E5M2, CUDA_R_8F_E4M3, false},
    TypePair{CUDA_R_8I, CUDA_R_8I, false},           TypePair{CUDA_R_16F, CUDA_R_16BF, true},
    TypePair{CUDA_R_16BF, CUDA_R_16F, true},         TypePair{CUDA_R_32F, CUDA_R_16F, true},
    TypePair{CUDA_R_16F, CUDA_R_32F, true},          TypePair{CUDA_R_32F, CUDA_R_16BF, true},
    TypePair{CUDA_R_32F, CUDA_R_64F, true},          TypePair{CUDA_R_16F, CUDA_R_8F_E4M3, true},
    TypePair{CUDA_C_64F, CUDA_C_64F, false},         TypePair{CUDA_C_32F, CUDA_C_32F, false},
    TypePair{CUDA_C_8I, CUDA_C_8I, false},           TypePair{CUDA_C_16F, CUDA_C_16F, false, true},
    TypePair{CUDA_C_16BF, CUDA_C_16BF, false, true}, TypePair{CUDA_C_16F, CUDA_C_16F, true},
    TypePair{CUDA_C_16BF, CUDA_C_16BF, true},        TypePair{CUDA_C_32F, CUDA_C_32F, true, true},
    TypePair{CUDA_C_16F, CUDA_C_16BF, true, true},   TypePair{CUDA_C_64F, CUDA_C_32F, true},
};
/// C, D. An FP8 D stands beside a 16-bit C in the table, never beside an FP8 C.
constexpr std::array kOutputs{
    TypePair{CUDA_R_64F, CUDA_R_64F, false},         TypePair{CUDA_R_32F, CUDA_R_32F, false},
    TypePair{CUDA_R_16F, CUDA_R_16F, false},         TypePair{CUDA_R_16BF, CUDA_R_16BF, false},
    TypePair{CUDA_R_8I, CUDA_R_8I, false},           TypePair{CUDA_R_32I, CUDA_R_32I, false},
    TypePair{CUDA_R_16BF, CUDA_R_8F_E4M3, false},    TypePair{CUDA_R_16BF, CUDA_R_8F_E5M2, false},
    TypePair{CUDA_R_16F, CUDA_R_8F_E4M3, true},      TypePair{CUDA_R_16F, CUDA_R_8F_E5M2, true},
    TypePair{CUDA_C_64F, CUDA_C_64F, false},         TypePair{CUDA_C_32F, CUDA_C_32F, false},
    TypePair{CUDA_C_16F, CUDA_C_16F, false},         TypePair{CUDA_C_16BF, CUDA_C_16BF, false},
    TypePair{CUDA_C_32F, CUDA_C_32F, false, true},   TypePair{CUDA_C_16F, CUDA_C_16F, false, true},
    TypePair{CUDA_C_16BF, CUDA_C_16BF, false, true},
};

/// FAST types and BF16x9 may round FP32 inputs to a narrower type: the tables list them for FP32 alone.
bool is_fast(cublasComputeType_t type) {
  return type == CUBLAS_COMPUTE_32F_FAST_16F || type == CUBLAS_COMPUTE_32F_FAST_16BF ||
         type == CUBLAS_COMPUTE_32F_FAST_TF32 || type == CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
}

/// The type that the name of a FAST type gives to A and B; TF32 and BF16x9 are ways to multiply FP32.
cudaDataType_t named_inputs(cublasComputeType_t type) {
  if (type == CUBLAS_COMPUTE_32F_FAST_16F) return CUDA_R_16F;
  return type == CUBLAS_COMPUTE_32F_FAST_16BF ? CUDA_R_16BF : CUDA_R_32F;
}

/// Claim C7, "the compute type must match A and B", speaks of FAST types that name another type than A and B have. Only
/// where nothing else is amiss, or every wrong scale type would count for the claim: the same call is listed for
/// COMPUTE_32F. FP32 inputs stay with every C and D, since what those calls write is the hazard behind the claim.
bool tests_matching_inputs(const MatmulProblem& p, const ContractScope& scope) {
  if (!is_fast(p.compute_type) || p.scale_type != default_scale_type(p.compute_type)) return false;
  const auto named = named_inputs(p.compute_type);
  if (p.type_a == named || p.type_b == named) return false;
  MatmulProblem plain = p;
  plain.compute_type = CUBLAS_COMPUTE_32F;
  const bool fp32_inputs = p.type_a == CUDA_R_32F && p.type_b == CUDA_R_32F;
  return fp32_inputs || promise_of(plain, scope).expectation == Expectation::must_work;
}

/// Claims and what each predicts of the case, as scripts/claims.py reads it. C26: which types run on which GPU.
std::string claims_of(const MatmulProblem& p, const ContractScope& scope, bool listed) {
  if (!tests_matching_inputs(p, scope)) return listed ? "C26=works" : "";
  return listed ? "C7=fails C26=works" : "C7=fails";
}

/// Everything of one run through the product.
struct Combination {
  Named<cublasComputeType_t> compute;
  ScaleType scale;
  TypePair inputs;
  TypePair outputs;
  bool transposed = false;

  bool is_complex() const { return lt_audit::is_complex(inputs.first); }
  /// Products of real with complex matrices have no meaning here, and nobody can say what D must be.
  bool is_sensible() const { return is_complex() == lt_audit::is_complex(outputs.first); }
  /// The usual scale types of complex matrices are the complex ones. Planes on one side only may cost the context, and
  /// the compute types are alike in that.
  bool full_only() const {
    const bool rare_scale = is_complex() ? !lt_audit::is_complex(scale.type) : scale.full_only;
    const bool rare_planes = inputs.planar != outputs.planar && compute.value != CUBLAS_COMPUTE_32F;
    return rare_scale || rare_planes || inputs.full_only || outputs.full_only;
  }
};

/// Multiples of 16, as FP8 and INT8 ask for, and distinct, so that a mixed-up dimension shows.
struct Size {
  std::int64_t m, n, k;
};
constexpr Size kBase{96, 80, 64};

MatmulProblem problem_of(const Combination& c) {
  auto problem = uniform_problem(CUDA_R_32F, kBase.m, kBase.n, kBase.k);
  problem.compute_type = c.compute.value;
  problem.scale_type = c.scale.type;
  problem.type_a = c.inputs.first;
  problem.type_b = c.inputs.second;
  problem.type_c = c.outputs.first;
  problem.type_d = c.outputs.second;
  problem.plane_a = problem.plane_b = c.inputs.planar ? kPackedPlane : 0;
  problem.plane_c = problem.plane_d = c.outputs.planar ? kPackedPlane : 0;
  problem.transa = !c.transposed ? CUBLAS_OP_N : (c.is_complex() ? CUBLAS_OP_C : CUBLAS_OP_T);
  // R_32I as scale type allows 0 and 1 only (CUB-8873), and a D of 8 bits would saturate.
  problem.alpha = is_integer(c.scale.type) || bytes_of(problem.type_d) == 1 ? 1 : 2;
  problem.alpha_imaginary = c.is_complex() && is_complex(c.scale.type) ? -1 : 0;
  return problem;
}

/// "c16p" is planar.
std::string named(cudaDataType_t type, std::int64_t plane) { return name_of(type) + (plane == 0 ? "" : "p"); }

/// "32f_fast_tf32.r32f.f32.f32.f16.nn"; a C that differs from D stands behind it: "e4m3-c-bf16".
std::string id_of(const Combination& c, const MatmulProblem& p) {
  const std::string d = named(p.type_d, p.plane_d);
  const std::string output = p.type_c == p.type_d ? d : fmt::format("{}-c-{}", d, named(p.type_c, p.plane_c));
  return fmt::format("{}.{}.{}.{}.{}.{}n", c.compute.name, c.scale.name, named(p.type_a, p.plane_a),
                     named(p.type_b, p.plane_b), output, name_of(p.transa));
}

/// The quick depth has every listed row, the mistakes that public defects are about, one type for everything, and a
/// thin sample of the rest.
bool is_quick(const Combination& c, const MatmulProblem& p, bool listed, std::size_t index) {
  if (c.full_only()) return false;
  if (listed) return true;
  const bool plain_scale = p.scale_type == default_scale_type(p.compute_type);
  const bool same_inputs = p.type_a == p.type_b;
  if (!c.transposed && same_inputs && !c.is_complex()) {
    // FP32 inputs with any other D; 16-bit inputs with an FP32 D, read as FP32 (CUB-9942).
    const bool narrow_inputs = p.type_a == CUDA_R_16F || p.type_a == CUDA_R_16BF;
    if (is_fast(p.compute_type) && plain_scale &&
        (p.type_a == CUDA_R_32F || (narrow_inputs && p.type_d == CUDA_R_32F))) {
      return true;
    }
    if (p.type_a == p.type_d) {
      // A scale type of another call, which some releases misread without a word.
      const bool halves =
          p.type_a == CUDA_R_16F && (p.compute_type == CUBLAS_COMPUTE_16F || p.compute_type == CUBLAS_COMPUTE_32F);
      if (plain_scale || halves) return true;
    }
  }
  // Prime to the lengths of all axes, so that the sample walks through every one of them.
  return index % 251 == 0;
}

bool cublas_is_right(const Observation& observation) {
  if (!observation.cublas || observation.cublas->status != "SUCCESS" || !observation.cublas->verification) return false;
  const auto& seen = *observation.cublas->verification;
  return seen.all_right() && seen.bytes_outside_d() == 0;
}

/// True when what was written behind D ends where a D of FP32 would end: the kernel took D's type for FP32.
bool ends_like_fp32(const MatmulProblem& p, const Verification& seen) {
  const auto d_bytes = bytes_of(p.type_d);
  if (d_bytes == 0 || d_bytes >= sizeof(float)) return false;
  const auto excess = static_cast<std::uint64_t>(p.m * p.n) * (sizeof(float) - d_bytes);
  // The last element may end in a byte that equals the guard's.
  return seen.reach_behind_d <= excess && seen.reach_behind_d + sizeof(float) > excess;
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto& p = the_case.problem;
  std::string text =
      fmt::format("{} ({} x {} -> {}{}, {}, scale {}, {}x{}x{}, {}{}", describe(observation),
                  named(p.type_a, p.plane_a), named(p.type_b, p.plane_b), named(p.type_d, p.plane_d),
                  p.type_c == p.type_d ? "" : fmt::format(" beside a C of {}", name_of(p.type_c)),
                  name_of(p.compute_type), name_of(p.scale_type), p.m, p.n, p.k, name_of(p.transa), name_of(p.transb));
  const Stage* heuristic = observation.stage("heuristic");
  const Stage* check = observation.stage("algo_check");
  if (check != nullptr && check->ok() && heuristic != nullptr && heuristic->ok()) {
    text += "; heuristic and AlgoCheck accept";
  }
  if (observation.cublas && !observation.cublas->call.empty()) {
    const auto& cublas = *observation.cublas;
    text += cublas.status == "SUCCESS"
                ? fmt::format("; {} runs it{}", cublas.call,
                              cublas_is_right(observation) ? " with the right numbers" : ", and not rightly")
                : fmt::format("; {} refuses it with {}", cublas.call, cublas.status);
  }
  return text + ")";
}

constexpr std::string_view kKeepFp32 =
    "keep C and D in R_32F under 32F_FAST_16F, 32F_FAST_16BF, 32F_FAST_TF32 and 32F_EMULATED_16BFX9 and convert D in a "
    "second kernel; or convert A and B to D's type and use CUBLAS_COMPUTE_32F";
constexpr std::string_view kUseRow =
    "use a row of the documented table: with scale type R_32F and CUBLAS_COMPUTE_32F, A and B of one type and C and D "
    "of "
    "that type or R_32F; do not rely on the status of this call";
constexpr std::string_view kOtherWay =
    "run this product with CUBLAS_COMPUTE_32F (FP64: CUBLAS_COMPUTE_64F) and the scale type that the table pairs with "
    "it, "
    "or keep it on cuBLAS, and report the refusal to NVIDIA with the repro line";
constexpr std::string_view kListedWrong =
    "do not use this combination on this version of the library: take the next wider C and D types or "
    "CUBLAS_COMPUTE_32F_PEDANTIC, and report it to NVIDIA with the repro line";
constexpr std::string_view kInFull =
    "refused by cublasLtMatmulAlgoGetHeuristic: no documented table has this combination and transposition";

/// Reason code, title, what should happen, what to change.
struct Cause {
  std::string_view reason;
  std::string_view title;
  std::string_view expected;
  std::string_view remedy;
};
constexpr std::array kCauses{
    Cause{"audit-error", "A combination of types could not be audited", "the audit runs the case",
          "look at the message, and run the audit again"},
    Cause{"context-lost", "A combination of types leaves the CUDA context unusable",
          "right numbers, or a refusal by status", kUseRow},
    Cause{"crashed", "A combination of types kills the process", "right numbers, or a refusal by status", kUseRow},
    Cause{"cublas-accepts-what-lt-refuses", "cuBLAS runs a combination of types that cuBLASLt refuses",
          "the same types through cuBLASLt, or a refusal that the port of the application expects",
          "keep this product on cublasGemmEx, or convert A, B or D so that a row of the cublasLtMatmul table fits "
          "(INT8 and "
          "FP8: CUBLASLT_MATMUL_DESC_TRANSA = CUBLAS_OP_T)"},
    Cause{"listed-but-refused", "A combination that the documentation lists is refused",
          "cublasLtMatmul returns SUCCESS with the right numbers: the row is documented", kOtherWay},
    Cause{"listed-input-changed", "A documented combination changes an input", "right numbers and unchanged inputs",
          kListedWrong},
    Cause{"listed-out-of-bounds", "A documented combination writes outside D", "nothing outside D is written",
          kListedWrong},
    Cause{"listed-unwritten", "A documented combination leaves elements of D unwritten",
          "every element of D is written", kListedWrong},
    Cause{"listed-wrong-result", "A documented combination gives wrong numbers", "the right numbers", kListedWrong},
    Cause{"not-run", "A combination of types was not run", "enough free memory to run the case",
          "free memory on the GPU and run the audit again"},
    Cause{"refused-late", "An undocumented combination passes the heuristic and is refused by cublasLtMatmul", kInFull,
          "take the refusal of cublasLtMatmul into account, not only that of the heuristic; better, use a row of the "
          "documented table"},
    Cause{"slower", "A combination of types takes far longer than it should",
          "a call of this size returns in well under 0.25 s", kUseRow},
    Cause{"timed-out", "A combination of types hangs", "right numbers, or a refusal by status", kUseRow},
    Cause{"unlisted-but-works", "An undocumented combination happens to work", kInFull,
          "do not depend on it, since the next version may refuse it or read A and B as FP32 (CUB-9942): use a row of "
          "the "
          "documented table, such as CUBLAS_COMPUTE_32F for R_16F, R_16BF and FP8 inputs"},
    Cause{"unlisted-input-changed", "An undocumented combination is accepted and changes an input", kInFull, kUseRow},
    Cause{"unlisted-out-of-bounds", "An undocumented combination is accepted and writes outside D", kInFull, kUseRow},
    Cause{"unlisted-unwritten", "An undocumented combination is accepted and leaves elements of D unwritten", kInFull,
          kKeepFp32},
    Cause{"unlisted-wrong-result", "An undocumented combination is accepted and gives wrong numbers", kInFull,
          kKeepFp32},
    Cause{"unproven", "A combination of types runs, but the comparison proves nothing",
          "results that are mostly not zero, all compared", "run the case with other sizes: lt-audit replay"},
    Cause{"written-as-fp32-out-of-bounds", "FP32 inputs into a narrower D are accepted and written as FP32", kInFull,
          kKeepFp32},
};

/// The reason of an outcome that is neither right nor a refusal.
std::string reason_of(const Case& the_case, const Observation& observation, Outcome outcome) {
  std::string word(name_of(outcome));
  std::replace(word.begin(), word.end(), '_', '-');
  const bool about_memory = outcome == Outcome::out_of_bounds || outcome == Outcome::input_changed ||
                            outcome == Outcome::unwritten || outcome == Outcome::wrong_result;
  if (!about_memory) return word;
  if (the_case.expectation == Expectation::must_work) return "listed-" + word;
  const bool fp32_inputs = the_case.problem.type_a == CUDA_R_32F && the_case.problem.type_b == CUDA_R_32F;
  if (outcome == Outcome::out_of_bounds && fp32_inputs && ends_like_fp32(the_case.problem, *observation.verification)) {
    return "written-as-fp32-out-of-bounds";
  }
  return "unlisted-" + word;
}

class ComputeType : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    const ContractScope scope = scope_of(target);
    std::vector<Case> list;
    std::size_t index = 0;
    for (const auto& compute : compute_types()) {
      for (const auto& scale : kScaleTypes) {
        for (const auto& inputs : kInputs) {
          for (const auto& outputs : kOutputs) {
            for (const bool transposed : {false, true}) {
              const Combination combination{compute, scale, inputs, outputs, transposed};
              if (!combination.is_sensible()) continue;
              if (!combination.full_only()) ++index;
              if (depth != Depth::full && combination.full_only()) continue;
              add(list, scope, depth, combination, index);
            }
          }
        }
      }
    }
    return list;
  }

  /// The product's types at the size of the table: is it they that the library dislikes, or the sizes and addresses?
  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    auto p = uniform_problem(CUDA_R_32F, kBase.m, kBase.n, kBase.k);
    p.compute_type = problem.compute_type;
    p.scale_type = problem.scale_type;
    p.type_a = problem.type_a;
    p.type_b = problem.type_b;
    p.type_c = problem.type_c;
    p.type_d = problem.type_d;
    p.plane_a = problem.plane_a == 0 ? 0 : kPackedPlane;
    p.plane_b = problem.plane_b == 0 ? 0 : kPackedPlane;
    p.plane_c = problem.plane_c == 0 ? 0 : kPackedPlane;
    p.plane_d = problem.plane_d == 0 ? 0 : kPackedPlane;
    p.transa = problem.transa;
    p.transb = problem.transb;
    return {case_of("types", p, scope_of(target))};
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    const Outcome outcome = outcome_of(observation);
    const auto verdict = [&](Status status, std::string reason) {
      return Verdict{status, outcome, std::move(reason), sentence_of(the_case, observation)};
    };
    const bool listed = the_case.expectation == Expectation::must_work;
    if (outcome == Outcome::correct) return listed ? Verdict{} : verdict(Status::warn, "unlisted-but-works");
    if (outcome == Outcome::refused || outcome == Outcome::late_refusal) {
      if (listed) return verdict(Status::fail, "listed-but-refused");
      if (cublas_is_right(observation)) return verdict(Status::warn, "cublas-accepts-what-lt-refuses");
      if (outcome == Outcome::late_refusal) return verdict(Status::warn, "refused-late");
      Verdict pass;
      pass.outcome = outcome;
      return pass;
    }
    return verdict(status_of(Expectation::must_work, outcome), reason_of(the_case, observation, outcome));
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    const auto* const cause =
        std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& c) { return c.reason == verdict.reason; });
    if (cause == kCauses.end()) {
      return {"A combination of types did not work as expected", std::string(kInFull), the_case.rule,
              std::string(kUseRow)};
    }
    return {std::string(cause->title), std::string(cause->expected), the_case.rule, std::string(cause->remedy)};
  }

 private:
  static void add(std::vector<Case>& list, const ContractScope& scope, Depth depth, const Combination& combination,
                  std::size_t index) {
    const auto p = problem_of(combination);
    auto added = case_of(id_of(combination, p), p, scope);
    const bool listed = added.expectation == Expectation::must_work;
    if (depth == Depth::quick && !is_quick(combination, p, listed, index)) return;
    list.push_back(std::move(added));
  }

  static Case case_of(std::string id, const MatmulProblem& p, const ContractScope& scope) {
    Case made;
    made.id = std::move(id);
    made.problem = p;
    auto promise = promise_of(p, scope);
    made.expectation = promise.expectation;
    made.rule = std::move(promise.rule);
    // cublasGemmEx has no argument for the scale type (it follows from the compute type), one for C and D, none for
    // FP8 or planes.
    made.with_cublas = p.scale_type == default_scale_type(p.compute_type, p.type_d) && p.type_c == p.type_d &&
                       !is_fp8(p.type_a) && !is_fp8(p.type_b) && p.plane_a == 0 && p.plane_d == 0;
    const std::string claims = claims_of(p, scope, made.expectation == Expectation::must_work);
    if (!claims.empty()) made.parameters.emplace("claims", claims);
    return made;
  }
};

}  // namespace

std::unique_ptr<Check> make_compute_type() { return std::make_unique<ComputeType>(); }

}  // namespace lt_audit
