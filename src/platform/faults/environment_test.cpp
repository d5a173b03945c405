// The faults that depend on what surrounds a call, over the simulator: what they change, and what they leave alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "lt_audit/owners.h"
#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

Platform planted(const std::string& fault, const SimulatorOptions& options = {}) {
  return inject_fault(make_simulator_platform(options), fault);
}

TEST(EnvironmentFaults, ADriverTooOldIsOfTheMajorVersionBeforeTheLibrary) {
  int version = 0;
  ASSERT_EQ(planted("driver-too-old").cuda.driver_get_version(&version), cudaSuccess);
  EXPECT_EQ(version, 12040);
  EXPECT_EQ(planted("driver-too-old").cuda.runtime_get_version(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
}

TEST(EnvironmentFaults, ALibraryLoadedTwiceShowsInTheFilesOfTheProcess) {
  const auto facts = planted("library-loaded-twice").process_facts();
  const auto is_lt = [](const std::string& path) { return path.find("/libcublasLt.so") != std::string::npos; };
  EXPECT_EQ(std::count_if(facts.libraries.begin(), facts.libraries.end(), is_lt), 2);
}

TEST(EnvironmentFaults, MixedLibrariesDifferInTheMinorVersionAlone) {
  const auto platform = planted("mixed-libraries");
  for (const auto property : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int lt = 0;
    int blas = 0;
    ASSERT_EQ(platform.lt.get_property(property, &lt), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(platform.blas.get_property(property, &blas), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(blas, lt + (property == MINOR_VERSION ? 1 : 0));
  }
}

TEST(EnvironmentFaults, AHandleLostToFullMemoryStaysLost) {
  SimulatorOptions options;
  options.memory_bytes = 256U << 20;
  const auto platform = planted("handle-lost-to-full-memory", options);
  const auto create = [&] {
    cublasLtHandle_t made = nullptr;
    const auto status = platform.lt.create(&made);
    const LtHandle handle = status == CUBLAS_STATUS_SUCCESS ? LtHandle(platform.lt, made) : LtHandle();
    return status;
  };
  EXPECT_EQ(create(), CUBLAS_STATUS_SUCCESS);
  void* memory = nullptr;
  ASSERT_EQ(platform.cuda.malloc(&memory, 200U << 20), cudaSuccess);
  EXPECT_EQ(create(), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(platform.cuda.free(memory), cudaSuccess);
  EXPECT_EQ(create(), CUBLAS_STATUS_NOT_INITIALIZED);
}

class EnvironmentProducts : public SequenceFaults {
 protected:
  /// FP32 with inputs that need 23 bits: TF32 and BF16 lose some of them.
  std::unique_ptr<Product> fp32(cublasComputeType_t compute_type) {
    auto p = small(CUDA_R_32F);
    p.compute_type = compute_type;
    return product(p, 8, kValue);
  }
  static bool is_exact(const Product& made) {
    return count_in_d(made, kValue * static_cast<double>(made.problem.k)) == kSmall;
  }
  static constexpr double kValue = 0x400001;
};

TEST_F(EnvironmentProducts, Tf32AlwaysRoundsUnderComputeType32f) {
  plant("tf32-always");
  const auto made = fp32(CUBLAS_COMPUTE_32F);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_FALSE(is_exact(*made));
}

TEST_F(EnvironmentProducts, TheSimulatorRoundsToTf32UnlessTheVariableForbids) {
  const auto platform_with = [](const char* value, const std::string& fault) {
    SimulatorOptions options;
    options.variables["NVIDIA_TF32_OVERRIDE"] = value;
    return fault.empty() ? make_simulator_platform(options) : planted(fault, options);
  };
  for (const auto& [value, fault, exact] :
       {std::tuple{"", "", false}, std::tuple{"1", "", false}, std::tuple{"0", "", true},
        std::tuple{"0", "tf32-override-ignored", false}, std::tuple{"", "tf32-override-ignored", false}}) {
    platform = platform_with(value, fault);
    ASSERT_EQ(lt.create(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking), cudaSuccess);
    const auto made = fp32(CUBLAS_COMPUTE_32F_FAST_TF32);
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    EXPECT_EQ(is_exact(*made), exact) << value << " " << fault;
    const auto plain = fp32(CUBLAS_COMPUTE_32F);
    EXPECT_EQ(call(*plain, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    EXPECT_TRUE(is_exact(*plain)) << value << " " << fault;
  }
}

TEST_F(EnvironmentProducts, AFullMemorySpoilsOneElement) {
  plant("wrong-when-memory-is-full");
  const auto made = product(small(CUDA_R_16F), 8, 1);
  const auto right = [&] {
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return count_in_d(*made, static_cast<double>(made->problem.k));
  };
  EXPECT_EQ(right(), kSmall);
  std::size_t free_now = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuda.mem_get_info(&free_now, &total), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cuda.malloc(&memory, free_now - (1U << 20)), cudaSuccess);
  EXPECT_EQ(right(), kSmall - 1);
  EXPECT_EQ(cuda.free(memory), cudaSuccess);
  EXPECT_EQ(right(), kSmall);
}

}  // namespace
}  // namespace lt_audit::faults
