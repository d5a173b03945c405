// The faults of scale factors over the simulator: what each makes of a product that it is for, and that a neighbour of
// that product stays as it is.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

using Values = std::vector<double>;
using Mode = cublasLtMatmulMatrixScale_t;

class Fp8Faults : public SequenceFaults {
 protected:
  /// 16 x 136 x 272: three blocks of k, two of columns. op(A) and op(B) are 1 where k is a multiple of 128, so that
  /// every element is the sum of three products of factors.
  static MatmulProblem blocks(Mode a, Mode b) {
    auto p = uniform_problem(CUDA_R_8F_E4M3, 16, 136, 272);
    p.type_c = p.type_d = CUDA_R_32F;
    p.scale_a = a;
    p.scale_b = b;
    p.workspace_bytes = 0;
    return p;
  }

  /// D and amax of the product, with these tables; `offset` bytes move the factor of A.
  Values run(const MatmulProblem& p, const Values& scale_a, const Values& scale_b, std::size_t offset = 0) {
    Product made(lt, p);
    const auto one = scalar_of(p.scale_type, true), zero = scalar_of(p.scale_type, false);
    Values first_of_each(static_cast<std::size_t>(shape_b(p).span()), 0);
    for (std::size_t i = 0; i < first_of_each.size(); ++i) {
      first_of_each[i] = i % static_cast<std::size_t>(p.k) % 128 == 0 ? 1 : 0;
    }
    made.pointers = {one.bytes, device_values(p.type_a, Values(static_cast<std::size_t>(shape_a(p).span()), 1)),
                     device_values(p.type_b, first_of_each), zero.bytes};
    made.pointers.d = device_values(p.type_d, Values(static_cast<std::size_t>(shape_d(p).span()), 0));
    made.pointers.c = device_values(p.type_c, Values(static_cast<std::size_t>(shape_c(p).span()), 0));
    const auto factors = [&](const Values& values, std::size_t at) -> const void* {
      auto* const memory = static_cast<std::byte*>(device_values(CUDA_R_32F, Values(values.size() + 4, 0)));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<float>(values[i]);
        std::memcpy(memory + at + i * sizeof value, &value, sizeof value);
      }
      return memory + at;
    };
    made.objects.set_desc(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, factors(scale_a, offset));
    made.objects.set_desc(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, factors(scale_b, 0));
    made.objects.set_desc(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, static_cast<std::int32_t>(*p.scale_a));
    made.objects.set_desc(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, static_cast<std::int32_t>(*p.scale_b));
    if (p.scale_d) made.objects.set_desc(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, factors({2}, 0));
    void* const amax = device_values(CUDA_R_32F, {-1});
    if (p.amax_d) made.objects.set_desc(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, amax);
    heuristic_status = made.objects.heuristic(handle);
    if (made.objects.results.empty()) return {};
    made.pointers.algo = &made.objects.results.front().algo;
    status = call(made, stream);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    amax_value = values_at(CUDA_R_32F, amax, 1).front();
    return d_of(made);
  }

  cublasStatus_t heuristic_status = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  double amax_value = 0;
};

constexpr Mode kScalar = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
constexpr Mode kVector = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
constexpr Mode kBlock = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;

/// Columns of 16 factors: 1 in the first block of k, 2 in the second, 4 in the third; the last row has 100 more.
Values vector_table() {
  Values table;
  for (const double factor : {1, 2, 4}) {
    for (int row = 0; row < 16; ++row) table.push_back(factor + (row == 15 ? 100 : 0));
  }
  return table;
}
/// Two columns of three factors and one of padding.
const Values kBlocks{1, 2, 4, 1000, 8, 16, 32, 1000};
const Values kOnes(136 * 3, 1);

TEST_F(Fp8Faults, TablesAreReadAsDocumentedWithoutAFault) {
  auto d = run(blocks(kVector, kVector), vector_table(), kOnes);
  EXPECT_EQ(d.front(), 7);
  EXPECT_EQ(d[15], 307);
  d = run(blocks(kVector, kBlock), Values(48, 1), kBlocks);
  EXPECT_EQ(d.front(), 7);
  EXPECT_EQ(d.back(), 56);
}

TEST_F(Fp8Faults, FirstScaleForAllBlocks) {
  plant("first-scale-for-all-blocks");
  auto d = run(blocks(kVector, kVector), vector_table(), kOnes);
  EXPECT_EQ(d.front(), 3);
  EXPECT_EQ(d[15], 303);
  d = run(blocks(kVector, kBlock), Values(48, 1), kBlocks);
  EXPECT_EQ(d.front(), 3);
  EXPECT_EQ(d.back(), 24);
}

TEST_F(Fp8Faults, VectorScalesReadAlongKAndBlocksLeftAlone) {
  plant("vector-scales-read-along-k");
  EXPECT_EQ(run(blocks(kVector, kVector), vector_table(), kOnes).front(), 3) << "the first three of the first block";
  EXPECT_EQ(run(blocks(kVector, kBlock), Values(48, 1), kBlocks).back(), 56);
}

TEST_F(Fp8Faults, BlockScalePaddingIgnored) {
  plant("block-scale-padding-ignored");
  const auto d = run(blocks(kVector, kBlock), Values(48, 1), kBlocks);
  EXPECT_EQ(d.front(), 7);
  EXPECT_EQ(d.back(), 1000 + 8 + 16);
  EXPECT_EQ(run(blocks(kVector, kVector), vector_table(), kOnes)[15], 307);
}

TEST_F(Fp8Faults, ScalarScaleRefusedBelow16) {
  plant("scalar-scale-refused-below-16");
  const auto p = blocks(kScalar, kScalar);
  EXPECT_EQ(run(p, {2}, {3}, 16).front(), 18);
  EXPECT_EQ(status, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(run(p, {2}, {3}, 4).front(), 0);
  EXPECT_EQ(status, CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Fp8Faults, AmaxAndScaleOfDIgnored) {
  auto p = blocks(kScalar, kScalar);
  p.type_c = CUDA_R_16BF;
  p.type_d = CUDA_R_8F_E4M3;
  p.scale_d = kScalar;
  p.amax_d = true;
  EXPECT_EQ(run(p, {2}, {1}).front(), 12);
  EXPECT_EQ(amax_value, 6);
  plant("amax-ignored");
  EXPECT_EQ(run(p, {2}, {1}).front(), 12);
  EXPECT_EQ(amax_value, -1);
  plant("scale-d-ignored");
  EXPECT_EQ(run(p, {2}, {1}).front(), 6);
}

TEST_F(Fp8Faults, WideDScaleIgnored) {
  auto p = blocks(kScalar, kScalar);
  p.scale_d = kScalar;
  run(p, {2}, {1});
  EXPECT_EQ(heuristic_status, CUBLAS_STATUS_NOT_SUPPORTED);
  plant("wide-d-scale-ignored");
  EXPECT_EQ(run(p, {2}, {1}).front(), 6);
  EXPECT_EQ(heuristic_status, CUBLAS_STATUS_SUCCESS);
}

}  // namespace
}  // namespace lt_audit::faults
