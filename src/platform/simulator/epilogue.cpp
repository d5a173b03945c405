// What follows the sums: scale factors, C, bias, activation, aux, bias gradient, amax and the conversion to D.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "platform/simulator/arithmetic.h"

namespace lt_audit::simulator {
namespace {

std::int64_t size_of(cudaDataType_t type) { return static_cast<std::int64_t>(bytes_of(type)); }

const std::byte* element(const void* data, cudaDataType_t type, std::int64_t index) {
  return static_cast<const std::byte*>(data) + index * size_of(type);
}
std::byte* element(void* data, cudaDataType_t type, std::int64_t index) {
  return static_cast<std::byte*>(data) + index * size_of(type);
}

/// tanh form; u is what stands in the tanh.
double gelu(double x) {
  const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * std::pow(x, 3));
  return x / 2 * (1 + std::tanh(u));
}

/// The derivative, with 1 - tanh^2 as 1 / cosh^2.
double gelu_gradient(double x) {
  const double root = std::sqrt(2 / std::acos(-1.0));
  const double u = root * (x + 0.044715 * std::pow(x, 3));
  const double inner = root * (1 + 3 * 0.044715 * x * x);
  return (1 + std::tanh(u)) / 2 + x / 2 * inner / std::pow(std::cosh(u), 2);
}

/// Bit `index` of a mask, counted from its first byte.
bool bit_at(const void* mask, std::int64_t index) {
  const auto byte = std::to_integer<unsigned>(static_cast<const std::byte*>(mask)[index / 8]);
  return ((byte >> (index % 8)) & 1U) != 0;
}
void set_bit(void* mask, std::int64_t index, bool value) {
  auto& byte = static_cast<std::byte*>(mask)[index / 8];
  const auto bit = std::byte{1} << static_cast<unsigned>(index % 8);
  byte = value ? byte | bit : byte & ~bit;
}

bool sums_d(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD || epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD;
}

/// Sum over k of one row of op(A), or of one column of op(B).
double operand_sum(const Operand& operand, std::int64_t k, bool by_row, std::int64_t index, std::int64_t batch) {
  double sum = 0;
  for (std::int64_t p = 0; p < k; ++p) {
    const bool swap = by_row == operand.transposed;
    const auto at = swap ? index_of(operand.shape, p, index, batch) : index_of(operand.shape, index, p, batch);
    sum += load_value(operand.shape.type, element(operand.data, operand.shape.type, at));
  }
  return sum;
}

}  // namespace

EpilogueWriter::EpilogueWriter(const Product& product)
    : p_(product),
      alpha_(product.alpha.get() * product.scale_a.get() * product.scale_b.get()),
      beta_(product.beta.get() * product.scale_c.get()),
      d_scale_(product.scale_d.get()) {}

void EpilogueWriter::begin_batch() { gradient_.assign(sums_d(p_.epilogue) ? static_cast<std::size_t>(p_.m) : 0, 0.0); }

double EpilogueWriter::before_activation(std::int64_t batch, std::int64_t row, std::int64_t col, double sum) const {
  // alpha = 0 means that A and B are not part of the result, whatever they hold (BLAS, xGEMM).
  double value = alpha_ == 0 ? 0 : alpha_ * sum;
  if (p_.table_a.data != nullptr && !p_.table_a.along_k()) value *= p_.table_a.at(row, 0);
  if (p_.table_b.data != nullptr && !p_.table_b.along_k()) value *= p_.table_b.at(col, 0);
  if (beta_ != 0) {
    const auto type = p_.c.shape.type;
    value += beta_ * load_value(type, element(p_.c.data, type, index_of(p_.c.shape, row, col, batch)));
  }
  if (has_bias(p_.epilogue)) {
    value += load_value(p_.bias_type, element(p_.bias, p_.bias_type, batch * p_.bias_batch_stride + row));
  }
  return value;
}

double EpilogueWriter::activate(std::int64_t batch, std::int64_t row, std::int64_t col, double x) const {
  const auto place = batch * p_.aux_batch_stride + col * p_.aux_ld + row;
  if (has_aux(p_.epilogue) && !reads_aux(p_.epilogue)) {
    if (has_aux_mask(p_.epilogue)) {
      set_bit(p_.aux, place, x > 0);
    } else {
      store_value(p_.aux_type, element(p_.aux, p_.aux_type, place), x);
    }
  }
  if (has_relu(p_.epilogue)) return std::max(x, 0.0);
  if (has_gelu(p_.epilogue)) return gelu(x);
  if (!reads_aux(p_.epilogue)) return x;
  if (has_aux_mask(p_.epilogue)) return bit_at(p_.aux, place) ? x : 0;
  return x * gelu_gradient(load_value(p_.aux_type, element(p_.aux, p_.aux_type, place)));
}

void EpilogueWriter::write(std::int64_t batch, std::int64_t row0, std::int64_t col, std::span<const double> sums) {
  const auto type = p_.d_shape.type;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto row = row0 + static_cast<std::int64_t>(i);
    const double value = activate(batch, row, col, before_activation(batch, row, col, sums[i]));
    if (!gradient_.empty()) gradient_[static_cast<std::size_t>(row)] += value;
    amax_ = std::max(amax_, std::abs(value));
    store_value(type, element(p_.d, type, index_of(p_.d_shape, row, col, batch)), value * d_scale_);
  }
}

void EpilogueWriter::end_batch(std::int64_t batch) {
  const auto store = [&](std::int64_t index, double value) {
    store_value(p_.bias_type, element(p_.bias, p_.bias_type, batch * p_.bias_batch_stride + index), value);
  };
  for (std::size_t row = 0; row < gradient_.size(); ++row) store(static_cast<std::int64_t>(row), gradient_[row]);
  const bool by_row = p_.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  if (!by_row && p_.epilogue != CUBLASLT_EPILOGUE_BGRADB) return;
  const auto& operand = by_row ? p_.a : p_.b;
  for (std::int64_t i = 0; i < (by_row ? p_.m : p_.n); ++i) store(i, operand_sum(operand, p_.k, by_row, i, batch));
}

void EpilogueWriter::finish() {
  if (p_.amax_d != nullptr) store_value(CUDA_R_32F, p_.amax_d, amax_);
}

}  // namespace lt_audit::simulator
