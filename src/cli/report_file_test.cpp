// Where the report goes, the exit code it leads to, and how a place in it is written.
#include "cli/report_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/exit_code.h"
#include "cli/report_place.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

/// A directory of its own for each test.
class ReportFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "lt_audit_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::filesystem::path directory_;
};

std::string refusal(const std::string& path) {
  try {
    ReportFile(path, false).require_writable();
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_run);
    return error.what();
  }
  return "";
}

Report report_with(std::initializer_list<Status> statuses) {
  Report report;
  report.complete = true;
  report.checks.resize(1);
  report.checks.front().id = "alignment";
  int number = 0;
  for (const Status status : statuses) {
    CaseResult result;
    result.id = "c" + std::to_string(++number);
    result.status = status;
    report.checks.front().cases.push_back(result);
  }
  return report;
}

TEST_F(ReportFileTest, RefusesWhatCannotBeWrittenAndSaysWhy) {
  EXPECT_NE(refusal(path("missing/r.json")).find("No such file"), std::string::npos);
  EXPECT_NE(refusal(directory_.string()).find("it is a directory"), std::string::npos);
  EXPECT_NE(refusal("/proc/r.json").find("/proc"), std::string::npos);
  std::ofstream(path("file")) << "x";
  EXPECT_NE(refusal(path("file/r.json")).find("is not a directory"), std::string::npos);
}

