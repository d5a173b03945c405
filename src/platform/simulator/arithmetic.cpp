// Products on the host: operands are packed to double tile by tile, tiles are multiplied with axpy loops that the
// compiler vectorises without reassociating; the epilogue rounds D once.
#include "platform/simulator/arithmetic.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace lt_audit::simulator {
namespace {

/// Rows of D that are summed at once: one panel of A, k by 256 doubles, stays in the second level cache for usual k.
constexpr std::int64_t kTileRows = 256;

template <class T>
T bits_at(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
void put_bits(void* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

/// All 256 values of an FP8 type; going through FP16 is exact, and a table is quicker than the conversion.
std::array<double, 256> fp8_table(__nv_fp8_interpretation_t kind) {
  std::array<double, 256> table{};
  for (std::size_t code = 0; code < table.size(); ++code) {
    const __half_raw half = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), kind);
    table[code] = static_cast<double>(__half2float(__half(half)));
  }
  return table;
}

double load_e4m3(const void* element) {
  static const auto table = fp8_table(__NV_E4M3);
  return table[bits_at<std::uint8_t>(element)];
}

double load_e5m2(const void* element) {
  static const auto table = fp8_table(__NV_E5M2);
  return table[bits_at<std::uint8_t>(element)];
}

double load_f16(const void* element) {
  return static_cast<double>(__half2float(__half(__half_raw{bits_at<std::uint16_t>(element)})));
}

double load_bf16(const void* element) {
  return static_cast<double>(__bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits_at<std::uint16_t>(element)})));
}

template <class T>
double load_plain(const void* element) {
  return static_cast<double>(bits_at<T>(element));
}

using Load = double (*)(const void*);

Load loader_of(cudaDataType_t type) {
  switch (part_type(type)) {
    case CUDA_R_64F:
      return load_plain<double>;
    case CUDA_R_16F:
      return load_f16;
    case CUDA_R_16BF:
      return load_bf16;
    case CUDA_R_8F_E4M3:
      return load_e4m3;
    case CUDA_R_8F_E5M2:
      return load_e5m2;
    case CUDA_R_8I:
      return load_plain<std::int8_t>;
    case CUDA_R_32I:
      return load_plain<std::int32_t>;
    default:
      return load_plain<float>;
  }
}

/// nearbyint in the default rounding mode is round to nearest even; NaN becomes 0, as CUDA's conversions do.
template <class Integer>
Integer saturated(double value) {
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(std::numeric_limits<Integer>::min());
  const double high = static_cast<double>(std::numeric_limits<Integer>::max());
  return static_cast<Integer>(std::clamp(std::nearbyint(value), low, high));
}

