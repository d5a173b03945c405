// Tests of check "heuristic-validity": the grid of queries, the judgement on hand-made observations, and the queries
// themselves over the simulator, with and without faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "heuristic_cases.h"
#include "lt_audit/check.h"

namespace lt_audit {

std::unique_ptr<Check> make_heuristic_validity();

namespace {

using namespace heuristic_validity;

constexpr const char* kPlain = "f16.square.nn";
constexpr const char* kForbidden = "e4m3.row.tn";
constexpr const char* kForbiddenNull = "e4m3.odd.null.limit0";
constexpr const char* kWithheld = "f16.split_k.workspace-withheld";

class HeuristicValidityTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cases_ = new std::map(simulated::cases_by_id(*make_heuristic_validity(), Depth::normal));
  }
  static void TearDownTestSuite() {
    delete cases_;
    cases_ = nullptr;
  }

  static const Case& named(const std::string& id) { return cases_->at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_explained(*check_, the_case, verdict);
    EXPECT_NE(page_of("heuristic-validity").find(verdict.reason), std::string_view::npos) << verdict.reason;
    return verdict;
  }
  Verdict judge(const std::string& id, const Observation& observation) const { return judge(named(id), observation); }
  void expect(const std::string& id, const Observation& observation, Status status, const std::string& reason) const {
    const auto verdict = judge(id, observation);
    EXPECT_EQ(verdict.status, status) << id << " " << verdict.reason;
    EXPECT_EQ(verdict.reason, reason) << id;
  }

  std::unique_ptr<Check> check_ = make_heuristic_validity();
  static inline std::map<std::string, Case>* cases_ = nullptr;
};

Observation with_defect(const std::string& defect) {
  auto observation = hand_made::worked();
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = "result 1 is not as it should be";
  return observation;
}

/// What a call leaves that changes one count of the verification.
Observation with(std::uint64_t Verification::*count) {
  Verification seen = *hand_made::worked().verification;
  seen.*count = 5;
  return hand_made::verified(seen);
}

TEST_F(HeuristicValidityTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  const std::map<std::string, Case>* const normal = cases_;
  for (const auto& [shallow, deep] : {std::pair{&quick, normal}, std::pair{normal, &full}}) {
    EXPECT_LT(shallow->size(), deep->size());
    for (const auto& [id, c] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, c.problem) << id;
      EXPECT_EQ(deep->at(id).expectation, c.expectation) << id;
    }
  }
  for (const auto& [id, c] : full) {
    EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
    EXPECT_FALSE(c.rule.empty()) << id;
  }
}

TEST_F(HeuristicValidityTest, CountsFitTheDepths) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  EXPECT_GE(quick.size(), 60U);
  EXPECT_LE(quick.size(), 120U);
  EXPECT_GE(cases_->size(), 600U);
  EXPECT_LE(cases_->size(), 900U);
  EXPECT_EQ(check_->cases({}, Depth::normal).size(), cases_->size());
}

TEST_F(HeuristicValidityTest, QuickAsksForEveryTypeAndShape) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  for (const std::string type : {"f64", "f32", "f16", "bf16", "e4m3", "i8"}) {
    for (const std::string shape : {"square", "wide", "tall", "odd", "row", "column", "long_k"}) {
      const auto id = type + "." + shape + (type == "e4m3" || type == "i8" ? ".tn" : ".nn");
      ASSERT_EQ(quick.count(id), 1U) << id;
      EXPECT_EQ(kind_of(quick.at(id)), kEveryAlgorithm) << id;
      EXPECT_GT(quick.at(id).problem.workspace_bytes, 0) << id;
    }
  }
}

TEST_F(HeuristicValidityTest, EveryKindIsThereAndAnnounced) {
  std::set<std::string_view> kinds;
  for (const auto& [id, c] : *cases_) {
    kinds.insert(kind_of(c));
    EXPECT_EQ(c.parameters.count(std::string(kRequested)), 1U) << id;
    // What is not the engine's one run says so, or its repro line would show something else.
    EXPECT_EQ(c.scenario, c.problem.algo != AlgoChoice::null) << id;
    EXPECT_FALSE(c.isolated) << id;
  }
  EXPECT_EQ(kinds, (std::set<std::string_view>{kEveryAlgorithm, kRestored, kOtherProcess, kOtherStreams, kOtherBuffers,
                                               kNullAlgorithm, kNoneRequested, kWorkspaceWithheld, kUnusedResults}));
}

