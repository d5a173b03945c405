// Tests of check "alignment": the table of cases, and the judgement on hand-made observations.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "../hand_made.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {

std::unique_ptr<Check> make_alignment();

namespace {

class AlignmentTest : public testing::Test {
 protected:
  AlignmentTest() {
    target_.device_facts.compute_major = 9;
    target_.cublaslt.major = 13;
    target_.cublaslt.minor = 1;
  }

  std::vector<Case> cases(Depth depth) const { return check_->cases(target_, depth); }
  Case named(const std::string& id) const {
    for (const auto& c : cases(Depth::normal)) {
      if (c.id == id) return c;
    }
    ADD_FAILURE() << "no case " << id;
    return {};
  }
  /// The verdict, after a look at what every verdict must have.
  Verdict judge(const Case& the_case, const Observation& observation) const {
    Verdict verdict = check_->judge(the_case, observation);
    if (verdict.status == Status::pass) {
      EXPECT_TRUE(verdict.reason.empty() && verdict.sentence.empty());
      return verdict;
    }
    EXPECT_FALSE(verdict.sentence.empty());
    const Advice advice = check_->advice(the_case, verdict);
    EXPECT_NE(advice.title, "") << verdict.reason;
    EXPECT_EQ(advice.title.find("did not work as expected"), std::string::npos) << verdict.reason;
    EXPECT_FALSE(advice.expected.empty() || advice.remedy.empty()) << verdict.reason;
    EXPECT_EQ(advice.rule, the_case.rule);
    return verdict;
  }
  Verdict judge(const std::string& id, const Observation& observation) const { return judge(named(id), observation); }

