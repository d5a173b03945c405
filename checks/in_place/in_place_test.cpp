// Tests of check "in-place": its cases, the judgement on hand-made observations, and the steps over the simulator, with
// and without faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "in_place_scenarios.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {

std::unique_ptr<Check> make_in_place();

namespace {

using namespace in_place;

const Scenario& scenario_of(const Case& the_case) { return scenario_named(the_case.parameters.at("scenario")); }

class InPlaceTest : public testing::Test {
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
  /// The outcomes that every scenario shares.
  void expect_common_defects(const Case& the_case) const {
    Verification seen = *hand_made::worked().verification;
    const auto with = [&](auto change) {
      auto changed = seen;
      change(changed);
      return hand_made::verified(changed);
    };
    const bool free = scenario_of(the_case).group == "overlap";
    const Status wrong = free ? Status::warn : Status::fail;
    expect(the_case, with([](auto& v) { v.wrong = 1; }), wrong, free ? "accepted" : "wrong-result");
    expect(the_case, with([](auto& v) { v.wrong = v.unwritten = 1; }), wrong, free ? "accepted" : "unwritten");
    expect(the_case, with([](auto& v) { v.expected_nonzero = 0; }), Status::warn, free ? "accepted" : "unproven");
    expect(the_case, with([](auto& v) { v.bytes_behind_d = 1; }), Status::fail, "out-of-bounds");
    expect(the_case, with([](auto& v) { v.a_bytes_changed = 1; }), Status::fail, "input-changed");
    expect(the_case, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
    expect(the_case, hand_made::ended(ProcessEnd::timed_out, "20 s"), Status::fail, "timed-out");
    expect(the_case, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress"), Status::fail,
           "context-lost");
    Observation observation;
    observation.not_run = "no memory";
    expect(the_case, observation, Status::skip, "not-run");
    observation = {};
    observation.audit_error = "broken";
    expect(the_case, observation, Status::error, "audit-error");
  }

  std::unique_ptr<Check> check_ = make_in_place();
  const std::map<std::string, Case> cases_ = simulated::cases_by_id(*check_, Depth::full);
};

Observation with_defect(const std::string& defect) {
  auto observation = hand_made::worked();
  observation.facts = {{kDefect, defect}, {kDefectDetail, "what was measured"}, {kDetail, "algo 66"}};
  return observation;
}

TEST_F(InPlaceTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto normal = simulated::cases_by_id(*check_, Depth::normal);
  EXPECT_GE(quick.size(), 40U);
  EXPECT_LE(quick.size(), 150U);
  for (const auto& [shallow, deep] : {std::pair{&quick, &normal}, std::pair{&normal, &cases_}}) {
    EXPECT_LT(shallow->size(), deep->size());
    for (const auto& [id, the_case] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, the_case.problem) << id;
    }
  }
  const auto all = check_->cases(describe_target(make_simulator_platform({}), 0), Depth::full);
  EXPECT_EQ(all.size(), cases_.size()) << "ids are unique";
  for (const auto& the_case : all) EXPECT_EQ(the_case.id.find_first_of(" :,"), std::string::npos) << the_case.id;
  const auto isolated =
      std::count_if(quick.begin(), quick.end(), [](const auto& named) { return named.second.isolated; });
  EXPECT_EQ(isolated, 1);
}

TEST_F(InPlaceTest, EveryScenarioHasCases) {
  std::set<std::string> used;
  for (const auto& [id, the_case] : cases_) used.insert(the_case.parameters.at("scenario"));
  for (const auto& scenario : scenarios()) EXPECT_EQ(used.count(scenario.id), 1U) << scenario.id;
}

TEST_F(InPlaceTest, ExpectationsFollowTheDocuments) {
  EXPECT_EQ(named("f16.base.beta1.in-place").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.ldc_above.layouts").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("e4m3_e4m3.c_type.layouts").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.base.c-unread").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.base.c-null").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.base.c-null.beta1").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.base.overlap.a.whole").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.base.alpha-zero").expectation, Expectation::may_refuse);
  for (const auto& [id, the_case] : cases_) EXPECT_FALSE(the_case.rule.empty()) << id;
}

