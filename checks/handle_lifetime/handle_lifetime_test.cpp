// Tests of check "handle-lifetime": its scenarios, the judgement on hand-made observations, and the scenarios
// themselves over the simulator, with and without faults.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "lifetime_scenarios.h"
#include "lt_audit/check.h"

namespace lt_audit {

std::unique_ptr<Check> make_handle_lifetime();

namespace {

using namespace handle_lifetime;

const std::set<std::string> kIsolated{"destroyed-twice", "used-after-destroy", "used-after-destroy-elsewhere",
                                      "used-after-device-reset"};
const std::set<std::string> kDisputed{"used-in-other-context", "destroyed-in-other-context", "created-in-other-context",
                                      "result-in-other-context"};
const std::set<std::string> kTwoDevices{"handle-of-other-device", "stream-of-other-device", "handle-per-device",
                                        "devices-in-threads"};
/// What no document promises and the simulator refuses.
const std::set<std::string> kRefusedBySimulator{"f32.used-stream-of-other-context",
                                                "f32.unused-stream-of-other-context"};

class HandleLifetimeTest : public testing::Test {
 protected:
  const Case& named(const std::string& id) const { return cases_.at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    // A scenario is a group of its own.
    expect_scenario_explained(*check_, the_case, verdict, the_case.parameters.at("scenario"));
    return verdict;
  }
  void expect(const std::string& scenario, const Observation& observation, Status status,
              const std::string& defect) const {
    const auto verdict = judge(named("f32." + scenario), observation);
    EXPECT_EQ(verdict.status, status) << scenario << " " << verdict.reason;
    EXPECT_EQ(verdict.reason, defect.empty() ? "" : scenario + "-" + defect);
  }

  std::unique_ptr<Check> check_ = make_handle_lifetime();
  const std::map<std::string, Case> cases_ = simulated::cases_by_id(*check_, Depth::normal);
};

/// The losses after some pairs of create and destroy.
Observation after_pairs(long long device_bytes, long long host_bytes) {
  auto observation = hand_made::worked();
  observation.facts = {{"pairs", "3000"},
                       {kDeviceBytesLost, std::to_string(device_bytes)},
                       {kHostBytesLost, std::to_string(host_bytes)}};
  return observation;
}

Observation answered(const char* call, const char* status) {
  auto observation = hand_made::worked();
  observation.stages.push_back({kAnswerStage, call, status});
  return observation;
}

TEST_F(HandleLifetimeTest, ScenariosAreCompleteAndUnique) {
  std::set<std::string> ids;
  for (const auto& scenario : scenarios()) {
    EXPECT_TRUE(ids.insert(scenario.id).second) << scenario.id << " twice";
    EXPECT_EQ(scenario.group, scenario.id);
    EXPECT_FALSE(scenario.title.empty() || scenario.rule.empty() || scenario.remedy.empty()) << scenario.id;
    EXPECT_NE(scenario.run, nullptr) << scenario.id;
    EXPECT_EQ(scenario.nature == Nature::disputed, kDisputed.count(scenario.id) == 1) << scenario.id;
  }
  EXPECT_EQ(ids.size(), 27U);
}

TEST_F(HandleLifetimeTest, EveryScenarioRunsByDefaultAndDepthsContainEachOther) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  EXPECT_EQ(quick.size(), scenarios().size() - 5);
  EXPECT_EQ(quick.count("f32.used-after-device-reset"), 0U) << "takes a third of a second on a GPU";
  EXPECT_GE(cases_.size(), 50U);
  EXPECT_EQ(full.size(), 6 * scenarios().size());
  for (const auto& scenario : scenarios()) EXPECT_EQ(cases_.count("f32." + scenario.id), 1U) << scenario.id;
  for (const auto& [shallow, deep] : {std::pair{&quick, &cases_}, std::pair{&cases_, &full}}) {
    for (const auto& [id, c] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, c.problem) << id;
    }
  }
  for (const auto& [id, c] : full) EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
}

TEST_F(HandleLifetimeTest, WhatNeedsAProcessOrAContextRunsOnceByDefault) {
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::normal)) {
    const auto scenario = c.parameters.at("scenario");
    EXPECT_EQ(c.isolated, kIsolated.count(scenario) == 1) << id;
    EXPECT_TRUE(c.scenario) << id;
    const bool costly = c.isolated || scenario.find("context") != std::string::npos;
    EXPECT_TRUE(!costly || id.starts_with("f32.")) << id;
  }
}

TEST_F(HandleLifetimeTest, ExpectationsFollowTheDocumentation) {
  for (const char* scenario : {"create-destroy", "two-streams", "threads-one-handle", "used-in-other-context",
                               "cublas-handle", "handle-per-device"}) {
    EXPECT_EQ(named(std::string("f32.") + scenario).expectation, Expectation::must_work) << scenario;
  }
  for (const char* scenario : {"null-pointers", "null-handle", "destroyed-twice", "used-after-destroy",
                               "used-after-destroy-elsewhere", "handle-of-other-device", "stream-of-other-device"}) {
    EXPECT_EQ(named(std::string("f32.") + scenario).expectation, Expectation::must_refuse) << scenario;
  }
  for (const char* scenario : {"used-after-its-context", "used-stream-of-other-context",
                               "unused-stream-of-other-context", "used-after-device-reset"}) {
    EXPECT_EQ(named(std::string("f32.") + scenario).expectation, Expectation::may_refuse) << scenario;
  }
}

