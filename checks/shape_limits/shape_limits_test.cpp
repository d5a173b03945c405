// Tests of check "shape-limits": its cases, the judgement on hand-made observations, and the whole over the simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "lt_audit/check.h"
#include "shape_cases.h"
#include "workload/problem_text.h"

namespace lt_audit {

std::unique_ptr<Check> make_shape_limits();

namespace {

using namespace shape_limits;

class ShapeLimitsTest : public testing::Test {
 protected:
  ShapeLimitsTest() {
    target_.device_facts.compute_major = 9;
    target_.cublaslt.major = 13;
    target_.cublaslt.minor = 1;
    for (auto& c : cases(Depth::full)) by_id_.emplace(c.id, c);
  }

  std::vector<Case> cases(Depth depth, PlatformKind kind = PlatformKind::gpu) {
    target_.kind = kind;
    return check_->cases(target_, depth);
  }
  const Case& named(const std::string& id) const { return by_id_.at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_explained(*check_, the_case, verdict);
    if (verdict.reason.find(the_case.parameters.at(kSubject)) == 0) {
      EXPECT_TRUE(has_row(page_of("shape-limits"), the_case.parameters.at(kSubject))) << verdict.reason;
      const auto defect = verdict.reason.substr(the_case.parameters.at(kSubject).size() + 1);
      EXPECT_TRUE(has_row(page_of("shape-limits"), defect)) << verdict.reason;
    }
    return verdict;
  }
  Verdict judge(const std::string& id, const Observation& observation) const { return judge(named(id), observation); }
  std::vector<Case> about(const char* text) const { return check_->cases_about(target_, problem_from_text(text)); }

  std::unique_ptr<Check> check_ = make_shape_limits();
  Target target_;
  std::map<std::string, Case> by_id_;
};

constexpr const char* kPlain = "f16.nn.m1";

/// So many compared, all expected to be 0.
Verification zeros(std::uint64_t compared) {
  Verification seen;
  seen.method = "elements";
  seen.compared = compared;
  return seen;
}

TEST_F(ShapeLimitsTest, CaseIdsAreUniqueAndPlainAndDepthsNest) {
  for (const auto kind : {PlatformKind::gpu, PlatformKind::simulator}) {
    std::map<std::string, Case> full;
    for (const auto& c : cases(Depth::full, kind)) {
      EXPECT_TRUE(full.emplace(c.id, c).second) << c.id << " twice";
      EXPECT_EQ(c.id.find_first_of(" :,"), std::string::npos) << c.id;
      EXPECT_FALSE(c.rule.empty()) << c.id;
      EXPECT_EQ(c.parameters.count(kSubject), 1U) << c.id;
      EXPECT_EQ(c.parameters.count(kSteps) > 0, c.scenario) << c.id;
      EXPECT_FALSE(c.isolated) << c.id;
    }
    std::set<std::string> normal;
    for (const auto& c : cases(Depth::normal, kind)) {
      normal.insert(c.id);
      EXPECT_EQ(full.at(c.id).problem, c.problem) << c.id;
    }
    for (const auto& c : cases(Depth::quick, kind)) EXPECT_EQ(normal.count(c.id), 1U) << c.id;
    EXPECT_LE(cases(Depth::quick, kind).size(), 250U);
    EXPECT_GE(normal.size(), 400U);
    EXPECT_GT(full.size(), normal.size());
  }
}

TEST_F(ShapeLimitsTest, TheSimulatorIsNotAskedForGigabytes) {
  for (const auto& c : cases(Depth::full, PlatformKind::simulator)) {
    for (const auto& operand : kOperands) EXPECT_LE(operand.shape(c.problem).span(), 1 << 21) << c.id;
  }
  for (const auto& c : cases(Depth::quick)) {
    for (const auto& operand : kOperands) EXPECT_LE(operand.shape(c.problem).span(), 1 << 21) << c.id;
  }
}

TEST_F(ShapeLimitsTest, SpansLieOneElementOnEachSideOfTheLimit) {
  constexpr std::int64_t k2p31 = std::int64_t{1} << 31;
  const auto span = [this](const std::string& id, const Operand& operand) {
    return operand.shape(named(id).problem).span();
  };
  for (const auto& operand : kOperands) {
    const std::string start = "f16.span_" + std::string(operand.name);
    EXPECT_EQ(span(start + ".2p31_elements.below", operand), k2p31 - 1);
    EXPECT_EQ(span(start + ".2p31_elements.at", operand), k2p31);
    EXPECT_EQ(span(start + ".2p31_elements.above", operand), k2p31 + 1);
    EXPECT_EQ(span(start + ".2p31_bytes.at", operand), k2p31 / 2);
    EXPECT_EQ(span("f64.span_" + std::string(operand.name) + ".2p32_bytes.above", operand), k2p31 / 4 + 1);
  }
  EXPECT_EQ(span("e4m3.span_b.2p31_elements.below", kOperands[1]), k2p31 - 16);
  EXPECT_LT(span("e4m3.span_a.2p31_elements.below", kOperands[0]), k2p31);
  EXPECT_GT(span("e4m3.span_a.2p31_elements.above", kOperands[0]), k2p31);
  EXPECT_EQ(by_id_.count("f16.span_a.2p32_bytes.at"), 0U) << "that is 2p31_elements";
  // rapidsai/raft#3097.
  EXPECT_EQ(span("f32.tt.m134217728.n1.lda16", kOperands[0]), k2p31 - 14);
  EXPECT_EQ(named("e4m3.tn.ldd.above_2p31_bytes.lines2").problem.ldd, k2p31 / 2 + 16);
  EXPECT_EQ(named("e4m3.tn.ldd.below_2p31_bytes.lines2").problem.ldd, k2p31 / 2 - 16);
}

TEST_F(ShapeLimitsTest, ExpectationsFollowTheDocumentation) {
  EXPECT_EQ(named(kPlain).expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.nn.k0.beta1").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.nn.n0.beta0").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.nn.n1.ldb_1").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.nn.lda_1").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.nn.ldd_negative").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.nn.ldc_zero").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.span_d.2p31_elements.above").expectation, Expectation::must_work);
  EXPECT_EQ(named("e4m3.span_a.2p31_elements.above").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.tn.ldb.above_2p31_elements.lines2").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("i8.tn.ldd.above_2p31_bytes.lines4").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.nn.m2147483647.n1.k1").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.nn.m2147483648.n1.k1").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("e4m3.tn.m16777232").expectation, Expectation::must_work);
}

