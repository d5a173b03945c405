// Configuration and capabilities of an algorithm (cublasLt.h 13.1.0, lines 2351-2570).
#include <array>

#include "platform/simulator/lt_algorithms.h"
#include "platform/simulator/lt_matmul.h"

namespace lt_audit::simulator {
namespace {

/// Copies out one value of the documented type.
template <class T>
cublasStatus_t give(T attribute_value, void* value, std::size_t bytes, std::size_t* written) {
  return copy_out(&attribute_value, sizeof attribute_value, value, bytes, written);
}

std::uint32_t alignment_of_operand(const DecodedAlgorithm& decoded, int attribute) {
  const auto needs = alignment_needs(decoded.algorithm, decoded.types);
  return needs[static_cast<std::size_t>(attribute - CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES)];
}

}  // namespace

cublasStatus_t config_attribute(int library_number, const cublasLtMatmulAlgo_t* algo,
                                cublasLtMatmulAlgoConfigAttributes_t attribute, void* value, std::size_t bytes,
                                std::size_t* written) {
  if (algo == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const auto decoded = decode(*algo, library_number);
  if (!decoded) return CUBLAS_STATUS_INVALID_VALUE;
  const Algorithm& algorithm = decoded->algorithm;
  switch (attribute) {
    case CUBLASLT_ALGO_CONFIG_ID:
      return give(algorithm.id, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
      return give(algorithm.tile, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
      return give(algorithm.split_k, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
      return give(algorithm.reduction, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
      return give(std::uint32_t{0}, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
      return give(algorithm.stages, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID:
      return give(std::uint16_t{0}, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID:
      return give(algorithm.cluster, value, bytes, written);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cap_attribute(int library_number, const cublasLtMatmulAlgo_t* algo,
                             cublasLtMatmulAlgoCapAttributes_t attribute, void* value, std::size_t bytes,
                             std::size_t* written) {
  if (algo == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const auto decoded = decode(*algo, library_number);
  if (!decoded) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
      return give(std::int32_t{1}, value, bytes, written);
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
      return give(std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}, value, bytes, written);
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
      return give(std::uint32_t{0}, value, bytes, written);
    case CUBLASLT_ALGO_CAP_TILE_IDS:
      return give(decoded->algorithm.tile, value, bytes, written);
    case CUBLASLT_ALGO_CAP_STAGES_IDS:
      return give(decoded->algorithm.stages, value, bytes, written);
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
    case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT:
      return give(std::int32_t{0}, value, bytes, written);
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
      return give(std::uint32_t{CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE}, value, bytes,
                  written);
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
      return give(std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_BIAS}, value,
                  bytes, written);
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
      return give(impl_flags(decoded->algorithm, decoded->types), value, bytes, written);
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
      return give(alignment_of_operand(*decoded, attribute), value, bytes, written);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

}  // namespace lt_audit::simulator
