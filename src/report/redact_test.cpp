// A redacted report names no person, machine or directory, and says the same otherwise.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "report/formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::string json_of(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

/// The text after it stood in a warning of a report that was redacted.
std::string redacted_text(const std::string& text) {
  Report report;
  report.environment.host = "gpu01.example.org";
  report.environment.user = "alice";
  report.environment.warnings = {text};
  return redacted(report).environment.warnings.front();
}

TEST(Redacted, NamesNeitherHostNorUserNorDirectories) {
  Report report = sample_report();
  report.findings[0].repro = "lt-audit replay 'm=1' --cublaslt '/home/alice/a b/libcublasLt.so'";
  report.findings[0].measured = "the worker on gpu01 died; see ~alice/core and /home/alice/core.1";
  report.checks[0].cases[0].sentence = "cannot open /home/alice/x";
  report.checks[0].cases[0].parameters["file"] = "file:///home/alice/x.json";
  report.checks[2].skip_reason = "alice may not use /dev/nvidia1";
  report.incomplete_reason = "stopped by alice@gpu01.example.org";
  ASSERT_NE(json_of(report).find("/home"), std::string::npos);
  const std::string text = json_of(redacted(report));
  for (const std::string secret :
       {"/home", "alice", "gpu01", "example.org", "/usr/", "/opt", "/dev", "my reports", "a b"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
  EXPECT_NE(text.find("libcublasLt.so.13.1.0.3"), std::string::npos) << "file names stay";
  EXPECT_NE(text.find("0123abcd"), std::string::npos) << "build ids stay";
  EXPECT_NE(text.find("See notes.txt"), std::string::npos) << "log texts of observations are redacted too";
  EXPECT_NE(text.find("\"host\": null"), std::string::npos);
}

TEST(Redacted, IsIdempotentAndKeepsCounts) {
  const Report once = redacted(sample_report());
  EXPECT_EQ(json_of(redacted(once)), json_of(once));
  EXPECT_EQ(summary_of(once).total, summary_of(sample_report()).total);
}

TEST(Redacted, LeavesWhatIsNoPathAlone) {
  for (const std::string text : {"f16/bf16 and a / b", "16 bytes/element", "and/or", "m=1,n=2", "malice aforethought",
                                 "see https://docs.nvidia.com/cuda/cublas/index.html"}) {
    EXPECT_EQ(redacted_text(text), text);
  }
}

TEST(Redacted, KeepsTheLastPartOfAPath) {
  EXPECT_EQ(redacted_text("loaded /usr/lib/libcublas.so, not \"/opt/a b/libcublas.so\""),
            "loaded libcublas.so, not \"libcublas.so\"");
  EXPECT_EQ(redacted_text("in /home/alice/"), "in [user]");
  EXPECT_EQ(redacted_text("~/reports/a.json"), "a.json");
  EXPECT_EQ(redacted_text("/a:/b/c"), "a:c");
}

TEST(Redacted, SurvivesADamagedObservation) {
  Report report = sample_report();
  report.checks[0].cases[0].observation = "{/home/alice";
  EXPECT_EQ(redacted(report).checks[0].cases[0].observation, "{}");
}

}  // namespace
}  // namespace lt_audit
