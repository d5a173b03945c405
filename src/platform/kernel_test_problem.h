// A small matmul with guarded buffers for the tests of the audit's kernels; lives in host or device memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "platform/audit_math.h"

namespace lt_audit {

/// One problem as the kernels see it, with one block of memory for all of its regions.
struct KernelTestProblem {
  cudaDataType_t type_ab = CUDA_R_32F;
  cudaDataType_t type_cd = CUDA_R_32F;
  std::int64_t m = 24, n = 18, k = 40;
  bool transa = false, transb = false;
  cublasLtOrder_t order_d = CUBLASLT_ORDER_COL;
  std::int32_t batch_count = 1;
  std::int64_t extra_ld = 0;
  std::int64_t extra_stride = 0;
  std::int64_t offset_elements = 0;
  std::int64_t sparse_block = 1;
  std::int32_t amplitude = 2;
  double alpha = 1, beta = 0;
  bool has_bias = false, has_relu = false;
  std::uint8_t poison = 0xFF;

  static constexpr std::size_t kGuardBytes = 512;

  MatrixShape shape(cudaDataType_t type, std::int64_t rows, std::int64_t cols,
                    cublasLtOrder_t order = CUBLASLT_ORDER_COL) const {
    const bool by_col = order == CUBLASLT_ORDER_COL;
    MatrixShape shape{type, rows, cols, (by_col ? rows : cols) + extra_ld, order, batch_count, 0};
    shape.batch_stride = batch_count > 1 ? shape.ld * (by_col ? cols : rows) + extra_stride : 0;
    return shape;
  }
  MatrixShape a() const { return transa ? shape(type_ab, k, m) : shape(type_ab, m, k); }
  MatrixShape b() const { return transb ? shape(type_ab, n, k) : shape(type_ab, k, n); }
  MatrixShape c() const { return shape(type_cd, m, n); }
  MatrixShape d() const { return shape(type_cd, m, n, order_d); }
  MatrixShape bias() const { return {type_cd, m, 1, m, CUBLASLT_ORDER_COL, 1, 0}; }
  MatrixShape workspace() const { return {CUDA_R_8I, 1000, 1, 1000, CUBLASLT_ORDER_COL, 1, 0}; }

  ValuePattern pattern(std::uint64_t seed, bool transposed, std::int64_t block = 1) const {
    return {seed, amplitude, block, transposed};
  }

  static std::size_t span_of(const MatrixShape& shape) {
    const bool by_col = shape.order == CUBLASLT_ORDER_COL;
    const std::int64_t majors = by_col ? shape.cols : shape.rows;
    const std::int64_t minors = by_col ? shape.rows : shape.cols;
    return static_cast<std::size_t>((shape.batch_count - 1) * shape.batch_stride + (majors - 1) * shape.ld + minors);
  }

  /// The regions with `memory` as the start of their block; sizes and offsets do not depend on it.
  RegionSet regions(std::byte* memory) const {
    RegionSet set;
    std::size_t at = 0;
    const auto add = [&](RegionRole role, RegionContent content, const MatrixShape& shape,
                         const ValuePattern& pattern) {
      Region& region = set.region[static_cast<std::size_t>(set.count++)];
      const auto bytes = static_cast<std::size_t>(element_bytes(shape.type));
      region.role = role;
      region.content = content;
      region.shape = shape;
      region.pattern = pattern;
      region.poison = poison;
      region.data_offset = kGuardBytes + static_cast<std::size_t>(offset_elements) * bytes;
      region.bytes = (region.data_offset + span_of(shape) * bytes + kGuardBytes + 255) / 256 * 256;
      region.begin = memory + at;
      at += region.bytes;
    };
    add(RegionRole::a, RegionContent::values, a(), pattern(11, transa));
    add(RegionRole::b, RegionContent::values, b(), pattern(12, transb, sparse_block));
    add(RegionRole::c, RegionContent::values, c(), pattern(13, false));
    add(RegionRole::d, RegionContent::poison, d(), {});
    add(RegionRole::bias, RegionContent::values, bias(), pattern(14, false));
    add(RegionRole::workspace, RegionContent::poison, workspace(), {});
    return set;
  }
  std::size_t bytes() const {
    const RegionSet set = regions(nullptr);
    std::size_t bytes = 0;
    for (const Region& region : set.region) bytes += region.bytes;
    return bytes;
  }

