// Streams of the simulated machine that are occupied: what waits behind the kernel, and what makes it run.
#include <thread>

#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

class OccupiedStreams : public SimulatorTest {
 protected:
  cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t created = nullptr;
    EXPECT_EQ(cuda.stream_create_with_flags(&created, flags), cudaSuccess);
    return created;
  }
  void occupy(cudaStream_t on) { ASSERT_EQ(platform.kernels.occupy(1000, on), cudaSuccess); }
  void set(cudaStream_t on, int value) { ASSERT_EQ(cuda.memset_async(cell_, value, 1, on), cudaSuccess); }
  int cell() const { return *static_cast<const unsigned char*>(cell_); }
  cudaEvent_t recorded(cudaStream_t on) {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cuda.event_create(&event), cudaSuccess);
    EXPECT_EQ(cuda.event_record(event, on), cudaSuccess);
    return event;
  }

  void* cell_ = device_values(CUDA_R_8I, {0});
};

TEST_F(OccupiedStreams, HoldWorkUntilSomethingWaitsForIt) {
  set(stream, 1);
  EXPECT_EQ(cell(), 1) << "a stream that is not occupied runs at once";
  occupy(stream);
  set(stream, 2);
  EXPECT_EQ(cell(), 1);
  set(new_stream(), 3);
  EXPECT_EQ(cell(), 3) << "another stream does not wait";
  ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(cell(), 2);
  set(stream, 4);
  EXPECT_EQ(cell(), 4) << "the kernel has ended";
  occupy(stream);
  set(stream, 5);
  ASSERT_EQ(cuda.device_synchronize(), cudaSuccess);
  EXPECT_EQ(cell(), 5);
  occupy(stream);
  set(stream, 6);
  ASSERT_EQ(cuda.stream_destroy(stream), cudaSuccess);
  EXPECT_EQ(cell(), 6);
}

TEST_F(OccupiedStreams, MakeAStreamWaitForAnEvent) {
  const cudaStream_t other = new_stream();
  occupy(stream);
  set(stream, 1);
  const cudaEvent_t event = recorded(stream);
  set(stream, 2);
  ASSERT_EQ(cuda.stream_wait_event(other, event), cudaSuccess);
  set(other, 3);
  EXPECT_EQ(cell(), 0);
  ASSERT_EQ(cuda.stream_synchronize(other), cudaSuccess);
  EXPECT_EQ(cell(), 3);
  ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(cell(), 2) << "what follows the event was not waited for";
}

TEST_F(OccupiedStreams, RunUpToAnEventThatTheHostWaitsFor) {
  occupy(stream);
  const cudaEvent_t start = recorded(stream);
  set(stream, 1);
  const cudaEvent_t end = recorded(stream);
  set(stream, 2);
  float ms = -1;
  EXPECT_EQ(cuda.event_elapsed_time(&ms, start, end), cudaErrorNotReady);
  static_cast<void>(cuda.get_last_error());
  ASSERT_EQ(cuda.event_synchronize(end), cudaSuccess);
  EXPECT_EQ(cell(), 1);
  ASSERT_EQ(cuda.event_elapsed_time(&ms, start, end), cudaSuccess);
  EXPECT_GE(ms, 0);
  ASSERT_EQ(cuda.event_destroy(end), cudaSuccess);
  ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(cell(), 2);
}

TEST_F(OccupiedStreams, KeepTheOrderOfTheLegacyStream) {
  const cudaStream_t blocking = new_stream(cudaStreamDefault);
  occupy(blocking);
  set(blocking, 1);
  set(stream, 9);
  set(nullptr, 2);
  EXPECT_EQ(cell(), 2) << "after the blocking stream's";
  occupy(nullptr);
  set(nullptr, 3);
  set(stream, 9);
  EXPECT_EQ(cell(), 9) << "a non-blocking stream does not wait";
  set(cudaStreamPerThread, 4);
  EXPECT_EQ(cell(), 4) << "after the legacy stream's";
}

TEST_F(OccupiedStreams, ReadPageableMemoryAtTheCallAndWriteItBeforeTheReturn) {
  char sent = 1;
  char received = 0;
  occupy(stream);
  ASSERT_EQ(cuda.memcpy_async(cell_, &sent, 1, cudaMemcpyHostToDevice, stream), cudaSuccess);
  sent = 2;
  EXPECT_EQ(cell(), 0);
  ASSERT_EQ(cuda.memcpy_async(&received, cell_, 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(received, 1);
}

TEST_F(OccupiedStreams, FinishBeforeMemoryIsFreed) {
  void* const memory = device_bytes(16);
  occupy(stream);
  ASSERT_EQ(cuda.memset_async(memory, 1, 16, stream), cudaSuccess);
  ASSERT_EQ(cuda.free(memory), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
}

TEST_F(OccupiedStreams, EndWithTheirContext) {
  ContextHandle primary = nullptr;
  ContextHandle created = nullptr;
  ASSERT_EQ(cuda.ctx_get_current(&primary), cudaSuccess);
  ASSERT_EQ(cuda.ctx_create(&created, 0), cudaSuccess);
  const cudaStream_t theirs = new_stream();
  occupy(theirs);
  const cudaEvent_t event = recorded(theirs);
  ASSERT_EQ(cuda.ctx_set_current(primary), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(stream, event), cudaSuccess);
  set(stream, 1);
  ASSERT_EQ(cuda.ctx_destroy(created), cudaSuccess);
  ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(cell(), 1);
}

TEST_F(OccupiedStreams, CaptureTheKernelAsANode) {
  ASSERT_EQ(cuda.stream_begin_capture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  occupy(stream);
  set(stream, 1);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuda.stream_end_capture(stream, &graph), cudaSuccess);
  std::size_t nodes = 0;
  ASSERT_EQ(cuda.graph_get_node_count(graph, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 2U);
  set(stream, 2);
  EXPECT_EQ(cell(), 2);
}

TEST_F(OccupiedStreams, AreOfEveryPriority) {
  int least = -1;
  int greatest = 1;
  ASSERT_EQ(cuda.device_get_stream_priority_range(&least, &greatest), cudaSuccess);
  EXPECT_LT(greatest, least);
  cudaStream_t high = nullptr;
  ASSERT_EQ(cuda.stream_create_with_priority(&high, cudaStreamNonBlocking, greatest), cudaSuccess);
  set(high, 1);
  EXPECT_EQ(cell(), 1);
  EXPECT_EQ(cuda.stream_create_with_priority(&high, 7, least), cudaErrorInvalidValue);
}

TEST_F(OccupiedStreams, RunTheLateCopyInOrder) {
  void* const two = device_values(CUDA_R_8I, {2});
  occupy(stream);
  ASSERT_EQ(platform.kernels.copy_late(cell_, two, 1, 1000, stream), cudaSuccess);
  EXPECT_EQ(cell(), 0);
  ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(cell(), 2);
  ASSERT_EQ(platform.kernels.copy_late(cell_, two, 4, 0, stream), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
}

}  // namespace
}  // namespace lt_audit::simulator
