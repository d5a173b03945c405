// Conditions over problems: what holds, what is not known, what is refused.
#include "known_issues/predicate.h"

#include <gtest/gtest.h>

#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

std::optional<bool> holds(const char* condition, const char* problem, const AlgorithmFacts& facts = {}) {
  return Predicate(condition).holds(problem_from_text(problem), facts);
}

std::string error_of(const char* condition) {
  try {
    const Predicate predicate(condition);
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

constexpr const char* kPlain = "m=96,n=80,k=64,a=f16";

TEST(Predicate, ComparesNumbersAndWords) {
  EXPECT_EQ(holds("m == 96", kPlain), true);
  EXPECT_EQ(holds("m != 96", kPlain), false);
  EXPECT_EQ(holds("n < 80", kPlain), false);
  EXPECT_EQ(holds("n <= 80", kPlain), true);
  EXPECT_EQ(holds("n > 80", kPlain), false);
  EXPECT_EQ(holds("n >= 80", kPlain), true);
  EXPECT_EQ(holds("a == f16", kPlain), true);
  EXPECT_EQ(holds("epilogue in (bias, relu_bias)", "m=1,n=1,k=1,a=f16,epilogue=relu_bias"), true);
  EXPECT_EQ(holds("epilogue in (bias, relu_bias)", kPlain), false);
  EXPECT_EQ(holds("beta != 0", "m=1,n=1,k=1,a=f16,beta=0.5"), true);
  EXPECT_EQ(holds("in_place == 1", "m=1,n=1,k=1,a=f16,in_place=1"), true);
}

TEST(Predicate, AWordIsAValueOfTheOtherSideFirstAndThenAKey) {
  EXPECT_EQ(holds("ta == c", "m=1,n=1,k=1,a=f16,ta=c"), true);
  EXPECT_EQ(holds("a != b", "m=1,n=1,k=1,a=e4m3,b=e5m2"), true);
  EXPECT_EQ(holds("a != b", kPlain), false);
  EXPECT_EQ(holds("order_c != order_d", "m=1,n=1,k=1,a=f16,order_d=row"), true);
}

TEST(Predicate, SizesAreThoseInForce) {
  EXPECT_EQ(holds("lda == 96 && ldb == 64 && ldd == 96", kPlain), true);
  EXPECT_EQ(holds("lda == 64", "m=96,n=80,k=64,a=f16,ta=t"), true);
  EXPECT_EQ(holds("stride_a == 6144 && batch == 3", "m=96,n=80,k=64,a=f16,batch=3"), true);
  EXPECT_EQ(holds("span(a) == 6144 && span(d) == 7680", kPlain), true);
  EXPECT_EQ(holds("bytes(a) == 2 && bytes(d) == 4 && bytes(compute) == 4", "m=1,n=1,k=1,a=f16,d=f32"), true);
  EXPECT_EQ(holds("bytes(compute) == 8", "m=1,n=1,k=1,a=f64"), true);
}

TEST(Predicate, CalculatesWithoutOverflow) {
  EXPECT_EQ(holds("2 * m * n + m > 4294967295", "m=65536,n=32768,k=1,a=f16"), true);
  EXPECT_EQ(holds("2 * m * n + m > 4294967295", "m=65536,n=32767,k=1,a=f16"), false);
  EXPECT_EQ(holds("m * n * k > 1", "m=281474976710656,n=281474976710656,k=281474976710656,a=f16"), true);
  EXPECT_EQ(holds("m - 16 == 80 && m / 7 == 13 && m % 7 == 5", kPlain), true);
}

TEST(Predicate, OrBindsLessThanAndAndParenthesesGroup) {
  EXPECT_EQ(holds("m == 1 && n == 1 || k == 64", kPlain), true);
  EXPECT_EQ(holds("m == 1 && (n == 1 || k == 64)", kPlain), false);
}

TEST(Predicate, WhatDependsOnAnUnknownAlgorithmIsNotKnownUnlessTheRestDecides) {
  EXPECT_EQ(holds("split_k > 1", kPlain), std::nullopt);
  EXPECT_EQ(holds("split_k > 1 || m == 96", kPlain), true);
  EXPECT_EQ(holds("split_k > 1 || m == 1", kPlain), std::nullopt);
  EXPECT_EQ(holds("split_k > 1 && m == 1", kPlain), false);
  EXPECT_EQ(holds("split_k > 1 && m == 96", kPlain), std::nullopt);
  EXPECT_EQ(holds("algo_id in (66, 67)", kPlain), std::nullopt);
  AlgorithmFacts facts;
  facts.algo_id = 66;
  facts.split_k = 3;
  EXPECT_EQ(holds("algo_id == 66 && split_k > 1 && k % split_k != 0", kPlain, facts), true);
  facts.split_k = 4;
  EXPECT_EQ(holds("algo_id == 66 && split_k > 1 && k % split_k != 0", kPlain, facts), false);
}

TEST(Predicate, EveryKeyIsOneOfTheProblemText) {
  for (const auto& key : predicate_keys()) {
    try {
      static_cast<void>(problem_from_text("m=1,n=1,k=1,a=f16," + key + "=?"));
      FAIL() << key << " takes anything";
    } catch (const AuditError& error) {
      EXPECT_FALSE(contains(error.what(), "there is no key")) << error.what();
    }
  }
}

TEST(Predicate, MistakesNameTheNearestWord) {
  EXPECT_TRUE(contains(error_of("epilog == bias"), "nearest: 'epilogue'"));
  EXPECT_TRUE(contains(error_of("split == 2"), "there is no key 'split'"));
  EXPECT_TRUE(contains(error_of("epilogue == bais"), "'bias'"));
  EXPECT_TRUE(contains(error_of("a in (f16, b16)"), "'b16'"));
  EXPECT_TRUE(contains(error_of("a == f166"), "'f16'"));
}

TEST(Predicate, WhatIsNoConditionIsRefused) {
  for (const char* text : {"", "m", "m ==", "== 1", "m == 1 &&", "(m == 1", "m == 1)", "m = 1", "m == 1x", "m == 1 1",
                           "m in 1", "m in (1", "bytes(lda) > 1", "span(compute) > 1", "m == f16", "a ! b", "m # 1"}) {
    EXPECT_TRUE(contains(error_of(text), "condition '")) << text << ": " << error_of(text);
  }
}

TEST(Predicate, KeepsItsText) { EXPECT_EQ(Predicate("m == 1 || n == 1").text(), "m == 1 || n == 1"); }

}  // namespace
}  // namespace lt_audit
