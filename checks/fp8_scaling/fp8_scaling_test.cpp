// Tests of check "fp8-scaling": its cases, the judgement on hand-made observations, and the whole over the simulator.
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
#include "fp8_cases.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"
#include "workload/problem_text.h"

namespace lt_audit {

std::unique_ptr<Check> make_fp8_scaling();

namespace {

using namespace fp8_scaling;

class Fp8ScalingTest : public testing::Test {
 protected:
  Fp8ScalingTest() {
    target_.kind = PlatformKind::simulator;
    target_.device_facts.compute_major = 9;
    target_.cublaslt.major = 13;
    target_.cublaslt.minor = 1;
    for (auto& c : cases(Depth::normal)) by_id_.emplace(c.id, c);
  }

  std::vector<Case> cases(Depth depth) const { return check_->cases(target_, depth); }
  const Case& named(const std::string& id) const { return by_id_.at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_explained(*check_, the_case, verdict);
    return verdict;
  }
  Verdict judge(const std::string& id, const Observation& observation) const { return judge(named(id), observation); }

  std::unique_ptr<Check> check_ = make_fp8_scaling();
  Target target_;
  std::map<std::string, Case> by_id_;
};

constexpr const char* kPlain = "e4m3xe4m3.bf16.bf16.ab.base";
constexpr const char* kNarrow = "e4m3xe4m3.bf16.e4m3.abcd_amax.base";

Observation with_defect(const char* defect) {
  auto observation = hand_made::worked();
  observation.verification.reset();
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = "what was seen";
  return observation;
}

TEST_F(Fp8ScalingTest, CaseIdsAreUniqueAndPlainAndDepthsNest) {
  std::set<std::string> ids;
  for (const auto& c : cases(Depth::full)) {
    EXPECT_TRUE(ids.insert(c.id).second) << c.id << " twice";
    EXPECT_EQ(c.id.find_first_of(" :,"), std::string::npos) << c.id;
  }
  for (const auto& [id, c] : by_id_) EXPECT_EQ(ids.count(id), 1U) << id;
  for (const auto& c : cases(Depth::quick)) EXPECT_EQ(named(c.id).problem, c.problem) << c.id;
  EXPECT_LE(cases(Depth::quick).size(), 250U);
  EXPECT_LE(by_id_.size(), 1000U);
  EXPECT_GT(ids.size(), by_id_.size());
  const auto quick = cases(Depth::quick);
  EXPECT_LE(std::count_if(quick.begin(), quick.end(), [](const Case& c) { return c.isolated; }), 1);
}

TEST_F(Fp8ScalingTest, EveryRowOfTheTableIsPromisedAndMeetsItsScales) {
  int rows = 0;
  for (const auto& [id, c] : by_id_) {
    if (id.find(".ab.base") == std::string::npos) continue;
    ++rows;
    EXPECT_EQ(c.expectation, Expectation::must_work) << id;
  }
  EXPECT_EQ(rows, 19);
  const auto& narrow = named(kNarrow).problem;
  EXPECT_TRUE(narrow.scale_a && narrow.scale_b && narrow.scale_c && narrow.scale_d && narrow.amax_d);
  EXPECT_NE(narrow.beta, 0) << "C is read";
}

TEST_F(Fp8ScalingTest, TakesItsExpectationsFromTheDocumentation) {
  const auto expectation = [this](const char* id) { return named(id).expectation; };
  EXPECT_EQ(expectation("e4m3xe4m3.bf16.bf16.vec_blk.plain.base"), Expectation::must_work);
  EXPECT_EQ(expectation("e4m3xe4m3.bf16.bf16.blk_blk"), Expectation::may_refuse);
  EXPECT_EQ(expectation("vec_vec.narrow_d"), Expectation::must_refuse);
  EXPECT_EQ(expectation("vec_vec.n_plus_1"), Expectation::must_refuse);
  EXPECT_EQ(expectation("vec_blk.n_plus_1"), Expectation::must_work) << "the table of B has no rows of n";
  EXPECT_EQ(expectation("e4m3xe4m3.bf16.bf16.vec_vec.fast.base"), Expectation::may_refuse);
  EXPECT_EQ(expectation("outer_outer.n_plus_1"), Expectation::must_work);
  EXPECT_EQ(expectation("e4m3xe4m3.bf16.bf16.d.base"), Expectation::must_refuse);
  EXPECT_EQ(expectation("e4m3xe4m3.bf16.bf16.amax.base"), Expectation::must_refuse);
  EXPECT_EQ(expectation("e5m2xe5m2.bf16.bf16.unlisted.ab"), Expectation::must_refuse);
  EXPECT_EQ(expectation("f16.scale_a"), Expectation::must_refuse);
  EXPECT_EQ(expectation("pointer.a.off4"), Expectation::may_refuse);
  EXPECT_EQ(expectation("pointer.a.off16"), Expectation::must_work);
  EXPECT_EQ(expectation("pointer.d.off4"), Expectation::may_refuse);
  EXPECT_EQ(expectation("pointer.vec_vec_a.off4"), Expectation::must_refuse);
}

TEST_F(Fp8ScalingTest, ALaterLibraryTakesAScaleAtAnyAddress) {
  target_.cublaslt.minor = 2;
  target_.cublaslt.patch = 1;
  for (const auto& c : cases(Depth::quick)) {
    if (c.id == "pointer.a.off4" || c.id == "pointer.d.off4") {
      EXPECT_EQ(judge(c, hand_made::refused_late()).reason, "scalar-pointer-refused-though-documented") << c.id;
    }
  }
}

TEST_F(Fp8ScalingTest, PassesWhatWorksAndWhatIsRefusedWithoutAPromise) {
  EXPECT_EQ(judge(kPlain, hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("e4m3xe4m3.bf16.bf16.blk_blk", hand_made::refused()).outcome, Outcome::refused);
  EXPECT_EQ(judge("e4m3xe4m3.bf16.bf16.blk_blk", hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("pointer.a.off4", hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("f16.scale_a", hand_made::refused_late("INVALID_VALUE")).status, Status::pass)
      << "where the header has it refused";
}

TEST_F(Fp8ScalingTest, FailsWhatIsRefusedAgainstThePromise) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late()}) {
    const auto verdict = judge(kPlain, observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "scalar-refused-though-documented");
    EXPECT_NE(verdict.sentence.find("scale_a scalar"), std::string::npos) << verdict.sentence;
  }
}

TEST_F(Fp8ScalingTest, WarnsOfLateRefusalsAndBrokenRules) {
  EXPECT_EQ(judge("pointer.a.off4", hand_made::refused_late()).reason, "scalar-pointer-refused-late");
  EXPECT_EQ(judge("pointer.a.off4", hand_made::refused_late()).status, Status::warn);
  EXPECT_EQ(judge("e5m2xe5m2.bf16.bf16.unlisted", hand_made::worked()).reason, "types-accepted-against-rule");
  EXPECT_EQ(judge("e4m3xe4m3.bf16.bf16.d.base", hand_made::worked()).reason, "wide-output-accepted-against-rule");
}

TEST_F(Fp8ScalingTest, SaysWhatIsWrong) {
  Verification seen = *hand_made::worked().verification;
  seen.amax_expected = 58;
  seen.amax_actual = 29;
  EXPECT_EQ(judge(kNarrow, hand_made::verified(seen)).reason, "scale-c-wrong-amax");
  seen.wrong = 1;
  EXPECT_EQ(judge(kNarrow, hand_made::verified(seen)).reason, "scale-c-wrong-result");
  seen.unwritten = 1;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "scalar-unwritten");
  seen = *hand_made::worked().verification;
  seen.scale_bytes_changed = 4;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "scalar-input-changed");
  seen = *hand_made::worked().verification;
  seen.bytes_behind_d = 4;
  EXPECT_EQ(judge("e4m3xe4m3.bf16.bf16.blk_vec.plain.base", hand_made::verified(seen)).reason,
            "block-128-out-of-bounds");
  seen = *hand_made::worked().verification;
  seen.aux_wrong = 1;
  EXPECT_EQ(judge("aux_scale.wide", hand_made::verified(seen)).reason, "wide-output-wrong-aux");
  seen = {};
  seen.compared = 100;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "scalar-unproven");
  EXPECT_EQ(judge("zero.d", hand_made::verified(seen)).status, Status::pass) << "every element is 0";
  seen.wrong = 1;
  EXPECT_EQ(judge("zero.d", hand_made::verified(seen)).reason, "zero-factor-wrong-result");
}

