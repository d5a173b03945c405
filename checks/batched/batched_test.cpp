// Tests of check "batched": the table of cases, the judgement on hand-made observations, and the cases over the
// simulator, without a fault and with the faults that the check is for.
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
#include "batched_cases.h"
#include "lt_audit/check.h"
#include "workload/problem_text.h"

namespace lt_audit {

std::unique_ptr<Check> make_batched();

namespace {

using namespace batched;

constexpr const char* kPlain = "f16.shared.none";

class BatchedTest : public testing::Test {
 protected:
  BatchedTest() {
    target_.device_facts.compute_major = 9;
    target_.cublaslt.major = 13;
    target_.cublaslt.minor = 1;
  }

  std::vector<Case> cases(Depth depth) const { return check_->cases(target_, depth); }
  Case named(const std::string& id) const {
    for (const auto& c : cases(Depth::full)) {
      if (c.id == id) return c;
    }
    ADD_FAILURE() << "no case " << id;
    return {};
  }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_explained(*check_, the_case, verdict);
    return verdict;
  }
  Verdict judge(const std::string& id, const Observation& observation) const { return judge(named(id), observation); }
  static Observation with_defect(const char* defect) {
    auto observation = hand_made::worked();
    observation.facts[kDefect] = defect;
    observation.facts[kDefectDetail] = "what was seen";
    return observation;
  }

  std::unique_ptr<Check> check_ = make_batched();
  Target target_;
};

TEST_F(BatchedTest, DepthsAreNestedAndIdsArePlainAndUnique) {
  std::set<std::string> shallower;
  for (const auto depth : {Depth::quick, Depth::normal, Depth::full}) {
    std::set<std::string> ids;
    for (const auto& c : cases(depth)) {
      EXPECT_TRUE(ids.insert(c.id).second) << c.id;
      EXPECT_EQ(c.id.find_first_of(" :,"), std::string::npos) << c.id;
      EXPECT_FALSE(c.rule.empty()) << c.id;
      EXPECT_TRUE(has_row(page_of("batched"), c.parameters.at(kSubject))) << c.parameters.at(kSubject);
    }
    EXPECT_TRUE(std::includes(ids.begin(), ids.end(), shallower.begin(), shallower.end()));
    shallower = std::move(ids);
  }
  EXPECT_LE(cases(Depth::quick).size(), 250U);
}

TEST_F(BatchedTest, FewCasesOfAQuickRunNeedAProcessOfTheirOwn) {
  const auto isolated = [this](Depth depth) {
    const auto all = cases(depth);
    return std::count_if(all.begin(), all.end(), [](const Case& c) { return c.isolated; });
  };
  EXPECT_EQ(isolated(Depth::quick), 0);
  EXPECT_LE(isolated(Depth::normal), 2);
}

TEST_F(BatchedTest, ExpectationsFollowTheDocumentation) {
  EXPECT_EQ(named(kPlain).expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.interleaved.abcd").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.many.65537").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.many.rows.65537").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("e4m3.stride.odd1").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.counts.a1").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.counts.d1").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.pointers.in_order").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.pointers.bias").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.reverse.a").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.overlap.d.half").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.overlap.a.half").expectation, Expectation::must_work);
}

TEST_F(BatchedTest, ANewerLibraryMustRefuseCountsThatDiffer) {
  target_.cublaslt.minor = 2;
  EXPECT_EQ(named("f16.counts.a1").expectation, Expectation::must_refuse);
  EXPECT_EQ(judge("f16.counts.a1", hand_made::refused("INVALID_VALUE")).status, Status::pass);
  EXPECT_EQ(judge("f16.counts.a1", with_defect("taken-as-shared")).status, Status::warn);
}

