// Shapes and defaults of a problem.
#include <algorithm>
#include <array>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {
namespace {

/// One operand with its defaults filled in. rows and cols are those of the memory.
MatrixShape shape_of(cudaDataType_t type, std::int64_t rows, std::int64_t cols, std::int64_t ld, cublasLtOrder_t order,
                     std::int32_t batch_count, std::int64_t stride, std::int64_t plane) {
  MatrixShape shape;
  shape.type = type;
  shape.rows = rows;
  shape.cols = cols;
  shape.order = order;
  shape.batch_count = batch_count;
  const std::int64_t inner = order == CUBLASLT_ORDER_ROW ? cols : rows;
  const std::int64_t outer = order == CUBLASLT_ORDER_ROW ? rows : cols;
  shape.ld = ld == 0 ? inner : ld;
  shape.batch_stride = stride < 0 ? shape.ld * outer : stride;
  shape.plane_offset = plane;
  if (plane == kPackedPlane) {
    const auto part = static_cast<std::int64_t>(bytes_of(part_type(type)));
    shape.plane_offset = std::max<std::int64_t>((shape.span() * part + 255) / 256 * 256, 256);
  }
  return shape;
}

}  // namespace

std::int64_t MatrixShape::span() const {
  const std::int64_t inner = order == CUBLASLT_ORDER_ROW ? cols : rows;
  const std::int64_t outer = order == CUBLASLT_ORDER_ROW ? rows : cols;
  if (inner <= 0 || outer <= 0 || batch_count <= 0) return 0;
  return (batch_count - 1) * batch_stride + (outer - 1) * ld + inner;
}

std::int64_t MatrixShape::bytes() const {
  const std::int64_t plane = span() * static_cast<std::int64_t>(bytes_of(stored_type()));
  return plane == 0 ? 0 : plane_offset + plane;
}

MatrixShape shape_a(const MatmulProblem& p) {
  const bool plain = p.transa == CUBLAS_OP_N;
  return shape_of(p.type_a, plain ? p.m : p.k, plain ? p.k : p.m, p.lda, p.order_a, p.batch_count, p.stride_a,
                  p.plane_a);
}

MatrixShape shape_b(const MatmulProblem& p) {
  const bool plain = p.transb == CUBLAS_OP_N;
  return shape_of(p.type_b, plain ? p.k : p.n, plain ? p.n : p.k, p.ldb, p.order_b, p.batch_count, p.stride_b,
                  p.plane_b);
}

MatrixShape shape_c(const MatmulProblem& p) {
  return shape_of(p.type_c, p.m, p.n, p.ldc, p.order_c, p.batch_count, p.stride_c, p.plane_c);
}

MatrixShape shape_d(const MatmulProblem& p) {
  return shape_of(p.type_d, p.m, p.n, p.ldd, p.order_d, p.batch_count, p.stride_d, p.plane_d);
}

MatrixShape shape_bias(const MatmulProblem& p) {
  const std::int64_t length = p.epilogue == CUBLASLT_EPILOGUE_BGRADB ? p.n : p.m;
  const std::int64_t ld = std::max<std::int64_t>(length, 1);
  return {bias_type(p), length, 1, ld, CUBLASLT_ORDER_COL, p.stride_bias == 0 ? 1 : p.batch_count, p.stride_bias};
}

cudaDataType_t aux_type(const MatmulProblem& p) {
  if (p.type_aux) return *p.type_aux;
  return is_fp8(p.type_d) ? p.type_c : p.type_d;
}

MatrixShape shape_aux(const MatmulProblem& p) {
  const bool mask = has_aux_mask(p.epilogue);
  const std::int64_t multiple = mask ? 128 : 8;
  const std::int64_t ld = p.ldaux != 0 ? p.ldaux : (p.m + multiple - 1) / multiple * multiple;
  const std::int64_t stride = p.stride_aux >= 0 ? p.stride_aux : ld * p.n;
  if (!mask) return {aux_type(p), p.m, p.n, ld, CUBLASLT_ORDER_COL, p.batch_count, stride};
  // All of a column may be written, not only its first m bits.
  return {CUDA_R_8I, (ld + 7) / 8, p.n, (ld + 7) / 8, CUBLASLT_ORDER_COL, p.batch_count, (stride + 7) / 8};
}

MatrixShape shape_scale(cublasLtMatmulMatrixScale_t mode, std::int64_t outer, std::int64_t k) {
  const auto blocks = [](std::int64_t size) { return (size + 127) / 128; };
  const auto shape = [](std::int64_t rows, std::int64_t cols, std::int64_t ld) {
    return MatrixShape{CUDA_R_32F, rows, cols, std::max<std::int64_t>(ld, 1), CUBLASLT_ORDER_COL, 1, 0};
  };
  switch (mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F:
      return shape(1, 1, 1);
    case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
      return shape(outer, 1, outer);
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
      return shape(outer, blocks(k), outer);
    case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
      return shape(blocks(k), blocks(outer), (blocks(k) + 3) / 4 * 4);
    default:
      return shape(0, 0, 1);
  }
}

cudaDataType_t bias_type(const MatmulProblem& p) {
  if (p.type_bias) return *p.type_bias;
  if (is_fp8(p.type_a) || is_fp8(p.type_b)) {
    // FP8 table, cuBLAS 13.2 documentation, cublasLtMatmul: the bias follows C, and BF16 stands beside an FP32 C.
    return p.type_c == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
  }
  if (p.type_d == CUDA_R_8I) return CUDA_R_32F;
  return p.type_d;
}

MatmulProblem uniform_problem(cudaDataType_t type, std::int64_t m, std::int64_t n, std::int64_t k) {
  MatmulProblem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.type_a = p.type_b = p.type_c = p.type_d = type;
  if (type == CUDA_R_64F) {
    p.compute_type = CUBLAS_COMPUTE_64F;
    p.scale_type = CUDA_R_64F;
  } else if (type == CUDA_R_8I) {
    p.compute_type = CUBLAS_COMPUTE_32I;
    p.scale_type = CUDA_R_32I;
    p.type_c = p.type_d = CUDA_R_32I;
    p.transa = CUBLAS_OP_T;
  } else if (is_fp8(type)) {
    p.type_c = p.type_d = CUDA_R_16BF;
    p.transa = CUBLAS_OP_T;
  } else if (is_complex(type)) {
    p.compute_type = type == CUDA_C_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    p.scale_type = default_scale_type(p.compute_type, type);
    if (type == CUDA_C_8I) p.type_c = p.type_d = CUDA_C_32F;
    // Listed in planes alone.
    if (type == CUDA_C_16F || type == CUDA_C_16BF) p.plane_a = p.plane_b = p.plane_c = p.plane_d = kPackedPlane;
  }
  return p;
}

}  // namespace lt_audit