/// Nearest even at so many bits of significand.
double rounded_to_bits(double value, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

/// op(X) of one batch as a grid of values: element (row, col) is `row_step` and `col_step` elements from the first.
struct View {
  const std::byte* first = nullptr;
  std::int64_t row_step = 1;
  std::int64_t col_step = 1;
  std::int64_t element_bytes = 0;
  Load load = nullptr;
  int factor_bits = 0;

  View(const Operand& operand, std::int64_t batch, int bits)
      : first(static_cast<const std::byte*>(operand.data)),
        element_bytes(static_cast<std::int64_t>(bytes_of(operand.shape.type))),
        load(loader_of(operand.shape.type)),
        factor_bits(bits) {
    const bool by_rows = operand.shape.order == CUBLASLT_ORDER_ROW;
    // Transposing and changing the order exchange the same two steps.
    (by_rows != operand.transposed ? row_step : col_step) = operand.shape.ld;
    first += batch * operand.shape.batch_stride * element_bytes;
  }

  double at(std::int64_t row, std::int64_t col) const {
    const double value = load(first + (row * row_step + col * col_step) * element_bytes);
    return factor_bits == 0 ? value : rounded_to_bits(value, factor_bits);
  }
};

/// k and the tile's rows of op(A) as [k][rows]. `finite` becomes false if a value is not.
void pack_a(const View& a, const ScaleTable& scale, std::int64_t row0, std::int64_t rows, std::int64_t k,
            std::vector<double>& packed, bool* finite) {
  packed.resize(static_cast<std::size_t>(rows * k));
  bool all_finite = true;
  for (std::int64_t p = 0; p < k; ++p) {
    double* const line = packed.data() + p * rows;
    for (std::int64_t i = 0; i < rows; ++i) {
      line[i] = a.at(row0 + i, p);
      if (scale.along_k()) line[i] *= scale.at(row0 + i, p);
      all_finite = all_finite && std::isfinite(line[i]);
    }
  }
  *finite = all_finite;
}

/// One column of op(B) restricted to [k0, k1): positions and values. Zeros are left out when A is finite (0 * Inf is
/// NaN).
struct Column {
  std::vector<std::int64_t> position;
  std::vector<double> value;

  void read(const View& b, const ScaleTable& scale, std::int64_t col, std::int64_t k0, std::int64_t k1,
            bool skip_zeros) {
    position.clear();
    value.clear();
    for (std::int64_t p = k0; p < k1; ++p) {
      double entry = b.at(p, col);
      if (scale.along_k()) entry *= scale.at(col, p);
      if (skip_zeros && entry == 0) continue;
      position.push_back(p);
      value.push_back(entry);
    }
  }
};

/// sum[i] += A[i][p] * B[p] for all p in order; four at a time, so that sum is loaded and stored a quarter as often.
void add_column(const std::vector<double>& packed_a, std::int64_t rows, const Column& column, double* __restrict sum) {
  const auto line = [&](std::size_t at) { return packed_a.data() + column.position[at] * rows; };
  const std::size_t count = column.position.size();
  std::size_t at = 0;
  for (; at + 4 <= count; at += 4) {
    const double *a0 = line(at), *a1 = line(at + 1), *a2 = line(at + 2), *a3 = line(at + 3);
    const double b0 = column.value[at], b1 = column.value[at + 1], b2 = column.value[at + 2], b3 = column.value[at + 3];
    for (std::int64_t i = 0; i < rows; ++i) sum[i] = sum[i] + a0[i] * b0 + a1[i] * b1 + a2[i] * b2 + a3[i] * b3;
  }
  for (; at < count; ++at) {
    const double* a0 = line(at);
    const double b0 = column.value[at];
    for (std::int64_t i = 0; i < rows; ++i) sum[i] += a0[i] * b0;
  }
}

struct Tile {
  std::int64_t batch = 0, row0 = 0, rows = 0, col = 0;
};

/// Partial sums in the workspace: [split][batch][col][row].
std::byte* partial_sums(const Product& p, int split, const Tile& tile) {
  const std::int64_t batches = p.d_shape.batch_count;
  const std::int64_t element = ((split * batches + tile.batch) * p.n + tile.col) * p.m + tile.row0;
  return static_cast<std::byte*>(p.workspace) + element * static_cast<std::int64_t>(bytes_of(p.accumulator));
}

/// The sums of one column of a tile; with split-K through the workspace, as the device does it, part after part.
void sum_column(const Product& p, const std::vector<double>& packed_a, bool finite, const View& b, const Tile& tile,
                Column& column, std::vector<double>& sum) {
  const auto size = static_cast<std::int64_t>(bytes_of(p.accumulator));
  for (int split = 0; split < p.split_k; ++split) {
    std::fill(sum.begin(), sum.end(), 0.0);
    column.read(b, p.table_b, tile.col, p.k * split / p.split_k, p.k * (split + 1) / p.split_k, finite);
    add_column(packed_a, tile.rows, column, sum.data());
    if (p.split_k == 1) return;
    std::byte* const partial = partial_sums(p, split, tile);
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      store_value(p.accumulator, partial + i * size, sum[static_cast<std::size_t>(i)]);
    }
  }
  std::fill(sum.begin(), sum.end(), 0.0);
  for (int split = 0; split < p.split_k; ++split) {
    const std::byte* const partial = partial_sums(p, split, tile);
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      sum[static_cast<std::size_t>(i)] += load_value(p.accumulator, partial + i * size);
    }
  }
}

}  // namespace

