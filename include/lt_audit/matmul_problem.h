// MatmulProblem: one matmul call, complete. A plain value; everything that decides what the library does is in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "lt_audit/types.h"

namespace lt_audit {

/// Which algorithm a problem is run with.
enum class AlgoChoice {
  heuristic,  ///< result number `algo_index` of cublasLtMatmulAlgoGetHeuristic
  null,       ///< algo == NULL: the implicit heuristic of cublasLtMatmul with default preferences
  given,      ///< the cublasLtMatmulAlgo_t in `algo_words`, without a query
};

/// A cublasLtMatmulAlgo_t as plain data: 64 opaque bytes that may be stored and used again with the same version of the
/// library (cublasLt.h 13.1.0, lines 108-115).
using AlgoWords = std::array<std::uint64_t, 8>;

/// The imaginary parts of a planar complex matrix lie behind its real parts.
inline constexpr std::int64_t kPackedPlane = -1;

/// One matmul: D = scale_d * activation(alpha * scale_a * scale_b * op(A) * op(B) + beta * scale_c * C + bias).
/// op(A) is m by k, op(B) is k by n, C, D and aux are m by n. Leading dimensions and batch strides are in elements,
/// offsets, alignments and workspace in bytes.
struct MatmulProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  cublasOperation_t transa = CUBLAS_OP_N;
  cublasOperation_t transb = CUBLAS_OP_N;

  cudaDataType_t type_a = CUDA_R_32F;
  cudaDataType_t type_b = CUDA_R_32F;
  cudaDataType_t type_c = CUDA_R_32F;
  cudaDataType_t type_d = CUDA_R_32F;
  cublasComputeType_t compute_type = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale_type = CUDA_R_32F;

  /// 0 = the smallest legal one: rows for order col, columns for order row.
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t ldd = 0;
  cublasLtOrder_t order_a = CUBLASLT_ORDER_COL;
  cublasLtOrder_t order_b = CUBLASLT_ORDER_COL;
  cublasLtOrder_t order_c = CUBLASLT_ORDER_COL;
  cublasLtOrder_t order_d = CUBLASLT_ORDER_COL;

  /// CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET of a planar complex matrix: bytes from its real parts to its imaginary parts.
  /// 0 = both parts of a number side by side; kPackedPlane = behind the last real part, at a multiple of 256. Leading
  /// dimension and batch stride of a planar matrix count its real parts.
  std::int64_t plane_a = 0;
  std::int64_t plane_b = 0;
  std::int64_t plane_c = 0;
  std::int64_t plane_d = 0;

  std::int32_t batch_count = 1;
  /// -1 = packed (ld times columns for order col); 0 = one matrix for all batches (A, B and C only).
  std::int64_t stride_a = -1;
  std::int64_t stride_b = -1;
  std::int64_t stride_c = -1;
  std::int64_t stride_d = -1;

  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  /// CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE; nothing = not set (default_bias_type).
  std::optional<cudaDataType_t> type_bias;
  /// 0 = one bias vector for all batches.
  std::int64_t stride_bias = 0;
  /// CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE; nothing = not set: D's type, or a bit mask.
  std::optional<cudaDataType_t> type_aux;
  /// In elements, for a mask in bits. 0 = the smallest legal one: m rounded up to 8, for a mask to 128.
  std::int64_t ldaux = 0;
  /// -1 = packed.
  std::int64_t stride_aux = -1;

  /// Scale factors of the operand: its pointer is set, with this mode. Nothing = no pointer, no factor.
  std::optional<cublasLtMatmulMatrixScale_t> scale_a;
  std::optional<cublasLtMatmulMatrixScale_t> scale_b;
  std::optional<cublasLtMatmulMatrixScale_t> scale_c;
  std::optional<cublasLtMatmulMatrixScale_t> scale_d;
  /// CUBLASLT_MATMUL_DESC_AMAX_D_POINTER is set: the largest magnitude of D before scale_d.
  bool amax_d = false;
  bool fast_accum = false;
  /// CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET; 0 = all.
  std::int64_t sm_count_target = 0;

  double alpha = 1;
  double beta = 0;
  /// Of a complex scale type only.
  double alpha_imaginary = 0;
  double beta_imaginary = 0;
  cublasLtPointerMode_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  /// C and D are the same memory.
  bool in_place = false;

