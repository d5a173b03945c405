// Attribute tables of cublasLt.h 13.1.0 (lines 1113-1184, 1274-1594, 2082-2150, 2356-2569): name and how to read the
// value.
#include "platform/trace_values.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace lt_audit {
namespace {

enum class Reading { number, real, pointer, data_type, compute_type, operation, epilogue, pointer_mode, order };

template <class Attribute>
struct AttributeRow {
  Attribute attribute;
  const char* name;
  Reading reading = Reading::number;
};

constexpr AttributeRow<cublasLtMatmulDescAttributes_t> kDescAttributes[] = {
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, "COMPUTE_TYPE", Reading::compute_type},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, "SCALE_TYPE", Reading::data_type},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, "POINTER_MODE", Reading::pointer_mode},
    {CUBLASLT_MATMUL_DESC_TRANSA, "TRANSA", Reading::operation},
    {CUBLASLT_MATMUL_DESC_TRANSB, "TRANSB", Reading::operation},
    {CUBLASLT_MATMUL_DESC_TRANSC, "TRANSC", Reading::operation},
    {CUBLASLT_MATMUL_DESC_FILL_MODE, "FILL_MODE"},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, "EPILOGUE", Reading::epilogue},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, "BIAS_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, "BIAS_BATCH_STRIDE"},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, "EPILOGUE_AUX_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, "EPILOGUE_AUX_LD"},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, "EPILOGUE_AUX_BATCH_STRIDE"},
    {CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, "ALPHA_VECTOR_BATCH_STRIDE"},
    {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, "SM_COUNT_TARGET"},
    {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, "A_SCALE_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, "B_SCALE_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, "C_SCALE_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, "D_SCALE_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, "AMAX_D_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, "EPILOGUE_AUX_DATA_TYPE", Reading::data_type},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, "EPILOGUE_AUX_SCALE_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, "EPILOGUE_AUX_AMAX_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_FAST_ACCUM, "FAST_ACCUM"},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, "BIAS_DATA_TYPE", Reading::data_type},
    {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, "A_SCALE_MODE"},
    {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, "B_SCALE_MODE"},
    {CUBLASLT_MATMUL_DESC_C_SCALE_MODE, "C_SCALE_MODE"},
    {CUBLASLT_MATMUL_DESC_D_SCALE_MODE, "D_SCALE_MODE"},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, "EPILOGUE_AUX_SCALE_MODE"},
    {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, "D_OUT_SCALE_POINTER", Reading::pointer},
    {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, "D_OUT_SCALE_MODE"},
};

constexpr AttributeRow<cublasLtMatrixLayoutAttribute_t> kLayoutAttributes[] = {
    {CUBLASLT_MATRIX_LAYOUT_TYPE, "TYPE", Reading::data_type},
    {CUBLASLT_MATRIX_LAYOUT_ORDER, "ORDER", Reading::order},
    {CUBLASLT_MATRIX_LAYOUT_ROWS, "ROWS"},
    {CUBLASLT_MATRIX_LAYOUT_COLS, "COLS"},
    {CUBLASLT_MATRIX_LAYOUT_LD, "LD"},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, "BATCH_COUNT"},
    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, "STRIDED_BATCH_OFFSET"},
    {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, "PLANE_OFFSET"},
};

constexpr AttributeRow<cublasLtMatmulPreferenceAttributes_t> kPreferenceAttributes[] = {
    {CUBLASLT_MATMUL_PREF_SEARCH_MODE, "SEARCH_MODE"},
    {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, "MAX_WORKSPACE_BYTES"},
    {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, "REDUCTION_SCHEME_MASK"},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, "MIN_ALIGNMENT_A_BYTES"},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, "MIN_ALIGNMENT_B_BYTES"},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, "MIN_ALIGNMENT_C_BYTES"},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, "MIN_ALIGNMENT_D_BYTES"},
    {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, "MAX_WAVES_COUNT", Reading::real},
    {CUBLASLT_MATMUL_PREF_IMPL_MASK, "IMPL_MASK"},
};

constexpr AttributeRow<cublasLtMatmulAlgoConfigAttributes_t> kConfigAttributes[] = {
    {CUBLASLT_ALGO_CONFIG_ID, "ID"},
    {CUBLASLT_ALGO_CONFIG_TILE_ID, "TILE_ID"},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "SPLITK_NUM"},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, "REDUCTION_SCHEME"},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "CTA_SWIZZLING"},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, "CUSTOM_OPTION"},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, "STAGES_ID"},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, "INNER_SHAPE_ID"},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, "CLUSTER_SHAPE_ID"},
};

