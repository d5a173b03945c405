// Tests of check "epilogue": its cases, the judgement on hand-made observations, and the whole over the simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "epilogue_cases.h"
#include "lt_audit/check.h"
#include "workload/problem_text.h"

namespace lt_audit {

std::unique_ptr<Check> make_epilogue();

namespace {

using namespace epilogue;

class EpilogueTest : public testing::Test {
 protected:
  EpilogueTest() {
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

  std::unique_ptr<Check> check_ = make_epilogue();
  Target target_;
  std::map<std::string, Case> by_id_;
};

constexpr const char* kPlain = "f16.nn.base.relu_bias";

Observation with_defect(const char* defect) {
  auto observation = hand_made::worked();
  observation.verification.reset();
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = "what was seen";
  return observation;
}

TEST_F(EpilogueTest, CaseIdsAreUniqueAndPlainAndDepthsNest) {
  std::set<std::string> ids;
  for (const auto& c : cases(Depth::full)) {
    EXPECT_TRUE(ids.insert(c.id).second) << c.id << " twice";
    EXPECT_EQ(c.id.find_first_of(" :,"), std::string::npos) << c.id;
  }
  for (const auto& [id, c] : by_id_) EXPECT_EQ(ids.count(id), 1U) << id;
  for (const auto& c : cases(Depth::quick)) EXPECT_EQ(named(c.id).problem, c.problem) << c.id;
  EXPECT_LE(cases(Depth::quick).size(), 250U);
  EXPECT_GE(by_id_.size(), 800U);
  EXPECT_LE(by_id_.size(), 2000U);
  EXPECT_GT(ids.size(), by_id_.size());
}

TEST_F(EpilogueTest, EveryEpilogueMeetsEveryTypeAndShapeThatItCan) {
  std::set<std::pair<cublasLtEpilogue_t, std::string>> seen;
  for (const auto& [id, c] : by_id_) {
    const auto& p = c.problem;
    seen.emplace(p.epilogue, id.substr(0, id.find('.')));
    // The engine has no place for gradients of several batches in one vector.
    EXPECT_TRUE(!has_bias_gradient(p.epilogue) || p.batch_count == 1 || p.stride_bias >= p.m) << id;
    EXPECT_FALSE(c.rule.empty()) << id;
    EXPECT_EQ(c.parameters.count(kSubject), 1U) << id;
  }
  for (const auto& [epilogue, name] : epilogues()) {
    for (const auto* form : {"f16", "bf16", "f32", "f64", "e4m3", "e4m3_e4m3", "f16_16f"}) {
      EXPECT_EQ(seen.count({epilogue, form}), 1U) << name << " " << form;
    }
  }
}

TEST_F(EpilogueTest, FewCasesNeedAWorkerOfTheirOwn) {
  const auto isolated = [this](Depth depth) {
    const auto all = cases(depth);
    return std::count_if(all.begin(), all.end(), [](const Case& c) { return c.isolated; });
  };
  EXPECT_EQ(isolated(Depth::quick), 1);
  EXPECT_LE(isolated(Depth::normal), 8);
  for (const auto* id : {"f16.ldaux.odd.gelu_aux", "f16.aux_off8.gelu_aux", "f16.workspace0.k1.dgelu"}) {
    EXPECT_TRUE(named(id).isolated) << id;
  }
  EXPECT_FALSE(named("f16.aux_off16.gelu_aux").isolated);
}

TEST_F(EpilogueTest, ExpectationsFollowTheDocumentation) {
  EXPECT_EQ(named(kPlain).expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.nn.base.bgradb").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.nt.base.bgradb").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.tn.base.bgrada").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.workspace0.long_k.drelu_bgrad").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.ldaux.odd.gelu_aux").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.aux_off8.gelu_aux").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.aux_off16.gelu_aux").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.row_order.bias").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.row_order.relu").expectation, Expectation::must_work);
  EXPECT_EQ(named("i8.tn.base.relu_bias").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("i8_i32.tn.base.relu").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("i8_f32.tn.base.bias").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.unused_bias.relu").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.special.relu").expectation, Expectation::must_work);
}

TEST_F(EpilogueTest, ClaimsAreNamedWhereTheyCanBeAnswered) {
  EXPECT_EQ(named("bf16.nn.base.gelu").parameters.at("claims"), "C6=fails");
  EXPECT_EQ(named("f16.nn.base.gelu").parameters.at("claims"), "C6=works");
  EXPECT_EQ(named("f16.nn.base.dgelu_bgrad").parameters.at("claims"), "C11=works");
  EXPECT_EQ(named("f16.nn.base.bgradb").parameters.count("claims"), 0U) << "is refused";
  EXPECT_EQ(named(kPlain).parameters.count("claims"), 0U);
}

