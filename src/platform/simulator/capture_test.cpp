// Stream capture and graphs: the rules of CUDA, and what a captured matmul keeps by value.
#include <thread>

#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

class Capture : public SimulatorTest {
 protected:
  cudaStream_t new_stream(unsigned flags) {
    cudaStream_t created = nullptr;
    EXPECT_EQ(cuda.stream_create_with_flags(&created, flags), cudaSuccess);
    return created;
  }
  void begin(cudaStream_t on, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cuda.stream_begin_capture(on, mode), cudaSuccess);
  }
  void expect_invalidated(cudaStream_t on) {
    auto* graph = reinterpret_cast<cudaGraph_t>(0x1);
    EXPECT_EQ(cuda.stream_end_capture(on, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
  }
  cudaGraphExec_t end(cudaStream_t on, std::size_t nodes) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cuda.stream_end_capture(on, &graph), cudaSuccess);
    std::size_t count = 0;
    EXPECT_EQ(cuda.graph_get_node_count(graph, &count), cudaSuccess);
    EXPECT_EQ(count, nodes);
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cuda.graph_instantiate(&exec, graph), cudaSuccess);
    EXPECT_EQ(cuda.graph_destroy(graph), cudaSuccess);
    return exec;
  }

  void* memory = device_bytes(64);
};

TEST_F(Capture, RecordsInsteadOfRunning) {
  ASSERT_EQ(cuda.memset_async(memory, 1, 1, stream), cudaSuccess);
  begin(stream);
  ASSERT_EQ(cuda.memset_async(memory, 2, 1, stream), cudaSuccess);
  cudaStreamCaptureStatus status{};
  ASSERT_EQ(cuda.stream_is_capturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  const cudaGraphExec_t exec = end(stream, 1);
  EXPECT_EQ(values_at(CUDA_R_8I, memory, 1).front(), 1);
  ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(values_at(CUDA_R_8I, memory, 1).front(), 2);
  EXPECT_EQ(cuda.graph_exec_destroy(exec), cudaSuccess);
  EXPECT_EQ(cuda.graph_launch(exec, stream), cudaErrorInvalidValue);
}

TEST_F(Capture, SynchronisingInvalidates) {
  begin(stream);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cuda.memset_async(memory, 2, 1, stream), cudaErrorStreamCaptureInvalidated);
  expect_invalidated(stream);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  begin(stream, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cuda.device_synchronize(), cudaErrorStreamCaptureUnsupported);
  expect_invalidated(stream);
}

TEST_F(Capture, LegacyStreamInvalidatesABlockingCaptureOnly) {
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    const cudaStream_t blocking = new_stream(cudaStreamDefault);
    begin(blocking, mode);
    EXPECT_EQ(cuda.memset_async(memory, 2, 1, nullptr), cudaErrorStreamCaptureImplicit);
    expect_invalidated(blocking);
    begin(stream, mode);
    EXPECT_EQ(cuda.memset_async(memory, 2, 1, cudaStreamLegacy), cudaSuccess);
    EXPECT_EQ(cuda.memset_async(memory, 2, 1, cudaStreamPerThread), cudaSuccess);
    end(stream, 0);
  }
}

TEST_F(Capture, UnsafeCallsDependOnTheMode) {
  void* other = nullptr;
  begin(stream, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cuda.malloc(&other, 8), cudaSuccess);
  end(stream, 0);
  begin(stream, cudaStreamCaptureModeGlobal);
  std::thread([&] { EXPECT_EQ(cuda.malloc(&other, 8), cudaErrorStreamCaptureUnsupported); }).join();
  expect_invalidated(stream);
  begin(stream, cudaStreamCaptureModeThreadLocal);
  std::thread([&] { EXPECT_EQ(cuda.malloc(&other, 8), cudaSuccess); }).join();
  EXPECT_EQ(cuda.malloc(&other, 8), cudaErrorStreamCaptureUnsupported);
  expect_invalidated(stream);
}

TEST_F(Capture, IsBegunAndEndedOnce) {
  EXPECT_EQ(cuda.stream_begin_capture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaErrorIllegalState);
  begin(stream);
  EXPECT_EQ(cuda.stream_begin_capture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  std::thread([&] { EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaErrorStreamCaptureWrongThread); }).join();
  end(stream, 0);
}

