// Conversions and value patterns.
#include "platform/audit_math.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace lt_audit {
namespace {

template <class Bits>
void expect_round_trip(cudaDataType_t type) {
  for (std::uint32_t pattern = 0; pattern <= std::numeric_limits<Bits>::max(); ++pattern) {
    const auto bits = static_cast<Bits>(pattern);
    const double value = decode(type, &bits);
    if (std::isnan(value) || std::isinf(value)) continue;
    Bits again = 0;
    encode(type, value, &again);
    ASSERT_EQ(again, bits) << "value " << value;
  }
}

TEST(ElementTypes, EveryFiniteValueSurvivesDecodeAndEncode) {
  expect_round_trip<std::uint16_t>(CUDA_R_16F);
  expect_round_trip<std::uint16_t>(CUDA_R_16BF);
  expect_round_trip<std::uint8_t>(CUDA_R_8F_E4M3);
  expect_round_trip<std::uint8_t>(CUDA_R_8F_E5M2);
  expect_round_trip<std::uint8_t>(CUDA_R_8I);
}

TEST(ElementTypes, WideTypesSurviveDecodeAndEncode) {
  for (const double value : {0.0, -1.0, 0.5, 16777216.0, -2147483648.0, 2147483647.0}) {
    EXPECT_EQ(rounded_to(CUDA_R_64F, value), value);
    EXPECT_EQ(rounded_to(CUDA_R_32F, value), static_cast<double>(static_cast<float>(value)));
  }
  EXPECT_EQ(rounded_to(CUDA_R_32I, 2147483647.0), 2147483647.0);
}

TEST(ElementTypes, TiesRoundToEven) {
  EXPECT_EQ(rounded_to(CUDA_R_16F, 2049), 2048);
  EXPECT_EQ(rounded_to(CUDA_R_16F, 2051), 2052);
  EXPECT_EQ(rounded_to(CUDA_R_16BF, 257), 256);
  EXPECT_EQ(rounded_to(CUDA_R_16BF, 259), 260);
  EXPECT_EQ(rounded_to(CUDA_R_8F_E4M3, 17), 16);
  EXPECT_EQ(rounded_to(CUDA_R_8F_E4M3, 19), 20);
  EXPECT_EQ(rounded_to(CUDA_R_8F_E5M2, 9), 8);
  EXPECT_EQ(rounded_to(CUDA_R_8I, 2.5), 2);
  EXPECT_EQ(rounded_to(CUDA_R_8I, 3.5), 4);
}

TEST(ElementTypes, DoubleRoundsOnceNotThroughFloat) {
  // Just above the tie between 2048 and 2050: float would lose the excess and round to even.
  EXPECT_EQ(rounded_to(CUDA_R_16F, 2049 + 1e-9), 2050);
  EXPECT_EQ(rounded_to(CUDA_R_16BF, 257 + 1e-9), 258);
}

TEST(ElementTypes, Fp8AndIntegersSaturate) {
  EXPECT_EQ(rounded_to(CUDA_R_8F_E4M3, 1e6), 448);
  EXPECT_EQ(rounded_to(CUDA_R_8F_E5M2, -1e6), -57344);
  EXPECT_EQ(rounded_to(CUDA_R_8I, 200), 127);
  EXPECT_EQ(rounded_to(CUDA_R_8I, -200), -128);
  EXPECT_EQ(rounded_to(CUDA_R_32I, 1e12), 2147483647.0);
  EXPECT_TRUE(std::isinf(rounded_to(CUDA_R_16F, 1e6)));
}

TEST(ElementTypes, AllOnesIsNoNumberInFloatingTypes) {
  const std::array<std::uint64_t, 2> ones{~0ULL, ~0ULL};
  for (const auto type :
       {CUDA_R_64F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_C_32F, CUDA_C_64F}) {
    EXPECT_TRUE(std::isnan(decode(type, ones.data()))) << name_of(type);
  }
}

TEST(ElementTypes, FractionsAndNaNAreNoIntegers) {
  EXPECT_EQ(exact_integer(-7), -7);
  EXPECT_EQ(exact_integer(0.5), kNotAnInteger);
  EXPECT_EQ(exact_integer(std::numeric_limits<float>::quiet_NaN()), kNotAnInteger);
  EXPECT_EQ(exact_integer(1e20F), kNotAnInteger);
}

TEST(ValuePatterns, DenseValuesUseTheWholeRangeAndAreNeverZero) {
  const ValuePattern pattern{5, 3, 1, false};
  std::map<std::int32_t, int> seen;
  for (std::int64_t row = 0; row < 100; ++row) {
    for (std::int64_t col = 0; col < 100; ++col) ++seen[value_of(pattern, 100, row, col, 0)];
  }
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_EQ(seen.count(0), 0U);
  // Each of six values is expected 1667 times with a standard deviation of 37; six of those apart fails.
  for (const auto& [value, count] : seen) {
    EXPECT_LE(std::abs(value), 3);
    EXPECT_NEAR(count, 1667, 220) << "value " << value;
  }
}

TEST(ValuePatterns, SeedRowColumnAndBatchAllDecide) {
  const ValuePattern pattern{5, 100, 1, false};
  const ValuePattern other{6, 100, 1, false};
  int by_seed = 0;
  int by_row = 0;
  int by_col = 0;
  int by_batch = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::int32_t value = value_of(pattern, 1000, i, 3, 0);
    by_seed += value == value_of(other, 1000, i, 3, 0) ? 1 : 0;
    by_row += value == value_of(pattern, 1000, i + 1, 3, 0) ? 1 : 0;
    by_col += value == value_of(pattern, 1000, i, 4, 0) ? 1 : 0;
    by_batch += value == value_of(pattern, 1000, i, 3, 1) ? 1 : 0;
  }
  // One of 200 is expected to agree by chance.
  for (const int equal : {by_seed, by_row, by_col, by_batch}) EXPECT_LE(equal, 8);
}

