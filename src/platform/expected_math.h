// What D, aux, the bias gradient and amax must hold, from the patterns of the inputs alone; shared by the host and the
// device like audit_math.h.
#pragma once

#include "platform/audit_math.h"

namespace lt_audit {

/// A number of D or of a sum; imaginary stays 0 for real types.
struct ComplexValue {
  double real = 0;
  double imaginary = 0;
};
struct ComplexSum {
  std::int64_t real = 0;
  std::int64_t imaginary = 0;
};

/// The readers that decide an element of D.
struct ExpectedInputs {
  __host__ __device__ explicit ExpectedInputs(const CompareSpec& spec)
      : a(spec.a, spec.m),
        b(spec.b, spec.k),
        c(spec.c, spec.m),
        bias(spec.bias, spec.m),
        aux(spec.aux, spec.m),
        scale_a(spec.scale_a.pattern, spec.m),
        scale_b(spec.scale_b.pattern, spec.n) {}
  __host__ __device__ void set_batch(const CompareSpec& spec, std::int64_t batch) {
    a.set_batch(spec.a_broadcast ? 0 : batch);
    b.set_batch(spec.b_broadcast ? 0 : batch);
    c.set_batch(spec.c_broadcast ? 0 : batch);
    bias.set_batch(spec.bias_broadcast ? 0 : batch);
    aux.set_batch(batch);
  }
  PatternReader a, b, c, bias, aux, scale_a, scale_b;
};

/// True when D is alpha * sum + beta * c + bias with or without ReLU, real, and nothing else is written.
__host__ __device__ inline bool is_plain(const CompareSpec& spec) {
  return !spec.is_complex && spec.scale_a.layout == FactorTable::Layout::none &&
         spec.scale_b.layout == FactorTable::Layout::none && spec.d_scale == 1 &&
         (spec.activation == Activation::none || spec.activation == Activation::relu) && spec.aux_use == AuxUse::none &&
         spec.gradient == GradientOf::none && spec.amax_memory == nullptr;
}

/// The factor for row `outer` of op(A), or column `outer` of op(B), at position l of k.
__host__ __device__ inline std::int32_t factor_at(const FactorTable& table, const PatternReader& reader,
                                                  std::int64_t outer, std::int64_t l) {
  switch (table.layout) {
    case FactorTable::Layout::outer:
      return reader.at(outer, 0);
    case FactorTable::Layout::vec128:
      return reader.at(outer, l / 128);
    case FactorTable::Layout::block128:
      return reader.at(l / 128, outer / 128);
    case FactorTable::Layout::none:
      break;
  }
  return 1;
}

/// True when the factor changes along k.
__host__ __device__ inline bool is_inside_sum(const FactorTable& table) {
  return table.layout == FactorTable::Layout::vec128 || table.layout == FactorTable::Layout::block128;
}

/// Adds op(A)(row, l) * op(B)(l, col).
__host__ __device__ inline void add_term(const CompareSpec& spec, const ExpectedInputs& inputs, std::int64_t row,
                                         std::int64_t col, std::int64_t l, ComplexSum& sum) {
  const std::int64_t a = inputs.a.at(row, l);
  const std::int64_t b = inputs.b.at(l, col);
  if (spec.is_complex) {
    const std::int64_t ai = (spec.conjugate_a ? -1 : 1) * imaginary_of(static_cast<std::int32_t>(a));
    const std::int64_t bi = (spec.conjugate_b ? -1 : 1) * imaginary_of(static_cast<std::int32_t>(b));
    sum.real += a * b - ai * bi;
    sum.imaginary += a * bi + ai * b;
    return;
  }
  std::int64_t term = a * b;
  if (is_inside_sum(spec.scale_a)) term *= factor_at(spec.scale_a, inputs.scale_a, row, l);
  if (is_inside_sum(spec.scale_b)) term *= factor_at(spec.scale_b, inputs.scale_b, col, l);
  sum.real += term;
}

/// The terms first, first + step, ... of the sum for one element of D.
__host__ __device__ inline ComplexSum sum_of(const CompareSpec& spec, const ExpectedInputs& inputs, std::int64_t row,
                                             std::int64_t col, std::int64_t first = 0, std::int64_t step = 1) {
  ComplexSum sum;
  const std::int64_t blocks = inputs.b.blocks();
  for (std::int64_t block = first; block < blocks; block += step) {
    add_term(spec, inputs, row, col, spec.b.sparse_block > 1 ? inputs.b.nonzero_row(block, col) : block, sum);
  }
  return sum;
}

/// alpha * sum + beta * C + bias: what the activation gets. kPlain: the problem is plain, and a kernel that knows it
/// needs half the registers.
template <bool kPlain = false>
__host__ __device__ inline ComplexValue before_activation(const CompareSpec& spec, const ExpectedInputs& inputs,
                                                          const ComplexSum& sum, std::int64_t row, std::int64_t col) {
  ComplexValue x{spec.alpha * static_cast<double>(sum.real), 0};
  if constexpr (!kPlain) {
    x.real -= spec.alpha_imaginary * static_cast<double>(sum.imaginary);
    x.imaginary =
        spec.alpha * static_cast<double>(sum.imaginary) + spec.alpha_imaginary * static_cast<double>(sum.real);
    if (spec.scale_a.layout == FactorTable::Layout::outer) x.real *= factor_at(spec.scale_a, inputs.scale_a, row, 0);
    if (spec.scale_b.layout == FactorTable::Layout::outer) x.real *= factor_at(spec.scale_b, inputs.scale_b, col, 0);
  }
  if (spec.beta != 0 || (!kPlain && spec.beta_imaginary != 0)) {
    const std::int32_t c = inputs.c.at(row, col);
    x.real += spec.beta * c;
    if (!kPlain && spec.is_complex) {
      x.real -= spec.beta_imaginary * imaginary_of(c);
      x.imaginary += spec.beta * imaginary_of(c) + spec.beta_imaginary * c;
    }
  }
  if (spec.has_bias) x.real += inputs.bias.at(row, 0);
  return x;
}

/// What D must hold, and how far a right library may be from it.
struct ExpectedValue {
  double value = 0;
  double tolerance = 0;
};

/// GELU in the tanh form (cublasLt.h 13.1.0, CUBLASLT_EPILOGUE_GELU) and its derivative. The hardware's tanh has a
/// relative error of up to 2^-11 (PTX ISA, tanh.approx.f32), and |tanh| <= 1: 0.5 x (1 + tanh) is off by up to
/// |x| 2^-12, the derivative 0.5 (1 + tanh) + 0.5 x (1 - tanh^2) u' by up to 2^-12 + |x u'| 2^-11.
__host__ __device__ inline ExpectedValue gelu(double x) {
  const double t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  return {0.5 * x * (1 + t), fabs(x) / 4096};
}
__host__ __device__ inline ExpectedValue gelu_derivative(double x) {
  const double t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  const double slope = 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
  return {0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope, 1.0 / 4096 + fabs(x) * slope / 2048};
}

/// Half a unit in the last place relative to the value: 2^-p for p bits of significand.
__host__ __device__ inline double unit_roundoff(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return 0x1p-53;
    case CUDA_R_16F:
      return 0x1p-11;
    case CUDA_R_16BF:
      return 0x1p-8;
    case CUDA_R_8F_E4M3:
      return 0x1p-4;
    case CUDA_R_8F_E5M2:
      return 0x1p-3;
    default:
      return 0x1p-24;
  }
}

