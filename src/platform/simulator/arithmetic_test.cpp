// The simulator's numbers against sums written out by hand and against a plain triple loop in long double.
#include "platform/simulator/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace lt_audit::simulator {
namespace {

double round_trip(cudaDataType_t type, double value) {
  std::uint64_t memory = 0;
  store_value(type, &memory, value);
  return load_value(type, &memory);
}

TEST(StoreValue, RoundsHalfwayCasesToEven) {
  EXPECT_EQ(round_trip(CUDA_R_16F, 2049), 2048);
  EXPECT_EQ(round_trip(CUDA_R_16F, 2051), 2052);
  EXPECT_EQ(round_trip(CUDA_R_16BF, 257), 256);
  EXPECT_EQ(round_trip(CUDA_R_16BF, 259), 260);
  EXPECT_EQ(round_trip(CUDA_R_8F_E4M3, 17), 16);
  EXPECT_EQ(round_trip(CUDA_R_8F_E4M3, 19), 20);
  EXPECT_EQ(round_trip(CUDA_R_8F_E5M2, 9), 8);
  EXPECT_EQ(round_trip(CUDA_R_8F_E5M2, 11), 12);
  EXPECT_EQ(round_trip(CUDA_R_8I, 2.5), 2);
  EXPECT_EQ(round_trip(CUDA_R_8I, 3.5), 4);
  EXPECT_EQ(round_trip(CUDA_R_32F, 16777217.0), 16777216.0);
  EXPECT_EQ(round_trip(CUDA_R_64F, 16777217.0), 16777217.0);
}

TEST(StoreValue, RoundsOnceAndNotThroughFloat) {
  // Just above the middle of two half values: through float it would become the middle and then the even one.
  EXPECT_EQ(round_trip(CUDA_R_16F, 2049 + std::ldexp(1.0, -30)), 2050);
  EXPECT_EQ(round_trip(CUDA_R_16BF, 257 + std::ldexp(1.0, -30)), 258);
}

TEST(StoreValue, SaturatesIntegersAndFp8) {
  EXPECT_EQ(round_trip(CUDA_R_8I, 300), 127);
  EXPECT_EQ(round_trip(CUDA_R_8I, -300), -128);
  EXPECT_EQ(round_trip(CUDA_R_32I, 1e12), 2147483647);
  EXPECT_EQ(round_trip(CUDA_R_8F_E4M3, 1e6), 448);
  EXPECT_EQ(round_trip(CUDA_R_8F_E5M2, -1e6), -57344);
  EXPECT_TRUE(std::isinf(round_trip(CUDA_R_16F, 1e6)));
}

TEST(StoreValue, KeepsEveryFp8Code) {
  for (const auto type : {CUDA_R_8F_E4M3, CUDA_R_8F_E5M2}) {
    for (int code = 0; code < 256; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      const double value = load_value(type, &byte);
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(round_trip(type, value), value) << "code " << code;
    }
  }
}

/// A product in host memory with its own plain reference.
struct Trial {
  Product product;
  std::vector<std::byte> a, b, c, d, bias, workspace;

  Trial(const MatmulProblem& p, cudaDataType_t bias_vector_type) {
    const auto place = [](std::vector<std::byte>& memory, const MatrixShape& shape, int salt) {
      memory.assign(bytes_of_span(shape), std::byte{0});
      const std::size_t size = bytes_of(shape.type);
      for (std::size_t i = 0; i < memory.size() / size; ++i) {
        const int mixed = static_cast<int>((i * 7 + i / 3 + static_cast<std::size_t>(salt)) % 9);
        store_value(shape.type, memory.data() + i * size, mixed - 4);
      }
    };
    place(a, shape_a(p), 1);
    place(b, shape_b(p), 2);
    place(c, shape_c(p), 5);
    place(d, shape_d(p), 8);
    product.m = p.m, product.n = p.n, product.k = p.k;
    product.a = {a.data(), shape_a(p), p.transa != CUBLAS_OP_N};
    product.b = {b.data(), shape_b(p), p.transb != CUBLAS_OP_N};
    product.c = {c.data(), shape_c(p), false};
    product.d = d.data();
    product.d_shape = shape_d(p);
    product.alpha.value = p.alpha;
    product.beta.value = p.beta;
    product.epilogue = p.epilogue;
    product.bias_type = bias_vector_type;
    if (has_bias(p.epilogue)) {
      bias.assign(static_cast<std::size_t>(p.m) * bytes_of(bias_vector_type), std::byte{0});
      for (std::int64_t i = 0; i < p.m; ++i) {
        store_value(bias_vector_type, bias.data() + static_cast<std::size_t>(i) * bytes_of(bias_vector_type),
                    static_cast<double>(i % 5 - 2));
      }
      product.bias = bias.data();
    }
  }

  static double element(const std::vector<std::byte>& memory, const MatrixShape& shape, std::int64_t row,
                        std::int64_t col, std::int64_t batch) {
    const std::int64_t place = shape.order == CUBLASLT_ORDER_ROW ? row * shape.ld + col : col * shape.ld + row;
    const auto at = static_cast<std::size_t>(place + batch * shape.batch_stride) * bytes_of(shape.type);
    return load_value(shape.type, memory.data() + at);
  }

