// The Freivalds check of D = alpha op(A) op(B) + beta C + bias in integers modulo 2^64, shared by the host and the
// device.
//
// Modulo 2^64 nothing can overflow, so a right D never disagrees. An element of D that is off by e disagrees unless a
// random 32-bit entry solves one congruence: for e not divisible by 2^33 that is one value of 2^32 for each vector.
#pragma once

#include "platform/audit_math.h"

namespace lt_audit {

/// Vectors that one pass over a matrix multiplies; ProductSpec::vectors may not exceed it.
inline constexpr int kProductVectors = 2;

/// alpha and beta as integers after multiplication with `factor`, a power of two; D and the bias are multiplied with it
/// too.
struct ProductScale {
  std::int64_t alpha = 1;
  std::int64_t beta = 0;
  std::int32_t factor = 1;
  bool exact = true;
};

/// The smallest factor up to 4096 that makes both integers; not exact when there is none.
inline ProductScale product_scale(const ProductSpec& spec) {
  ProductScale scale;
  for (std::int32_t factor = 1; factor <= 4096; factor *= 2) {
    const double alpha = spec.alpha * factor;
    const double beta = spec.beta * factor;
    if (std::abs(alpha) < 1e15 && std::abs(beta) < 1e15 && alpha == std::floor(alpha) && beta == std::floor(beta)) {
      scale.alpha = static_cast<std::int64_t>(alpha);
      scale.beta = static_cast<std::int64_t>(beta);
      scale.factor = factor;
      return scale;
    }
  }
  scale.exact = false;
  return scale;
}

/// False when the request cannot be answered: alpha or beta is no multiple of 1/4096, too many vectors are asked
/// for, or there is more than one batch.
inline bool product_is_exact(const ProductSpec& spec) {
  return product_scale(spec).exact && spec.vectors >= 1 && spec.vectors <= kProductVectors &&
         spec.d_shape.batch_count == 1;
}

/// One matrix times vectors: out[row] += sum of scale * op(matrix)(row, col) * in[col].
struct ProductOperand {
  const void* matrix = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t minors = 0;
  std::int64_t majors = 0;
  std::int64_t ld = 0;
  /// True when the sum runs along the contiguous direction.
  bool sum_over_minor = false;
  /// A power of two.
  float scale = 1;
};

inline ProductOperand product_operand(const void* matrix, const MatrixShape& shape, bool transposed, std::int64_t batch,
                                      std::int32_t factor) {
  const bool by_col = shape.order == CUBLASLT_ORDER_COL;
  ProductOperand operand;
  if (matrix != nullptr) {
    operand.matrix = static_cast<const std::byte*>(matrix) + batch * shape.batch_stride * element_bytes(shape.type);
  }
  operand.type = shape.type;
  operand.minors = by_col ? shape.rows : shape.cols;
  operand.majors = by_col ? shape.cols : shape.rows;
  operand.ld = shape.ld;
  operand.sum_over_minor = by_col == transposed;
  operand.scale = static_cast<float>(factor);
  return operand;
}

struct ProductOperands {
  ProductOperand a, b, c, d;
};
inline ProductOperands product_operands(const ProductSpec& spec, std::int64_t batch, const ProductScale& scale) {
  return {product_operand(spec.a, spec.a_shape, spec.transa, batch, 1),
          product_operand(spec.b, spec.b_shape, spec.transb, batch, 1),
          product_operand(spec.c, spec.c_shape, false, batch, 1),
          product_operand(spec.d, spec.d_shape, false, batch, scale.factor)};
}

namespace detail {
struct ToInteger {
  const void* memory;
  std::int64_t value = 0;
  template <cudaDataType_t Type>
  __host__ __device__ void run() {
    typename Element<Type>::Bits bits;
    memcpy(&bits, memory, sizeof bits);
    value = Element<Type>::to_int(bits, 1);
  }
};
}  // namespace detail

/// What row `row` of factor * D times x must be, from z = op(A) op(B) x, v = C x and the sum of x.
__host__ __device__ inline std::uint64_t product_row(const ProductSpec& spec, const ProductScale& scale,
                                                     std::uint64_t z, std::uint64_t v, std::uint64_t x_sum,
                                                     std::int64_t row) {
  std::uint64_t expected = static_cast<std::uint64_t>(scale.alpha) * z + static_cast<std::uint64_t>(scale.beta) * v;
  if (spec.bias != nullptr) {
    detail::ToInteger bias{static_cast<const std::byte*>(spec.bias) + row * element_bytes(spec.bias_type)};
    with_element_type(spec.bias_type, bias);
    expected += static_cast<std::uint64_t>(bias.value) * static_cast<std::uint64_t>(scale.factor) * x_sum;
  }
  return expected;
}

/// The tables in ProductSpec::scratch, kProductVectors rows each. Rows are padded to 16 entries for vector loads.
struct ProductScratch {
  ProductScratch(void* memory, std::int64_t m, std::int64_t n, std::int64_t k)
      : n_pitch(padded(n)), k_pitch(padded(k)), m_pitch(padded(m)) {
    before_words = kProductVectors * (k_pitch + 2 * m_pitch);
    after_words = kProductVectors * (k_pitch + 3 * m_pitch) + 16;
    auto* word = static_cast<std::uint64_t*>(memory);
    before = word;
    if (word != nullptr) {
      y_before = word;
      z_before = y_before + kProductVectors * k_pitch;
      v_before = z_before + kProductVectors * m_pitch;
      y = v_before + kProductVectors * m_pitch;
      z = y + kProductVectors * k_pitch;
      w = z + kProductVectors * m_pitch;
      v = w + kProductVectors * m_pitch;
      x_sum = v + kProductVectors * m_pitch;
      x = reinterpret_cast<std::int32_t*>(word + before_words + after_words);
    }
    bytes = static_cast<std::size_t>((before_words + after_words) * 8 + kProductVectors * n_pitch * 4);
  }
  static std::int64_t padded(std::int64_t count) { return (count + 15) / 16 * 16; }

  std::int64_t n_pitch, k_pitch, m_pitch;
  std::uint64_t* before = nullptr;    ///< the first of the tables that are filled before the call
  std::uint64_t* y_before = nullptr;  ///< op(B) x as it was
  std::uint64_t* z_before = nullptr;  ///< op(A) y as it was
  std::uint64_t* v_before = nullptr;  ///< C x as it was
  std::uint64_t* y = nullptr;         ///< op(B) x
  std::uint64_t* z = nullptr;         ///< op(A) y
  std::uint64_t* w = nullptr;         ///< factor * D x
  std::uint64_t* v = nullptr;         ///< C x
  std::uint64_t* x_sum = nullptr;
  std::int32_t* x = nullptr;
  std::int64_t before_words = 0;
  std::int64_t after_words = 0;
  std::size_t bytes = 0;
};

}  // namespace lt_audit
