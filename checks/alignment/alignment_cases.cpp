// The cases of check "alignment": pointers one by one and mixed, leading dimensions, batch strides, bias, workspace.
#include "alignment_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lt_audit {
namespace {

constexpr std::array<std::int64_t, 8> kOffsets{1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 5> kLdPads{1, 2, 4, 8, 16};
constexpr std::array<std::int64_t, 6> kStridePads{1, 2, 3, 4, 7, 8};
constexpr std::array<std::int64_t, 4> kPlanePads{2, 4, 8, 16};

/// One of A, B, C, D with the members of a problem that belong to it.
struct Operand {
  std::string_view name;
  std::int64_t MatmulProblem::*offset;
  std::uint32_t MatmulProblem::*declared;
  std::int64_t MatmulProblem::*ld;
  std::int64_t MatmulProblem::*stride;
  std::int64_t MatmulProblem::*plane;
  MatrixShape (*shape)(const MatmulProblem&);
};
using P = MatmulProblem;
constexpr std::array kOperands{
    Operand{"a", &P::a_offset, &P::a_alignment, &P::lda, &P::stride_a, &P::plane_a, shape_a},
    Operand{"b", &P::b_offset, &P::b_alignment, &P::ldb, &P::stride_b, &P::plane_b, shape_b},
    Operand{"c", &P::c_offset, &P::c_alignment, &P::ldc, &P::stride_c, &P::plane_c, shape_c},
    Operand{"d", &P::d_offset, &P::d_alignment, &P::ldd, &P::stride_d, &P::plane_d, shape_d},
};

/// Types, transposition and size that all variations start from. `sample` is the depth of the few variations that stand
/// for the others, `common` that of the usual ones, `rest` that of the rest.
struct Form {
  std::string name;
  MatmulProblem problem;
  Depth sample;
  Depth common;
  Depth rest;
};

struct Size {
  std::int64_t m, n, k;
};
/// Distinct, so that a mixed-up dimension shows, and multiples of 16, as FP8 and INT8 ask for.
constexpr Size kSize{96, 80, 64};
constexpr std::array kMoreSizes{Size{16, 48, 32}, Size{256, 192, 320}};

/// All types at one size: wide real ones NN and TN, complex ones one way, FP8 and INT8 TN only.
std::vector<Form> forms_of(const Size& size) {
  const bool base = size.m == kSize.m;
  const std::string suffix = base ? "" : fmt::format(".{}x{}x{}", size.m, size.n, size.k);
  std::vector<Form> forms;
  const auto add = [&](const std::string& name, MatmulProblem problem, bool sampled) {
    // R_32I as scale type allows 0 and 1 only, and an INT8 D would saturate.
    problem.alpha = is_integer(problem.type_d) ? 1 : 2;
    forms.push_back({name + suffix, problem, base && sampled ? Depth::quick : (base ? Depth::normal : Depth::full),
                     base ? Depth::normal : Depth::full, base && sampled ? Depth::normal : Depth::full});
  };
  for (const auto type : {CUDA_R_64F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF}) {
    auto problem = uniform_problem(type, size.m, size.n, size.k);
    add(name_of(type) + ".nn", problem, type != CUDA_R_16BF);
    problem.transa = CUBLAS_OP_T;
    add(name_of(type) + ".tn", problem, type == CUDA_R_16BF);
  }
  // Of complex types the variations that stand for the others.
  for (const auto type : {CUDA_C_64F, CUDA_C_32F, CUDA_C_16F, CUDA_C_16BF}) {
    auto problem = uniform_problem(type, size.m, size.n, size.k);
    problem.alpha = 2;
    problem.alpha_imaginary = -1;
    const bool conjugate = type == CUDA_C_32F || type == CUDA_C_16BF;
    if (conjugate) problem.transa = CUBLAS_OP_C;
    const Depth sample = !base ? Depth::full : (type == CUDA_C_16F ? Depth::quick : Depth::normal);
    forms.push_back({name_of(type) + (conjugate ? ".cn" : ".nn") + suffix, problem, sample, Depth::full, Depth::full});
  }
  add("e4m3.tn", uniform_problem(CUDA_R_8F_E4M3, size.m, size.n, size.k), true);
  auto int8 = uniform_problem(CUDA_R_8I, size.m, size.n, size.k);
  add("i8.tn", int8, true);
  int8.type_c = int8.type_d = CUDA_R_8I;
  int8.scale_type = CUDA_R_32F;
  add("i8_to_i8.tn", int8, false);
  return forms;
}

/// Collects the cases that the depth asks for and takes their expectation from the contract.
class CaseList {
 public:
  CaseList(const ContractScope& scope, Depth depth) : scope_(scope), depth_(depth) {}

  /// Null when the case belongs to a deeper run.
  Case* add(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem) {
    if (depth_ < from) return nullptr;
    auto promise = promise_of(problem, scope_);
    Case added;
    added.id = std::move(id);
    added.problem = problem;
    added.expectation = promise.expectation;
    added.rule = std::move(promise.rule);
    added.parameters.emplace("subject", subject);
    cases_.push_back(std::move(added));
    return &cases_.back();
  }
  std::vector<Case> take() { return std::move(cases_); }

 private:
  ContractScope scope_;
  Depth depth_;
  std::vector<Case> cases_;
};

void with_beta(MatmulProblem& problem, const Operand& operand) { problem.beta = operand.name == "c" ? 1 : 0; }

std::int64_t element_bytes(const MatmulProblem& problem, const Operand& operand) {
  return static_cast<std::int64_t>(bytes_of(operand.shape(problem).stored_type()));
}

/// cublasGemmEx has no FP8 and no planar matrices.
bool is_for_cublas(const MatmulProblem& problem) { return !is_fp8(problem.type_a) && problem.plane_a == 0; }

/// Claim C1: a pointer below 16 bytes is refused with INVALID_VALUE. C2: cuBLAS needs 8 bytes where cuBLASLt needs 16.
/// What each predicts of the case is read by scripts/claims.py.
void name_claims(Case* added, std::int64_t offset) {
  if (added == nullptr || is_fp8(added->problem.type_a) || is_integer(added->problem.type_a) || offset >= 16) return;
  const bool cublas_beside = offset == 8 && added->with_cublas;
  added->parameters.emplace("claims",
                            cublas_beside ? "C1=status:INVALID_VALUE C2=cublas-only" : "C1=status:INVALID_VALUE");
}

/// One pointer off its 256-byte boundary: declared truthfully, left at the default of 256, or declared as 16 and lower.
void add_single_pointers(CaseList& list, const Form& form) {
  for (const auto& operand : kOperands) {
    for (const auto offset : kOffsets) {
      if (offset % element_bytes(form.problem, operand) != 0) continue;
      const bool smallest = offset == element_bytes(form.problem, operand);
      const Depth from = smallest ? form.sample : (offset <= 16 ? form.common : form.rest);
      const std::string id = fmt::format("{}.{}.off{}", form.name, operand.name, offset);
      MatmulProblem problem = form.problem;
      problem.*operand.offset = offset;
      with_beta(problem, operand);
      if (Case* added = list.add(from, id + ".default", "overdeclared-pointer", problem)) {
        added->with_cublas = is_for_cublas(problem);
        name_claims(added, offset);
      }
      problem.*operand.declared = alignment_of_offset(offset);
      name_claims(list.add(from, id + ".declared", "declared-pointer", problem), offset);
      if (offset == 1 || offset >= 16) continue;
      problem.*operand.declared = 16;
      list.add(offset == 8 && operand.name == "a" ? form.sample : form.common, id + ".declared16",
               "overdeclared-pointer", problem);
    }
  }
}

void add_declared_and_default(CaseList& list, Depth from, const std::string& id, MatmulProblem problem) {
  list.add(from, id + ".default", "overdeclared-pointer", problem);
  for (const auto& operand : kOperands) problem.*operand.declared = alignment_of_offset(problem.*operand.offset);
  list.add(from, id + ".declared", "declared-pointer", problem);
}

/// Several pointers at once: frameworks met refusals only when the alignments differ (pytorch#92201).
void add_mixed_pointers(CaseList& list, const Form& form) {
  MatmulProblem plain = form.problem;
  plain.beta = 1;
  list.add(form.sample, form.name + ".aligned", "aligned-pointer", plain);

  const auto smallest = [&](const Operand& operand) {
    return required_alignment(plain, operand.shape(plain).stored_type());
  };
  MatmulProblem low = plain, all = plain, ladder = plain;
  for (std::size_t i = 0; i < kOperands.size(); ++i) {
    const auto& operand = kOperands[i];
    low.*operand.declared = static_cast<std::uint32_t>(smallest(operand));
    all.*operand.offset = smallest(operand);
    ladder.*operand.offset = smallest(operand) << i;
  }
  list.add(form.common, form.name + ".aligned.declared_low", "aligned-pointer", low);
  add_declared_and_default(list, form.sample, form.name + ".all_min", all);
  add_declared_and_default(list, form.common, form.name + ".ladder", ladder);
  for (const auto& operand : kOperands) {
    MatmulProblem one = plain;
    for (const auto& other : kOperands) one.*other.offset = 32;
    one.*operand.offset = smallest(operand);
    add_declared_and_default(list, form.common, fmt::format("{}.{}_min.rest32", form.name, operand.name), one);
  }
}

void add_leading_dimensions(CaseList& list, const Form& form) {
  for (const auto pad : kLdPads) {
    const bool common = pad == 1 || pad == 8;
    for (const auto& operand : kOperands) {
      MatmulProblem problem = form.problem;
      problem.*operand.ld = operand.shape(problem).ld + pad;
      with_beta(problem, operand);
      const bool sampled = pad == 1 && (operand.name == "a" || operand.name == "d");
      const bool input = operand.name == "a" || operand.name == "b";
      Case* added = list.add(sampled ? form.sample : (common ? form.common : form.rest),
                             fmt::format("{}.ld{}.pad{}", form.name, operand.name, pad), "leading-dimension", problem);
      if (added != nullptr) added->with_cublas = input && is_for_cublas(problem);
    }
    // cuBLAS has one leading dimension for its C, which is C and D here.
    MatmulProblem both = form.problem;
    both.ldc = both.ldd = shape_d(both).ld + pad;
    both.beta = 1;
    Case* added = list.add(common ? form.common : form.rest, fmt::format("{}.ldcd.pad{}", form.name, pad),
                           "leading-dimension", both);
    if (added != nullptr) added->with_cublas = is_for_cublas(both);
  }
}

void add_batch_strides(CaseList& list, const Form& form) {
  for (const auto& operand : kOperands) {
    MatmulProblem problem = form.problem;
    problem.batch_count = 3;
    with_beta(problem, operand);
    const auto packed = operand.shape(problem).batch_stride;
    const bool input = operand.name == "a" || operand.name == "b";
    for (const auto pad : kStridePads) {
      problem.*operand.stride = packed + pad;
      const bool sampled = pad == 1 && operand.name == "a";
      const bool common = pad == 1 || pad == 8;
      Case* added = list.add(sampled ? form.sample : (common ? form.common : form.rest),
                             fmt::format("{}.stride_{}.pad{}", form.name, operand.name, pad), "batch-stride", problem);
      if (added != nullptr) added->with_cublas = input && is_for_cublas(problem);
    }
    if (!input) continue;
    problem.*operand.stride = 0;
    list.add(form.common, fmt::format("{}.stride_{}.zero", form.name, operand.name), "batch-stride", problem);
  }
}

/// Imaginary parts that begin a few bytes behind the next multiple of 256, while the pointer itself is aligned. Below
/// 16 bytes they fault on an H200 with 13.1.0: workers of their own, and few.
void add_planes(CaseList& list, const Form& form) {
  for (const auto& operand : kOperands) {
    const auto packed = operand.shape(form.problem).plane_offset;
    if (packed == 0 || form.problem.m != kSize.m) continue;
    for (const auto pad : kPlanePads) {
      MatmulProblem problem = form.problem;
      problem.*operand.plane = packed + pad;
      with_beta(problem, operand);
      const bool c16 = problem.type_a == CUDA_C_16F;
      const bool common = c16 && (pad == 16 || (pad == 8 && operand.name == "a") || (pad == 2 && operand.name == "d"));
      const auto add = [&](const char* promise) {
        const auto id = fmt::format("{}.plane_{}.pad{}.{}", form.name, operand.name, pad, promise);
        Case* added = list.add(common ? Depth::normal : Depth::full, id, "plane-offset", problem);
        if (added != nullptr) added->isolated = pad < 16;
      };
      add("default");
      if (pad >= 16) continue;
      problem.*operand.declared = alignment_of_offset(problem.*operand.plane);
      add("declared");
    }
  }
}

/// No preference speaks about the bias. Its smallest offset may fault (pytorch#194497 on sm_75): a worker of its own
/// for one case of each type.
void add_bias(CaseList& list, const Form& form) {
  MatmulProblem problem = form.problem;
  if (is_integer(problem.type_a) || is_complex(problem.type_a)) return;
  problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  const auto element = static_cast<std::int64_t>(bytes_of(bias_type(problem)));
  list.add(form.common, form.name + ".bias.off0", "bias", problem);
  for (const auto offset : kOffsets) {
    if (offset % element != 0) continue;
    problem.bias_offset = offset;
    const bool smallest = offset == element;
    const Depth from = smallest && form.name == "f16.nn" ? Depth::quick : (offset <= 16 ? form.common : form.rest);
    Case* added = list.add(from, fmt::format("{}.bias.off{}", form.name, offset), "bias", problem);
    if (added != nullptr) added->isolated = smallest && form.sample == Depth::quick && problem.type_a != CUDA_R_64F;
  }
}

/// A product that needs no workspace and a long one for which the heuristic wants split-K partial sums in it.
void add_workspaces(CaseList& list) {
  for (const auto type : {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F, CUDA_R_16BF, CUDA_R_8F_E4M3, CUDA_R_8I}) {
    for (const std::int64_t k : {256, 32768}) {
      const auto add = [&](std::int64_t offset) {
        MatmulProblem problem = uniform_problem(type, 32, 32, k);
        problem.workspace_offset = offset;
        const bool usual = type == CUDA_R_16F || type == CUDA_R_32F;
        const bool sampled = type == CUDA_R_16F && (offset == 0 || offset == 16 || offset == 128);
        list.add(sampled ? Depth::quick : (usual ? Depth::normal : Depth::full),
                 fmt::format("{}.workspace.k{}.off{}", name_of(type), k, offset),
                 offset == 0 ? "aligned-pointer" : "workspace", problem);
      };
      add(0);
      for (const auto offset : kOffsets) add(offset);
    }
  }
}

/// Every pair of offsets of A and B below 32 bytes.
void add_pairs(CaseList& list, const Form& form) {
  for (const auto a : kOffsets) {
    for (const auto b : kOffsets) {
      const auto element = element_bytes(form.problem, kOperands[0]);
      if (a >= 32 || b >= 32 || a % element != 0 || b % element != 0) continue;
      MatmulProblem problem = form.problem;
      problem.a_offset = a;
      problem.b_offset = b;
      add_declared_and_default(list, Depth::full, fmt::format("{}.a{}.b{}", form.name, a, b), problem);
    }
  }
}

}  // namespace

std::vector<Case> alignment_cases(const ContractScope& scope, Depth depth) {
  CaseList list(scope, depth);
  auto forms = forms_of(kSize);
  for (const auto& size : kMoreSizes) {
    for (auto& form : forms_of(size)) forms.push_back(std::move(form));
  }
  for (const auto& form : forms) {
    if (depth < form.sample) continue;
    add_single_pointers(list, form);
    add_mixed_pointers(list, form);
    add_leading_dimensions(list, form);
    add_batch_strides(list, form);
    add_planes(list, form);
    add_bias(list, form);
    add_pairs(list, form);
  }
  add_workspaces(list);
  return list.take();
}

}  // namespace lt_audit
