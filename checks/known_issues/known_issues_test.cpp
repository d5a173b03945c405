// Tests of check "known-issues": which issues become cases, the judgement on hand-made observations, and the cases over
// the simulator, with and without faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "known_issue_cases.h"
#include "workload/problem_text.h"

namespace lt_audit {

std::unique_ptr<Check> make_known_issues();

namespace {

Target target_of(int major, int minor, int patch, int compute_capability) {
  Target target;
  target.device_facts.compute_major = compute_capability / 10;
  target.device_facts.compute_minor = compute_capability % 10;
  target.cublaslt.major = major;
  target.cublaslt.minor = minor;
  target.cublaslt.patch = patch;
  return target;
}

std::map<std::string, Case> by_id(const std::vector<Case>& cases) {
  std::map<std::string, Case> map;
  for (const auto& one : cases) EXPECT_TRUE(map.emplace(one.id, one).second) << one.id << " twice";
  return map;
}

class KnownIssuesTest : public testing::Test {
 protected:
  std::map<std::string, Case> cases_of(const Target& target) const {
    return by_id(check_->cases(target, Depth::normal));
  }
  Case named(const std::string& id) const { return cases_of(hopper_).at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    auto verdict = check_->judge(the_case, observation);
    expect_explained(*check_, the_case, verdict);
    return verdict;
  }
  std::vector<Case> about(const char* problem) const {
    return check_->cases_about(hopper_, problem_from_text(problem));
  }

  std::unique_ptr<Check> check_ = make_known_issues();
  Target hopper_ = target_of(13, 1, 0, 90);
};

Observation wrong() {
  auto seen = *hand_made::worked().verification;
  seen.wrong = 3;
  return hand_made::verified(seen);
}

TEST_F(KnownIssuesTest, TheCasesAreThoseOfVersionAndGpu) {
  const auto now = cases_of(hopper_);
  EXPECT_TRUE(now.contains("KI-061.1"));
  EXPECT_FALSE(now.contains("KI-062.1"));
  EXPECT_FALSE(now.contains("KI-050.1"));
  const auto mended = cases_of(target_of(13, 2, 0, 90));
  EXPECT_FALSE(mended.contains("KI-061.1"));
  const auto before = cases_of(target_of(12, 9, 0, 90));
  EXPECT_TRUE(before.contains("KI-050.1"));
  EXPECT_TRUE(before.contains("KI-062.1"));
  EXPECT_FALSE(before.contains("KI-061.1"));
  EXPECT_TRUE(cases_of(target_of(12, 8, 3, 100)).contains("KI-049.1"));
}

TEST_F(KnownIssuesTest, AnIssueHasWitnessesOrOneCaseThatSaysWhyNot) {
  for (const auto& [id, one] : cases_of(hopper_)) {
    const bool skips = one.parameters.contains(kNoWitnessParameter);
    EXPECT_EQ(skips, id.ends_with(".no-witness")) << id;
    EXPECT_FALSE(one.parameters.at("title").empty()) << id;
    EXPECT_NE(one.rule.find(one.parameters.at(kIssueParameter)), std::string::npos) << id;
    EXPECT_LE(std::max({one.problem.m, one.problem.n, one.problem.k}), 4096) << id;
    EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
  }
}

TEST_F(KnownIssuesTest, SaysWhatTheMatchRestsOn) {
  const auto certain = named("KI-061.1").parameters;
  EXPECT_EQ(certain.at("match"), "applies");
  EXPECT_EQ(certain.at("fixed_in"), "13.2.0");
  EXPECT_EQ(certain.at("workaround"), "split n, loop over the batch");
  EXPECT_TRUE(named("KI-074.1").parameters.at("match").starts_with("may apply: only where: the address"));
}

TEST_F(KnownIssuesTest, ARefusalConfirmsWhereTheCallIsPromised) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late()}) {
    const auto verdict = judge(named("KI-061.1"), observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "confirmed-ki-061");
    EXPECT_TRUE(verdict.sentence.starts_with("KI-061 shows: ")) << verdict.sentence;
  }
  const auto advice = check_->advice(named("KI-061.1"), judge(named("KI-061.1"), hand_made::refused()));
  EXPECT_EQ(advice.remedy, "use cuBLASLt 13.2.0 or later; or: split n, loop over the batch");
  EXPECT_EQ(advice.title, "KI-061 is in this library: INT8 to INT32 is refused for many columns or any batch");
}