TEST(ValuePatterns, SparseColumnsHaveOneNonzeroInEachBlock) {
  const ValuePattern pattern{5, 2, 7, false};
  const std::int64_t rows = 45;
  std::map<std::int64_t, int> used;
  for (std::int64_t col = 0; col < 200; ++col) {
    for (std::int64_t block = 0; block * 7 < rows; ++block) {
      int nonzeros = 0;
      for (std::int64_t row = block * 7; row < std::min<std::int64_t>(block * 7 + 7, rows); ++row) {
        if (value_of(pattern, rows, row, col, 0) == 0) continue;
        ++nonzeros;
        ++used[row];
      }
      ASSERT_EQ(nonzeros, 1) << "column " << col << " block " << block;
    }
  }
  EXPECT_EQ(used.size(), 45U) << "each row is used by some column";
}

TEST(ValuePatterns, AReaderGivesTheSameInAnyOrder) {
  const ValuePattern pattern{5, 9, 4, false};
  PatternReader reader(pattern, 30);
  for (std::int64_t batch : {1, 0, 1}) {
    reader.set_batch(batch);
    for (std::int64_t i = 0; i < 300; ++i) {
      const std::int64_t row = i * 7 % 30;
      const std::int64_t col = i * 11 % 13;
      ASSERT_EQ(reader.at(row, col), value_of(pattern, 30, row, col, batch));
    }
  }
}

TEST(Divisors, DivideExactlyOnBothSidesOfThirtyTwoBits) {
  constexpr std::int64_t k2p31 = std::int64_t{1} << 31;
  constexpr std::int64_t k2p32 = std::int64_t{1} << 32;
  for (const std::int64_t divisor : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{52301824},
                                     k2p31 - 1, k2p31, k2p31 + 1, k2p32 - 1, k2p32, k2p32 + 1, 3 * k2p32}) {
    const Divisor by(divisor);
    for (const std::int64_t dividend : {std::int64_t{0}, divisor - 1, divisor, divisor + 1, k2p31 - 1, k2p31, k2p32 - 1,
                                        k2p32, k2p32 + 1, 5 * divisor - 1, 5 * divisor, 64 * k2p32 + 7}) {
      EXPECT_EQ(by.quotient(dividend), dividend / divisor) << dividend << " / " << divisor;
    }
  }
}

TEST(ElementIndices, GoBeyondThirtyTwoBits) {
  MatrixShape shape{CUDA_R_16F, 1024, 65, 52301824, CUBLASLT_ORDER_COL, 2, std::int64_t{1} << 33};
  EXPECT_EQ(element_index(shape, 1023, 64, 1), (std::int64_t{1} << 33) + 64 * std::int64_t{52301824} + 1023);
  shape.order = CUBLASLT_ORDER_ROW;
  EXPECT_EQ(element_index(shape, 1023, 64, 0), 1023 * std::int64_t{52301824} + 64);
}

TEST(RandomVectors, EntriesFillThirtyTwoBitsAndDifferFromVectorToVector) {
  std::uint32_t seen = 0;
  double mean = 0;
  int equal = 0;
  for (std::int64_t i = 0; i < 100000; ++i) {
    const std::int32_t entry = vector_entry(1, 0, i);
    seen |= static_cast<std::uint32_t>(entry);
    mean += entry / 100000.0;
    equal += entry == vector_entry(1, 1, i) ? 1 : 0;
  }
  EXPECT_EQ(seen, 0xFFFFFFFFU);
  // The standard deviation of the mean is 2^32 / sqrt(12 * 100000) = 3.9e6.
  EXPECT_NEAR(mean, 0, 2.4e7);
  EXPECT_EQ(equal, 0);
}

}  // namespace
}  // namespace lt_audit
