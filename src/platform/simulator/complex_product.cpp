// Products of complex matrices: plain loops, real and imaginary parts in double, each rounded once.
#include <complex>
#include <cstddef>

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

}  // namespace

void run_complex_product(const Product& p) {
  const Complex alpha = factor(p.alpha);
  const Complex beta = factor(p.beta);
  const auto type = p.d_shape.type;
  for (std::int64_t batch = 0; batch < p.d_shape.batch_count; ++batch) {
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        Complex sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k) sum += at(p.a, row, k, batch) * at(p.b, k, col, batch);
        Complex value = alpha * sum;
        if (beta != 0.0) value += beta * load(p.c.data, type, index_of(p.c.shape, row, col, batch));
        store(p.d, type, index_of(p.d_shape, row, col, batch), value);
      }
    }
  }
}

}  // namespace lt_audit::simulator