TEST_F(BatchedTest, AnOldLibraryMayRefuseMoreThanOneLaunchTakes) {
  target_.cublaslt.major = 12;
  target_.cublaslt.minor = 1;
  EXPECT_EQ(named("f16.many.65537").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f16.many.65535").expectation, Expectation::must_work);
}

TEST_F(BatchedTest, StridesLeadBeyondWhatANumberHolds) {
  const auto far = named("f16.far.a.2x4294967304");
  EXPECT_EQ(far.parameters.at(kFarStride), "4294967304");
  EXPECT_EQ(far.problem.stride_a, -1) << "the engine's own copy is packed";
  EXPECT_TRUE(far.scenario);
}

TEST_F(BatchedTest, PassesWhatWorksAndWhatIsRefusedWithoutAPromise) {
  EXPECT_EQ(judge(kPlain, hand_made::worked()).status, Status::pass);
  EXPECT_EQ(judge("f16.pointers.in_order", hand_made::refused()).outcome, Outcome::refused);
  EXPECT_EQ(judge("f16.counts.a1", hand_made::refused("INVALID_VALUE")).status, Status::pass);
}

TEST_F(BatchedTest, FailsWhenADocumentedBatchIsRefused) {
  for (const auto& observation : {hand_made::refused(), hand_made::refused_late()}) {
    const auto verdict = judge("f16.interleaved.abcd", observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "interleaved-refused-though-documented");
    EXPECT_NE(verdict.sentence.find("batch stride of D 96"), std::string::npos) << verdict.sentence;
  }
}

TEST_F(BatchedTest, WarnsOfTraps) {
  EXPECT_EQ(judge("f16.reverse.a", hand_made::refused_late()).reason, "negative-stride-refused-late");
  EXPECT_EQ(judge("f16.pointers.bias", hand_made::worked()).reason, "pointer-array-epilogue-accepted-against-rule");
  const auto beside = hand_made::beside_cublas(hand_made::refused(), "SUCCESS");
  EXPECT_EQ(judge("f16.many.rows.65537", beside).reason, "cublas-accepts-what-lt-refuses");
}

TEST_F(BatchedTest, JudgesWhatASequenceFound) {
  const std::map<const char*, Status> defects{
      {"accepted-silently", Status::warn},   {"capability-denied", Status::warn}, {"reads-past-the-last", Status::fail},
      {"rest-ignored", Status::warn},        {"rest-unwritten", Status::fail},    {"taken-as-shared", Status::warn},
      {"writes-past-the-last", Status::fail}};
  for (const auto& [defect, status] : defects) {
    const auto verdict = judge("f16.counts.a1", with_defect(defect));
    EXPECT_EQ(verdict.status, status) << defect;
    EXPECT_EQ(verdict.reason, std::string("unequal-counts-") + defect);
    EXPECT_NE(verdict.sentence.find("what was seen"), std::string::npos) << verdict.sentence;
    EXPECT_TRUE(has_row(page_of("batched"), defect)) << defect;
  }
}

TEST_F(BatchedTest, MemoryOutsideDComesBeforeWhatASequenceFound) {
  auto observation = with_defect("taken-as-shared");
  observation.verification->bytes_behind_d = 8;
  EXPECT_EQ(judge("f16.counts.a1", observation).reason, "unequal-counts-out-of-bounds");
}

TEST_F(BatchedTest, SaysWhatIsWrong) {
  Verification seen = *hand_made::worked().verification;
  seen.wrong = 1;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "plain-wrong-result");
  seen.unwritten = 1;
  EXPECT_EQ(judge("f16.many.65537", hand_made::verified(seen)).reason, "many-matrices-unwritten");
  seen = *hand_made::worked().verification;
  seen.b_bytes_changed = 2;
  EXPECT_EQ(judge("f16.shared.b", hand_made::verified(seen)).reason, "shared-operand-input-changed");
  seen = {};
  seen.compared = 100;
  EXPECT_EQ(judge(kPlain, hand_made::verified(seen)).reason, "plain-unproven");
  auto slow = hand_made::worked();
  slow.facts[kSlowCallFact] = "1000";
  EXPECT_EQ(judge(kPlain, slow).reason, "plain-slower");
}

