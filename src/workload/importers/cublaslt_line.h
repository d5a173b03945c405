// One line of the log of cuBLASLt's own logger: its brackets, its keys and values, and the call that they tell. Keys as
// cuBLASLt 13.1.0 prints them; older versions leave out the timestamp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "workload/importer.h"
#include "workload/importers/enumerators.h"

namespace lt_audit::cublaslt_log {

inline constexpr std::uint64_t kLargestNumber = 1ULL << 48;
inline constexpr std::uint64_t kLargestBatch = 1ULL << 30;
inline constexpr std::uint64_t kLargestAlignment = 1ULL << 20;
inline constexpr std::uint64_t kLargestSmCount = 1ULL << 20;
inline constexpr std::string_view kMark = "[cublasLt][";

/// What stands in brackets before the text of a line.
struct Head {
  std::uint64_t process = 0;
  std::string_view level;
  std::string_view function;
  std::string_view text;
};

/// "582][" -> "582" and moves behind it.
inline std::optional<std::string_view> bracketed(std::string_view& rest) {
  const auto close = rest.find(']');
  if (close == std::string_view::npos) return std::nullopt;
  const auto inside = rest.substr(0, close);
  rest.remove_prefix(close + 1);
  if (rest.starts_with('[') || rest.starts_with(' ')) rest.remove_prefix(1);
  return inside;
}

inline std::optional<Head> head_of(std::string_view line) {
  const auto mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(mark + kMark.size());
  const auto process = bracketed(rest);
  const auto level = bracketed(rest);
  const auto function = bracketed(rest);
  const auto number = process ? number_from_text(*process) : std::nullopt;
  if (!number || !level || !function) return std::nullopt;
  return Head{*number, *level, *function, rest};
}

/// cublasLtMatmul and the typed ones that cuBLAS calls, such as cublasLtTSTMatmul.
inline bool is_matmul(std::string_view function) {
  return function.starts_with("cublasLt") && function.ends_with("Matmul");
}

/// The function that a query asks for: cublasLtTSTMatmulAlgoGetHeuristic -> cublasLtTSTMatmul. Empty for another.
inline std::string_view queried_function(std::string_view function) {
  for (const std::string_view suffix : {"AlgoGetHeuristic", "AlgoGetHeuristicForStream"}) {
    if (!function.ends_with(suffix)) continue;
    const auto matmul = function.substr(0, function.size() - suffix.size());
    if (is_matmul(matmul)) return matmul;
  }
  return {};
}

/// What goes into the workload is ASCII.
inline bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

inline bool is_hexadecimal(std::string_view value) { return value.starts_with("0x") || value.starts_with("0X"); }

/// Takes the next `key=value` off a text; a value in brackets comes without them. False at the end, and where anything
/// else stands: then it is still in the text.
inline bool next_pair(std::string_view& text, std::string_view& key, std::string_view& value) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  key = text.substr(0, equals);
  if (key.find_first_of(" []") != std::string_view::npos) return false;
  const auto rest = text.substr(equals + 1);
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    if (close == std::string_view::npos || (close + 1 < rest.size() && rest[close + 1] != ' ')) return false;
    value = rest.substr(1, close - 1);
    text = rest.substr(close + 1);
    return true;
  }
  value = rest.substr(0, rest.find(' '));
  text = rest.substr(value.size());
  return true;
}

/// One operand: its keys in the line and its fields in the problem.
struct OperandFields {
  std::string_view name;
  std::string_view group;
  std::string_view alignment_key;
  cudaDataType_t MatmulProblem::*type;
  std::int64_t MatmulProblem::*ld;
  cublasLtOrder_t MatmulProblem::*order;
  std::int64_t MatmulProblem::*plane;
  std::int64_t MatmulProblem::*stride;
  std::int64_t MatmulProblem::*offset;
  std::uint32_t MatmulProblem::*alignment;
  MatrixShape (*shape)(const MatmulProblem&);
};
using P = MatmulProblem;
inline constexpr std::array<OperandFields, 4> kOperands{
    {{"A", "Adesc", "minBytesAlignmentA", &P::type_a, &P::lda, &P::order_a, &P::plane_a, &P::stride_a, &P::a_offset,
      &P::a_alignment, shape_a},
     {"B", "Bdesc", "minBytesAlignmentB", &P::type_b, &P::ldb, &P::order_b, &P::plane_b, &P::stride_b, &P::b_offset,
      &P::b_alignment, shape_b},
     {"C", "Cdesc", "minBytesAlignmentC", &P::type_c, &P::ldc, &P::order_c, &P::plane_c, &P::stride_c, &P::c_offset,
      &P::c_alignment, shape_c},
     {"D", "Ddesc", "minBytesAlignmentD", &P::type_d, &P::ldd, &P::order_d, &P::plane_d, &P::stride_d, &P::d_offset,
      &P::d_alignment, shape_d}}};

