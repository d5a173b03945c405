#include "workload/importers/enumerators.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace lt_audit {
namespace {

template <class Enum>
using Spelling = std::pair<std::string_view, Enum>;

constexpr std::array kDataTypes{
    Spelling<cudaDataType_t>{"R_16F", CUDA_R_16F},         Spelling<cudaDataType_t>{"C_16F", CUDA_C_16F},
    Spelling<cudaDataType_t>{"R_16BF", CUDA_R_16BF},       Spelling<cudaDataType_t>{"C_16BF", CUDA_C_16BF},
    Spelling<cudaDataType_t>{"R_32F", CUDA_R_32F},         Spelling<cudaDataType_t>{"C_32F", CUDA_C_32F},
    Spelling<cudaDataType_t>{"R_64F", CUDA_R_64F},         Spelling<cudaDataType_t>{"C_64F", CUDA_C_64F},
    Spelling<cudaDataType_t>{"R_8I", CUDA_R_8I},           Spelling<cudaDataType_t>{"R_32I", CUDA_R_32I},
    Spelling<cudaDataType_t>{"R_8F_E4M3", CUDA_R_8F_E4M3}, Spelling<cudaDataType_t>{"R_8F_E5M2", CUDA_R_8F_E5M2},
    Spelling<cudaDataType_t>{"C_8I", CUDA_C_8I},
};
constexpr std::array kOrders{Spelling<cublasLtOrder_t>{"COL", CUBLASLT_ORDER_COL},
                             Spelling<cublasLtOrder_t>{"ROW", CUBLASLT_ORDER_ROW}};
constexpr std::array kScaleModes{
    Spelling<cublasLtMatmulMatrixScale_t>{"SCALAR_32F", CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F},
    Spelling<cublasLtMatmulMatrixScale_t>{"VEC16_UE4M3", CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3},
    Spelling<cublasLtMatmulMatrixScale_t>{"VEC32_UE8M0", CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0},
    Spelling<cublasLtMatmulMatrixScale_t>{"OUTER_VEC_32F", CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F},
    Spelling<cublasLtMatmulMatrixScale_t>{"VEC128_32F", CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F},
    Spelling<cublasLtMatmulMatrixScale_t>{"BLK128x128_32F", CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F},
};

void strip(std::string_view& text, std::string_view prefix) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
}

/// "NAME(7)" -> "NAME".
std::string_view without_number(std::string_view text) {
  const auto open = text.find('(');
  return open == std::string_view::npos || !text.ends_with(')') ? text : text.substr(0, open);
}

template <class Enum, std::size_t Count>
std::optional<Enum> spelled(const std::array<Spelling<Enum>, Count>& table, std::string_view name) {
  for (const auto& [spelling, value] : table) {
    if (spelling == name) return value;
  }
  return std::nullopt;
}

template <class Enum, std::size_t Count>
std::optional<Enum> numbered(const std::array<Spelling<Enum>, Count>& table, std::string_view text) {
  const auto number = number_from_text(text);
  for (const auto& [spelling, value] : table) {
    if (number && *number == static_cast<std::uint64_t>(value)) return value;
  }
  return std::nullopt;
}

/// One of ours, whose names are lower case and without the prefix.
template <class Enum>
std::optional<Enum> named_or_numbered(std::span<const Named<Enum>> table, std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (const auto found = find_named(table, lower)) return found;
  const auto number = number_from_text(text);
  for (const auto& entry : table) {
    if (number && *number == static_cast<std::uint64_t>(entry.value)) return entry.value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> number_from_text(std::string_view text, int base) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<cudaDataType_t> data_type_from(std::string_view text) {
  text = without_number(text);
  strip(text, "CUDA_");
  const auto found = spelled(kDataTypes, text);
  return found ? found : numbered(kDataTypes, text);
}

std::optional<cublasComputeType_t> compute_type_from(std::string_view text) {
  text = without_number(text);
  strip(text, "CUBLAS_");
  strip(text, "COMPUTE_");
  return named_or_numbered(compute_types(), text);
}

std::optional<cublasOperation_t> operation_from(std::string_view text) {
  text = without_number(text);
  strip(text, "CUBLAS_");
  strip(text, "OP_");
  return named_or_numbered(operations(), text);
}

std::optional<cublasLtEpilogue_t> epilogue_from(std::string_view text) {
  text = without_number(text);
  strip(text, "CUBLASLT_");
  strip(text, "EPILOGUE_");
  return named_or_numbered(epilogues(), text);
}

std::optional<cublasLtMatmulMatrixScale_t> scale_mode_from(std::string_view text) {
  strip(text, "CUBLASLT_MATMUL_MATRIX_SCALE_");
  return spelled(kScaleModes, text);
}

std::optional<cublasLtOrder_t> order_from(std::string_view text) {
  strip(text, "CUBLASLT_");
  strip(text, "ORDER_");
  return spelled(kOrders, text);
}

}  // namespace lt_audit
