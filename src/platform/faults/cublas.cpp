// Faults in cuBLAS, the library that an application comes from or falls back to. cuBLASLt is left alone.
#include <cstddef>
#include <memory>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

constexpr std::size_t kBytesBehindC = 8;

/// The stream of each cuBLAS handle; the default stream until one is set.
using Streams = Memory<cublasHandle_t, cudaStream_t>;

std::shared_ptr<Streams> watch_streams(BlasApi& blas) {
  auto streams = std::make_shared<Streams>();
  in_front_of(blas.set_stream, [streams](const auto& real, cublasHandle_t handle, cudaStream_t stream) {
    const cublasStatus_t status = real(handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS) streams->keep(handle, stream);
    return status;
  });
  in_front_of(blas.destroy, [streams](const auto& real, cublasHandle_t handle) {
    streams->forget(handle);
    return real(handle);
  });
  return streams;
}

}  // namespace

void plant_cublas_default_tf32(Platform& platform) {
  in_front_of(platform.blas.create,
              [set_math_mode = platform.blas.set_math_mode](const auto& real, cublasHandle_t* handle) {
                const cublasStatus_t status = real(handle);
                if (status != CUBLAS_STATUS_SUCCESS || !set_math_mode) return status;
                return set_math_mode(*handle, CUBLAS_TF32_TENSOR_OP_MATH);
              });
}

void plant_cublas_refuses_bf16(Platform& platform) {
  in_front_of(platform.blas.gemm_ex,
              [](const auto& real, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                 int n, int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                 cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                 cublasComputeType_t compute, cublasGemmAlgo_t algo) {
                const bool targeted = type_a == CUDA_R_16BF && type_b == CUDA_R_16BF && type_c == CUDA_R_16BF;
                return targeted ? CUBLAS_STATUS_NOT_SUPPORTED
                                : real(handle, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                                       type_c, ldc, compute, algo);
              });
}

void plant_cublas_writes_behind_c(Platform& platform) {
  auto under = std::make_shared<const Platform>(platform);
  in_front_of(platform.blas.gemm_ex,
              [under, streams = watch_streams(platform.blas)](
                  const auto& real, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                  int n, int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                  cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                  cublasComputeType_t compute, cublasGemmAlgo_t algo) {
                const cublasStatus_t status = real(handle, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b,
                                                   ldb, beta, c, type_c, ldc, compute, algo);
                const bool targeted =
                    type_a == CUDA_R_16F && type_b == CUDA_R_16F && transa == CUBLAS_OP_N && transb == CUBLAS_OP_N;
                if (status != CUBLAS_STATUS_SUCCESS || !targeted || m < 1 || n < 1) return status;
                const MatrixShape shape{type_c, m, n, ldc};
                scribble(*under, element(c, shape, shape.span()), kBytesBehindC,
                         streams->find(handle).value_or(cudaStreamLegacy));
                return status;
              });
}

}  // namespace lt_audit::faults
