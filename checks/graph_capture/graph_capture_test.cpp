// Tests of check "graph-capture": its scenarios, the judgement on hand-made observations, and the scenarios themselves
// over the simulator, with and without faults.
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
#include "graph_scenarios.h"
#include "lt_audit/check.h"

namespace lt_audit {

std::unique_ptr<Check> make_graph_capture();

namespace {

using namespace graph_capture;

const Scenario& scenario_of(const Case& the_case) {
  const auto all = scenarios();
  const auto& id = the_case.parameters.at("scenario");
  return *std::find_if(all.begin(), all.end(), [&](const Scenario& scenario) { return scenario.id == id; });
}

class GraphCaptureTest : public testing::Test {
 protected:
  const Case& named(const std::string& id) const { return cases_.at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_scenario_explained(*check_, the_case, verdict, scenario_of(the_case).group);
    return verdict;
  }
  /// An empty defect is a pass.
  void expect(const Case& the_case, const Observation& observation, Status status, const std::string& defect) const {
    const auto verdict = judge(the_case, observation);
    EXPECT_EQ(verdict.status, status) << the_case.id << " " << verdict.reason;
    EXPECT_EQ(verdict.reason, defect.empty() ? "" : scenario_of(the_case).group + "-" + defect) << the_case.id;
  }
  void expect(const std::string& id, const Observation& observation, Status status, const std::string& defect) const {
    expect(named(id), observation, status, defect);
  }

  std::unique_ptr<Check> check_ = make_graph_capture();
  const std::map<std::string, Case> cases_ = simulated::cases_by_id(*check_, Depth::normal);
};

/// A case of each group: what differs between those of one is not judged.
std::vector<Case> one_of_each_group(const std::map<std::string, Case>& cases) {
  std::set<std::string> groups;
  std::vector<Case> list;
  for (const auto& [id, c] : cases) {
    if (groups.insert(scenario_of(c).group).second) list.push_back(c);
  }
  return list;
}

Observation with_defect(const std::string& defect) {
  auto observation = hand_made::worked();
  observation.stages.push_back({"end_capture", "cudaStreamEndCapture", "cudaSuccess"});
  observation.facts = {{kDefect, defect}, {kNodes, "1"}};
  return observation;
}

TEST_F(GraphCaptureTest, ScenariosAreCompleteAndTheirGroupsAgree) {
  std::set<std::string> ids;
  std::map<std::string, const Scenario*> groups;
  for (const auto& scenario : scenarios()) {
    EXPECT_TRUE(ids.insert(scenario.id).second) << scenario.id << " twice";
    EXPECT_FALSE(scenario.title.empty() || scenario.rule.empty() || scenario.remedy.empty()) << scenario.id;
    EXPECT_NE(scenario.run, nullptr) << scenario.id;
    // A finding of a group has one title, one expectation, one rule and one remedy.
    const auto* first = groups.emplace(scenario.group, &scenario).first->second;
    EXPECT_EQ(scenario.title, first->title) << scenario.id;
    EXPECT_EQ(scenario.expectation, first->expectation) << scenario.id;
    EXPECT_EQ(scenario.rule, first->rule) << scenario.id;
    EXPECT_EQ(scenario.remedy, first->remedy) << scenario.id;
    EXPECT_TRUE(has_row(page_of("graph-capture"), scenario.group)) << scenario.group;
  }
  EXPECT_EQ(groups.size(), 25U);
  // No group's name begins another one's, or a reason code would not tell which it is.
  for (const auto& [name, scenario] : groups) {
    for (const auto& [other, unused] : groups) EXPECT_TRUE(name == other || !other.starts_with(name + "-")) << other;
  }
}

TEST_F(GraphCaptureTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  EXPECT_GE(quick.size(), 75U);
  EXPECT_LE(quick.size(), 250U);
  EXPECT_GE(cases_.size(), 220U);
  EXPECT_GE(full.size(), 600U);
  for (const auto& [shallow, deep] : {std::pair{&quick, &cases_}, std::pair{&cases_, &full}}) {
    for (const auto& [id, c] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, c.problem) << id;
      EXPECT_EQ(deep->at(id).parameters, c.parameters) << id;
    }
  }
  for (const auto& [id, c] : full) EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
}

TEST_F(GraphCaptureTest, EveryScenarioRunsByDefaultButFirstUseInOtherModes) {
  std::set<std::string> seen;
  for (const auto& [id, c] : cases_) seen.insert(c.parameters.at("scenario"));
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  for (const auto& scenario : scenarios()) {
    const bool deep = scenario.id == "inside.first-use.thread-local" || scenario.id == "inside.first-use.relaxed";
    EXPECT_EQ(seen.count(scenario.id), deep ? 0U : 1U) << scenario.id;
    if (deep) {
      EXPECT_EQ(full.count("f32." + scenario.id), 1U);
    }
  }
}

TEST_F(GraphCaptureTest, OnlyTheFirstUseNeedsAProcessOfItsOwn) {
  for (const auto& [id, c] : cases_) {
    EXPECT_EQ(c.isolated, id.find("first-use") != std::string::npos) << id;
    EXPECT_TRUE(c.scenario) << id;
  }
}

TEST_F(GraphCaptureTest, ParametersSayWhatIsDoneAndWhere) {
  EXPECT_EQ(named("f32.stream.relaxed.blocking.legacy").parameters,
            (std::map<std::string, std::string>{{"scenario", "stream.relaxed.blocking.legacy"},
                                                {"mode", "relaxed"},
                                                {"capturing", "blocking"},
                                                {"on", "legacy"},
                                                {"claims", "C17=refused"}}));
  EXPECT_EQ(named("f16.changed-after.layout").parameters.at("subject"), "layout");
  EXPECT_EQ(named("f32.inside.heuristic.thread-local").parameters.at("mode"), "thread-local");
}

TEST_F(GraphCaptureTest, EachScenarioHasAProductThatShowsIt) {
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::full)) {
    const auto& p = c.problem;
    const auto has = [&, where = id](const char* word) { return where.find(word) != std::string::npos; };
    EXPECT_TRUE(!has("epilogue") || has_bias(p.epilogue)) << id;
    EXPECT_TRUE(!has("bias-pointer") || has_bias(p.epilogue)) << id;
    EXPECT_TRUE(!has("scale-") || is_fp8(p.type_a)) << id;
    EXPECT_TRUE(!has("alpha") || !is_integer(p.type_a)) << id;
    EXPECT_EQ(p.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE, has("device-scalars")) << id;
    EXPECT_GT(p.workspace_bytes, 0) << id;
  }
  EXPECT_GE(named("f32.workspace").problem.k, 8192);
  EXPECT_EQ(named("f32.batch3.replay").problem.batch_count, 3);
  EXPECT_EQ(named("f16.row.exec-update.operands").problem.m, 1);
}

