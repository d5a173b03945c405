// Tests of check "streams-workspace": its cases, the judgement on hand-made observations, and the scenarios themselves
// over the simulator, with and without faults.
#include <gtest/gtest.h>

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
#include "streams_scenarios.h"

namespace lt_audit {

std::unique_ptr<Check> make_streams_workspace();

namespace {

using namespace streams_workspace;

const Scenario& scenario_of(const Case& the_case) { return scenario_named(the_case.parameters.at("scenario")); }

class StreamsWorkspaceTest : public testing::Test {
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
    EXPECT_EQ(verdict.status, status) << the_case.id << " " << verdict.reason << " " << verdict.sentence;
    EXPECT_EQ(verdict.reason, defect.empty() ? "" : scenario_of(the_case).group + "-" + defect) << the_case.id;
  }
  std::vector<Case> about(const MatmulProblem& problem) const {
    return check_->cases_about(describe_target(make_simulator_platform({}), 0), problem);
  }

  std::unique_ptr<Check> check_ = make_streams_workspace();
  const std::map<std::string, Case> cases_ = simulated::cases_by_id(*check_, Depth::normal);
};

Observation with_defect(const std::string& defect) {
  auto observation = hand_made::worked();
  observation.facts = {{kDefect, defect}, {kDefectDetail, "what was measured"}, {kDetail, "algo 66"}};
  return observation;
}

Observation with_wrong_elements() {
  auto seen = *hand_made::worked().verification;
  seen.wrong = 4;
  return hand_made::verified(seen);
}

TEST_F(StreamsWorkspaceTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  EXPECT_GE(quick.size(), 20U);
  EXPECT_LE(quick.size(), 40U);
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
    EXPECT_TRUE(c.scenario && !c.rule.empty() && !c.isolated) << id;
  }
}

TEST_F(StreamsWorkspaceTest, EveryScenarioIsThereAndEveryProductIsPromised) {
  const auto scope = scope_of(describe_target(make_simulator_platform({}), 0));
  std::set<std::string> seen;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::full)) {
    seen.insert(scenario_of(c).id);
    EXPECT_EQ(promise_of(c.problem, scope).expectation, Expectation::must_work) << id;
  }
  EXPECT_EQ(seen.size() + 2, scenarios().size()) << "all but those about a given product";
}

TEST_F(StreamsWorkspaceTest, ExpectationsFollowTheDocumentation) {
  for (const char* id : {"f16.own.two-streams", "f16.own.two-threads", "f32.ordered.one-stream", "f32.ordered.events",
                         "f32.ordered.legacy", "e4m3.inputs.per-thread", "f32.across.legacy-last", "f16.scalars.copy",
                         "i8.chain", "f16.pdl.inputs", "f16.pdl.scalars", "f32.pdl.workspace"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_work) << id;
  }
  for (const char* id :
       {"f16.shared.two-streams", "f32.shared.two-threads", "f16.unneeded.two-streams", "f16.control.no-event"}) {
    EXPECT_EQ(named(id).expectation, Expectation::may_refuse) << id;
  }
  EXPECT_EQ(cases_.count("i8.scalars.copy"), 0U) << "INT32 takes 0 and 1 alone";
  EXPECT_EQ(named("f16.shared.two-streams").parameters.at("claims"), "C5=fails");
  EXPECT_EQ(named("f16.own.eight-streams").parameters.at("claims"), "C4=fails");
}

TEST_F(StreamsWorkspaceTest, WrongNumbersOfASharedWorkspaceAreATrapAndElsewhereAFailure) {
  std::set<std::string> groups;
  for (const auto& [id, c] : cases_) {
    groups.insert(scenario_of(c).group);
    const bool must_work = c.expectation == Expectation::must_work;
    expect(c, hand_made::worked(), Status::pass, "");
    expect(c, with_wrong_elements(), must_work ? Status::fail : Status::warn, "wrong-result");
    expect(c, hand_made::refused_late("EXECUTION_FAILED"), must_work ? Status::fail : Status::pass,
           must_work ? "refused" : "");
    auto seen = *hand_made::worked().verification;
    seen.wrong = 4;
    seen.bytes_behind_d = 4;
    expect(c, hand_made::verified(seen), Status::fail, "out-of-bounds");
  }
  EXPECT_EQ(groups.size(), 12U);
}

