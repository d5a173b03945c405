// Spellings of the field's enumerators.
#include "lt_audit/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace lt_audit {
namespace {

constexpr std::array<Named<cudaDataType_t>, 13> kMatrixTypes{{
    {CUDA_R_64F, "f64"},
    {CUDA_R_32F, "f32"},
    {CUDA_R_16F, "f16"},
    {CUDA_R_16BF, "bf16"},
    {CUDA_R_8F_E4M3, "e4m3"},
    {CUDA_R_8F_E5M2, "e5m2"},
    {CUDA_R_8I, "i8"},
    {CUDA_R_32I, "i32"},
    {CUDA_C_32F, "c32"},
    {CUDA_C_64F, "c64"},
    {CUDA_C_16F, "c16"},
    {CUDA_C_16BF, "cbf16"},
    {CUDA_C_8I, "ci8"},
}};

constexpr std::array<Named<cudaDataType_t>, 7> kScaleTypes{{
    {CUDA_R_64F, "f64"},
    {CUDA_R_32F, "f32"},
    {CUDA_R_16F, "f16"},
    {CUDA_R_16BF, "bf16"},
    {CUDA_R_32I, "i32"},
    {CUDA_C_32F, "c32"},
    {CUDA_C_64F, "c64"},
}};

constexpr std::array<Named<cublasComputeType_t>, 13> kComputeTypes{{
    {CUBLAS_COMPUTE_16F, "16f"},
    {CUBLAS_COMPUTE_16F_PEDANTIC, "16f_pedantic"},
    {CUBLAS_COMPUTE_32F, "32f"},
    {CUBLAS_COMPUTE_32F_PEDANTIC, "32f_pedantic"},
    {CUBLAS_COMPUTE_32F_FAST_16F, "32f_fast_16f"},
    {CUBLAS_COMPUTE_32F_FAST_16BF, "32f_fast_16bf"},
    {CUBLAS_COMPUTE_32F_FAST_TF32, "32f_fast_tf32"},
    {CUBLAS_COMPUTE_32F_EMULATED_16BFX9, "32f_emulated_16bfx9"},
    {CUBLAS_COMPUTE_64F, "64f"},
    {CUBLAS_COMPUTE_64F_PEDANTIC, "64f_pedantic"},
    {CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, "64f_emulated_fixedpoint"},
    {CUBLAS_COMPUTE_32I, "32i"},
    {CUBLAS_COMPUTE_32I_PEDANTIC, "32i_pedantic"},
}};

constexpr std::array<Named<cublasLtEpilogue_t>, 16> kEpilogues{{
    {CUBLASLT_EPILOGUE_DEFAULT, "default"},
    {CUBLASLT_EPILOGUE_RELU, "relu"},
    {CUBLASLT_EPILOGUE_RELU_AUX, "relu_aux"},
    {CUBLASLT_EPILOGUE_BIAS, "bias"},
    {CUBLASLT_EPILOGUE_RELU_BIAS, "relu_bias"},
    {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, "relu_aux_bias"},
    {CUBLASLT_EPILOGUE_DRELU, "drelu"},
    {CUBLASLT_EPILOGUE_DRELU_BGRAD, "drelu_bgrad"},
    {CUBLASLT_EPILOGUE_GELU, "gelu"},
    {CUBLASLT_EPILOGUE_GELU_AUX, "gelu_aux"},
    {CUBLASLT_EPILOGUE_GELU_BIAS, "gelu_bias"},
    {CUBLASLT_EPILOGUE_GELU_AUX_BIAS, "gelu_aux_bias"},
    {CUBLASLT_EPILOGUE_DGELU, "dgelu"},
    {CUBLASLT_EPILOGUE_DGELU_BGRAD, "dgelu_bgrad"},
    {CUBLASLT_EPILOGUE_BGRADA, "bgrada"},
    {CUBLASLT_EPILOGUE_BGRADB, "bgradb"},
}};

constexpr std::array<Named<cublasLtOrder_t>, 2> kOrders{{{CUBLASLT_ORDER_COL, "col"}, {CUBLASLT_ORDER_ROW, "row"}}};

constexpr std::array<Named<cublasOperation_t>, 3> kOperations{
    {{CUBLAS_OP_N, "n"}, {CUBLAS_OP_T, "t"}, {CUBLAS_OP_C, "c"}}};

constexpr std::array<Named<cublasLtPointerMode_t>, 2> kPointerModes{
    {{CUBLASLT_POINTER_MODE_HOST, "host"}, {CUBLASLT_POINTER_MODE_DEVICE, "device"}}};

constexpr std::array<Named<cublasLtMatmulMatrixScale_t>, 6> kScaleModes{{
    {CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F, "scalar"},
    {CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3, "vec16_ue4m3"},
    {CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0, "vec32_ue8m0"},
    {CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, "outer_vec"},
    {CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, "vec128"},
    {CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, "blk128x128"},
}};

bool is_one_of(cublasLtEpilogue_t epilogue, std::initializer_list<cublasLtEpilogue_t> list) {
  return std::find(list.begin(), list.end(), epilogue) != list.end();
}

template <class Enum>
std::string spelling(std::span<const Named<Enum>> table, Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return std::string(entry.name);
  }
  return fmt::format("unknown({})", static_cast<int>(value));
}

}  // namespace

