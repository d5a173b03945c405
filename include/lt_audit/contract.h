// The documented contract of cublasLtMatmul as data and pure functions: what NVIDIA's text promises of a problem.
// Checks take their expectations from here and the simulator refuses by it, so the rule is written once, with its
// source.
#pragma once

#include <optional>
#include <string>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/target.h"
#include "lt_audit/verdict.h"

namespace lt_audit {

/// Which GPU and library a rule is asked for.
struct ContractScope {
  /// 90 for sm_90.
  int compute_capability = 90;
  /// cuBLASLt, 130100 for 13.1.0.
  int library_number = 130100;
};

/// The scope of a target; facts that it does not have (nothing was probed yet) keep their defaults.
inline ContractScope scope_of(const Target& target) {
  ContractScope scope;
  if (target.device_facts.compute_major != 0) scope.compute_capability = target.device_facts.compute_capability();
  if (target.cublaslt.loaded()) scope.library_number = target.cublaslt.number();
  return scope;
}

/// Where a call that breaks a rule is refused by a library that follows the contract.
enum class RefusedBy { nothing, heuristic, matmul };

/// What the contract says of one problem.
struct Promise {
  Expectation expectation = Expectation::must_work;
  /// Which stage of a faultless library refuses; nothing for must_work.
  RefusedBy refused_by = RefusedBy::nothing;
  /// The status a faultless library returns when it refuses.
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  /// Stable kebab-case name of the rule that decided: "types-unlisted", "fp8-16-byte-rule", "pointer-below-promise".
  std::string rule_id;
  /// The rule in one sentence with its source in parentheses.
  std::string rule;
};

/// The table of types alone (compute type, scale type, A, B, C, D), for this GPU and library.
Promise promise_of_types(const MatmulProblem& problem, const ContractScope& scope);

/// Everything the contract says: types, leading dimensions, FP8 and INT8 layout and 16- and 4-byte rules, declared
/// against real pointer alignment, workspace alignment, epilogue against order, batch. The first broken rule decides.
Promise promise_of(const MatmulProblem& problem, const ContractScope& scope);

/// Four layouts whose batch counts are not all the same; `c_differs_from_d` names the pair that the documentation
/// speaks of since long ago.
Promise promise_of_unequal_batch_counts(const ContractScope& scope, bool c_differs_from_d);

/// The problem with its matrices named by arrays of pointers (CUBLASLT_BATCH_MODE_POINTER_ARRAY) in all four layouts,
/// or in some of them only. The batch strides of the problem say nothing then.
Promise promise_of_pointer_arrays(const MatmulProblem& problem, const ContractScope& scope, bool in_all_layouts);

/// INT8 in the orders of the IMMA kernels, which a MatmulProblem has no words for: A, C and D in COL32, B in `order_b`,
/// A not transposed and B transposed.
Promise promise_of_imma_order(cublasLtOrder_t order_b, const ContractScope& scope);

/// The alignment in bytes that a pointer of this type must have whatever is declared: 16 for FP8, 4 for INT8, the
/// element size otherwise (cuBLAS documentation, Tensor Core Usage and cublasLtMatmul).
std::int64_t required_alignment(const MatmulProblem& problem, cudaDataType_t type);

/// The largest power of two, at most 256, that divides the offset: the real alignment of a pointer that stands `offset`
/// bytes behind a 256-byte boundary.
std::uint32_t alignment_of_offset(std::int64_t offset);

}  // namespace lt_audit
