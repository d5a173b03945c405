// Products of complex matrices: plain loops, real and imaginary parts in double, each rounded once.
#include <complex>
#include <cstddef>
#include <vector>

#include "platform/simulator/arithmetic.h"

namespace lt_audit::simulator {
namespace {

using Complex = std::complex<double>;

cudaDataType_t part_type(cudaDataType_t type) { return type == CUDA_C_64F ? CUDA_R_64F : CUDA_R_32F; }

Complex load(const void* data, cudaDataType_t type, std::int64_t index) {
  const auto part = static_cast<std::int64_t>(bytes_of(part_type(type)));
  const auto* element = static_cast<const std::byte*>(data) + index * 2 * part;
  return {load_value(part_type(type), element), load_value(part_type(type), element + part)};
}

void store(void* data, cudaDataType_t type, std::int64_t index, Complex value) {
  const auto part = static_cast<std::int64_t>(bytes_of(part_type(type)));
  auto* element = static_cast<std::byte*>(data) + index * 2 * part;
  store_value(part_type(type), element, value.real());
  store_value(part_type(type), element + part, value.imag());
}

Complex factor(const Factor& factor) {
  return factor.device_pointer == nullptr ? Complex(factor.value) : load(factor.device_pointer, factor.type, 0);
}

/// Element (row, col) of op(X).
Complex at(const Operand& operand, std::int64_t row, std::int64_t col, std::int64_t batch) {
  const auto index =
      operand.transposed ? index_of(operand.shape, col, row, batch) : index_of(operand.shape, row, col, batch);
  const Complex value = load(operand.data, operand.shape.type, index);
  return operand.conjugated ? std::conj(value) : value;
}

/// op(X) of one batch, row by row (A) or column by column (B): along k in both.
std::vector<Complex> packed(const Operand& operand, std::int64_t outer, std::int64_t k, bool by_row,
                            std::int64_t batch) {
  std::vector<Complex> values;
  values.reserve(static_cast<std::size_t>(outer * k));
  for (std::int64_t i = 0; i < outer; ++i) {
    for (std::int64_t x = 0; x < k; ++x) values.push_back(by_row ? at(operand, i, x, batch) : at(operand, x, i, batch));
  }
  return values;
}

/// Multiplied by hand: the operator looks for NaN in every product.
Complex dot(const Complex* a, const Complex* b, std::int64_t count) {
  double real = 0;
  double imaginary = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    real += a[i].real() * b[i].real() - a[i].imag() * b[i].imag();
    imaginary += a[i].real() * b[i].imag() + a[i].imag() * b[i].real();
  }
  return {real, imaginary};
}

}  // namespace

void run_complex_product(const Product& p) {
  const Complex alpha = factor(p.alpha);
  const Complex beta = factor(p.beta);
  const auto type = p.d_shape.type;
  for (std::int64_t batch = 0; batch < p.d_shape.batch_count; ++batch) {
    const auto a = packed(p.a, p.m, p.k, true, batch);
    const auto b = packed(p.b, p.n, p.k, false, batch);
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        Complex value = alpha * dot(a.data() + row * p.k, b.data() + col * p.k, p.k);
        if (beta != 0.0) value += beta * load(p.c.data, type, index_of(p.c.shape, row, col, batch));
        store(p.d, type, index_of(p.d_shape, row, col, batch), value);
      }
    }
  }
}

}  // namespace lt_audit::simulator
