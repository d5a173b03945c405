// The simulated cuBLAS: table of types, argument rules, numbers.
#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

class Blas : public SimulatorTest {
 protected:
  Blas() {
    EXPECT_EQ(platform.blas.create(&blas), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(platform.blas.set_stream(blas, stream), CUBLAS_STATUS_SUCCESS);
  }

  cublasStatus_t gemm(cudaDataType_t ab, cudaDataType_t c_type, cublasComputeType_t compute, int lda = 4) {
    return platform.blas.gemm_ex(blas, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, memory, ab, lda, memory, ab, 4, &zero,
                                 result, c_type, 4, compute, CUBLAS_GEMM_DEFAULT);
  }

  cublasHandle_t blas = nullptr;
  // Reads as 1 in every scale type that these tests use it for.
  float one = 1;
  float zero = 0;
  void* memory = device_bytes(1024);
  void* result = device_bytes(1024);
};

TEST_F(Blas, FollowsTheTableOfTypes) {
  EXPECT_EQ(gemm(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F_FAST_TF32), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gemm(CUDA_R_8F_E4M3, CUDA_R_16F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Blas, RefusesBadDimensions) {
  EXPECT_EQ(gemm(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 3), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, 5), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(platform.blas.gemm_ex(blas, CUBLAS_OP_N, CUBLAS_OP_N, -1, 4, 4, &one, memory, CUDA_R_32F, 4, memory,
                                  CUDA_R_32F, 4, &zero, result, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Blas, TakesPointersOfElementAlignment) {
  auto* const shifted = static_cast<std::byte*>(memory) + 2;
  EXPECT_EQ(platform.blas.gemm_ex(blas, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, shifted, CUDA_R_16F, 4, shifted,
                                  CUDA_R_16F, 4, &zero, result, CUDA_R_16F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
}

TEST_F(Blas, ComputesStridedBatches) {
  const void* a = device_values(CUDA_R_32F, {1, 2, 3, 4});
  const void* b = device_values(CUDA_R_32F, {5, 6});
  void* c = device_values(CUDA_R_32F, {1, 1, 1, 1});
  const float alpha = 2, beta = 1;
  // Two products of a 2x1 and a 1x1 matrix; B's second batch is the next element.
  ASSERT_EQ(platform.blas.gemm_strided_batched_ex(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &alpha, a, CUDA_R_32F, 2, 2,
                                                  b, CUDA_R_32F, 1, 1, &beta, c, CUDA_R_32F, 2, 2, 2,
                                                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(values_at(CUDA_R_32F, c, 4), (std::vector<double>{11, 21, 37, 49}));
}

TEST_F(Blas, ReadsIntegerScalarsForIntegerCompute) {
  const void* a = device_values(CUDA_R_8I, {1, 2, 3, 4});
  const void* b = device_values(CUDA_R_8I, {5, 6, 7, 8});
  void* c = device_values(CUDA_R_32I, {10});
  const std::int32_t alpha = 3, beta = 1;
  ASSERT_EQ(platform.blas.gemm_ex(blas, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 4, &alpha, a, CUDA_R_8I, 4, b, CUDA_R_8I, 4,
                                  &beta, c, CUDA_R_32I, 4, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(values_at(CUDA_R_32I, c, 1), (std::vector<double>{220}));
}

TEST_F(Blas, IsBoundToItsDevice) {
  ASSERT_EQ(cuda.set_device(1), cudaSuccess);
  EXPECT_EQ(gemm(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_F(Blas, DestroyedHandleIsNotInitialized) {
  EXPECT_EQ(platform.blas.destroy(blas), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_NOT_INITIALIZED);
}

}  // namespace
}  // namespace lt_audit::simulator