TEST_F(HeuristicValidityTest, LimitsRequestsAndPromisesAreWhatTheIdSays) {
  const Case& limited = named("f16.long_k.limit64KiB.requested3");
  EXPECT_EQ(limited.problem.workspace_bytes, 65536);
  EXPECT_EQ(limited.parameters.at("requested"), "3");
  EXPECT_EQ(named("f32.square.limit0.requested64").problem.workspace_bytes, 0);
  const auto& promised = named("f16.square.promised4").problem;
  EXPECT_EQ(promised.b_alignment, 4U);
  EXPECT_EQ(promised.b_offset, 4);
  EXPECT_EQ(cases_->count("f32.square.promised2"), 0U) << "below the size of an element";
  EXPECT_GT(named("f32.square.batch5").problem.batch_count, 1);
  EXPECT_EQ(cases_->count("i8.square.bias"), 0U);
}

TEST_F(HeuristicValidityTest, ExpectationsFollowTheDocumentation) {
  for (const char* id : {kPlain, "f64.row.tn", "e4m3.square.tn", "i8.long_k.tn", "f16.long_k.restored"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_work) << id;
  }
  for (const char* id : {kForbidden, kForbiddenNull, "e4m3.odd.tn", "i8.odd.tn", kWithheld, "f16.square.requested0",
                         "f16.square.requested-1"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_refuse) << id;
  }
}

TEST_F(HeuristicValidityTest, ClaimsAreNamedWithTheirPredictions) {
  EXPECT_EQ(named("f16.square.unused-results").parameters.at("claims"), "C3=unused_ids=-1");
  EXPECT_EQ(named("f16.long_k.other-streams").parameters.at("claims"), "C4=fails");
  EXPECT_EQ(named("f64.square.other-streams").parameters.at("claims"), "C4=fails");
  EXPECT_EQ(named("f16.long_k.restored").parameters.count("claims"), 0U);
  EXPECT_EQ(named(kPlain).parameters.count("claims"), 0U);
}

TEST_F(HeuristicValidityTest, PassesWhenWhatIsPromisedWorksAndTheRestIsRefused) {
  for (const char* id : {kPlain, "f16.square.restored", "f16.long_k.other-process", "f16.square.other-streams",
                         "f16.square.other-buffers", "f32.square.null.limit0"}) {
    expect(id, hand_made::worked(), Status::pass, "");
  }
  for (const auto& refusal : {hand_made::refused(), hand_made::refused_late()}) {
    expect(kForbidden, refusal, Status::pass, "");
    expect(kForbiddenNull, refusal, Status::pass, "");
    expect(kWithheld, refusal, Status::pass, "");
  }
  expect("f16.square.requested0", hand_made::refused("INVALID_VALUE"), Status::pass, "");
  expect("f16.square.unused-results", hand_made::refused(), Status::pass, "");
}

TEST_F(HeuristicValidityTest, FailsOnADefectOfTheListAndWarnsOfWhatAnAlgorithmSaysOfItself) {
  for (const char* defect :
       {"no-result", "more-than-requested", "state-not-success", "workspace-above-limit", "algo-check-refuses"}) {
    expect(kPlain, with_defect(defect), Status::fail, defect);
  }
  for (const char* defect : {"capability-above-promise", "capability-contradicts-result", "algo-check-disagrees"}) {
    expect(kPlain, with_defect(defect), Status::warn, defect);
  }
  const auto sentence = judge(kPlain, with_defect("state-not-success")).sentence;
  EXPECT_EQ(sentence.find("result 1 is not as it should be (f16 x f16 -> f16, 32f, 64x64x64, nn"), 0U) << sentence;
}