TEST_F(ShapeLimitsTest, PassesWhatWorksAndWhatIsRefusedWithoutAPromise) {
  EXPECT_EQ(judge(kPlain, hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("f16.nn.n0.beta0", hand_made::refused("INVALID_VALUE")).outcome, Outcome::refused);
  EXPECT_EQ(judge("f16.nn.lda_1", hand_made::refused("INVALID_VALUE")).status, Status::pass);
}

TEST_F(ShapeLimitsTest, ZerosInPlaceOfPoisonAreAProof) {
  EXPECT_EQ(judge("f16.nn.k0.beta0", hand_made::verified(zeros(7680))).outcome, Outcome::correct);
  EXPECT_EQ(judge("f16.nn.n0.beta0", hand_made::verified(zeros(0))).outcome, Outcome::correct);
  EXPECT_EQ(judge(kPlain, hand_made::verified(zeros(80))).reason, "vector-unproven");
  auto seen = zeros(7680);
  seen.wrong = seen.unwritten = 7680;
  EXPECT_EQ(judge("f16.nn.k0.beta0", hand_made::verified(seen)).reason, "k-zero-unwritten");
  seen = zeros(0);
  seen.bytes_behind_d = 2;
  const auto verdict = judge("f16.nn.n0.beta0", hand_made::verified(seen));
  EXPECT_EQ(verdict.reason, "empty-out-of-bounds");
  EXPECT_EQ(verdict.status, Status::fail);
}

TEST_F(ShapeLimitsTest, FailsWhenADocumentedProductIsRefused) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late("EXECUTION_FAILED")}) {
    const auto verdict = judge("f32.tt.m134217728.n1.lda16", observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "long-vector-refused-though-documented");
    EXPECT_NE(verdict.sentence.find("134217728x1x2, tt, lda 16"), std::string::npos) << verdict.sentence;
  }
}

