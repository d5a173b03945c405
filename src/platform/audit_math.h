// The arithmetic that the audit's kernels share on the host and on the device: element types, the value pattern, where
// an element of a guarded region lies, and what D must hold. One definition, so that the simulator and the GPU cannot
// differ.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "platform/audit_kernels.h"

namespace lt_audit {

/// What a matrix element that is no integer (NaN, infinity, a fraction) counts as in the Freivalds check: odd, so that
/// one such element cannot cancel, and far outside of any result.
inline constexpr std::int32_t kNotAnInteger = 0x6B8B4567;

/// The value as an integer, kNotAnInteger when it is none.
__host__ __device__ inline std::int32_t exact_integer(float value) {
  if (!(fabsf(value) < 2147483648.0F)) return kNotAnInteger;
  const auto integer = static_cast<std::int32_t>(value);
  return static_cast<float>(integer) == value ? integer : kNotAnInteger;
}

/// Half away from zero would differ from cuBLASLt, which rounds to nearest even and saturates (INT8 tables of
/// cublasLtMatmul).
__host__ __device__ inline double rounded_and_clamped(double value, double low, double high) {
  if (!(value == value)) return 0;
  const double rounded = rint(value);
  return rounded < low ? low : (rounded > high ? high : rounded);
}

/// One matrix type: Bits as it lies in memory; decode is exact, encode rounds to nearest even, from_int is encode for
/// small integers without FP64 arithmetic, to_int the value times a power of two as an integer.
template <cudaDataType_t Type>
struct Element;

template <>
struct Element<CUDA_R_64F> {
  using Bits = double;
  using Integer = std::int64_t;
  __host__ __device__ static double decode(Bits bits) { return bits; }
  __host__ __device__ static Bits encode(double value) { return value; }
  __host__ __device__ static Bits from_int(std::int32_t value) { return value; }
  __host__ __device__ static Integer to_int(Bits bits, float scale) {
    const double value = bits * static_cast<double>(scale);
    if (!(fabs(value) < 9223372036854775808.0)) return kNotAnInteger;
    const auto integer = static_cast<std::int64_t>(value);
    return static_cast<double>(integer) == value ? integer : kNotAnInteger;
  }
};

template <>
struct Element<CUDA_R_32F> {
  using Bits = float;
  using Integer = std::int32_t;
  __host__ __device__ static float to_float(Bits bits) { return bits; }
  __host__ __device__ static double decode(Bits bits) { return static_cast<double>(bits); }
  __host__ __device__ static Bits encode(double value) { return static_cast<float>(value); }
  __host__ __device__ static Bits from_int(std::int32_t value) { return static_cast<float>(value); }
  __host__ __device__ static Integer to_int(Bits bits, float scale) { return exact_integer(bits * scale); }
};

template <>
struct Element<CUDA_R_16F> {
  using Bits = __half_raw;
  using Integer = std::int32_t;
  __host__ __device__ static float to_float(Bits bits) { return __half2float(__half(bits)); }
  __host__ __device__ static double decode(Bits bits) { return static_cast<double>(to_float(bits)); }
  __host__ __device__ static Bits encode(double value) { return __half_raw(__double2half(value)); }
  __host__ __device__ static Bits from_int(std::int32_t value) {
    return __half_raw(__float2half_rn(static_cast<float>(value)));
  }
  __host__ __device__ static Integer to_int(Bits bits, float scale) { return exact_integer(to_float(bits) * scale); }
};

template <>
struct Element<CUDA_R_16BF> {
  using Bits = __nv_bfloat16_raw;
  using Integer = std::int32_t;
  __host__ __device__ static float to_float(Bits bits) { return __bfloat162float(__nv_bfloat16(bits)); }
  __host__ __device__ static double decode(Bits bits) { return static_cast<double>(to_float(bits)); }
  __host__ __device__ static Bits encode(double value) { return __nv_bfloat16_raw(__double2bfloat16(value)); }
  __host__ __device__ static Bits from_int(std::int32_t value) {
    return __nv_bfloat16_raw(__float2bfloat16_rn(static_cast<float>(value)));
  }
  __host__ __device__ static Integer to_int(Bits bits, float scale) { return exact_integer(to_float(bits) * scale); }
};

/// FP8 saturates to the largest finite value: cuBLASLt's conversion to an FP8 D.
template <__nv_fp8_interpretation_t Kind>
struct Fp8Element {
  using Bits = __nv_fp8_storage_t;
  using Integer = std::int32_t;
  __host__ __device__ static float to_float(Bits bits) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, Kind)));
  }
  __host__ __device__ static double decode(Bits bits) { return static_cast<double>(to_float(bits)); }
  __host__ __device__ static Bits encode(double value) { return __nv_cvt_double_to_fp8(value, __NV_SATFINITE, Kind); }
  __host__ __device__ static Bits from_int(std::int32_t value) {
    return __nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, Kind);
  }
  __host__ __device__ static Integer to_int(Bits bits, float scale) { return exact_integer(to_float(bits) * scale); }
};
template <>
struct Element<CUDA_R_8F_E4M3> : Fp8Element<__NV_E4M3> {};
template <>
struct Element<CUDA_R_8F_E5M2> : Fp8Element<__NV_E5M2> {};

