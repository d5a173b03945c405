// Tests of the base of checks that are made of scenarios: case, dispatch, judgement, advice.
#include "scenario_check.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "explained.h"
#include "hand_made.h"
#include "simulated.h"

namespace lt_audit {
namespace {

constexpr CheckInfo kInfo{"scenarios", "A check for the tests of its base", "none"};
constexpr std::array kDefects{Defect{"odd", "is odd", "it is even"}};

Observation run_twice(Session& session, const Case& the_case) {
  session.run(the_case.problem);
  Observation observation = session.run(the_case.problem);
  observation.facts["runs"] = "2";
  return observation;
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"plain", "plain", "A plain call", Expectation::must_work, "rule 1", "remedy 1", run_twice, {}, "C1=fails", {}},
      {"disputed",
       "shared",
       "A disputed call",
       Expectation::must_work,
       "rule 2",
       "remedy 2",
       run_twice,
       Nature::disputed,
       "",
       {{"size", "big"}}},
      {"misuse",
       "misuse",
       "A misuse",
       Expectation::must_refuse,
       "rule 3",
       "remedy 3",
       run_twice,
       Nature::isolated,
       "",
       {}},
      {"open", "open", "An open call", Expectation::may_refuse, "rule 4", "remedy 4", run_twice, {}, "", {}},
  };
  return all;
}

class Scenarios : public ScenarioCheck {
 public:
  Scenarios() : ScenarioCheck(scenarios(), kDefects) {}
  const CheckInfo& info() const override { return kInfo; }
  std::vector<Case> cases(const Target& /*target*/, Depth /*depth*/) const override {
    std::vector<Case> list;
    for (const auto& scenario : scenarios())
      list.push_back(make_case(scenario, "f32", uniform_problem(CUDA_R_32F, 16, 8, 32)));
    return list;
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& /*scenario*/,
                                               const Observation& observation) const override {
    if (observation.facts.count("odd") == 0) return std::nullopt;
    return ScenarioResult{Outcome::stale, Status::fail, "odd"};
  }
};

class ScenarioCheckTest : public testing::Test {
 protected:
  Case named(const std::string& scenario) const {
    for (const auto& c : check_.cases({}, Depth::quick)) {
      if (c.id == "f32." + scenario) return c;
    }
    ADD_FAILURE() << "no scenario " << scenario;
    return {};
  }
  Verdict judge(const std::string& scenario, const Observation& observation) const {
    const Case the_case = named(scenario);
    const auto verdict = check_.judge(the_case, observation);
    expect_explained(check_, the_case, verdict);
    return verdict;
  }

  Scenarios check_;
};

/// An observation whose question is answered by another call than a matmul.
Observation answered(const std::string& status) {
  Observation observation = hand_made::worked();
  observation.stages.push_back({kAnswerStage, "cublasLtDestroy", status});
  return observation;
}

TEST_F(ScenarioCheckTest, ACaseCarriesWhatItsScenarioSays) {
  const Case plain = named("plain");
  EXPECT_TRUE(plain.scenario);
  EXPECT_FALSE(plain.isolated);
  EXPECT_EQ(plain.rule, "rule 1");
  EXPECT_EQ(plain.parameters, (std::map<std::string, std::string>{{"scenario", "plain"}, {"claims", "C1=fails"}}));
  EXPECT_EQ(named("disputed").parameters,
            (std::map<std::string, std::string>{{"scenario", "disputed"}, {"size", "big"}}));
  EXPECT_TRUE(named("misuse").isolated);
  EXPECT_EQ(named("misuse").expectation, Expectation::must_refuse);
}

TEST_F(ScenarioCheckTest, ObserveRunsTheScenarioAndWithoutOneTheProblem) {
  simulated::Worker worker;
  EXPECT_EQ(worker.observe(check_, named("plain")).facts.count("runs"), 1U);
  Case stranger = named("plain");
  stranger.parameters.clear();
  const auto observation = worker.observe(check_, stranger);
  EXPECT_EQ(observation.facts.count("runs"), 0U);
  EXPECT_EQ(outcome_of(observation), Outcome::correct);
}

TEST_F(ScenarioCheckTest, ARefusalIsJudgedByExpectationAndDispute) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late(), answered("INVALID_VALUE")}) {
    EXPECT_EQ(judge("plain", observation).reason, "plain-refused");
    EXPECT_EQ(judge("plain", observation).status, Status::fail);
    EXPECT_EQ(judge("disputed", observation).reason, "shared-refused");
    EXPECT_EQ(judge("disputed", observation).status, Status::warn);
    EXPECT_EQ(judge("misuse", observation).status, Status::pass);
    EXPECT_EQ(judge("open", observation).status, Status::pass);
  }
}

