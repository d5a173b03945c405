// The faults on streams and workspaces over the simulator: what each makes of the calls that it is for, and that it
// leaves their neighbours alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

constexpr std::ptrdiff_t kAll = 16 * 16;

class StreamsFaults : public SequenceFaults {
 protected:
  /// A product whose algorithm needs a workspace; every element of D is 1024.
  std::unique_ptr<Product> split(cudaDataType_t type) {
    auto made = product(with_split_k(type), 8);
    const auto& results = made->objects.results;
    const auto found =
        std::find_if(results.begin(), results.end(), [](const auto& result) { return result.workspaceSize > 0; });
    EXPECT_NE(found, results.end());
    made->pointers.algo = &found->algo;
    return made;
  }
  /// Elements of D that are right after all work has ended.
  std::ptrdiff_t right(const Product& made, double value = 1024) {
    EXPECT_EQ(cuda.device_synchronize(), cudaSuccess);
    return count_in_d(made, value);
  }
  void run(const Product& made, cudaStream_t on) { ASSERT_EQ(call(made, on), CUBLAS_STATUS_SUCCESS); }
  void wait_for(cudaStream_t waits, cudaStream_t for_this) {
    cudaEvent_t event = nullptr;
    ASSERT_EQ(cuda.event_create(&event), cudaSuccess);
    ASSERT_EQ(cuda.event_record(event, for_this), cudaSuccess);
    ASSERT_EQ(cuda.stream_wait_event(waits, event), cudaSuccess);
  }
};

TEST_F(StreamsFaults, SplitKStatePerHandleSpoilsOneElementBesideAnotherStream) {
  plant("split-k-state-per-handle");
  const auto first = split(CUDA_R_32F);
  const auto second = split(CUDA_R_32F);
  const cudaStream_t other = new_stream();
  run(*first, stream);
  run(*second, other);
  EXPECT_EQ(right(*first), kAll);
  EXPECT_EQ(right(*second), kAll - 1);
  // In an order, on one stream, or with handles of their own.
  run(*first, stream);
  wait_for(other, stream);
  run(*second, other);
  EXPECT_EQ(right(*second), kAll);
  run(*first, stream);
  run(*second, stream);
  EXPECT_EQ(right(*second), kAll);
  run(*first, stream);
  cublasLtHandle_t own = nullptr;
  ASSERT_EQ(lt.create(&own), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(simulator::call_matmul(lt, own, second->objects, second->pointers, other), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(right(*second), kAll);
}

TEST_F(StreamsFaults, SplitKStatePerHandleLeavesProductsWithoutAWorkspaceAlone) {
  plant("split-k-state-per-handle");
  const auto first = product(small(CUDA_R_32F), 1);
  const auto second = product(small(CUDA_R_32F), 1);
  run(*first, stream);
  run(*second, new_stream());
  EXPECT_EQ(right(*second, 32), kSmall);
}

TEST_F(StreamsFaults, WorkspaceReusedTooEarlySpoilsTheSecondOfTwoFp16Calls) {
  plant("workspace-reused-too-early");
  for (const cudaDataType_t type : {CUDA_R_16F, CUDA_R_32F}) {
    const auto first = split(type);
    const auto second = split(type);
    auto* const own = second->pointers.workspace;
    second->pointers.workspace = first->pointers.workspace;
    run(*first, stream);
    run(*second, stream);
    EXPECT_EQ(right(*first), kAll);
    EXPECT_EQ(right(*second), kAll - (type == CUDA_R_16F ? 1 : 0));
    // After the first has ended, and with another workspace.
    run(*second, stream);
    EXPECT_EQ(right(*second), kAll);
    second->pointers.workspace = own;
    run(*first, stream);
    run(*second, stream);
    EXPECT_EQ(right(*second), kAll);
  }
}

TEST_F(StreamsFaults, StreamIgnoredRunsFp32BeforeWhatIsInFrontOfIt) {
  plant("stream-ignored");
  for (const cudaDataType_t type : {CUDA_R_32F, CUDA_R_16BF}) {
    const auto made = product(small(type), 1);
    const auto bytes = simulator::bytes_of_span(shape_a(made->problem));
    void* const twos = device_values(type, std::vector<double>(static_cast<std::size_t>(16) * 32, 2));
    ASSERT_EQ(platform.kernels.occupy(1000, stream), cudaSuccess);
    ASSERT_EQ(cuda.memcpy_async(const_cast<void*>(made->pointers.a), twos, bytes, cudaMemcpyDeviceToDevice, stream),
              cudaSuccess);
    run(*made, stream);
    EXPECT_EQ(right(*made, type == CUDA_R_32F ? 32 : 64), kSmall);
  }
}

TEST_F(StreamsFaults, DeviceScalarReadLateTakesTheNextAlpha) {
  plant("device-scalar-read-late");
  for (const bool by_kernel : {false, true}) {
    MatmulProblem p = small(CUDA_R_32F);
    p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    const auto made = product(p, 1);
    made->pointers.c = device_values(CUDA_R_32F, std::vector<double>(kSmall, 0));
    void* const alpha = device_values(CUDA_R_32F, {1});
    void* const three = device_values(CUDA_R_32F, {3});
    made->pointers.alpha = alpha;
    made->pointers.beta = device_values(CUDA_R_32F, {0});
    run(*made, stream);
    const auto write = [&](void* to) {
      ASSERT_EQ(by_kernel ? platform.kernels.copy_late(to, three, 4, 0, stream)
                          : cuda.memcpy_async(to, three, 4, cudaMemcpyDeviceToDevice, stream),
                cudaSuccess);
    };
    write(device_bytes(4));
    EXPECT_EQ(count_in_d(*made, 32), kSmall);
    write(alpha);
    EXPECT_EQ(right(*made, 96), kSmall);
    // A call that was waited for is over.
    run(*made, stream);
    EXPECT_EQ(right(*made, 96), kSmall);
    ASSERT_EQ(cuda.memset_async(alpha, 0, 4, stream), cudaSuccess);
    write(alpha);
    EXPECT_EQ(right(*made, 96), kSmall);
  }
}

}  // namespace
}  // namespace lt_audit::faults
