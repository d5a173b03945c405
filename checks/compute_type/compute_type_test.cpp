// Tests of check "compute-type": the product of types, and the judgement on hand-made observations.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "../hand_made.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {

std::unique_ptr<Check> make_compute_type();

namespace {

Target hopper() {
  Target target;
  target.device_facts.compute_major = 9;
  target.cublaslt.major = 13;
  target.cublaslt.minor = 1;
  return target;
}

std::map<std::string, Case> cases_by_id(const Check& check, const Target& target, Depth depth) {
  std::map<std::string, Case> by_id;
  for (auto& c : check.cases(target, depth)) {
    EXPECT_EQ(by_id.count(c.id), 0U) << c.id << " twice";
    by_id.emplace(c.id, c);
  }
  return by_id;
}

class ComputeTypeTest : public testing::Test {
 protected:
  /// The default depth of an H200, made once: thousands of cases.
  static void SetUpTestSuite() { cases_ = new std::map(cases_by_id(*make_compute_type(), hopper(), Depth::normal)); }
  static void TearDownTestSuite() {
    delete cases_;
    cases_ = nullptr;
  }

  static const Case& named(const std::string& id) { return cases_->at(id); }
  Verdict judge(const std::string& id, const Observation& observation) const {
    const Case& the_case = named(id);
    const Verdict verdict = check_->judge(the_case, observation);
    if (verdict.status == Status::pass) {
      EXPECT_TRUE(verdict.reason.empty() && verdict.sentence.empty());
      return verdict;
    }
    EXPECT_FALSE(verdict.sentence.empty());
    EXPECT_NE(page_of("compute-type").find(verdict.reason), std::string_view::npos) << verdict.reason;
    const Advice advice = check_->advice(the_case, verdict);
    EXPECT_EQ(advice.title.find("did not work as expected"), std::string::npos) << verdict.reason;
    EXPECT_FALSE(advice.title.empty() || advice.expected.empty() || advice.remedy.empty()) << verdict.reason;
    EXPECT_EQ(advice.rule, the_case.rule);
    return verdict;
  }

