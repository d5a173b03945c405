// What the tests of faults on sequences of calls share: a simulated machine, products in its memory, captures of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "platform/faults/fault.h"
#include "platform/simulator/test_tools.h"

namespace lt_audit::faults {

/// A problem with descriptor, layouts, memory and the algorithms that the heuristic returns.
struct Product {
  Product(LtApi& lt, const MatmulProblem& p) : problem(p), objects(lt, p) {}

  MatmulProblem problem;
  simulator::ProblemObjects objects;
  simulator::MatmulPointers pointers;
  Scalar alpha, beta;
};

class SequenceFaults : public simulator::SimulatorTest {
 protected:
  void plant(std::string_view fault) { platform = inject_fault(platform, fault); }

  /// A and B of one value, so that every element of D is value * value * k.
  std::unique_ptr<Product> product(const MatmulProblem& p, int requested = 8, double value = 1) {
    auto made = std::make_unique<Product>(lt, p);
    made->alpha = scalar_of(p.scale_type, true);
    made->pointers.alpha = made->alpha.bytes;
    made->pointers.beta = made->beta.bytes;
    const auto filled = [this](const MatrixShape& shape, double with) {
      return device_values(shape.type, std::vector<double>(static_cast<std::size_t>(shape.span()), with));
    };
    made->pointers.a = filled(shape_a(p), value);
    made->pointers.b = filled(shape_b(p), 1);
    made->pointers.c = made->pointers.d = filled(shape_d(p), 0);
    made->pointers.workspace_bytes = static_cast<std::size_t>(p.workspace_bytes);
    if (p.workspace_bytes > 0) made->pointers.workspace = device_bytes(made->pointers.workspace_bytes);
    EXPECT_EQ(made->objects.heuristic(handle, requested), CUBLAS_STATUS_SUCCESS);
    made->pointers.algo = &made->objects.results.front().algo;
    return made;
  }
  cublasStatus_t call(const Product& made, cudaStream_t on) {
    return simulator::call_matmul(lt, handle, made.objects, made.pointers, on);
  }
  static std::vector<double> d_of(const Product& made) {
    const MatrixShape shape = shape_d(made.problem);
    return values_at(shape.type, made.pointers.d, static_cast<std::size_t>(shape.span()));
  }
  static std::ptrdiff_t count_in_d(const Product& made, double value) {
    const auto values = d_of(made);
    return std::count(values.begin(), values.end(), value);
  }
  int split_k(const cublasLtMatmulAlgo_t& algo) {
    std::int32_t parts = 0;
    EXPECT_EQ(lt.matmul_algo_config_get_attribute(&algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, 4, nullptr),
              CUBLAS_STATUS_SUCCESS);
    return parts;
  }
  cudaStream_t new_stream() {
    cudaStream_t created = nullptr;
    EXPECT_EQ(cuda.stream_create_with_flags(&created, cudaStreamNonBlocking), cudaSuccess);
    return created;
  }

  void begin() { ASSERT_EQ(cuda.stream_begin_capture(stream, cudaStreamCaptureModeGlobal), cudaSuccess); }
  cudaGraph_t end(std::size_t nodes) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cuda.stream_end_capture(stream, &graph), cudaSuccess);
    std::size_t count = 0;
    EXPECT_EQ(cuda.graph_get_node_count(graph, &count), cudaSuccess);
    EXPECT_EQ(count, nodes);
    return graph;
  }
  cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cuda.graph_instantiate(&exec, graph), cudaSuccess);
    return exec;
  }
  /// An executable of one captured matmul.
  cudaGraphExec_t capture(const Product& made) {
    begin();
    EXPECT_EQ(call(made, stream), CUBLAS_STATUS_SUCCESS);
    return instantiate(end(1));
  }
  void launch(cudaGraphExec_t exec) { ASSERT_EQ(cuda.graph_launch(exec, stream), cudaSuccess); }
  std::size_t free_bytes() {
    std::size_t left = 0, total = 0;
    EXPECT_EQ(cuda.mem_get_info(&left, &total), cudaSuccess);
    return left;
  }
};

/// 16 x 8 x 32 without workspace, the algorithms differ in their loads and tiles alone.
inline MatmulProblem small(cudaDataType_t type) {
  MatmulProblem p = uniform_problem(type, 16, 8, 32);
  p.workspace_bytes = 0;
  return p;
}
/// Long enough for split-K.
inline MatmulProblem with_split_k(cudaDataType_t type) {
  MatmulProblem p = uniform_problem(type, 16, 16, 1024);
  p.workspace_bytes = 1 << 20;
  return p;
}
inline constexpr std::ptrdiff_t kSmall = 16 * 8;

}  // namespace lt_audit::faults
