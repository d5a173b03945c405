// Tests of check "int8": its cases, the judgement on hand-made observations, planted values, and the whole over the
// simulator.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "int8_cases.h"
#include "int8_planted.h"
#include "lt_audit/check.h"
#include "workload/problem_text.h"

namespace lt_audit {

std::unique_ptr<Check> make_int8();

namespace {

using namespace int8;

class Int8Test : public testing::Test {
 protected:
  Int8Test() {
    target_.kind = PlatformKind::simulator;
    target_.device_facts.compute_major = 9;
    target_.cublaslt.major = 13;
    target_.cublaslt.minor = 1;
    for (auto& c : cases(Depth::full)) by_id_.emplace(c.id, c);
  }

  std::vector<Case> cases(Depth depth) const { return check_->cases(target_, depth); }
  const Case& named(const std::string& id) const { return by_id_.at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_explained(*check_, the_case, verdict);
    return verdict;
  }
  Verdict judge(const std::string& id, const Observation& observation) const { return judge(named(id), observation); }

  std::unique_ptr<Check> check_ = make_int8();
  Target target_;
  std::map<std::string, Case> by_id_;
};

constexpr const char* kPlain = "i32.tn.order_ccc";

Observation with_defect(const char* defect) {
  auto observation = hand_made::worked();
  observation.verification.reset();
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = "what was seen";
  return observation;
}

TEST_F(Int8Test, CaseIdsAreUniqueAndPlainAndDepthsNest) {
  std::set<std::string> full, normal;
  for (const auto& c : cases(Depth::full)) {
    EXPECT_EQ(problem_from_text(to_text(c.problem)), c.problem) << c.id;
    EXPECT_TRUE(full.insert(c.id).second) << c.id << " twice";
    EXPECT_EQ(c.id.find_first_of(" :,"), std::string::npos) << c.id;
    EXPECT_FALSE(c.rule.empty()) << c.id;
    EXPECT_EQ(c.parameters.count(kSubject), 1U) << c.id;
  }
  for (const auto& c : cases(Depth::normal)) {
    EXPECT_EQ(full.count(c.id), 1U) << c.id;
    normal.insert(c.id);
  }
  const auto quick = cases(Depth::quick);
  for (const auto& c : quick) EXPECT_EQ(normal.count(c.id), 1U) << c.id;
  EXPECT_LE(quick.size(), 120U);
  EXPECT_GT(full.size(), normal.size() + 1000);
}

TEST_F(Int8Test, ExpectationsFollowTheDocumentation) {
  EXPECT_EQ(named(kPlain).expectation, Expectation::must_work);
  EXPECT_EQ(named("i8.nn.order_ccc").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("i32.tn.m_plus1").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("i32.tn.ldc_plus4").expectation, Expectation::must_work);
  EXPECT_EQ(named("i32.tn.columns_70000").expectation, Expectation::must_work);
  EXPECT_EQ(named("i32.tn.alpha_2_beta_0").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("i32.tn.alpha_0_beta_1").expectation, Expectation::must_work);
  EXPECT_EQ(named("i32.tn.alpha_2_beta_0.device").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("i8.tn.alpha_0p5_beta_0").expectation, Expectation::must_work);
  EXPECT_EQ(named("i8.tn.bias").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("i32.nt.imma_COL32_2R_4R4").expectation, Expectation::must_refuse);
}

TEST_F(Int8Test, TheOrdersOfTuringAndAmpereAreExpectedThereAlone) {
  const auto expected = [this](int major, int minor, const std::string& id) {
    Target target = target_;
    target.device_facts.compute_major = major;
    target.device_facts.compute_minor = minor;
    for (const auto& c : check_->cases(target, Depth::quick)) {
      if (c.id == id) return c.expectation;
    }
    return Expectation::may_refuse;
  };
  EXPECT_EQ(expected(8, 0, "i8.nt.imma_COL32_2R_4R4"), Expectation::must_work);
  EXPECT_EQ(expected(7, 5, "i8.nt.imma_COL4_4R2_8C"), Expectation::must_work);
  EXPECT_EQ(expected(7, 5, "i8.nt.imma_COL32_2R_4R4"), Expectation::may_refuse);
  EXPECT_EQ(expected(8, 6, "i8.nt.imma_COL4_4R2_8C"), Expectation::may_refuse);
  EXPECT_EQ(expected(10, 0, "i8.nt.imma_COL4_4R2_8C"), Expectation::must_refuse);
}

TEST_F(Int8Test, PassesWhatWorksAndWhatIsRefusedByRule) {
  EXPECT_EQ(judge(kPlain, hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("i32.tn.k_plus1", hand_made::refused()).outcome, Outcome::refused);
  EXPECT_EQ(judge("i32.nt.imma_COL4_4R2_8C", hand_made::refused()).status, Status::pass);
  EXPECT_EQ(judge("i8.nn.order_ccc", hand_made::worked()).status, Status::pass) << "documented nowhere";
  EXPECT_EQ(judge("i32.tn.alpha_2_beta_0", hand_made::refused_late("INVALID_VALUE")).status, Status::pass)
      << "the query does not know the scalars";
}

TEST_F(Int8Test, FailsWhenADocumentedCallIsRefusedAndSaysWhatCublasDoes) {
  EXPECT_EQ(judge(kPlain, hand_made::refused_late()).reason, "regular-refused-though-documented");
  const auto verdict = judge("i32.tn.columns_65537", hand_made::beside_cublas(hand_made::refused(), "SUCCESS"));
  EXPECT_EQ(verdict.status, Status::fail);
  EXPECT_EQ(verdict.reason, "many-columns-refused-though-documented");
  EXPECT_NE(verdict.sentence.find("cublasGemmEx: SUCCESS and right"), std::string::npos) << verdict.sentence;
  EXPECT_EQ(judge("i32.tn.batch_2", hand_made::refused()).reason, "batch-refused-though-documented");
}

TEST_F(Int8Test, WarnsOfRefusalsThatComeLateAndOfBrokenRules) {
  EXPECT_EQ(judge("i32.tn.k_plus1", hand_made::refused_late()).reason, "multiples-of-4-refused-late");
  EXPECT_EQ(judge("i32.tn.ldc_plus1", hand_made::worked()).reason, "multiples-of-4-accepted-against-rule");
  EXPECT_EQ(judge("i32.tn.alpha_2_beta_0", hand_made::worked()).reason, "scalars-accepted-against-rule");
  EXPECT_EQ(judge("i8.nt.imma_COL4_4R2_8C", hand_made::worked()).status, Status::warn);
}

TEST_F(Int8Test, FailsOnWrongNumbersWhateverTheRule) {
  Verification seen = *hand_made::worked().verification;
  seen.wrong = 1;
  EXPECT_EQ(judge("i32.tn.alpha_2_beta_0", hand_made::verified(seen)).reason, "scalars-wrong-result");
  EXPECT_EQ(judge("i8.nn.order_ccc", hand_made::verified(seen)).status, Status::fail);
  seen.unwritten = 1;
  EXPECT_EQ(judge("i32.tn.columns_65537", hand_made::verified(seen)).reason, "many-columns-unwritten");
  seen = *hand_made::worked().verification;
  seen.bytes_behind_d = 4;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "regular-out-of-bounds");
  seen = *hand_made::worked().verification;
  seen.a_bytes_changed = 4;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "regular-input-changed");
  seen = {};
  seen.compared = 100;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "regular-unproven");
}