TEST_F(ShapeLimitsTest, WarnsOfRefusalsThatComeLateAndOfBrokenRules) {
  const auto late =
      judge("f16.nn.n0.beta0", hand_made::beside_cublas(hand_made::refused_late("EXECUTION_FAILED"), "SUCCESS"));
  EXPECT_EQ(late.reason, "empty-refused-late");
  EXPECT_EQ(late.status, Status::warn);
  EXPECT_NE(late.sentence.find("cublasGemmEx returns SUCCESS"), std::string::npos) << late.sentence;
  const auto longest = judge("f16.nn.m2147483647.n1.k1", hand_made::refused_late("INTERNAL_ERROR"));
  EXPECT_EQ(longest.reason, "long-vector-refused-late");
  EXPECT_EQ(longest.status, Status::warn);
  auto seen = *hand_made::worked().verification;
  EXPECT_EQ(judge("f16.nn.lda_1", hand_made::worked()).reason, "ld-below-rows-accepted-against-rule");
  seen.wrong = 12;
  EXPECT_EQ(judge("f16.nn.lda_1", hand_made::verified(seen)).reason, "ld-below-rows-accepted-against-rule");
  seen.bytes_behind_d = 12;
  EXPECT_EQ(judge("f16.nn.ldd_1", hand_made::verified(seen)).reason, "ld-below-rows-out-of-bounds");
}

TEST_F(ShapeLimitsTest, FailsWhatIsAcceptedAndWrong) {
  auto seen = *hand_made::worked().verification;
  seen.wrong = 12;
  auto observation = hand_made::verified(seen);
  observation.facts[kAlgorithm] = "algorithm 66, tile 20, stages 36, split-K 1 (result 2 of 8)";
  const auto verdict = judge("f16.tn.ldb.above_2p31_bytes.lines4", observation);
  EXPECT_EQ(verdict.reason, "ld-above-int32-wrong-result");
  EXPECT_NE(verdict.sentence.find("algorithm 66"), std::string::npos) << verdict.sentence;
  EXPECT_EQ(judge("f16.nn.ldc_zero", observation).reason, "c-broadcast-wrong-result");
  seen = *hand_made::worked().verification;
  seen.a_bytes_changed = 1;
  EXPECT_EQ(judge("f16.nn.k16384", hand_made::verified(seen)).reason, "long-k-input-changed");
  observation = hand_made::worked();
  observation.facts[kSlowCallFact] = "612";
  EXPECT_EQ(judge("f16.nn.n65600", observation).reason, "many-tiles-slower");
}

TEST_F(ShapeLimitsTest, WarnsWhenCublasAloneGivesBetaC) {
  auto observation = hand_made::beside_cublas(hand_made::refused(), "SUCCESS");
  EXPECT_EQ(judge("i8.tn.k0.beta1", observation).reason, "k-zero-cublas-only");
  observation.cublas->verification = zeros(7680);
  EXPECT_EQ(judge("i8.tn.k0.beta0", observation).reason, "k-zero-cublas-only");
  EXPECT_EQ(judge("f16.nn.n0.beta0", observation).status, Status::pass) << "an empty product shows nothing";
  observation.cublas->status = "INVALID_VALUE";
  EXPECT_EQ(judge("i8.tn.k0.beta0", observation).status, Status::pass);
}

TEST_F(ShapeLimitsTest, SaysWhenCublasIsWrong) {
  auto observation = hand_made::beside_cublas(hand_made::worked(), "SUCCESS");
  EXPECT_EQ(judge("f16.nn.ldb_ldd_52301824", observation).status, Status::pass);
  observation.cublas->verification->bytes_behind_d = 4;
  EXPECT_EQ(judge("f16.nn.ldb_ldd_52301824", observation).reason, "span-cublas-wrong");
}

TEST_F(ShapeLimitsTest, EverySubjectIsOnThePageAndHasARemedy) {
  std::set<std::string> remedies, subjects;
  for (const auto& [id, c] : by_id_) {
    if (!subjects.insert(c.parameters.at(kSubject)).second) continue;
    const auto verdict = judge(c, hand_made::refused_late());
    if (verdict.status != Status::pass) remedies.insert(check_->advice(c, verdict).remedy);
  }
  EXPECT_EQ(subjects.size(), 14U);
  EXPECT_GE(remedies.size(), 13U);
}