  CompareSpec compare(const RegionSet& set) const {
    CompareSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.batch_count = batch_count;
    spec.a = set.region[0].pattern;
    spec.b = set.region[1].pattern;
    spec.c = set.region[2].pattern;
    spec.bias = set.region[4].pattern;
    spec.alpha = alpha;
    spec.beta = beta;
    spec.has_bias = has_bias;
    spec.activation = has_relu ? Activation::relu : Activation::none;
    spec.d = set.region[3].data();
    spec.d_shape = d();
    spec.poison = poison;
    return spec;
  }

  ProductSpec product(const RegionSet& set) const {
    ProductSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.a = set.region[0].data();
    spec.b = set.region[1].data();
    spec.c = set.region[2].data();
    spec.d = set.region[3].data();
    spec.bias = has_bias ? set.region[4].data() : nullptr;
    spec.bias_type = type_cd;
    spec.a_shape = a();
    spec.b_shape = b();
    spec.c_shape = c();
    spec.d_shape = d();
    spec.transa = transa;
    spec.transb = transb;
    spec.alpha = alpha;
    spec.beta = beta;
    spec.seed = 99;
    return spec;
  }

  /// The product from the matrices in host memory, not from the patterns, written into D.
  void multiply_on_host(const RegionSet& set) const {
    const auto read = [](const Region& region, std::int64_t row, std::int64_t col, std::int64_t batch) {
      const std::int64_t index = element_index(region.shape, row, col, batch) * element_bytes(region.shape.type);
      return decode(region.shape.type, static_cast<const std::byte*>(region.data()) + index);
    };
    for (std::int32_t batch = 0; batch < batch_count; ++batch) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            sum += (transa ? read(set.region[0], l, i, batch) : read(set.region[0], i, l, batch)) *
                   (transb ? read(set.region[1], j, l, batch) : read(set.region[1], l, j, batch));
          }
          double value = alpha * sum;
          if (beta != 0) value += beta * read(set.region[2], i, j, batch);
          if (has_bias) value += read(set.region[4], i, 0, 0);
          if (has_relu && value < 0) value = 0;
          encode(type_cd, value, d_element(set, i, j, batch));
        }
      }
    }
  }

  std::byte* d_element(const RegionSet& set, std::int64_t row, std::int64_t col, std::int64_t batch = 0) const {
    return static_cast<std::byte*>(set.region[3].data()) + element_index(d(), row, col, batch) * element_bytes(type_cd);
  }
};

/// Memory of a problem on the host, 256-byte aligned, prepared regions inside.
class HostMemoryBlock {
 public:
  explicit HostMemoryBlock(const KernelTestProblem& problem) : bytes_(problem.bytes() + 256) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    set_ = problem.regions(bytes_.data() + (256 - address % 256) % 256);
    size_ = problem.bytes();
  }
  const RegionSet& regions() const { return set_; }
  std::byte* begin() const { return static_cast<std::byte*>(set_.region[0].begin); }
  std::size_t size() const { return size_; }

 private:
  std::vector<std::byte> bytes_;
  RegionSet set_;
  std::size_t size_ = 0;
};

/// Shapes and options that reach each branch of the kernels, for every type.
inline std::vector<KernelTestProblem> kernel_test_problems() {
  std::vector<KernelTestProblem> problems;
  const cudaDataType_t types[] = {CUDA_R_64F,     CUDA_R_32F,     CUDA_R_16F, CUDA_R_16BF,
                                  CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_8I,  CUDA_R_32I};
  for (const cudaDataType_t type : types) {
    KernelTestProblem plain;
    plain.type_ab = type;
    plain.type_cd =
        type == CUDA_R_8I ? CUDA_R_32I : (type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2 ? CUDA_R_16BF : type);
    // 0xFF of an integer is -1, a possible result.
    plain.poison = type == CUDA_R_8I || type == CUDA_R_32I ? 0x80 : 0xFF;
    plain.amplitude = 1;
    problems.push_back(plain);
    KernelTestProblem padded = plain;
    padded.m = 37;
    padded.n = 19;
    padded.k = 45;
    padded.transa = true;
    padded.extra_ld = 3;
    padded.offset_elements = 3;
    padded.batch_count = 3;
    padded.extra_stride = 5;
    padded.sparse_block = 7;
    padded.beta = 2;
    padded.has_bias = true;
    problems.push_back(padded);
    KernelTestProblem by_row = plain;
    by_row.m = 130;
    by_row.n = 300;
    by_row.k = 72;
    by_row.transb = true;
    by_row.order_d = CUBLASLT_ORDER_ROW;
    by_row.sparse_block = 9;
    by_row.alpha = -2;
    problems.push_back(by_row);
  }
  return problems;
}

}  // namespace lt_audit