constexpr AttributeRow<cublasLtMatmulAlgoCapAttributes_t> kCapAttributes[] = {
    {CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, "SPLITK_SUPPORT"},
    {CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, "REDUCTION_SCHEME_MASK"},
    {CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, "STRIDED_BATCH_SUPPORT"},
    {CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, "OUT_OF_PLACE_RESULT_SUPPORT"},
    {CUBLASLT_ALGO_CAP_EPILOGUE_MASK, "EPILOGUE_MASK"},
    {CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, "NUMERICAL_IMPL_FLAGS"},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, "MIN_ALIGNMENT_A_BYTES"},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, "MIN_ALIGNMENT_B_BYTES"},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, "MIN_ALIGNMENT_C_BYTES"},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, "MIN_ALIGNMENT_D_BYTES"},
};

template <class Value>
Value read_as(const void* value) {
  Value copy = {};
  std::memcpy(&copy, value, sizeof copy);
  return copy;
}

std::string show_number(const void* value, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return fmt::to_string(static_cast<int>(read_as<std::int8_t>(value)));
    case 2:
      return fmt::to_string(read_as<std::int16_t>(value));
    case 4:
      return fmt::to_string(read_as<std::int32_t>(value));
    case 8:
      return fmt::to_string(read_as<std::int64_t>(value));
    default:
      return fmt::format("{} bytes", bytes);
  }
}

/// A value of another size than the header states is an error that the library reports: it is shown as what it is.
std::string show_value(Reading reading, const void* value, std::size_t bytes) {
  if (value == nullptr) return "no value";
  if (reading == Reading::pointer && bytes == sizeof(void*)) return show(read_as<const void*>(value));
  if (bytes != sizeof(std::int32_t)) return show_number(value, bytes);
  const auto code = read_as<std::int32_t>(value);
  switch (reading) {
    case Reading::real:
      return fmt::to_string(read_as<float>(value));
    case Reading::data_type:
      return name_of(static_cast<cudaDataType_t>(code));
    case Reading::compute_type:
      return name_of(static_cast<cublasComputeType_t>(code));
    case Reading::operation:
      return name_of(static_cast<cublasOperation_t>(code));
    case Reading::epilogue:
      return name_of(static_cast<cublasLtEpilogue_t>(code));
    case Reading::pointer_mode:
      return name_of(static_cast<cublasLtPointerMode_t>(code));
    case Reading::order:
      return name_of(static_cast<cublasLtOrder_t>(code));
    default:
      return show_number(value, bytes);
  }
}

template <class Attribute>
std::string show_in(std::span<const AttributeRow<Attribute>> table, Attribute attribute, const void* value,
                    std::size_t bytes) {
  const auto row =
      std::find_if(table.begin(), table.end(), [attribute](const auto& entry) { return entry.attribute == attribute; });
  if (row != table.end()) return fmt::format("{}, {}", row->name, show_value(row->reading, value, bytes));
  return fmt::format("attribute {}, {} bytes", static_cast<int>(attribute), bytes);
}

}  // namespace

std::string show_attribute(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes) {
  return show_in<cublasLtMatmulDescAttributes_t>(kDescAttributes, attribute, value, bytes);
}
std::string show_attribute(cublasLtMatrixLayoutAttribute_t attribute, const void* value, std::size_t bytes) {
  return show_in<cublasLtMatrixLayoutAttribute_t>(kLayoutAttributes, attribute, value, bytes);
}
std::string show_attribute(cublasLtMatmulPreferenceAttributes_t attribute, const void* value, std::size_t bytes) {
  return show_in<cublasLtMatmulPreferenceAttributes_t>(kPreferenceAttributes, attribute, value, bytes);
}
std::string show_attribute(cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value, std::size_t bytes) {
  return show_in<cublasLtMatmulAlgoConfigAttributes_t>(kConfigAttributes, attribute, value, bytes);
}
std::string show_attribute(cublasLtMatmulAlgoCapAttributes_t attribute, const void* value, std::size_t bytes) {
  return show_in<cublasLtMatmulAlgoCapAttributes_t>(kCapAttributes, attribute, value, bytes);
}

std::string show(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return "host to host";
    case cudaMemcpyHostToDevice:
      return "host to device";
    case cudaMemcpyDeviceToHost:
      return "device to host";
    case cudaMemcpyDeviceToDevice:
      return "device to device";
    default:
      return "default";
  }
}

}  // namespace lt_audit