TEST_F(GraphCaptureTest, ExpectationsFollowTheDocumentation) {
  for (const char* id : {"f32.replay", "f64.replay", "f16.exec-update.alpha", "f32.destroyed.everything",
                         "f32.inside.heuristic.global", "f32.stream.global.blocking.same", "e4m3.scale-content"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_work) << id;
  }
  for (const char* id : {"f32.stream.global.blocking.legacy", "f32.refused-inside.alone"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_refuse) << id;
  }
  for (const char* id : {"f32.stream.global.non-blocking.legacy", "f32.stream.global.blocking.per-thread",
                         "f32.inside.create-cublas.global", "f32.inside.destroy-handle.global"}) {
    EXPECT_EQ(named(id).expectation, Expectation::may_refuse) << id;
  }
}

TEST_F(GraphCaptureTest, ClaimsAreNamedWithTheirPredictions) {
  const auto claims_of = [&](const std::string& id) {
    const auto& parameters = named(id).parameters;
    return parameters.count("claims") == 0 ? "" : parameters.at("claims");
  };
  EXPECT_EQ(claims_of("f32.changed-between.epilogue"), "C13=stale");
  EXPECT_EQ(claims_of("e4m3.changed-between.scale-pointer"), "C13=stale");
  EXPECT_EQ(claims_of("f32.changed-between.compute-type"), "") << "the numbers are the same";
  EXPECT_EQ(claims_of("f32.changed-between.alpha"), "") << "no part of the descriptor";
  EXPECT_EQ(claims_of("f32.destroyed.handle"), "C14=fails");
  EXPECT_EQ(claims_of("e4m3.scale-content"), "C15=stale");
  EXPECT_EQ(claims_of("f32.stream.global.blocking.legacy"), "C17=refused");
  EXPECT_EQ(claims_of("f32.stream.global.non-blocking.legacy"), "C17=refused");
  EXPECT_EQ(claims_of("f32.stream.global.blocking.per-thread"), "");
  for (const char* id : {"create-handle", "create-cublas", "heuristic", "first-use"}) {
    EXPECT_EQ(claims_of(std::string("f32.inside.") + id + ".global"), "C18=fails") << id;
  }
  EXPECT_EQ(claims_of("f32.inside.destroy-handle.global"), "");
}