TEST_F(EpilogueTest, PassesWhatWorksAndWhatIsRefusedWithoutAPromise) {
  EXPECT_EQ(judge(kPlain, hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("f16.nn.base.bgradb", hand_made::refused()).outcome, Outcome::refused);
  EXPECT_EQ(judge("f16.ldaux.odd.gelu_aux", hand_made::refused("INVALID_VALUE")).status, Status::pass);
  EXPECT_EQ(judge("i8.tn.base.relu_bias", hand_made::worked()).status, Status::pass);
}

TEST_F(EpilogueTest, FailsWhenADocumentedEpilogueIsRefused) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late()}) {
    const auto verdict = judge(kPlain, observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "bias-refused-though-documented");
    EXPECT_NE(verdict.sentence.find("relu_bias (f16 x f16 -> f16"), std::string::npos) << verdict.sentence;
  }
}

TEST_F(EpilogueTest, WarnsOfRefusalsThatComeLateAndOfBrokenRules) {
  EXPECT_EQ(judge("f16.unused_bias.relu", hand_made::refused_late("INVALID_VALUE")).reason,
            "unused-pointer-refused-late");
  EXPECT_EQ(judge("f16.ldaux.odd.gelu_aux", hand_made::worked()).reason, "aux-layout-accepted-against-rule");
}

TEST_F(EpilogueTest, FailsWhenAnAlgorithmAsksForMoreThanTheLimit) {
  auto observation = hand_made::refused_late("INVALID_VALUE");
  EXPECT_EQ(judge("f16.workspace0.k1.drelu_bgrad", observation).reason, "bias-gradient-refused-late");
  observation.heuristic.front().workspace_bytes = 7844;
  const auto verdict = judge("f16.workspace0.k1.drelu_bgrad", observation);
  EXPECT_EQ(verdict.reason, "bias-gradient-above-limit");
  EXPECT_EQ(verdict.status, Status::fail);
  EXPECT_EQ(judge("f16.workspace0.k1.drelu_bgrad", hand_made::refused()).status, Status::pass);
}

TEST_F(EpilogueTest, SaysWhichOfTheOutputsIsWrong) {
  Verification seen = *hand_made::worked().verification;
  seen.aux_compared = 1920;
  seen.aux_wrong = 2;
  EXPECT_EQ(judge("f16.nn.base.relu_aux", hand_made::verified(seen)).reason, "aux-wrong-aux");
  seen.wrong = 1;
  EXPECT_EQ(judge("f16.nn.base.relu_aux", hand_made::verified(seen)).reason, "aux-wrong-result");
  seen.unwritten = 1;
  EXPECT_EQ(judge("f16.nn.base.gelu", hand_made::verified(seen)).reason, "activation-unwritten");
  seen = *hand_made::worked().verification;
  seen.gradient_wrong = 1;
  EXPECT_EQ(judge("f16.nn.base.dgelu_bgrad", hand_made::verified(seen)).reason, "bias-gradient-wrong-gradient");
  EXPECT_EQ(judge("f16.nn.k1.bgrada", hand_made::verified(seen)).reason, "operand-gradient-wrong-gradient");
  seen = *hand_made::worked().verification;
  seen.workspace_guard_bytes_changed = 4;
  EXPECT_EQ(judge("f16.nn.k1.drelu_bgrad", hand_made::verified(seen)).reason, "bias-gradient-out-of-bounds");
  seen = *hand_made::worked().verification;
  seen.bias_bytes_changed = 4;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "bias-input-changed");
  seen = {};
  seen.compared = 100;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "bias-unproven");
}

TEST_F(EpilogueTest, JudgesWhatASequenceFound) {
  auto nothing_found = hand_made::worked();
  nothing_found.verification.reset();
  EXPECT_EQ(judge("f16.special.relu", nothing_found).status, Status::pass);
  EXPECT_EQ(judge("f16.unused_bias.relu", nothing_found).reason, "unused-pointer-unproven");
  const std::map<const char*, Status> defects{{"inf-made", Status::warn},     {"nan-lost", Status::warn},
                                              {"nan-made", Status::fail},     {"denormal-flushed", Status::warn},
                                              {"value-wrong", Status::fail},  {"aux-wrong", Status::fail},
                                              {"rounded-first", Status::warn}};
  for (const auto& [defect, status] : defects) {
    const auto verdict = judge("f16.special.relu", with_defect(defect));
    EXPECT_EQ(verdict.status, status) << defect;
    EXPECT_NE(verdict.sentence.find("what was seen"), std::string::npos) << verdict.sentence;
    EXPECT_TRUE(has_row(page_of("epilogue"), defect)) << defect;
  }
}

