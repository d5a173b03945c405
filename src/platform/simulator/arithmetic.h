// The simulator's own arithmetic: D = scale_d * activation(alpha * op(A) op(B) + beta * C + bias), accumulated in
// double, rounded once. Written apart from the verifier's arithmetic (platform/audit_math.h), so that neither can hide
// a mistake of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit::simulator {

/// One value in memory as a double, exact for every matrix and scale type; of a complex number the real part.
double load_value(cudaDataType_t type, const void* element);
/// The imaginary part of a complex number that lies in one piece; 0 for other types.
double load_imaginary(cudaDataType_t type, const void* element);

/// Stores a value: round to nearest even, saturating for integers and FP8 (CUDA's conversion with __NV_SATFINITE).
void store_value(cudaDataType_t type, void* element, double value);

/// A factor that is fixed at the call or read through a device pointer when the product runs; null pointer = fixed.
struct Factor {
  double value = 1;
  const void* device_pointer = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  /// Of complex types.
  double imaginary = 0;

  double get() const { return device_pointer == nullptr ? value : load_value(type, device_pointer); }
};

/// A matrix in memory.
struct Operand {
  const void* data = nullptr;
  MatrixShape shape;
  bool transposed = false;
  /// Of complex elements.
  bool conjugated = false;
};

/// FP32 factors of one operand that differ along its rows (A) or columns (B) and along k.
struct ScaleTable {
  /// Null: none.
  const void* data = nullptr;
  cublasLtMatmulMatrixScale_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  /// m for A, n for B.
  std::int64_t outer = 0;
  std::int64_t k = 0;

  bool along_k() const { return data != nullptr && mode != CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F; }
  double at(std::int64_t index, std::int64_t position) const;
};

/// A product with everything that decides its result. op(A) is m by k, op(B) k by n, C, D and aux m by n.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Operand a;
  Operand b;
  /// Read only when beta is not 0.
  Operand c;
  void* d = nullptr;
  MatrixShape d_shape;
  Factor alpha;
  Factor beta{0};
  /// FP8 scales; 1 elsewhere.
  Factor scale_a;
  Factor scale_b;
  Factor scale_c;
  Factor scale_d;
  ScaleTable table_a;
  ScaleTable table_b;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  /// The bias vector, or null; for a bias gradient what is written.
  void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;
  std::int64_t bias_batch_stride = 0;
  /// Null without an aux epilogue. For a mask ld and batch stride are in bits.
  void* aux = nullptr;
  cudaDataType_t aux_type = CUDA_R_32F;
  std::int64_t aux_ld = 0;
  std::int64_t aux_batch_stride = 0;
  /// FP32, or null.
  void* amax_d = nullptr;
  /// Parts of k whose sums pass through the workspace and are added in order; 1 = no workspace.
  int split_k = 1;
  /// product_workspace_bytes() bytes when split_k > 1.
  void* workspace = nullptr;
  /// Type of the partial sums in the workspace: R_32F, R_64F or R_32I.
  cudaDataType_t accumulator = CUDA_R_32F;
  /// Bits of significand that A and B keep, the leading one included; 0 = all of them.
  int factor_bits = 0;
};

/// What FP32 factors are rounded to (nearest even) under a FAST compute type: 11 bits for FAST_16F and FAST_TF32, 8 for
/// FAST_16BF, 0 for the others. A process with NVIDIA_TF32_OVERRIDE=0 never rounds to TF32 (cuBLAS 13.2 documentation,
/// cublasComputeType_t). The smaller range of FP16 is not modelled: the inputs of audits stay within it.
int factor_bits_of(cublasComputeType_t compute_type, bool tf32_is_off);

/// Bytes of workspace that a split-K product uses; 0 for split_k = 1.
std::size_t product_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t batch_count, int split_k,
                                    cudaDataType_t accumulator);

/// Bytes from the first element to one past the last, in both planes of a planar matrix.
std::size_t bytes_of_span(const MatrixShape& shape);

/// Where an element lies, in elements.
std::int64_t index_of(const MatrixShape& shape, std::int64_t row, std::int64_t col, std::int64_t batch);

/// From the sums of D to D and what is written beside it (epilogue.cpp): columns come batch by batch.
class EpilogueWriter {
 public:
  explicit EpilogueWriter(const Product& product);

  void begin_batch();
  /// Rows row0 .. row0 + sums.size() - 1 of a column.
  void write(std::int64_t batch, std::int64_t row0, std::int64_t col, std::span<const double> sums);
  /// The bias gradient of the batch.
  void end_batch(std::int64_t batch);
  /// amax.
  void finish();

 private:
  double before_activation(std::int64_t batch, std::int64_t row, std::int64_t col, double sum) const;
  double activate(std::int64_t batch, std::int64_t row, std::int64_t col, double x) const;

  const Product& p_;
  // Factors read once, when the product runs.
  double alpha_, beta_, d_scale_;
  std::vector<double> gradient_;
  double amax_ = 0;
};

/// Complex types, in one piece or in planes: default epilogue, no scale factors (complex_product.cpp).
void run_complex_product(const Product& product);

/// Computes D. All pointers are valid host memory for the spans of the shapes.
void run_product(const Product& product);

}  // namespace lt_audit::simulator