TEST_F(BatchedTest, ReportsHowTheProcessEnded) {
  EXPECT_EQ(judge("f16.pointers.odd.default", hand_made::ended(ProcessEnd::context_lost, "cudaErrorMisalignedAddress"))
                .reason,
            "context-lost");
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::crashed, "SIGSEGV")).reason, "crashed");
  EXPECT_EQ(judge(kPlain, hand_made::ended(ProcessEnd::timed_out, "30 s")).reason, "timed-out");
  Observation observation;
  observation.not_run = "needs 12.0 GiB of GPU memory, 3.1 GiB are free";
  EXPECT_EQ(judge(kPlain, observation).status, Status::skip);
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge(kPlain, observation).status, Status::error);
}

TEST_F(BatchedTest, ThePageHasARowForEveryDefect) {
  for (const auto* defect :
       {"accepted-against-rule", "audit-error", "context-lost", "crashed", "cublas-accepts-what-lt-refuses",
        "input-changed", "not-run", "out-of-bounds", "refused-late", "refused-though-documented", "slower", "timed-out",
        "unproven", "unwritten", "wrong-result"}) {
    EXPECT_TRUE(has_row(page_of("batched"), defect)) << defect;
  }
}

TEST_F(BatchedTest, SpeaksAboutTheProductsOfAnApplication) {
  const auto ids = [this](const char* text) {
    std::vector<std::string> found;
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) found.push_back(c.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids("m=64,n=32,k=48,a=f16"), Ids{}) << "no batch";
  EXPECT_EQ(ids("m=64,n=32,k=48,a=f16,batch=3"), Ids{"pointers"});
  EXPECT_EQ(ids("m=64,n=32,k=48,a=f16,batch=3,stride_b=0"), (Ids{"pointers", "counts.b1"}));
  EXPECT_EQ(ids("m=64,n=32,k=48,a=f16,batch=3,stride_a=0,epilogue=bias"), Ids{"counts.a1"});
  EXPECT_EQ(ids("m=64,n=32,k=48,a=f16,batch=3,alpha=0.5,beta=1,in_place=1"), Ids{"pointers"});
  EXPECT_EQ(ids("m=64,n=32,k=48,a=f16,compute=16f,batch=3,alpha=2"), Ids{}) << "FP16 scalars are 0 and 1 here";
  const auto odd =
      check_->cases_about(target_, problem_from_text("m=7,n=4,k=3,a=f16,batch=3,a_offset=8,a_alignment=8"));
  ASSERT_EQ(odd.size(), 1U);
  EXPECT_EQ(odd.front().problem.a_alignment, 2U) << "as 21 elements of two bytes are";
  EXPECT_EQ(odd.front().problem.d_alignment, 8U);
}

TEST_F(BatchedTest, ProductsOfAnApplicationRunInTheirOwnLayout) {
  simulated::Worker worker;
  for (const auto* text :
       {"m=24,n=16,k=32,a=bf16,ta=t,batch=3,stride_b=0", "m=7,n=5,k=3,a=f32,lda=9,batch=4,stride_a=0",
        "m=16,n=12,k=16,a=e4m3,ta=t,d=bf16,batch=2,beta=1",
        "m=8,n=5,k=6,a=f32,batch=4,stride_b=0,alpha=0.5,beta=2,in_place=1"}) {
    for (const auto& c : check_->cases_about(target_, problem_from_text(text))) {
      const auto observation = worker.observe(*check_, c);
      EXPECT_EQ(judge(c, observation).status, Status::pass) << text << ": " << describe(observation);
    }
  }
}

