// The simulator's own arithmetic: D = scale_d * relu?(alpha * op(A) op(B) + beta * C + bias), accumulated in double,
// rounded once. Written apart from the verifier's arithmetic (platform/audit_math.h), so that neither can hide a
// mistake of the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lt_audit/matmul_problem.h"

namespace lt_audit::simulator {

/// One value in memory as a double, exact for every matrix and scale type.
double load_value(cudaDataType_t type, const void* element);

/// Stores a value: round to nearest even, saturating for integers and FP8 (CUDA's conversion with __NV_SATFINITE).
void store_value(cudaDataType_t type, void* element, double value);

/// A factor that is fixed at the call or read through a device pointer when the product runs; null pointer = fixed.
struct Factor {
  double value = 1;
  const void* device_pointer = nullptr;
  cudaDataType_t type = CUDA_R_32F;

  double get() const { return device_pointer == nullptr ? value : load_value(type, device_pointer); }
};

/// A matrix in memory.
struct Operand {
  const void* data = nullptr;
  MatrixShape shape;
  bool transposed = false;
};

/// A product with everything that decides its result. op(A) is m by k, op(B) k by n, C and D m by n.
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
  /// Vector of m values per batch, or null.
  const void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;
  std::int64_t bias_batch_stride = 0;
  bool relu = false;
  /// Parts of k whose sums pass through the workspace and are added in order; 1 = no workspace.
  int split_k = 1;
  /// product_workspace_bytes() bytes when split_k > 1.
  void* workspace = nullptr;
  /// Type of the partial sums in the workspace: R_32F, R_64F or R_32I.
  cudaDataType_t accumulator = CUDA_R_32F;
};

/// Bytes of workspace that a split-K product uses; 0 for split_k = 1.
std::size_t product_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t batch_count, int split_k,
                                    cudaDataType_t accumulator);

/// Elements from the first to one past the last, times the element size.
std::size_t bytes_of_span(const MatrixShape& shape);

/// Computes D. All pointers are valid host memory for the spans of the shapes.
void run_product(const Product& product);

}  // namespace lt_audit::simulator