/// Bit of a mask as prepare writes it: patterns hold no 0, so both values of a bit occur.
__host__ __device__ inline bool mask_bit(const ExpectedInputs& inputs, std::int64_t row, std::int64_t col) {
  return ((static_cast<std::uint32_t>(inputs.aux.at(row / 8, col)) >> (row % 8)) & 1U) != 0;
}

/// The real part after the activation, before d_scale and rounding.
__host__ __device__ inline ExpectedValue activated(const CompareSpec& spec, const ExpectedInputs& inputs, double x,
                                                   std::int64_t row, std::int64_t col) {
  switch (spec.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return {x > 0 ? x : 0, 0};
    case Activation::gelu:
      return gelu(x);
    case Activation::drelu:
      return {mask_bit(inputs, row, col) ? x : 0, 0};
    case Activation::dgelu: {
      const ExpectedValue slope = gelu_derivative(inputs.aux.at(row, col));
      return {x * slope.value, fabs(x) * slope.tolerance};
    }
  }
  return {x, 0};
}

/// After d_scale, rounded to the type. With a tolerance the rounding widens it: one ulp, since the value that is
/// rounded is not known, and the smallest normal of E5M2, below which an FP16 is coarser than its unit roundoff says.
__host__ __device__ inline ExpectedValue stored_as(cudaDataType_t type, ExpectedValue value, double scale) {
  value.value *= scale;
  value.tolerance *= fabs(scale);
  if (value.tolerance == 0) return {rounded_to(type, value.value), 0};
  value.tolerance += 2 * unit_roundoff(type) * fabs(value.value) + 0x1p-14;
  return value;
}

__host__ __device__ inline bool agrees(double actual, const ExpectedValue& expected) {
  return expected.tolerance == 0 ? actual == expected.value : fabs(actual - expected.value) <= expected.tolerance;
}

/// What was found at one element of D: the real part, or the imaginary part when only that is wrong.
struct ElementResult {
  double expected = 0;
  double actual = 0;
  bool nonzero = false;
  bool wrong = false;
  bool unwritten = false;
};