/// Everything of a quick run passes on a faultless library, and nothing is skipped.
TEST(BatchedOverTheSimulator, PassesWithoutAFault) {
  const auto check = make_batched();
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check, Depth::quick)) {
    const auto observation = worker.observe(*check, c);
    const auto verdict = check->judge(c, observation);
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

/// What a library could do with a call that the simulator refuses, or gets right: between the check and the simulator.
class OtherLibraries : public testing::Test {
 protected:
  using Layout = cublasLtMatrixLayout_t;
  /// Reads or writes an attribute of a layout.
  template <class Value>
  Value attribute(Layout layout, cublasLtMatrixLayoutAttribute_t which) const {
    Value value{};
    std::size_t written = 0;
    EXPECT_EQ(real_.lt.matrix_layout_get_attribute(layout, which, &value, sizeof value, &written),
              CUBLAS_STATUS_SUCCESS);
    return value;
  }
  template <class Value>
  void set(Layout layout, cublasLtMatrixLayoutAttribute_t which, Value value) const {
    EXPECT_EQ(real_.lt.matrix_layout_set_attribute(layout, which, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  std::int32_t count(Layout layout) const {
    return attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  }

  /// Changes the four layouts for good before every query.
  void change(const std::function<void(Layout a, Layout b, Layout c, Layout d)>& how) {
    platform_.lt.matmul_algo_get_heuristic = [this, how](auto handle, auto desc, auto a, auto b, auto c, auto d,
                                                         auto... rest) {
      how(a, b, c, d);
      return real_.lt.matmul_algo_get_heuristic(handle, desc, a, b, c, d, rest...);
    };
  }
  std::string defect_of(const std::string& id) {
    MatmulEngine engine(platform_, EngineOptions{});
    const Target target = describe_target(platform_, 0);
    Session session(platform_, target, engine);
    for (const auto& c : check_->cases(target, Depth::normal)) {
      if (c.id != id) continue;
      const auto observation = check_->observe(session, c);
      const auto verdict = check_->judge(c, observation);
      expect_explained(*check_, c, verdict);
      return verdict.reason;
    }
    return "no such case";
  }

  std::unique_ptr<Check> check_ = make_batched();
  Platform real_ = make_simulator_platform({});
  Platform platform_ = real_;
};

TEST_F(OtherLibraries, TakeTheFirstMatrixForAll) {
  change([this](Layout a, Layout b, Layout c, Layout d) {
    for (auto* const layout : {a, b, c}) {
      if (count(layout) >= count(d)) continue;
      set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{0});
      set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count(d));
    }
  });
  EXPECT_EQ(defect_of("f16.counts.a1"), "unequal-counts-taken-as-shared");
  EXPECT_EQ(defect_of("f16.counts.ab1"), "unequal-counts-taken-as-shared");
  EXPECT_EQ(defect_of("f16.counts.c1"), "unequal-counts-taken-as-shared");
}

TEST_F(OtherLibraries, TakeTheCountOfDForAll) {
  change([this](Layout a, Layout b, Layout c, Layout d) {
    for (auto* const layout : {a, b, c}) set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count(d));
  });
  EXPECT_EQ(defect_of("f16.counts.a1"), "unequal-counts-reads-past-the-last");
  EXPECT_EQ(defect_of("f16.counts.a1.shared"), "unequal-counts-taken-as-shared");
  EXPECT_EQ(defect_of("f16.counts.d2"), "unequal-counts-rest-ignored");
}

TEST_F(OtherLibraries, TakeTheCountOfAForAll) {
  change([this](Layout a, Layout b, Layout c, Layout d) {
    for (auto* const layout : {b, c, d}) set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count(a));
  });
  EXPECT_EQ(defect_of("f16.counts.a1"), "unequal-counts-rest-unwritten");
  EXPECT_EQ(defect_of("f16.counts.d1"), "unequal-counts-writes-past-the-last");
}