TEST_F(HeuristicValidityTest, AnEmptyListIsADefectAndNoRefusal) {
  Observation observation = hand_made::refused("SUCCESS");
  observation.facts = {{kDefect, "no-result"}, {kDefectDetail, "SUCCESS with 0 results"}};
  expect(kPlain, observation, Status::fail, "no-result");
  Case undocumented = named(kPlain);
  undocumented.expectation = Expectation::may_refuse;
  EXPECT_EQ(judge(undocumented, observation).status, Status::warn);
}

TEST_F(HeuristicValidityTest, WrongNumbersWeighMoreThanADefectOfTheList) {
  auto observation = with_defect("state-not-success");
  observation.facts[kAlgorithm] = "result 2 (algo 66)";
  observation.verification->wrong = 3;
  expect(kPlain, observation, Status::fail, "algorithm-wrong-result");
  EXPECT_EQ(judge(kPlain, observation).sentence.find("result 2 (algo 66): "), 0U);
}

TEST_F(HeuristicValidityTest, FailsWhenADocumentedProductIsRefusedOrWrong) {
  expect(kPlain, hand_made::refused(), Status::fail, "query-refused");
  expect(kPlain, hand_made::refused_late(), Status::fail, "algorithm-refused");
  expect(kPlain, with(&Verification::wrong), Status::fail, "algorithm-wrong-result");
  expect(kPlain, with(&Verification::unwritten), Status::fail, "algorithm-unwritten");
  expect(kPlain, with(&Verification::bytes_behind_d), Status::fail, "algorithm-out-of-bounds");
  expect(kPlain, with(&Verification::b_bytes_changed), Status::fail, "algorithm-input-changed");
}

TEST_F(HeuristicValidityTest, AQueryMayRefuseWhatNothingPromisesAndWhatItOffersMustRun) {
  Case undocumented = named(kPlain);
  undocumented.expectation = Expectation::may_refuse;
  EXPECT_EQ(judge(undocumented, hand_made::refused()).status, Status::pass);
  const auto verdict = judge(undocumented, hand_made::refused_late());
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "algorithm-refused");
}