TEST_F(EpilogueTest, ReportsHowTheProcessEnded) {
  const auto lost = hand_made::ended(ProcessEnd::context_lost, "cudaErrorMisalignedAddress");
  EXPECT_EQ(judge("f16.ldaux.odd.gelu_aux", lost).reason, "context-lost");
  EXPECT_NE(
      check_->advice(named("f16.ldaux.odd.gelu_aux"), judge("f16.ldaux.odd.gelu_aux", lost)).remedy.find("AUX_LD"),
      std::string::npos);
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::crashed, "SIGSEGV")).reason, "crashed");
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::timed_out, "30 s")).reason, "timed-out");
  Observation observation;
  observation.not_run = "needs 12.0 GiB of GPU memory, 3.1 GiB are free";
  EXPECT_EQ(judge(kPlain, observation).status, Status::skip);
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge(kPlain, observation).status, Status::error);
  observation = hand_made::worked();
  observation.facts[kSlowCallFact] = "1000";
  EXPECT_EQ(judge(kPlain, observation).reason, "bias-slower");
}

TEST_F(EpilogueTest, ThePageHasARowForEveryPartOfAReason) {
  std::set<std::string> subjects;
  for (const auto& c : cases(Depth::full)) subjects.insert(c.parameters.at(kSubject));
  const auto page = page_of("epilogue");
  for (const auto& subject : subjects) EXPECT_TRUE(has_row(page, subject)) << subject;
  for (const auto* defect :
       {"above-limit", "accepted-against-rule", "audit-error", "context-lost", "crashed", "input-changed", "not-run",
        "out-of-bounds", "refused-late", "refused-though-documented", "slower", "timed-out", "unproven", "unwritten",
        "wrong-aux", "wrong-gradient", "wrong-result"}) {
    EXPECT_TRUE(has_row(page, defect)) << defect;
  }
}

TEST_F(EpilogueTest, SpeaksAboutTheProductsOfAnApplication) {
  const auto ids = [this](const char* text) {
    std::vector<std::string> found;
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) found.push_back(c.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids("m=64,n=32,k=4096,a=f16,epilogue=bias"), Ids{"rounding"});
  EXPECT_EQ(ids("m=64,n=32,k=4096,ta=t,a=bf16,epilogue=gelu_bias"), Ids{"special"});
  EXPECT_EQ(ids("m=64,n=32,k=64,a=f32,epilogue=relu"), Ids{"special"});
  EXPECT_EQ(ids("m=64,n=32,k=64,a=f16,epilogue=bias"), Ids{}) << "too short to round";
  EXPECT_EQ(ids("m=64,n=32,k=64,a=f16,epilogue=dgelu"), Ids{});
  EXPECT_EQ(ids("m=64,n=32,k=64,a=f32,compute=32f_fast_tf32,epilogue=relu"), Ids{}) << "inputs are rounded";
  EXPECT_EQ(ids("m=64,n=32,k=64,ta=t,a=e4m3,d=bf16,epilogue=relu"), Ids{});
  EXPECT_EQ(ids("m=8192,n=8192,k=64,a=f16,epilogue=relu"), Ids{}) << "too large";
  EXPECT_EQ(ids("m=1024,n=1024,k=1024,a=f16,epilogue=relu"), Ids{}) << "too much for the simulator";
}

TEST_F(EpilogueTest, ProductsOfAnApplicationRunInTheirOwnLayout) {
  simulated::Worker worker;
  for (const auto* text : {"m=33,n=17,k=65,ta=t,tb=t,a=f32,lda=70,ldb=20,ldd=40,ldc=40,epilogue=relu_bias,beta=1",
                           "m=24,n=16,k=32,a=bf16,batch=2,epilogue=gelu", "m=8,n=8,k=512,ta=t,a=bf16,epilogue=bias"}) {
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) {
      const auto observation = worker.observe(*check_, c);
      EXPECT_EQ(judge(c, observation).status, Status::pass) << text << ": " << describe(observation);
    }
  }
}

