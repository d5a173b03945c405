// The simulated cuBLAS: table of types, argument rules, numbers.
#include <array>
#include <cstddef>
#include <cstdint>

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

TEST_F(Blas, ComputesByTypeWithScalarsOnHostOrDevice) {
  const auto* a = static_cast<const double*>(device_values(CUDA_R_64F, {1, 2, 3, 4}));
  const auto* b = static_cast<const double*>(device_values(CUDA_R_64F, {5, 6}));
  auto* c = static_cast<double*>(device_values(CUDA_R_64F, {1, 1}));
  const double alpha = 2, beta = 1;
  ASSERT_EQ(platform.blas.dgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 2, &alpha, a, 2, b, 2, &beta, c, 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(values_at(CUDA_R_64F, c, 2), (std::vector<double>{47, 69}));

  const auto* x = static_cast<const float*>(device_values(CUDA_R_32F, {1, 2, 3, 4}));
  auto* y = static_cast<float*>(device_values(CUDA_R_32F, {0, 0, 0, 0}));
  const auto* scalars = static_cast<const float*>(device_values(CUDA_R_32F, {3, 0}));
  ASSERT_EQ(platform.blas.set_pointer_mode(blas, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(platform.blas.sgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 1, scalars, x, 2, x + 2, 2, scalars + 1, y, 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(values_at(CUDA_R_32F, y, 4), (std::vector<double>{9, 18, 12, 24}));
  EXPECT_EQ(platform.blas.sgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 1, &one, x, 2, x, 2, &zero, y, 2),
            CUBLAS_STATUS_EXECUTION_FAILED)
      << "scalars in host memory that the mode says are on the device";
}

TEST_F(Blas, ANewHandleHasTheDocumentedModesAndKeepsWhatIsSet) {
  auto pointers = CUBLAS_POINTER_MODE_DEVICE;
  auto math = CUBLAS_PEDANTIC_MATH;
  auto atomics = CUBLAS_ATOMICS_ALLOWED;
  EXPECT_EQ(platform.blas.get_pointer_mode(blas, &pointers), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(platform.blas.get_math_mode(blas, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(platform.blas.get_atomics_mode(blas, &atomics), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(pointers, CUBLAS_POINTER_MODE_HOST);
  EXPECT_EQ(math, CUBLAS_DEFAULT_MATH);
  EXPECT_EQ(atomics, CUBLAS_ATOMICS_NOT_ALLOWED);
  EXPECT_EQ(platform.blas.set_math_mode(blas, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(platform.blas.get_math_mode(blas, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(math, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(platform.blas.get_math_mode(nullptr, &math), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(Blas, TakesAWorkspaceOnA256ByteBoundaryOfTheDevice) {
  auto* const workspace = static_cast<std::byte*>(device_bytes(8192));
  auto* const aligned = workspace + (256 - reinterpret_cast<std::uintptr_t>(workspace) % 256) % 256;
  EXPECT_EQ(platform.blas.set_workspace(blas, aligned, 4096), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(platform.blas.set_workspace(blas, nullptr, 0), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(platform.blas.set_workspace(blas, aligned + 16, 4096), CUBLAS_STATUS_INVALID_VALUE);
  alignas(256) std::array<std::byte, 256> on_host{};
  EXPECT_EQ(platform.blas.set_workspace(blas, on_host.data(), on_host.size()), CUBLAS_STATUS_INVALID_VALUE);
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
