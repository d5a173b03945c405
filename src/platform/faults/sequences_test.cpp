// The faults on sequences of calls over the simulator: what all of them leave alone, and what those on heuristic
// queries and on handles do.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "platform/faults/fault_rows.h"
#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

class EverySequenceFault : public SequenceFaults, public testing::WithParamInterface<std::string_view> {};

TEST_P(EverySequenceFault, LeavesAnEagerCallAlone) {
  plant(GetParam());
  const auto made = product(small(CUDA_R_8I), 1);
  EXPECT_EQ(made->objects.results.front().state, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(made->objects.results.front().workspaceSize, 0U);
  cublasLtMatmulHeuristicResult_t checked = {};
  EXPECT_EQ(lt.matmul_algo_check(handle, made->objects.desc, made->objects.a, made->objects.b, made->objects.c,
                                 made->objects.d, made->pointers.algo, &checked),
            CUBLAS_STATUS_SUCCESS);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count_in_d(*made, 32), kSmall);
  EXPECT_EQ(cuda.get_last_error(), cudaSuccess);
}

TEST_P(EverySequenceFault, LeavesACapturedCallAlone) {
  plant(GetParam());
  const auto made = product(small(CUDA_R_8I), 1);
  const cudaGraphExec_t exec = capture(*made);
  EXPECT_EQ(count_in_d(*made, 0), kSmall);
  for (int i = 0; i < 3; ++i) launch(exec);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(count_in_d(*made, 32), kSmall);
  EXPECT_EQ(cuda.graph_exec_destroy(exec), cudaSuccess);
  EXPECT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.get_last_error(), cudaSuccess);
}

