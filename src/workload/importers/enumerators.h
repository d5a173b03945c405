// NVIDIA's enumerators as logs spell them, with or without their prefix, or as the number.
#pragma once

#include <optional>
#include <string_view>

#include "lt_audit/types.h"

namespace lt_audit {

/// "R_16F", "CUDA_R_16F", "CUDA_R_16F(2)" or "2" (library_types.h 13.0). Complex types too.
std::optional<cudaDataType_t> data_type_from(std::string_view text);
/// "COMPUTE_32F", "CUBLAS_COMPUTE_32F(68)" or "68" (cublas_api.h 13.1.0, lines 206-218).
std::optional<cublasComputeType_t> compute_type_from(std::string_view text);
/// "OP_T", "CUBLAS_OP_T(1)", "T", "t" or "1".
std::optional<cublasOperation_t> operation_from(std::string_view text);
/// "EPILOGUE_GELU_AUX_BIAS", "CUBLASLT_EPILOGUE_BIAS" or "4".
std::optional<cublasLtEpilogue_t> epilogue_from(std::string_view text);
/// "ORDER_ROW", "CUBLASLT_ORDER_COL".
std::optional<cublasLtOrder_t> order_from(std::string_view text);

/// "OUTER_VEC_32F", "CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F" (cublasLt.h 13.1.0, lines 921-941).
std::optional<cublasLtMatmulMatrixScale_t> scale_mode_from(std::string_view text);

/// A whole number in base 10 without sign, blanks or rest; for 16 with an optional 0x or 0X.
std::optional<std::uint64_t> number_from_text(std::string_view text, int base = 10);

}  // namespace lt_audit