  /// Distance of each pointer from a 256-byte boundary, 0 .. 255.
  std::int64_t a_offset = 0;
  std::int64_t b_offset = 0;
  std::int64_t c_offset = 0;
  std::int64_t d_offset = 0;
  std::int64_t bias_offset = 0;
  std::int64_t aux_offset = 0;
  std::int64_t scale_a_offset = 0;
  std::int64_t scale_b_offset = 0;
  std::int64_t workspace_offset = 0;

  /// What the preference declares (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_x_BYTES); 256 is the library's default and is
  /// then not set at all.
  std::uint32_t a_alignment = 256;
  std::uint32_t b_alignment = 256;
  std::uint32_t c_alignment = 256;
  std::uint32_t d_alignment = 256;

  /// Limit in the preference and size handed to cublasLtMatmul.
  std::int64_t workspace_bytes = 32LL << 20;
  AlgoChoice algo = AlgoChoice::heuristic;
  /// Which returned result to run, from 0.
  int algo_index = 0;
  /// For AlgoChoice::given.
  AlgoWords algo_words{};

  /// beta is not 0.
  bool reads_c() const { return beta != 0 || beta_imaginary != 0; }

  friend bool operator==(const MatmulProblem&, const MatmulProblem&) = default;
};

/// A matrix as it lies in memory: rows and columns before transa and transb are applied, as cublasLtMatrixLayoutCreate
/// takes them.
struct MatrixShape {
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  std::int32_t batch_count = 1;
  std::int64_t batch_stride = 0;
  /// Bytes from the real parts to the imaginary parts of a planar complex matrix; 0 for all others.
  std::int64_t plane_offset = 0;

  bool is_planar() const { return plane_offset != 0; }
  /// What lies at an index: an element, or one part of it in a planar matrix.
  cudaDataType_t stored_type() const { return is_planar() ? part_type(type) : type; }
  /// Elements from the first to one past the last, all batches and the padding between columns included. Of a planar
  /// matrix one plane.
  std::int64_t span() const;
  /// Bytes of the span, both planes and what lies between them.
  std::int64_t bytes() const;
};

/// The four operands of a problem with every default filled in, a packed plane as bytes.
MatrixShape shape_a(const MatmulProblem& problem);
MatrixShape shape_b(const MatmulProblem& problem);
MatrixShape shape_c(const MatmulProblem& problem);
MatrixShape shape_d(const MatmulProblem& problem);

/// What the bias pointer points at: one element for each row of D, or for each column with bgradb.
MatrixShape shape_bias(const MatmulProblem& problem);
/// What the aux pointer points at. A mask is given in bytes: type i8, ld and stride an eighth of the problem's.
MatrixShape shape_aux(const MatmulProblem& problem);
/// The table of scale factors of an operand in this mode (cublasLt.h 13.1.0, lines 921-941; cuBLAS 13.2 documentation,
/// Narrow Precision Data Types Usage), all FP32: scalar 1; outer_vec `outer`; vec128 `outer` by k / 128; blk128x128
/// k / 128 by `outer` / 128 with an ld that is a multiple of 4. `outer` is m for A and n for B. 0 by 0 for the modes
/// that the audit cannot fill.
MatrixShape shape_scale(cublasLtMatmulMatrixScale_t mode, std::int64_t outer, std::int64_t k);

/// The type of the bias vector: type_bias, or the default: D's, R_32F for an INT8 D with an R_32F scale type, and what
/// the FP8 table pairs with C for FP8 inputs (cublasLt.h 13.1.0 lines 1535-1547).
cudaDataType_t bias_type(const MatmulProblem& problem);

/// The type of a GELU aux matrix: type_aux, or the default: D's, and with an FP8 D the type of C. The header has the
/// second as "some exceptions" (cublasLt.h 13.1.0, lines 1484-1501); 13.1.0 names it in its refusals.
cudaDataType_t aux_type(const MatmulProblem& problem);

/// A problem with one type for A, B, C and D and the compute and scale type that the documentation pairs with it.
MatmulProblem uniform_problem(cudaDataType_t type, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace lt_audit