TEST_F(GraphCaptureTest, EveryGroupIsJudgedByItsExpectation) {
  for (const auto& c : one_of_each_group(cases_)) {
    const bool must_work = c.expectation == Expectation::must_work;
    const bool must_refuse = c.expectation == Expectation::must_refuse;
    expect(c, hand_made::worked(), must_refuse ? Status::warn : Status::pass, must_refuse ? "misuse-accepted" : "");
    for (const auto& refusal : {hand_made::refused("INTERNAL_ERROR"), hand_made::refused_late("EXECUTION_FAILED")}) {
      expect(c, refusal, must_work ? Status::fail : Status::pass, must_work ? "refused" : "");
    }
  }
}

TEST_F(GraphCaptureTest, EveryDefectFailsAndATrapWarnsWhereNothingWasPromised) {
  for (const auto& c : one_of_each_group(cases_)) {
    for (const std::string defect : {"capture-lost", "follows-descriptor", "half-captured", "lost", "not-instantiated",
                                     "not-replayed", "outside-graph", "ran-at-once", "stale", "wrong-scalar"}) {
      const bool trap =
          c.expectation != Expectation::must_work && (defect == "outside-graph" || defect == "capture-lost");
      expect(c, with_defect(defect), trap ? Status::warn : Status::fail, defect);
      EXPECT_EQ(judge(c, with_defect(defect)).outcome, defect == "stale" ? Outcome::stale : Outcome::not_captured);
    }
  }
}

TEST_F(GraphCaptureTest, EveryGroupTellsWrongNumbersEndingsAndWhatWasNotRun) {
  for (const auto& c : one_of_each_group(cases_)) {
    auto seen = *hand_made::worked().verification;
    seen.wrong = 4;
    expect(c, hand_made::verified(seen), Status::fail, "wrong-result");
    seen.unwritten = 4;
    expect(c, hand_made::verified(seen), Status::fail, "unwritten");
    seen.bias_bytes_changed = 4;
    expect(c, hand_made::verified(seen), Status::fail, "input-changed");
    seen.workspace_guard_bytes_changed = 4;
    expect(c, hand_made::verified(seen), Status::fail, "out-of-bounds");
    expect(c, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
    expect(c, hand_made::ended(ProcessEnd::timed_out, "30 s"), Status::fail, "timed-out");
    auto observation = with_defect("not-replayed");
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = "cudaErrorIllegalAddress";
    expect(c, observation, Status::fail, "context-lost");
    observation = {};
    observation.not_run = "libcublas is not loaded";
    expect(c, observation, Status::skip, "not-run");
    observation = {};
    observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
    expect(c, observation, Status::error, "audit-error");
    observation = hand_made::worked();
    observation.facts[kSlowCallFact] = "1000";
    expect(c, observation, Status::warn, "slower");
    observation = hand_made::worked();
    observation.verification->expected_nonzero = 0;
    expect(c, observation, Status::warn, "unproven");
  }
}

TEST_F(GraphCaptureTest, TheSentenceSaysHowTheCaptureEndedAndWhatIsInTheGraph) {
  EXPECT_EQ(judge(named("f32.stream.global.blocking.per-thread"), with_defect("outside-graph")).sentence,
            "A matmul on another stream than the capturing one: cublasLtMatmul returns SUCCESS; all 7680 elements of D "
            "are right; cudaStreamEndCapture returns cudaSuccess with 1 node");
  Observation lost;
  lost.stages = {{"matmul", "cublasLtMatmul", "SUCCESS"},
                 {"end_capture", "cudaStreamEndCapture", "cudaErrorStreamCaptureInvalidated"}};
  lost.facts = {{kDefect, "capture-lost"}};
  EXPECT_EQ(judge(named("f64.replay"), lost).sentence,
            "A captured matmul: cublasLtMatmul returns SUCCESS; cudaStreamEndCapture returns "
            "cudaErrorStreamCaptureInvalidated");
  lost.stages = {{"matmul", "cublasLtMatmul", "SUCCESS"},
                 {"end_capture", "cudaStreamEndCapture", "cudaSuccess"},
                 {"launch", "cudaGraphLaunch", "cudaErrorInvalidValue"}};
  lost.facts = {{kDefect, "not-replayed"}, {kNodes, "2"}};
  EXPECT_EQ(judge(named("f64.replay"), lost).sentence,
            "A captured matmul: cudaGraphLaunch returns cudaErrorInvalidValue; cudaStreamEndCapture returns "
            "cudaSuccess with 2 nodes");
}

TEST_F(GraphCaptureTest, AFaultlessLibraryPassesEveryQuickCaseButTwoTraps) {
  // What CUDA's own rules make of the call, whatever the library does.
  const std::map<std::string, std::string> traps{{"other-stream", "other-stream-outside-graph"},
                                                 {"destroy-handle", "destroy-handle-capture-lost"}};
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::quick)) {
    const auto verdict = judge(c, worker.observe(*check_, c));
    const auto trap = traps.find(scenario_of(c).group);
    EXPECT_EQ(verdict.status, trap != traps.end() ? Status::warn : Status::pass) << id << ": " << verdict.sentence;
    EXPECT_EQ(verdict.reason, trap != traps.end() ? trap->second : "") << id;
  }
}