TEST_F(Int8Test, JudgesPlantedValues) {
  auto nothing_found = hand_made::worked();
  nothing_found.verification.reset();
  EXPECT_EQ(judge("i32.tn.sums_32_bits", nothing_found).reason, "sum-unproven") << "nothing ran";
  nothing_found.facts[kResults] = "0";
  EXPECT_EQ(judge("i32.tn.sums_32_bits", nothing_found).reason, "sum-unproven");
  nothing_found.facts[kResults] = "1";
  EXPECT_EQ(judge("i32.tn.sums_32_bits", nothing_found).status, Status::pass);
  EXPECT_EQ(judge("i32.tn.every_result.long_k", nothing_found).reason, "algorithm-unproven");
  const auto page = page_of("int8");
  EXPECT_EQ(judge("i32.nn.few_sizes", with_defect("depends-on-size")).outcome, Outcome::correct);
  EXPECT_EQ(judge("i32.tn.null_time.2048x512x1024", with_defect("null-slower")).reason, "algorithm-null-slower");
  const std::set<std::string> traps{"depends-on-size", "null-slower", "truncated"};
  for (const auto* defect : {"depends-on-size", "low-bits-lost", "null-slower", "rounded-first", "sum-saturates",
                             "sum-wraps", "truncated", "value-wrong", "wraps"}) {
    const auto verdict = judge("i8.tn.convert_alpha_1_beta_0", with_defect(defect));
    EXPECT_EQ(verdict.status, traps.contains(defect) ? Status::warn : Status::fail) << defect;
    EXPECT_NE(verdict.sentence.find("what was seen"), std::string::npos) << verdict.sentence;
    EXPECT_TRUE(has_row(page, defect)) << defect;
  }
}

