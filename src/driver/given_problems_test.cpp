// Problems from the command line as a check.
#include "driver/given_problems.h"

#include <gtest/gtest.h>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

Target h200() {
  Target target;
  target.device_facts.compute_major = 9;
  target.cublaslt = {13, 1, 0, 130100, "", ""};
  return target;
}

Observation observed(const char* matmul_status) {
  Observation observation;
  observation.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"},
                        {"matmul", "cublasLtMatmul", matmul_status}};
  if (observation.stages[1].ok()) {
    Verification verification;
    verification.compared = verification.expected_nonzero = 4;
    observation.verification = verification;
  }
  return observation;
}

TEST(GivenProblems, TakesItsExpectationFromTheContract) {
  const auto check = make_given_problems(
      {"m=64,n=64,k=64,a=f32", "m=64,n=64,k=64,a=f32,ldd=8", "m=64,n=64,k=64,a=f32,d=f16,compute=32f_fast_tf32"});
  const auto cases = check->cases(h200(), Depth::normal);
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].expectation, Expectation::must_work);
  EXPECT_EQ(cases[1].expectation, Expectation::must_refuse);
  EXPECT_EQ(cases[2].expectation, Expectation::may_refuse);
  for (const auto& the_case : cases) {
    EXPECT_FALSE(the_case.rule.empty());
    EXPECT_TRUE(the_case.with_cublas);
    EXPECT_FALSE(the_case.scenario);
  }
}

TEST(GivenProblems, JudgesByTheTable) {
  const auto check = make_given_problems({"m=64,n=64,k=64,a=f32"});
  const auto the_case = check->cases(h200(), Depth::normal).at(0);
  EXPECT_EQ(check->judge(the_case, observed("SUCCESS")).status, Status::pass);
  const auto late = check->judge(the_case, observed("NOT_SUPPORTED"));
  EXPECT_EQ(late.status, Status::fail);
  EXPECT_EQ(late.reason, "must-work-late-refusal-types-listed");
}

TEST(GivenProblems, ARefusalByMatmulIsRightWhereOnlyMatmulCanSee) {
  const auto check = make_given_problems({"m=64,n=64,k=64,a=f16,workspace_offset=1", "m=64,n=64,k=64,a=f16,ldd=8"});
  const auto cases = check->cases(h200(), Depth::normal);
  EXPECT_EQ(check->judge(cases[0], observed("INVALID_VALUE")).status, Status::pass);
  EXPECT_EQ(check->judge(cases[1], observed("INVALID_VALUE")).status, Status::warn);
}

TEST(GivenProblems, TheRemedyFollowsTheBrokenRule) {
  const auto check =
      make_given_problems({"m=64,n=64,k=64,a=f16,a_offset=2", "m=64,n=64,k=64,a=f16,workspace_offset=1"});
  const auto cases = check->cases(h200(), Depth::normal);
  const auto pointer = check->advice(cases[0], check->judge(cases[0], observed("NOT_SUPPORTED")));
  EXPECT_NE(pointer.remedy.find("MIN_ALIGNMENT"), std::string::npos) << pointer.remedy;
  const auto workspace = check->advice(cases[1], check->judge(cases[1], observed("SUCCESS")));
  EXPECT_NE(workspace.remedy.find("256"), std::string::npos) << workspace.remedy;
  for (const auto& advice : {pointer, workspace}) {
    EXPECT_FALSE(advice.title.empty());
    EXPECT_FALSE(advice.expected.empty());
    EXPECT_FALSE(advice.rule.empty());
  }
}

TEST(GivenProblems, NamesTheTextThatCannotBeRead) {
  try {
    make_given_problems({"m=64,n=64,k=64,a=f32", "m=64,n=64,kk=64,a=f32"});
    FAIL() << "accepted";
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("m=64,n=64,kk=64,a=f32"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lt_audit