template <>
struct Element<CUDA_R_8I> {
  using Bits = std::int8_t;
  using Integer = std::int32_t;
  __host__ __device__ static double decode(Bits bits) { return bits; }
  __host__ __device__ static Bits encode(double value) {
    return static_cast<std::int8_t>(rounded_and_clamped(value, -128, 127));
  }
  __host__ __device__ static Bits from_int(std::int32_t value) {
    return static_cast<std::int8_t>(value < -128 ? -128 : (value > 127 ? 127 : value));
  }
  __host__ __device__ static Integer to_int(Bits bits, float scale) { return bits * static_cast<std::int32_t>(scale); }
};

template <>
struct Element<CUDA_R_32I> {
  using Bits = std::int32_t;
  using Integer = std::int64_t;
  __host__ __device__ static double decode(Bits bits) { return bits; }
  __host__ __device__ static Bits encode(double value) {
    return static_cast<std::int32_t>(rounded_and_clamped(value, -2147483648.0, 2147483647.0));
  }
  __host__ __device__ static Bits from_int(std::int32_t value) { return value; }
  __host__ __device__ static Integer to_int(Bits bits, float scale) { return bits * static_cast<std::int64_t>(scale); }
};

/// The imaginary part that goes with a pattern's value: as large, and of the same or the other sign.
__host__ __device__ inline std::int32_t imaginary_of(std::int32_t value) { return (value & 1) != 0 ? value : -value; }

/// A complex element; decode is its real part.
template <cudaDataType_t Type>
struct ComplexElement {
  using Part = Element<Type>;
  struct Bits {
    typename Part::Bits real, imaginary;
  };
  using Integer = std::int64_t;
  __host__ __device__ static double decode(Bits bits) { return Part::decode(bits.real); }
  __host__ __device__ static double decode_imaginary(Bits bits) { return Part::decode(bits.imaginary); }
  __host__ __device__ static Bits encode(double value) { return {Part::encode(value), Part::encode(0)}; }
  __host__ __device__ static Bits from_int(std::int32_t value) {
    return {Part::from_int(value), Part::from_int(imaginary_of(value))};
  }
  /// The Freivalds check is of real matrices.
  __host__ __device__ static Integer to_int(Bits, float) { return kNotAnInteger; }
};
template <>
struct Element<CUDA_C_64F> : ComplexElement<CUDA_R_64F> {};
template <>
struct Element<CUDA_C_32F> : ComplexElement<CUDA_R_32F> {};
template <>
struct Element<CUDA_C_16F> : ComplexElement<CUDA_R_16F> {};
template <>
struct Element<CUDA_C_16BF> : ComplexElement<CUDA_R_16BF> {};
template <>
struct Element<CUDA_C_8I> : ComplexElement<CUDA_R_8I> {};