TEST_F(Int8Test, ReportsHowTheProcessEnded) {
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::context_lost, "cudaErrorMisalignedAddress")).reason,
            "context-lost");
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
  EXPECT_EQ(judge(kPlain, observation).reason, "regular-slower");
}

TEST_F(Int8Test, ThePageHasARowForEveryPartOfAReason) {
  std::set<std::string> words{"accepted-against-rule",
                              "audit-error",
                              "context-lost",
                              "crashed",
                              "input-changed",
                              "not-run",
                              "out-of-bounds",
                              "refused-late",
                              "slower",
                              "timed-out",
                              "unproven",
                              "unwritten",
                              "wrong-result",
                              "refused-though-documented"};
  for (const auto& [id, c] : by_id_) words.insert(c.parameters.at(kSubject));
  for (const auto& word : words) EXPECT_TRUE(has_row(page_of("int8"), word)) << word;
}

TEST_F(Int8Test, SpeaksAboutTheProductsOfAnApplication) {
  const auto ids = [this](const char* text) {
    std::vector<std::string> found;
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) found.push_back(c.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids("m=64,n=32,k=96,ta=t,a=i8,d=i32"), Ids{"sums"});
  EXPECT_EQ(ids("m=64,n=32,k=96,ta=t,a=i8,d=i8,scale=f32,epilogue=bias"), Ids{"convert"});
  EXPECT_EQ(ids("m=64,n=32,k=96,ta=t,a=i8,d=i8,scale=f32,epilogue=gelu"), Ids{}) << "no bound is documented";
  EXPECT_EQ(ids("m=64,n=32,k=96,ta=t,a=i8,d=i32,in_place=1,beta=1"), Ids{}) << "C is overwritten";
  EXPECT_EQ(ids("m=64,n=32,k=16,ta=t,a=i8,d=i32"), Ids{}) << "too short";
  EXPECT_EQ(ids("m=63,n=32,k=96,ta=t,a=i8,d=i32"), Ids{}) << "forbidden";
  EXPECT_EQ(ids("m=64,n=32,k=96,a=f16"), Ids{});
  EXPECT_EQ(ids("m=4096,n=4096,k=4096,ta=t,a=i8,d=i32"), Ids{}) << "too much for the simulator";
}

TEST_F(Int8Test, ProductsOfAnApplicationRunInTheirOwnLayout) {
  simulated::Worker worker;
  for (const auto* text :
       {"m=32,n=17,k=68,ta=t,a=i8,d=i32,lda=72,ldb=80,ldd=40,ldc=40,beta=1",
        "m=24,n=16,k=32,ta=t,a=i8,d=i8,scale=f32,batch=2,alpha=0.25", "m=64,n=8,k=64,ta=t,a=i8,d=f32,compute=32f",
        "m=32,n=8,k=64,ta=t,a=i8,d=i32,in_place=1,workspace=0,algo=null",
        "m=16,n=12,k=36,ta=t,a=i8,d=i32,order_d=row,order_c=row"}) {
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) {
      const auto observation = worker.observe(*check_, c);
      EXPECT_EQ(judge(c, observation).status, Status::pass) << text << " " << c.id << ": " << describe(observation);
    }
  }
}

// ---- Planted values ----------------------------------------------------------------------------------------------

MatmulProblem planted_problem(cudaDataType_t d, std::int64_t k) {
  auto p = problem_from_text("m=64,n=2,k=64,ta=t,a=i8,d=i32");
  p.k = k;
  p.type_c = p.type_d = d;
  p.scale_type = d == CUDA_R_32I ? CUDA_R_32I : CUDA_R_32F;
  if (d == CUDA_R_32F) p.compute_type = CUBLAS_COMPUTE_32F;
  return p;
}

