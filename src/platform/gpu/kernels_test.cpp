// The kernels on the GPU give the same record as the host's on a copy of the memory. Skips without a GPU.
#include "platform/gpu/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "platform/host_kernels.h"
#include "platform/kernel_test_problem.h"
#include "platform/product_math.h"

namespace lt_audit {
namespace {

void expect_same(const VerificationRecord& gpu, const VerificationRecord& host) {
  EXPECT_EQ(gpu.compared, host.compared);
  EXPECT_EQ(gpu.wrong, host.wrong);
  EXPECT_EQ(gpu.unwritten, host.unwritten);
  EXPECT_EQ(gpu.expected_nonzero, host.expected_nonzero);
  EXPECT_EQ(gpu.first_wrong, host.first_wrong);
  EXPECT_EQ(gpu.first_expected, host.first_expected);
  // Poison is NaN in floating types, and NaN is not equal to itself.
  EXPECT_TRUE(gpu.first_actual == host.first_actual || (std::isnan(gpu.first_actual) && std::isnan(host.first_actual)));
  EXPECT_EQ(gpu.rows_disagree, host.rows_disagree);
  for (std::size_t r = 0; r < kRegionRoles; ++r) {
    EXPECT_EQ(gpu.changed[r], host.changed[r]) << "role " << r;
    EXPECT_EQ(gpu.guard_before[r], host.guard_before[r]) << "role " << r;
    EXPECT_EQ(gpu.guard_behind[r], host.guard_behind[r]) << "role " << r;
    EXPECT_EQ(gpu.reach_behind[r], host.reach_behind[r]) << "role " << r;
    EXPECT_EQ(gpu.padding[r], host.padding[r]) << "role " << r;
  }
}

/// Device memory for the test's life.
class DeviceBlock {
 public:
  explicit DeviceBlock(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&memory_, bytes), cudaSuccess); }
  ~DeviceBlock() { cudaFree(memory_); }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_ = nullptr;
};