  std::unique_ptr<Check> check_ = make_compute_type();
  static inline std::map<std::string, Case>* cases_ = nullptr;
};

constexpr const char* kListed = "32f.r32f.f16.f16.f16.nn";
constexpr const char* kNarrow = "32f_fast_tf32.r32f.f32.f32.f16.nn";

Verification right() { return *hand_made::worked().verification; }

/// What a kernel leaves that writes FP32 into a D of 96x80 elements of `d_bytes`.
Verification written_as_fp32(std::uint64_t d_bytes) {
  Verification seen = right();
  seen.wrong = 7680;
  seen.bytes_behind_d = 7680 * (4 - d_bytes) - 100;
  seen.reach_behind_d = 7680 * (4 - d_bytes);
  return seen;
}

TEST_F(ComputeTypeTest, DefaultIsTheWholeProduct) {
  // compute types x scale types x (A, B) x (C, D) x {NN, TN}, of real types and of complex ones; of these the pairs
  // with planes on one side (3 x 3 and 2 x 4) for COMPUTE_32F alone
  EXPECT_EQ(cases_->size(), 13U * 4 * 9 * 8 * 2 + 13U * 2 * 5 * 7 * 2 - 12U * 2 * (3 * 3 + 2 * 4) * 2);
}

TEST_F(ComputeTypeTest, IdsArePlain) {
  for (const auto& [id, c] : *cases_) EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
}

TEST_F(ComputeTypeTest, QuickIsSmallAndHasEveryListedRowAndEveryFastTypeWithANarrowerD) {
  const auto quick = cases_by_id(*check_, hopper(), Depth::quick);
  EXPECT_LE(quick.size(), 250U);
  EXPECT_GE(quick.size(), 100U);
  std::size_t refusable = 0;
  for (const auto& [id, c] : quick) refusable += c.expectation != Expectation::must_work ? 1U : 0U;
  EXPECT_GE(refusable, 50U);
  for (const auto& [id, c] : *cases_) {
    if (c.expectation == Expectation::must_work) {
      EXPECT_EQ(quick.count(id), 1U) << id;
    }
  }
  for (const std::string compute : {"32f_fast_16f", "32f_fast_16bf", "32f_fast_tf32", "32f_emulated_16bfx9"}) {
    for (const std::string d : {"f16", "bf16", "i8", "e4m3-c-bf16"}) {
      EXPECT_EQ(quick.count(compute + ".r32f.f32.f32." + d + ".nn"), 1U) << compute << " " << d;
    }
    EXPECT_EQ(quick.count(compute + ".r32f.bf16.bf16.f32.nn"), 1U) << compute;
  }
}

TEST_F(ComputeTypeTest, DeeperDepthsContainTheShallowerOnesUnchanged) {
  const auto full = cases_by_id(*check_, hopper(), Depth::full);
  EXPECT_GT(full.size(), cases_->size());
  for (const auto& [id, c] : *cases_) {
    ASSERT_EQ(full.count(id), 1U) << id;
    EXPECT_EQ(full.at(id).problem, c.problem) << id;
  }
  for (const auto& [id, c] : cases_by_id(*check_, hopper(), Depth::quick)) EXPECT_EQ(cases_->count(id), 1U) << id;
}

TEST_F(ComputeTypeTest, ListedRowsMustWork) {
  for (const char* id : {"16f.r16f.f16.f16.f16.nn", "32f.r32f.bf16.bf16.f32.tn", "32f_pedantic.r32f.f32.f32.f32.nn",
                         "32f_fast_tf32.r32f.f32.f32.f32.nn", "64f_emulated_fixedpoint.r64f.f64.f64.f64.nn",
                         "32i.r32i.i8.i8.i32.tn", "32i.r32f.i8.i8.i8.tn", "32f.r32f.i8.i8.f32.tn",
                         "32f.r32f.e4m3.e4m3.bf16.tn", "32f.r32f.e4m3.e5m2.e5m2-c-bf16.tn", "32f.c32f.c32.c32.c32.cn",
                         "32f_fast_tf32.c32f.c32.c32.c32.nn", "64f.c64f.c64.c64.c64.nn", "32f.c32f.ci8.ci8.c32.nn",
                         "32f.c32f.c16p.c16p.c32p.cn", "32f.c32f.cbf16p.cbf16p.cbf16p.nn"}) {
    EXPECT_EQ(named(id).expectation, Expectation::must_work) << id;
  }
}

TEST_F(ComputeTypeTest, AnythingElseNeedNotWork) {
  for (const char* id : {kNarrow, "16f.r32f.f16.f16.f16.nn", "32f.r16f.f16.f16.f16.nn", "32f.r32f.e5m2.e5m2.bf16.tn",
                         "32f.r32f.e4m3.e4m3.bf16.nn", "32f_fast_16f.r32f.f16.f16.f16.nn",
                         "32f_emulated_16bfx9.r32f.f32.f32.f32.nn", "64f.r64f.f32.f32.f32.nn", "32i.r32i.i8.i8.i32.nn",
                         "32f.c32f.c32.c32.c16.nn", "32f.c64f.c32.c32.c32.nn", "32f_pedantic.c32f.c16p.c16p.c16p.nn"}) {
    EXPECT_NE(named(id).expectation, Expectation::must_work) << id;
    EXPECT_FALSE(named(id).rule.empty()) << id;
  }
}

TEST_F(ComputeTypeTest, ExpectationsDependOnTheGpu) {
  Target ampere = hopper();
  ampere.device_facts.compute_major = 8;
  const auto cases = cases_by_id(*check_, ampere, Depth::normal);
  EXPECT_NE(cases.at("32f.r32f.e4m3.e4m3.bf16.tn").expectation, Expectation::must_work);
}

TEST_F(ComputeTypeTest, AlphaIsOneWhereTwoIsForbidden) {
  EXPECT_EQ(named("32i.r32i.i8.i8.i32.tn").problem.alpha, 1);
  EXPECT_EQ(named(kListed).problem.alpha, 2);
}

TEST_F(ComputeTypeTest, ComplexCasesAreConjugatedAndPlanesAreNamed) {
  const auto& plain = named("32f.c32f.c32.c32.c32.cn").problem;
  EXPECT_EQ(plain.transa, CUBLAS_OP_C);
  EXPECT_NE(plain.alpha_imaginary, 0);
  EXPECT_EQ(plain.plane_a, 0);
  const auto& planar = named("32f.c32f.c16p.c16p.c32p.nn").problem;
  for (const auto plane : {planar.plane_a, planar.plane_b, planar.plane_c, planar.plane_d}) EXPECT_NE(plane, 0);
  const auto& forgotten = named("32f.c32f.c16p.c16p.c32.nn");
  EXPECT_NE(forgotten.problem.plane_a, 0);
  EXPECT_EQ(forgotten.problem.plane_d, 0);
  EXPECT_NE(forgotten.expectation, Expectation::must_work);
  EXPECT_TRUE(named("32f.c32f.c32.c32.c32.cn").with_cublas);
  EXPECT_FALSE(named("32f.c32f.c16p.c16p.c32p.nn").with_cublas);
}

TEST_F(ComputeTypeTest, CublasRunsBesideWhatItCanExpress) {
  EXPECT_TRUE(named(kNarrow).with_cublas);
  EXPECT_FALSE(named("32f.r32f.e4m3.e4m3.bf16.tn").with_cublas);
  EXPECT_FALSE(named("32f.r16f.f16.f16.f16.nn").with_cublas);
}

TEST_F(ComputeTypeTest, ClaimsAreNamedWithTheirPredictions) {
  const auto claims_of = [&](const std::string& id) {
    const auto& parameters = named(id).parameters;
    return parameters.count("claims") == 0 ? "" : parameters.at("claims");
  };
  EXPECT_EQ(claims_of(kListed), "C26=works");
  EXPECT_EQ(claims_of("32f_fast_16f.r32f.f32.f32.f16.nn"), "C7=fails");
  EXPECT_EQ(claims_of("32f_fast_16f.r32f.f32.f32.f32.nn"), "C7=fails C26=works");
  EXPECT_EQ(claims_of("32f_fast_16bf.r32f.f16.f16.f32.nn"), "C7=fails");
  EXPECT_EQ(claims_of("32f_fast_tf32.r32f.f32.f32.f32.nn"), "C26=works");
}

TEST_F(ComputeTypeTest, ACallThatFailsForAnotherReasonSaysNothingOfMatchingInputs) {
  const auto says_nothing = [&](const std::string& id) { return named(id).parameters.count("claims") == 0; };
  EXPECT_TRUE(says_nothing("32f_fast_16f.r32f.f16.f16.f16.nn")) << "the inputs match";
  EXPECT_TRUE(says_nothing("32f_fast_16f.r64f.f32.f32.f32.nn")) << "the scale type is of another call";
  EXPECT_TRUE(says_nothing("32f_fast_16f.r32f.bf16.bf16.f64.nn")) << "COMPUTE_32F does not list it either";
}

TEST_F(ComputeTypeTest, PassesWhenAListedRowWorksAndAnUnlistedOneIsRefused) {
  EXPECT_EQ(judge(kListed, hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge(kNarrow, hand_made::refused()).status, Status::pass);
  EXPECT_EQ(judge(kNarrow, hand_made::beside_cublas(hand_made::refused(), "NOT_SUPPORTED")).status, Status::pass);
}

TEST_F(ComputeTypeTest, FailsWhenAListedRowIsRefused) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late()}) {
    const auto verdict = judge(kListed, observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "listed-but-refused");
  }
}

