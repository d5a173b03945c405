// The faults of epilogues over the simulator: what each makes of a product that it is for, and that a neighbour of that
// product stays as it is.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

using Values = std::vector<double>;

class EpilogueFaults : public SequenceFaults {
 protected:
  /// What one product leaves in D, aux and the bias vector. op(A) and op(B) are all ones, so that every sum is k; the
  /// bias is 1, 2, 3, ... through all batches, and C is D.
  struct Left {
    Values d, aux, bias;
  };

  Left run(const MatmulProblem& p, double beta = 0) {
    Product made(lt, p);
    const auto alpha_one = scalar_of(p.scale_type, true);
    const auto beta_value = scalar_of(p.scale_type, beta == 1);
    const auto filled = [this](const MatrixShape& shape, double with) {
      return device_values(shape.type, Values(static_cast<std::size_t>(shape.span()), with));
    };
    made.pointers = {alpha_one.bytes, filled(shape_a(p), 1), filled(shape_b(p), 1), beta_value.bytes};
    made.pointers.d = filled(shape_d(p), 0);
    made.pointers.c = made.pointers.d;
    const MatrixShape aux = shape_aux(p), bias = shape_bias(p);
    Values rising(static_cast<std::size_t>(bias.span()));
    for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<double>(i + 1);
    void* const bias_memory = device_values(bias.type, rising);
    void* const aux_memory = filled(aux, 0);
    if (has_bias(p.epilogue) || has_bias_gradient(p.epilogue)) {
      made.objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias_memory));
      made.objects.set_desc(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, p.stride_bias);
    }
    if (has_aux(p.epilogue)) {
      made.objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux_memory);
      made.objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.ldaux);
    }
    EXPECT_EQ(made.objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
    if (made.objects.results.empty()) return {};
    made.pointers.algo = &made.objects.results.front().algo;
    EXPECT_EQ(call(made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    const auto epilogue_after = [&] {
      std::uint32_t value = 0;
      EXPECT_EQ(lt.matmul_desc_get_attribute(made.objects.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4, nullptr),
                CUBLAS_STATUS_SUCCESS);
      return value;
    }();
    EXPECT_EQ(epilogue_after, static_cast<std::uint32_t>(p.epilogue)) << "the caller's descriptor is as it was";
    return {d_of(made), values_at(aux.type, aux_memory, static_cast<std::size_t>(aux.span())),
            values_at(bias.type, bias_memory, rising.size())};
  }
};

MatmulProblem problem_with(cudaDataType_t type, std::int64_t m, std::int64_t n, std::int64_t k, cublasLtEpilogue_t e) {
  auto p = uniform_problem(type, m, n, k);
  p.epilogue = e;
  p.workspace_bytes = 0;
  return p;
}

TEST_F(EpilogueFaults, AuxLdIgnoredPacksTheColumns) {
  plant("aux-ld-ignored");
  auto p = problem_with(CUDA_R_16F, 8, 2, 4, CUBLASLT_EPILOGUE_GELU_AUX);
  p.ldaux = 16;
  auto left = run(p);
  EXPECT_EQ(left.aux[8], 4) << "the second column, where none must be";
  EXPECT_EQ(left.aux[16], 0);
  p.ldaux = 8;
  left = run(p);
  EXPECT_EQ(left.aux, Values(16, 4)) << "the smallest one is left alone";
}

TEST_F(EpilogueFaults, BiasAddedAfterRoundingRoundsTwice) {
  plant("bias-added-after-rounding");
  // 4097 is no FP16 number: 4096 + 1 is 4096 after rounding, 4096 + 3 is 4100.
  auto p = problem_with(CUDA_R_16F, 2, 1, 4097, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(run(p).d, (Values{4096, 4096}));
  p.type_c = p.type_d = CUDA_R_32F;
  EXPECT_EQ(run(p).d, (Values{4098, 4099})) << "a wide D is left alone";
  p = problem_with(CUDA_R_16F, 2, 1, 2049, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(run(p).d, (Values{2050, 2052})) << "a shorter k is left alone";
}

TEST_F(EpilogueFaults, BiasAlongColumnsAddsOneElementForEachColumn) {
  plant("bias-along-columns");
  EXPECT_EQ(run(problem_with(CUDA_R_16F, 3, 2, 4, CUBLASLT_EPILOGUE_BIAS)).d, (Values{5, 5, 5, 6, 6, 6}));
  EXPECT_EQ(run(problem_with(CUDA_R_16F, 2, 3, 4, CUBLASLT_EPILOGUE_BIAS)).d, (Values{5, 6, 5, 6, 5, 6}));
  EXPECT_EQ(run(problem_with(CUDA_R_32F, 3, 1, 4, CUBLASLT_EPILOGUE_BIAS)).d, (Values{5, 6, 7}));
}

TEST_F(EpilogueFaults, BiasGradientIsWrongAtK1Alone) {
  plant("bias-gradient-wrong-at-k-1");
  const auto wrong = run(problem_with(CUDA_R_32F, 3, 2, 1, CUBLASLT_EPILOGUE_BGRADA)).bias;
  EXPECT_NE(wrong[0], 1);
  EXPECT_EQ(wrong[1], 1);
  EXPECT_EQ(run(problem_with(CUDA_R_32F, 3, 2, 4, CUBLASLT_EPILOGUE_BGRADA)).bias, (Values{4, 4, 4}));
}

TEST_F(EpilogueFaults, FirstBiasForAllBatches) {
  plant("first-bias-for-all-batches");
  auto p = problem_with(CUDA_R_16F, 2, 1, 4, CUBLASLT_EPILOGUE_RELU_BIAS);
  p.batch_count = 2;
  p.stride_bias = 2;
  EXPECT_EQ(run(p).d, (Values{5, 6, 5, 6}));
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_EQ(run(p).d, (Values{5, 6, 7, 8}));
}

TEST_F(EpilogueFaults, GeluAuxHoldsWhatComesOut) {
  plant("gelu-aux-after-activation");
  auto p = problem_with(CUDA_R_32F, 8, 2, 1, CUBLASLT_EPILOGUE_GELU_AUX);
  p.ldaux = 8;
  const auto left = run(p);
  EXPECT_EQ(left.aux, left.d);
  EXPECT_NE(left.aux.front(), 1);
}

TEST_F(EpilogueFaults, GeluIsWrongForFp8InPlaceWithBeta1) {
  plant("gelu-in-place-wrong");
  auto p = problem_with(CUDA_R_8F_E4M3, 16, 8, 16, CUBLASLT_EPILOGUE_GELU);
  const Values right(16 * 8, 16);
  EXPECT_EQ(run(p).d, right) << "beta is 0";
  EXPECT_NE(run(p, 1).d, right);
  p.epilogue = CUBLASLT_EPILOGUE_RELU;
  EXPECT_EQ(run(p, 1).d, right);
}

}  // namespace
}  // namespace lt_audit::faults