/// The scale factors of an operand. C's and D's pointers have no offset in a problem.
struct ScaleFields {
  std::string_view pointer_key;
  std::string_view mode_key;
  std::optional<cublasLtMatmulMatrixScale_t> MatmulProblem::*mode;
  std::int64_t MatmulProblem::*offset;
};
inline constexpr std::array<ScaleFields, 4> kScales{
    {{"aScalePointer", "aScaleMode", &MatmulProblem::scale_a, &MatmulProblem::scale_a_offset},
     {"bScalePointer", "bScaleMode", &MatmulProblem::scale_b, &MatmulProblem::scale_b_offset},
     {"cScalePointer", "cScaleMode", &MatmulProblem::scale_c, nullptr},
     {"dScalePointer", "dScaleMode", &MatmulProblem::scale_d, nullptr}}};

/// Reads the text of one Trace line or query. Either all of it is understood, or `reason` says what is not.
class CallReader {
 public:
  ImportedCall call;
  std::string reason;

  bool read(const Head& head, bool query) {
    call.lone_query = query;
    call.api = query ? queried_function(head.function) : head.function;
    if (!is_printable(head.function)) return fail("the name of the function is no text");
    return read_pairs(head.text, [this](auto key, auto value) { return read_pair(key, value); }) && finish();
  }

 private:
  struct Layout {
    std::optional<std::uint64_t> address;
    std::optional<cudaDataType_t> type;
    std::optional<std::int64_t> rows, cols, ld, plane, batch_count, stride;
    std::optional<cublasLtOrder_t> order;
  };

  bool fail(std::string why) {
    reason = std::move(why);
    return false;
  }

  /// What a line says is quoted, but not at any length.
  static std::string quoted(std::string_view value) {
    std::string text(value.substr(0, 40));
    std::replace_if(
        text.begin(), text.end(),
        [](char c) {
          return !is_printable({&c, 1});
        },
        '?');
    return "'" + text + "'";
  }

  template <class Read>
  bool read_pairs(std::string_view text, const Read& read) {
    std::string_view key;
    std::string_view value;
    while (next_pair(text, key, value)) {
      if (!read(key, value)) return false;
    }
    return text.empty() || fail(quoted(text) + " is not key=value");
  }

  template <class Value>
  bool set(std::optional<Value>& field, std::string_view key, std::string_view text,
           const std::optional<Value>& value) {
    if (field) return fail(std::string(key) + " stands twice");
    if (!value) return fail(std::string(key) + " cannot be " + quoted(text));
    field = value;
    return true;
  }

  bool set_number(std::optional<std::int64_t>& field, std::string_view key, std::string_view text,
                  std::uint64_t largest = kLargestNumber) {
    const auto number = number_from_text(text);
    return set(field, key, text,
               number && *number <= largest ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt);
  }

  bool set_address(std::optional<std::uint64_t>& field, std::string_view key, std::string_view text) {
    return set(field, key, text, is_hexadecimal(text) ? number_from_text(text, 16) : std::nullopt);
  }

  /// Pointers differ from call to call: only that there is one is kept.
  bool keep(std::string_view group, std::string_view key, std::string_view value) {
    if (!is_printable(key) || !is_printable(value)) return fail("a key or value is no text: " + quoted(key));
    auto entry = std::string(group).append(key).append("=");
    if (is_hexadecimal(value)) {
      if (number_from_text(value, 16) == 0U) return true;
      value = "set";
    }
    call.kept.push_back(entry.append(value));
    return true;
  }