/// Calls function.operator()<Type>() for the matrix type; a type that the audit does not know does nothing.
template <class Function>
__host__ __device__ inline void with_element_type(cudaDataType_t type, Function& function) {
  switch (type) {
    case CUDA_R_64F:
      return function.template run<CUDA_R_64F>();
    case CUDA_R_32F:
      return function.template run<CUDA_R_32F>();
    case CUDA_R_16F:
      return function.template run<CUDA_R_16F>();
    case CUDA_R_16BF:
      return function.template run<CUDA_R_16BF>();
    case CUDA_R_8F_E4M3:
      return function.template run<CUDA_R_8F_E4M3>();
    case CUDA_R_8F_E5M2:
      return function.template run<CUDA_R_8F_E5M2>();
    case CUDA_R_8I:
      return function.template run<CUDA_R_8I>();
    case CUDA_R_32I:
      return function.template run<CUDA_R_32I>();
    case CUDA_C_32F:
      return function.template run<CUDA_C_32F>();
    case CUDA_C_64F:
      return function.template run<CUDA_C_64F>();
    case CUDA_C_16F:
      return function.template run<CUDA_C_16F>();
    case CUDA_C_16BF:
      return function.template run<CUDA_C_16BF>();
    case CUDA_C_8I:
      return function.template run<CUDA_C_8I>();
    default:
      return;
  }
}

namespace detail {
struct Decode {
  const void* memory;
  double value = 0;
  double imaginary = 0;
  template <cudaDataType_t Type>
  __host__ __device__ void run() {
    typename Element<Type>::Bits bits;
    memcpy(&bits, memory, sizeof bits);
    value = Element<Type>::decode(bits);
    if constexpr (requires { Element<Type>::decode_imaginary(bits); }) {
      imaginary = Element<Type>::decode_imaginary(bits);
    }
  }
};
struct Encode {
  double value;
  void* memory;
  template <cudaDataType_t Type>
  __host__ __device__ void run() {
    const auto bits = Element<Type>::encode(value);
    memcpy(memory, &bits, sizeof bits);
  }
};
struct Round {
  double value;
  template <cudaDataType_t Type>
  __host__ __device__ void run() {
    value = Element<Type>::decode(Element<Type>::encode(value));
  }
};
struct Size {
  std::int32_t bytes = 0;
  template <cudaDataType_t Type>
  __host__ __device__ void run() {
    bytes = static_cast<std::int32_t>(sizeof(typename Element<Type>::Bits));
  }
};
}  // namespace detail

/// The value of the element of this type at `memory`; 0 for a type that the audit does not know.
__host__ __device__ inline double decode(cudaDataType_t type, const void* memory) {
  detail::Decode function{memory};
  with_element_type(type, function);
  return function.value;
}
/// Writes the value in this type: nearest even; i8, i32 and FP8 saturate.
__host__ __device__ inline void encode(cudaDataType_t type, double value, void* memory) {
  detail::Encode function{value, memory};
  with_element_type(type, function);
}
/// decode(encode(value)).
__host__ __device__ inline double rounded_to(cudaDataType_t type, double value) {
  detail::Round function{value};
  with_element_type(type, function);
  return function.value;
}
/// Bytes of an element; bytes_of() of the model is not callable on the device.
__host__ __device__ inline std::int32_t element_bytes(cudaDataType_t type) {
  detail::Size function;
  with_element_type(type, function);
  return function.bytes;
}

/// Finaliser of splitmix64.
__host__ __device__ inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
/// Both halves of a product, folded. Two instructions on a GPU, where shifts are scarcer than multiplications.
__host__ __device__ inline std::uint32_t folded_product(std::uint32_t x, std::uint32_t factor) {
  const std::uint64_t product = static_cast<std::uint64_t>(x) * factor;
  return static_cast<std::uint32_t>(product) ^ static_cast<std::uint32_t>(product >> 32);
}
/// Two rounds: after one, values a Fibonacci number of rows apart would mostly agree.
__host__ __device__ inline std::uint32_t mix32(std::uint32_t x) {
  return folded_product(folded_product(x, 0xE9846AF9U), 0x85EBCA6BU);
}
/// 0 .. bound - 1 from the high bits.
__host__ __device__ inline std::uint32_t scaled_to(std::uint32_t hash, std::uint32_t bound) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(hash) * bound) >> 32);
}