TEST_F(StreamsWorkspaceTest, EveryReasonIsExplained) {
  for (const auto& [id, c] : cases_) {
    expect(c, with_defect("bits-change"), Status::fail, "bits-change");
    expect(c, with_defect("not-concurrent"), Status::warn, "not-concurrent");
    expect(c, with_defect("other-alpha"), Status::fail, "other-alpha");
    auto seen = *hand_made::worked().verification;
    seen.a_bytes_changed = 4;
    expect(c, hand_made::verified(seen), Status::fail, "input-changed");
    seen = *hand_made::worked().verification;
    seen.wrong = seen.unwritten = 4;
    const bool must_work = c.expectation == Expectation::must_work;
    expect(c, hand_made::verified(seen), must_work ? Status::fail : Status::warn,
           must_work ? "unwritten" : "wrong-result");
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

TEST_F(StreamsWorkspaceTest, TheSentenceHasTheFigures) {
  auto wrong = with_wrong_elements();
  wrong.facts[kDetail] = "7 of 20 rounds wrong with algo 66";
  const auto verdict = judge(named("f16.shared.two-streams"), wrong);
  EXPECT_EQ(verdict.outcome, Outcome::wrong_result);
  EXPECT_EQ(verdict.sentence.find("One workspace used on two streams at once: cublasLtMatmul returns SUCCESS; "), 0U)
      << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("(7 of 20 rounds wrong with algo 66)"), std::string::npos) << verdict.sentence;
  EXPECT_EQ(judge(named("f16.own.two-streams"), with_defect("bits-change")).sentence,
            "Streams with workspaces of their own: what was measured (algo 66)");
  EXPECT_EQ(judge(named("f16.own.two-streams"), with_defect("bits-change")).outcome, Outcome::nondeterministic);
  EXPECT_EQ(judge(named("f16.scalars.copy"), with_defect("other-alpha")).outcome, Outcome::stale);
  EXPECT_EQ(judge(named("f16.control.no-event"), with_defect("not-concurrent")).outcome, Outcome::unproven);
}

TEST_F(StreamsWorkspaceTest, AFaultlessLibraryPassesEveryQuickCase) {
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::quick)) {
    const auto verdict = judge(c, worker.observe(*check_, c));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

TEST_F(StreamsWorkspaceTest, AFaultlessLibraryPassesEveryOtherScenario) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  simulated::Worker worker;
  for (const auto& [id, c] : cases_) {
    // Quick ones run above.
    const bool rare = id.find("f32.") == 0 && quick.count("f16." + scenario_of(c).id) == 0;
    if (!rare && id != "f64.scalars.copy" && id != "i8.chain" && id != "e4m3.pdl.inputs") continue;
    const auto verdict = judge(c, worker.observe(*check_, c));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

TEST_F(StreamsWorkspaceTest, FactsTellHowOftenWhatWasRun) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named("f16.own.two-streams"));
  EXPECT_EQ(observation.facts.at("rounds_run"), "1");
  EXPECT_EQ(observation.facts.at("algorithm.1").find("0 of 1 rounds wrong with algo "), 0U);
  EXPECT_EQ(observation.facts.at("bits_rounds"), "1");
}

