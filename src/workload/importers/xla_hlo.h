// The text of XLA's HLO: one custom call cut into its parts, shapes, and matrices as they lie in memory. All bounded:
// the text is untrusted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/importers/enumerators.h"

namespace lt_audit::hlo {

using Dimensions = std::vector<std::int64_t>;

inline constexpr std::string_view kTarget = "custom_call_target=\"__cublas$";
inline constexpr std::string_view kCall = " custom-call(";
/// An instruction up to its target stands in the first of these.
inline constexpr std::size_t kInstructionBytes = 65536;
inline constexpr std::size_t kMostDepth = 16;
inline constexpr std::size_t kMostItems = 64;
inline constexpr std::size_t kMostRank = 8;
inline constexpr std::int64_t kLargest = std::int64_t{1} << 48;
inline constexpr std::int64_t kMostBatches = std::int64_t{1} << 30;

/// The text between the bracket that it begins with and the one that closes it, brackets in strings not counted.
inline std::optional<std::string_view> bracketed(std::string_view text) {
  std::size_t depth = 0;
  bool string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (string) {
      if (c == '\\') ++i;
      string = c != '"';
    } else if (c == '"') {
      string = true;
    } else if (c == '(' || c == '[' || c == '{') {
      if (++depth > kMostDepth) return std::nullopt;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) return std::nullopt;
      if (--depth == 0) return text.substr(1, i - 1);
    }
  }
  return std::nullopt;
}

/// An item without blanks and the "/*index=5*/" that dumps put before every fifth.
inline std::string_view trimmed(std::string_view item) {
  const auto skip_blanks = [&item] { item.remove_prefix(std::min(item.find_first_not_of(' '), item.size())); };
  skip_blanks();
  const auto comment = item.starts_with("/*") ? item.find("*/") : std::string_view::npos;
  if (comment != std::string_view::npos) item.remove_prefix(comment + 2);
  skip_blanks();
  return item;
}

/// Splits at commas outside brackets; none for an empty text or one with too many items.
inline std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size() && !text.empty(); ++i) {
    const char c = i == text.size() ? ',' : text[i];
    depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
    depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
    if (c != ',' || (depth != 0 && i != text.size())) continue;
    items.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
    if (items.size() > kMostItems) return {};
  }
  return items;
}

inline std::optional<Dimensions> whole_numbers(std::string_view text) {
  Dimensions numbers;
  for (const auto item : split(text)) {
    const auto number = number_from_text(item);
    if (!number || *number > static_cast<std::uint64_t>(kLargest) || numbers.size() == kMostRank) return std::nullopt;
    numbers.push_back(static_cast<std::int64_t>(*number));
  }
  return numbers.empty() && !text.empty() ? std::nullopt : std::optional(numbers);
}

struct Shape {
  std::string_view element;
  Dimensions dims;
  /// From the innermost dimension; empty when the text names no layout.
  Dimensions minor_to_major;
};

/// "bf16[12,64,128]{2,1,0:T(8,128)} %name" -> the shape; nothing when the text does not begin with one.
inline std::optional<Shape> shape_from(std::string_view text) {
  Shape shape;
  const auto open = text.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  shape.element = text.substr(0, open);
  const bool word = std::all_of(shape.element.begin(), shape.element.end(),
                                [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  const auto dims = bracketed(text.substr(open));
  if (!word || !dims) return std::nullopt;
  const auto numbers = whole_numbers(*dims);
  if (!numbers) return std::nullopt;
  shape.dims = *numbers;
  text.remove_prefix(open + dims->size() + 2);
  if (!text.starts_with('{')) return shape;
  const auto layout = bracketed(text);
  if (!layout) return std::nullopt;
  // Behind a colon stand tiles and memory spaces.
  const auto order = whole_numbers(layout->substr(0, layout->find(':')));
  if (!order) return std::nullopt;
  shape.minor_to_major = *order;
  auto sorted = shape.minor_to_major;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
  }
  return sorted.size() == shape.dims.size() ? std::optional(shape) : std::nullopt;
}

inline constexpr std::array kTypes{
    std::pair{std::string_view{"f64"}, CUDA_R_64F},
    std::pair{std::string_view{"f32"}, CUDA_R_32F},
    std::pair{std::string_view{"f16"}, CUDA_R_16F},
    std::pair{std::string_view{"bf16"}, CUDA_R_16BF},
    std::pair{std::string_view{"f8e4m3fn"}, CUDA_R_8F_E4M3},
    std::pair{std::string_view{"f8e5m2"}, CUDA_R_8F_E5M2},
    std::pair{std::string_view{"s8"}, CUDA_R_8I},
    std::pair{std::string_view{"s32"}, CUDA_R_32I},
    std::pair{std::string_view{"c64"}, CUDA_C_32F},
    std::pair{std::string_view{"c128"}, CUDA_C_64F},
};

/// Reads the type of a shape; false when cublasLt has none of this name.
inline bool read_type(const Shape& shape, cudaDataType_t& type) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& entry) { return entry.first == shape.element; });
  if (found == kTypes.end()) return false;
  type = found->second;
  return true;
}