  bool read_pair(std::string_view key, std::string_view value) {
    for (std::size_t i = 0; i < kOperands.size(); ++i) {
      if (key == kOperands[i].name) return set_address(layouts_[i].address, key, value);
      if (key == kOperands[i].group) {
        return read_pairs(value, [&](auto name, auto text) { return read_layout(i, name, text); });
      }
    }
    if (key == "computeDesc") {
      return read_pairs(value, [this](auto name, auto text) { return read_compute(name, text); });
    }
    if (key == "preference") {
      return read_pairs(value, [this](auto name, auto text) { return read_preference(name, text); });
    }
    if (key == "algo") {
      // It says nothing about the product, so that a damaged one does no harm.
      if (is_printable(value)) call.algorithm = value;
      return true;
    }
    if (key == "workSpace") return set_address(workspace_address_, key, value);
    if (key == "workSpaceSizeInBytes") return set_number(workspace_bytes_, key, value);
    if (key == "outOfPlace") return set_number(out_of_place_, key, value, 1);
    if (key == "stream") return set_address(call.stream, key, value);
    if (key != "beta") return keep("", key, value);
    // `?` stands for a beta that is neither 0 nor 1, or is on the device.
    return value == "?" ? set(beta_, key, value, std::optional(0.5))
                        : set(beta_, key, value,
                              value == "0" || value == "1" ? std::optional(value == "1" ? 1.0 : 0.0) : std::nullopt);
  }

  bool read_layout(std::size_t operand, std::string_view key, std::string_view value) {
    auto& layout = layouts_[operand];
    const auto name = std::string(kOperands[operand].group) + ".";
    if (key == "type") return set(layout.type, name + "type", value, data_type_from(value));
    if (key == "rows") return set_number(layout.rows, name + "rows", value);
    if (key == "cols") return set_number(layout.cols, name + "cols", value);
    if (key == "ld") return set_number(layout.ld, name + "ld", value);
    if (key == "batchCount") return set_number(layout.batch_count, name + "batchCount", value, kLargestBatch);
    if (key == "stridedBatchOffset") return set_number(layout.stride, name + "stridedBatchOffset", value);
    if (key == "planeOffsetBytes" && number_from_text(value))
      return set_number(layout.plane, name + "planeOffsetBytes", value);
    if (key == "order" && order_from(value)) return set(layout.order, name + "order", value, order_from(value));
    return keep(name, key, value);
  }

  bool read_compute(std::string_view key, std::string_view value) {
    if (key == "computeType") return set(compute_type_, key, value, compute_type_from(value));
    if (key == "scaleType") return set(scale_type_, key, value, data_type_from(value));
    if (key == "transa") return set(transa_, key, value, operation_from(value));
    if (key == "transb") return set(transb_, key, value, operation_from(value));
    if (key == "epilogue") return set(epilogue_, key, value, epilogue_from(value));
    if (key == "biasPointer") return set_address(bias_address_, key, value);
    if (key == "biasDataType") return set(bias_type_, key, value, std::optional(std::string(value)));
    if (key == "fastAccumulationFlag") return set_number(fast_accum_, key, value, 1);
    if (key == "smCountTarget") return set_number(sm_count_target_, key, value, kLargestSmCount);
    if (key == "epilogueAuxPointer") return set_address(aux_address_, key, value);
    if (key == "epilogueAuxLd") return set_number(ldaux_, key, value);
    for (std::size_t i = 0; i < kScales.size(); ++i) {
      if (key == kScales[i].pointer_key) return set_address(scale_addresses_[i], key, value);
      if (key == kScales[i].mode_key && scale_mode_from(value)) {
        scale_mode_texts_[i] = value;
        return set(scale_modes_[i], key, value, scale_mode_from(value));
      }
    }
    return keep("", key, value);
  }

  bool read_preference(std::string_view key, std::string_view value) {
    for (std::size_t i = 0; i < kOperands.size(); ++i) {
      if (key != kOperands[i].alignment_key) continue;
      const auto number = number_from_text(value);
      const bool usable = number && std::has_single_bit(*number) && *number <= kLargestAlignment;
      return set(alignments_[i], key, value,
                 usable ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt);
    }
    if (key == "maxWorkspaceSizeinBytes") return set_number(workspace_bytes_, key, value);
    return (key == "maxWavesCount" && value == "0.0") || keep("preference.", key, value);
  }