TEST_F(Fp8ScalingTest, JudgesWhatASequenceFound) {
  const std::map<const char*, Status> defects{{"beside-pointer-changed", Status::fail},
                                              {"layout-undecided", Status::warn},
                                              {"other-layout", Status::fail},
                                              {"precision-lost", Status::warn},
                                              {"value-wrong", Status::fail}};
  for (const auto& [defect, status] : defects) {
    const auto verdict = judge("order.vec_vec", with_defect(defect));
    EXPECT_EQ(verdict.status, status) << defect;
    EXPECT_NE(verdict.sentence.find("what was seen"), std::string::npos) << verdict.sentence;
    EXPECT_TRUE(has_row(page_of("fp8-scaling"), defect)) << defect;
  }
  auto compared_itself = hand_made::worked();
  compared_itself.verification.reset();
  EXPECT_EQ(judge("order.vec_vec", compared_itself).reason, "scale-order-unproven");
  compared_itself.facts[kScaleOrder] = "(a*b)*sum";
  EXPECT_EQ(judge("order.vec_vec", compared_itself).status, Status::pass);
  EXPECT_EQ(judge("accumulation.k4096", compared_itself).reason, "accumulation-unproven");
  compared_itself.facts[kLostPrecise] = "127";
  EXPECT_EQ(judge("accumulation.k4096", compared_itself).status, Status::pass);
}

