// Tests of check "cublas-parity": the grid, the judgement and the route on hand-made observations, and the comparison
// itself over the simulator, without a fault, with faults in either library, and with a clock that tells times.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "lt_audit/check.h"
#include "parity_cases.h"

namespace lt_audit {

std::unique_ptr<Check> make_cublas_parity();

namespace {

using namespace cublas_parity;

constexpr const char* kPlain = "f16.square.nn";
/// A product that cuBLASLt need not take.
constexpr const char* kUnpromised = "i8.square.nn";

class CublasParityTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { cases_ = new std::map(simulated::cases_by_id(*make_cublas_parity(), Depth::normal)); }
  static void TearDownTestSuite() {
    delete cases_;
    cases_ = nullptr;
  }

  static const Case& named(const std::string& id) { return cases_->at(id); }
  Verdict judge(const std::string& id, const Observation& observation) const {
    auto verdict = check_->judge(named(id), observation);
    expect_explained(*check_, named(id), verdict);
    EXPECT_NE(page_of("cublas-parity").find(verdict.reason), std::string_view::npos) << verdict.reason;
    return verdict;
  }
  void expect(const std::string& id, const Observation& observation, Status status, const std::string& reason) const {
    const auto verdict = judge(id, observation);
    EXPECT_EQ(verdict.status, status) << id << " " << verdict.reason;
    EXPECT_EQ(verdict.reason, reason) << id;
  }

  std::unique_ptr<Check> check_ = make_cublas_parity();
  static inline std::map<std::string, Case>* cases_ = nullptr;
};

Observation both_work() { return hand_made::beside_cublas(hand_made::worked(), "SUCCESS"); }

Observation lt_wrong(Observation observation) {
  observation.verification->wrong = 3;
  return observation;
}
Observation cublas_wrong(Observation observation) {
  observation.cublas->verification->bytes_behind_d = 8;
  return observation;
}

Observation timed(const std::string& ratio, std::string_view speed) {
  auto observation = both_work();
  observation.facts = {
      {kRatio, ratio}, {kSpeed, std::string(speed)}, {kLtUs, "9"}, {kCublasUs, "6"}, {kSpread, "0.02"}};
  return observation;
}

std::pair<std::string, std::string> route_of(Observation observation) {
  set_route(observation);
  return {observation.facts.at(kRoute), observation.facts.at(kRouteReason)};
}

TEST_F(CublasParityTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto full = simulated::cases_by_id(*check_, Depth::full);
  const std::map<std::string, Case>* const normal = cases_;
  for (const auto& [shallow, deep] : {std::pair{&quick, normal}, std::pair{normal, &full}}) {
    EXPECT_LT(shallow->size(), deep->size());
    for (const auto& [id, c] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, c.problem) << id;
    }
  }
  for (const auto& [id, c] : full) {
    EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
    EXPECT_FALSE(c.rule.empty()) << id;
    EXPECT_TRUE(c.scenario) << id;
    EXPECT_EQ(why_not_cublas(c.problem), "") << id;
  }
}

TEST_F(CublasParityTest, CountsFitTheDepths) {
  EXPECT_GE(simulated::cases_by_id(*check_, Depth::quick).size(), 40U);
  EXPECT_LE(simulated::cases_by_id(*check_, Depth::quick).size(), 70U);
  EXPECT_GE(cases_->size(), 100U);
  EXPECT_LE(cases_->size(), 160U);
}

TEST_F(CublasParityTest, AGpuGetsTheSameCasesLargeEnoughToBeTimed) {
  Target gpu;
  for (const auto& c : check_->cases(gpu, Depth::normal)) {
    ASSERT_EQ(cases_->count(c.id), 1U) << c.id;
    EXPECT_EQ(c.expectation, named(c.id).expectation) << c.id;
    if (c.id.find("square") != std::string::npos) {
      EXPECT_GE(c.problem.m * c.problem.n, 1 << 20) << c.id;
    }
  }
}