  double expected(const MatmulProblem& p, std::int64_t i, std::int64_t j, std::int64_t batch) const {
    long double sum = 0;
    for (std::int64_t x = 0; x < p.k; ++x) {
      const bool plain_a = p.transa == CUBLAS_OP_N, plain_b = p.transb == CUBLAS_OP_N;
      sum += static_cast<long double>(element(a, shape_a(p), plain_a ? i : x, plain_a ? x : i, batch)) *
             static_cast<long double>(element(b, shape_b(p), plain_b ? x : j, plain_b ? j : x, batch));
    }
    double value = p.alpha * static_cast<double>(sum);
    if (p.beta != 0) value += p.beta * element(c, shape_c(p), i, j, batch);
    if (product.bias != nullptr) value += static_cast<double>(i % 5 - 2);
    if (has_relu(product.epilogue) && value < 0) value = 0;
    return round_trip(p.type_d, value);
  }
};

void expect_right(const MatmulProblem& p, Trial& trial) {
  run_product(trial.product);
  int nonzero = 0;
  for (std::int32_t batch = 0; batch < p.batch_count; ++batch) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        const double expected = trial.expected(p, i, j, batch);
        ASSERT_EQ(Trial::element(trial.d, shape_d(p), i, j, batch), expected) << i << ", " << j << ", " << batch;
        nonzero += expected != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(nonzero, p.m * p.n * p.batch_count / 4);
}

class ProductOfType : public ::testing::TestWithParam<cudaDataType_t> {};

TEST_P(ProductOfType, MatchesAPlainLoopInEveryLayout) {
  for (const auto transa : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const auto transb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (const auto order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
        MatmulProblem p = uniform_problem(GetParam(), 9, 7, 13);
        p.transa = transa, p.transb = transb;
        p.order_a = order, p.order_d = order;
        p.lda = 17, p.ldb = 19, p.ldc = 11, p.ldd = 12;
        p.alpha = 2, p.beta = 3;
        p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
        Trial trial(p, bias_type(p));
        expect_right(p, trial);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, ProductOfType,
                         ::testing::Values(CUDA_R_64F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8F_E4M3,
                                           CUDA_R_8F_E5M2, CUDA_R_8I),
                         [](const auto& type) { return name_of(type.param); });

TEST(RunProduct, SharesAnOperandWhoseBatchStrideIsZero) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 5, 4, 6);
  p.batch_count = 3;
  p.stride_b = 0;
  p.beta = 1;
  Trial trial(p, CUDA_R_32F);
  expect_right(p, trial);
}

TEST(RunProduct, CrossesTheEdgeOfATile) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 300, 3, 5);
  Trial trial(p, CUDA_R_16F);
  expect_right(p, trial);
}

TEST(RunProduct, SplitKEqualsPlainAndWritesTheWorkspace) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 20, 6, 37);
  p.beta = 1;
  Trial trial(p, CUDA_R_16F);
  trial.product.split_k = 4;
  trial.workspace.assign(product_workspace_bytes(20, 6, 1, 4, CUDA_R_32F), std::byte{0xFF});
  trial.product.workspace = trial.workspace.data();
  expect_right(p, trial);
  for (std::size_t i = 0; i < trial.workspace.size(); i += 4) {
    ASSERT_TRUE(std::isfinite(load_value(CUDA_R_32F, trial.workspace.data() + i))) << "byte " << i;
  }
}

TEST(RunProduct, LeavesThePaddingAlone) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 3, 2, 2);
  p.ldd = 5;
  Trial trial(p, CUDA_R_32F);
  const std::vector<std::byte> before = trial.d;
  run_product(trial.product);
  EXPECT_EQ(std::memcmp(before.data() + 12, trial.d.data() + 12, 8), 0);
}

TEST(RunProduct, ReadsCOnlyWhenBetaIsNotZero) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 2, 2, 2);
  Trial trial(p, CUDA_R_32F);
  for (std::size_t i = 0; i < 4; ++i) {
    store_value(CUDA_R_32F, trial.c.data() + i * 4, std::numeric_limits<double>::quiet_NaN());
  }
  expect_right(p, trial);
}

TEST(RunProduct, WithoutKGivesBetaTimesC) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 2, 1, 0);
  p.lda = 2, p.ldb = 1;
  p.beta = 2;
  Trial trial(p, CUDA_R_32F);
  run_product(trial.product);
  EXPECT_EQ(load_value(CUDA_R_32F, trial.d.data()), 2 * load_value(CUDA_R_32F, trial.c.data()));
}

TEST(RunProduct, PropagatesInfinityTimesZeroAsNan) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 1, 1, 1);
  Trial trial(p, CUDA_R_32F);
  store_value(CUDA_R_32F, trial.a.data(), std::numeric_limits<double>::infinity());
  store_value(CUDA_R_32F, trial.b.data(), 0);
  run_product(trial.product);
  EXPECT_TRUE(std::isnan(load_value(CUDA_R_32F, trial.d.data())));
}

TEST(RunProduct, AppliesTheScalesOfFp8) {
  MatmulProblem p = uniform_problem(CUDA_R_8F_E4M3, 1, 1, 1);
  Trial trial(p, CUDA_R_16BF);
  store_value(CUDA_R_8F_E4M3, trial.a.data(), 3);
  store_value(CUDA_R_8F_E4M3, trial.b.data(), 5);
  const float two = 2;
  trial.product.scale_a = {1, &two, CUDA_R_32F};
  run_product(trial.product);
  EXPECT_EQ(load_value(CUDA_R_16BF, trial.d.data()), 30);
}

}  // namespace
}  // namespace lt_audit::simulator