TEST_F(ShapeLimitsTest, ReportsHowTheProcessEnded) {
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress")).reason,
            "context-lost");
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::crashed, "SIGFPE")).reason, "crashed");
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::timed_out, "30 s")).reason, "timed-out");
  Observation observation;
  observation.not_run = "needs 90.0 GiB of GPU memory, 3.1 GiB are free";
  EXPECT_EQ(judge(kPlain, observation).status, Status::skip);
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge(kPlain, observation).status, Status::error);
}

TEST_F(ShapeLimitsTest, SpeaksAboutProductsAtALimitAlone) {
  EXPECT_TRUE(about("m=4096,n=512,k=4096,a=bf16").empty());
  const auto subject_of = [this](const char* text) {
    const auto said = about(text);
    return said.size() == 1 ? said.front().parameters.at(kSubject) : "none";
  };
  EXPECT_EQ(subject_of("m=4096,n=0,k=4096,a=bf16,ldb=4096"), "empty");
  EXPECT_EQ(subject_of("m=4096,n=512,k=0,a=bf16,ldb=1"), "k-zero");
  EXPECT_EQ(subject_of("m=4096,n=1,k=4096,a=bf16"), "vector");
  EXPECT_EQ(subject_of("m=4096,n=70000,k=64,a=bf16"), "many-tiles");
  EXPECT_EQ(subject_of("m=4096,n=512,k=64,a=bf16,ldd=4194304"), "span");
  EXPECT_EQ(subject_of("m=256,n=4,k=256,ta=t,a=e4m3,d=bf16,ldb=2147483664"), "ld-above-int32");
  const auto said = about("m=4096,n=1,k=4096,a=bf16,algo=2");
  EXPECT_EQ(said.front().parameters.at(kSteps), kEveryResult);
  EXPECT_EQ(said.front().problem.algo_index, 0);
}

TEST(ShapeLimitsSimulated, AFaultlessLibraryPassesQuickly) {
  const auto check = make_shape_limits();
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check, Depth::normal)) {
    if (c.problem.type_a != CUDA_R_16F && c.problem.type_a != CUDA_R_8F_E4M3) continue;
    const auto observation = worker.observe(*check, c);
    const auto verdict = check->judge(c, observation);
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
    EXPECT_NE(verdict.outcome, Outcome::not_run) << id;
    EXPECT_TRUE(c.expectation != Expectation::must_work || verdict.outcome == Outcome::correct) << id;
  }
}

class ShapeLimitsPlanted : public testing::TestWithParam<Planted> {};

TEST_P(ShapeLimitsPlanted, TurnsTheCaseRed) { expect_red(*make_shape_limits(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Faults, ShapeLimitsPlanted,
    testing::Values(
        Planted{"bias-ignored", "f16.nn.m1.bias", Status::fail, "vector-wrong-result", "f16.nn.m1"},
        Planted{"columns-beyond-65535-lost", "f16.nn.n65600", Status::fail, "many-tiles-unwritten", "f16.nn.m65600"},
        Planted{"empty-product-writes", "f16.nn.m0.beta0", Status::fail, "empty-out-of-bounds", "f16.nn.k0.beta0"},
        Planted{"far-leading-dimension-halved", "f16.nn.lda_2p12", Status::fail, "far-ld-wrong-result",
                "f16.nn.ldd_2p12"},
        Planted{"ld-below-rows-accepted", "f16.nn.lda_below", Status::warn, "ld-below-rows-accepted-against-rule",
                "f16.nn.ldb_below"},
        Planted{"padding-overwritten", "f32.nn.ldd_2p12", Status::fail, "far-ld-out-of-bounds", "f32.nn.lda_2p12"},
        Planted{"vector-with-bias-wrong", "f16.nn.n1.bias", Status::fail, "vector-wrong-result", "f16.nn.k1.bias"},
        Planted{"zero-k-skipped", "f16.nn.k0.beta1", Status::fail, "k-zero-unwritten", "f16.nn.k1"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