TEST_F(Fp8ScalingTest, ReportsHowTheProcessEnded) {
  const auto& zero = named("zero.c.bf16");
  EXPECT_TRUE(zero.isolated);
  const auto hung = judge(zero, hand_made::ended(ProcessEnd::timed_out, "500 ms"));
  EXPECT_EQ(hung.reason, "timed-out");
  EXPECT_NE(check_->advice(zero, hung).remedy.find("CUB-9627"), std::string::npos);
  const auto full = cases(Depth::full);
  const auto pageable = std::find_if(full.begin(), full.end(), [](const Case& c) { return c.id == "host.pageable.a"; });
  ASSERT_NE(pageable, full.end());
  EXPECT_EQ(judge(*pageable, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress")).reason,
            "context-lost");
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::crashed, "SIGSEGV")).reason, "crashed");
  Observation observation;
  observation.not_run = "vec32_ue8m0 is for compute capability 10.0 and later, this GPU has 9.0";
  EXPECT_EQ(judge("mode.mxfp8", observation).status, Status::skip);
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge(kPlain, observation).status, Status::error);
  observation = hand_made::worked();
  observation.facts[kSlowCallFact] = "1000";
  EXPECT_EQ(judge(kPlain, observation).reason, "scalar-slower");
}

TEST_F(Fp8ScalingTest, ThePageHasARowForEveryPartOfAReason) {
  std::set<std::string> subjects;
  for (const auto& c : cases(Depth::full)) subjects.insert(c.parameters.at(kSubject));
  const auto page = page_of("fp8-scaling");
  for (const auto& subject : subjects) EXPECT_TRUE(has_row(page, subject)) << subject;
  for (const auto* defect : {"accepted-against-rule", "audit-error", "context-lost", "crashed", "input-changed",
                             "not-run", "out-of-bounds", "refused-late", "refused-though-documented", "slower",
                             "timed-out", "unproven", "unwritten", "wrong-amax", "wrong-aux", "wrong-result"}) {
    EXPECT_TRUE(has_row(page, defect)) << defect;
  }
}

TEST_F(Fp8ScalingTest, SpeaksAboutTheProductsOfAnApplication) {
  const auto ids = [this](const char* text) {
    std::vector<std::string> found;
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) found.push_back(c.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids("m=64,n=32,k=64,ta=t,a=e4m3,d=bf16,scale_a=scalar,scale_b=scalar"), Ids{"pointer.off4"});
  EXPECT_EQ(ids("m=64,n=32,k=64,ta=t,a=e4m3,d=bf16,beta=1"), (Ids{"pointer.off4", "zero.c"}));
  EXPECT_EQ(ids("m=64,n=32,k=640,ta=t,a=e4m3,d=bf16,scale_a=blk128x128,scale_b=vec128"), (Ids{"layout.a", "layout.b"}));
  EXPECT_EQ(ids("m=64,n=32,k=640,ta=t,a=e4m3,d=bf16,scale_a=outer_vec,scale_b=outer_vec"), Ids{});
  EXPECT_EQ(ids("m=64,n=32,k=64,a=e4m3,d=bf16,scale_a=scalar"), Ids{}) << "NN is refused";
  EXPECT_EQ(ids("m=64,n=32,k=64,a=f16"), Ids{});
}

TEST_F(Fp8ScalingTest, ProductsOfAnApplicationRunInTheirOwnLayout) {
  simulated::Worker worker;
  for (const auto* text : {"m=32,n=17,k=64,ta=t,a=e4m3,b=e5m2,d=e5m2,c=f16,beta=1,lda=80,ldd=48,scale_a=scalar",
                           "m=136,n=12,k=400,ta=t,a=e4m3,d=f32,scale_a=blk128x128,scale_b=vec128,beta=2"}) {
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) {
      const auto observation = worker.observe(*check_, c);
      EXPECT_EQ(judge(c, observation).status, Status::pass) << c.id << ": " << describe(observation);
    }
  }
}