TEST_F(Capture, AnotherStreamJoinsThroughEventsAndMustComeBack) {
  const cudaStream_t side = new_stream(cudaStreamNonBlocking);
  cudaEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(cuda.event_create(&fork), cudaSuccess);
  ASSERT_EQ(cuda.event_create(&join), cudaSuccess);
  const auto capture_side = [&] {
    begin(stream);
    ASSERT_EQ(cuda.event_record(fork, stream), cudaSuccess);
    ASSERT_EQ(cuda.stream_wait_event(side, fork), cudaSuccess);
    ASSERT_EQ(cuda.memset_async(memory, 3, 1, side), cudaSuccess);
  };
  capture_side();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cuda.stream_end_capture(side, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  capture_side();
  ASSERT_EQ(cuda.event_record(join, side), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(stream, join), cudaSuccess);
  EXPECT_EQ(cuda.event_synchronize(join), cudaErrorCapturedEvent);
  expect_invalidated(stream);
  capture_side();
  ASSERT_EQ(cuda.event_record(join, side), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(stream, join), cudaSuccess);
  end(stream, 1);
}

TEST_F(Capture, WaitingForAnEventDoesNotCoverLaterWork) {
  const cudaStream_t side = new_stream(cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuda.event_create(&event), cudaSuccess);
  begin(stream);
  ASSERT_EQ(cuda.event_record(event, stream), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(side, event), cudaSuccess);
  ASSERT_EQ(cuda.event_record(event, side), cudaSuccess);
  ASSERT_EQ(cuda.memset_async(memory, 3, 1, side), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(stream, event), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Capture, WaitingForWorkOutsideIsRefused) {
  cudaEvent_t outside = nullptr;
  ASSERT_EQ(cuda.event_create(&outside), cudaSuccess);
  ASSERT_EQ(cuda.event_record(outside, stream), cudaSuccess);
  begin(stream);
  EXPECT_EQ(cuda.stream_wait_event(stream, outside), cudaErrorStreamCaptureIsolation);
  expect_invalidated(stream);
}

class CapturedMatmul : public Capture {
 protected:
  CapturedMatmul() : objects(lt, uniform_problem(CUDA_R_32F, 1, 1, 1)) {
    pointers.alpha = &alpha;
    pointers.beta = &beta;
    pointers.a = a = device_values(CUDA_R_32F, {2});
    pointers.b = device_values(CUDA_R_32F, {3});
    pointers.c = pointers.d = d = device_values(CUDA_R_32F, {0});
  }
  cublasStatus_t call(cudaStream_t on) { return call_matmul(lt, handle, objects, pointers, on); }
  double value() const { return load_value(CUDA_R_32F, d); }

  float alpha = 1;
  float beta = 0;
  void* a = nullptr;
  void* d = nullptr;
  MatmulPointers pointers;
  ProblemObjects objects;
};

TEST_F(CapturedMatmul, KeepsHostScalarsAndDescriptorByValueAndReadsMemoryAgain) {
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  const cudaGraphExec_t exec = end(stream, 1);
  EXPECT_EQ(value(), 0);
  alpha = 100;
  objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU});
  store_value(CUDA_R_32F, a, -5);
  ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(value(), -15);
  ASSERT_EQ(lt.matmul_desc_destroy(objects.desc), CUBLAS_STATUS_SUCCESS);
  store_value(CUDA_R_32F, a, 4);
  ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(value(), 12);
}

TEST_F(CapturedMatmul, SecondCaptureTakesTheNewEpilogue) {
  store_value(CUDA_R_32F, a, -5);
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  end(stream, 1);
  objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU});
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  const cudaGraphExec_t second = end(stream, 1);
  ASSERT_EQ(cuda.graph_launch(second, stream), cudaSuccess);
  EXPECT_EQ(value(), 0);
}

TEST_F(CapturedMatmul, UpdateTakesTheParametersOfAGraphOfTheSameTopology) {
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  const cudaGraphExec_t exec = end(stream, 1);
  objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU});
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  cudaGraph_t changed = nullptr;
  ASSERT_EQ(cuda.stream_end_capture(stream, &changed), cudaSuccess);
  auto result = cudaGraphExecUpdateError;
  EXPECT_EQ(cuda.graph_exec_update(exec, changed, &result), cudaSuccess);
  EXPECT_EQ(result, cudaGraphExecUpdateSuccess);
  ASSERT_EQ(cuda.graph_destroy(changed), cudaSuccess);
  store_value(CUDA_R_32F, a, -5);
  ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(value(), 0);
}

TEST_F(CapturedMatmul, UpdateRefusesAnotherTopologyAndLeavesTheExecutableAlone) {
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  const cudaGraphExec_t exec = end(stream, 1);
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  cudaGraph_t longer = nullptr;
  ASSERT_EQ(cuda.stream_end_capture(stream, &longer), cudaSuccess);
  auto result = cudaGraphExecUpdateSuccess;
  EXPECT_EQ(cuda.graph_exec_update(exec, longer, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, cudaGraphExecUpdateErrorTopologyChanged);
  store_value(CUDA_R_32F, a, -5);
  ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(value(), -15);
  EXPECT_EQ(cuda.graph_exec_update(nullptr, longer, &result), cudaErrorInvalidValue);
  EXPECT_EQ(cuda.graph_exec_update(exec, nullptr, &result), cudaErrorInvalidValue);
}

TEST_F(CapturedMatmul, ReplayAfterFreeFaults) {
  begin(stream);
  ASSERT_EQ(call(stream), CUBLAS_STATUS_SUCCESS);
  const cudaGraphExec_t exec = end(stream, 1);
  ASSERT_EQ(cuda.free(a), cudaSuccess);
  EXPECT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
}

TEST_F(CapturedMatmul, LegacyStreamFailsBesideABlockingCapture) {
  const cudaStream_t blocking = new_stream(cudaStreamDefault);
  begin(blocking);
  EXPECT_EQ(call(nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cuda.get_last_error(), cudaSuccess);
  expect_invalidated(blocking);
  begin(stream);
  EXPECT_EQ(call(nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(value(), 6);
  end(stream, 0);
}

TEST_F(CapturedMatmul, HandlesUnderCapture) {
  begin(stream);
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  cublasLtHandle_t second = nullptr;
  EXPECT_EQ(lt.create(&second), CUBLAS_STATUS_SUCCESS);
  end(stream, 0);
  begin(stream);
  EXPECT_EQ(lt.destroy(second), CUBLAS_STATUS_SUCCESS);
  expect_invalidated(stream);
  begin(stream);
  cublasHandle_t blas = nullptr;
  EXPECT_EQ(platform.blas.create(&blas), CUBLAS_STATUS_NOT_INITIALIZED);
  expect_invalidated(stream);
}

}  // namespace
}  // namespace lt_audit::simulator