TEST_F(ReportFileTest, LooksWithoutLeavingOrChangingAnything) {
  std::ofstream(path("old.json")) << "old";
  EXPECT_EQ(refusal(path("old.json")), "");
  EXPECT_EQ(refusal(path("new.json")), "");
  std::string content;
  std::ifstream(path("old.json")) >> content;
  EXPECT_EQ(content, "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(ReportFileTest, StandardOutputAndNoFileNeedNoLook) {
  EXPECT_EQ(refusal("-"), "");
  EXPECT_EQ(refusal(""), "");
  EXPECT_TRUE(ReportFile("/dev/stdout", false).is_stdout());
}

TEST_F(ReportFileTest, AStreamThatFailsIsAnError) {
  std::ostringstream out;
  const ReportFile file("-", false);
  file.finish(report_with({Status::pass}), out);
  EXPECT_EQ(out.str().front(), '{');
  out.setstate(std::ios::badbit);
  EXPECT_THROW(file.finish(report_with({Status::pass}), out), AuditError);
}

TEST_F(ReportFileTest, ACheckpointThatFailsDoesNotEndTheAuditButTheEndSaysSo) {
  ReportFile file(path("gone/r.json"), false);
  EXPECT_NO_THROW(file.checkpoint(report_with({Status::pass})));
  std::ostringstream out;
  EXPECT_THROW(file.finish(report_with({Status::pass}), out), AuditError);
}

TEST_F(ReportFileTest, ACheckpointIsAWholeReport) {
  ReportFile file(path("r.json"), false);
  file.checkpoint(report_with({Status::pass}));
  std::ifstream stream(path("r.json"));
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_NE(text.find("\"schema_version\""), std::string::npos);
  EXPECT_EQ(text.find_last_not_of('\n'), text.rfind('}'));
}

TEST(PathForDevice, PutsTheNumberBeforeTheExtension) {
  EXPECT_EQ(path_for_device("lt-audit.json", 0), "lt-audit.json");
  EXPECT_EQ(path_for_device("lt-audit.json", 1), "lt-audit.1.json");
  EXPECT_EQ(path_for_device("out.d/report", 12), "out.d/report.12");
}

TEST(ExitCodeOf, FollowsTheThreshold) {
  EXPECT_EQ(exit_code_of(report_with({Status::pass, Status::skip}), FailOn::fail), ExitCode::ok);
  EXPECT_EQ(exit_code_of(report_with({Status::pass, Status::warn}), FailOn::fail), ExitCode::ok);
  EXPECT_EQ(exit_code_of(report_with({Status::pass, Status::warn}), FailOn::warn), ExitCode::findings);
  EXPECT_EQ(exit_code_of(report_with({Status::fail}), FailOn::fail), ExitCode::findings);
  EXPECT_EQ(exit_code_of(report_with({Status::fail}), FailOn::warn), ExitCode::findings);
  EXPECT_EQ(exit_code_of(report_with({Status::fail, Status::warn}), FailOn::none), ExitCode::ok);
}

TEST(ExitCodeOf, WhatCouldNotBeAuditedIsNeverGood) {
  for (const FailOn fail_on : {FailOn::fail, FailOn::warn, FailOn::none}) {
    EXPECT_EQ(exit_code_of(report_with({}), fail_on), ExitCode::cannot_run);
    EXPECT_EQ(exit_code_of(report_with({Status::skip, Status::skip}), fail_on), ExitCode::cannot_run);
    EXPECT_EQ(exit_code_of(report_with({Status::pass, Status::fail, Status::error}), fail_on), ExitCode::cannot_run);
    Report broken = report_with({Status::pass});
    broken.complete = false;
    EXPECT_EQ(exit_code_of(broken, fail_on), ExitCode::cannot_run);
  }
}

TEST(ExitCodeOf, CannotRunHasASentence) {
  Report broken = report_with({Status::pass});
  broken.complete = false;
  broken.incomplete_reason = "interrupted by SIGINT";
  EXPECT_NE(why_cannot_run(broken).find("interrupted by SIGINT"), std::string::npos);
  EXPECT_NE(why_cannot_run(report_with({Status::skip})).find("skipped"), std::string::npos);
  EXPECT_NE(why_cannot_run(report_with({Status::error})).find("1 case could not"), std::string::npos);
  Report not_here = report_with({});
  not_here.checks.front().skip_reason = "needs sm_90";
  EXPECT_NE(why_cannot_run(not_here).find("needs sm_90"), std::string::npos);
  EXPECT_EQ(why_cannot_run(report_with({Status::pass})), "");
}

TEST(ReportPlace, SplitsAtTheLastColon) {
  EXPECT_EQ(split_place("r.json").rest, "");
  EXPECT_EQ(split_place("r.json:alignment/x").report, "r.json");
  EXPECT_EQ(split_place("r.json:alignment/x").rest, "alignment/x");
  EXPECT_EQ(split_place("a:b.json:x").report, "a:b.json");
}

TEST_F(ReportFileTest, AFileWhoseNameHoldsAColonIsAFile) {
  std::ofstream(path("a:b")) << "x";
  EXPECT_EQ(split_place(path("a:b")).report, path("a:b"));
  EXPECT_EQ(split_place(path("a:b") + ":c1").rest, "c1");
}

TEST(ReportPlace, FindsChecksAndCases) {
  Report report = report_with({Status::pass, Status::fail});
  EXPECT_EQ(find_place(report, "alignment").the_case, "");
  EXPECT_EQ(find_place(report, "alignment/c2").the_case, "c2");
  EXPECT_EQ(find_place(report, "c1").check, "alignment");
  ASSERT_NE(find_case(report, "alignment", "c2"), nullptr);
  EXPECT_EQ(find_case(report, "alignment", "c9"), nullptr);
}

std::string place_refusal(const Report& report, const std::string& text) {
  try {
    static_cast<void>(find_place(report, text));
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(ReportPlace, RefusesWithTheNearestNameOrTheChoices) {
  Report report = report_with({Status::pass});
  EXPECT_NE(place_refusal(report, "alignmet").find("'alignment'"), std::string::npos);
  EXPECT_NE(place_refusal(report, "alignment/c").find("'alignment/c1'"), std::string::npos);
  report.checks.push_back(report.checks.front());
  report.checks.back().id = "other";
  EXPECT_NE(place_refusal(report, "c1").find("alignment, other"), std::string::npos);
}

}  // namespace
}  // namespace lt_audit
