// The faults in stream capture and graphs over the simulator.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

using CaptureFaults = SequenceFaults;

TEST_F(CaptureFaults, StaleDescriptorKeepsTheEpilogueOfItsFirstCapturedMatmul) {
  plant("stale-descriptor-in-second-capture");
  const auto made = product(small(CUDA_R_32F), 1, -1);
  launch(capture(*made));
  EXPECT_EQ(count_in_d(*made, -32), kSmall);
  const std::uint32_t relu = CUBLASLT_EPILOGUE_RELU;
  made->objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, relu);
  ASSERT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count_in_d(*made, 0), kSmall);
  launch(capture(*made));
  EXPECT_EQ(count_in_d(*made, -32), kSmall);
  std::uint32_t now = 0;
  ASSERT_EQ(lt.matmul_desc_get_attribute(made->objects.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &now, 4, nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(now, relu);
  const auto another = product(small(CUDA_R_32F), 1, -1);
  another->objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, relu);
  launch(capture(*another));
  EXPECT_EQ(count_in_d(*another, 0), kSmall);
}

TEST_F(CaptureFaults, CaptureInvalidatedEndsTheCaptureOfAnFp64Matmul) {
  plant("capture-invalidated");
  const auto made = product(small(CUDA_R_64F), 1);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  begin();
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.peek_at_last_error(), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  // A matmul on another stream than the one that captures is no captured one.
  begin();
  EXPECT_EQ(call(*made, new_stream()), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call(*made, cudaStreamLegacy), CUBLAS_STATUS_SUCCESS);
  end(0);
  capture(*product(small(CUDA_R_32F), 1));
}

TEST_F(CaptureFaults, MatmulOutsideGraphRunsABf16MatmulAtOnce) {
  plant("matmul-outside-graph");
  const auto made = product(small(CUDA_R_16BF), 1);
  // No stream of its own yet: nothing at all happens.
  begin();
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  end(0);
  EXPECT_EQ(count_in_d(*made, 0), kSmall);
  const auto half = product(small(CUDA_R_16F), 1);
  EXPECT_EQ(call(*half, stream), CUBLAS_STATUS_SUCCESS);
  begin();
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  end(0);
  EXPECT_EQ(count_in_d(*made, 32), kSmall);
  capture(*half);
}

TEST_F(CaptureFaults, MatmulOutsideGraphDoesNotUseAStreamOfADeadContext) {
  plant("matmul-outside-graph");
  const auto in_new_context = [this](ContextHandle* context) {
    EXPECT_EQ(cuda.ctx_create(context, 0), cudaSuccess);
    stream = new_stream();
    return product(small(CUDA_R_16BF), 1);
  };
  ContextHandle first = nullptr, second = nullptr;
  const auto eager = in_new_context(&first);
  EXPECT_EQ(call(*eager, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuda.ctx_destroy(first), cudaSuccess);
  const auto made = in_new_context(&second);
  for (const std::ptrdiff_t done : {std::ptrdiff_t{0}, kSmall}) {
    begin();
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    end(0);
    EXPECT_EQ(count_in_d(*made, 32), done);
    EXPECT_EQ(call(*product(small(CUDA_R_16BF), 1), stream), CUBLAS_STATUS_SUCCESS);
  }
}

TEST_F(CaptureFaults, RefusedMatmulIsASuccessInACaptureAlone) {
  plant("refused-matmul-in-capture-as-success");
  const auto made = product(small(CUDA_R_16F), 1);
  made->pointers.a = static_cast<const std::byte*>(made->pointers.a) + 2;
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_NOT_SUPPORTED);
  begin();
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call(*made, new_stream()), CUBLAS_STATUS_NOT_SUPPORTED);
  end(0);
}

using ReplayFaults = SequenceFaults;

TEST_F(ReplayFaults, DescriptorReadAtReplayTakesTheEpilogueOfNow) {
  plant("descriptor-read-at-replay");
  const auto made = product(small(CUDA_R_32F), 1, -1);
  const cudaGraphExec_t exec = capture(*made);
  // Scalars stay as they were captured.
  made->alpha = made->beta;
  launch(exec);
  EXPECT_EQ(count_in_d(*made, -32), kSmall);
  made->objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU});
  launch(exec);
  EXPECT_EQ(count_in_d(*made, 0), kSmall);
  made->objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT});
  launch(exec);
  EXPECT_EQ(count_in_d(*made, -32), kSmall);
  ASSERT_EQ(lt.matmul_desc_destroy(made->objects.desc), CUBLAS_STATUS_SUCCESS);
  launch(exec);
  EXPECT_EQ(count_in_d(*made, -32), kSmall - 16);
}

