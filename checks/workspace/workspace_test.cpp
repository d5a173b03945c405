// Tests of check "workspace": its cases, the judgement on hand-made observations, and the scenarios themselves over the
// simulator, with and without faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"
#include "lt_audit/measured_facts.h"
#include "workspace_scenarios.h"

namespace lt_audit {

std::unique_ptr<Check> make_workspace();

namespace {

using namespace workspace;

constexpr const char* kDefects[] = {"above-limit",           "bits-change",         "late-refusal",
                                    "refused-above-smaller", "refused-and-written", "stale-workspace"};

const Scenario& scenario_of(const Case& the_case) { return scenario_named(the_case.parameters.at("scenario")); }

class WorkspaceTest : public testing::Test {
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
  std::vector<Case> about(const MatmulProblem& problem) const {
    return check_->cases_about(describe_target(make_simulator_platform({}), 0), problem);
  }

  std::unique_ptr<Check> check_ = make_workspace();
  const std::map<std::string, Case> cases_ = simulated::cases_by_id(*check_, Depth::normal);
};

Observation with_defect(const std::string& defect) {
  auto observation = hand_made::worked();
  observation.facts = {{kDefect, defect}, {kDefectDetail, "what was measured"}, {kDetail, "algo 66"}};
  return observation;
}

TEST_F(WorkspaceTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  EXPECT_GE(quick.size(), 25U);
  EXPECT_LE(quick.size(), 60U);
  EXPECT_GE(cases_.size(), 80U);
  EXPECT_LE(cases_.size(), 150U);
  for (const auto& [shallow, deep] : {std::pair{&quick, &cases_}, std::pair{&cases_, &full}}) {
    EXPECT_LT(shallow->size(), deep->size());
    for (const auto& [id, c] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, c.problem) << id;
      EXPECT_EQ(deep->at(id).parameters, c.parameters) << id;
    }
  }
  for (const auto& [id, c] : full) {
    EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
    EXPECT_TRUE(c.scenario && !c.rule.empty()) << id;
    EXPECT_EQ(c.isolated, id.find("null.needed") != std::string::npos) << id;
  }
}

TEST_F(WorkspaceTest, EveryScenarioIsThereAndEveryTypeIsWalkedAndRepeated) {
  std::set<std::string> seen;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::full)) seen.insert(scenario_of(c).id);
  EXPECT_EQ(seen.size(), scenarios().size());
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  for (const std::string type : {"f16", "f32", "bf16", "f64", "e4m3", "i8"}) {
    EXPECT_EQ(quick.count(type + ".long_k.steps"), 1U) << type;
    EXPECT_EQ(quick.count(type + ".long_k.repeat"), 1U) << type;
  }
}

TEST_F(WorkspaceTest, TheProductsThemselvesArePromised) {
  const auto scope = scope_of(describe_target(make_simulator_platform({}), 0));
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::full)) {
    auto aligned = c.problem;
    aligned.workspace_offset = 0;
    EXPECT_EQ(promise_of(aligned, scope).expectation, Expectation::must_work) << id;
  }
}

TEST_F(WorkspaceTest, ExpectationsFollowTheDocumentation) {
  for (const char* id : {"f16.long_k.steps", "f64.long_k.repeat", "f32.long_k.implicit", "f16.long_k.exact",
                         "e4m3.long_k.larger", "i8.square.null.unneeded"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_work) << id;
  }
  for (const char* id : {"f16.long_k.too-small", "f16.long_k.null.needed", "f32.long_k.unaligned.needed.off16",
                         "i8.square.unaligned.unneeded.off128"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_refuse) << id;
  }
  EXPECT_EQ(named("f16.square.null.sized").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.long_k.unaligned.needed.off128").problem.workspace_offset, 128);
}

TEST_F(WorkspaceTest, AnOlderLibraryMayAcceptAnUnalignedWorkspace) {
  Target old = describe_target(make_simulator_platform({}), 0);
  old.cublaslt.major = 12, old.cublaslt.minor = 9, old.cublaslt.patch = 0;
  for (const auto& c : check_->cases(old, Depth::quick)) {
    if (c.problem.workspace_offset == 0) continue;
    EXPECT_EQ(c.expectation, Expectation::may_refuse) << c.id;
    expect(c, hand_made::worked(), Status::pass, "");
    expect(c, hand_made::refused_late("INVALID_VALUE"), Status::pass, "");
  }
}

TEST_F(WorkspaceTest, LimitsAscendAndTheProblemHasTheLast) {
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::full)) {
    if (c.parameters.count(kLimits) == 0) continue;
    const auto& text = c.parameters.at(kLimits);
    EXPECT_EQ(text.find("0 "), 0U) << id;
    EXPECT_EQ(text.substr(text.rfind(' ') + 1), std::to_string(c.problem.workspace_bytes)) << id;
  }
  EXPECT_EQ(named("f16.long_k.steps").parameters.at(kLimits), "0 65536 1048576 4194304 16777216 33554432 67108864");
}

