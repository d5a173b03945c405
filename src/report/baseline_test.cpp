// Which findings a baseline does not have.
#include "report/baseline.h"

#include <gtest/gtest.h>

#include "report/sample_report.h"

namespace lt_audit {
namespace {

Report report_of(std::vector<CaseResult> cases) {
  Report report;
  report.checks = {CheckResult{"alignment", Status::fail, "", 0, std::move(cases)}};
  return report;
}

CaseResult failed(const std::string& id, const std::string& problem) {
  return sample_case(id, problem, Status::fail, Outcome::refused);
}

TEST(Baseline, KnowsAFindingByCheckProblemAndCause) {
  Report report = report_of({failed("renamed", "m=1"), failed("other-problem", "m=2")});
  report.checks[0].cases.push_back(sample_case("other-cause", "m=1", Status::fail, Outcome::unwritten));
  report.checks[0].cases.push_back(sample_case("right", "m=1", Status::pass, Outcome::correct));
  Annotations annotations;
  mark_new_findings(report_of({failed("old-name", "m=1")}), report, annotations);
  EXPECT_TRUE(annotations.has_baseline);
  EXPECT_FALSE(annotations.note_of("alignment", "renamed").is_new);
  EXPECT_TRUE(annotations.note_of("alignment", "other-problem").is_new);
  EXPECT_TRUE(annotations.note_of("alignment", "other-cause").is_new);
  EXPECT_EQ(annotations.notes.count("alignment/right"), 0U);
}

TEST(Baseline, CountsHowOftenAFindingIsThere) {
  Annotations annotations;
  mark_new_findings(report_of({failed("a", "m=1")}), report_of({failed("x", "m=1"), failed("y", "m=1")}), annotations);
  EXPECT_FALSE(annotations.note_of("alignment", "x").is_new);
  EXPECT_TRUE(annotations.note_of("alignment", "y").is_new);
}

TEST(Baseline, OfADoubleIdTellsTheNewOne) {
  Annotations annotations;
  mark_new_findings(report_of({failed("a", "m=1")}), report_of({failed("a", "m=2"), failed("a", "m=1")}), annotations);
  EXPECT_TRUE(annotations.note_of("alignment", "a").is_new);
}

}  // namespace
}  // namespace lt_audit
