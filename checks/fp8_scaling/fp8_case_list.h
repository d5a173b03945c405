// How the cases of check "fp8-scaling" are collected: types, shapes, pairs of scale modes, and the list itself.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fp8_cases.h"
#include "lt_audit/contract.h"

namespace lt_audit::fp8_scaling {

using Mode = cublasLtMatmulMatrixScale_t;
constexpr Mode kScalar = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
constexpr Mode kOuter = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
constexpr Mode kVec128 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
constexpr Mode kBlock = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;

/// A row of the FP8 table.
struct Form {
  cudaDataType_t a, b, c, d;

  std::string name() const { return fmt::format("{}x{}.{}.{}", name_of(a), name_of(b), name_of(c), name_of(d)); }
  bool narrow_d() const { return is_fp8(d); }
};
constexpr cudaDataType_t kE4 = CUDA_R_8F_E4M3, kE5 = CUDA_R_8F_E5M2;
constexpr cudaDataType_t kBf16 = CUDA_R_16BF, kF16 = CUDA_R_16F, kF32 = CUDA_R_32F;
constexpr Form kFirst{kE4, kE4, kBf16, kBf16};
constexpr Form kFirstNarrow{kE4, kE4, kBf16, kE4};

struct Size {
  std::int64_t m, n, k;
};
/// The simulator multiplies on the host.
struct Shape {
  std::string_view name;
  Size on_gpu, on_simulator;
};
constexpr Shape kBase{"base", {272, 208, 144}, {48, 40, 32}};
/// Blocks of 128 that begin and end inside a tile. The leading dimension of a block table is a multiple of 4 blocks of
/// k: 6 blocks of k leave two entries of padding in each column, 4 blocks none, 1 block three.
constexpr Shape kTableBase{"base", {272, 196, 656}, {136, 132, 144}};
struct Pair {
  std::string_view name;
  std::string_view subject;
  Mode a, b;
};
inline constexpr std::array kPairs{
    Pair{"outer_outer", "outer-vector", kOuter, kOuter},
    Pair{"vec_vec", "vector-128", kVec128, kVec128},
    Pair{"blk_vec", "block-128", kBlock, kVec128},
    Pair{"vec_blk", "block-128", kVec128, kBlock},
};
inline MatmulProblem with_pair(MatmulProblem p, const Pair& pair) {
  p.scale_a = pair.a;
  p.scale_b = pair.b;
  return p;
}

/// What a shape asks of the problem beyond its sizes.
inline void place(MatmulProblem& p, std::string_view shape) {
  if (shape == "padded") {
    p.lda = p.ldb = p.k + 32;
    p.ldc = p.ldd = p.m + 16;
    p.beta = 1;
  } else if (shape == "in_place") {
    p.in_place = true;
    p.beta = 1;
  } else if (shape == "batch") {
    p.batch_count = 3;
  }
}

/// Collects the cases that the depth asks for and takes their expectation from the contract.
class CaseList {
 public:
  CaseList(const Target& target, Depth depth)
      : scope_(scope_of(target)), depth_(depth), simulator_(target.kind == PlatformKind::simulator) {}

  MatmulProblem problem(const Form& form, const Shape& shape) const {
    const Size size = simulator_ ? shape.on_simulator : shape.on_gpu;
    auto p = uniform_problem(kE4, size.m, size.n, size.k);
    p.type_a = form.a;
    p.type_b = form.b;
    p.type_c = form.c;
    p.type_d = form.d;
    place(p, shape.name);
    return p;
  }

  /// The case, or null when the depth leaves it out.
  Case* add(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem) {
    if (depth_ < from) return nullptr;
    Case added;
    added.id = std::move(id);
    added.problem = problem;
    auto promise = promise_of(problem, scope_);
    added.expectation = promise.expectation;
    added.rule = std::move(promise.rule);
    added.parameters[kSubject] = subject;
    list_.push_back(std::move(added));
    return &list_.back();
  }

  Case* add_steps(Depth from, std::string id, const char* steps, std::string_view subject,
                  const MatmulProblem& problem) {
    Case* added = add(from, std::move(id), subject, problem);
    if (added == nullptr) return nullptr;
    added->parameters[kSteps] = steps;
    added->scenario = true;
    return added;
  }

  bool simulator() const { return simulator_; }
  const ContractScope& scope() const { return scope_; }
  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  bool simulator_;
  std::vector<Case> list_;
};

// fp8_grid.cpp: one run of the engine each.
void add_grid(CaseList& list);
// fp8_sequences.cpp: pointers elsewhere, and sequences of calls.
void add_sequences(CaseList& list);

}  // namespace lt_audit::fp8_scaling
