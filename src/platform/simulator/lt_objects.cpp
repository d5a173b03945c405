// Attribute tables of descriptors, layouts and preferences: cublasLt.h 13.1.0, lines 1113-1184, 1274-1594 and
// 2082-2150.
#include "platform/simulator/lt_objects.h"

#include <algorithm>

namespace lt_audit::simulator {
namespace {

constexpr std::uint64_t kMinusOne32 = 0xFFFFFFFF;

constexpr std::array<AttributeRule, 33> kMatmulDesc{{
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4, CUBLAS_COMPUTE_32F},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4, CUDA_R_32F},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, 4, CUBLASLT_POINTER_MODE_HOST},
    {CUBLASLT_MATMUL_DESC_TRANSA, 4, CUBLAS_OP_N},
    {CUBLASLT_MATMUL_DESC_TRANSB, 4, CUBLAS_OP_N},
    {CUBLASLT_MATMUL_DESC_TRANSC, 4, CUBLAS_OP_N},
    {CUBLASLT_MATMUL_DESC_FILL_MODE, 4, CUBLAS_FILL_MODE_FULL},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, 4, CUBLASLT_EPILOGUE_DEFAULT},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 8, 0},
    {CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, 8, 0},
    {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 4, 0},
    {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, 4, kMinusOne32},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1, 0},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 4, kMinusOne32},
    {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, 4, 0},
    {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 4, 0},
    {CUBLASLT_MATMUL_DESC_C_SCALE_MODE, 4, 0},
    {CUBLASLT_MATMUL_DESC_D_SCALE_MODE, 4, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, 4, 0},
    {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, 4, 0},
    {CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, 8, 0},
}};

constexpr std::array<AttributeRule, 9> kMatrixLayout{{
    {CUBLASLT_MATRIX_LAYOUT_TYPE, 4, CUDA_R_32F},
    {CUBLASLT_MATRIX_LAYOUT_ORDER, 4, CUBLASLT_ORDER_COL},
    {CUBLASLT_MATRIX_LAYOUT_ROWS, 8, 0},
    {CUBLASLT_MATRIX_LAYOUT_COLS, 8, 0},
    {CUBLASLT_MATRIX_LAYOUT_LD, 8, 0},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4, 1},
    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8, 0},
    {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 8, 0},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, 4, CUBLASLT_BATCH_MODE_STRIDED},
}};

constexpr std::array<AttributeRule, 9> kPreference{{
    {CUBLASLT_MATMUL_PREF_SEARCH_MODE, 4, CUBLASLT_SEARCH_BEST_FIT},
    {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8, 0},
    {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 4, CUBLASLT_REDUCTION_SCHEME_MASK},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 4, 256},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 4, 256},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 4, 256},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4, 256},
    {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 4, 0},
    {CUBLASLT_MATMUL_PREF_IMPL_MASK, 8, ~std::uint64_t{0}},
}};

}  // namespace

std::span<const AttributeRule> matmul_desc_rules() { return kMatmulDesc; }
std::span<const AttributeRule> matrix_layout_rules() { return kMatrixLayout; }
std::span<const AttributeRule> preference_rules() { return kPreference; }

Attributes::Attributes(std::span<const AttributeRule> rules) : rules_(rules) {
  for (const auto& entry : rules_) bits_[static_cast<std::size_t>(entry.id)] = entry.default_bits;
}

const AttributeRule* Attributes::rule(int id) const {
  const auto position =
      std::find_if(rules_.begin(), rules_.end(), [&](const AttributeRule& entry) { return entry.id == id; });
  return position == rules_.end() ? nullptr : &*position;
}

cublasStatus_t Attributes::set(int id, const void* value, std::size_t bytes) {
  const AttributeRule* const found = rule(id);
  if (found == nullptr || value == nullptr || bytes != found->bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&bits_[static_cast<std::size_t>(id)], value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Attributes::get(int id, void* value, std::size_t bytes, std::size_t* written) const {
  const AttributeRule* const found = rule(id);
  if (found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return copy_out(&bits_[static_cast<std::size_t>(id)], found->bytes, value, bytes, written);
}

cublasStatus_t copy_out(const void* value, std::size_t value_bytes, void* to, std::size_t bytes, std::size_t* written) {
  if (bytes == 0) {
    if (written == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *written = value_bytes;
    return CUBLAS_STATUS_SUCCESS;
  }
  if (to == nullptr || bytes != value_bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  if (written != nullptr) *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace lt_audit::simulator
