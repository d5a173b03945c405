// Products of complex matrices: plain loops, real and imaginary parts in double, each rounded once.
#include <complex>
#include <cstddef>
#include <vector>

#include "platform/simulator/arithmetic.h"

namespace lt_audit::simulator {
namespace {

using Complex = std::complex<double>;

/// Bytes from the first real part to both parts of one number.
struct Places {
  std::int64_t real = 0;
  std::int64_t imaginary = 0;
};

Places places_of(const MatrixShape& shape, std::int64_t index) {
  const auto part = static_cast<std::int64_t>(bytes_of(part_type(shape.type)));
  if (shape.plane_offset != 0) return {index * part, shape.plane_offset + index * part};
  return {2 * index * part, (2 * index + 1) * part};
}

Complex load(const void* data, const MatrixShape& shape, std::int64_t index) {
  const auto* bytes = static_cast<const std::byte*>(data);
  const auto type = part_type(shape.type);
  const Places at = places_of(shape, index);
  return {load_value(type, bytes + at.real), load_value(type, bytes + at.imaginary)};
}

void store(void* data, const MatrixShape& shape, std::int64_t index, Complex value) {
  auto* bytes = static_cast<std::byte*>(data);
  const auto type = part_type(shape.type);
  const Places at = places_of(shape, index);
  store_value(type, bytes + at.real, value.real());
  store_value(type, bytes + at.imaginary, value.imag());
}

Complex factor(const Factor& factor) {
  const void* memory = factor.device_pointer;
  if (memory == nullptr) return {factor.value, factor.imaginary};
  return {load_value(factor.type, memory), load_imaginary(factor.type, memory)};
}

/// Element (row, col) of op(X).
Complex at(const Operand& operand, std::int64_t row, std::int64_t col, std::int64_t batch) {
  const auto index =
      operand.transposed ? index_of(operand.shape, col, row, batch) : index_of(operand.shape, row, col, batch);
  const Complex value = load(operand.data, operand.shape, index);
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
  for (std::int64_t batch = 0; batch < p.d_shape.batch_count; ++batch) {
    const auto a = packed(p.a, p.m, p.k, true, batch);
    const auto b = packed(p.b, p.n, p.k, false, batch);
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        Complex value = alpha == 0.0 ? 0.0 : alpha * dot(a.data() + row * p.k, b.data() + col * p.k, p.k);
        if (beta != 0.0) value += beta * load(p.c.data, p.c.shape, index_of(p.c.shape, row, col, batch));
        store(p.d, p.d_shape, index_of(p.d_shape, row, col, batch), value);
      }
    }
  }
}

}  // namespace lt_audit::simulator