/// Everything of a quick run passes on a faultless library; the modes of later GPUs are skipped.
TEST(Fp8ScalingOverTheSimulator, PassesWithoutAFault) {
  const auto check = make_fp8_scaling();
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check, Depth::quick)) {
    const auto observation = worker.observe(*check, c);
    const auto verdict = check->judge(c, observation);
    const bool later = id.starts_with("mode.");
    EXPECT_EQ(verdict.status, later ? Status::skip : Status::pass)
        << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

/// The sequences that a quick run leaves out.
TEST(Fp8ScalingOverTheSimulator, RunsEverySequence) {
  const auto check = make_fp8_scaling();
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check, Depth::full)) {
    if (c.parameters.count(kSteps) == 0 || id.starts_with("mode.") || id.starts_with("layout.")) continue;
    const auto verdict = check->judge(c, worker.observe(*check, c));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

TEST(Fp8ScalingOverTheSimulator, TellsOrderLayoutAndLostTerms) {
  const auto check = make_fp8_scaling();
  const auto cases = simulated::cases_by_id(*check, Depth::quick);
  simulated::Worker worker;
  EXPECT_EQ(worker.observe(*check, cases.at("layout.blk_vec.a")).fact(kLayoutsRight), "documented");
  EXPECT_NE(worker.observe(*check, cases.at("order.vec_vec")).fact(kScaleOrder).find("rounded-once"),
            std::string::npos);
  const auto sums = worker.observe(*check, cases.at("accumulation.k4096"));
  EXPECT_EQ(sums.fact(kLostPrecise), "0");
  EXPECT_EQ(sums.fact(kLostFast), "0");
}

/// A kernel that never ends: the stream's second event does not come.
TEST(Fp8ScalingOverTheSimulator, GivesUpOnAProductThatHangs) {
  const auto check = make_fp8_scaling();
  Platform platform = make_simulator_platform({});
  platform.cuda.event_elapsed_time = [](float*, cudaEvent_t, cudaEvent_t) { return cudaErrorNotReady; };
  MatmulEngine engine(platform, EngineOptions{});
  const Target target = describe_target(platform, 0);
  Session session(platform, target, engine);
  const auto observation = check->observe(session, simulated::cases_by_id(*check, Depth::normal).at("zero.c.bf16"));
  EXPECT_EQ(observation.end, ProcessEnd::timed_out);
  EXPECT_EQ(observation.end_detail, "500 ms");
}

class Fp8ScalingFaults : public testing::TestWithParam<Planted> {};

TEST_P(Fp8ScalingFaults, TurnTheCaseRed) { expect_red(*make_fp8_scaling(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Planted, Fp8ScalingFaults,
    testing::Values(
        Planted{"amax-ignored", kNarrow, Status::fail, "scale-c-wrong-amax", kPlain},
        Planted{"beta-ignored", "e4m3xe4m3.bf16.bf16.c.base", Status::fail, "scale-c-wrong-result", kPlain},
        Planted{"bias-ignored", "e4m3xe4m3.bf16.bf16.ab_bias.base", Status::fail, "epilogue-wrong-result", kPlain},
        Planted{"block-scale-padding-ignored", "layout.vec_blk.b", Status::fail, "table-layout-other-layout",
                "e4m3xe4m3.bf16.bf16.vec_vec.plain.base"},
        Planted{"first-scale-for-all-blocks", "e4m3xe4m3.bf16.bf16.blk_vec.plain.base", Status::fail,
                "block-128-wrong-result", "e4m3xe4m3.bf16.bf16.outer_outer.plain.base"},
        Planted{"scalar-scale-refused-below-16", "pointer.b.off4", Status::warn, "scalar-pointer-refused-late",
                "pointer.b.off16"},
        Planted{"scalar-scale-refused-below-16", "pointer.c.off4", Status::warn, "scalar-pointer-refused-late",
                "pointer.vec_vec_a.off4"},
        Planted{"scale-d-ignored", "e4m3xe4m3.bf16.e4m3.d.base", Status::fail, "scale-d-wrong-result", kPlain},
        Planted{"vector-scales-read-along-k", "layout.vec_vec.ab", Status::fail, "table-layout-other-layout",
                "e4m3xe4m3.bf16.bf16.outer_outer.plain.base"},
        Planted{"wide-d-scale-ignored", "e4m3xe4m3.bf16.bf16.d.base", Status::fail, "wide-output-wrong-result", kPlain},
        Planted{"wrong-status", "pointer.vec_vec_a.off4", Status::fail, "table-pointer-unwritten", kPlain}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