TEST_F(CublasParityTest, EveryClassAndFormIsThere) {
  std::set<std::string> forms, shapes;
  bool device = false;
  for (const auto& [id, c] : *cases_) {
    if (id == kDefaults) continue;
    EXPECT_EQ(c.parameters.count(kClass), 1U) << id;
    shapes.insert(c.parameters.at(kShape));
    if (c.parameters.count(kForm) > 0) forms.insert(c.parameters.at(kForm));
    device = device || c.problem.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  }
  EXPECT_EQ(forms, (std::set<std::string>{"by-type", "by-type-tf32", "own-workspace"}));
  EXPECT_EQ(shapes, (std::set<std::string>{"square", "skinny", "gemv", "odd", "long_k", "batch", "broadcast"}));
  EXPECT_TRUE(device);
  EXPECT_EQ(named("f32.broadcast.nn").problem.stride_b, 0);
  EXPECT_EQ(named("f16.long_k.workspace0").problem.workspace_bytes, 0);
  EXPECT_EQ(form_of(named("tf32.square.sgemm")).math_mode, CUBLAS_TF32_TENSOR_OP_MATH);
}

TEST_F(CublasParityTest, OnlyInt8ThatIsNotTransposedIsNotPromised) {
  for (const auto& [id, c] : *cases_) {
    const bool promised = id.rfind("i8.", 0) != 0 || id.find(".nn") == std::string::npos;
    EXPECT_EQ(c.expectation == Expectation::must_work, promised) << id;
  }
}

TEST_F(CublasParityTest, PassesWhenBothAreRightAndWhenNoneTakesWhatNoneMust) {
  expect(kPlain, both_work(), Status::pass, "");
  expect(kUnpromised, hand_made::beside_cublas(hand_made::refused(), "NOT_SUPPORTED"), Status::pass, "");
  expect(kUnpromised, hand_made::beside_cublas(hand_made::worked(), "NOT_SUPPORTED"), Status::pass, "");
}

TEST_F(CublasParityTest, ARefusalIsJudgedByWhatWasPromisedAndByTheOtherLibrary) {
  for (const auto& refused : {hand_made::refused(), hand_made::refused_late()}) {
    expect(kPlain, hand_made::beside_cublas(refused, "SUCCESS"), Status::fail, "lt-refuses-documented-product");
    expect(kUnpromised, hand_made::beside_cublas(refused, "SUCCESS"), Status::warn, "cublas-accepts-what-lt-refuses");
    expect(kUnpromised, cublas_wrong(hand_made::beside_cublas(refused, "SUCCESS")), Status::fail, "cublas-wrong");
  }
  expect(kUnpromised, hand_made::beside_cublas(hand_made::refused_late(), "NOT_SUPPORTED"), Status::warn,
         "refused-late");
  expect(kPlain, hand_made::beside_cublas(hand_made::worked(), "NOT_SUPPORTED"), Status::warn,
         "cublas-refuses-what-lt-accepts");
}

TEST_F(CublasParityTest, WrongNumbersFailWhoeverGivesThem) {
  expect(kPlain, lt_wrong(both_work()), Status::fail, "lt-wrong-where-cublas-is-right");
  expect(kPlain, lt_wrong(cublas_wrong(both_work())), Status::fail, "both-wrong");
  expect(kUnpromised, lt_wrong(hand_made::beside_cublas(hand_made::worked(), "NOT_SUPPORTED")), Status::fail,
         "lt-wrong-where-cublas-refuses");
  const auto verdict = judge(kPlain, cublas_wrong(both_work()));
  EXPECT_EQ(verdict.reason, "cublas-wrong");
  EXPECT_EQ(verdict.outcome, Outcome::out_of_bounds);
  EXPECT_NE(verdict.sentence.find("cublasGemmEx returns SUCCESS; 8 bytes behind D are overwritten"), std::string::npos)
      << verdict.sentence;
}

TEST_F(CublasParityTest, SlowerIsMoreThanAQuarterAndMoreThanNoise) {
  expect(kPlain, timed("1.24", kCublasFaster), Status::pass, "");
  expect(kPlain, timed("1.60", kWithinNoise), Status::pass, "");
  expect(kPlain, timed("0.50", kLtFaster), Status::pass, "");
  const auto verdict = judge(kPlain, timed("1.50", kCublasFaster));
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "lt-slower");
  EXPECT_EQ(verdict.outcome, Outcome::slower);
  EXPECT_NE(verdict.sentence.find("9 us against 6 us of cuBLAS"), std::string::npos) << verdict.sentence;
}

TEST_F(CublasParityTest, TheRemedyOfASlowProductNamesWhatToTryFirst) {
  auto observation = timed("1.50", kCublasFaster);
  const auto low = judge("f16.long_k.workspace0", observation);
  EXPECT_NE(check_->advice(named("f16.long_k.workspace0"), low).remedy.find("raise CUBLASLT"), std::string::npos);
  EXPECT_EQ(check_->advice(named(kPlain), low).remedy, "keep this product on cuBLAS");
  observation.facts[kFasterResult] = "result 3 of the heuristic (algo 21) takes 5.00 us";
  const auto verdict = judge(kPlain, observation);
  EXPECT_EQ(verdict.reason, "lt-first-result-slower");
  EXPECT_NE(verdict.sentence.find("result 3 of the heuristic"), std::string::npos) << verdict.sentence;
}