TEST_F(InPlaceTest, LayoutsThatDifferMayBeAcceptedByAnOlderLibrary) {
  auto target = describe_target(make_simulator_platform({}), 0);
  target.cublaslt.minor = 0;
  const auto cases = check_->cases(target, Depth::quick);
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [](const Case& the_case) { return the_case.id == "f16.ldc_above.layouts"; });
  ASSERT_NE(found, cases.end());
  EXPECT_EQ(found->expectation, Expectation::may_refuse);
}

TEST_F(InPlaceTest, JudgesByScenario) {
  const auto& in_place = named("f16.base.beta1.in-place");
  expect(in_place, hand_made::worked(), Status::pass, "");
  expect(in_place, hand_made::refused_late("INVALID_VALUE"), Status::fail, "refused");
  const auto& layouts = named("f16.ldc_above.layouts");
  expect(layouts, hand_made::refused_late("INVALID_VALUE"), Status::pass, "");
  expect(layouts, hand_made::worked(), Status::warn, "misuse-accepted");
  const auto& unread = named("f16.base.c-unread");
  expect(unread, hand_made::worked(), Status::pass, "");
  expect(unread, with_defect("c-read"), Status::fail, "c-read");
  const auto& null = named("f16.base.c-null");
  expect(null, hand_made::worked(), Status::pass, "");
  expect(null, hand_made::refused_late("INVALID_VALUE"), Status::pass, "");
  const auto& null_beta = named("f16.base.c-null.beta1");
  expect(null_beta, hand_made::refused_late("INVALID_VALUE"), Status::pass, "");
  const auto& shared = named("f16.gram.a-is-b");
  expect(shared, with_defect("bits-differ"), Status::fail, "bits-differ");
  const auto& zero = named("f16.base.alpha-zero");
  expect(zero, hand_made::worked(), Status::pass, "");
  expect(zero, with_defect("nan-in-d"), Status::warn, "nan-in-d");
}

TEST_F(InPlaceTest, AnOverlapIsTheApplicationsFaultUnlessItIsRefused) {
  const auto& overlap = named("f16.base.overlap.a.whole");
  expect(overlap, hand_made::refused_late("INVALID_VALUE"), Status::pass, "");
  expect(overlap, hand_made::worked(), Status::warn, "accepted");
  expect(overlap, with_defect("refused-and-written"), Status::fail, "refused-and-written");
}

TEST_F(InPlaceTest, EveryReasonHasAdviceAndARowOnThePage) {
  std::set<std::string> groups;
  for (const auto& [id, the_case] : cases_) {
    if (groups.insert(scenario_of(the_case).group).second) expect_common_defects(the_case);
  }
  EXPECT_EQ(groups.size(), 9U);
}

TEST_F(InPlaceTest, SaysOfAProductWhetherItsCMayBeWhereItIs) {
  auto p = uniform_problem(CUDA_R_16F, 48, 40, 32);
  auto cases = about(p);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id, "c-unread");
  p.beta = 1;
  EXPECT_TRUE(about(p).empty());
  p.in_place = true;
  cases = about(p);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id, "algorithms");
  p.ldc = 50;
  cases = about(p);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id, "layouts");
  EXPECT_EQ(cases[0].expectation, Expectation::must_refuse);
  simulated::Worker worker;
  EXPECT_EQ(check_->judge(cases[0], worker.observe(*check_, cases[0])).status, Status::pass);
}

TEST_F(InPlaceTest, PassesOnTheSimulator) {
  simulated::Worker worker;
  for (const auto& [id, the_case] : simulated::cases_by_id(*check_, Depth::quick)) {
    const auto observation = worker.observe(*check_, the_case);
    const auto verdict = check_->judge(the_case, observation);
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << " " << verdict.sentence;
  }
}