  std::unique_ptr<Check> check_ = make_alignment();
  Target target_;
};

Verification right() { return *hand_made::worked().verification; }

TEST_F(AlignmentTest, CaseIdsAreUniqueAndPlain) {
  std::set<std::string> ids;
  for (const auto& c : cases(Depth::full)) {
    EXPECT_TRUE(ids.insert(c.id).second) << c.id << " twice";
    EXPECT_EQ(c.id.find_first_of(" :,"), std::string::npos) << c.id;
  }
}

TEST_F(AlignmentTest, CountsGrowWithTheDepth) {
  const auto quick = cases(Depth::quick).size();
  const auto normal = cases(Depth::normal).size();
  EXPECT_GE(quick, 80U);
  EXPECT_LE(quick, 250U);
  EXPECT_GE(normal, 450U);
  EXPECT_LE(normal, 1500U);
  EXPECT_GT(cases(Depth::full).size(), normal);
}

TEST_F(AlignmentTest, DeeperDepthsContainTheShallowerOnesUnchanged) {
  for (const auto& [shallow, deep] : {std::pair{Depth::quick, Depth::normal}, std::pair{Depth::normal, Depth::full}}) {
    const auto more = cases(deep);
    for (const auto& c : cases(shallow)) {
      const auto same = std::find_if(more.begin(), more.end(), [&](const Case& other) { return other.id == c.id; });
      ASSERT_NE(same, more.end()) << c.id;
      EXPECT_EQ(same->problem, c.problem) << c.id;
      EXPECT_EQ(same->expectation, c.expectation) << c.id;
    }
  }
}

TEST_F(AlignmentTest, FewCasesNeedAWorkerOfTheirOwn) {
  const auto all = cases(Depth::normal);
  const auto isolated = std::count_if(all.begin(), all.end(), [](const Case& c) { return c.isolated; });
  EXPECT_GE(isolated, 1);
  EXPECT_LE(isolated, 8);
}

TEST_F(AlignmentTest, EveryVariedOperandIsReadOrWritten) {
  for (const auto& c : cases(Depth::full)) {
    const auto& p = c.problem;
    if (p.c_offset != 0 || p.ldc != 0 || p.stride_c >= 0) {
      EXPECT_NE(p.beta, 0) << c.id;
    }
    EXPECT_TRUE(p.bias_offset == 0 || has_bias(p.epilogue)) << c.id;
    EXPECT_EQ(p.a_offset % static_cast<std::int64_t>(bytes_of(shape_a(p).stored_type())), 0) << c.id;
    EXPECT_EQ(p.d_offset % static_cast<std::int64_t>(bytes_of(shape_d(p).stored_type())), 0) << c.id;
  }
}

TEST_F(AlignmentTest, EveryCaseHasARuleAndASubject) {
  for (const auto& c : cases(Depth::full)) {
    EXPECT_FALSE(c.rule.empty()) << c.id;
    EXPECT_EQ(c.parameters.count("subject"), 1U) << c.id;
  }
}

TEST_F(AlignmentTest, ExpectationsFollowTheDocumentation) {
  EXPECT_EQ(named("f16.nn.a.off2.declared").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.nn.a.off2.default").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("f32.nn.d.off8.declared16").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("e4m3.tn.a.off8.declared").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("e4m3.tn.b.off16.declared").expectation, Expectation::must_work);
  EXPECT_EQ(named("i8.tn.a.off2.declared").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("i8.tn.a.off4.declared").expectation, Expectation::must_work);
  EXPECT_EQ(named("i8.tn.lda.pad1").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.nn.lda.pad1").expectation, Expectation::must_work);
  EXPECT_EQ(named("c16.nn.a.off2.declared").expectation, Expectation::must_work);
  EXPECT_EQ(named("c32.cn.a.off8.declared").expectation, Expectation::must_work);
  EXPECT_EQ(named("c16.nn.plane_a.pad8.default").expectation, Expectation::may_refuse);
  EXPECT_EQ(named("c16.nn.plane_a.pad8.declared").expectation, Expectation::must_work);
  EXPECT_EQ(named("c16.nn.plane_c.pad16.default").expectation, Expectation::must_work);
  EXPECT_EQ(named("f16.workspace.k256.off16").expectation, Expectation::must_refuse);
  EXPECT_EQ(named("f16.workspace.k32768.off0").expectation, Expectation::must_work);
}

TEST_F(AlignmentTest, ClaimsAreNamedWithTheirPredictionsWhereACaseSpeaksToThem) {
  EXPECT_EQ(named("f16.nn.a.off2.default").parameters.at("claims"), "C1=status:INVALID_VALUE");
  EXPECT_EQ(named("f16.nn.a.off8.declared").parameters.at("claims"), "C1=status:INVALID_VALUE");
  EXPECT_EQ(named("f16.nn.b.off8.default").parameters.at("claims"), "C1=status:INVALID_VALUE C2=cublas-only");
  EXPECT_TRUE(named("f16.nn.b.off8.default").with_cublas);
  EXPECT_EQ(named("f16.nn.b.off16.default").parameters.count("claims"), 0U);
  EXPECT_EQ(named("e4m3.tn.a.off8.default").parameters.count("claims"), 0U);
}

TEST_F(AlignmentTest, PassesWhenADocumentedCallWorks) {
  EXPECT_EQ(judge("f16.nn.a.off2.declared", hand_made::worked()).status, Status::pass);
}

TEST_F(AlignmentTest, PassesWhenABrokenPromiseIsTolerated) {
  EXPECT_EQ(judge("f16.nn.a.off32.default", hand_made::worked()).status, Status::pass);
}

TEST_F(AlignmentTest, PassesWhenTheHeuristicRefusesWhatIsForbidden) {
  const auto verdict = judge("e4m3.tn.a.off8.declared", hand_made::refused());
  EXPECT_EQ(verdict.status, Status::pass);
  EXPECT_EQ(verdict.outcome, Outcome::refused);
}

TEST_F(AlignmentTest, PassesWhenMatmulRefusesAWorkspaceThatOnlyItSees) {
  EXPECT_EQ(judge("f16.workspace.k256.off16", hand_made::refused_late("INVALID_VALUE")).status, Status::pass);
}

TEST_F(AlignmentTest, WarnsWhenAForbiddenWorkspaceIsAccepted) {
  const auto verdict = judge("f16.workspace.k256.off16", hand_made::worked());
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "workspace-accepted-against-rule");
}

TEST_F(AlignmentTest, WarnsWhenAPointerBelowTheDeclaredAlignmentIsRefusedLate) {
  const auto verdict = judge("f16.nn.a.off8.declared16", hand_made::refused_late());
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "overdeclared-pointer-refused-late");
  EXPECT_NE(verdict.sentence.find("A is aligned to 8 bytes and declared as 16"), std::string::npos) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("NOT_SUPPORTED"), std::string::npos) << verdict.sentence;
}

TEST_F(AlignmentTest, WarnsWhenATrulyDeclaredPointerIsRefusedLate) {
  EXPECT_EQ(judge("i8.tn.a.off2.declared", hand_made::refused_late()).reason, "declared-pointer-refused-late");
}

TEST_F(AlignmentTest, WarnsWhenCublasRunsWhatCublasLtRefuses) {
  const auto observation = hand_made::beside_cublas(hand_made::refused_late(), "SUCCESS");
  const auto verdict = judge("f16.nn.a.off8.default", observation);
  EXPECT_EQ(verdict.status, Status::warn);
  EXPECT_EQ(verdict.reason, "cublas-accepts-what-lt-refuses");
  EXPECT_NE(verdict.sentence.find("cublasGemmEx returns SUCCESS"), std::string::npos) << verdict.sentence;
}