  bool finish() {
    for (std::size_t i = 0; i < kOperands.size(); ++i) {
      const auto& layout = layouts_[i];
      const auto missing = [&](std::string_view key) { return fail(std::string(kOperands[i].group).append(key)); };
      if (!layout.type) return missing(".type is missing");
      if (!layout.rows || !layout.cols) return missing(".rows or .cols is missing");
      if (!layout.ld) return missing(".ld is missing");
      if (!call.lone_query && !layout.address) return fail(std::string(kOperands[i].name) + " is missing");
    }
    if (!compute_type_ || !scale_type_) return fail("computeType or scaleType is missing");
    // The stream ends a line: without it, what else is missing was cut off.
    const bool whole = call.lone_query || call.stream || (workspace_bytes_ && beta_ && out_of_place_);
    if (!whole) return fail("the line is cut off before workSpaceSizeInBytes, beta and outOfPlace");
    if (!finish_sizes()) return false;
    for (std::size_t i = 0; i < kOperands.size(); ++i) finish_operand(i);
    finish_call();
    return true;
  }

  bool finish_sizes() {
    auto& p = call.problem;
    p.transa = transa_.value_or(CUBLAS_OP_N);
    p.transb = transb_.value_or(CUBLAS_OP_N);
    const auto& [a, b, c, d] = layouts_;
    p.m = p.transa == CUBLAS_OP_N ? *a.rows : *a.cols;
    p.k = p.transa == CUBLAS_OP_N ? *a.cols : *a.rows;
    p.n = p.transb == CUBLAS_OP_N ? *b.cols : *b.rows;
    const bool agree = p.k == (p.transb == CUBLAS_OP_N ? *b.rows : *b.cols) && *c.rows == p.m && *c.cols == p.n &&
                       *d.rows == p.m && *d.cols == p.n;
    if (!agree) return fail("rows and cols of A, B, C and D contradict each other");
    const auto batch_count = a.batch_count.value_or(1);
    for (const auto& layout : layouts_) {
      if (layout.batch_count.value_or(1) != batch_count) return fail("the batch counts contradict each other");
    }
    p.batch_count = static_cast<std::int32_t>(batch_count);
    return true;
  }

  void finish_operand(std::size_t operand) {
    auto& p = call.problem;
    const auto& layout = layouts_[operand];
    const auto& fields = kOperands[operand];
    p.*fields.type = *layout.type;
    p.*fields.order = layout.order.value_or(CUBLASLT_ORDER_COL);
    const bool row = p.*fields.order == CUBLASLT_ORDER_ROW;
    const auto inner = row ? *layout.cols : *layout.rows;
    const auto outer = row ? *layout.rows : *layout.cols;
    if (*layout.ld != inner) p.*fields.ld = *layout.ld;
    if (*layout.ld == 0 && inner != 0) keep(std::string(fields.group) + ".", "ld", "0");
    // A stride of 0 is not printed. D cannot be one matrix for all batches in a MatmulProblem.
    const auto stride = layout.stride.value_or(0);
    const bool packed = outer == 0 ? stride == 0 : stride % outer == 0 && stride / outer == *layout.ld;
    const bool said = layout.stride || p.batch_count != 1;
    if (said && !packed && stride == 0 && fields.name == "D") keep("Ddesc.", "stridedBatchOffset", "0");
    if (said && !packed && (stride != 0 || fields.name != "D")) p.*fields.stride = stride;
    finish_plane(operand);
    if (layout.address) p.*fields.offset = offset_of_address(*layout.address);
    // Without a query, what was declared is unknown: then it is what the pointers have.
    const auto of_pointer = p.*fields.offset == 0 ? 256U : static_cast<std::uint32_t>(p.*fields.offset);
    p.*fields.alignment = call.lone_query ? alignments_[operand].value_or(256) : of_pointer;
  }

