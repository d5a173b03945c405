// JUnit XML: what becomes a failure, an error, skipped or a pass.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "report/formats.h"
#include "report/sample_formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::string junit_of(const Report& report, const Annotations& annotations = {}) {
  std::ostringstream out;
  write_junit(report, annotations, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// From the opening of a test case to the next one's.
std::string case_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("name=\"" + name + "\"");
  return at == std::string::npos ? "" : text.substr(at, text.find("<testcase", at) - at);
}

TEST(JUnit, HasASuiteForEachCheckWithItsCounts) {
  const std::string text = junit_of(sample_report());
  EXPECT_TRUE(contains(text, "<testsuites name=\"lt-audit\" tests=\"10\" failures=\"2\" errors=\"1\" time=\"2.900\">"))
      << text;
  EXPECT_TRUE(contains(text,
                       "<testsuite name=\"lt-audit.alignment\" tests=\"4\" failures=\"0\" errors=\"1\" skipped=\"1\" "
                       "time=\"0.600\" timestamp=\"2026-11-29T20:16:22Z\" hostname=\"gpu01.example.org\">"))
      << text;
  EXPECT_TRUE(
      contains(text, "<testsuite name=\"lt-audit.two-gpu\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_TRUE(contains(text, "message=\"needs two GPUs, one is there\""));
  EXPECT_TRUE(contains(text, "<property name=\"cublaslt\" value=\"13.1.0\"/>"));
  EXPECT_FALSE(contains(text, "lt-audit.gate"));
}

TEST(JUnit, AFailureSaysWhatAPersonNeeds) {
  const std::string one = case_of(junit_of(sample_report()), "f32.f16.t");
  EXPECT_TRUE(contains(
      one, "<failure type=\"may-refuse-out_of_bounds\" message=\"the case f32.f16.t ended as out_of_bounds\">"))
      << one;
  for (const char* part : {"problem   m=256,n=256,k=256,a=f32,ta=t,d=f16,compute=32f_fast_tf32\n",
                           "expected  refused: ", "remedy    keep C and D in FP32", "again     lt-audit replay"}) {
    EXPECT_TRUE(contains(one, part)) << part << one;
  }
}

TEST(JUnit, AWarningIsAPassThatSaysSo) {
  const std::string one = case_of(junit_of(sample_report()), "f16.a.off2");
  EXPECT_TRUE(contains(one, "time=\"0.000121\"")) << one;
  EXPECT_TRUE(contains(one, "<system-out>warn: may-refuse-late_refusal")) << one;
  EXPECT_FALSE(contains(one, "<failure")) << one;
}

TEST(JUnit, WaivedIsSkippedKnownPassesAndAClosedGateFails) {
  const std::string text = junit_of(sample_report(), sample_annotations());
  EXPECT_TRUE(contains(case_of(text, "f16.a.off2"),
                       "<skipped type=\"may-refuse-late_refusal\" message=\"waived until 2027-01-31: the application"));
  EXPECT_TRUE(contains(case_of(text, "f32.f16.t"), "<system-out>known in the baseline: fail"));
  EXPECT_FALSE(contains(case_of(text, "f32.f16.t"), "<failure"));
  EXPECT_TRUE(contains(case_of(text, "f32.f16.n"), "<failure"));
  EXPECT_TRUE(
      contains(text, "<testsuite name=\"lt-audit.gate\" tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\""));
  EXPECT_TRUE(contains(case_of(text, "2. case-missing"),
                       "message=\"2 cases of the baseline are missing\">alignment/x\nalignment/y\n"));
  EXPECT_TRUE(contains(text, "waiver-stale: a waiver matches nothing any more\nnext      remove entry 3"));
}

TEST(JUnit, AnOpenGateIsAPass) {
  Annotations annotations;
  annotations.gate = GateDecision{};
  EXPECT_TRUE(
      contains(junit_of(sample_report(), annotations), "<testcase classname=\"lt-audit.gate\" name=\"open\"/>"));
}

TEST(JUnit, AReportThatIsNotWholeIsAnError) {
  Report report = sample_report();
  report.complete = false;
  report.incomplete_reason = "interrupted by SIGINT";
  EXPECT_TRUE(contains(junit_of(report),
                       "<error type=\"incomplete\" message=\"the audit is not complete: interrupted by SIGINT\">"));
  report.complete = true;
  report.checks.clear();
  EXPECT_TRUE(contains(junit_of(report), "<error type=\"nothing-audited\""));
}

TEST(JUnit, SaysThatASimulatorAnswered) {
  Report report = sample_report();
  report.target.kind = PlatformKind::simulator;
  EXPECT_TRUE(contains(junit_of(report), "<property name=\"target\" value=\"simulator: no GPU was audited\"/>"));
}

TEST(JUnit, ARedactedReportNamesNoHost) { EXPECT_FALSE(contains(junit_of(redacted(sample_report())), "hostname")); }

TEST(JUnit, HostileTextStaysText) {
  const std::string text = junit_of(hostile_report(), hostile_annotations());
  EXPECT_FALSE(contains(text, "<script"));
  EXPECT_FALSE(contains(text, "]]>"));
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\n::error"));
}

}  // namespace
}  // namespace lt_audit