/// Random entry of a Freivalds vector: any 32-bit integer.
__host__ __device__ inline std::int32_t vector_entry(std::uint64_t seed, int vector, std::int64_t index) {
  const std::uint64_t hash = mix64(seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(index + 1) +
                                   0xD1B54A32D192ED03ULL * static_cast<std::uint64_t>(vector + 1));
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(hash >> 32));
}

/// Division by a number that stays the same, by multiplication with 2^64 / divisor rounded up: exact for dividends
/// below 2^32, and others are divided. On the GPU three instructions instead of twenty, or of a subroutine.
class Divisor {
 public:
  __host__ __device__ Divisor() : Divisor(1) {}
  __host__ __device__ explicit Divisor(std::int64_t divisor)
      : divisor_(divisor),
        reciprocal_(divisor > 1 && (divisor >> 32) == 0 ? ~0ULL / static_cast<std::uint64_t>(divisor) + 1 : 0) {}

  __host__ __device__ std::int64_t value() const { return divisor_; }
  /// `dividend` is not negative.
  __host__ __device__ std::int64_t quotient(std::int64_t dividend) const {
    if (reciprocal_ != 0 && (dividend >> 32) == 0) {
      const std::uint64_t x = static_cast<std::uint32_t>(dividend);
      const std::uint64_t low = (x * static_cast<std::uint32_t>(reciprocal_)) >> 32;
      return static_cast<std::int64_t>((x * (reciprocal_ >> 32) + low) >> 32);
    }
    return divisor_ == 1 ? dividend : dividend / divisor_;
  }

 private:
  std::int64_t divisor_;
  std::uint64_t reciprocal_;
};

/// Reads a ValuePattern at op-positions of one batch. Runs of neighbours have functions of their own, because the
/// kernels over whole matrices are bound by instructions: a dense value costs about a dozen.
class PatternReader {
 public:
  /// `op_rows` bounds the last sparse block.
  __host__ __device__ PatternReader(const ValuePattern& pattern, std::int64_t op_rows)
      : PatternReader(pattern, op_rows, Divisor(pattern.sparse_block)) {}
  /// `block` is the pattern's sparse_block, prepared by the caller once for all threads.
  __host__ __device__ PatternReader(const ValuePattern& pattern, std::int64_t op_rows, const Divisor& block)
      : seed_(pattern.seed), amplitude_(pattern.amplitude), divisor_(block), block_(block.value()), op_rows_(op_rows) {
    set_batch(0);
  }

  __host__ __device__ void set_batch(std::int64_t batch) {
    if (batch == batch_) return;
    batch_ = batch;
    const std::uint64_t key = mix64(seed_ + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(batch + 1));
    key_ = static_cast<std::uint32_t>(key >> 32);
    block_key_ = static_cast<std::uint32_t>(key);
  }

  __host__ __device__ std::int32_t at(std::int64_t row, std::int64_t col) const {
    if (block_ > 1 && row != nonzero_row(divisor_.quotient(row), col)) return 0;
    return nonzero_at(row, col_hash(col));
  }

