// Markdown: fits a comment, worst first, and nothing of the report becomes active.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "report/formats.h"
#include "report/sample_formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::string markdown_of(const Report& report, const Annotations& annotations = {}) {
  std::ostringstream out;
  write_markdown(report, annotations, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Markdown, HasHeadlineTableAndFindingsWorstFirst) {
  const std::string text = markdown_of(sample_report());
  EXPECT_EQ(text.rfind("## lt-audit: 2 fail, 1 warn, 1 error of 9 cases\n", 0), 0U) << text;
  EXPECT_TRUE(contains(text, "| alignment | 4 | 1 | 1 |  | 1 | 1 | 0.6 s |\n")) << text;
  EXPECT_TRUE(contains(text, "| two-gpu | skip: needs two GPUs, one is there | | | | | | |\n")) << text;
  EXPECT_LT(text.find("<b>fail</b> compute-type"), text.find("<b>warn</b> alignment"));
  EXPECT_TRUE(contains(text, "- again: `lt-audit replay 'm=64,n=64,k=64,a=f16,a_offset=2'`\n")) << text;
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
}

TEST(Markdown, TheGateStandsOnTopAndWaivedAndKnownApart) {
  const std::string text = markdown_of(sample_report(), sample_annotations());
  EXPECT_EQ(text.rfind("## lt-audit: gate closed: 2 reasons, ", 0), 0U) << text;
  EXPECT_LT(text.find("- **case-missing**: 2 cases of the baseline are missing\n  - alignment/x\n"),
            text.find("| check |"));
  EXPECT_TRUE(contains(text, "Remarks:\n\n- **waiver-stale**")) << text;
  EXPECT_TRUE(contains(text, "written as FP32 (2 cases, 1 of them new and not waived)</summary>")) << text;
  EXPECT_TRUE(contains(text, "### Waived\n\n- warn alignment: A pointer below 16 bytes")) << text;
  EXPECT_TRUE(contains(text, "waived until 2027-01-31")) << text;
  EXPECT_TRUE(contains(text, "### Known from the baseline\n\n- fail compute-type: ")) << text;
  EXPECT_EQ(count_of(text, "<details>"), 1U);
}

TEST(Markdown, SaysFirstThatASimulatorAnsweredOrTheAuditIsNotWhole) {
  Report report = sample_report();
  report.target.kind = PlatformKind::simulator;
  report.complete = false;
  const std::string text = markdown_of(report);
  EXPECT_LT(text.find("> **SIMULATOR: no GPU was audited"), text.find("| check |"));
  EXPECT_LT(text.find("> **the audit is not complete"), text.find("| check |"));
}

TEST(Markdown, FitsACommentAndSaysWhatIsLeftOut) {
  const std::string text = markdown_of(large_report(5000));
  EXPECT_LE(text.size(), 65536U);
  EXPECT_GT(text.size(), 60000U);
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
  const std::size_t left = text.find("**Something is left out here** (");
  ASSERT_NE(left, std::string::npos);
  const std::size_t number = std::stoul(text.substr(left + 32));
  EXPECT_EQ(number + count_of(text, "<details>"), 500U);
}

TEST(Markdown, OfACleanReportSaysThatThereAreNoFindings) {
  Report report = sample_report();
  report.findings.clear();
  EXPECT_TRUE(contains(markdown_of(report), "No findings.\n"));
}

TEST(Markdown, HostileTextIsInert) {
  const std::string text = markdown_of(hostile_report(), hostile_annotations());
  EXPECT_LE(text.size(), 65536U);
  for (const char* active :
       {"@everyone", " #1 ", "GH-12", "https://evil", "www.evil", "[link]", "<script", "\x1b", "\xFF"}) {
    // In a code span nothing is active: there the text is as it was, and commands alone stand in one.
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("- again: `", 0) == 0 || line.rfind("- called: `", 0) == 0) continue;
      EXPECT_FALSE(contains(line, active)) << active << " in " << line.substr(0, 300);
    }
  }
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</summary>"));
}

}  // namespace
}  // namespace lt_audit
