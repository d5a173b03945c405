#include "matmul/exact_inputs.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "platform/audit_math.h"

namespace lt_audit {
namespace {

/// Integers up to this are exact in a type, and so is their sum in any order while partial sums stay within it.
double exact_limit(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F:
      return 0x1p40;
    case CUDA_R_32F:
    case CUDA_C_32F:
      return 0x1p24;
    case CUDA_R_16F:
    case CUDA_C_16F:
      return 2048;
    case CUDA_R_16BF:
    case CUDA_C_16BF:
      return 256;
    case CUDA_R_8F_E4M3:
      return 16;
    case CUDA_R_8F_E5M2:
      return 8;
    case CUDA_R_8I:
    case CUDA_C_8I:
      return 127;
    default:
      return 0x1p30;
  }
}

/// What the sum inside the kernel can hold. FP8 tensor cores of sm_89 and sm_90 add with fewer bits than FP32 (about 14
/// of significand): sums below 2^11 leave room for the alignment shifts. A split-K reduction may add partial sums in
/// D's type (CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE), so a 16-bit D bounds the sum too.
double accumulator_limit(const MatmulProblem& p) {
  double limit = 0x1p40;
  switch (p.compute_type) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      limit = 2048;
      break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      limit = 0x1p30;
      break;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      break;
    default:
      limit = 0x1p24;
  }
  if (is_fp8(p.type_a) || is_fp8(p.type_b)) limit = std::min(limit, 0x1p11);
  return std::min(limit, exact_limit(p.scale_type));
}

/// Largest magnitude of D that still is its value rounded once: the exact range for everything but FP8, whose exact
/// range (16, 8) would leave hardly any terms. There D's own rounding is part of the comparison, within its finite
/// range.
double result_limit(const MatmulProblem& p) {
  if (p.type_d == CUDA_R_8F_E4M3) return 240;
  if (p.type_d == CUDA_R_8F_E5M2) return 1024;
  return exact_limit(p.type_d);
}

/// Integers up to this spread over the whole significand of a type and several binades, and their products do over more
/// than FP32 holds.
std::int32_t rounding_amplitude(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F:
      return 1 << 30;
    case CUDA_R_32F:
    case CUDA_C_32F:
      return 1 << 23;
    case CUDA_R_8F_E4M3:
      return 448;
    default:
      return 32767;
  }
}

/// Two products of real numbers in each part of a complex one.
double products_per_term(const MatmulProblem& p) { return is_complex(p.type_a) ? 2 : 1; }

/// What an epilogue asks of x. GELU is 0 or x outside of a few units around 0, where nothing is learned of it; a
/// gradient over the columns of D adds n of them, in FP32, and in FP16 under COMPUTE_16F.
double epilogue_limit(const MatmulProblem& p) {
  if (has_gelu(p.epilogue)) return 8;
  const bool sums_d = has_bias_gradient(p.epilogue) && has_aux(p.epilogue);
  const bool half = p.compute_type == CUBLAS_COMPUTE_16F || p.compute_type == CUBLAS_COMPUTE_16F_PEDANTIC;
  const double exact_sum = half ? 2048 : 0x1p24;
  return sums_d ? std::max(exact_sum / static_cast<double>(std::max<std::int64_t>(p.n, 1)), 1.0) : 0x1p40;
}

constexpr std::int32_t kLargestFactor = 2;

/// A pattern whose first value is the largest factor.
ValuePattern scalar_pattern(std::uint64_t seed) {
  ValuePattern pattern{seed, kLargestFactor, 1, false};
  while (std::abs(value_of(pattern, 1, 0, 0, 0)) != kLargestFactor) ++pattern.seed;
  return pattern;
}

/// Patterns of the factors; returns the largest factor of a product of A and B that is not in alpha_factor.
double choose_factors(const MatmulProblem& p, std::uint64_t seed, ExactInputs& inputs) {
  double inside = 1;
  std::uint64_t next = seed * 16 + 9;
  const auto choose = [&](const std::optional<cublasLtMatmulMatrixScale_t>& mode, ValuePattern& pattern) {
    pattern = scalar_pattern(next++);
    const bool scalar = mode && *mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
    if (mode && !scalar) inside *= kLargestFactor;
    return scalar ? static_cast<double>(value_of(pattern, 1, 0, 0, 0)) : 1.0;
  };
  inputs.alpha_factor *= choose(p.scale_a, inputs.scale_a);
  inputs.alpha_factor *= choose(p.scale_b, inputs.scale_b);
  inputs.beta_factor *= choose(p.scale_c, inputs.scale_c);
  inputs.d_scale = choose(p.scale_d, inputs.scale_d);
  return inside;
}

bool is_whole(double value) { return value == std::floor(value); }
bool has_whole_scalars(const MatmulProblem& p) {
  return is_whole(p.alpha) && is_whole(p.beta) && is_whole(p.alpha_imaginary) && is_whole(p.beta_imaginary);
}

