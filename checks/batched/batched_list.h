// What the tables of cases of check "batched" are made with: types, sizes, and a list that takes what its depth asks
// for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batched_cases.h"
#include "lt_audit/contract.h"

namespace lt_audit::batched {

/// How early the cases of a type come.
enum class Tier { first, common, rest };

struct Form {
  std::string_view name;
  Tier tier;
  cudaDataType_t ab, c, d;
  cublasComputeType_t compute;
  cublasOperation_t transa = CUBLAS_OP_N;
};
inline constexpr std::array kForms{
    Form{"f16", Tier::first, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"bf16", Tier::common, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUBLAS_OP_T},
    Form{"f32", Tier::common, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f64", Tier::common, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"e4m3", Tier::common, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUBLAS_OP_T},
    Form{"i8", Tier::common, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUBLAS_OP_T},
    Form{"f16_f32", Tier::rest, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16_16f", Tier::rest, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    Form{"tf32", Tier::rest, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"e4m3_e4m3", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F, CUBLAS_OP_T},
    Form{"i8_i8", Tier::rest, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I, CUBLAS_OP_T},
    Form{"i8_f32", Tier::rest, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_OP_T},
    Form{"c32", Tier::rest, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F},
    Form{"c64", Tier::rest, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F},
};
inline const Form& form_named(std::string_view name) {
  return *std::find_if(kForms.begin(), kForms.end(), [name](const Form& form) { return form.name == name; });
}
inline bool is_narrow(const Form& form) { return bytes_of(form.ab) == 1; }

struct Size {
  std::int64_t m, n, k;
};
/// Distinct, multiples of 16, and packed batch strides of whole 256-byte blocks.
inline constexpr Size kOnGpu{96, 80, 64}, kOnSimulator{32, 24, 16};

using P = MatmulProblem;
inline constexpr std::array kStrides{&P::stride_a, &P::stride_b, &P::stride_c, &P::stride_d};
inline constexpr std::array kLds{&P::lda, &P::ldb, &P::ldc, &P::ldd};
inline constexpr std::string_view kNames = "abcd";
inline std::array<MatrixShape, 4> shapes_of(const P& p) { return {shape_a(p), shape_b(p), shape_c(p), shape_d(p)}; }

/// Collects the cases that the depth asks for and takes their expectation from the contract.
class CaseList {
 public:
  CaseList(const Target& target, Depth depth)
      : scope_(scope_of(target)), depth_(depth), simulator_(target.kind == PlatformKind::simulator) {}

  const ContractScope& scope() const { return scope_; }
  bool simulator() const { return simulator_; }
  Size base() const { return simulator_ ? kOnSimulator : kOnGpu; }

  P problem(const Form& form, const Size& size, std::int32_t batch_count) const {
    auto p = uniform_problem(form.ab, size.m, size.n, size.k);
    p.type_c = form.c;
    p.type_d = form.d;
    p.compute_type = form.compute;
    p.scale_type = is_complex(form.d) ? form.d : (form.d == CUDA_R_8I ? CUDA_R_32F : default_scale_type(form.compute));
    p.transa = form.transa;
    p.transb = CUBLAS_OP_N;
    p.batch_count = batch_count;
    p.beta = 1;
    return p;
  }
  P problem(const Form& form, std::int32_t batch_count) const { return problem(form, base(), batch_count); }

  /// The case, or null when the depth leaves it out.
  Case* add(Depth from, std::string id, std::string_view subject, const P& problem) {
    return add(from, std::move(id), subject, problem, promise_of(problem, scope_));
  }
  Case* add(Depth from, std::string id, std::string_view subject, const P& problem, Promise promise) {
    if (depth_ < from) return nullptr;
    Case added;
    added.id = std::move(id);
    added.problem = problem;
    added.expectation = promise.expectation;
    added.rule = std::move(promise.rule);
    added.parameters[kSubject] = subject;
    list_.push_back(std::move(added));
    return &list_.back();
  }
  /// The same with cuBLAS beside it, where there is time to load its kernels.
  void add_beside(Depth from, std::string id, std::string_view subject, const P& problem) {
    Case* added = add(from, std::move(id), subject, problem);
    if (added != nullptr) added->with_cublas = from != Depth::quick;
  }
  Case* add_steps(Depth from, std::string id, std::string_view subject, const char* steps, const P& problem,
                  Promise promise) {
    Case* added = add(from, std::move(id), subject, problem, std::move(promise));
    if (added == nullptr) return nullptr;
    added->parameters[kSteps] = steps;
    added->scenario = true;
    return added;
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  bool simulator_;
  std::vector<Case> list_;
};

inline Promise undocumented(std::string rule) {
  Promise promise;
  promise.expectation = Expectation::may_refuse;
  promise.rule = std::move(rule);
  return promise;
}

inline Depth at_least(Tier tier, Depth first, Depth common, Depth rest) {
  return tier == Tier::first ? first : (tier == Tier::common ? common : rest);
}

/// Layouts that disagree, matrices far apart, backwards or overlapping (batched_sequences.cpp).
void add_unequal_counts(CaseList& list);
void add_far(CaseList& list);
void add_reverse(CaseList& list);
void add_shared_memory(CaseList& list);

/// Which of the four layouts are in pointer mode, and how their members follow each other.
struct Arrays {
  std::string_view subject = "pointer-array";
  std::string_view in = kNames;
  std::string_view members = "in-order";
};
Case* add_arrays(CaseList& list, Depth from, std::string id, const Arrays& arrays, const MatmulProblem& problem);
void add_pointer_arrays(CaseList& list, const Form& form);

}  // namespace lt_audit::batched
