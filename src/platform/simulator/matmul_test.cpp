// cublasLtMatmul of the simulator: argument rules, memory rules, and numbers through the public table.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

/// A problem with operands of small integers in device memory.
class Matmul : public SimulatorTest {
 protected:
  struct Run {
    MatmulProblem problem;
    ProblemObjects objects;
    MatmulPointers pointers;
  };

  std::vector<double> pattern(const MatrixShape& shape, int salt) {
    std::vector<double> values(static_cast<std::size_t>(shape.span()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>((i * 5 + static_cast<std::size_t>(salt)) % 7) - 3;
    }
    return values;
  }

  Run make(const MatmulProblem& p) {
    Run run{p, ProblemObjects(lt, p), {}};
    run.pointers.alpha = &one;
    run.pointers.beta = &zero;
    run.pointers.a = device_values(p.type_a, pattern(shape_a(p), 1));
    run.pointers.b = device_values(p.type_b, pattern(shape_b(p), 2));
    run.pointers.c = device_values(p.type_c, pattern(shape_c(p), 4));
    run.pointers.d = device_values(p.type_d, pattern(shape_d(p), 6));
    run.pointers.workspace = device_bytes(static_cast<std::size_t>(p.workspace_bytes));
    run.pointers.workspace_bytes = static_cast<std::size_t>(p.workspace_bytes);
    EXPECT_EQ(run.objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
    run.pointers.algo = &run.objects.results.front().algo;
    return run;
  }

  cublasStatus_t call(const Run& run) { return call_matmul(lt, handle, run.objects, run.pointers, stream); }

  std::vector<double> result(const Run& run) {
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return values_at(run.problem.type_d, run.pointers.d, static_cast<std::size_t>(shape_d(run.problem).span()));
  }

  float one = 1;
  float zero = 0;
};

const void* shifted(const void* pointer, std::ptrdiff_t bytes) {
  return static_cast<const std::byte*>(pointer) + bytes;
}

TEST_F(Matmul, EveryAlgorithmGivesTheSameNumbers) {
  Run run = make(uniform_problem(CUDA_R_16F, 64, 48, 512));
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  const auto first = result(run);
  EXPECT_GT(run.objects.results.size(), 3U);
  for (const auto& offered : run.objects.results) {
    run.pointers.d = device_values(CUDA_R_16F, std::vector<double>(first.size(), 99));
    run.pointers.algo = &offered.algo;
    ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(result(run), first);
  }
  run.pointers.algo = nullptr;
  run.pointers.d = device_values(CUDA_R_16F, std::vector<double>(first.size(), 99));
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result(run), first);
}

TEST_F(Matmul, RefusesADThatOverlapsAnInput) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  const auto own = run.pointers;
  const auto on = [&](void* d, const float& beta) {
    run.pointers = own;
    run.pointers.d = d;
    run.pointers.beta = &beta;
    return call(run);
  };
  const auto inside = [](const void* input, std::ptrdiff_t bytes) { return const_cast<void*>(shifted(input, bytes)); };
  for (const void* input : {own.a, own.b}) {
    EXPECT_EQ(on(inside(input, 0), zero), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(on(inside(input, -64), zero), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(on(inside(input, 64), zero), CUBLAS_STATUS_INVALID_VALUE);
  }
  EXPECT_EQ(on(inside(own.c, 0), one), CUBLAS_STATUS_SUCCESS) << "C itself";
  EXPECT_EQ(on(inside(own.c, 64), one), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Matmul, LeavesAAndBOutWhenAlphaIsZero) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  run.pointers.alpha = &zero;
  run.pointers.beta = &one;
  void* const nan = device_bytes(16 * 16 * sizeof(float));
  ASSERT_EQ(cuda.memset_async(nan, 0xFF, 16 * 16 * sizeof(float), stream), cudaSuccess);
  run.pointers.a = run.pointers.b = nan;
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result(run), pattern(shape_c(run.problem), 4));
}

TEST_F(Matmul, SplitKWritesTheWorkspace) {
  Run run = make(uniform_problem(CUDA_R_32F, 64, 64, 1024));
  for (const auto& offered : run.objects.results) {
    if (offered.workspaceSize == 0) continue;
    run.pointers.algo = &offered.algo;
    ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
    const auto sums = values_at(CUDA_R_32F, run.pointers.workspace, 64);
    EXPECT_GT(std::count_if(sums.begin(), sums.end(), [](double sum) { return sum != 0; }), 32);
    return;
  }
  FAIL() << "no split-K algorithm offered";
}

TEST_F(Matmul, ComputesByHand) {
  // D = relu(2 * A B - 3 * C + bias), 2x2, all in order col.
  MatmulProblem p = uniform_problem(CUDA_R_16F, 2, 2, 2);
  p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  Run run = make(p);
  const float alpha = 2, beta = -3;
  run.pointers.alpha = &alpha;
  run.pointers.beta = &beta;
  run.pointers.a = device_values(CUDA_R_16F, {1, 2, 3, 4});
  run.pointers.b = device_values(CUDA_R_16F, {5, 6, -7, -8});
  run.pointers.c = device_values(CUDA_R_16F, {1, 0, 0, 1});
  run.objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                       static_cast<const void*>(device_values(CUDA_R_16F, {0.5, -1})));
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result(run), (std::vector<double>{43.5, 67, 0, 0}));
}