TEST_F(OtherLibraries, DenyTheirCapability) {
  platform_.lt.matmul_algo_cap_get_attribute = [this](const cublasLtMatmulAlgo_t* algo, auto which, void* value,
                                                      std::size_t bytes, std::size_t* written) {
    const auto status = real_.lt.matmul_algo_cap_get_attribute(algo, which, value, bytes, written);
    if (which == CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT) *static_cast<std::int32_t*>(value) = 0;
    return status;
  };
  EXPECT_EQ(defect_of("f16.pointers.in_order"), "pointer-array-capability-denied");
}

/// D's matrices one after another into the same memory, the last one last.
TEST_F(OtherLibraries, WriteMatricesOfDOverEachOther) {
  platform_.lt.matmul_algo_get_heuristic = [this](auto handle, auto desc, auto a, auto b, auto c, auto d,
                                                  auto... rest) {
    const auto stride = attribute<std::int64_t>(d, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
    set(d, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{100000});
    const auto status = real_.lt.matmul_algo_get_heuristic(handle, desc, a, b, c, d, rest...);
    set(d, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
    return status;
  };
  platform_.lt.matmul = [this](auto handle, auto desc, auto alpha, const void* a, Layout la, const void* b, Layout lb,
                               auto beta, const void* c, Layout lc, void* d, Layout ld, const auto* /*algo*/,
                               void* workspace, std::size_t bytes, auto stream) {
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    const auto matrices = count(d == nullptr ? la : ld);
    const std::array layouts{la, lb, lc, ld};
    std::array<std::int64_t, 4> strides{};
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      strides.at(i) = attribute<std::int64_t>(layouts.at(i), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) * 2;
      set(layouts.at(i), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{1});
    }
    for (std::int64_t i = 0; i < matrices; ++i) {
      status = real_.lt.matmul(handle, desc, alpha, static_cast<const char*>(a) + i * strides[0], la,
                               static_cast<const char*>(b) + i * strides[1], lb, beta,
                               static_cast<const char*>(c) + i * strides[2], lc, static_cast<char*>(d) + i * strides[3],
                               ld, nullptr, workspace, bytes, stream);
    }
    for (auto* const layout : layouts) set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, matrices);
    return status;
  };
  EXPECT_EQ(defect_of("f16.overlap.d.half"), "overlapping-d-accepted-silently");
  EXPECT_EQ(defect_of("f16.overlap.d.all"), "overlapping-d-accepted-silently");
  EXPECT_EQ(defect_of("f16.overlap.a.half"), "");
}

class BatchedFaults : public testing::TestWithParam<Planted> {};

TEST_P(BatchedFaults, TurnTheCaseRed) { expect_red(*make_batched(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Planted, BatchedFaults,
    testing::Values(
        Planted{"batch-index-of-16-bits", "f16.many.65537", Status::fail, "many-matrices-wrong-result", kPlain},
        Planted{"batch-stride-of-32-bits", "e4m3.far.a.2x4294967312", Status::fail, "far-stride-wrong-result", kPlain},
        Planted{"batch-stride-rounded", "f16.stride.odd1", Status::fail, "odd-stride-wrong-result", kPlain},
        Planted{"last-pointer-for-all", "f16.pointers.in_order", Status::fail, "pointer-array-wrong-result", kPlain},
        Planted{"pointer-members-rounded", "f16.pointers.odd.declared", Status::fail, "unaligned-members-wrong-result",
                "f16.pointers.in_order"},
        Planted{"shared-matrix-read-as-packed", "f16.shared.a", Status::fail, "shared-operand-wrong-result",
                "f16.shared.b"},
        Planted{"unequal-counts-as-of-d", "f16.counts.a1", Status::fail, "unequal-counts-reads-past-the-last", kPlain},
        Planted{"first-bias-for-all-batches", "f16.epilogue.odd_bias.gelu_bias", Status::fail, "epilogue-wrong-result",
                "f16.epilogue.odd_bias.bias"}),
    name_of_planted);

}  // namespace
}  // namespace lt_audit