TEST_F(WorkspaceTest, AWorkloadIsWalkedAroundItsOwnLimitAndRepeated) {
  auto problem = uniform_problem(CUDA_R_16F, 96, 80, 64);
  problem.workspace_bytes = 3 * kMiB;
  const auto list = about(problem);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].id, "steps");
  EXPECT_EQ(list[0].parameters.at(kLimits), "0 65536 1048576 3145728 4194304 16777216 33554432 67108864");
  EXPECT_EQ(list[1].id, "repeat");
  EXPECT_EQ(list[1].problem.workspace_bytes, 3 * kMiB);
  simulated::Worker worker;
  for (const auto& c : list) expect(c, worker.observe(*check_, c), Status::pass, "");
}

TEST_F(WorkspaceTest, AWorkloadIsLeftAloneWhereNothingCanBeLearned) {
  auto stored = uniform_problem(CUDA_R_16F, 96, 80, 64);
  stored.algo = AlgoChoice::given;
  EXPECT_TRUE(about(stored).empty());
  auto unaligned = uniform_problem(CUDA_R_16F, 96, 80, 64);
  unaligned.workspace_offset = 16;
  EXPECT_TRUE(about(unaligned).empty());
}

TEST_F(WorkspaceTest, WhatNothingPromisesMayBeRefusedAndATrapWarns) {
  auto problem = uniform_problem(CUDA_R_16F, 96, 80, 64);
  problem.a_offset = 2;
  for (const auto& c : about(problem)) {
    EXPECT_EQ(c.expectation, Expectation::may_refuse) << c.id;
    expect(c, hand_made::refused(), Status::pass, "");
    expect(c, hand_made::worked(), Status::pass, "");
    expect(c, with_defect("late-refusal"), Status::warn, "late-refusal");
    expect(c, with_defect("bits-change"), Status::fail, "bits-change");
  }
  simulated::Worker worker;
  const auto steps_case = about(problem).front();
  expect(steps_case, worker.observe(*check_, steps_case), Status::warn, "late-refusal");
}

TEST_F(WorkspaceTest, EveryScenarioIsJudgedByItsExpectation) {
  std::set<std::string> groups;
  for (const auto& [id, c] : cases_) {
    if (!groups.insert(scenario_of(c).group).second) continue;
    const bool must_work = c.expectation == Expectation::must_work;
    const bool must_refuse = c.expectation == Expectation::must_refuse;
    expect(c, hand_made::worked(), must_refuse ? Status::warn : Status::pass, must_refuse ? "misuse-accepted" : "");
    for (const auto& refusal : {hand_made::refused(), hand_made::refused_late("INVALID_VALUE")}) {
      expect(c, refusal, must_work ? Status::fail : Status::pass, must_work ? "refused" : "");
    }
    for (const std::string defect : kDefects) {
      const bool always = defect == "bits-change" || defect == "stale-workspace" || defect == "refused-and-written";
      expect(c, with_defect(defect), must_work || always ? Status::fail : Status::warn, defect);
    }
  }
  EXPECT_EQ(groups.size(), 10U);
}