TEST_F(HeuristicValidityTest, FailsWhenAResultWorksOnlyWhereItWasAskedFor) {
  for (const char* id :
       {"f16.square.restored", "f16.long_k.other-process", "f16.square.other-streams", "f16.square.other-buffers"}) {
    for (const auto& observation : {hand_made::refused("INVALID_VALUE"), hand_made::refused_late(),
                                    with(&Verification::wrong), with(&Verification::bytes_before_d)}) {
      expect(id, observation, Status::fail, "reuse-failed");
    }
    expect(id, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
  }
}

TEST_F(HeuristicValidityTest, WarnsOfAcceptedMisuseAndFailsWhenItDoesHarm) {
  Observation answered;
  answered.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"}};
  expect("f16.square.requested0", answered, Status::warn, "misuse-accepted");
  expect("f16.square.requested-1", answered, Status::warn, "misuse-accepted");
  expect(kWithheld, hand_made::worked(), Status::warn, "misuse-accepted");
  expect(kWithheld, with(&Verification::wrong), Status::fail, "misuse-unsafe");
  expect(kWithheld, with(&Verification::bytes_behind_d), Status::fail, "misuse-unsafe");
  expect(kWithheld, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress"), Status::fail,
         "context-lost");
}

TEST_F(HeuristicValidityTest, WarnsWhenAForbiddenProductWorksAndFailsWhenItIsWrong) {
  for (const char* id : {kForbidden, kForbiddenNull}) {
    expect(id, hand_made::worked(), Status::warn, "accepted-against-rule");
    expect(id, with(&Verification::wrong), Status::fail, "algorithm-wrong-result");
  }
}

TEST_F(HeuristicValidityTest, TellsHowTheProcessEndedAndWhatProvesNothing) {
  for (const char* id : {kPlain, kForbidden, kWithheld, "f16.square.unused-results"}) {
    expect(id, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
    expect(id, hand_made::ended(ProcessEnd::timed_out, "30 s"), Status::fail, "timed-out");
    expect(id, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress"), Status::fail, "context-lost");
    Observation observation;
    observation.not_run = "needs 12.0 GiB of GPU memory, 3.1 GiB are free";
    expect(id, observation, Status::skip, "not-run");
    observation = {};
    observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
    expect(id, observation, Status::error, "audit-error");
  }
  Observation observation = hand_made::worked();
  observation.facts[kSlowCallFact] = "1000";
  expect(kPlain, observation, Status::warn, "slower");
  observation = hand_made::worked();
  observation.verification->expected_nonzero = 0;
  expect(kPlain, observation, Status::warn, "unproven");
  expect(kWithheld, observation, Status::warn, "unproven");
}

TEST_F(HeuristicValidityTest, ThePageExplainsEveryPartOfAReason) {
  const auto page = page_of("heuristic-validity");
  for (const std::string_view kind :
       {kRestored, kOtherProcess, kOtherStreams, kOtherBuffers, kWorkspaceWithheld, kUnusedResults}) {
    EXPECT_NE(page.find(kind), std::string_view::npos) << kind;
  }
}

TEST_F(HeuristicValidityTest, AFaultlessLibraryPassesEveryQuickCase) {
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::quick)) {
    const auto verdict = judge(c, worker.observe(*check_, c));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

TEST_F(HeuristicValidityTest, EveryAlgorithmIsRunAndCounted) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named(kPlain));
  EXPECT_GE(observation.heuristic.size(), 3U);
  EXPECT_EQ(observation.facts.at("algorithms_run"), std::to_string(observation.heuristic.size()));
  EXPECT_EQ(worker.observe(*check_, named("f16.square.limit0.requested1")).facts.at("algorithms_run"), "1");
}

TEST_F(HeuristicValidityTest, AResultWithAnotherStateIsNotRun) {
  simulated::Worker worker("result-state-not-success");
  const auto observation = worker.observe(*check_, named("f32.square.nn"));
  EXPECT_EQ(observation.facts.at("algorithms_run"), std::to_string(observation.heuristic.size() - 1));
}

TEST_F(HeuristicValidityTest, AnotherProcessRunsWhatThisOneAskedFor) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named("f16.long_k.other-process"));
  const auto is_query = [](const Stage& stage) { return stage.name == "heuristic"; };
  EXPECT_TRUE(is_query(observation.stages.front()));
  EXPECT_EQ(std::count_if(observation.stages.begin(), observation.stages.end(), is_query), 1);
  EXPECT_FALSE(observation.heuristic.empty());
  ASSERT_NE(observation.stage("algo_check"), nullptr);
  EXPECT_EQ(outcome_of(observation), Outcome::correct);
}

TEST_F(HeuristicValidityTest, AResultThatNobodyFilledHasAnIdAllTheSame) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named("f16.square.unused-results"));
  EXPECT_NE(observation.facts.at("unused_ids"), "");
  EXPECT_EQ(observation.facts.at("returned"), std::to_string(observation.heuristic.size()));
}

class HeuristicFaults : public testing::TestWithParam<Planted> {};

TEST_P(HeuristicFaults, TurnTheCaseRed) { expect_red(*make_heuristic_validity(), GetParam()); }

constexpr auto kRed = Status::fail;

INSTANTIATE_TEST_SUITE_P(
    Planted, HeuristicFaults,
    testing::Values(
        Planted{"result-state-not-success", "f32.square.nn", kRed, "state-not-success", kPlain},
        Planted{"workspace-above-limit", "bf16.square.nn", kRed, "workspace-above-limit", kPlain},
        Planted{"one-bad-algorithm", kPlain, kRed, "algorithm-wrong-result", "bf16.square.nn"},
        Planted{"split-k-tail-lost", "f64.long_k.nn", kRed, "algorithm-wrong-result", "f64.square.nn"},
        Planted{"split-k-tail-lost", kWithheld, kRed, "misuse-unsafe", kPlain},
        Planted{"algorithm-bound-to-stream", "f16.square.other-streams", kRed, "reuse-failed", "f16.square.restored"},
        Planted{"restored-algorithm-refused", "f16.long_k.other-process", kRed, "reuse-failed", "f16.long_k.restored"},
        Planted{"heuristic-success-without-result", "e4m3.square.tn", kRed, "no-result", "i8.square.tn"},
        Planted{"valid-call-refused", "i8.square.tn", kRed, "query-refused", "e4m3.square.tn"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
