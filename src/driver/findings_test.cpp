// Which cases make one finding, in which order, and what it says.
#include "driver/findings.h"

#include <gtest/gtest.h>

#include "driver/fake_check.h"

namespace lt_audit {
namespace {

Verdict verdict(Status status, const std::string& reason, Outcome outcome = Outcome::late_refusal) {
  return {status, outcome, reason, "measured " + reason};
}

class FindingsTest : public testing::Test {
 protected:
  void add(std::size_t position, const Verdict& v, const std::string& id) {
    builder_.add(check_, fake_case(id), position, v, "again " + id);
  }

  FakeCheck check_{"fake", {}};
  FindingBuilder builder_;
};

TEST_F(FindingsTest, GroupsByStatusAndReason) {
  add(0, verdict(Status::warn, "late"), "a");
  add(1, verdict(Status::fail, "wrong"), "b");
  add(2, verdict(Status::warn, "late"), "c");
  add(3, verdict(Status::pass, ""), "d");
  add(4, verdict(Status::skip, "not-run"), "e");
  const auto findings = builder_.findings();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].id, "fake.wrong");
  EXPECT_EQ(findings[1].id, "fake.late");
  EXPECT_EQ(findings[1].count, 2U);
  EXPECT_EQ(findings[1].cases, (std::vector<std::string>{"a", "c"}));
}

TEST_F(FindingsTest, TheFirstCaseOfThePlanExplainsWhateverRanFirst) {
  add(5, verdict(Status::fail, "wrong"), "later");
  add(2, verdict(Status::fail, "wrong"), "earlier");
  add(7, verdict(Status::fail, "wrong"), "last");
  const auto finding = builder_.findings().at(0);
  EXPECT_EQ(finding.expected, "expected of earlier");
  EXPECT_EQ(finding.repro, "again earlier");
  EXPECT_EQ(finding.measured, "measured wrong");
  EXPECT_EQ(finding.cases, (std::vector<std::string>{"earlier", "later", "last"}));
}

TEST_F(FindingsTest, SortsBySeverityThenCountThenId) {
  add(0, verdict(Status::warn, "w1"), "a");
  add(1, verdict(Status::error, "e1", Outcome::wrong_result), "b");
  add(2, verdict(Status::fail, "f-one"), "c");
  add(3, verdict(Status::fail, "f-two"), "d");
  add(4, verdict(Status::fail, "f-two"), "e");
  add(5, verdict(Status::fail, "f-aaa"), "f");
  std::vector<std::string> ids;
  for (const auto& finding : builder_.findings()) ids.push_back(finding.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"fake.f-two", "fake.f-aaa", "fake.f-one", "fake.e1", "fake.w1"}));
}

TEST_F(FindingsTest, IdsStayUniqueWhenAReasonHasTwoStatuses) {
  add(0, verdict(Status::warn, "late"), "a");
  add(1, verdict(Status::fail, "late"), "b");
  const auto findings = builder_.findings();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].id, "fake.late.fail");
  EXPECT_EQ(findings[1].id, "fake.late.warn");
}

TEST_F(FindingsTest, ACrashIsExplainedWithoutTheCheck) {
  for (const auto outcome : {Outcome::crashed, Outcome::timed_out, Outcome::context_lost, Outcome::audit_error}) {
    const auto advice = advice_for(check_, fake_case("a"), verdict(Status::fail, "reason", outcome));
    EXPECT_EQ(advice.title.find("title of"), std::string::npos) << advice.title;
    EXPECT_FALSE(advice.expected.empty());
    EXPECT_FALSE(advice.remedy.empty());
  }
}

/// Passes everything, or throws.
class BadJudge : public FakeCheck {
 public:
  explicit BadJudge(bool throws) : FakeCheck("bad", {}), throws_(throws) {}
  Verdict judge(const Case&, const Observation&) const override {
    if (throws_) throw std::runtime_error("no stage");
    return {};
  }

 private:
  bool throws_;
};

TEST(JudgeCase, NoCheckCanOverlookACrashAHangOrALostContext) {
  for (const auto end : {ProcessEnd::crashed, ProcessEnd::timed_out, ProcessEnd::context_lost}) {
    Observation observation;
    observation.end = end;
    EXPECT_EQ(judge_case(BadJudge(false), fake_case("a"), observation).status, Status::fail);
  }
}

TEST(JudgeCase, NoCheckCanOverlookAnErrorOrACaseThatWasNotRun) {
  Observation error;
  error.audit_error = "broke";
  EXPECT_EQ(judge_case(BadJudge(false), fake_case("a"), error).status, Status::error);
  Observation not_run;
  not_run.not_run = "needs 12 GiB";
  EXPECT_EQ(judge_case(BadJudge(false), fake_case("a"), not_run).status, Status::skip);
}

TEST(JudgeCase, AJudgementThatThrowsIsAnError) {
  const auto judged = judge_case(BadJudge(true), fake_case("a"), {});
  EXPECT_EQ(judged.status, Status::error);
  EXPECT_NE(judged.sentence.find("no stage"), std::string::npos);
  EXPECT_FALSE(judged.reason.empty());
}

TEST(Repro, IsTheProblemWithWhatTheRunWasGiven) {
  const FakeCheck check("fake", {});
  WorkerOptions worker;
  EXPECT_EQ(repro_command(check, fake_case("a"), worker, PlatformKind::gpu, "r.json"),
            "lt-audit replay 'm=16,n=16,k=16,a=f32'");
  worker.fault = "crash";
  worker.seed = 9;
  worker.device = 1;
  worker.libraries.cublaslt = "/opt/it's/libcublasLt.so.13";
  EXPECT_EQ(repro_command(check, fake_case("a"), worker, PlatformKind::simulator, "r.json"),
            "lt-audit replay 'm=16,n=16,k=16,a=f32' --target simulator --device 1 "
            "--cublaslt '/opt/it'\\''s/libcublasLt.so.13' --inject crash --seed 9");
}

TEST(Repro, NamesTheReportsCaseForAScenario) {
  auto the_case = fake_case("two-captures");
  the_case.scenario = true;
  EXPECT_EQ(repro_command(FakeCheck("graph", {}), the_case, {}, PlatformKind::gpu, "my reports/h200.json"),
            "lt-audit replay 'my reports/h200.json:graph/two-captures'");
}

}  // namespace
}  // namespace lt_audit