TEST_F(CublasParityTest, EndingsAndWhatProvesNothingAreExplained) {
  expect(kPlain, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
  expect(kPlain, hand_made::ended(ProcessEnd::timed_out, "30 s"), Status::fail, "timed-out");
  expect(kPlain, hand_made::ended(ProcessEnd::context_lost, "cudaErrorIllegalAddress"), Status::fail, "context-lost");
  Observation observation;
  observation.not_run = "needs 12.0 GiB of GPU memory, 3.1 GiB are free";
  expect(kPlain, observation, Status::skip, "not-run");
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  expect(kPlain, observation, Status::error, "audit-error");
  observation = both_work();
  observation.verification->expected_nonzero = 0;
  expect(kPlain, observation, Status::warn, "unproven");
}

TEST_F(CublasParityTest, WithoutLibcublasNothingIsCompared) {
  Target target;
  EXPECT_FALSE(check_->skip_reason(target)) << "nothing was probed yet";
  target.cublaslt.major = 13;
  EXPECT_TRUE(check_->skip_reason(target));
  target.cublas.major = 13;
  EXPECT_FALSE(check_->skip_reason(target));
}

TEST_F(CublasParityTest, TheRouteFollowsRefusalsNumbersAndTimes) {
  using Route = std::pair<std::string, std::string>;
  EXPECT_EQ(route_of(both_work()), Route("either", "both right, not timed"));
  EXPECT_EQ(route_of(timed("1.02", kWithinNoise)), Route("either", "both right, times within noise"));
  EXPECT_EQ(route_of(timed("1.20", kCublasFaster)), Route("cublas", "both right, cuBLAS is faster"));
  EXPECT_EQ(route_of(timed("0.80", kLtFaster)), Route("cublaslt", "both right, cuBLASLt is faster"));
  EXPECT_EQ(route_of(hand_made::beside_cublas(hand_made::refused(), "SUCCESS")),
            Route("cublas", "cuBLASLt refuses it"));
  EXPECT_EQ(route_of(lt_wrong(both_work())), Route("cublas", "cuBLASLt is wrong"));
  EXPECT_EQ(route_of(hand_made::beside_cublas(hand_made::worked(), "NOT_SUPPORTED")),
            Route("cublaslt", "cuBLAS refuses it"));
  EXPECT_EQ(route_of(cublas_wrong(both_work())), Route("cublaslt", "cuBLAS is wrong"));
  EXPECT_EQ(route_of(hand_made::beside_cublas(hand_made::refused(), "NOT_SUPPORTED")),
            Route("neither", "both refuse it"));
  EXPECT_EQ(route_of(lt_wrong(cublas_wrong(both_work()))), Route("neither", "no library gives right numbers"));
}

TEST_F(CublasParityTest, AProductOfAnApplicationIsComparedWhereCublasCanExpressIt) {
  auto p = uniform_problem(CUDA_R_16F, 96, 80, 64);
  p.ldd = 104;
  p.d_offset = 16, p.d_alignment = 16;
  p.type_c = CUDA_R_32F;
  const auto cases = check_->cases_about({}, p);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id, "parity");
  EXPECT_TRUE(cases[0].problem.in_place);
  EXPECT_EQ(cases[0].problem.ldc, 104);
  EXPECT_EQ(cases[0].problem.c_offset, 16);
  EXPECT_EQ(cases[0].problem.type_c, CUDA_R_16F) << "C is not read";
  EXPECT_EQ(cases[0].parameters.at(kShape), "96x80x64");
  p.beta = 1;
  EXPECT_TRUE(check_->cases_about({}, p).empty()) << "one type for C and D, and C is read";
  p = uniform_problem(CUDA_R_16F, 96, 80, 64);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_TRUE(check_->cases_about({}, p).empty());
}