/// Everything of a quick run passes on a faultless library, and nothing is skipped.
TEST(EpilogueOverTheSimulator, PassesWithoutAFault) {
  const auto check = make_epilogue();
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check, Depth::quick)) {
    const auto observation = worker.observe(*check, c);
    const auto verdict = check->judge(c, observation);
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

/// One element of D or aux, or one bit of a mask, changed behind the back of a faultless library.
struct Spoiled {
  const char* id;
  /// Planted are NaN, infinity, the largest, the smallest, 0, 1, 2, and the negatives of these, one for each row.
  std::size_t row;
  float value;
  const char* defect;
};

class SpoiledValues : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledValues, AreFound) {
  const auto& spoiled = GetParam();
  const auto check = make_epilogue();
  const Platform real = make_simulator_platform({});
  Platform platform = real;
  platform.lt.matmul = [&](cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                           cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb, const void* beta,
                           const void* c, cublasLtMatrixLayout_t lc, void* d, cublasLtMatrixLayout_t ld, auto... rest) {
    const auto status = real.lt.matmul(handle, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, rest...);
    EXPECT_EQ(real.cuda.device_synchronize(), cudaSuccess);
    void* aux = nullptr;
    EXPECT_EQ(
        real.lt.matmul_desc_get_attribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux, nullptr),
        CUBLAS_STATUS_SUCCESS);
    const bool mask = std::string_view(spoiled.id).find("relu_aux") != std::string_view::npos;
    if (mask) {
      *static_cast<unsigned char*>(aux) ^= static_cast<unsigned char>(1U << spoiled.row);
    } else {
      static_cast<float*>(aux != nullptr ? aux : d)[spoiled.row] = spoiled.value;
    }
    return status;
  };
  MatmulEngine engine(platform, EngineOptions{});
  const Target target = describe_target(platform, 0);
  Session session(platform, target, engine);
  std::map<std::string, Case> cases;
  for (auto& c : check->cases(target, Depth::normal)) cases.emplace(c.id, c);
  const auto observation = check->observe(session, cases.at(spoiled.id));
  EXPECT_EQ(observation.fact(kDefect), spoiled.defect) << observation.fact(kDefectDetail);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
INSTANTIATE_TEST_SUITE_P(
    Epilogue, SpoiledValues,
    testing::Values(Spoiled{"f32.special.relu", 0, 0, "nan-lost"}, Spoiled{"f32.special.relu", 2, kNan, "nan-made"},
                    Spoiled{"f32.special.gelu", 9, kNan, "nan-made"}, Spoiled{"f32.special.gelu", 8, kNan, ""},
                    Spoiled{"f32.special.gelu", 2, kInfinity, "inf-made"},
                    Spoiled{"f32.special.default", 3, 0, "denormal-flushed"},
                    Spoiled{"f32.special.relu", 5, 2, "value-wrong"},
                    Spoiled{"f32.special.relu", 12, -1, "value-wrong"},
                    Spoiled{"f32.special.relu_aux", 1, 0, "aux-wrong"}, Spoiled{"f32.special.relu_aux", 4, 0, ""},
                    Spoiled{"f32.special.gelu_aux", 5, 0, "aux-wrong"}));

TEST(EpilogueOverTheSimulator, TellsOfTheNegativeZero) {
  const auto check = make_epilogue();
  const auto cases = simulated::cases_by_id(*check, Depth::quick);
  const auto observation = simulated::Worker().observe(*check, cases.at("f32.special.relu"));
  EXPECT_EQ(observation.fact(kDefect), "") << observation.fact(kDefectDetail);
  EXPECT_EQ(observation.facts.count(kNegativeZero), 1U);
}

class EpilogueFaults : public testing::TestWithParam<Planted> {};

TEST_P(EpilogueFaults, TurnTheCaseRed) { expect_red(*make_epilogue(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Planted, EpilogueFaults,
    testing::Values(
        Planted{"bias-ignored", "f16.nn.row.relu_bias", Status::fail, "bias-wrong-result", "f16.nn.base.relu"},
        Planted{"bias-along-columns", "f16.nn.base.bias", Status::fail, "bias-wrong-result", "bf16.nn.base.bias"},
        Planted{"first-bias-for-all-batches", "f16.nn.batch.gelu_bias", Status::fail, "bias-wrong-result",
                "f16.nn.batch.bias"},
        Planted{"bias-added-after-rounding", "bf16.nn.rounding.k4096", Status::warn, "bias-rounding-rounded-first",
                "f16.nn.long_k.bias"},
        Planted{"bias-gradient-wrong-at-k-1", "f16.nn.k1.bgrada", Status::fail, "operand-gradient-wrong-gradient",
                "f16.nn.base.bgrada"},
        Planted{"aux-ld-ignored", "f16.nn.padded.relu_aux", Status::fail, "aux-wrong-aux", "f16.nn.base.relu_aux"},
        Planted{"aux-ld-ignored", "f16.nn.padded.drelu", Status::fail, "activation-gradient-wrong-result",
                "f16.nn.base.drelu"},
        Planted{"gelu-aux-after-activation", "bf16.nn.base.gelu_aux_bias", Status::fail, "aux-wrong-aux",
                "bf16.nn.base.relu_aux_bias"},
        Planted{"gelu-in-place-wrong", "e4m3.tn.in_place.gelu", Status::fail, "activation-wrong-result",
                "e4m3.tn.base.gelu"},
        Planted{"empty-success", "f64.special.gelu", Status::fail, "special-values-nan-made", "f32.special.gelu"},
        Planted{"k-tail-lost", "f16.nn.rounding.k4096", Status::fail, "bias-rounding-value-wrong", "f32.nn.base.bias"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