TEST_F(InPlaceTest, PassesOnTheSimulatorBeyondQuick) {
  simulated::Worker worker;
  for (const auto* id :
       {"f16.base.beta1.c-layout-zeros.heuristic", "f16.base.beta0.c-layout-null.check", "f16.base.c-null.device",
        "f16.base.c-null.beta1", "f16.same_k.c-is-a", "e4m3.base.c-is-a.unread", "c32.base.c-unread",
        "c64.base.in_place.alpha-zero", "i8_i32.base.in_place.c-unread", "e4m3_e4m3.base.c-unread",
        "e4m3.base.overlap.b.first", "f16.long_k.algorithms.output_type"}) {
    const auto verdict = check_->judge(named(id), worker.observe(*check_, named(id)));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << " " << verdict.sentence;
  }
}

TEST_F(InPlaceTest, ASplitAlgorithmIsAmongThoseThatRun) {
  simulated::Worker worker;
  const auto seen = worker.observe(*check_, named("f16.long_k.algorithms"));
  EXPECT_NE(seen.fact("split_k_algorithms"), "0");
  EXPECT_NE(seen.fact("split_k_algorithms"), "");
}

TEST_F(InPlaceTest, SaysWhatCublasMakesOfAProductThatGivesNanAtAlphaZero) {
  Platform platform = make_simulator_platform({});
  const Target target = describe_target(platform, 0);
  const auto& the_case = named("f16.base.in_place.alpha-zero");
  const auto bytes = bytes_of_span(shape_d(the_case.problem));
  platform.lt.matmul = [real = platform, bytes](auto... arguments) {
    const auto status = real.lt.matmul(arguments...);
    const auto all = std::make_tuple(arguments...);
    // NaN in FP16.
    EXPECT_EQ(real.cuda.memset_async(std::get<10>(all), 0x7F, bytes, std::get<15>(all)), cudaSuccess);
    return status;
  };
  MatmulEngine engine(platform, EngineOptions{});
  Session session(platform, target, engine);
  const auto verdict = judge(the_case, check_->observe(session, the_case));
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "alpha-zero-nan-in-d");
  EXPECT_NE(verdict.sentence.find("cublasGemmEx of the same values gives 0 wrong elements"), std::string::npos)
      << verdict.sentence;
}

class InPlacePlanted : public testing::TestWithParam<Planted> {};

TEST_P(InPlacePlanted, TurnsTheCaseRed) { expect_red(*make_in_place(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, InPlacePlanted,
                         testing::Values(Planted{"c-read-at-beta-zero", "f32.base.c-unread", Status::fail,
                                                 "c-unread-c-read", "f16.base.c-unread"},
                                         Planted{"c-read-at-device-beta-zero", "f16.base.device.c-unread", Status::fail,
                                                 "c-unread-c-read", "f16.base.c-unread"},
                                         Planted{"c-ignored-in-place", "f16.batch.beta1.in-place", Status::fail,
                                                 "in-place-wrong-result", "f16.base.beta1.in-place"},
                                         Planted{"in-place-layouts-accepted", "f16.ldc_above.layouts", Status::warn,
                                                 "layouts-misuse-accepted", "f16.base.beta1.in-place"},
                                         Planted{"in-place-split-k-added-twice", "f16.long_k.algorithms", Status::fail,
                                                 "in-place-wrong-result", "f16.base.beta1.in-place"},
                                         Planted{"gelu-in-place-wrong", "e4m3.base.beta1.gelu.in-place", Status::fail,
                                                 "in-place-wrong-result", "f16.base.beta1.gelu.in-place"},
                                         Planted{"wrong-status", "f16.ldc_above.layouts", Status::fail,
                                                 "layouts-unwritten", "f16.base.c-unread"}),
                         name_of_planted);

}  // namespace
}  // namespace lt_audit
