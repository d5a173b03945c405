// The field's words as values: data types, compute types, epilogues, orders and statuses, with the spelling that the
// command line, the problem text and the report share. Enumerators are NVIDIA's own, so nothing is renamed.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lt_audit {

/// One enumerator and its spelling in problem texts and reports.
template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};

/// The matrix types that the engine can fill, run and verify: f64 f32 f16 bf16 e4m3 e5m2 i8 i32, and of complex numbers
/// c64 c32 c16 cbf16 ci8, named after the type of their parts.
std::span<const Named<cudaDataType_t>> matrix_types();
/// Every type that may stand as scale type: f64 f32 f16 bf16 i32 c32 c64.
std::span<const Named<cudaDataType_t>> scale_types();
/// All compute types of cublas_api.h 13.1.0 (lines 206-218): 16f 16f_pedantic 32f ... 32i_pedantic.
std::span<const Named<cublasComputeType_t>> compute_types();
/// All epilogues of cublasLt.h 13.1.0 (lines 1931-2039): default relu bias relu_bias gelu ... bgradb.
std::span<const Named<cublasLtEpilogue_t>> epilogues();
/// col and row.
std::span<const Named<cublasLtOrder_t>> orders();
/// n, t, c.
std::span<const Named<cublasOperation_t>> operations();
/// host and device.
std::span<const Named<cublasLtPointerMode_t>> pointer_modes();
/// The scale modes of cublasLt.h 13.1.0 (lines 921-941): scalar vec16_ue4m3 vec32_ue8m0 outer_vec vec128 blk128x128.
std::span<const Named<cublasLtMatmulMatrixScale_t>> scale_modes();

/// The spelling of an enumerator; "unknown(NUMBER)" for a value that no table knows.
std::string name_of(cudaDataType_t type);
std::string name_of(cublasComputeType_t type);
std::string name_of(cublasLtEpilogue_t epilogue);
std::string name_of(cublasLtOrder_t order);
std::string name_of(cublasOperation_t operation);
std::string name_of(cublasLtPointerMode_t mode);
std::string name_of(cublasLtMatmulMatrixScale_t mode);
/// "SUCCESS", "NOT_SUPPORTED", ...: the enumerator without CUBLAS_STATUS_.
std::string name_of(cublasStatus_t status);
/// "cudaSuccess", "cudaErrorMisalignedAddress", ...: the enumerator as the header spells it.
std::string name_of(cudaError_t error);

/// Bytes of one element; 0 for a type that the engine does not know.
std::size_t bytes_of(cudaDataType_t type);
/// True for e4m3 and e5m2.
bool is_fp8(cudaDataType_t type);
/// True for i8, i32 and ci8.
bool is_integer(cudaDataType_t type);
/// True for c64, c32, c16, cbf16 and ci8.
bool is_complex(cudaDataType_t type);
/// The type of real and imaginary part; of a real type the type itself.
cudaDataType_t part_type(cudaDataType_t type);
/// The scale type that the documentation pairs with a compute type (cuBLAS 13.2 documentation, cublasLtMatmul, table of
/// supported types); 32i pairs with both 32I and 32F: this returns R_32I.
cudaDataType_t default_scale_type(cublasComputeType_t compute);
/// The same for matrices of this type: complex ones have complex factors.
cudaDataType_t default_scale_type(cublasComputeType_t compute, cudaDataType_t matrix);
/// True when the epilogue reads a bias vector.
bool has_bias(cublasLtEpilogue_t epilogue);
/// True when the epilogue applies ReLU to D.
bool has_relu(cublasLtEpilogue_t epilogue);
/// True when the epilogue applies GELU to D.
bool has_gelu(cublasLtEpilogue_t epilogue);
/// True when the epilogue writes a bias gradient through the bias pointer: drelu_bgrad, dgelu_bgrad, bgrada, bgradb.
bool has_bias_gradient(cublasLtEpilogue_t epilogue);
/// True when the epilogue reads or writes the matrix behind CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER.
bool has_aux(cublasLtEpilogue_t epilogue);
/// True when aux is a bit mask (ReLU and its gradient), not a matrix of numbers.
bool has_aux_mask(cublasLtEpilogue_t epilogue);
/// True when aux is read: drelu and dgelu, with and without a bias gradient.
bool reads_aux(cublasLtEpilogue_t epilogue);

/// The value with this spelling, or nothing.
template <class Enum>
std::optional<Enum> find_named(std::span<const Named<Enum>> table, std::string_view name) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace lt_audit
