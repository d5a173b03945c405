// The decision: what closes a gate, and that nothing else does.
#include "gate/gate.h"

#include <gtest/gtest.h>

#include "gate/gate_test_reports.h"

namespace lt_audit {
namespace {

GateResult decided(const Report& report, const GateOptions& options = gate_options()) {
  return decide(report, nullptr, {}, options);
}

GateResult against(const Report& report, const Report& baseline, const GateOptions& options = gate_options()) {
  return decide(report, &baseline, {}, options);
}

Codes reasons(const GateResult& result) { return codes_of(result.decision().reasons); }

TEST(Gate, OpensForACleanReport) {
  const auto result = decided(gate_report({gate_case("a", Status::pass)}));
  EXPECT_TRUE(result.decision().open);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.decision().reasons.empty());
  EXPECT_FALSE(result.annotations.has_baseline);
}

TEST(Gate, TheThresholdDecidesWhichFindingsCloseIt) {
  const Report report = gate_report({gate_case("a", Status::warn), gate_case("b", Status::fail, "wrong")});
  EXPECT_EQ(decided(report).counts.closing, 1U);
  EXPECT_EQ(decided(report).counts.below, 1U);
  EXPECT_EQ(decided(report).exit_code, 1);
  EXPECT_EQ(decided(report, gate_options(FailOn::warn)).counts.closing, 2U);
  EXPECT_EQ(decided(report, gate_options(FailOn::none)).exit_code, 0);
  const auto notes = decided(report).annotations;
  EXPECT_TRUE(notes.note_of("alignment", "a").is_new);
  EXPECT_EQ(notes.notes.size(), 2U);
}

TEST(Gate, FindingsOfTheBaselineDoNotCloseItWhateverTheirIdsWordsAndOrder) {
  const Report old =
      gate_report({gate_case("a", Status::fail), gate_case("b", Status::fail, "wrong"), gate_case("c", Status::pass)});
  Report now = gate_report(
      {gate_case("other", Status::fail, "wrong"), gate_case("x", Status::pass), gate_case("y", Status::fail)});
  now.checks[0].cases[0].sentence = "in other words";
  const auto result = against(now, old);
  EXPECT_EQ(result.exit_code, 0) << result.decision().reasons.front().title;
  EXPECT_EQ(result.counts.known, 2U);
  EXPECT_FALSE(result.annotations.note_of("alignment", "y").is_new);
}

TEST(Gate, OneMoreOfTheSameFindingIsNewAndItsIdTellsWhich) {
  const Report old =
      gate_report({gate_case("a", Status::fail), gate_case("b", Status::fail), gate_case("c", Status::pass)});
  const Report now =
      gate_report({gate_case("c", Status::fail), gate_case("a", Status::fail), gate_case("b", Status::fail)});
  const auto result = against(now, old);
  EXPECT_EQ(reasons(result), Codes{"new-finding"});
  EXPECT_EQ(result.counts.closing, 1U);
  ASSERT_EQ(result.decision().reasons[0].details.size(), 1U);
  EXPECT_TRUE(result.decision().reasons[0].details[0].starts_with("alignment/c: "));
  EXPECT_TRUE(result.annotations.note_of("alignment", "c").is_new);
  EXPECT_FALSE(result.annotations.note_of("alignment", "a").is_new);
}

TEST(Gate, AnotherCauseCheckOrProblemIsNew) {
  const Report old = gate_report({gate_case("a", Status::fail)});
  EXPECT_EQ(reasons(against(gate_report({gate_case("a", Status::fail, "other")}), old)), Codes{"new-finding"});
  Report other_check = old;
  other_check.checks.push_back(other_check.checks[0]);
  other_check.checks[1].id = "workspace";
  EXPECT_EQ(reasons(against(other_check, old)), Codes{"new-finding"});
  const Report other_problem =
      gate_report({gate_case("a", Status::fail), gate_case("b", Status::fail, "late", kProblem + ",ta=t")});
  EXPECT_EQ(reasons(against(other_problem, old)), Codes{"new-finding"});
}

TEST(Gate, WarnThatBecameFailIsWorseAndFailThatBecameWarnIsKnown) {
  const Report warns = gate_report({gate_case("a", Status::warn)});
  const Report fails = gate_report({gate_case("a", Status::fail)});
  EXPECT_EQ(reasons(against(fails, warns)), Codes{"worse-finding"});
  EXPECT_EQ(against(warns, fails, gate_options(FailOn::warn)).exit_code, 0);
}

TEST(Gate, FindingsThatAreGoneAreARemark) {
  const auto result = against(gate_report({gate_case("a", Status::pass)}), gate_report({gate_case("a", Status::fail)}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.counts.gone, 1U);
  EXPECT_EQ(entry_of(result.decision().remarks, "gone").next, "take this report as the baseline: cp REPORT BASELINE");
  const auto shrunk = against(gate_report({gate_case("x", Status::pass, "", "m=1,n=1,k=1,a=f16")}),
                              gate_report({gate_case("a", Status::fail)}));
  EXPECT_EQ(entry_of(shrunk.decision().remarks, "gone").next, "");
}

TEST(Gate, AnAuditThatShrankIsNotGreen) {
  Report old = gate_report({gate_case("a", Status::pass), gate_case("b", Status::pass, "", kProblem + ",ta=t")});
  old.checks.push_back(CheckResult{"workspace", Status::pass, "", 0, {gate_case("w", Status::pass)}});
  Report now = old;
  now.checks[0].cases.pop_back();
  auto result = against(now, old);
  EXPECT_EQ(reasons(result), Codes{"case-missing"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.decision().reasons[0].details[0].starts_with("alignment/b: missing"));
  now = old;
  now.checks[0].cases[1].status = Status::skip;
  EXPECT_EQ(reasons(against(now, old)), Codes{"case-missing"});
  now = old;
  now.checks.pop_back();
  EXPECT_EQ(reasons(against(now, old)), Codes{"check-missing"});
  EXPECT_EQ(against(now, old).counts.missing, 1U);
  now = old;
  now.checks[1].cases[0].status = Status::skip;
  now.checks[1].skip_reason = "needs two GPUs";
  EXPECT_EQ(reasons(against(now, old)), Codes{"check-missing"});
  // What never ran is not missed, and an audit that grew is fine.
  EXPECT_EQ(against(old, now).exit_code, 0);
}

TEST(Gate, CasesAreCountedByProblemSoThatRenamedOnesAreNotMissing) {
  const Report old = gate_report({gate_case("a", Status::pass), gate_case("b", Status::pass)});
  EXPECT_EQ(against(gate_report({gate_case("x", Status::pass), gate_case("y", Status::pass)}), old).exit_code, 0);
  const auto result = against(gate_report({gate_case("b", Status::pass)}), old);
  ASSERT_EQ(reasons(result), Codes{"case-missing"});
  EXPECT_TRUE(result.decision().reasons[0].details[0].starts_with("alignment/a: "));
}

TEST(Gate, RequiredChecksMustHaveRun) {
  const Report report = sample_report();
  GateOptions options = gate_options(FailOn::none);
  options.require = {"compute-*", "aligment", "two-gpu"};
  const auto entries = decided(report, options).decision().reasons;
  ASSERT_EQ(codes_of(entries), (Codes{"error-cases", "required-missing", "required-missing"}));
  EXPECT_NE(entries[1].title.find("did you mean 'alignment'?"), std::string::npos);
  EXPECT_NE(entries[2].title.find("no case of it ran"), std::string::npos);
}

TEST(Gate, AReportThatCannotBeReliedUponClosesItWithThreeAtAnyThreshold) {
  const GateOptions options = gate_options(FailOn::none);
  const Report good = gate_report({gate_case("a", Status::pass)});
  const auto expect = [&](const char* code, const Report& report) {
    const auto result = decided(report, options);
    EXPECT_EQ(reasons(result), Codes{code});
    EXPECT_EQ(result.exit_code, 3) << code;
  };
  Report report = good;
  report.complete = false;
  expect("incomplete", report);
  report = good;
  report.fault = "wrong-element";
  expect("planted-fault", report);
  report = good;
  report.target.kind = PlatformKind::simulator;
  expect("simulator", report);
  expect("nothing-ran", gate_report({}));
  expect("nothing-ran", gate_report({gate_case("a", Status::skip)}));
  expect("error-cases", gate_report({gate_case("a", Status::pass), gate_case("b", Status::error)}));
  report = good;
  report.findings = sample_report().findings;
  expect("inconsistent", report);
}

TEST(Gate, TheSimulatorIsTakenWhenAskedFor) {
  Report report = gate_report({gate_case("a", Status::pass)});
  report.target.kind = PlatformKind::simulator;
  GateOptions options = gate_options();
  options.allow_simulator = true;
  EXPECT_EQ(decided(report, options).exit_code, 0);
}

TEST(Gate, AnUnreliableReportWinsOverItsFindingsAndStandsFirst) {
  Report report = gate_report({gate_case("a", Status::fail), gate_case("b", Status::error)});
  const auto result = decided(report);
  EXPECT_EQ(reasons(result), (Codes{"error-cases", "new-finding"}));
  EXPECT_EQ(result.exit_code, 3);
}

TEST(Gate, TheAgeCountsOnlyWhenAskedFor) {
  Report report = gate_report({gate_case("a", Status::pass)});
  GateOptions options = gate_options();
  report.started = "2020-01-01T00:00:00Z";
  EXPECT_EQ(decided(report, options).exit_code, 0);
  options.max_age_days = 1;
  for (const char* bad : {"2020-01-01T00:00:00Z", "2026-11-30T11:59:59Z", "2026-12-02T12:00:01Z", "", "yesterday",
                          "2026-13-01T00:00:00Z", "2026-12-01 00:00:00Z"}) {
    report.started = bad;
    EXPECT_EQ(reasons(decided(report, options)), Codes{"too-old"}) << bad;
  }
  for (const char* good : {"2026-12-01T11:00:00Z", "2026-11-30T12:00:00Z", "2026-12-02T12:00:00Z"}) {
    report.started = good;
    EXPECT_EQ(decided(report, options).exit_code, 0) << good;
  }
}

TEST(Gate, ABaselineThatNothingCanBeHeldAgainstClosesIt) {
  const Report report = gate_report({gate_case("a", Status::pass)});
  Report old = report;
  old.complete = false;
  EXPECT_EQ(reasons(against(report, old)), Codes{"baseline-unfit"});
  old = report;
  old.fault = "crash";
  EXPECT_EQ(against(report, old).exit_code, 3);
  old = report;
  old.target.kind = PlatformKind::simulator;
  EXPECT_NE(against(report, old).decision().reasons[0].title.find("the simulator"), std::string::npos);
  EXPECT_EQ(reasons(against(report, gate_report({}))), Codes{"baseline-unfit"});
}

TEST(Gate, AnotherGpuLibraryOrDepthOfTheBaselineIsARemark) {
  const Report report = gate_report({gate_case("a", Status::pass)});
  Report old = report;
  old.target.device_facts.name = "NVIDIA H100";
  old.target.cublaslt.minor = 0;
  old.depth = "full";
  const auto result = against(report, old);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(codes_of(result.decision().remarks), (Codes{"environment", "other-depth"}));
  EXPECT_EQ(result.decision().remarks[0].details,
            (std::vector<std::string>{"GPU: NVIDIA H100, now NVIDIA H200", "cuBLASLt: 13.0.0, now 13.1.0"}));
}

TEST(Gate, FindingsAreGroupedByCauseFailingAndManyFirst) {
  Report report =
      gate_report({gate_case("w", Status::warn, "late", "m=1,n=1,k=1,a=f16"), gate_case("a", Status::fail, "one"),
                   gate_case("b", Status::fail, "two"), gate_case("c", Status::fail, "two")});
  report.findings = {Finding{"alignment.two", "alignment", Status::fail, "Two things", 2, "", "", "", "", "", {}}};
  const auto result = decided(report, gate_options(FailOn::warn));
  const auto& entries = result.decision().reasons;
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].title, "alignment, 2 cases fail: Two things");
  EXPECT_EQ(entries[0].next, "lt-audit show REPORT alignment/b");
  EXPECT_EQ(entries[1].title, "alignment, 1 case fails: one");
  EXPECT_EQ(entries[2].title, "alignment, 1 case warns: late");
}

TEST(Gate, PathsAndCasesAreQuotedInCommands) {
  GateOptions options = gate_options();
  options.report_name = "my report.json";
  const auto result = decided(gate_report({gate_case("a;rm -rf ~", Status::fail)}), options);
  EXPECT_EQ(result.decision().reasons[0].next, "lt-audit show 'my report.json' 'alignment/a;rm -rf ~'");
}

TEST(Gate, CasesOfOneIdHideNothingOfEachOther) {
  const Report old = gate_report({gate_case("a", Status::fail)});
  const Report now = gate_report({gate_case("a", Status::fail), gate_case("a", Status::fail, "other")});
  const auto result = against(now, old);
  EXPECT_EQ(result.counts.closing, 1U);
  EXPECT_TRUE(result.annotations.note_of("alignment", "a").is_new);
}

}  // namespace
}  // namespace lt_audit