TEST_F(StreamsWorkspaceTest, SpeaksAboutAProductOfAnApplication) {
  auto problem = uniform_problem(CUDA_R_16F, 48, 32, 2048);
  problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  const auto list = about(problem);
  ASSERT_EQ(list.size(), 2U);
  simulated::Worker worker;
  for (const auto& c : list) {
    EXPECT_EQ(c.problem, problem);
    EXPECT_EQ(judge(c, worker.observe(*check_, c)).status, Status::pass) << c.id;
  }
  EXPECT_EQ(list[0].id, "own.first-algorithm");
  EXPECT_EQ(list[1].id, "shared.first-algorithm");
  problem.in_place = true;
  problem.beta = 2;
  for (const auto& c : about(problem)) EXPECT_EQ(judge(c, worker.observe(*check_, c)).status, Status::pass) << c.id;
  problem.algo = AlgoChoice::given;
  EXPECT_TRUE(about(problem).empty());
  problem.algo = AlgoChoice::heuristic;
  problem.scale_type = CUDA_R_64F;
  EXPECT_TRUE(about(problem).empty()) << "nothing is promised of it";
}

TEST_F(StreamsWorkspaceTest, AnAlgorithmWithCountersAloneIsNotShared) {
  simulated::Worker worker;
  Platform platform = worker.session().platform();
  platform.lt.matmul_algo_get_heuristic = [real = platform.lt.matmul_algo_get_heuristic](
                                              auto handle, auto desc, auto a, auto b, auto c, auto d, auto preference,
                                              int requested, auto* results, int* returned) {
    const auto status = real(handle, desc, a, b, c, d, preference, requested, results, returned);
    for (int i = 0; i < *returned; ++i) {
      if (results[i].workspaceSize > 0) results[i].workspaceSize = 4;
    }
    return status;
  };
  MatmulEngine engine(platform, {});
  Session session(platform, worker.target(), engine);
  EXPECT_THROW(check_->observe(session, named("f16.shared.two-streams")), NotRun);
  EXPECT_THROW(check_->observe(session, named("f16.shared.two-threads")), NotRun);
  expect(named("f16.ordered.events"), check_->observe(session, named("f16.ordered.events")), Status::pass, "");
}

class StreamsWorkspaceFaults : public testing::TestWithParam<Planted> {};

TEST_P(StreamsWorkspaceFaults, TurnTheCaseRed) { expect_red(*make_streams_workspace(), GetParam()); }

constexpr auto kRed = Status::fail;

INSTANTIATE_TEST_SUITE_P(
    Planted, StreamsWorkspaceFaults,
    testing::Values(
        Planted{"algorithm-bound-to-stream", "f32.own.two-streams", kRed, "own-refused", "f32.ordered.one-stream"},
        Planted{"bits-change-between-runs", "f32.own.two-streams", kRed, "own-bits-change", "f32.pdl.inputs"},
        Planted{"device-scalar-read-late", "f16.pdl.scalars", kRed, "pdl-scalars-other-alpha", "f32.pdl.inputs"},
        Planted{"device-scalar-read-late", "f16.scalars.copy", kRed, "scalars-other-alpha", "f16.inputs.null"},
        Planted{"split-k-state-per-handle", "f16.own.two-streams", kRed, "own-wrong-result", "f16.ordered.events"},
        Planted{"split-k-state-per-handle", "f32.shared.two-streams", Status::warn, "shared-wrong-result", "f32.chain"},
        Planted{"split-k-tail-lost", "f32.chain", kRed, "chain-wrong-result", "f16.unneeded.two-streams"},
        Planted{"stream-ignored", "f32.inputs.null", kRed, "inputs-wrong-result", "f16.inputs.null"},
        Planted{"stream-ignored", "f32.pdl.inputs", kRed, "pdl-inputs-wrong-result", "f16.pdl.inputs"},
        Planted{"workspace-reused-too-early", "f16.ordered.one-stream", kRed, "ordered-wrong-result",
                "f32.ordered.one-stream"},
        Planted{"workspace-reused-too-early", "f16.chain", kRed, "chain-wrong-result", "f16.ordered.events"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