/// Compares by value: +0 equals -0, NaN equals nothing. Unwritten is only said of a wrong element.
template <bool kPlain = false>
__host__ __device__ inline ElementResult compare_element(const CompareSpec& spec, const ExpectedInputs& inputs,
                                                         const ComplexValue& x, std::int64_t row, std::int64_t col,
                                                         std::int64_t batch) {
  const cudaDataType_t type = spec.d_shape.type;
  const std::int32_t bytes = element_bytes(type);
  const auto* memory = static_cast<const std::uint8_t*>(spec.d) + element_index(spec.d_shape, row, col, batch) * bytes;
  detail::Decode found{memory};
  with_element_type(type, found);
  const bool is_complex = !kPlain && spec.is_complex;
  const std::int64_t plane = is_complex ? spec.d_shape.plane_offset : 0;
  if (plane != 0) found.imaginary = decode(type, memory + plane);
  ExpectedValue real;
  if constexpr (kPlain) {
    real.value = rounded_to(type, spec.activation == Activation::relu && !(x.real > 0) ? 0 : x.real);
  } else {
    real = stored_as(type, activated(spec, inputs, x.real, row, col), spec.d_scale);
  }
  const double imaginary = is_complex ? rounded_to(type, x.imaginary) : 0;
  ElementResult result{real.value, found.value, real.value != 0 || imaginary != 0};
  result.wrong = !agrees(found.value, real);
  if (!result.wrong && is_complex && !(found.imaginary == imaginary)) {
    result.wrong = true;
    result.expected = imaginary;
    result.actual = found.imaginary;
  }
  if (!result.wrong) return result;
  if (spec.in_place) {
    const std::int32_t c = inputs.c.at(row, col);
    result.unwritten =
        found.value == rounded_to(type, c) && (!is_complex || found.imaginary == rounded_to(type, imaginary_of(c)));
  } else {
    result.unwritten = true;
    for (std::int32_t i = 0; i < bytes; ++i) {
      result.unwritten = result.unwritten && memory[i] == spec.poison && memory[plane + i] == spec.poison;
    }
  }
  return result;
}

/// True when aux is written and holds at this element what it must. No document says what a mask has for an x of 0.
__host__ __device__ inline bool aux_is_right(const CompareSpec& spec, double x, std::int64_t row, std::int64_t col,
                                             std::int64_t batch) {
  const auto* memory = static_cast<const std::uint8_t*>(spec.aux_memory);
  if (spec.aux_use == AuxUse::mask_out) {
    const std::uint32_t byte = memory[element_index(spec.aux_shape, row / 8, col, batch)];
    return x == 0 || ((byte >> (row % 8)) & 1U) == (x > 0 ? 1U : 0U);
  }
  const cudaDataType_t type = spec.aux_shape.type;
  return decode(type, memory + element_index(spec.aux_shape, row, col, batch) * element_bytes(type)) ==
         rounded_to(type, x);
}

/// Elements of the bias gradient in one batch, and terms of each.
__host__ __device__ inline std::int64_t gradient_length(const CompareSpec& spec) {
  return spec.gradient == GradientOf::b ? spec.n : spec.m;
}
__host__ __device__ inline std::int64_t gradient_terms(const CompareSpec& spec) {
  return spec.gradient == GradientOf::d ? spec.n : spec.k;
}

/// The terms first, first + step, ... of one element of the bias gradient, in the batch that is set.
__host__ __device__ inline ExpectedValue gradient_sum(const CompareSpec& spec, const ExpectedInputs& inputs,
                                                      std::int64_t index, std::int64_t first, std::int64_t step) {
  ExpectedValue total;
  const std::int64_t terms = gradient_terms(spec);
  for (std::int64_t t = first; t < terms; t += step) {
    if (spec.gradient != GradientOf::d) {
      total.value += spec.gradient == GradientOf::a ? inputs.a.at(index, t) : inputs.b.at(t, index);
      continue;
    }
    const double x = before_activation(spec, inputs, sum_of(spec, inputs, index, t), index, t).real;
    const ExpectedValue term = activated(spec, inputs, x, index, t);
    total.value += term.value;
    total.tolerance += term.tolerance;
  }
  return total;
}

/// Whether the element holds the whole sum.
__host__ __device__ inline bool gradient_is_right(const CompareSpec& spec, const ExpectedValue& sum, std::int64_t index,
                                                  std::int64_t batch) {
  const cudaDataType_t type = spec.gradient_shape.type;
  const auto* memory = static_cast<const std::uint8_t*>(spec.gradient_memory) +
                       (batch * spec.gradient_shape.batch_stride + index) * element_bytes(type);
  return agrees(decode(type, memory), stored_as(type, sum, 1));
}

}  // namespace lt_audit