TEST_F(AlignmentTest, NoParityTrapWhenCublasIsWrongOrRefuses) {
  auto observation = hand_made::beside_cublas(hand_made::refused_late(), "SUCCESS");
  observation.cublas->verification->wrong = 1;
  EXPECT_EQ(judge("f16.nn.a.off8.default", observation).reason, "overdeclared-pointer-refused-late");
  EXPECT_EQ(judge("f16.nn.a.off8.default", hand_made::beside_cublas(hand_made::refused(), "NOT_SUPPORTED")).status,
            Status::pass);
}

TEST_F(AlignmentTest, FailsWhenADocumentedCallIsRefusedAtAnyStage) {
  for (const auto& observation :
       {hand_made::refused(), hand_made::refused_late(), hand_made::beside_cublas(hand_made::refused(), "SUCCESS")}) {
    const auto verdict = judge("f16.nn.a.off2.declared", observation);
    EXPECT_EQ(verdict.status, Status::fail);
    EXPECT_EQ(verdict.reason, "declared-pointer-refused-though-documented");
  }
}

TEST_F(AlignmentTest, FailsOnWrongNumbersUnwrittenElementsAndForeignMemory) {
  auto seen = right();
  seen.wrong = 3;
  EXPECT_EQ(judge("bf16.nn.ldd.pad1", hand_made::verified(seen)).reason, "leading-dimension-wrong-result");
  seen.unwritten = 3;
  EXPECT_EQ(judge("f32.nn.stride_d.pad1", hand_made::verified(seen)).reason, "batch-stride-unwritten");
  seen = right();
  seen.padding_bytes_changed = 2;
  const auto verdict = judge("f16.nn.ldd.pad1", hand_made::verified(seen));
  EXPECT_EQ(verdict.status, Status::fail);
  EXPECT_EQ(verdict.reason, "leading-dimension-out-of-bounds");
  seen = right();
  seen.a_bytes_changed = 2;
  EXPECT_EQ(judge("f16.nn.aligned", hand_made::verified(seen)).reason, "aligned-pointer-input-changed");
}

TEST_F(AlignmentTest, FailsWhenTheProcessOrContextEnds) {
  EXPECT_EQ(judge("f16.nn.bias.off2", hand_made::ended(ProcessEnd::crashed, "SIGSEGV")).reason, "crashed");
  EXPECT_EQ(judge("f16.nn.bias.off2", hand_made::ended(ProcessEnd::timed_out, "30 s")).reason, "timed-out");
  const auto verdict =
      judge("f16.nn.bias.off2", hand_made::ended(ProcessEnd::context_lost, "cudaErrorMisalignedAddress"));
  EXPECT_EQ(verdict.status, Status::fail);
  EXPECT_EQ(verdict.reason, "context-lost");
  EXPECT_NE(verdict.sentence.find("cudaErrorMisalignedAddress"), std::string::npos);
}

TEST_F(AlignmentTest, SkipsWhatDidNotFitAndReportsItsOwnErrors) {
  Observation observation;
  observation.not_run = "needs 12.0 GiB of GPU memory, 3.1 GiB are free";
  EXPECT_EQ(judge("f16.nn.aligned", observation).status, Status::skip);
  observation = {};
  observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
  EXPECT_EQ(judge("f16.nn.aligned", observation).status, Status::error);
}

TEST_F(AlignmentTest, WarnsWhenNothingIsProvenOrTheCallIsSlow) {
  auto seen = right();
  seen.expected_nonzero = 0;
  EXPECT_EQ(judge("f16.nn.aligned", hand_made::verified(seen)).reason, "aligned-pointer-unproven");
  auto observation = hand_made::worked();
  observation.facts[kSlowCallFact] = "1000";
  EXPECT_EQ(judge("f16.nn.aligned", observation).status, Status::warn);
}

TEST_F(AlignmentTest, ThePageExplainsEveryPartOfAReason) {
  const auto page = page_of("alignment");
  for (const std::string_view word : {"overdeclared-pointer",
                                      "declared-pointer",
                                      "leading-dimension",
                                      "batch-stride",
                                      "bias",
                                      "workspace",
                                      "aligned-pointer",
                                      "refused-though-documented",
                                      "wrong-result",
                                      "unwritten",
                                      "out-of-bounds",
                                      "input-changed",
                                      "crashed",
                                      "timed-out",
                                      "context-lost",
                                      "refused-late",
                                      "accepted-against-rule",
                                      "slower",
                                      "unproven",
                                      "not-run",
                                      "audit-error",
                                      "cublas-accepts-what-lt-refuses"}) {
    EXPECT_NE(page.find(word), std::string_view::npos) << word;
  }
}

}  // namespace
}  // namespace lt_audit