double load_value(cudaDataType_t type, const void* element) { return loader_of(type)(element); }

double load_imaginary(cudaDataType_t type, const void* element) {
  if (!is_complex(type)) return 0;
  return load_value(type, static_cast<const std::byte*>(element) + bytes_of(part_type(type)));
}

void store_value(cudaDataType_t type, void* element, double value) {
  switch (type) {
    case CUDA_R_64F:
      return put_bits(element, value);
    case CUDA_R_16F:
      return put_bits(element, static_cast<__half_raw>(__double2half(value)).x);
    case CUDA_R_16BF:
      return put_bits(element, static_cast<__nv_bfloat16_raw>(__double2bfloat16(value)).x);
    case CUDA_R_8F_E4M3:
      return put_bits(element, __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E4M3));
    case CUDA_R_8F_E5M2:
      return put_bits(element, __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E5M2));
    case CUDA_R_8I:
      return put_bits(element, saturated<std::int8_t>(value));
    case CUDA_R_32I:
      return put_bits(element, saturated<std::int32_t>(value));
    default:
      return put_bits(element, static_cast<float>(value));
  }
}

int factor_bits_of(cublasComputeType_t compute_type, bool tf32_is_off) {
  switch (compute_type) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return tf32_is_off ? 0 : 11;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return 11;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return 8;
    default:
      return 0;
  }
}

std::size_t product_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t batch_count, int split_k,
                                    cudaDataType_t accumulator) {
  if (split_k <= 1) return 0;
  return static_cast<std::size_t>(m * n * batch_count * split_k) * bytes_of(accumulator);
}

std::int64_t index_of(const MatrixShape& shape, std::int64_t row, std::int64_t col, std::int64_t batch) {
  const bool by_rows = shape.order == CUBLASLT_ORDER_ROW;
  return batch * shape.batch_stride + (by_rows ? row * shape.ld + col : col * shape.ld + row);
}

double ScaleTable::at(std::int64_t index, std::int64_t position) const {
  const auto* table = static_cast<const std::byte*>(data);
  const std::int64_t blocks = (k + 127) / 128;
  std::int64_t element = index;
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F) element = position / 128 * outer + index;
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F) {
    element = index / 128 * ((blocks + 3) / 4 * 4) + position / 128;
  }
  return load_value(CUDA_R_32F, table + element * static_cast<std::int64_t>(sizeof(float)));
}

std::size_t bytes_of_span(const MatrixShape& shape) {
  if (shape.rows <= 0 || shape.cols <= 0 || shape.batch_count <= 0) return 0;
  const std::int64_t last = index_of(shape, shape.rows - 1, shape.cols - 1, shape.batch_count - 1);
  return static_cast<std::size_t>(shape.plane_offset) +
         static_cast<std::size_t>(last + 1) * bytes_of(shape.stored_type());
}

void run_product(const Product& p) {
  if (is_complex(p.d_shape.type)) return run_complex_product(p);
  EpilogueWriter writer(p);
  std::vector<double> packed_a;
  std::vector<double> sum;
  Column column;
  for (std::int64_t batch = 0; batch < p.d_shape.batch_count; ++batch) {
    writer.begin_batch();
    const View a(p.a, batch, p.factor_bits);
    const View b(p.b, batch, p.factor_bits);
    for (std::int64_t row0 = 0; row0 < p.m; row0 += kTileRows) {
      const std::int64_t rows = std::min(kTileRows, p.m - row0);
      bool finite = true;
      pack_a(a, p.table_a, row0, rows, p.k, packed_a, &finite);
      sum.assign(static_cast<std::size_t>(rows), 0.0);
      for (std::int64_t col = 0; col < p.n; ++col) {
        const Tile tile{batch, row0, rows, col};
        sum_column(p, packed_a, finite, b, tile, column, sum);
        writer.write(batch, row0, col, sum);
      }
    }
    writer.end_batch(batch);
  }
  writer.finish();
}

}  // namespace lt_audit::simulator
