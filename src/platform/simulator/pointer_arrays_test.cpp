// Batches of the simulator whose matrices are named by arrays of pointers.
#include <cstdint>
#include <vector>

#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

using Values = std::vector<double>;

/// Products of 1 x 1 matrices: A of 2, 3, 4, B of 1, C of 10.
class PointerArrays : public SimulatorTest {
 protected:
  PointerArrays() : problem_(batch()), objects_(lt, problem_) {
    for (auto* layout : {objects_.a, objects_.b, objects_.c, objects_.d}) set_mode(layout);
    pointers_.alpha = &one_;
    pointers_.beta = &zero_;
    pointers_.a = array(device_values(CUDA_R_32F, {2, 3, 4}));
    pointers_.b = array(device_values(CUDA_R_32F, {1, 1, 1}));
    pointers_.c = array(device_values(CUDA_R_32F, {10, 20, 30}));
    d_ = device_values(CUDA_R_32F, {0, 0, 0});
    pointers_.d = array(d_);
  }

  static MatmulProblem batch() {
    auto p = uniform_problem(CUDA_R_32F, 1, 1, 1);
    p.batch_count = 3;
    p.workspace_bytes = 0;
    return p;
  }
  void set_mode(cublasLtMatrixLayout_t layout, cublasLtBatchMode_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY) {
    EXPECT_EQ(objects_.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, static_cast<std::uint32_t>(mode)),
              CUBLAS_STATUS_SUCCESS);
  }
  void** array(void* first) {
    auto** const pointers = static_cast<void**>(device_bytes(3 * sizeof(void*)));
    for (std::size_t i = 0; i < 3; ++i) pointers[i] = static_cast<float*>(first) + i;
    return pointers;
  }
  cublasStatus_t call() {
    if (const auto status = objects_.heuristic(handle); status != CUBLAS_STATUS_SUCCESS) return status;
    pointers_.algo = &objects_.results.front().algo;
    return call_matmul(lt, handle, objects_, pointers_, stream);
  }
  Values d() const { return values_at(CUDA_R_32F, d_, 3); }

  MatmulProblem problem_;
  ProblemObjects objects_;
  MatmulPointers pointers_;
  void* d_ = nullptr;
  float one_ = 1, zero_ = 0;
};

TEST_F(PointerArrays, NameEachMatrix) {
  EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d(), (Values{2, 3, 4}));
  auto** const a = static_cast<void**>(const_cast<void*>(pointers_.a));
  std::swap(a[0], a[2]);
  pointers_.beta = &one_;
  EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d(), (Values{14, 23, 32})) << "4 + 10, 3 + 20, 2 + 30";
}

TEST_F(PointerArrays, AreReadWhenTheWorkRuns) {
  ASSERT_EQ(objects_.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuda.stream_begin_capture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuda.stream_end_capture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cuda.graph_instantiate(&exec, graph), cudaSuccess);
  auto** const a = static_cast<void**>(const_cast<void*>(pointers_.a));
  a[1] = a[2];
  ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess);
  EXPECT_EQ(d(), (Values{2, 4, 4}));
}

TEST_F(PointerArrays, FaultWhereNobodyOwnsAMatrix) {
  auto** const b = static_cast<void**>(const_cast<void*>(pointers_.b));
  b[1] = nullptr;
  EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS) << "the host does not look at the members";
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaErrorIllegalAddress);
}

TEST_F(PointerArrays, AreRefusedInSomeLayoutsAndWithAnEpilogue) {
  set_mode(objects_.c, CUBLASLT_BATCH_MODE_STRIDED);
  EXPECT_EQ(call(), CUBLAS_STATUS_NOT_SUPPORTED);
  set_mode(objects_.c);
  objects_.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU});
  EXPECT_EQ(call(), CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(PointerArrays, AreACapabilityOfEveryAlgorithm) {
  ASSERT_EQ(objects_.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  std::int32_t supported = 0;
  EXPECT_EQ(lt.matmul_algo_cap_get_attribute(&objects_.results.front().algo,
                                             CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT, &supported, 4, nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(supported, 1);
}

}  // namespace
}  // namespace lt_audit::simulator