TEST_F(ScenarioCheckTest, AcceptedMisuseIsAWarning) {
  for (const auto& observation : {hand_made::worked(), answered("SUCCESS")}) {
    EXPECT_EQ(judge("plain", observation).status, Status::pass);
    EXPECT_EQ(judge("disputed", observation).status, Status::pass);
    EXPECT_EQ(judge("open", observation).status, Status::pass);
    const auto verdict = judge("misuse", observation);
    EXPECT_EQ(verdict.status, Status::warn);
    EXPECT_EQ(verdict.reason, "misuse-misuse-accepted");
  }
}

TEST_F(ScenarioCheckTest, WrongNumbersFailWhateverWasExpectedOrAnswered) {
  for (const std::string scenario : {"plain", "disputed", "misuse", "open"}) {
    for (auto observation : {hand_made::worked(), answered("SUCCESS"), answered("INVALID_VALUE")}) {
      observation.verification->wrong = 1;
      const auto verdict = judge(scenario, observation);
      EXPECT_EQ(verdict.status, Status::fail) << scenario;
      EXPECT_EQ(verdict.outcome, Outcome::wrong_result) << scenario;
      EXPECT_NE(verdict.reason.find("-wrong-result"), std::string::npos) << verdict.reason;
    }
  }
}

TEST_F(ScenarioCheckTest, TheCheckSpeaksFirstButNotForADeadProcess) {
  Observation observation = hand_made::worked();
  observation.facts["odd"] = "1";
  const auto verdict = judge("plain", observation);
  EXPECT_EQ(verdict.reason, "plain-odd");
  EXPECT_EQ(verdict.outcome, Outcome::stale);
  EXPECT_EQ(check_.advice(named("plain"), verdict).title, "A plain call is odd");
  EXPECT_EQ(check_.advice(named("plain"), verdict).expected, "it is even");
  observation.end = ProcessEnd::crashed;
  EXPECT_EQ(judge("plain", observation).reason, "plain-crashed");
  observation = {};
  observation.facts["odd"] = "1";
  observation.not_run = "needs two GPUs, 1 is here";
  EXPECT_EQ(judge("plain", observation).status, Status::skip);
  observation.not_run.clear();
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge("plain", observation).status, Status::error);
}

TEST_F(ScenarioCheckTest, TheSentenceHasTheAnswerOrWhatTheMatmulDid) {
  EXPECT_EQ(judge("misuse", answered("SUCCESS")).sentence, "A misuse: cublasLtDestroy returns SUCCESS");
  EXPECT_EQ(judge("plain", answered("INVALID_VALUE")).sentence, "A plain call: cublasLtDestroy returns INVALID_VALUE");
  Observation observation = answered("SUCCESS");
  observation.verification->wrong = 12;
  EXPECT_NE(judge("misuse", observation).sentence.find("12 of 7680"), std::string::npos);
}

TEST_F(ScenarioCheckTest, ACaseOfNoScenarioIsJudgedByTheTable) {
  Case stranger = named("plain");
  stranger.parameters["scenario"] = "no such";
  EXPECT_EQ(check_.judge(stranger, hand_made::worked()).status, Status::pass);
  const auto verdict = check_.judge(stranger, hand_made::refused());
  EXPECT_EQ(verdict.reason, "must-work-refused");
  EXPECT_FALSE(check_.advice(stranger, verdict).remedy.empty());
}

TEST_F(ScenarioCheckTest, ACaseThatPromisesLessThanItsScenarioIsJudgedByItsOwnExpectation) {
  Case less = named("plain");
  EXPECT_EQ(check_.judge(less, hand_made::refused()).status, Status::fail);
  less.expectation = Expectation::may_refuse;
  EXPECT_EQ(check_.judge(less, hand_made::refused()).status, Status::pass);
  Case misuse = named("misuse");
  EXPECT_EQ(check_.judge(misuse, hand_made::worked()).status, Status::warn);
  misuse.expectation = Expectation::may_refuse;
  EXPECT_EQ(check_.judge(misuse, hand_made::worked()).status, Status::pass);
}

}  // namespace
}  // namespace lt_audit