TEST_F(CublasParityTest, TheFaultlessSimulatorPassesButForWhatIsNotPromised) {
  simulated::Worker worker;
  for (const auto& [id, c] : *cases_) {
    const auto observation = worker.observe(*check_, c);
    const auto verdict = check_->judge(c, observation);
    const bool promised = c.expectation == Expectation::must_work;
    EXPECT_EQ(verdict.reason, promised ? "" : "cublas-accepts-what-lt-refuses") << id << ": " << verdict.sentence;
    if (id == kDefaults) continue;
    EXPECT_EQ(observation.facts.count(kRoute), 1U) << id;
    EXPECT_EQ(observation.facts.count(kRatio), 0U) << id;
    if (promised) {
      EXPECT_EQ(observation.facts.at(kSpeed), kNotTimed) << id;
    }
  }
}

TEST_F(CublasParityTest, SaysWhatItSaw) {
  simulated::Worker worker;
  const auto observation = worker.observe(*check_, named("f32.square.sgemm"));
  EXPECT_EQ(observation.cublas->call, "cublasSgemm");
  EXPECT_FALSE(observation.heuristic.empty());
  EXPECT_NE(observation.facts.at(kAlgorithm).find("algo "), std::string::npos);
  EXPECT_EQ(observation.facts.at(kBits), "equal") << "the simulator has one arithmetic";
  EXPECT_EQ(observation.facts.at(kDBitsFact).size(), 16U);
  EXPECT_EQ(observation.facts.at(kDBitsFact), observation.facts.at(kCublasDBitsFact));
  EXPECT_EQ(worker.observe(*check_, named("i8.square.tn")).facts.at(kBits), "equal, as integers are");
  const auto defaults = worker.observe(*check_, named(std::string(kDefaults)));
  EXPECT_EQ(defaults.facts.at("cublasGetAtomicsMode"), "CUBLAS_ATOMICS_NOT_ALLOWED");
  EXPECT_EQ(defaults.facts.count(kChanged), 0U);
}

/// A platform that calls itself a GPU and whose clock advances by a price for each call of a library.
class Clocked {
 public:
  Clocked(double cublas_us, std::map<int, double> lt_us) : platform_(make_simulator_platform({})) {
    platform_.kind = PlatformKind::gpu;
    price_calls(cublas_us, std::move(lt_us));
    auto& cuda = platform_.cuda;
    cuda.event_record = [this](cudaEvent_t event, cudaStream_t) {
      recorded_[event] = now_us_;
      return cudaSuccess;
    };
    cuda.event_elapsed_time = [this](float* ms, cudaEvent_t start, cudaEvent_t end) {
      *ms = static_cast<float>((recorded_[end] - recorded_[start]) / 1000);
      return cudaSuccess;
    };
  }
  Clocked(const Clocked&) = delete;
  Clocked& operator=(const Clocked&) = delete;

  Observation observe(const Check& check, const Case& the_case) {
    const Target target = describe_target(platform_, 0);
    MatmulEngine engine(platform_, EngineOptions{});
    Session session(platform_, target, engine);
    return check.observe(session, the_case);
  }

 private:
  void spend(double us) { now_us_ += us; }

  /// Of cuBLASLt by the place of the result among those of the last query; 10 us for one without a price.
  void price_calls(double cublas_us, std::map<int, double> lt_us) {
    platform_.blas.gemm_ex = [this, cublas_us, real = platform_.blas.gemm_ex](auto... arguments) {
      spend(cublas_us);
      ++cublas_calls;
      return real(arguments...);
    };
    platform_.lt.matmul_algo_get_heuristic = [this, real = platform_.lt.matmul_algo_get_heuristic](
                                                 auto handle, auto desc, auto a, auto b, auto c, auto d,
                                                 auto preference, auto requested, auto results, auto returned) {
      const auto status = real(handle, desc, a, b, c, d, preference, requested, results, returned);
      results_.assign(results, results + *returned);
      return status;
    };
    platform_.lt.matmul = [this, lt_us = std::move(lt_us), real = platform_.lt.matmul](
                              auto handle, auto desc, auto alpha, auto a, auto a_layout, auto b, auto b_layout,
                              auto beta, auto c, auto c_layout, auto d, auto d_layout, auto algo, auto workspace,
                              auto bytes, auto stream) {
      const auto same = [algo](const auto& result) {
        return std::equal(std::begin(result.algo.data), std::end(result.algo.data), std::begin(algo->data));
      };
      const auto place = std::find_if(results_.begin(), results_.end(), same) - results_.begin();
      const auto price = lt_us.find(static_cast<int>(place));
      spend(price == lt_us.end() ? 10 : price->second);
      return real(handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo, workspace, bytes,
                  stream);
    };
  }

 public:
  int cublas_calls = 0;