  /// out[i] = at(row + i, col).
  template <int N>
  __host__ __device__ void read_column(std::int64_t row, std::int64_t col, std::int32_t (&out)[N]) const {
    const std::uint32_t hash = col_hash(col);
    if (block_ <= 1) {
      for (int i = 0; i < N; ++i) out[i] = nonzero_at(row + i, hash);
      return;
    }
    if (block_ < N) {
      for (int i = 0; i < N; ++i) out[i] = at(row + i, col);
      return;
    }
    // A run meets two blocks at most. Selects instead of branches, because the places differ from lane to lane.
    const std::int64_t block = divisor_.quotient(row);
    const bool meets_next = (block + 1) * block_ < row + N;
    const auto first = static_cast<std::int32_t>(nonzero_row(block, col) - row);
    const auto second = meets_next ? static_cast<std::int32_t>(nonzero_row(block + 1, col) - row) : -1;
    const std::int32_t first_value = nonzero_at(row + first, hash);
    const std::int32_t second_value = nonzero_at(row + second, hash);
    for (int i = 0; i < N; ++i) out[i] = i == first ? first_value : (i == second ? second_value : 0);
  }

  /// out[i] = at(row, col + i).
  template <int N>
  __host__ __device__ void read_row(std::int64_t row, std::int64_t col, std::int32_t (&out)[N]) const {
    const std::int64_t block = block_ > 1 ? divisor_.quotient(row) : row;
    for (int i = 0; i < N; ++i) {
      const bool nonzero = block_ <= 1 || row == nonzero_row(block, col + i);
      out[i] = nonzero ? nonzero_at(row, col_hash(col + i)) : 0;
    }
  }

  /// What all rows of a column have in common.
  __host__ __device__ std::uint32_t col_hash(std::int64_t col) const {
    return mix32(static_cast<std::uint32_t>(col) * 0x9E3779B1U + key_);
  }
  /// The value at a row that is not 0.
  __host__ __device__ std::int32_t nonzero_at(std::int64_t row, std::uint32_t hash_of_col) const {
    const std::uint32_t hash = mix32(hash_of_col + static_cast<std::uint32_t>(row) * 0xC2B2AE3DU);
    // -amplitude .. amplitude - 1, then the upper half moves up by one.
    const std::int32_t value =
        static_cast<std::int32_t>(scaled_to(hash, 2 * static_cast<std::uint32_t>(amplitude_))) - amplitude_;
    return value + 1 + (value >> 31);
  }

  /// The row of the only nonzero in block `block` of column `col`; with sparse_block 1 the row `block` itself.
  __host__ __device__ std::int64_t nonzero_row(std::int64_t block, std::int64_t col) const {
    const std::int64_t begin = block * block_;
    const std::uint32_t place = mix32(mix32(static_cast<std::uint32_t>(col) * 0x9E3779B1U + block_key_) +
                                      static_cast<std::uint32_t>(block) * 0xC2B2AE3DU);
    // Differences modulo 2^32: blocks are shorter than that.
    const std::uint32_t left = static_cast<std::uint32_t>(op_rows_) - static_cast<std::uint32_t>(begin);
    const auto length = static_cast<std::uint32_t>(block_);
    return begin + scaled_to(place, begin + block_ > op_rows_ ? left : length);
  }

  /// Nonzeros of a column.
  __host__ __device__ std::int64_t blocks() const { return (op_rows_ + block_ - 1) / block_; }

 private:
  std::uint64_t seed_;
  std::int32_t amplitude_;
  Divisor divisor_;
  std::int64_t block_;
  std::int64_t op_rows_;
  std::int64_t batch_ = -1;
  std::uint32_t key_ = 0;
  std::uint32_t block_key_ = 0;
};

/// The value of a pattern at one op-position; op_rows as for PatternReader.
__host__ __device__ inline std::int32_t value_of(const ValuePattern& pattern, std::int64_t op_rows, std::int64_t row,
                                                 std::int64_t col, std::int64_t batch) {
  PatternReader reader(pattern, op_rows);
  reader.set_batch(batch);
  return reader.at(row, col);
}

/// Index of an element of a matrix in memory.
__host__ __device__ inline std::int64_t element_index(const MatrixShape& shape, std::int64_t row, std::int64_t col,
                                                      std::int64_t batch) {
  const bool by_col = shape.order == CUBLASLT_ORDER_COL;
  return batch * shape.batch_stride + (by_col ? col * shape.ld + row : row * shape.ld + col);
}

}  // namespace lt_audit