TEST_F(HandleLifetimeTest, ClaimsAreNamedWithTheirPredictions) {
  std::map<std::string, std::string> claims;
  for (const auto& [id, c] : cases_) {
    if (c.parameters.count("claims") == 1) claims[c.parameters.at("scenario")] = c.parameters.at("claims");
  }
  EXPECT_EQ(claims, (std::map<std::string, std::string>{{"two-streams", "C9=fails C4=fails"},
                                                        {"destroyed-in-other-context", "C8=status:INVALID_VALUE"},
                                                        {"used-stream-of-other-context", "C23=refused"},
                                                        {"handle-of-other-device", "C10=works"}}));
}

TEST_F(HandleLifetimeTest, EveryScenarioIsJudgedByItsExpectation) {
  for (const auto& scenario : scenarios()) {
    const bool must_work = scenario.expectation == Expectation::must_work;
    const bool must_refuse = scenario.expectation == Expectation::must_refuse;
    const bool disputed = kDisputed.count(scenario.id) == 1;
    expect(scenario.id, hand_made::worked(), must_refuse ? Status::warn : Status::pass,
           must_refuse ? "misuse-accepted" : "");
    for (const auto& refusal : {hand_made::refused("INVALID_VALUE"), hand_made::refused_late("EXECUTION_FAILED")}) {
      expect(scenario.id, refusal, !must_work ? Status::pass : (disputed ? Status::warn : Status::fail),
             must_work ? "refused" : "");
    }
  }
}