/// A stack of matrices as it lies in memory.
struct Matrix {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  bool column_major = false;
  std::int64_t ld = 0;
  std::int64_t batch_stride = 0;

  std::int64_t inner() const { return column_major ? rows : cols; }
  std::int64_t outer() const { return column_major ? cols : rows; }
  /// The transpose, without a byte moved.
  Matrix transposed() const { return {batch, cols, rows, !column_major, ld, batch_stride}; }
};

inline std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  if (a != 0 && b > kLargest / a) return std::nullopt;
  return a * b;
}

/// Elements from one index of each dimension to the next.
inline std::optional<Dimensions> strides_of(const Shape& shape) {
  Dimensions strides(shape.dims.size(), 1);
  std::int64_t stride = 1;
  for (const auto dim : shape.minor_to_major) {
    strides[static_cast<std::size_t>(dim)] = stride;
    const auto next = product(stride, std::max<std::int64_t>(1, shape.dims[static_cast<std::size_t>(dim)]));
    if (!next) return std::nullopt;
    stride = *next;
  }
  return strides;
}

/// Several dimensions that serve as one: all batches, all rows or all columns.
struct Group {
  std::int64_t size = 1;
  std::int64_t stride = 0;
  bool innermost = false;
};

/// Nothing when the dimensions do not follow each other in memory.
inline std::optional<Group> group_of(const Shape& shape, const Dimensions& strides, const Dimensions& members) {
  Group group;
  for (auto it = members.rbegin(); it != members.rend(); ++it) {
    const auto dim = static_cast<std::size_t>(*it);
    if (it == members.rbegin()) group.stride = strides[dim];
    if (strides[dim] != group.stride * std::max<std::int64_t>(1, group.size)) return std::nullopt;
    const auto size = product(group.size, shape.dims[dim]);
    if (!size) return std::nullopt;
    group.size = *size;
    group.innermost = group.innermost || *it == shape.minor_to_major.front();
  }
  return group;
}

/// XLA's own rule (xla/service/gpu/matmul_utils.cc, MatrixLayout::For): the group with the innermost dimension decides
/// the order, and it cannot be the batch.
inline std::optional<Matrix> matrix_from(const Shape& shape, const Dimensions& batch, const Dimensions& rows,
                                         const Dimensions& cols) {
  if (shape.minor_to_major.empty()) return std::nullopt;
  const auto strides = strides_of(shape);
  if (!strides) return std::nullopt;
  const auto b = group_of(shape, *strides, batch);
  const auto r = group_of(shape, *strides, rows);
  const auto c = group_of(shape, *strides, cols);
  if (!b || !r || !c || b->innermost || b->size > kMostBatches) return std::nullopt;
  Matrix matrix{b->size, r->size, c->size, r->innermost, 0, b->stride};
  const auto& other = r->innermost ? *c : *r;
  matrix.ld = other.stride == 0 ? matrix.inner() : other.stride;
  return matrix;
}

/// Leading dimension and batch stride, each at its default where it is the usual one.
inline void place(const Matrix& matrix, std::int32_t batches, std::int64_t& ld, std::int64_t& stride) {
  ld = matrix.ld == matrix.inner() ? 0 : matrix.ld;
  if (batches > 1 && matrix.batch == 1) {
    stride = 0;
  } else {
    stride = batches == 1 || matrix.batch_stride == matrix.ld * matrix.outer() ? -1 : matrix.batch_stride;
  }
}

/// One custom call, cut into its parts.
struct Instruction {
  std::string_view target;
  std::vector<std::string_view> results;
  std::vector<std::string_view> operands;
  /// All after the operands.
  std::string_view attributes;
};

inline std::optional<Instruction> instruction_from(std::string_view line) {
  const auto head = line.substr(0, kInstructionBytes);
  const auto target = head.find(kTarget);
  const auto call = head.rfind(kCall, target);
  const auto equals = call == std::string_view::npos ? call : head.rfind(" = ", call);
  if (target == std::string_view::npos || equals == std::string_view::npos) return std::nullopt;
  const auto operands = bracketed(head.substr(call + kCall.size() - 1));
  if (!operands) return std::nullopt;
  Instruction instruction;
  auto name = head.substr(target + kTarget.size());
  instruction.target = name.substr(0, name.find('"'));
  auto result = head.substr(equals + 3, call - equals - 3);
  if (result.starts_with('(')) result = bracketed(result).value_or(std::string_view{});
  instruction.results = split(result);
  instruction.operands = split(*operands);
  instruction.attributes = line.substr(call + kCall.size() + operands->size() + 1);
  return instruction;
}

}  // namespace lt_audit::hlo
