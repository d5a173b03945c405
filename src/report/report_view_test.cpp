// How cases count once waivers and a baseline are known.
#include "report/report_view.h"

#include <gtest/gtest.h>

#include "report/sample_formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

TEST(ReportView, TellsNewKnownAndWaivedApart) {
  const Report report = sample_report();
  const Annotations annotations = sample_annotations();
  const ReportView views(report, annotations);
  const CheckResult& alignment = report.checks[0];
  const CheckResult& compute = report.checks[1];
  EXPECT_EQ(views.view(alignment, alignment.cases[0]).standing, Standing::pass);
  EXPECT_EQ(views.view(alignment, alignment.cases[1]).standing, Standing::waived);
  EXPECT_EQ(views.view(alignment, alignment.cases[2]).standing, Standing::skip);
  EXPECT_EQ(views.view(alignment, alignment.cases[3]).standing, Standing::error);
  EXPECT_EQ(views.view(compute, compute.cases[2]).standing, Standing::fail);
  EXPECT_EQ(views.view(compute, compute.cases[3]).standing, Standing::known);
  const FindingTally& tally = views.tally(report.findings[1]);
  EXPECT_EQ(tally.open, 1U);
  EXPECT_EQ(tally.known, 1U);
  EXPECT_EQ(tally.first, &compute.cases[2]);
  EXPECT_EQ(views.tally(report.findings[0]).waived, 1U);
}

TEST(ReportView, AnErrorIsNeitherKnownNorWaived) {
  const Report report = sample_report();
  Annotations annotations;
  annotations.has_baseline = true;
  annotations.notes["alignment/f16.broken"] = CaseNote{false, AppliedWaiver{"r", "2030-01-01", ""}};
  EXPECT_EQ(ReportView(report, annotations).view(report.checks[0], report.checks[0].cases[3]).standing,
            Standing::error);
}

TEST(ReportView, PutsEachCaseIntoTheCommandOfItsFinding) {
  Report report = sample_report();
  CheckResult& compute = report.checks[1];
  const Annotations none;
  report.findings[1].repro = "lt-audit replay '" + compute.cases[2].problem + "' --seed 3";
  EXPECT_EQ(ReportView(report, none).again(ReportView(report, none).view(compute, compute.cases[3])),
            "lt-audit replay '" + compute.cases[3].problem + "' --seed 3");
  report.findings[1].repro = "lt-audit replay 'r.json:compute-type/f32.f16.n'";
  EXPECT_EQ(ReportView(report, none).again(ReportView(report, none).view(compute, compute.cases[3])),
            "lt-audit replay 'r.json:compute-type/f32.f16.t'");
}

TEST(ReportView, PutsNothingIntoACommandThatCouldLeaveItsQuotes) {
  Report report = sample_report();
  CheckResult& compute = report.checks[1];
  const std::string command = "lt-audit replay '" + compute.cases[2].problem + "'";
  report.findings[1].repro = command;
  compute.cases[3].problem = "m=1'; rm -rf /; '";
  const Annotations none;
  const ReportView views(report, none);
  EXPECT_EQ(views.again(views.view(compute, compute.cases[3])), command);
}

TEST(WorkloadPlace, ReadsFileAndLineAndRefusesWhatIsNone) {
  CaseResult result;
  const auto place = [&result](const std::string& source) {
    result.parameters["source"] = source;
    return workload_place(result);
  };
  EXPECT_FALSE(workload_place(result));
  ASSERT_TRUE(place("a:b.log:12"));
  EXPECT_EQ(place("a:b.log:12")->file, "a:b.log");
  EXPECT_EQ(place("a:b.log:12")->line, 12U);
  for (const char* none : {"", ":", "a", "a:", ":3", "a:0", "a:x", "a:3x", "a:99999999999", "(standard input):3"}) {
    EXPECT_FALSE(place(none)) << none;
  }
}

TEST(CaseSeconds, IsNotTakenFromATextOfTheLog) {
  CaseResult result;
  result.observation = R"({"log":[{"text":"\"host_us\":5"}],"times":{"host_us":1500000.5,"matmul_us":1}})";
  ASSERT_TRUE(case_seconds(result));
  EXPECT_DOUBLE_EQ(*case_seconds(result), 1.5000005);
  for (const char* none : {"", "{}", R"({"host_us":"x"})", R"({"host_us":-1})", R"({"host_us":)"}) {
    result.observation = none;
    EXPECT_FALSE(case_seconds(result)) << none;
  }
}

TEST(AuditGap, NamesWhatMustNotBeTakenForClean) {
  Report report = sample_report();
  EXPECT_EQ(audit_gap(report), "");
  report.complete = false;
  EXPECT_NE(audit_gap(report), "");
  report.complete = true;
  report.checks.resize(3);
  report.checks.erase(report.checks.begin(), report.checks.begin() + 2);
  EXPECT_EQ(audit_gap(report), "nothing was audited: the report has no case");
}

}  // namespace
}  // namespace lt_audit
