// Annotations of GitHub: at most ten of a kind, and no command but ours.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "report/formats.h"
#include "report/sample_formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::vector<std::string> lines_of(const Report& report, const Annotations& annotations = {}) {
  std::ostringstream out;
  write_github_annotations(report, annotations, out);
  std::istringstream text(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Github, AnnotatesEachFindingOnce) {
  const auto lines = lines_of(sample_report());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(
      lines[0].rfind("::error title=lt-audit compute-type%3A FP32 inputs into a narrower D are accepted and written "
                     "as FP32::fail, 2 cases%0Ameasured: cublasLtMatmul returns SUCCESS",
                     0),
      0U)
      << lines[0];
  EXPECT_EQ(lines[1].rfind("::warning title=lt-audit alignment%3A", 0), 0U) << lines[1];
}

TEST(Github, NamesTheLineOfTheWorkload) {
  EXPECT_TRUE(contains(lines_of(workload_report()).at(0), ",file=logs/app 1.log,line=12::"));
}

TEST(Github, LeavesOutWhatIsKnownOrWaivedAndNamesWhatClosedTheGate) {
  Annotations annotations = sample_annotations();
  annotations.notes["compute-type/f32.f16.n"] = CaseNote{false, std::nullopt};
  const auto lines = lines_of(sample_report(), annotations);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "::error title=lt-audit gate%3A new-finding::1 new finding%0Anext: lt-audit show r.json");
}

TEST(Github, ShowsTenOfAKindAndSaysHowManyMore) {
  const auto lines = lines_of(large_report(250));
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines.back(),
            "::notice title=lt-audit::Not annotated: 15 errors more, since GitHub shows 10 of a kind for a step. The "
            "report has "
            "all.");
}

TEST(Github, AnAuditThatIsNotWholeIsAnErrorAndASimulatorAWarning) {
  Report report = sample_report();
  report.findings.clear();
  report.complete = false;
  report.target.kind = PlatformKind::simulator;
  const auto lines = lines_of(report);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(contains(lines[0], "::warning title=lt-audit%3A not an audit of this GPU::SIMULATOR")) << lines[0];
  EXPECT_TRUE(contains(lines[1], "::error title=lt-audit%3A no whole audit::the audit is not complete")) << lines[1];
}

TEST(Github, HostileTextCannotAddACommandOrAProperty) {
  for (const std::string& line : lines_of(hostile_report(), hostile_annotations())) {
    EXPECT_TRUE(line.rfind("::error title=lt-audit", 0) == 0 || line.rfind("::warning title=lt-audit", 0) == 0) << line;
    const std::string properties = line.substr(2, line.find("::", 2) - 2);
    EXPECT_FALSE(contains(properties, "\n"));
    EXPECT_FALSE(contains(line, "\x1b"));
  }
}

}  // namespace
}  // namespace lt_audit