TEST_F(Matmul, TakesTheBiasTypeFromTheDescriptor) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 1, 1, 1);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  Run run = make(p);
  run.pointers.a = device_values(CUDA_R_16F, {2});
  run.pointers.b = device_values(CUDA_R_16F, {3});
  run.objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(device_values(CUDA_R_32F, {0.25})));
  run.objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, std::int32_t{CUDA_R_32F});
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result(run), (std::vector<double>{6.25}));
}

TEST_F(Matmul, NeedsABiasPointerForABiasEpilogue) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 16, 16, 16);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_EQ(call(make(p)), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Matmul, ReadsScalarsOfTheScaleType) {
  MatmulProblem p = uniform_problem(CUDA_R_64F, 1, 1, 1);
  Run run = make(p);
  const double alpha = 3, beta = 0.5;
  run.pointers.alpha = &alpha;
  run.pointers.beta = &beta;
  run.pointers.a = device_values(CUDA_R_64F, {7});
  run.pointers.b = device_values(CUDA_R_64F, {2});
  run.pointers.c = device_values(CUDA_R_64F, {1});
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result(run), (std::vector<double>{42.5}));
}

TEST_F(Matmul, ReadsScalarsOnTheDeviceWhenItRuns) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 1, 1, 1);
  p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
  Run run = make(p);
  run.pointers.alpha = device_values(CUDA_R_32F, {5});
  run.pointers.beta = device_values(CUDA_R_32F, {1});
  run.pointers.a = device_values(CUDA_R_32F, {2});
  run.pointers.b = device_values(CUDA_R_32F, {3});
  run.pointers.c = device_values(CUDA_R_32F, {4});
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result(run), (std::vector<double>{34}));
  run.pointers.alpha = &one;
  EXPECT_EQ(call(run), CUBLAS_STATUS_EXECUTION_FAILED) << "a host address on the device";
}

TEST_F(Matmul, Int8TakesOnlyZeroOrOneAsScalars) {
  MatmulProblem p = uniform_problem(CUDA_R_8I, 16, 16, 16);
  Run run = make(p);
  const std::int32_t int_one = 1, int_zero = 0, two = 2;
  run.pointers.alpha = &int_one;
  run.pointers.beta = &int_zero;
  EXPECT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  run.pointers.alpha = &two;
  EXPECT_EQ(call(run), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Matmul, RefusesNullPointers) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  EXPECT_EQ(call_matmul(lt, nullptr, run.objects, run.pointers, stream), CUBLAS_STATUS_NOT_INITIALIZED);
  for (const auto member : {&MatmulPointers::alpha, &MatmulPointers::a, &MatmulPointers::b, &MatmulPointers::beta}) {
    Run broken = run;
    broken.pointers.*member = nullptr;
    EXPECT_EQ(call(broken), CUBLAS_STATUS_INVALID_VALUE);
  }
  run.pointers.d = nullptr;
  EXPECT_EQ(call(run), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Matmul, WorkspaceIsAlignedAndLargeEnough) {
  Run run = make(uniform_problem(CUDA_R_32F, 64, 64, 4096));
  run.pointers.workspace = static_cast<std::byte*>(run.pointers.workspace) + 16;
  EXPECT_EQ(call(run), CUBLAS_STATUS_INVALID_VALUE) << "misaligned, even when the algorithm needs nothing";
  run.pointers.workspace = static_cast<std::byte*>(run.pointers.workspace) - 16;
  for (const auto& offered : run.objects.results) {
    run.pointers.algo = &offered.algo;
    run.pointers.workspace_bytes = offered.workspaceSize;
    EXPECT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
    if (offered.workspaceSize == 0) continue;
    run.pointers.workspace_bytes = offered.workspaceSize - 1;
    EXPECT_EQ(call(run), CUBLAS_STATUS_INVALID_VALUE);
  }
}

TEST_F(Matmul, PointersBelowTheAlgorithmsNeedAreNotSupported) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 64, 64, 64);
  Run run = make(p);
  const void* const memory = device_values(CUDA_R_16F, std::vector<double>(64 * 64 + 16, 1));
  run.pointers.a = shifted(memory, 2);
  EXPECT_EQ(call(run), CUBLAS_STATUS_NOT_SUPPORTED);
  run.pointers.a = shifted(memory, 16);
  EXPECT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  p.a_alignment = 2;
  Run declared = make(p);
  declared.pointers.a = shifted(memory, 2);
  EXPECT_EQ(call(declared), CUBLAS_STATUS_SUCCESS);
}