TEST_F(GraphCaptureTest, WhatIsCapturedIsCountedAndReplayed) {
  simulated::Worker worker;
  EXPECT_EQ(worker.observe(*check_, named("f32.replay")).facts.at(kNodes), "1");
  EXPECT_EQ(worker.observe(*check_, named("f32.two-products")).facts.at(kNodes), "2");
  const auto refused = worker.observe(*check_, named("f32.refused-inside.alone"));
  EXPECT_EQ(refused.facts.at(kNodes), "0");
  EXPECT_EQ(refused.stage("matmul")->status, "INVALID_VALUE");
  const auto updated = worker.observe(*check_, named("f32.exec-update.operands"));
  EXPECT_EQ(updated.facts.at("update"), "cudaSuccess");
  for (const auto* observation : {&refused, &updated}) {
    EXPECT_TRUE(observation->stage("launch")->ok());
  }
}

TEST_F(GraphCaptureTest, WrongNumbersOnAnotherStreamAreNotCalledLost) {
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  const auto& c = full.at("f16.stream.global.blocking.non-blocking");
  simulated::Worker worker("k-tail-lost");
  expect(c, worker.observe(*check_, c), Status::fail, "wrong-result");
  simulated::Worker silent("empty-success");
  const auto& f64 = full.at("f64.stream.global.blocking.non-blocking");
  expect(f64, silent.observe(*check_, f64), Status::fail, "lost");
}

TEST_F(GraphCaptureTest, AMatmulThatRunsAtOnceInsteadIsOutsideTheGraph) {
  simulated::Worker worker("matmul-outside-graph");
  // The fault has its own stream from the first matmul outside of a capture on.
  worker.session().run(named("f32.replay").problem);
  expect("bf16.replay", worker.observe(*check_, named("bf16.replay")), Status::fail, "outside-graph");
}

class GraphFaults : public testing::TestWithParam<Planted> {};

TEST_P(GraphFaults, TurnTheCaseRed) { expect_red(*make_graph_capture(), GetParam()); }

constexpr auto kRed = Status::fail;

INSTANTIATE_TEST_SUITE_P(
    Planted, GraphFaults,
    testing::Values(
        Planted{"stale-descriptor-in-second-capture", "f32.changed-between.epilogue", kRed, "changed-between-stale",
                "f32.changed-after.epilogue"},
        Planted{"capture-invalidated", "f64.replay", kRed, "replay-capture-lost", "f32.replay"},
        Planted{"descriptor-read-at-replay", "f32.changed-after.epilogue", kRed, "changed-after-follows-descriptor",
                "f32.changed-after.alpha"},
        Planted{"descriptor-read-at-replay", "f16.changed-between.epilogue", kRed, "changed-between-follows-descriptor",
                "f32.destroyed.handle"},
        Planted{"descriptor-read-at-replay", "f32.destroyed.descriptor", kRed, "destroyed-wrong-result",
                "f32.destroyed.layouts"},
        Planted{"matmul-outside-graph", "bf16.replay", kRed, "replay-lost", "f16.replay"},
        Planted{"refused-matmul-in-capture-as-success", "f32.refused-inside.alone", kRed, "refused-inside-lost",
                "f32.replay"},
        Planted{"refused-matmul-in-capture-as-success", "f32.refused-inside.followed", kRed, "refused-inside-lost",
                "f32.two-products"},
        Planted{"unaligned-workspace-accepted", "f32.refused-inside.alone", Status::warn,
                "refused-inside-misuse-accepted", "f32.replay"},
        Planted{"unaligned-workspace-accepted", "f32.refused-inside.followed", Status::warn,
                "refused-inside-misuse-accepted", "f32.replay"},
        Planted{"replay-reads-freed-workspace", "f32.workspace", kRed, "workspace-context-lost", "f32.two-products"},
        Planted{"exec-update-ignored", "f32.exec-update.alpha", kRed, "exec-update-stale", "f32.changed-between.alpha"},
        Planted{"exec-update-ignored", "f32.exec-update.operands", kRed, "exec-update-stale", "f32.replay"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