TEST(Int8Planted, OperandsHaveTheSumsOfTheRows) {
  for (const std::int64_t k : {64, 133168}) {
    const auto p = planted_problem(CUDA_R_32I, k);
    const auto rows = planted_rows(p);
    const auto a = planted_a(p, rows), b = planted_b(p);
    bool reaches_the_edge = false;
    for (std::int64_t row = 0; row < p.m; ++row) {
      std::int64_t sum = 0, negative = 0;
      for (std::int64_t at = 0; at < k; ++at) {
        const auto of = [&](const std::vector<std::byte>& memory, std::int64_t line) {
          return static_cast<std::int64_t>(static_cast<std::int8_t>(memory[static_cast<std::size_t>(line * k + at)]));
        };
        sum += of(a, row) * of(b, 0);
        negative += of(a, row) * of(b, 1);
      }
      EXPECT_EQ(sum, rows[static_cast<std::size_t>(row) % rows.size()].sum) << row;
      EXPECT_EQ(negative, -sum) << row;
      reaches_the_edge = reaches_the_edge || sum == 2147483647;
    }
    EXPECT_EQ(reaches_the_edge, k > 64);
  }
}

/// What a library makes of a value before the conversion.
using Convert = std::function<double(double)>;

/// The facts when D holds `convert` of what the rows give.
Observation compared(const MatmulProblem& p, const Convert& convert) {
  const auto rows = planted_rows(p);
  std::vector<std::byte> d(static_cast<std::size_t>(p.m * p.n) * bytes_of(p.type_d));
  for (std::int64_t col = 0; col < p.n; ++col) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      const auto& planted = rows[static_cast<std::size_t>(row) % rows.size()];
      const double sum = static_cast<double>(planted.sum) * p.alpha + static_cast<double>(planted.c) * p.beta;
      const double value = convert((col == 0 ? sum : -sum) + planted.bias);
      auto* const at = d.data() + static_cast<std::size_t>(col * p.m + row) * bytes_of(p.type_d);
      const auto store = [at](auto typed) { std::memcpy(at, &typed, sizeof typed); };
      if (p.type_d == CUDA_R_8I) {
        store(static_cast<std::int8_t>(value));
      } else if (p.type_d == CUDA_R_32I) {
        store(static_cast<std::int32_t>(value));
      } else {
        store(static_cast<float>(value));
      }
    }
  }
  Observation observation;
  compare_planted(p, rows, d, "the algorithm", observation);
  return observation;
}

double saturated(double value, double limit) { return std::min(std::max(value, -limit - 1), limit); }
double wrapped(double value) { return static_cast<double>(static_cast<std::int32_t>(std::llround(value))); }
constexpr double kMost = 2147483647;
constexpr std::int64_t kLong = 266336;

TEST(Int8Planted, TellsWhatBecomesOfSumsThatInt32DoesNotHold) {
  const auto p = planted_problem(CUDA_R_32I, kLong);
  auto seen = compared(p, [](double v) { return saturated(v, kMost); });
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
  EXPECT_EQ(seen.fact(kOverflow), "saturates");
  seen = compared(p, wrapped);
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
  EXPECT_EQ(seen.fact(kOverflow), "wraps");
  seen = compared(p, [](double v) { return v > kMost ? wrapped(v) : saturated(v, kMost); });
  EXPECT_EQ(seen.fact(kOverflow), "mixed");
}

TEST(Int8Planted, FindsSumsThatLoseTheirLowBits) {
  const auto p = planted_problem(CUDA_R_32I, kLong);
  const auto as_fp32 = [](double v) { return saturated(static_cast<double>(static_cast<float>(v)), kMost); };
  EXPECT_EQ(compared(p, as_fp32).fact(kDefect), "low-bits-lost");
  EXPECT_EQ(compared(p, [](double v) { return saturated(v + (v == 1 ? 5000 : 0), kMost); }).fact(kDefect),
            "value-wrong");
}

