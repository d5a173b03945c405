// Which checks and cases a selection means.
#include "driver/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "driver/fake_check.h"
#include "driver/given_problems.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    registry_.push_back(std::make_unique<FakeCheck>("alignment", std::vector{fake_case("a1"), fake_case("a2")}));
    registry_.push_back(std::make_unique<FakeCheck>("compute-type", std::vector{fake_case("t1"), fake_case("a1")}));
    registry_.push_back(
        std::make_unique<FakeCheck>("graph", std::vector{fake_case("g1")}, "needs compute capability 10.0"));
  }

  std::vector<std::string> selected(const Selection& selection) {
    std::vector<std::string> ids;
    for (const auto* check : select_checks(selection, registry_)) ids.emplace_back(check->info().id);
    return ids;
  }
  std::string error_of(const Selection& selection) {
    try {
      make_plan(selection, target_, registry_);
    } catch (const AuditError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  }

  std::vector<std::unique_ptr<Check>> registry_;
  Target target_;
};

TEST_F(PlanTest, NothingNamedMeansAllInOrder) {
  EXPECT_EQ(selected({}), (std::vector<std::string>{"alignment", "compute-type", "graph"}));
}

TEST_F(PlanTest, GlobsSelectAndExclude) {
  Selection selection;
  selection.checks = {"*-type", "alignment"};
  EXPECT_EQ(selected(selection), (std::vector<std::string>{"alignment", "compute-type"}));
  selection.checks = {};
  selection.exclude = {"g?aph", "comp*"};
  EXPECT_EQ(selected(selection), std::vector<std::string>{"alignment"});
}

TEST_F(PlanTest, AnUnknownNameTellsTheNearest) {
  Selection selection;
  selection.checks = {"alignmnet"};
  const auto text = error_of(selection);
  EXPECT_NE(text.find("'alignmnet'"), std::string::npos) << text;
  EXPECT_NE(text.find("'alignment'"), std::string::npos) << text;
}

TEST_F(PlanTest, AnExcludeThatMatchesNothingIsAnError) {
  Selection selection;
  selection.exclude = {"nothing-like-it"};
  EXPECT_NE(error_of(selection).find("--exclude"), std::string::npos);
}

TEST_F(PlanTest, ExcludingEverythingIsAnError) {
  Selection selection;
  selection.exclude = {"*"};
  EXPECT_NE(error_of(selection).find("excluded"), std::string::npos);
}

TEST_F(PlanTest, ACheckThatDoesNotApplyStaysWithItsReasonAndNoCases) {
  const auto plan = make_plan({}, target_, registry_);
  ASSERT_EQ(plan.checks.size(), 3U);
  EXPECT_EQ(plan.checks[2].skip_reason, "needs compute capability 10.0");
  EXPECT_TRUE(plan.checks[2].cases.empty());
  EXPECT_EQ(plan.case_count(), 4U);
}

TEST_F(PlanTest, ProblemsAloneRunAlone) {
  Selection selection;
  selection.problems = {"m=16,n=16,k=16,a=f32", "m=32,n=16,k=16,a=f16"};
  const auto plan = make_plan(selection, target_, registry_);
  ASSERT_EQ(plan.checks.size(), 1U);
  EXPECT_EQ(plan.checks[0].check->info().id, kGivenProblemsId);
  ASSERT_EQ(plan.checks[0].cases.size(), 2U);
  EXPECT_EQ(plan.checks[0].cases[1].id, "problem-2");
}

TEST_F(PlanTest, ProblemsRunBesideNamedChecks) {
  Selection selection;
  selection.problems = {"m=16,n=16,k=16,a=f32"};
  selection.checks = {"alignment"};
  EXPECT_EQ(make_plan(selection, target_, registry_).checks.size(), 2U);
}

TEST_F(PlanTest, ABadProblemIsFoundBeforeAnythingRuns) {
  Selection selection;
  selection.problems = {"m=16,n=16,k=16,a=f33"};
  EXPECT_THROW(select_checks(selection, registry_), AuditError);
}

TEST_F(PlanTest, OneCaseLeavesTheChecksThatHaveIt) {
  Selection selection;
  selection.checks = {"alignment", "compute-type"};
  selection.only_case = "t1";
  const auto plan = make_plan(selection, target_, registry_);
  ASSERT_EQ(plan.checks.size(), 1U);
  EXPECT_EQ(plan.checks[0].cases.at(0).id, "t1");
  selection.only_case = "a1";
  EXPECT_EQ(make_plan(selection, target_, registry_).case_count(), 2U);
}

TEST_F(PlanTest, AnUnknownCaseIsAnError) {
  Selection selection;
  selection.checks = {"alignment"};
  selection.only_case = "f16.declared";
  EXPECT_NE(error_of(selection).find("'f16.declared'"), std::string::npos);
}

TEST(Depth, NamesGoBothWays) {
  for (const auto depth : {Depth::quick, Depth::normal, Depth::full}) EXPECT_EQ(depth_from(name_of(depth)), depth);
  EXPECT_EQ(name_of(Depth::normal), "default");
  EXPECT_EQ(depth_from("deep"), std::nullopt);
}

}  // namespace
}  // namespace lt_audit