TEST_F(WorkspaceTest, TellsWrongNumbersEndingsAndWhatWasNotRun) {
  for (const char* id : {"f16.long_k.steps", "f16.long_k.too-small", "f16.square.null.sized"}) {
    const auto& c = named(id);
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
    expect(c, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress"), Status::fail, "context-lost");
    Observation observation;
    observation.not_run = "the heuristic offers no algorithm that needs a workspace";
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

TEST_F(WorkspaceTest, NamesWhatTheNumbersDo) {
  EXPECT_EQ(judge(named("f16.long_k.repeat"), with_defect("bits-change")).outcome, Outcome::nondeterministic);
  EXPECT_EQ(judge(named("f16.long_k.repeat"), with_defect("stale-workspace")).outcome, Outcome::stale);
  EXPECT_EQ(judge(named("f16.long_k.steps"), with_defect("refused-above-smaller")).outcome, Outcome::refused);
  EXPECT_EQ(judge(named("f16.long_k.steps"), with_defect("above-limit")).sentence,
            "A product under workspace limits from 0 on: what was measured (algo 66)");
  auto accepted = hand_made::worked();
  accepted.facts[kDetail] = "algo 66, given 3 bytes";
  EXPECT_EQ(judge(named("f16.long_k.too-small"), accepted).sentence,
            "A workspace smaller than the algorithm asks for: cublasLtMatmul returns SUCCESS; all 7680 elements of D "
            "are right (algo 66, given 3 bytes)");
}

TEST_F(WorkspaceTest, AFaultlessLibraryPassesEveryQuickCase) {
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::quick)) {
    const auto verdict = judge(c, worker.observe(*check_, c));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

TEST_F(WorkspaceTest, TheWalkTellsWhereTheAnswerChanges) {
  simulated::Worker worker;
  const auto walked = worker.observe(*check_, named("f32.long_k.steps")).facts;
  EXPECT_EQ(walked.at("limits_taken"), "7");
  EXPECT_EQ(walked.at("step.01").find("from 0 bytes: SUCCESS, algo "), 0U) << walked.at("step.01");
  EXPECT_NE(walked.at("step.01").find("asking for 0 bytes, bits "), std::string::npos) << walked.at("step.01");
  EXPECT_EQ(walked.at("step.02").find("from 64 KiB: SUCCESS, algo "), 0U) << walked.at("step.02");
  EXPECT_NE(walked.at("step.02").find("split-K 4"), std::string::npos) << walked.at("step.02");
  EXPECT_EQ(walked.count("step.03"), 0U) << "nothing changes from there on";
  EXPECT_EQ(walked.count("times_us"), 0U) << "the simulator has no clock of its own";
  EXPECT_EQ(walked.count(kLtUsFact), 0U);
  EXPECT_EQ(walked.at(kDBitsFact).size(), 7 * 16 + 6U) << "one digest for each limit: " << walked.at(kDBitsFact);
  const auto same = worker.observe(*check_, named("f32.square.steps")).facts;
  EXPECT_EQ(same.count("step.02"), 0U);
}

TEST_F(WorkspaceTest, AWalkOnAGpuIsTimed) {
  simulated::Worker worker;
  Target gpu = worker.target();
  gpu.kind = PlatformKind::gpu;
  MatmulEngine engine(worker.session().platform(), {});
  Session session(worker.session().platform(), gpu, engine);
  const auto walked = check_->observe(session, named("f16.square.steps")).facts;
  const auto& times = walked.at("times_us");
  EXPECT_EQ(times.find("0 bytes: "), 0U) << times;
  EXPECT_NE(times.find(", 64 MiB: "), std::string::npos) << times;
  EXPECT_EQ(walked.at("step.01").substr(walked.at("step.01").size() - 3), " us");
  EXPECT_NE(times.find(walked.at("fast_from") + ": "), std::string::npos) << times;
  EXPECT_GT(std::stod(walked.at(kLtUsFact)), 0);
  EXPECT_GE(std::stod(walked.at(kSpreadFact)), 0);
}

TEST_F(WorkspaceTest, ARefusedCallThatWritesDFails) {
  simulated::Worker worker;
  Platform platform = worker.session().platform();
  platform.lt.matmul = [real = platform.lt.matmul](auto... arguments) {
    real(arguments...);
    return CUBLAS_STATUS_INVALID_VALUE;
  };
  MatmulEngine engine(platform, {});
  Session session(platform, worker.target(), engine);
  const auto& c = named("f16.square.null.unneeded");
  const auto observation = check_->observe(session, c);
  expect(c, observation, Status::fail, "refused-and-written");
  EXPECT_EQ(observation.facts.at(kDefectDetail),
            "cublasLtMatmul returns INVALID_VALUE, and 7680 elements of D are written");
}

TEST_F(WorkspaceTest, ALimitThatIsRefusedAboveASmallerOneFails) {
  simulated::Worker plain;
  Platform platform = make_simulator_platform({});
  // KI-084: refused for some sizes of the workspace alone.
  auto limit = std::make_shared<std::uint64_t>(0);
  platform.lt.matmul_preference_set_attribute = [real = platform.lt.matmul_preference_set_attribute, limit](
                                                    cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) *limit = *static_cast<const std::uint64_t*>(value);
    return real(preference, attribute, value, bytes);
  };
  platform.lt.matmul_algo_get_heuristic = [real = platform.lt.matmul_algo_get_heuristic, limit](
                                              auto handle, auto desc, auto a, auto b, auto c, auto d, auto preference,
                                              int requested, auto* results, int* returned) {
    if (*limit != 4 * kMiB) return real(handle, desc, a, b, c, d, preference, requested, results, returned);
    *returned = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  };
  MatmulEngine engine(platform, {});
  Session session(platform, plain.target(), engine);
  const auto& c = named("f16.square.steps");
  const auto observation = check_->observe(session, c);
  expect(c, observation, Status::fail, "refused-above-smaller");
  EXPECT_EQ(observation.facts.at(kDefectDetail),
            "a limit of 4 MiB gives NOT_SUPPORTED, and a limit of 1 MiB an algorithm");
}

TEST_F(WorkspaceTest, AWalkThatIsRefusedThroughoutIsARefusal) {
  simulated::Worker worker("valid-call-refused");
  const auto& c = named("i8.long_k.steps");
  const auto observation = worker.observe(*check_, c);
  expect(c, observation, Status::fail, "refused");
  EXPECT_EQ(observation.facts.at("step.01"), "from 0 bytes: NOT_SUPPORTED");
  EXPECT_EQ(observation.facts.at("limits_taken"), "7");
  expect(named("i8.long_k.exact"), worker.observe(*check_, named("i8.long_k.exact")), Status::skip, "not-run");
}

TEST_F(WorkspaceTest, ALargeProductIsRunOnceForEachAlgorithm) {
  auto problem = uniform_problem(CUDA_R_64F, 1024, 2064, 1);
  problem.beta = 1;
  const auto list = about(problem);
  simulated::Worker worker;
  int calls = 0;
  Platform counted = worker.session().platform();
  counted.lt.matmul = [&calls, real = counted.lt.matmul](auto... arguments) {
    ++calls;
    return real(arguments...);
  };
  MatmulEngine engine(counted, {});
  Session session(counted, worker.target(), engine);
  const auto walked = check_->observe(session, list.at(0));
  expect(list.at(0), walked, Status::pass, "");
  EXPECT_EQ(walked.facts.at("limits_taken"), "7");
  EXPECT_EQ(calls, 2) << "one verified, one for the bits";
  calls = 0;
  expect(list.at(1), check_->observe(session, list.at(1)), Status::pass, "");
  EXPECT_EQ(calls, 5);
}

TEST_F(WorkspaceTest, RepeatsEveryAlgorithmThatNeedsAWorkspace) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named("f16.long_k.repeat"));
  const auto needing = std::count_if(observation.heuristic.begin(), observation.heuristic.end(),
                                     [](const auto& result) { return result.workspace_bytes > 0; });
  EXPECT_GT(needing, 1);
  EXPECT_EQ(observation.facts.at("algorithms_run"), std::to_string(needing));
  EXPECT_EQ(observation.facts.at("runs"), "10");
}