TEST(Int8Planted, FindsIntegersBehindAnFp32Result) {
  const auto p = planted_problem(CUDA_R_32F, kLong);
  auto seen = compared(p, [](double v) { return v; });
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
  EXPECT_EQ(seen.fact(kRounded), "once");
  seen = compared(p, [](double v) { return std::abs(v) > 0x1p30 ? v * (1 + 0x1p-20) : v; });
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
  EXPECT_EQ(seen.fact(kRounded), "on the way");
  EXPECT_EQ(compared(p, wrapped).fact(kDefect), "sum-wraps");
  EXPECT_EQ(compared(p, [](double v) { return saturated(v, kMost); }).fact(kDefect), "sum-saturates");
  EXPECT_EQ(compared(p, [](double v) { return v + 1; }).fact(kDefect), "value-wrong");
}

TEST(Int8Planted, TellsHowInt8RoundsAndFindsWhereItDoesNotSaturate) {
  auto p = planted_problem(CUDA_R_8I, 1040);
  p.alpha = 0.5;
  auto seen = compared(p, [](double v) { return saturated(std::nearbyint(v), 127); });
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
  EXPECT_EQ(seen.fact(kTies), "even");
  seen = compared(p, [](double v) { return saturated(std::round(v), 127); });
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
  EXPECT_EQ(seen.fact(kTies), "both") << "away from 0 is even for some";
  const auto wraps = [](double v) {
    return static_cast<double>(static_cast<std::int8_t>(std::llround(std::nearbyint(v))));
  };
  EXPECT_EQ(compared(p, wraps).fact(kDefect), "wraps");
  EXPECT_EQ(
      compared(p,
               [](double v) { return saturated(std::nearbyint(v), 127) == 5 ? 7 : saturated(std::nearbyint(v), 126); })
          .fact(kDefect),
      "value-wrong");
  p.alpha = 0.25;
  EXPECT_EQ(compared(p, [](double v) { return saturated(std::trunc(v), 127); }).fact(kDefect), "truncated");
}

TEST(Int8Planted, FindsABiasThatComesAfterTheConversion) {
  auto p = planted_problem(CUDA_R_8I, 1040);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  p.alpha = 0.5;
  auto seen = compared(p, [](double v) { return saturated(std::nearbyint(v), 127); });
  EXPECT_EQ(seen.fact(kDefect), "") << seen.fact(kDefectDetail);
}

// ---- Over the simulator ------------------------------------------------------------------------------------------

/// Everything of a quick run passes on a faultless library, and nothing is skipped.
TEST(Int8OverTheSimulator, PassesWithoutAFault) {
  const auto check = make_int8();
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check, Depth::quick)) {
    const auto observation = worker.observe(*check, c);
    const auto verdict = check->judge(c, observation);
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
    if (id == "i32.tn.sums_32_bits") {
      EXPECT_EQ(observation.fact(kOverflow), "saturates");
    }
    if (id == "i8.tn.every_result.long_k") {
      EXPECT_EQ(observation.fact(kSplitK), "4");
    }
  }
}

TEST(Int8OverTheSimulator, TimesAreOfAGpuAlone) {
  const auto check = make_int8();
  simulated::Worker worker;
  const auto the_case = simulated::cases_by_id(*check, Depth::normal).at("i32.tn.null_time.2048x512x1024");
  const auto observation = worker.observe(*check, the_case);
  EXPECT_EQ(check->judge(the_case, observation).status, Status::pass);
  EXPECT_EQ(observation.facts.count(kNullUs), 0U);
  ASSERT_TRUE(observation.verification);
  EXPECT_TRUE(observation.verification->all_right());
}

/// A library that refuses every third query.
TEST(Int8OverTheSimulator, FindsOperationsThatDependOnTheSize) {
  const auto check = make_int8();
  const Platform real = make_simulator_platform({});
  Platform platform = real;
  int queries = 0;
  platform.lt.matmul_algo_get_heuristic = [&](auto... arguments) {
    return ++queries % 3 == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : real.lt.matmul_algo_get_heuristic(arguments...);
  };
  MatmulEngine engine(platform, EngineOptions{});
  const Target target = describe_target(platform, 0);
  Session session(platform, target, engine);
  auto the_case = simulated::cases_by_id(*check, Depth::quick).at("i32.nn.few_sizes");
  // The simulator has TN alone.
  the_case.problem.transa = CUBLAS_OP_T;
  const auto observation = check->observe(session, the_case);
  EXPECT_EQ(observation.fact(kAccepted), "12");
  EXPECT_EQ(observation.fact(kRefused), "6");
  const auto verdict = check->judge(the_case, observation);
  EXPECT_EQ(verdict.reason, "transpose-depends-on-size");
  EXPECT_NE(verdict.sentence.find("64x80x96 among them, and refused at 6: 16x17x16"), std::string::npos)
      << verdict.sentence;
}