TEST_F(Matmul, AlgorithmOfAnotherProblemIsInvalid) {
  Run run = make(uniform_problem(CUDA_R_16F, 64, 64, 64));
  Run other = make(uniform_problem(CUDA_R_16BF, 64, 64, 64));
  run.pointers.algo = other.pointers.algo;
  EXPECT_EQ(call(run), CUBLAS_STATUS_INVALID_VALUE);
  const cublasLtMatmulAlgo_t garbage{};
  run.pointers.algo = &garbage;
  EXPECT_EQ(call(run), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Matmul, UnknownMemoryFailsWithoutAFault) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  alignas(256) static float here[256] = {};
  run.pointers.b = here;
  EXPECT_EQ(call(run), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
}

TEST_F(Matmul, RunningPastAnAllocationIsASickContext) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  run.pointers.d = device_bytes(16 * 16 * 4 - 1);
  EXPECT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(call(run), CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_F(Matmul, ExactSpanIsEnough) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 16, 16, 16);
  p.ldd = 20;
  Run run = make(p);
  run.pointers.d = device_bytes((15 * 20 + 16) * 4);
  EXPECT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
}

TEST_F(Matmul, InPlaceNeedsEqualLayouts) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 16, 16, 16);
  Run run = make(p);
  run.pointers.c = run.pointers.d;
  EXPECT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  p.ldc = 20;
  Run differing = make(p);
  differing.pointers.c = differing.pointers.d = device_bytes(20 * 16 * 4);
  EXPECT_EQ(call(differing), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Matmul, EverythingOfTheOtherDeviceFails) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  void* const memory_of_0 = run.pointers.d;
  ASSERT_EQ(cuda.set_device(1), cudaSuccess);
  cublasLtHandle_t handle_of_1 = nullptr;
  ASSERT_EQ(lt.create(&handle_of_1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call_matmul(lt, handle_of_1, run.objects, run.pointers, nullptr), CUBLAS_STATUS_EXECUTION_FAILED)
      << "memory of device 0";
  Run own = make(run.problem);
  EXPECT_EQ(call_matmul(lt, handle, own.objects, own.pointers, nullptr), CUBLAS_STATUS_EXECUTION_FAILED)
      << "handle of device 0";
  EXPECT_EQ(call_matmul(lt, handle_of_1, own.objects, own.pointers, stream), CUBLAS_STATUS_EXECUTION_FAILED)
      << "stream of device 0";
  EXPECT_EQ(call_matmul(lt, handle_of_1, own.objects, own.pointers, nullptr), CUBLAS_STATUS_SUCCESS);
  own.pointers.d = memory_of_0;
  EXPECT_EQ(call_matmul(lt, handle_of_1, own.objects, own.pointers, nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cuda.device_synchronize(), cudaSuccess);
}

TEST_F(Matmul, TakesACublasHandle) {
  Run run = make(uniform_problem(CUDA_R_32F, 16, 16, 16));
  cublasHandle_t blas = nullptr;
  ASSERT_EQ(platform.blas.create(&blas), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call_matmul(lt, std::bit_cast<cublasLtHandle_t>(blas), run.objects, run.pointers, stream),
            CUBLAS_STATUS_SUCCESS);
}

/// The last Trace line of matmul.
std::string& traced() {
  static std::string line;
  return line;
}

TEST_F(Matmul, LogsATraceLine) {
  ASSERT_EQ(lt.logger_set_callback([](int level, const char* function, const char* text) {
    if (level == 2) traced() = std::string(function) + ": " + text;
  }),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(lt.logger_set_level(2), CUBLAS_STATUS_SUCCESS);
  Run run = make(uniform_problem(CUDA_R_16F, 128, 128, 64));
  ASSERT_EQ(call(run), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(traced().rfind("cublasLtMatmul: A=0X", 0), 0U);
  EXPECT_NE(traced().find("Ddesc=[type=R_16F rows=128 cols=128 ld=128] computeDesc=[computeType=COMPUTE_32F"),
            std::string::npos);
  EXPECT_NE(traced().find("algo=[algoId=66 tile=MATMUL_TILE_"), std::string::npos);
  EXPECT_NE(traced().find("beta=0 outOfPlace=1 stream=0X"), std::string::npos);
}

}  // namespace
}  // namespace lt_audit::simulator