class WorkspaceFaults : public testing::TestWithParam<Planted> {};

TEST_P(WorkspaceFaults, TurnTheCaseRed) { expect_red(*make_workspace(), GetParam()); }

constexpr auto kRed = Status::fail;

INSTANTIATE_TEST_SUITE_P(
    Planted, WorkspaceFaults,
    testing::Values(
        Planted{"bits-change-between-runs", "f32.long_k.repeat", kRed, "repeat-bits-change", "f16.square.repeat"},
        Planted{"bits-change-between-runs", "f32.long_k.steps", kRed, "steps-bits-change", "f16.square.steps"},
        Planted{"old-workspace-in-result", "f32.long_k.repeat", kRed, "repeat-stale-workspace", "f16.long_k.repeat"},
        Planted{"undersized-workspace-accepted", "f16.long_k.too-small", kRed, "too-small-out-of-bounds",
                "f16.long_k.exact"},
        Planted{"workspace-above-limit", "bf16.long_k.steps", kRed, "steps-above-limit", "f16.long_k.steps"},
        Planted{"workspace-overrun", "f32.long_k.exact", kRed, "exact-out-of-bounds", "f16.long_k.exact"},
        Planted{"workspace-overrun", "f32.long_k.steps", kRed, "steps-out-of-bounds", "f64.long_k.steps"},
        Planted{"split-k-tail-lost", "f32.long_k.larger", kRed, "larger-wrong-result", "f16.square.null.unneeded"},
        Planted{"split-k-tail-lost", "f64.long_k.repeat", kRed, "repeat-wrong-result", "f16.square.repeat"},
        Planted{"k-tail-lost", "f16.long_k.implicit", kRed, "implicit-wrong-result", "f32.long_k.steps"},
        Planted{"wrong-status", "f16.long_k.too-small", kRed, "too-small-unwritten", "f16.long_k.larger"},
        Planted{"wrong-status", "f16.long_k.null.needed", kRed, "null-needed-unwritten", "f16.square.null.sized"},
        Planted{"unaligned-workspace-accepted", "f16.long_k.unaligned.needed.off16", Status::warn,
                "unaligned-misuse-accepted", "f16.long_k.larger"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
