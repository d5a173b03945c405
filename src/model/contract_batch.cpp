// The contract of batches: counts, matrices of D that share memory, arrays of pointers. Sources as in contract.cpp.
#include "model/contract_parts.h"

namespace lt_audit {
namespace {

/// What one dimension of a grid holds.
constexpr std::int32_t kMostInOneLaunch = 65535;

/// Two matrices of one batch have no element in common: each lies behind the one before, or all lie side by side in the
/// columns (order row: rows) of one wide matrix.
bool batches_are_apart(const MatrixShape& s) {
  const bool by_rows = s.order == CUBLASLT_ORDER_ROW;
  const std::int64_t inner = by_rows ? s.cols : s.rows;
  const std::int64_t outer = by_rows ? s.rows : s.cols;
  const bool behind = s.batch_stride >= (outer - 1) * s.ld + inner;
  const bool beside = s.batch_stride >= inner && (s.batch_count - 1) * s.batch_stride + inner <= s.ld;
  return behind || beside;
}

bool all_col(const MatmulProblem& p) {
  return p.order_a == CUBLASLT_ORDER_COL && p.order_b == CUBLASLT_ORDER_COL && p.order_c == CUBLASLT_ORDER_COL &&
         p.order_d == CUBLASLT_ORDER_COL;
}

}  // namespace

std::optional<Promise> refuse_batch(const MatmulProblem& p, const ContractScope& scope) {
  if (p.batch_count < 1) {
    return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, "batch-count",
                   "the batch count is at least 1 (cublasLt.h 13.1.0, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)");
  }
  if (p.batch_count > 1 && !batches_are_apart(shape_d(p))) {
    return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, "d-batches-overlap",
                   "matrices of D that overlap between batches are documented nowhere");
  }
  const bool split = scope.library_number >= 120205 && all_col(p) && !p.amax_d;
  if (p.batch_count > kMostInOneLaunch && !split) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "batch-above-65535",
                   "more matrices than one launch takes (65535) are promised since CUDA 12.2 Update 2 only, for column "
                   "order and without amax (cuBLAS 13.2 documentation, cublasLt, Problem Size Limitations)");
  }
  return std::nullopt;
}

Promise promise_of_unequal_batch_counts(const ContractScope& scope, bool c_differs_from_d) {
  if (c_differs_from_d) {
    return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, "batch-counts-c-d",
                   "C and D have the same type, rows, columns, batch count and order (cuBLAS 13.2 documentation, "
                   "cublasLtMatmul, note on out-of-place products)");
  }
  const bool enforced = scope.library_number >= 130200;
  return refuses(enforced ? Expectation::must_refuse : Expectation::may_refuse, RefusedBy::heuristic,
                 CUBLAS_STATUS_INVALID_VALUE, "batch-counts-differ",
                 "batch counts of A and B that differ are refused since CUDA 13.1, cuBLAS 13.2.0, and were not refused "
                 "before (CUDA 13.1 release notes, 5645772); what such a call means is documented nowhere");
}

Promise promise_of_pointer_arrays(const MatmulProblem& problem, const ContractScope& scope, bool in_all_layouts) {
  // The strides of the problem only say where the audit puts its matrices.
  MatmulProblem p = problem;
  p.stride_a = p.stride_b = p.stride_c = p.stride_d = -1;
  auto promise = promise_of(p, scope);
  if (promise.refused_by != RefusedBy::nothing) return promise;
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED,
                   "pointer-array-epilogue",
                   "a batch of pointer arrays supports the default epilogue alone (cuBLAS 13.2 documentation, "
                   "cublasLtEpilogue_t)");
  }
  if (!in_all_layouts || scope.library_number < 120900 || p.amax_d) {
    return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "pointer-array-mixed",
                   "CUBLASLT_BATCH_MODE_POINTER_ARRAY exists since CUDA 12.9, and whether it may be set in some of the "
                   "four layouts only, or with amax, is documented nowhere (cublasLt.h 13.1.0, cublasLtBatchMode_t, "
                   "lines 1090-1105)");
  }
  return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "pointer-array",
                 "the mode is in the header, and for which types it works is documented nowhere: "
                 "CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT tells it of an algorithm (cublasLt.h 13.1.0, lines "
                 "1090-1105 and 2475-2480)");
}

}  // namespace lt_audit
