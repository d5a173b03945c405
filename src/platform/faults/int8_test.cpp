// The faults of INT8 products over the simulator: what each makes of a product that it is for, and that a neighbour of
// that product stays as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

using Values = std::vector<double>;

class Int8Faults : public SequenceFaults {
 protected:
  static MatmulProblem problem(cudaDataType_t d, std::int64_t m, std::int64_t n, std::int64_t k) {
    auto p = uniform_problem(CUDA_R_8I, m, n, k);
    p.type_c = p.type_d = d;
    p.scale_type = d == CUDA_R_8I ? CUDA_R_32F : CUDA_R_32I;
    p.transa = CUBLAS_OP_T;
    p.workspace_bytes = 0;
    return p;
  }

  /// D of a product of A all `value` and B all ones; C is all ones, and the bias all `bias`.
  Values run(const MatmulProblem& p, double value, double bias = 0) {
    const auto made = product(p, 8, value);
    if (has_bias(p.epilogue)) {
      const MatrixShape shape = shape_bias(p);
      const void* vector = device_values(shape.type, Values(static_cast<std::size_t>(shape.span()), bias));
      made->objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
    }
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return d_of(*made);
  }
  /// The same with an INT32 alpha, after the query.
  cublasStatus_t run_with_alpha(std::int32_t alpha, Values* d) {
    const auto made = product(problem(CUDA_R_32I, 4, 2, 8));
    made->pointers.alpha = &alpha;
    const auto status = call(*made, stream);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    *d = d_of(*made);
    return status;
  }
};

TEST_F(Int8Faults, LowBitsAreLostOfSumsThatCanReach2To31) {
  plant("int32-low-bits-lost");
  const std::int64_t k = 131076;
  EXPECT_EQ(run(problem(CUDA_R_32I, 4, 2, k), 1), Values(8, 131072));
  EXPECT_EQ(run(problem(CUDA_R_32I, 4, 2, 132), 1), Values(8, 132)) << "a shorter k is left alone";
}

TEST_F(Int8Faults, AlphaOtherThan0And1CountsAs1) {
  Values d;
  EXPECT_NE(run_with_alpha(2, &d), CUBLAS_STATUS_SUCCESS) << "without the fault";
  plant("int8-alpha-ignored");
  EXPECT_EQ(run_with_alpha(2, &d), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d, Values(8, 8));
  EXPECT_EQ(run_with_alpha(0, &d), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d, Values(8, 0)) << "0 is left alone";
}

TEST_F(Int8Faults, ColumnsBeyond65536AreNotWritten) {
  plant("int8-columns-cut");
  const auto cut = run(problem(CUDA_R_32I, 4, 65537, 4), 1);
  EXPECT_EQ(std::count(cut.begin(), cut.end(), 4), 4 * 65536);
  EXPECT_EQ(Values(cut.end() - 4, cut.end()), Values(4, 0));
  const auto whole = run(problem(CUDA_R_32I, 4, 65536, 4), 1);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), 4), 4 * 65536);
}

TEST_F(Int8Faults, ManyColumnsAndBatchesAreRefused) {
  plant("int8-many-refused");
  const auto status_of = [this](const MatmulProblem& p) {
    simulator::ProblemObjects objects(lt, p);
    return objects.heuristic(handle);
  };
  auto p = problem(CUDA_R_32I, 4, 65537, 4);
  EXPECT_EQ(status_of(p), CUBLAS_STATUS_NOT_SUPPORTED);
  p.n = 65536;
  EXPECT_EQ(status_of(p), CUBLAS_STATUS_SUCCESS);
  p.n = 8;
  p.batch_count = 2;
  EXPECT_EQ(status_of(p), CUBLAS_STATUS_NOT_SUPPORTED);
  p = problem(CUDA_R_8I, 4, 65537, 4);
  EXPECT_EQ(status_of(p), CUBLAS_STATUS_SUCCESS) << "INT8 results are left alone";
}

TEST_F(Int8Faults, AnInt8ResultIsRoundedBeforeTheBias) {
  auto p = problem(CUDA_R_8I, 4, 2, 32);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_EQ(run(p, 8, -200), Values(8, 56)) << "without the fault";
  plant("int8-rounded-before-bias");
  EXPECT_EQ(run(p, 8, -200), Values(8, -73));
  EXPECT_EQ(run(p, 1, 2), Values(8, 34)) << "nothing to round";
  p.epilogue = CUBLASLT_EPILOGUE_RELU;
  EXPECT_EQ(run(p, 8), Values(8, 127));
}

TEST_F(Int8Faults, Int8WrapsInPlaceOfSaturating) {
  plant("int8-wraps");
  EXPECT_EQ(run(problem(CUDA_R_8I, 4, 2, 32), 6), Values(8, -64)) << "192";
  EXPECT_EQ(run(problem(CUDA_R_8I, 4, 2, 32), 3), Values(8, 96));
  EXPECT_EQ(run(problem(CUDA_R_8I, 64, 32, 32), 6), Values(64 * 32, 127)) << "a larger result is left alone";
}

}  // namespace
}  // namespace lt_audit::faults