TEST_F(ComputeTypeTest, FailsWhenFp32IsWrittenPastANarrowerD) {
  for (const auto& [id, bytes] : {std::pair{kNarrow, 2U}, std::pair{"32f_fast_16f.r32f.f32.f32.i8.nn", 1U}}) {
    const auto observation = hand_made::beside_cublas(hand_made::verified(written_as_fp32(bytes)), "NOT_SUPPORTED");
    const auto verdict = judge(id, observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.outcome, Outcome::out_of_bounds);
    EXPECT_EQ(verdict.reason, "written-as-fp32-out-of-bounds");
    EXPECT_NE(verdict.sentence.find("bytes behind D"), std::string::npos) << verdict.sentence;
    EXPECT_NE(verdict.sentence.find("AlgoCheck accept"), std::string::npos) << verdict.sentence;
    EXPECT_NE(verdict.sentence.find("cublasGemmEx refuses it with NOT_SUPPORTED"), std::string::npos)
        << verdict.sentence;
  }
}

TEST_F(ComputeTypeTest, OtherWritesOutsideDKeepTheirOwnReason) {
  auto seen = written_as_fp32(2);
  seen.reach_behind_d += 4;
  EXPECT_EQ(judge(kNarrow, hand_made::verified(seen)).reason, "unlisted-out-of-bounds");
  EXPECT_EQ(judge("32f_fast_tf32.r32f.f16.f16.bf16.nn", hand_made::verified(written_as_fp32(2))).reason,
            "unlisted-out-of-bounds");
  EXPECT_EQ(judge(kListed, hand_made::verified(written_as_fp32(2))).reason, "listed-out-of-bounds");
}