TEST_F(KnownIssuesTest, ARefusalThatIsTheRuleByNowConfirmsNothing) {
  const auto the_case = named("KI-067.1");
  EXPECT_EQ(the_case.expectation, Expectation::must_refuse);
  EXPECT_EQ(judge(the_case, hand_made::refused_late("INVALID_VALUE")).status, Status::pass);
}

TEST_F(KnownIssuesTest, WrongNumbersConfirmAnIssueOfWrongNumbers) {
  EXPECT_EQ(judge(named("KI-060.1"), wrong()).reason, "confirmed-ki-060");
  EXPECT_EQ(judge(named("KI-088.1"), wrong()).reason, "confirmed-ki-088");
  auto seen = *hand_made::worked().verification;
  seen.bytes_behind_d = 8;
  EXPECT_EQ(judge(named("KI-074.1"), hand_made::verified(seen)).reason, "confirmed-ki-074");
}

TEST_F(KnownIssuesTest, WhatARuleForbidsAndIsAcceptedConfirms) {
  const auto the_case = cases_of(target_of(13, 5, 0, 100)).at("KI-090.1");
  EXPECT_EQ(the_case.expectation, Expectation::must_refuse);
  EXPECT_EQ(judge(the_case, hand_made::worked()).reason, "confirmed-ki-090");
  EXPECT_EQ(judge(the_case, hand_made::refused()).status, Status::pass);
}

TEST_F(KnownIssuesTest, AnotherDefectIsNotTakenForTheIssue) {
  const auto verdict = judge(named("KI-061.1"), wrong());
  EXPECT_EQ(verdict.status, Status::fail);
  EXPECT_EQ(verdict.reason, "another-wrong-result");
  EXPECT_EQ(judge(named("KI-060.1"), hand_made::refused()).reason, "another-refused");
  auto unproven = *hand_made::worked().verification;
  unproven.expected_nonzero = 0;
  EXPECT_EQ(judge(named("KI-060.1"), hand_made::verified(unproven)).status, Status::warn);
}

TEST_F(KnownIssuesTest, RightNumbersAndAllowedRefusalsPass) {
  for (const auto& [id, one] : cases_of(hopper_)) {
    if (one.expectation == Expectation::must_refuse) continue;
    EXPECT_EQ(judge(one, hand_made::worked()).status, Status::pass) << id;
  }
  EXPECT_EQ(judge(named("KI-074.1"), hand_made::refused_late()).status, Status::pass);
  EXPECT_EQ(judge(named("KI-088.1"), hand_made::refused()).status, Status::pass);
}

TEST_F(KnownIssuesTest, AProblemOfAWorkloadIsItsOwnWitness) {
  const auto cases = by_id(about("m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3"));
  ASSERT_TRUE(cases.contains("known-issue.KI-061"));
  EXPECT_EQ(cases.at("known-issue.KI-061").parameters.at("match"), "applies");
  EXPECT_EQ(judge(cases.at("known-issue.KI-061"), hand_made::refused()).reason, "confirmed-ki-061");
  EXPECT_EQ(judge(cases.at("known-issue.KI-061"), hand_made::worked()).status, Status::pass);
  // Too large for a witness, and a problem of its own all the same.
  EXPECT_TRUE(by_id(about("m=96,n=70000,k=64,ta=t,a=i8,d=i32")).contains("known-issue.KI-061"));
}

