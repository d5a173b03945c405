// The contract of batches.
#include <gtest/gtest.h>

#include "lt_audit/contract.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

constexpr ContractScope kHopper{90, 130100};

std::string rule_of(const char* text, const ContractScope& scope = kHopper) {
  return promise_of(problem_from_text(text), scope).rule_id;
}

TEST(BatchContract, MatricesOfDMayLieSideBySideButNotOverlap) {
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,stride_d=2047"), "d-batches-overlap");
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,stride_d=0"), "d-batches-overlap");
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,stride_d=2048"), "types-listed");
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,ldd=192,stride_d=64"), "types-listed") << "three in one wide matrix";
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,ldd=191,stride_d=64"), "d-batches-overlap") << "the last hangs over";
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,ldd=192,stride_d=63"), "d-batches-overlap");
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,order_d=row,ldd=96,stride_d=32"), "types-listed");
  EXPECT_EQ(rule_of("m=64,n=32,k=16,a=f16,batch=3,stride_a=1"), "types-listed") << "inputs may overlap";
}

TEST(BatchContract, MoreThanOneLaunchTakesDependsOnVersionAndOrder) {
  const char* const many = "m=8,n=2,k=4,a=f16,batch=65536";
  EXPECT_EQ(rule_of(many), "types-listed");
  EXPECT_EQ(rule_of(many, {90, 120200}), "batch-above-65535");
  EXPECT_EQ(rule_of("m=8,n=2,k=4,a=f16,batch=65535", {90, 120200}), "types-listed");
  const auto rows = problem_from_text("m=8,n=2,k=4,a=f16,batch=65536,order_a=row");
  EXPECT_EQ(promise_of(rows, kHopper).rule_id, "batch-above-65535");
  EXPECT_EQ(promise_of(rows, kHopper).refused_by, RefusedBy::nothing);
}

TEST(BatchContract, CountsThatDifferAreRefusedSince13_2) {
  EXPECT_EQ(promise_of_unequal_batch_counts({90, 130100}, false).expectation, Expectation::may_refuse);
  EXPECT_EQ(promise_of_unequal_batch_counts({90, 130200}, false).expectation, Expectation::must_refuse);
  EXPECT_EQ(promise_of_unequal_batch_counts({90, 130100}, true).expectation, Expectation::must_refuse);
}

TEST(BatchContract, ArraysOfPointersHaveTheDefaultEpilogueAlone) {
  auto p = problem_from_text("m=64,n=32,k=16,a=f16,batch=3,stride_d=0");
  EXPECT_EQ(promise_of_pointer_arrays(p, kHopper, true).rule_id, "pointer-array") << "strides say nothing";
  EXPECT_EQ(promise_of_pointer_arrays(p, kHopper, true).expectation, Expectation::may_refuse);
  EXPECT_EQ(promise_of_pointer_arrays(p, kHopper, false).refused_by, RefusedBy::heuristic);
  EXPECT_EQ(promise_of_pointer_arrays(p, {90, 120800}, true).rule_id, "pointer-array-mixed");
  p.epilogue = CUBLASLT_EPILOGUE_RELU;
  EXPECT_EQ(promise_of_pointer_arrays(p, kHopper, true).expectation, Expectation::must_refuse);
  p = problem_from_text("m=64,n=32,k=8,ta=t,a=e4m3,d=bf16,batch=3");
  EXPECT_EQ(promise_of_pointer_arrays(p, kHopper, true).rule_id, "fp8-16-byte-rule")
      << "the rest of the contract holds";
}

}  // namespace
}  // namespace lt_audit