std::span<const Named<cudaDataType_t>> matrix_types() { return kMatrixTypes; }
std::span<const Named<cudaDataType_t>> scale_types() { return kScaleTypes; }
std::span<const Named<cublasComputeType_t>> compute_types() { return kComputeTypes; }
std::span<const Named<cublasLtEpilogue_t>> epilogues() { return kEpilogues; }
std::span<const Named<cublasLtOrder_t>> orders() { return kOrders; }
std::span<const Named<cublasOperation_t>> operations() { return kOperations; }
std::span<const Named<cublasLtPointerMode_t>> pointer_modes() { return kPointerModes; }
std::span<const Named<cublasLtMatmulMatrixScale_t>> scale_modes() { return kScaleModes; }

std::string name_of(cudaDataType_t type) { return spelling(matrix_types(), type); }
std::string name_of(cublasComputeType_t type) { return spelling(compute_types(), type); }
std::string name_of(cublasLtEpilogue_t epilogue) { return spelling(epilogues(), epilogue); }
std::string name_of(cublasLtOrder_t order) { return spelling(orders(), order); }
std::string name_of(cublasOperation_t operation) { return spelling(operations(), operation); }
std::string name_of(cublasLtPointerMode_t mode) { return spelling(pointer_modes(), mode); }
std::string name_of(cublasLtMatmulMatrixScale_t mode) { return spelling(scale_modes(), mode); }

std::string name_of(cublasStatus_t status) {
  // Not cublasLtGetStatusName: the names must be known where no library is loaded.
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "LICENSE_ERROR";
  }
  return fmt::format("unknown({})", static_cast<int>(status));
}

std::size_t bytes_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_C_64F:
      return 16;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I:
      return 2;
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
    case CUDA_R_8I:
      return 1;
    default:
      return 0;
  }
}

bool is_fp8(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
bool is_integer(cudaDataType_t type) { return type == CUDA_R_8I || type == CUDA_R_32I || type == CUDA_C_8I; }
bool is_complex(cudaDataType_t type) { return part_type(type) != type; }

cudaDataType_t part_type(cudaDataType_t type) {
  switch (type) {
    case CUDA_C_64F:
      return CUDA_R_64F;
    case CUDA_C_32F:
      return CUDA_R_32F;
    case CUDA_C_16F:
      return CUDA_R_16F;
    case CUDA_C_16BF:
      return CUDA_R_16BF;
    case CUDA_C_8I:
      return CUDA_R_8I;
    default:
      return type;
  }
}

cudaDataType_t default_scale_type(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

cudaDataType_t default_scale_type(cublasComputeType_t compute, cudaDataType_t matrix) {
  const auto real = default_scale_type(compute);
  if (!is_complex(matrix)) return real;
  return real == CUDA_R_64F ? CUDA_C_64F : CUDA_C_32F;
}

bool has_bias(cublasLtEpilogue_t epilogue) {
  // Bit 2 is BIAS in every epilogue that reads one (cublasLt.h 13.1.0, lines 1931-2039).
  return (static_cast<unsigned>(epilogue) & static_cast<unsigned>(CUBLASLT_EPILOGUE_BIAS)) != 0;
}
bool has_relu(cublasLtEpilogue_t epilogue) {
  return is_one_of(epilogue, {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_RELU_AUX,
                              CUBLASLT_EPILOGUE_RELU_AUX_BIAS});
}
bool has_gelu(cublasLtEpilogue_t epilogue) {
  return is_one_of(epilogue, {CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX,
                              CUBLASLT_EPILOGUE_GELU_AUX_BIAS});
}
bool has_bias_gradient(cublasLtEpilogue_t epilogue) {
  return is_one_of(epilogue, {CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
                              CUBLASLT_EPILOGUE_BGRADB});
}
bool has_aux(cublasLtEpilogue_t epilogue) {
  // Bit 7 is AUX in every epilogue that has one (the same lines).
  return (static_cast<unsigned>(epilogue) & 128U) != 0;
}
bool has_aux_mask(cublasLtEpilogue_t epilogue) {
  return is_one_of(epilogue, {CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU,
                              CUBLASLT_EPILOGUE_DRELU_BGRAD});
}
bool reads_aux(cublasLtEpilogue_t epilogue) {
  return is_one_of(epilogue, {CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU,
                              CUBLASLT_EPILOGUE_DGELU_BGRAD});
}

}  // namespace lt_audit