TEST_P(EverySequenceFault, IsCalledFromManyThreads) {
  plant(GetParam());
  std::vector<std::unique_ptr<Product>> products;
  std::vector<cudaStream_t> streams;
  for (int i = 0; i < 8; ++i) {
    // Another k is another algorithm.
    MatmulProblem p = small(CUDA_R_8I);
    p.k = 16 * (i + 1);
    products.push_back(product(p, 1));
    streams.push_back(new_stream());
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < products.size(); ++i) {
    threads.emplace_back([this, &made = *products[i], on = streams[i]] {
      for (int times = 0; times < 20; ++times) {
        EXPECT_EQ(made.objects.heuristic(handle, 1), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(call(made, on), CUBLAS_STATUS_SUCCESS);
        ASSERT_EQ(cuda.stream_begin_capture(on, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        EXPECT_EQ(call(made, on), CUBLAS_STATUS_SUCCESS);
        cudaGraph_t graph = nullptr;
        ASSERT_EQ(cuda.stream_end_capture(on, &graph), cudaSuccess);
        const cudaGraphExec_t exec = instantiate(graph);
        for (int launches = 0; launches < 2; ++launches) EXPECT_EQ(cuda.graph_launch(exec, on), cudaSuccess);
        EXPECT_EQ(cuda.graph_exec_destroy(exec), cudaSuccess);
        EXPECT_EQ(cuda.graph_destroy(graph), cudaSuccess);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& made : products) EXPECT_EQ(count_in_d(*made, static_cast<double>(made->problem.k)), kSmall);
}

INSTANTIATE_TEST_SUITE_P(All, EverySequenceFault, testing::ValuesIn(kSequenceFaults), [](const auto& name) {
  std::string text(name.param);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

using HeuristicFaults = SequenceFaults;

TEST_F(HeuristicFaults, ResultStateNotSuccessMarksTheSecondOfSeveralFp32Results) {
  plant("result-state-not-success");
  const auto made = product(small(CUDA_R_32F), 8);
  ASSERT_GE(made->objects.results.size(), 3U);
  for (std::size_t i = 0; i < made->objects.results.size(); ++i) {
    EXPECT_EQ(made->objects.results[i].state, i == 1 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
  }
  const auto single = product(small(CUDA_R_32F), 1);
  EXPECT_EQ(single->objects.results.front().state, CUBLAS_STATUS_SUCCESS);
  const auto half = product(small(CUDA_R_16F), 8);
  EXPECT_EQ(half->objects.results.at(1).state, CUBLAS_STATUS_SUCCESS);
}

TEST_F(HeuristicFaults, WorkspaceAboveLimitExceedsTheLimitOfThePreferenceInTheLastBf16Result) {
  plant("workspace-above-limit");
  const auto made = product(with_split_k(CUDA_R_16BF), 8);
  const auto& results = made->objects.results;
  ASSERT_GE(results.size(), 2U);
  EXPECT_EQ(results.back().workspaceSize, std::size_t{5} << 20);
  for (std::size_t i = 0; i + 1 < results.size(); ++i) EXPECT_LE(results[i].workspaceSize, std::size_t{1} << 20);
  made->objects.set_preference(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{0});
  ASSERT_EQ(made->objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(results.back().workspaceSize, std::size_t{4} << 20);
  const auto half = product(with_split_k(CUDA_R_16F), 8);
  for (const auto& result : half->objects.results) {
    EXPECT_LE(result.workspaceSize, std::size_t{1} << 20);
  }
}

TEST_F(HeuristicFaults, OneBadAlgorithmSpoilsOneElementWithTheLastFp16Algorithm) {
  plant("one-bad-algorithm");
  for (const cudaDataType_t type : {CUDA_R_16F, CUDA_R_32F}) {
    const auto made = product(small(type), 8);
    const auto& results = made->objects.results;
    ASSERT_GE(results.size(), 3U);
    for (std::size_t i = 0; i < results.size(); ++i) {
      made->pointers.algo = &results[i].algo;
      ASSERT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
      const bool bad = type == CUDA_R_16F && i + 1 == results.size();
      EXPECT_EQ(count_in_d(*made, 32), kSmall - (bad ? 1 : 0)) << i;
    }
  }
  MatmulProblem other = small(CUDA_R_16F);
  other.k = 64;
  const auto few = product(other, 2);
  few->pointers.algo = &few->objects.results.back().algo;
  ASSERT_EQ(call(*few, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count_in_d(*few, 64), kSmall);
}

TEST_F(HeuristicFaults, SplitKTailLostLeavesOut16OfKWithAlgorithmsThatSplitIt) {
  plant("split-k-tail-lost");
  for (const cudaDataType_t type : {CUDA_R_32F, CUDA_R_16BF}) {
    const auto made = product(with_split_k(type), 8);
    int split = 0;
    for (const auto& result : made->objects.results) {
      made->pointers.algo = &result.algo;
      ASSERT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
      const bool targeted = split_k(result.algo) > 1;
      split += targeted ? 1 : 0;
      EXPECT_EQ(count_in_d(*made, targeted ? 1008 : 1024), 256);
    }
    EXPECT_GT(split, 0);
    EXPECT_LT(split, static_cast<int>(made->objects.results.size()));
    made->pointers.algo = nullptr;
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(count_in_d(*made, 1024), 256);
  }
}

TEST_F(HeuristicFaults, AlgorithmBoundToStreamFailsOnEveryStreamButTheFirst) {
  plant("algorithm-bound-to-stream");
  const auto made = product(small(CUDA_R_32F), 8);
  const cudaStream_t second = new_stream();
  EXPECT_EQ(call(*made, second), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(call(*made, nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(call(*made, second), CUBLAS_STATUS_SUCCESS);
  made->pointers.algo = &made->objects.results.at(1).algo;
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  made->pointers.algo = nullptr;
  for (const cudaStream_t on : {stream, second}) EXPECT_EQ(call(*made, on), CUBLAS_STATUS_SUCCESS);
}

TEST_F(HeuristicFaults, RestoredAlgorithmIsRefusedUntilAQueryReturnsIt) {
  // The query before the fault was planted is the one of another process.
  const auto made = product(small(CUDA_R_32F), 1);
  const cublasLtMatmulAlgo_t restored = *made->pointers.algo;
  plant("restored-algorithm-refused");
  cublasLtMatmulHeuristicResult_t result = {};
  const auto check = [&] {
    return lt.matmul_algo_check(handle, made->objects.desc, made->objects.a, made->objects.b, made->objects.c,
                                made->objects.d, &restored, &result);
  };
  EXPECT_EQ(check(), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_INVALID_VALUE);
  made->pointers.algo = nullptr;
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(made->objects.heuristic(handle, 1), CUBLAS_STATUS_SUCCESS);
  made->pointers.algo = &restored;
  EXPECT_EQ(check(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
}

using WorkspaceFaults = SequenceFaults;

constexpr unsigned char kOld = 0xFF;

/// The first algorithm of the list that needs a workspace.
const cublasLtMatmulHeuristicResult_t& with_workspace(const Product& made) {
  const auto& results = made.objects.results;
  return *std::find_if(results.begin(), results.end(), [](const auto& result) { return result.workspaceSize > 0; });
}

TEST_F(WorkspaceFaults, BitsChangeBetweenRunsWithoutAWorkspaceInEverySecondRunThatNeedsOne) {
  plant("bits-change-between-runs");
  const auto made = product(with_split_k(CUDA_R_32F), 8);
  made->pointers.algo = &with_workspace(*made).algo;
  auto* const workspace = static_cast<unsigned char*>(made->pointers.workspace);
  for (const bool second : {false, true, false, true}) {
    std::fill_n(workspace, made->pointers.workspace_bytes, kOld);
    ASSERT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    EXPECT_EQ(count_in_d(*made, 1024), 256);
    EXPECT_EQ(*workspace == kOld, second);
  }
}

TEST_F(WorkspaceFaults, OldWorkspaceInResultIsOneByteOfFp32ProductsThatNeedAWorkspace) {
  plant("old-workspace-in-result");
  for (const cudaDataType_t type : {CUDA_R_32F, CUDA_R_16BF}) {
    const auto made = product(with_split_k(type), 8);
    auto* const workspace = static_cast<unsigned char*>(made->pointers.workspace);
    for (const auto& result : made->objects.results) {
      made->pointers.algo = &result.algo;
      const bool targeted = type == CUDA_R_32F && result.workspaceSize > 0;
      for (const int old : {0, 1}) {
        std::fill_n(workspace, made->pointers.workspace_bytes, static_cast<unsigned char>(old));
        ASSERT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
        ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
        EXPECT_EQ(count_in_d(*made, 1024), targeted && old != 0 ? 255 : 256);
      }
    }
  }
}

TEST_F(WorkspaceFaults, UndersizedWorkspaceIsAcceptedAndWrittenPastItsEnd) {
  plant("undersized-workspace-accepted");
  const auto made = product(with_split_k(CUDA_R_16F), 8);
  made->pointers.algo = &with_workspace(*made).algo;
  const auto needed = with_workspace(*made).workspaceSize;
  auto* const workspace = static_cast<unsigned char*>(made->pointers.workspace);
  std::fill_n(workspace, made->pointers.workspace_bytes, kOld);
  made->pointers.workspace_bytes = needed / 2;
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(count_in_d(*made, 1024), 256);
  EXPECT_NE(workspace[needed - 1], kOld);
  made->pointers.workspace = nullptr;
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_INVALID_VALUE);
}

using LifetimeFaults = SequenceFaults;
using LifetimeFaultsDeathTest = SequenceFaults;

TEST_F(LifetimeFaults, LeakPerHandleTakes64KiBOutsideOfCaptures) {
  plant("leak-per-handle");
  const auto cycle = [this] {
    cublasLtHandle_t created = nullptr;
    ASSERT_EQ(lt.create(&created), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(lt.destroy(created), CUBLAS_STATUS_SUCCESS);
  };
  const std::size_t before = free_bytes();
  for (int i = 0; i < 10; ++i) cycle();
  EXPECT_EQ(before - free_bytes(), std::size_t{10} * 65536);
  begin();
  cublasLtHandle_t captured = nullptr;
  EXPECT_EQ(lt.create(&captured), CUBLAS_STATUS_SUCCESS);
  cudaGraph_t graph = end(0);
  EXPECT_EQ(before - free_bytes(), std::size_t{10} * 65536);
  // A capture that was invalidated or destroyed is over too.
  begin();
  EXPECT_EQ(lt.destroy(captured), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(cuda.stream_destroy(stream), cudaSuccess);
  cycle();
  EXPECT_EQ(before - free_bytes(), std::size_t{11} * 65536);
}

TEST_F(LifetimeFaults, HandleBoundToContextRefusesAnotherContext) {
  plant("handle-bound-to-context");
  ContextHandle home = nullptr;
  ASSERT_EQ(cuda.ctx_get_current(&home), cudaSuccess);
  ASSERT_NE(home, nullptr);
  ASSERT_EQ(lt.create(&handle), CUBLAS_STATUS_SUCCESS);
  const auto made = product(small(CUDA_R_32F), 1);
  ContextHandle other = nullptr;
  ASSERT_EQ(cuda.ctx_create(&other, 0), cudaSuccess);
  EXPECT_EQ(made->objects.heuristic(handle, 1), CUBLAS_STATUS_NOT_INITIALIZED);
  made->pointers.algo = nullptr;
  EXPECT_EQ(call(*made, new_stream()), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(lt.destroy(handle), CUBLAS_STATUS_INVALID_VALUE);
  ASSERT_EQ(cuda.ctx_set_current(home), cudaSuccess);
  EXPECT_EQ(made->objects.heuristic(handle, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS);
}

TEST_F(LifetimeFaults, HandleBoundToContextLeavesAHandleWithoutContextAlone) {
  plant("handle-bound-to-context");
  std::thread([this] { ASSERT_EQ(lt.create(&handle), CUBLAS_STATUS_SUCCESS); }).join();
  ContextHandle other = nullptr;
  ASSERT_EQ(cuda.ctx_create(&other, 0), cudaSuccess);
  stream = new_stream();
  const auto made = product(small(CUDA_R_32F), 1);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS);
}

TEST_F(LifetimeFaultsDeathTest, DestroyedHandleCrashesInEveryThreadButTheOneThatDestroyedIt) {
  plant("destroyed-handle-crashes");
  const auto made = product(small(CUDA_R_32F), 1);
  const auto destroy_elsewhere_and = [&](auto use) {
    std::signal(SIGSEGV, SIG_DFL);
    std::thread([&] { static_cast<void>(lt.destroy(handle)); }).join();
    static_cast<void>(use());
    std::exit(0);
  };
  EXPECT_EXIT(destroy_elsewhere_and([&] { return made->objects.heuristic(handle, 1); }),
              testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(destroy_elsewhere_and([&] { return call(*made, stream); }), testing::KilledBySignal(SIGSEGV), "");
  ASSERT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(made->objects.heuristic(handle, 1), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(LifetimeFaults, DestroyedHandleThatIsHandedOutAgainDoesNotCrash) {
  lt.create = [always = handle](cublasLtHandle_t* created) {
    *created = always;
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.destroy = [](cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; };
  plant("destroyed-handle-crashes");
  std::thread([this] { EXPECT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS); }).join();
  EXPECT_EQ(lt.create(&handle), CUBLAS_STATUS_SUCCESS);
  const auto made = product(small(CUDA_R_32F), 1);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
}

}  // namespace
}  // namespace lt_audit::faults