/// A library that takes any order for that of columns: ones stay ones.
TEST(Int8OverTheSimulator, RunsTheOrdersOfTuringWhereTheyAreAccepted) {
  const auto check = make_int8();
  const Platform real = make_simulator_platform({});
  Platform platform = real;
  platform.lt.matrix_layout_set_attribute = [&](cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, std::size_t bytes) {
    std::int32_t order = 0;
    if (which == CUBLASLT_MATRIX_LAYOUT_ORDER) std::memcpy(&order, value, sizeof order);
    if (order < CUBLASLT_ORDER_COL32) return real.lt.matrix_layout_set_attribute(layout, which, value, bytes);
    const std::int64_t ld = 64;
    return real.lt.matrix_layout_set_attribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld);
  };
  platform.lt.matmul_desc_set_attribute = [&](cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                                              const void* value, std::size_t bytes) {
    // The simulator has TN alone.
    const std::int32_t transposed = CUBLAS_OP_T;
    if (which != CUBLASLT_MATMUL_DESC_TRANSB) return real.lt.matmul_desc_set_attribute(desc, which, value, bytes);
    return real.lt.matmul_desc_set_attribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  };
  MatmulEngine engine(platform, EngineOptions{});
  const Target target = describe_target(platform, 0);
  Session session(platform, target, engine);
  for (const auto& c : check->cases(target, Depth::quick)) {
    if (c.id.find("imma") == std::string::npos) continue;
    const auto observation = check->observe(session, c);
    ASSERT_TRUE(observation.verification) << c.id << ": " << describe(observation);
    EXPECT_EQ(observation.verification->compared, 64U * 64U);
    EXPECT_EQ(check->judge(c, observation).reason, "imma-order-accepted-against-rule") << c.id;
  }
}

class Int8Faults : public testing::TestWithParam<Planted> {};

TEST_P(Int8Faults, TurnTheCheckRed) { expect_red(*make_int8(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Int8, Int8Faults,
    testing::Values(
        Planted{"int32-low-bits-lost", "i32.tn.sums_32_bits", Status::fail, "sum-low-bits-lost", "i32.tn.sums_24_bits"},
        Planted{"int8-alpha-ignored", "i32.tn.alpha_2_beta_0", Status::fail, "scalars-wrong-result",
                "i32.tn.alpha_0_beta_1"},
        Planted{"int8-alpha-ignored", "i32.tn.alpha_1_beta_m1", Status::fail, "scalars-wrong-result", nullptr},
        Planted{"int8-columns-cut", "i32.tn.columns_65537", Status::fail, "many-columns-unwritten", kPlain},
        Planted{"int8-many-refused", "i32.tn.columns_65537", Status::fail, "many-columns-refused-though-documented",
                "i8.tn.batch_2"},
        Planted{"int8-many-refused", "i32.tn.batch_2", Status::fail, "batch-refused-though-documented", kPlain},
        Planted{"int8-rounded-before-bias", "i8.tn.convert_alpha_0p5.bias", Status::fail,
                "epilogue-conversion-rounded-first", "i8.tn.bias"},
        Planted{"int8-wraps", "i8.tn.convert_alpha_1_beta_0", Status::fail, "conversion-wraps",
                "i8.tn.convert_alpha_0p5_beta_0"},
        Planted{"valid-call-refused", kPlain, Status::fail, "regular-refused-though-documented",
                "i32.nt.imma_COL4_4R2_8C"},
        Planted{"wrong-element", kPlain, Status::fail, "regular-wrong-result", "i8.tn.order_ccc"},
        Planted{"split-k-tail-lost", "i8.tn.every_result.long_k", Status::fail, "algorithm-wrong-result", kPlain},
        Planted{"beta-ignored", "i32.tn.sums_32_bits_of_c", Status::fail, "sum-value-wrong", kPlain}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
