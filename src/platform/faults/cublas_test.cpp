// The faults in cuBLAS over the simulator: a product that each targets and one that it leaves alone.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "lt_audit/owners.h"
#include "platform/platforms.h"

namespace lt_audit::faults {
namespace {

class CublasFaults : public testing::Test {
 protected:
  static constexpr int kSize = 4;
  static constexpr std::size_t kBytes = 1024;

  void plant(const std::string& fault) {
    platform = inject_fault(make_simulator_platform({}), fault);
    cublasHandle_t handle = nullptr;
    ASSERT_EQ(platform.blas.create(&handle), CUBLAS_STATUS_SUCCESS);
    blas = BlasHandle(platform.blas, handle);
    for (void** memory : {&in, &out}) {
      ASSERT_EQ(platform.cuda.malloc(memory, kBytes), cudaSuccess);
      ASSERT_EQ(platform.cuda.memset_async(*memory, 0, kBytes, cudaStreamLegacy), cudaSuccess);
    }
  }
  /// A product of zeros: what is not zero afterwards was written by the fault.
  cublasStatus_t gemm(cudaDataType_t type, cudaDataType_t type_c, cublasOperation_t transa = CUBLAS_OP_N) {
    const float one = 1, zero = 0;
    return platform.blas.gemm_ex(blas.get(), transa, CUBLAS_OP_N, kSize, kSize, kSize, &one, in, type, kSize, in, type,
                                 kSize, &zero, out, type_c, kSize, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }
  /// Where the output is not zero: one past the last such byte.
  std::size_t reach() {
    std::array<std::byte, kBytes> copy{};
    EXPECT_EQ(platform.cuda.memcpy_async(copy.data(), out, kBytes, cudaMemcpyDeviceToHost, cudaStreamLegacy),
              cudaSuccess);
    EXPECT_EQ(platform.cuda.device_synchronize(), cudaSuccess);
    std::size_t end = kBytes;
    while (end > 0 && copy[end - 1] == std::byte{0}) --end;
    return end;
  }

  Platform platform;
  BlasHandle blas;
  void* in = nullptr;
  void* out = nullptr;
};

TEST_F(CublasFaults, DefaultTf32IsTheModeOfANewHandleUntilAnotherIsSet) {
  plant("cublas-default-tf32");
  auto mode = CUBLAS_DEFAULT_MATH;
  EXPECT_EQ(platform.blas.get_math_mode(blas.get(), &mode), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(mode, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(platform.blas.set_math_mode(blas.get(), CUBLAS_DEFAULT_MATH), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(platform.blas.get_math_mode(blas.get(), &mode), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(mode, CUBLAS_DEFAULT_MATH);
  EXPECT_EQ(gemm(CUDA_R_16F, CUDA_R_16F), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CublasFaults, RefusesBf16TakesTheOtherTypes) {
  plant("cublas-refuses-bf16");
  EXPECT_EQ(gemm(CUDA_R_16BF, CUDA_R_16BF), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gemm(CUDA_R_16BF, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(CUDA_R_16F, CUDA_R_16F), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CublasFaults, WritesBehindCChangesTheEightBytesAfterAnFp16ProductThatIsNotTransposed) {
  plant("cublas-writes-behind-c");
  EXPECT_EQ(gemm(CUDA_R_16F, CUDA_R_16F, CUBLAS_OP_T), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(CUDA_R_16BF, CUDA_R_16BF), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(reach(), 0U);
  EXPECT_EQ(gemm(CUDA_R_16F, CUDA_R_16F), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(reach(), kSize * kSize * bytes_of(CUDA_R_16F) + 8);
}

}  // namespace
}  // namespace lt_audit::faults
