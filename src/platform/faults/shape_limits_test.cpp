// The faults of sizes over the simulator: what each makes of a product that it is for, and that a neighbour of that
// product stays as it is.
#include <gtest/gtest.h>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

MatmulProblem sized(std::int64_t m, std::int64_t n, std::int64_t k) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, m, n, k);
  p.workspace_bytes = 0;
  return p;
}

class ShapeLimitFaults : public SequenceFaults {
 protected:
  /// Elements of D that hold k, as every one must.
  std::ptrdiff_t right(const MatmulProblem& p) {
    const auto made = product(p);
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return count_in_d(*made, static_cast<double>(p.k));
  }
  cublasStatus_t queried(const MatmulProblem& p) { return Product(lt, p).objects.heuristic(handle); }
};

TEST_F(ShapeLimitFaults, ColumnsBeyond65535AreLost) {
  plant("columns-beyond-65535-lost");
  EXPECT_EQ(right(sized(1, 65537, 2)), 65535);
  EXPECT_EQ(right(sized(1, 65535, 2)), 65535) << "as many as there are";
}

TEST_F(ShapeLimitFaults, AnEmptyProductIsRunAsOneWithARow) {
  auto p = sized(0, 2, 4);
  p.lda = p.ldc = p.ldd = 1;
  EXPECT_EQ(queried(p), CUBLAS_STATUS_INVALID_VALUE);
  plant("empty-product-writes");
  EXPECT_EQ(queried(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(right(sized(3, 2, 4)), 6);
}

TEST_F(ShapeLimitFaults, AFarLeadingDimensionIsHalved) {
  plant("far-leading-dimension-halved");
  auto p = sized(2, 3, 4);
  p.lda = 32;
  const auto made = product(p);
  // What lies between the columns is not one here.
  const auto value = [](std::size_t i) { return i % 32 < 2 ? 1.0 : 0.0; };
  std::vector<double> values(static_cast<std::size_t>(shape_a(p).span()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(i);
  made->pointers.a = device_values(CUDA_R_32F, values);
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(count_in_d(*made, 4), 0);
  EXPECT_EQ(count_in_d(*made, 2), 6) << "every second column is read between two";
  p.lda = 31;
  EXPECT_EQ(right(p), 6) << "a nearer one is left alone";
}

TEST_F(ShapeLimitFaults, ALeadingDimensionBelowTheRowsOfAIsAccepted) {
  auto p = sized(4, 3, 4);
  p.lda = 2;
  EXPECT_EQ(queried(p), CUBLAS_STATUS_INVALID_VALUE);
  plant("ld-below-rows-accepted");
  EXPECT_EQ(queried(p), CUBLAS_STATUS_SUCCESS);
  p.lda = 4;
  p.ldb = 2;
  EXPECT_EQ(queried(p), CUBLAS_STATUS_INVALID_VALUE) << "that of B is left alone";
}

TEST_F(ShapeLimitFaults, AVectorWithBiasHasOneWrongElement) {
  plant("vector-with-bias-wrong");
  const auto zeros = device_values(CUDA_R_32F, std::vector<double>(8));
  const auto right_with_bias = [&](const MatmulProblem& p) {
    const auto made = product(p);
    made->objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(zeros));
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return count_in_d(*made, static_cast<double>(p.k));
  };
  auto p = sized(1, 8, 4);
  EXPECT_EQ(right(p), 8) << "without a bias";
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_EQ(right_with_bias(p), 7);
  p.m = 2;
  EXPECT_EQ(right_with_bias(p), 16) << "a matrix is left alone";
}

TEST_F(ShapeLimitFaults, AProductWithKOf0WritesNothing) {
  plant("zero-k-skipped");
  auto p = sized(3, 2, 0);
  p.ldb = 1;
  const auto made = product(p);
  made->pointers.d = device_values(CUDA_R_32F, std::vector<double>(6, 7));
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(count_in_d(*made, 7), 6);
  EXPECT_EQ(right(sized(3, 2, 1)), 6);
}

}  // namespace
}  // namespace lt_audit::faults