struct GpuKernels : ::testing::Test {
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
  }

  /// inspect, compare and freivalds on the device.
  static VerificationRecord verify(const KernelTestProblem& problem, const RegionSet& set) {
    const DeviceBlock record(sizeof(VerificationRecord));
    const DeviceBlock scratch(product_scratch_bytes(problem.m, problem.n, problem.k, kProductVectors));
    VerificationRecord result;
    auto* device_record = reinterpret_cast<VerificationRecord*>(record.get());
    EXPECT_EQ(cudaMemcpy(device_record, &result, sizeof result, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(inspect_on_gpu({set}, device_record, nullptr), cudaSuccess);
    EXPECT_EQ(compare_on_gpu(problem.compare(set), device_record, nullptr), cudaSuccess);
    ProductSpec product = problem.product(set);
    product.scratch = scratch.get();
    for (const bool before_call : {true, false}) {
      product.before_call = before_call;
      // Batches have no product check.
      if (problem.batch_count != 1) break;
      EXPECT_EQ(freivalds_on_gpu(product, device_record, nullptr), cudaSuccess);
    }
    EXPECT_EQ(cudaMemcpy(&result, device_record, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
    return result;
  }

  static VerificationRecord verify_on_host(const KernelTestProblem& problem, const RegionSet& set) {
    VerificationRecord result;
    inspect_on_host({set}, &result);
    compare_on_host(problem.compare(set), &result);
    std::vector<std::uint64_t> scratch(product_scratch_bytes(problem.m, problem.n, problem.k, kProductVectors) / 8 + 1);
    ProductSpec product = problem.product(set);
    product.scratch = scratch.data();
    for (const bool before_call : {true, false}) {
      product.before_call = before_call;
      if (problem.batch_count == 1) freivalds_on_host(product, &result);
    }
    return result;
  }

  /// Prepares on both sides, lets `damage` work on the host's copy, verifies on both sides.
  static void expect_agreement(const KernelTestProblem& problem,
                               const std::function<void(const HostMemoryBlock&)>& damage) {
    SCOPED_TRACE(name_of(problem.type_ab) + " m=" + std::to_string(problem.m));
    const HostMemoryBlock host(problem);
    const DeviceBlock device(problem.bytes());
    const RegionSet device_set = problem.regions(device.get());
    prepare_on_host({host.regions()});
    ASSERT_EQ(prepare_on_gpu({device_set}, nullptr), cudaSuccess);
    std::vector<std::byte> copy(host.size());
    ASSERT_EQ(cudaMemcpy(copy.data(), device.get(), copy.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    ASSERT_EQ(std::memcmp(copy.data(), host.begin(), copy.size()), 0) << "prepare differs";
    problem.multiply_on_host(host.regions());
    damage(host);
    ASSERT_EQ(cudaMemcpy(device.get(), host.begin(), host.size(), cudaMemcpyHostToDevice), cudaSuccess);
    expect_same(verify(problem, device_set), verify_on_host(problem, host.regions()));
  }
};

TEST_F(GpuKernels, ARightProductIsCleanAsOnTheHost) {
  for (const KernelTestProblem& problem : kernel_test_problems()) {
    expect_agreement(problem, [](const HostMemoryBlock&) {});
  }
}

TEST_F(GpuKernels, DamageIsCountedAsOnTheHost) {
  for (const KernelTestProblem& problem : kernel_test_problems()) {
    expect_agreement(problem, [&](const HostMemoryBlock& host) {
      // Every 97th byte of everything, and two elements of D in particular.
      for (std::size_t i = 5; i < host.size(); i += 97) host.begin()[i] ^= std::byte{0x21};
      std::memset(problem.d_element(host.regions(), 3, 1), problem.poison,
                  static_cast<std::size_t>(element_bytes(problem.type_cd)));
      encode(problem.type_cd, 99, problem.d_element(host.regions(), 2, 0));
    });
  }
}

TEST_F(GpuKernels, OneWrongElementIsFoundByBothMethods) {
  for (const KernelTestProblem& problem : kernel_test_problems()) {
    SCOPED_TRACE(name_of(problem.type_ab));
    const HostMemoryBlock host(problem);
    const DeviceBlock device(problem.bytes());
    prepare_on_host({host.regions()});
    problem.multiply_on_host(host.regions());
    encode(problem.type_cd, 101, problem.d_element(host.regions(), 7, 5));
    ASSERT_EQ(cudaMemcpy(device.get(), host.begin(), host.size(), cudaMemcpyHostToDevice), cudaSuccess);
    const VerificationRecord record = verify(problem, problem.regions(device.get()));
    EXPECT_EQ(record.wrong, 1U);
    EXPECT_EQ(record.rows_disagree, problem.batch_count == 1 ? 1U : 0U);
    EXPECT_EQ(record.first_wrong, static_cast<unsigned long long>(5 * problem.m + 7));
  }
}

TEST_F(GpuKernels, ALateCopyRunsInTheOrderOfItsStream) {
  constexpr std::size_t kBytes = 100'001;
  const DeviceBlock from(kBytes);
  const DeviceBlock between(kBytes);
  const DeviceBlock to(kBytes);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(from.get(), 0x5A, kBytes, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(to.get(), 0, kBytes, stream), cudaSuccess);
  ASSERT_EQ(occupy_on_gpu(100'000, stream), cudaSuccess);
  // The second one may start while the first still waits, and copies what the first has written.
  ASSERT_EQ(copy_late_on_gpu(between.get(), from.get(), kBytes, 100'000, stream), cudaSuccess);
  ASSERT_EQ(copy_late_on_gpu(to.get(), between.get(), kBytes, 0, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  std::vector<std::byte> copy(kBytes);
  ASSERT_EQ(cudaMemcpy(copy.data(), to.get(), kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::count(copy.begin(), copy.end(), std::byte{0x5A}), static_cast<std::ptrdiff_t>(kBytes));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace lt_audit
