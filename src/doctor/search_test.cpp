// The search against libraries that are rules of a line or two.
#include "doctor/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "workload/problem_text.h"

namespace lt_audit {
namespace {

using Rule = std::function<bool(const MatmulProblem&)>;

double no_limit() { return std::numeric_limits<double>::infinity(); }

RunProblems library_with(const Rule& accepts) {
  return [accepts](const std::vector<MatmulProblem>& problems) {
    std::vector<Trial> trials;
    for (const auto& problem : problems) {
      const bool works = accepts(problem);
      trials.push_back({works, works ? "SUCCESS" : "NOT_SUPPORTED", works ? "correct" : "refused", "", {}});
    }
    return trials;
  };
}

Diagnosis diagnosed(const char* text, const Rule& accepts) {
  return diagnose(problem_from_text(text), library_with(accepts), no_limit);
}

std::vector<std::string> groups_of(const ChangeSet& set) {
  std::vector<std::string> groups;
  for (const auto& change : set.changes) groups.push_back(change.group);
  std::sort(groups.begin(), groups.end());
  return groups;
}

TEST(Diagnose, ACallThatWorksIsLeftAlone) {
  const auto diagnosis = diagnosed("m=64,n=64,k=64,a=f16", [](const MatmulProblem&) { return true; });
  EXPECT_TRUE(diagnosis.as_given.works);
  EXPECT_TRUE(diagnosis.sets.empty());
  EXPECT_EQ(diagnosis.tried, 1U);
}

TEST(Diagnose, OneCauseGivesTheWeakestMultipleThatIsEnough) {
  const auto diagnosis = diagnosed("m=64,n=64,k=64,a=f16,ldb=77",
                                   [](const MatmulProblem& problem) { return shape_b(problem).ld % 8 == 0; });
  EXPECT_FALSE(diagnosis.as_given.works);
  ASSERT_FALSE(diagnosis.sets.empty());
  const auto& set = diagnosis.sets.front();
  ASSERT_EQ(set.changes.size(), 1U);
  EXPECT_EQ(set.changes[0].what, "ldb a multiple of 8 elements (77 -> 88)");
  EXPECT_EQ(set.changes[0].code, "CUBLASLT_MATRIX_LAYOUT_LD of B = 88");
  EXPECT_EQ(set.problem.ldb, 88);
  for (const auto& other : diagnosis.sets) EXPECT_EQ(other.problem.ldb % 8, 0) << to_text(other.problem);
}

TEST(Diagnose, APromiseIsCheaperThanAPointerAndBothAreOffered) {
  const auto diagnosis = diagnosed("m=64,n=64,k=64,a=f16,a_offset=2", [](const MatmulProblem& problem) {
    return problem.a_offset % static_cast<std::int64_t>(problem.a_alignment) == 0;
  });
  ASSERT_EQ(diagnosis.sets.size(), 2U);
  EXPECT_EQ(diagnosis.sets[0].changes[0].code, "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 2");
  EXPECT_EQ(diagnosis.sets[1].changes[0].group, "A pointer");
}

TEST(Diagnose, APointerThatIsMendedIsPromisedToo) {
  const auto diagnosis =
      diagnosed("m=64,n=64,k=64,a=e4m3,d=bf16,a_offset=8,a_alignment=8",
                [](const MatmulProblem& problem) { return problem.a_offset % 16 == 0 && problem.a_alignment >= 16; });
  ASSERT_EQ(diagnosis.sets.size(), 1U);
  EXPECT_EQ(diagnosis.sets[0].changes[0].code, "pointer A % 16 == 0, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 16");
}

TEST(Diagnose, TwoCausesGiveThePairAndNoSingleChange) {
  const auto diagnosis = diagnosed("m=64,n=64,k=64,a=f16,ldb=77,workspace=0", [](const MatmulProblem& problem) {
    return shape_b(problem).ld % 8 == 0 && problem.workspace_bytes >= 4 << 20;
  });
  ASSERT_FALSE(diagnosis.sets.empty());
  EXPECT_EQ(groups_of(diagnosis.sets.front()), (std::vector<std::string>{"ldb", "workspace"}));
  EXPECT_EQ(diagnosis.sets.front().problem.workspace_bytes, 4 << 20);
}

TEST(Diagnose, FourCausesGiveExactlyTheFour) {
  const auto diagnosis = diagnosed("m=77,n=64,k=64,a=f16,a_offset=2,bias_offset=2,epilogue=bias,in_place=1,workspace=0",
                                   [](const MatmulProblem& problem) {
                                     return problem.a_offset == 0 && problem.a_alignment == 256 &&
                                            problem.bias_offset == 0 && problem.m % 8 == 0 &&
                                            problem.workspace_bytes > 0;
                                   });
  ASSERT_EQ(diagnosis.sets.size(), 1U);
  EXPECT_EQ(groups_of(diagnosis.sets[0]), (std::vector<std::string>{"A pointer", "bias pointer", "m", "workspace"}));
  EXPECT_EQ(diagnosis.sets[0].problem.m, 88) << "a multiple of 8 is enough";
  EXPECT_EQ(diagnosis.sets[0].problem.workspace_bytes, 1 << 20);
  EXPECT_TRUE(diagnosis.finished);
}

TEST(Diagnose, NothingHelpsIsSaidAndTheBudgetIsKept) {
  const auto never = [](const MatmulProblem&) { return false; };
  const auto whole = diagnosed("m=77,n=64,k=64,a=f16", never);
  EXPECT_TRUE(whole.sets.empty());
  EXPECT_TRUE(whole.finished);
  const auto cut = diagnose(problem_from_text("m=77,n=64,k=64,a=f16"), library_with(never), [] { return 0.0; });
  EXPECT_FALSE(cut.finished);
  EXPECT_EQ(cut.tried, 1U);
}

TEST(Diagnose, WhatOnlyAddsToAnotherChangeIsNotOffered) {
  const auto diagnosis = diagnosed("m=64,n=64,k=64,a=f32,d=f16,compute=32f_fast_tf32",
                                   [](const MatmulProblem& problem) { return problem.type_d == CUDA_R_32F; });
  ASSERT_EQ(diagnosis.sets.size(), 1U);
  EXPECT_EQ(to_text(diagnosis.sets[0].problem), "m=64,n=64,k=64,a=f32,compute=32f_fast_tf32");
}

TEST(Diagnose, WhatWorksOnlyOnceIsNotOffered) {
  int calls = 0;
  const RunProblems run = [&calls](const std::vector<MatmulProblem>& problems) {
    std::vector<Trial> trials;
    for (const auto& problem : problems) {
      const bool works = problem.epilogue == CUBLASLT_EPILOGUE_DEFAULT || (problem.bias_offset == 0 && calls++ == 0);
      trials.push_back({works, "SUCCESS", works ? "correct" : "wrong_result", "", 10.0 - problem.beta});
    }
    return trials;
  };
  const auto diagnosis =
      diagnose(problem_from_text("m=64,n=64,k=64,a=f32,epilogue=bias,bias_offset=4,beta=1"), run, no_limit);
  ASSERT_EQ(diagnosis.sets.size(), 1U);
  EXPECT_EQ(diagnosis.sets[0].changes[0].group, "epilogue");
  EXPECT_EQ(diagnosis.sets[0].trial.gpu_us, 9.0);
}

class EveryChange : public testing::TestWithParam<const char*> {};

TEST_P(EveryChange, ChangesTheProblemToAnotherValidOne) {
  const MatmulProblem given = problem_from_text(GetParam());
  const auto changes = changes_for(given);
  EXPECT_GT(changes.size(), 10U);
  for (const auto& change : changes) {
    MatmulProblem problem = given;
    change.apply(problem);
    EXPECT_FALSE(problem == given) << change.what;
    EXPECT_EQ(problem_from_text(to_text(problem)), problem) << change.what;
    for (const auto shape : {shape_a(problem), shape_b(problem), shape_c(problem), shape_d(problem)}) {
      EXPECT_GE(shape.ld, shape.order == CUBLASLT_ORDER_COL ? shape.rows : shape.cols) << change.what;
    }
    EXPECT_GT(memory_of(problem), 0) << change.what;
    EXPECT_FALSE(change.code.empty()) << change.what;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Problems, EveryChange,
    testing::Values("m=77,n=33,k=55,a=f16,a_offset=2,ldb=57,workspace=1MiB",
                    "m=64,n=64,k=64,a=e4m3,d=bf16,epilogue=relu_bias,bias_offset=2",
                    "m=30,n=20,k=10,ta=t,a=i8,d=i32,alpha=2,batch=3,stride_a=400,lda=12",
                    "m=30,n=20,k=10,a=f32,order_a=row,order_d=row,in_place=1,pointer_mode=device"));

}  // namespace
}  // namespace lt_audit