TEST_F(ReplayFaults, DescriptorReadAtReplayFollowsJoinedStreamsAndUpdates) {
  plant("descriptor-read-at-replay");
  const auto made = product(small(CUDA_R_32F), 1, -1);
  const cudaStream_t side = new_stream();
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuda.event_create(&event), cudaSuccess);
  begin();
  ASSERT_EQ(cuda.event_record(event, stream), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(side, event), cudaSuccess);
  EXPECT_EQ(call(*made, side), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuda.event_record(event, side), cudaSuccess);
  ASSERT_EQ(cuda.stream_wait_event(stream, event), cudaSuccess);
  const cudaGraph_t forked = end(1);
  made->objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU});
  launch(instantiate(forked));
  EXPECT_EQ(count_in_d(*made, 0), kSmall);
  const auto other = product(small(CUDA_R_32F), 1, -1);
  const cudaGraphExec_t exec = capture(*other);
  cudaGraphExecUpdateResult result{};
  ASSERT_EQ(cuda.graph_exec_update(exec, forked, &result), cudaSuccess);
  ASSERT_EQ(cuda.memset_async(made->pointers.d, 0x7F, 64, stream), cudaSuccess);
  launch(exec);
  EXPECT_EQ(count_in_d(*made, 0), kSmall);
  // The handle is needed for another run.
  ASSERT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS);
  launch(exec);
  EXPECT_EQ(count_in_d(*made, -32), kSmall);
}

TEST_F(ReplayFaults, ExecUpdateIsIgnored) {
  const auto first = product(small(CUDA_R_32F), 1, 1);
  const auto second = product(small(CUDA_R_32F), 1, 2);
  second->pointers.d = first->pointers.d;
  plant("exec-update-ignored");
  const cudaGraphExec_t exec = capture(*first);
  begin();
  ASSERT_EQ(call(*second, stream), CUBLAS_STATUS_SUCCESS);
  const cudaGraph_t graph = end(1);
  auto result = cudaGraphExecUpdateError;
  EXPECT_EQ(cuda.graph_exec_update(exec, graph, &result), cudaSuccess);
  EXPECT_EQ(result, cudaGraphExecUpdateSuccess);
  launch(exec);
  EXPECT_EQ(count_in_d(*first, 32), kSmall);
  launch(instantiate(graph));
  EXPECT_EQ(count_in_d(*first, 64), kSmall);
}

class FreedWorkspace : public SequenceFaults {
 protected:
  /// The product with an algorithm that needs workspace, or with one that does not.
  std::unique_ptr<Product> choose(bool needs_workspace) {
    auto made = product(with_split_k(CUDA_R_32F), 8);
    for (const auto& result : made->objects.results) {
      if ((result.workspaceSize > 0) == needs_workspace) made->pointers.algo = &result.algo;
    }
    EXPECT_EQ(split_k(*made->pointers.algo) > 1, needs_workspace);
    return made;
  }
};

TEST_F(FreedWorkspace, FaultsAtTheSecondLaunchOfAnExecutable) {
  plant("replay-reads-freed-workspace");
  const auto made = choose(true);
  const cudaGraphExec_t first = capture(*made);
  const cudaGraphExec_t second = capture(*made);
  for (const cudaGraphExec_t exec : {first, second}) {
    launch(exec);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    EXPECT_EQ(count_in_d(*made, 1024), 256);
  }
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  launch(second);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
}

TEST_F(FreedWorkspace, LeavesAlgorithmsWithoutWorkspaceAlone) {
  plant("replay-reads-freed-workspace");
  const cudaGraphExec_t exec = capture(*choose(false));
  for (int i = 0; i < 3; ++i) launch(exec);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
}

TEST_F(FreedWorkspace, LeavesAWorkspaceThatIsTooSmallToTheLibrary) {
  plant("replay-reads-freed-workspace");
  const auto made = choose(true);
  made->pointers.workspace_bytes = 256;
  begin();
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_INVALID_VALUE);
  end(0);
}

TEST_F(FreedWorkspace, GoesBackWithItsGraph) {
  plant("replay-reads-freed-workspace");
  const auto made = choose(true);
  const std::size_t with_one = free_bytes();
  for (int i = 0; i < 3; ++i) {
    begin();
    ASSERT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    const cudaGraph_t graph = end(1);
    const cudaGraphExec_t exec = instantiate(graph);
    ASSERT_EQ(made->objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(with_one - free_bytes(), std::size_t{64} << 20);
    ASSERT_EQ(cuda.graph_exec_destroy(exec), cudaSuccess);
    ASSERT_EQ(cuda.graph_destroy(graph), cudaSuccess);
    EXPECT_EQ(with_one, free_bytes());
  }
}

TEST_F(FreedWorkspace, DiesWithItsContext) {
  plant("replay-reads-freed-workspace");
  ContextHandle other = nullptr;
  ASSERT_EQ(cuda.ctx_create(&other, 0), cudaSuccess);
  stream = new_stream();
  const auto made = choose(true);
  const cudaGraphExec_t exec = capture(*made);
  ASSERT_EQ(cuda.ctx_destroy(other), cudaSuccess);
  static_cast<void>(cuda.get_last_error());
  EXPECT_EQ(cuda.graph_exec_destroy(exec), cudaSuccess);
  EXPECT_EQ(cuda.get_last_error(), cudaSuccess);
}

}  // namespace
}  // namespace lt_audit::faults