/// What alpha and beta make of the larger part of a number, at most.
double largest_alpha(const MatmulProblem& p, const ExactInputs& inputs) {
  return (std::abs(p.alpha) + std::abs(p.alpha_imaginary)) * std::abs(inputs.alpha_factor);
}
double largest_beta(const MatmulProblem& p, const ExactInputs& inputs) {
  return (std::abs(p.beta) + std::abs(p.beta_imaginary)) * std::abs(inputs.beta_factor);
}

}  // namespace

ExactInputs choose_inputs(const MatmulProblem& p, std::uint64_t seed, Inputs kind) {
  ExactInputs inputs;
  const double inside = choose_factors(p, seed, inputs) * products_per_term(p);
  double limit = std::min({accumulator_limit(p), result_limit(p) / std::abs(inputs.d_scale), epilogue_limit(p)});
  // Fractions of a quarter cost two bits.
  if (!has_whole_scalars(p)) limit /= 4;
  const std::int32_t c_amplitude = limit >= 64 ? 4 : 1;
  const std::int32_t bias_amplitude = c_amplitude;
  const double alpha = std::max(largest_alpha(p, inputs), 0.25) * inside;
  const double beta = largest_beta(p, inputs);
  double budget = limit - beta * c_amplitude - (has_bias(p.epilogue) ? bias_amplitude : 0);
  budget = std::max(std::floor(budget / alpha), 1.0);

  const auto k = std::max<std::int64_t>(p.k, 1);
  std::int32_t a_amplitude = 1;
  std::int32_t b_amplitude = 1;
  std::int64_t block = 1;
  if (budget < static_cast<double>(k)) {
    const auto terms = static_cast<std::int64_t>(budget);
    block = (k + terms - 1) / terms;
  } else {
    // 8 is exact in every type and enough to tell elements apart.
    const double per_term = budget / static_cast<double>(k);
    a_amplitude = std::clamp(static_cast<std::int32_t>(std::sqrt(per_term)), 1, 8);
    b_amplitude = std::clamp(static_cast<std::int32_t>(per_term / a_amplitude), 1, 8);
  }
  inputs.a = {seed * 4 + 1, a_amplitude, 1, p.transa != CUBLAS_OP_N};
  inputs.b = {seed * 4 + 2, b_amplitude, block, p.transb != CUBLAS_OP_N};
  inputs.c = {seed * 4 + 3, c_amplitude, 1, false};
  inputs.bias = {seed * 4 + 4, bias_amplitude, 1, false};
  // Every bit of a mask occurs, and of dgelu's argument what is neither 0 nor 1 times x.
  inputs.aux = {seed * 4 + 5, has_aux_mask(p.epilogue) ? 127 : 2, 1, false};
  inputs.terms = p.k == 0 ? 0 : (k + block - 1) / block;
  const double largest = static_cast<double>(inputs.terms) * a_amplitude * b_amplitude;
  const double reach =
      largest_alpha(p, inputs) * inside * largest + beta * c_amplitude + (has_bias(p.epilogue) ? bias_amplitude : 0);
  inputs.exact_in_d = reach * std::abs(inputs.d_scale) <= exact_limit(p.type_d) && has_whole_scalars(p);
  const bool wide = (p.type_a == CUDA_R_32F || p.type_a == CUDA_R_64F) && p.type_b == p.type_a && p.type_d == p.type_a;
  if (kind == Inputs::single_products && wide) {
    // D is the product rounded once, in any order of summation: what is added to it is 0.
    inputs.a.amplitude = inputs.b.amplitude = rounding_amplitude(p.type_a);
    inputs.b.sparse_block = k;
    inputs.terms = 1;
    inputs.exact_in_d = false;
  }
  return inputs;
}

RoundingInputs choose_rounding_inputs(const MatmulProblem& p, std::uint64_t seed) {
  RoundingInputs rounding{choose_inputs(p, seed)};
  auto& inputs = rounding.inputs;
  if (is_integer(p.type_a) || is_integer(p.type_b)) return rounding;
  const auto k = static_cast<double>(std::max<std::int64_t>(p.k, 1));
  inputs.b.sparse_block = 1;
  inputs.terms = p.k;
  inputs.exact_in_d = false;
  if (p.scale_type == CUDA_R_16F) {
    // alpha reaches no lower than 2^-24 here, so the sums themselves must fit: random signs make them about the square
    // root of k times a product, and 2^13 leaves three binades to FP16's largest value.
    const double amplitude = std::sqrt(0x1p13 / std::sqrt(k));
    inputs.a.amplitude = inputs.b.amplitude = std::max(static_cast<std::int32_t>(amplitude), 1);
    return rounding;
  }
  inputs.a.amplitude = rounding_amplitude(p.type_a);
  inputs.b.amplitude = rounding_amplitude(p.type_b);
  // Products up to about 16: any D type holds them with room for the largest of many sums.
  const double largest = static_cast<double>(inputs.a.amplitude) * inputs.b.amplitude * std::sqrt(k);
  rounding.alpha_factor = std::exp2(4 - std::ceil(std::log2(largest)));
  return rounding;
}

}  // namespace lt_audit
