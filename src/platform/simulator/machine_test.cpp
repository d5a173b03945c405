// Devices, contexts, memory bounds and sticky errors of the simulated CUDA runtime.
#include <thread>

#include "platform/audit_kernels.h"
#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

class Memory : public SimulatorTest {};

TEST_F(Memory, IsCountedAndRunsOut) {
  std::size_t free_before = 0, total = 0, free_after = 0;
  ASSERT_EQ(cuda.mem_get_info(&free_before, &total), cudaSuccess);
  void* slab = device_bytes(std::size_t{2} << 30);
  ASSERT_EQ(cuda.mem_get_info(&free_after, &total), cudaSuccess);
  EXPECT_EQ(free_before - free_after, std::size_t{2} << 30);
  void* too_much = nullptr;
  EXPECT_EQ(cuda.malloc(&too_much, total), cudaErrorMemoryAllocation);
  EXPECT_EQ(cuda.get_last_error(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cuda.get_last_error(), cudaSuccess);
  EXPECT_EQ(cuda.free(slab), cudaSuccess);
  EXPECT_EQ(cuda.free(slab), cudaErrorInvalidValue);
}

TEST_F(Memory, CopiesThereAndBack) {
  void* device = device_bytes(4);
  const int sent = 42;
  int received = 0;
  EXPECT_EQ(cuda.memcpy_async(device, &sent, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cuda.memcpy_async(&received, device, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(received, 42);
}

TEST_F(Memory, RefusesCopiesThatStartOutsideOfMemory) {
  int here = 0;
  EXPECT_EQ(cuda.memset_async(&here, 0, 4, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cuda.memcpy_async(&here, &here, 4, cudaMemcpyDeviceToHost, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
}

TEST_F(Memory, OverrunIsStickyUntilTheDeviceIsReset) {
  void* device = device_bytes(100);
  EXPECT_EQ(cuda.memset_async(device, 1, 101, stream), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
  void* more = nullptr;
  EXPECT_EQ(cuda.malloc(&more, 16), cudaErrorIllegalAddress);
  EXPECT_EQ(cuda.get_last_error(), cudaErrorIllegalAddress);
  EXPECT_EQ(cuda.get_last_error(), cudaErrorIllegalAddress);
  EXPECT_EQ(cuda.device_reset(), cudaSuccess);
  EXPECT_EQ(cuda.malloc(&more, 16), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorInvalidResourceHandle);
}

TEST_F(Memory, OverrunWritesNothing) {
  void* device = device_values(CUDA_R_8I, {7, 7, 7});
  EXPECT_EQ(cuda.memset_async(device, 1, 4, stream), cudaSuccess);
  EXPECT_EQ(values_at(CUDA_R_8I, device, 3), (std::vector<double>{7, 7, 7}));
}

TEST_F(Memory, AFaultOnOneDeviceLeavesTheOtherAlone) {
  void* device = device_bytes(8);
  EXPECT_EQ(cuda.memset_async(device, 1, 9, stream), cudaSuccess);
  EXPECT_EQ(cuda.device_synchronize(), cudaErrorIllegalAddress);
  ASSERT_EQ(cuda.set_device(1), cudaSuccess);
  EXPECT_EQ(cuda.device_synchronize(), cudaSuccess);
  ASSERT_EQ(cuda.set_device(0), cudaSuccess);
  EXPECT_EQ(cuda.device_synchronize(), cudaErrorIllegalAddress);
}

TEST_F(Memory, KernelsOfTheAuditFaultOutsideOfMemory) {
  std::byte here[16] = {};
  PrepareSpec spec;
  spec.regions.count = 1;
  spec.regions.region[0].begin = here;
  spec.regions.region[0].bytes = sizeof here;
  EXPECT_EQ(platform.kernels.prepare(spec, stream), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
}

TEST_F(Memory, KernelsOfTheAuditRunInLiveMemory) {
  PrepareSpec spec;
  spec.regions.count = 1;
  Region& region = spec.regions.region[0];
  region.begin = device_bytes(64);
  region.bytes = 64;
  region.content = RegionContent::poison;
  region.poison = 0xAB;
  region.shape = {CUDA_R_8I, 64, 1, 64, CUBLASLT_ORDER_COL, 1, 64};
  EXPECT_EQ(platform.kernels.prepare(spec, stream), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(static_cast<const std::uint8_t*>(region.begin)[63], 0xAB);
}

class Devices : public SimulatorTest {};

TEST_F(Devices, AreTwoWithFacts) {
  int count = 0;
  ASSERT_EQ(cuda.get_device_count(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  DeviceFacts facts;
  ASSERT_EQ(cuda.get_device_facts(&facts, 1), cudaSuccess);
  EXPECT_EQ(facts.name, "Simulated GPU (sm_90)");
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(cuda.get_device_facts(&facts, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cuda.set_device(2), cudaErrorInvalidDevice);
}

TEST_F(Devices, AreSelectedPerThread) {
  ASSERT_EQ(cuda.set_device(1), cudaSuccess);
  int elsewhere = -1;
  std::thread([&] { cuda.get_device(&elsewhere); }).join();
  EXPECT_EQ(elsewhere, 0);
  int here = -1;
  ASSERT_EQ(cuda.get_device(&here), cudaSuccess);
  EXPECT_EQ(here, 1);
}

TEST_F(Devices, DoNotLaunchIntoEachOthersStreams) {
  ASSERT_EQ(cuda.set_device(1), cudaSuccess);
  PrepareSpec spec;
  EXPECT_EQ(platform.kernels.prepare(spec, stream), cudaErrorInvalidResourceHandle);
}

class Contexts : public SimulatorTest {};

TEST_F(Contexts, OwnTheirMemoryAndTakeItWithThem) {
  ContextHandle primary = nullptr, created = nullptr;
  ASSERT_EQ(cuda.ctx_get_current(&primary), cudaSuccess);
  ASSERT_EQ(cuda.ctx_create(&created, 0), cudaSuccess);
  void* memory = device_bytes(64);
  ASSERT_EQ(cuda.ctx_set_current(primary), cudaSuccess);
  EXPECT_EQ(cuda.memset_async(memory, 0, 64, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cuda.ctx_destroy(created), cudaSuccess);
  EXPECT_EQ(cuda.free(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cuda.ctx_set_current(created), cudaErrorInvalidValue);
}

TEST_F(Contexts, KeepTheirFaultsApart) {
  ContextHandle primary = nullptr, created = nullptr;
  ASSERT_EQ(cuda.ctx_get_current(&primary), cudaSuccess);
  ASSERT_EQ(cuda.ctx_create(&created, 0), cudaSuccess);
  EXPECT_EQ(cuda.memset_async(device_bytes(8), 0, 9, nullptr), cudaSuccess);
  EXPECT_EQ(cuda.device_synchronize(), cudaErrorIllegalAddress);
  ASSERT_EQ(cuda.ctx_set_current(primary), cudaSuccess);
  EXPECT_EQ(cuda.device_synchronize(), cudaSuccess);
}

TEST_F(Contexts, DestroyedButStillCurrentElsewhereIsAnError) {
  ContextHandle created = nullptr;
  ASSERT_EQ(cuda.ctx_create(&created, 0), cudaSuccess);
  std::thread([&] { EXPECT_EQ(cuda.ctx_destroy(created), cudaSuccess); }).join();
  EXPECT_EQ(cuda.device_synchronize(), cudaErrorContextIsDestroyed);
}

class Events : public SimulatorTest {};

TEST_F(Events, MeasureTimeBetweenRecords) {
  cudaEvent_t start = nullptr, end = nullptr;
  ASSERT_EQ(cuda.event_create(&start), cudaSuccess);
  ASSERT_EQ(cuda.event_create(&end), cudaSuccess);
  float ms = -1;
  EXPECT_EQ(cuda.event_elapsed_time(&ms, start, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cuda.event_record(start, stream), cudaSuccess);
  ASSERT_EQ(cuda.event_record(end, stream), cudaSuccess);
  ASSERT_EQ(cuda.event_elapsed_time(&ms, start, end), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(cuda.event_destroy(start), cudaSuccess);
  EXPECT_EQ(cuda.event_destroy(start), cudaErrorInvalidResourceHandle);
}

}  // namespace
}  // namespace lt_audit::simulator