 private:
  Platform platform_;
  double now_us_ = 0;
  std::map<cudaEvent_t, double> recorded_;
  std::vector<cublasLtMatmulHeuristicResult_t> results_;
};

TEST_F(CublasParityTest, TimesAreThoseOfOneProductHoweverManyAreLaunched) {
  Clocked clocked(8, {{0, 4}});
  const auto observation = clocked.observe(*check_, named(kPlain));
  EXPECT_GE(clocked.cublas_calls, 7 * 4);
  EXPECT_EQ(observation.facts.at(kCublasUs), "8.00");
  EXPECT_EQ(observation.facts.at(kLtUs), "4.00");
  EXPECT_EQ(observation.facts.at(kRatio), "0.50");
  EXPECT_EQ(observation.facts.at(kSpread), "0.00");
  EXPECT_EQ(observation.facts.at(kSpeed), kLtFaster);
  EXPECT_EQ(observation.facts.at(kRoute), "cublaslt");
  EXPECT_EQ(judge(kPlain, observation).status, Status::pass);
}

TEST_F(CublasParityTest, NearlyTheSameTimeIsNoise) {
  Clocked clocked(100, {{0, 104}});
  const auto observation = clocked.observe(*check_, named(kPlain));
  EXPECT_EQ(observation.facts.at(kSpeed), kWithinNoise);
  EXPECT_EQ(observation.facts.at(kRoute), "either");
}

TEST_F(CublasParityTest, ASlowFirstResultIsReportedWithTheFastestOther) {
  Clocked clocked(10, {{0, 20}, {1, 15}, {2, 9}});
  const auto observation = clocked.observe(*check_, named(kPlain));
  ASSERT_GE(observation.heuristic.size(), 3U);
  EXPECT_EQ(observation.facts.at(kFasterResult).rfind("result 2 of the heuristic", 0), 0U);
  EXPECT_NE(observation.facts.at(kFasterResult).find("9.00 us"), std::string::npos);
  EXPECT_EQ(judge(kPlain, observation).reason, "lt-first-result-slower");
}

TEST_F(CublasParityTest, WhereAllResultsAreSlowTheProductStaysOnCublas) {
  Clocked clocked(10, {{0, 20}, {1, 19}, {2, 30}, {3, 30}, {4, 30}, {5, 30}, {6, 30}, {7, 30}});
  const auto observation = clocked.observe(*check_, named(kPlain));
  EXPECT_EQ(observation.facts.count(kFasterResult), 0U);
  EXPECT_EQ(observation.facts.at(kRoute), "cublas");
  EXPECT_EQ(judge(kPlain, observation).reason, "lt-slower");
}

TEST_F(CublasParityTest, AProductThatTakesLongIsTimedInFewLaunches) {
  Clocked clocked(20'000, {{0, 20'000}});
  const auto observation = clocked.observe(*check_, named(kPlain));
  EXPECT_EQ(observation.facts.at(kLtUs), "20000.00");
  EXPECT_LE(clocked.cublas_calls, 10);
}

class ParityFaults : public testing::TestWithParam<Planted> {};

TEST_P(ParityFaults, TurnTheCaseRed) { expect_red(*make_cublas_parity(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Planted, ParityFaults,
    testing::Values(
        Planted{"cublas-default-tf32", "defaults", Status::fail, "handle-default-changed", kPlain},
        Planted{"cublas-refuses-bf16", "bf16.square.nn", Status::warn, "cublas-refuses-what-lt-accepts", kPlain},
        Planted{"cublas-writes-behind-c", kPlain, Status::fail, "cublas-wrong", "bf16.square.nn"},
        Planted{"valid-call-refused", "i8.square.tn", Status::fail, "lt-refuses-documented-product", kPlain},
        Planted{"wrong-element", "i8.square.tn", Status::fail, "lt-wrong-where-cublas-is-right", kPlain},
        Planted{"empty-success", "f64.square.nn", Status::fail, "lt-wrong-where-cublas-is-right", kPlain},
        Planted{"alpha-ignored", "f16.square.alpha2-beta1", Status::fail, "lt-wrong-where-cublas-is-right", kPlain},
        Planted{"beta-ignored", "f16.square.alpha2-beta1", Status::fail, "lt-wrong-where-cublas-is-right", kPlain},
        Planted{"split-k-tail-lost", "f16.long_k.nn", Status::fail, "lt-wrong-where-cublas-is-right", kPlain},
        Planted{"k-tail-lost", "bf16.batch.nn", Status::fail, "lt-wrong-where-cublas-is-right", "f32.batch.nn"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