  /// After type, leading dimension and stride. Only complex matrices have planes.
  void finish_plane(std::size_t operand) {
    auto& p = call.problem;
    const auto& fields = kOperands[operand];
    const auto plane = layouts_[operand].plane.value_or(0);
    if (plane == 0) return;
    if (!is_complex(p.*fields.type)) {
      keep(std::string(fields.group) + ".", "planeOffsetBytes", std::to_string(plane));
      return;
    }
    p.*fields.plane = kPackedPlane;
    if (fields.shape(p).plane_offset != plane) p.*fields.plane = plane;
  }

  void finish_call() {
    auto& p = call.problem;
    p.compute_type = *compute_type_;
    p.scale_type = *scale_type_;
    p.epilogue = epilogue_.value_or(CUBLASLT_EPILOGUE_DEFAULT);
    p.bias_offset = bias_address_ ? offset_of_address(*bias_address_) : 0;
    p.workspace_offset = workspace_address_ ? offset_of_address(*workspace_address_) : 0;
    p.workspace_bytes = workspace_bytes_.value_or(p.workspace_bytes);
    p.beta = beta_.value_or(0);
    const bool same_place = !call.lone_query && layouts_[2].address == layouts_[3].address;
    p.in_place = out_of_place_ ? *out_of_place_ == 0 : same_place;
    finish_beside();
    std::sort(call.kept.begin(), call.kept.end());
    if (call.lone_query) call.assumed.emplace_back("alignment");
    call.assumed.emplace_back("alpha");
    if (!beta_ || *beta_ == 0.5) call.assumed.emplace_back("beta");
    if (!call.lone_query) call.assumed.emplace_back("declared alignment");
    if (!workspace_bytes_) call.assumed.emplace_back("workspace");
  }

  void finish_aux() {
    auto& p = call.problem;
    if (!has_aux(p.epilogue)) {
      if (aux_address_.value_or(0) != 0) keep("", "epilogueAuxPointer", "set");
      if (ldaux_) keep("", "epilogueAuxLd", std::to_string(*ldaux_));
      return;
    }
    if (aux_address_) p.aux_offset = offset_of_address(*aux_address_);
    // The smallest legal one is what a problem has without saying it.
    const auto usual = shape_aux(p).ld * (has_aux_mask(p.epilogue) ? 8 : 1);
    if (ldaux_ && *ldaux_ != usual) p.ldaux = *ldaux_;
  }

  /// What goes with the epilogue, and the scale factors.
  void finish_beside() {
    auto& p = call.problem;
    if (bias_type_) {
      const auto type = data_type_from(*bias_type_);
      if (!type) keep("", "biasDataType", *bias_type_);
      if (type && *type != bias_type(p)) p.type_bias = type;
    }
    finish_aux();
    p.fast_accum = fast_accum_.value_or(0) == 1;
    p.sm_count_target = sm_count_target_.value_or(0);
    for (std::size_t i = 0; i < kScales.size(); ++i) {
      const auto mode = scale_modes_[i].value_or(CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
      const bool is_set = scale_addresses_[i].value_or(0) != 0;
      if (!is_set && scale_modes_[i]) keep("", kScales[i].mode_key, scale_mode_texts_[i]);
      if (!is_set) continue;
      p.*kScales[i].mode = mode;
      if (kScales[i].offset != nullptr) p.*kScales[i].offset = offset_of_address(*scale_addresses_[i]);
    }
  }

  std::array<Layout, 4> layouts_;
  std::array<std::optional<std::uint32_t>, 4> alignments_;
  std::optional<cublasComputeType_t> compute_type_;
  std::optional<cudaDataType_t> scale_type_;
  std::optional<cublasOperation_t> transa_, transb_;
  std::optional<cublasLtEpilogue_t> epilogue_;
  std::array<std::optional<std::uint64_t>, 4> scale_addresses_;
  std::array<std::optional<cublasLtMatmulMatrixScale_t>, 4> scale_modes_;
  std::array<std::string, 4> scale_mode_texts_;
  std::optional<std::uint64_t> bias_address_, aux_address_, workspace_address_;
  std::optional<std::int64_t> ldaux_, fast_accum_, sm_count_target_;
  std::optional<std::string> bias_type_;
  std::optional<std::int64_t> workspace_bytes_, out_of_place_;
  std::optional<double> beta_;
};

}  // namespace lt_audit::cublaslt_log