TEST_F(HandleLifetimeTest, EveryScenarioTellsWrongNumbersEndingsAndWhatWasNotRun) {
  for (const auto& scenario : scenarios()) {
    auto seen = *hand_made::worked().verification;
    seen.wrong = 4;
    expect(scenario.id, hand_made::verified(seen), Status::fail, "wrong-result");
    seen.unwritten = 4;
    expect(scenario.id, hand_made::verified(seen), Status::fail, "unwritten");
    seen.c_bytes_changed = 4;
    expect(scenario.id, hand_made::verified(seen), Status::fail, "input-changed");
    seen.bytes_before_d = 4;
    expect(scenario.id, hand_made::verified(seen), Status::fail, "out-of-bounds");
    expect(scenario.id, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
    expect(scenario.id, hand_made::ended(ProcessEnd::timed_out, "30 s"), Status::fail, "timed-out");
    expect(scenario.id, hand_made::ended(ProcessEnd::context_lost, "cudaErrorUnknown"), Status::fail, "context-lost");
    Observation observation;
    observation.not_run = "needs two GPUs, 1 is here";
    expect(scenario.id, observation, Status::skip, "not-run");
    observation = {};
    observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
    expect(scenario.id, observation, Status::error, "audit-error");
    observation = hand_made::worked();
    observation.facts[kSlowCallFact] = "1000";
    expect(scenario.id, observation, Status::warn, "slower");
    observation = hand_made::worked();
    observation.verification->expected_nonzero = 0;
    expect(scenario.id, observation, Status::warn, "unproven");
  }
}

TEST_F(HandleLifetimeTest, TheAnswerOfACallDecidesWhereItIsTheQuestion) {
  expect("destroyed-twice", answered("cublasLtDestroy", "INVALID_VALUE"), Status::pass, "");
  expect("destroyed-twice", answered("cublasLtDestroy", "SUCCESS"), Status::warn, "misuse-accepted");
  expect("null-pointers", answered("cublasLtCreate", "SUCCESS"), Status::warn, "misuse-accepted");
  expect("destroyed-in-other-context", answered("cublasLtDestroy", "INVALID_VALUE"), Status::warn, "refused");
  expect("create-destroy", answered("cublasLtCreate", "ALLOC_FAILED"), Status::fail, "refused");
}

TEST_F(HandleLifetimeTest, LostMemoryCountsFromTheThreshold) {
  expect("create-destroy", after_pairs(kDeviceLossThatCounts, 0), Status::fail, "device-memory-lost");
  expect("create-destroy", after_pairs(0, kHostLossThatCounts), Status::warn, "host-memory-lost");
  expect("create-destroy", after_pairs(kDeviceLossThatCounts, kHostLossThatCounts), Status::fail, "device-memory-lost");
  expect("create-use-destroy", after_pairs(kDeviceLossThatCounts - 1, kHostLossThatCounts - 1), Status::pass, "");
  const auto verdict = judge(named("f32.create-destroy"), after_pairs(65536000, 12));
  EXPECT_NE(verdict.sentence.find("65536000 bytes of device memory and 12 bytes of host memory are gone after 3000"),
            std::string::npos)
      << verdict.sentence;
}

TEST_F(HandleLifetimeTest, WrongNumbersWeighMoreThanLostMemory) {
  auto observation = after_pairs(kDeviceLossThatCounts, 0);
  observation.verification->wrong = 1;
  expect("create-use-destroy", observation, Status::fail, "wrong-result");
}

TEST_F(HandleLifetimeTest, AFaultlessLibraryPassesEveryDefaultCase) {
  for (const auto& [id, c] : cases_) {
    simulated::Worker worker;
    const auto observation = worker.observe(*check_, c);
    const auto verdict = judge(c, observation);
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
    const bool refused = verdict.outcome == Outcome::refused || verdict.outcome == Outcome::late_refusal;
    EXPECT_EQ(refused, c.expectation == Expectation::must_refuse || kRefusedBySimulator.count(id) == 1) << id;
    EXPECT_TRUE(refused || observation.verification.has_value()) << id;
  }
}

TEST_F(HandleLifetimeTest, MisuseIsSeenToBeRefused) {
  simulated::Worker worker;
  for (const char* id : {"f32.null-pointers", "f32.destroyed-twice"}) {
    const auto observation = worker.observe(*check_, named(id));
    ASSERT_NE(observation.stage(kAnswerStage), nullptr) << id;
    EXPECT_FALSE(observation.stage(kAnswerStage)->ok()) << id;
    // The product that follows shows that nothing else was spoiled.
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << id;
  }
  const auto facts = worker.observe(*check_, named("f32.null-pointers")).facts;
  EXPECT_EQ(facts.at("create_of_null"), "INVALID_VALUE");
  EXPECT_EQ(facts.at("destroy_of_null"), "INVALID_VALUE");
}

TEST_F(HandleLifetimeTest, PairsAreCountedAndLoseNothing) {
  simulated::Worker worker;
  const auto facts = worker.observe(*check_, named("f32.create-destroy")).facts;
  EXPECT_GE(std::stoi(facts.at("pairs")), 1000);
  EXPECT_EQ(facts.at(kDeviceBytesLost), "0");
  EXPECT_LT(std::stoll(facts.at(kHostBytesLost)), kHostLossThatCounts);
}

TEST_F(HandleLifetimeTest, WhatNeedsTwoDevicesIsSkippedWithOne) {
  SimulatorOptions options;
  options.device_count = 1;
  simulated::Worker worker("", options);
  for (const auto& scenario : kTwoDevices) {
    const auto observation = worker.observe(*check_, named("f32." + scenario));
    EXPECT_EQ(observation.not_run, "needs two GPUs, 1 is here") << scenario;
    expect(scenario, observation, Status::skip, "not-run");
  }
  expect("two-streams", worker.observe(*check_, named("f32.two-streams")), Status::pass, "");
}

class HandleFaults : public testing::TestWithParam<Planted> {};

TEST_P(HandleFaults, TurnTheCaseRed) { expect_red(*make_handle_lifetime(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Planted, HandleFaults,
                         testing::Values(Planted{"leak-per-handle", "f32.create-destroy", Status::fail,
                                                 "create-destroy-device-memory-lost", "f32.two-streams"},
                                         Planted{"leak-per-handle", "f32.create-use-destroy", Status::fail,
                                                 "create-use-destroy-device-memory-lost", "f32.many-handles"},
                                         Planted{"handle-bound-to-context", "f32.used-in-other-context", Status::warn,
                                                 "used-in-other-context-refused", "f32.one-of-two-destroyed"},
                                         Planted{"handle-bound-to-context", "f32.created-in-other-context",
                                                 Status::warn, "created-in-other-context-refused", "f32.two-streams"},
                                         Planted{"handle-bound-to-context", "f32.destroyed-in-other-context",
                                                 Status::warn, "destroyed-in-other-context-refused",
                                                 "f32.threads-one-handle"},
                                         Planted{"algorithm-bound-to-stream", "f32.two-streams", Status::fail,
                                                 "two-streams-refused", "f32.one-of-two-destroyed"},
                                         Planted{"algorithm-bound-to-stream", "f32.threads-one-handle", Status::fail,
                                                 "threads-one-handle-refused", "f32.create-destroy"}),
                         name_of_planted);

TEST(HandleLifetimeDeathTest, AHandleThatAnotherThreadDestroyedMayEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = make_handle_lifetime();
  const auto cases = simulated::cases_by_id(*check, Depth::normal);
  const auto observe = [&](const char* id) {
    simulated::Worker worker("destroyed-handle-crashes");
    return worker.observe(*check, cases.at(id));
  };
  EXPECT_DEATH(observe("f32.used-after-destroy-elsewhere"), "");
  // Destroyed by the thread that uses it, the handle is refused as without the fault.
  EXPECT_EQ(check->judge(cases.at("f32.used-after-destroy"), observe("f32.used-after-destroy")).status, Status::pass);
}

}  // namespace
}  // namespace lt_audit