TEST_F(KnownIssuesTest, AProblemIsNotRunForWhatARunCannotShow) {
  for (const char* problem : {"m=96,n=80,k=64,a=f64", "m=96,n=80,k=64,ta=t,a=e4m3,d=bf16", "m=96,n=80,k=64,a=f16"}) {
    for (const auto& one : about(problem)) {
      for (const char* id : {"KI-004", "KI-045", "KI-056", "KI-076", "KI-024", "CR-7"})
        EXPECT_NE(one.id, std::string("known-issue.") + id) << problem;
    }
    EXPECT_LE(about(problem).size(), 8U);
  }
}

TEST_F(KnownIssuesTest, TheFaultlessSimulatorConfirmsNothingAndSkipsSayWhy) {
  simulated::Worker worker;
  std::size_t passed = 0;
  for (const auto& one : check_->cases(worker.target(), Depth::quick)) {
    const auto observation = worker.observe(*check_, one);
    EXPECT_EQ(observation.audit_error, "") << one.id;
    if (one.parameters.contains(kNoWitnessParameter)) {
      EXPECT_TRUE(observation.not_run.starts_with("no run can show it: ")) << one.id;
      continue;
    }
    EXPECT_EQ(observation.not_run, "") << one.id;
    const auto verdict = judge(one, observation);
    EXPECT_EQ(verdict.status, Status::pass) << one.id << " " << verdict.sentence;
    EXPECT_EQ(observation.facts.contains("cleared"), verdict.outcome == Outcome::correct) << one.id;
    ++passed;
  }
  EXPECT_GE(passed, 10U);
}

TEST_F(KnownIssuesTest, AnIssueOfSomeAlgorithmsRunsThose) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named("KI-060.1"));
  EXPECT_TRUE(observation.facts.at("algorithm").starts_with("algorithm 66 with split-K ")) << observation.not_run;
}

TEST_F(KnownIssuesTest, WithoutSuchAnAlgorithmNothingIsRun) {
  simulated::Worker worker;
  auto one = named("KI-060.1");
  // A limit of 0 leaves no workspace for the parts of a split k.
  one.problem.workspace_bytes = 0;
  const auto observation = worker.observe(*check_, one);
  EXPECT_TRUE(observation.not_run.starts_with("no algorithm to show it: the heuristic offers none with algo_id == 66"));
  EXPECT_TRUE(observation.stages.empty());
}

class PlantedKnownIssue : public testing::TestWithParam<Planted> {};

TEST_P(PlantedKnownIssue, TurnsTheCaseRed) { expect_red(*make_known_issues(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Faults, PlantedKnownIssue,
    testing::Values(Planted{"unlisted-input-as-fp32", "KI-088.1", Status::fail, "confirmed-ki-088", "KI-061.1"},
                    Planted{"alignment-misread", "KI-074.1", Status::fail, "confirmed-ki-074", "KI-061.1"},
                    Planted{"valid-call-refused", "KI-061.1", Status::fail, "confirmed-ki-061", "KI-074.1"},
                    Planted{"heuristic-success-without-result", "KI-012.1", Status::fail, "confirmed-ki-012",
                            "KI-061.1"},
                    Planted{"k-tail-lost", "KI-060.1", Status::fail, "confirmed-ki-060", "KI-061.1"},
                    Planted{"split-k-tail-lost", "KI-060.1", Status::fail, "confirmed-ki-060", "KI-061.1"},
                    Planted{"wrong-element", "KI-061.1", Status::fail, "another-wrong-result", "KI-074.1"},
                    Planted{"bias-ignored", "KI-034.1", Status::fail, "another-wrong-result", "KI-061.1"}),
    name_of_planted);

TEST_F(KnownIssuesTest, ThePageExplainsEveryReason) {
  const auto page = page_of("known-issues");
  for (const char* reason :
       {"confirmed-ki-nnn", "confirmed-cr-n", "another-refused", "another-late-refusal", "another-wrong-result",
        "another-unwritten", "another-out-of-bounds", "another-input-changed", "another-slower", "another-unproven"})
    EXPECT_TRUE(has_row(page, reason)) << reason;
}

}  // namespace
}  // namespace lt_audit