TEST_F(ComputeTypeTest, FailsOnWrongOrUnwrittenResultsAndChangedInputs) {
  auto seen = right();
  seen.wrong = 7680;
  EXPECT_EQ(judge("32f_fast_16f.r32f.f32.f32.i32.nn", hand_made::verified(seen)).reason, "unlisted-wrong-result");
  EXPECT_EQ(judge(kListed, hand_made::verified(seen)).reason, "listed-wrong-result");
  seen.unwritten = 3840;
  EXPECT_EQ(judge("32f_fast_16f.r32f.f32.f32.f64.nn", hand_made::verified(seen)).reason, "unlisted-unwritten");
  EXPECT_EQ(judge(kListed, hand_made::verified(seen)).reason, "listed-unwritten");
  seen = right();
  seen.b_bytes_changed = 1;
  EXPECT_EQ(judge(kNarrow, hand_made::verified(seen)).reason, "unlisted-input-changed");
  EXPECT_EQ(judge(kListed, hand_made::verified(seen)).status, Status::fail);
}

TEST_F(ComputeTypeTest, WarnsWhenAnUnlistedCombinationWorks) {
  const auto verdict = judge("32f_fast_16f.r32f.f16.f16.f16.nn", hand_made::worked());
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "unlisted-but-works");
}

TEST_F(ComputeTypeTest, WarnsWhenAnUnlistedCombinationIsRefusedLate) {
  const auto verdict = judge(kNarrow, hand_made::refused_late());
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "refused-late");
}

TEST_F(ComputeTypeTest, WarnsWhenCublasRunsWhatCublasLtRefuses) {
  const auto verdict = judge("32i.r32i.i8.i8.i32.nn", hand_made::beside_cublas(hand_made::refused(), "SUCCESS"));
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "cublas-accepts-what-lt-refuses");
}

TEST_F(ComputeTypeTest, FailsWhenTheProcessOrContextEnds) {
  for (const auto& [end, reason] :
       {std::pair{ProcessEnd::crashed, "crashed"}, std::pair{ProcessEnd::timed_out, "timed-out"},
        std::pair{ProcessEnd::context_lost, "context-lost"}}) {
    const auto verdict = judge(kNarrow, hand_made::ended(end, "detail"));
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, reason);
  }
}

TEST_F(ComputeTypeTest, SkipsWarnsAndErrsOnTheRest) {
  Observation observation;
  observation.not_run = "needs 12.0 GiB of GPU memory, 3.1 GiB are free";
  EXPECT_EQ(judge(kListed, observation).status, Status::skip);
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge(kListed, observation).status, Status::error);
  auto seen = right();
  seen.expected_nonzero = 0;
  EXPECT_EQ(judge(kListed, hand_made::verified(seen)).reason, "unproven");
  observation = hand_made::worked();
  observation.facts[kSlowCallFact] = "1000";
  EXPECT_EQ(judge(kListed, observation).reason, "slower");
}

TEST_F(ComputeTypeTest, OfAnApplicationItRunsTheTypesAtItsOwnSize) {
  auto problem = uniform_problem(CUDA_R_16F, 4096, 7, 512);
  problem.transa = CUBLAS_OP_T;
  problem.lda = 520;
  problem.a_offset = 8;
  problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  const auto cases = check_->cases_about(hopper(), problem);
  ASSERT_EQ(cases.size(), 1U);
  const auto& types = cases.front();
  EXPECT_EQ(types.id, "types");
  auto expected = uniform_problem(CUDA_R_16F, 96, 80, 64);
  expected.transa = CUBLAS_OP_T;
  EXPECT_EQ(types.problem, expected);
  EXPECT_EQ(types.expectation, Expectation::must_work);
  EXPECT_TRUE(types.with_cublas);
  problem.type_d = CUDA_R_8I;
  EXPECT_EQ(check_->cases_about(hopper(), problem).front().expectation, Expectation::may_refuse);
}

}  // namespace
}  // namespace lt_audit
