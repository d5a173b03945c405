// run_cli without workers: what list, explain and show print, and what mistakes lead to.
#include "cli/cli.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/report.h"
#include "platform/platforms.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

struct Result {
  ExitCode code = ExitCode::ok;
  std::string out;
  std::string err;
};

Result run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Result result;
  result.code = run_cli(arguments, out, err);
  result.out = out.str();
  result.err = err.str();
  return result;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(List, HasOneLineForEachCheck) {
  const Result result = run({"list"});
  EXPECT_EQ(result.code, ExitCode::ok);
  for (const auto& check : registered_checks()) {
    EXPECT_TRUE(contains(result.out, check->info().id));
    EXPECT_TRUE(contains(result.out, check->info().summary));
  }
  EXPECT_EQ(static_cast<std::size_t>(std::count(result.out.begin(), result.out.end(), '\n')),
            registered_checks().size());
}

TEST(List, JsonOfChecksCasesAndFaultsIsOneDocument) {
  const auto checks = nlohmann::json::parse(run({"list", "--json"}).out);
  EXPECT_EQ(checks.at("checks").size(), registered_checks().size());
  const auto cases = nlohmann::json::parse(run({"list", "--json", "--cases", "--depth", "quick", "alignment"}).out);
  ASSERT_EQ(cases.at("checks").size(), 1U);
  EXPECT_GT(cases.at("checks").at(0).at("cases").size(), 10U);
  EXPECT_TRUE(contains(cases.at("checks").at(0).at("cases").at(0).at("problem"), "m="));
  const auto faults = nlohmann::json::parse(run({"list", "--json", "--faults"}).out);
  EXPECT_EQ(faults.at("faults").size(), fault_list().size());
}

TEST(List, CasesAreCheckSlashCaseWithTheProblem) {
  const Result result = run({"list", "--cases", "--depth", "quick", "alignment"});
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_EQ(result.out.rfind("alignment/", 0), 0U);
  EXPECT_TRUE(contains(result.out, "  m="));
}

TEST(List, FaultsNameTheirPublicDefect) {
  const Result result = run({"list", "--faults"});
  for (const FaultInfo& fault : fault_list()) EXPECT_TRUE(contains(result.out, fault.modelled_on)) << fault.name;
}

TEST(Explain, PrintsThePageOfEveryCheck) {
  for (const auto& check : registered_checks()) {
    const Result result = run({"explain", std::string(check->info().id)});
    EXPECT_EQ(result.code, ExitCode::ok);
    EXPECT_TRUE(contains(result.out, page_of(check->info().id)));
  }
  EXPECT_EQ(run({"explain"}).out, run({"list"}).out);
}

TEST(Usage, MistakesGiveTwoAndTheNearestName) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"explain", "alignmnt"}, "'alignment'"},
      {{"list", "alignmnt"}, "alignment"},
      {{"run", "--target", "simulator", "alignmnt", "--json", "/dev/null"}, "alignment"},
      {{"run", "--json", "/dev/null", "--inject", "crahs"}, "'crash'"},
      {{"run", "--json", "/dev/null", "--problem", "m=1,n=1,k=1,a=f16,lad=8"}, "lda"},
      {{"run", "--json", "-", "--device", "all"}, "--json FILE"},
      {{"replay", "m=1,n=1,k=1,a=f16,lad=8"}, "lda"},
      {{"replay", "nonsense"}, "nonsense"},
      {{"show", "/missing/report.json"}, "/missing/report.json"},
      {{"rnu"}, "'run'"}};
  for (const auto& [arguments, part] : mistakes) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, ExitCode::usage) << testing::PrintToString(arguments) << result.err;
    EXPECT_TRUE(contains(result.err, part)) << testing::PrintToString(arguments) << result.err;
    EXPECT_EQ(result.err.rfind("lt-audit: ", 0), 0U) << result.err;
    EXPECT_EQ(result.out, "") << testing::PrintToString(arguments);
  }
}

TEST(Usage, AReportThatCannotBeWrittenIsSaidBeforeTheAuditStarts) {
  const Result result = run({"run", "--target", "simulator", "--json", "/missing/r.json"});
  EXPECT_EQ(result.code, ExitCode::cannot_run);
  EXPECT_TRUE(contains(result.err, "/missing"));
  EXPECT_EQ(result.out, "");
}

TEST(Output, ThatCannotBeWrittenGivesThree) {
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run_cli({"list"}, out, err), ExitCode::cannot_run);
  EXPECT_TRUE(contains(err.str(), "standard output"));
}

/// A report file with one check, one pass and one fail.
class ShowTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "lt_audit_show_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = name + "/r.json";
    Report report;
    report.tool_version = "0.1.0";
    report.started = "2026-01-01T00:00:00Z";
    report.depth = "default";
    report.complete = true;
    report.exit_code = 1;
    report.target.kind = PlatformKind::simulator;
    report.checks.resize(1);
    CheckResult& check = report.checks.front();
    check.id = "alignment";
    check.status = Status::fail;
    for (const char* id : {"good-case", "bad-case"}) {
      CaseResult one;
      one.id = id;
      one.problem = "m=8,n=8,k=8,a=f16";
      one.observation = "{}";
      check.cases.push_back(one);
    }
    check.cases[1].status = Status::fail;
    check.cases[1].outcome = Outcome::wrong_result;
    check.cases[1].reason = "wrong";
    check.cases[1].sentence = "the numbers are wrong";
    std::ofstream file(path_);
    write_json(report, file);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
  std::string path_;
};

TEST_F(ShowTest, ShowsReportCheckAndCase) {
  const Result whole = run({"show", path_});
  EXPECT_EQ(whole.code, ExitCode::ok) << whole.err;
  EXPECT_TRUE(contains(whole.out, "SIMULATOR"));
  const Result check = run({"show", path_, "alignment"});
  EXPECT_TRUE(contains(check.out, "good-case") && contains(check.out, "bad-case")) << check.out;
  const Result one = run({"show", path_, "alignment", "bad-case"});
  EXPECT_TRUE(contains(one.out, "the numbers are wrong")) << one.out;
  EXPECT_EQ(run({"show", path_, "alignment/bad-case"}).out, one.out);
  EXPECT_EQ(run({"show", path_ + ":alignment/bad-case"}).out, one.out);
  EXPECT_EQ(run({"show", path_ + ":bad-case"}).out, one.out);
}

TEST_F(ShowTest, ComparisonSaysWhatItNeedsBeforeAnythingRuns) {
  const Result missing = run({"run", "--compare", path_ + ".so"});
  EXPECT_EQ(missing.code, ExitCode::usage);
  EXPECT_TRUE(contains(missing.err, "--compare: there is no file '" + path_ + ".so'")) << missing.err;
  const Result cublas = run({"run", "--compare", path_, "--compare-cublas", "/nowhere"});
  EXPECT_EQ(cublas.code, ExitCode::usage);
  EXPECT_TRUE(contains(cublas.err, "--compare-cublas: there is no file '/nowhere'")) << cublas.err;
  const Result simulated = run({"run", "--compare", path_, "--target", "simulator"});
  EXPECT_EQ(simulated.code, ExitCode::usage);
  EXPECT_TRUE(contains(simulated.err, "simulator")) << simulated.err;
  const Result one_stream = run({"run", "--compare", path_, "--json", "-"});
  EXPECT_EQ(one_stream.code, ExitCode::usage);
  EXPECT_TRUE(contains(one_stream.err, "two reports")) << one_stream.err;
}

TEST_F(ShowTest, ColourOnlyWhenAskedFor) {
  EXPECT_FALSE(contains(run({"show", path_, "alignment"}).out, "\033["));
  EXPECT_TRUE(contains(run({"show", path_, "alignment", "--color", "always"}).out, "\033["));
}

TEST_F(ShowTest, UnknownCaseNamesTheNearest) {
  const Result result = run({"show", path_, "alignment", "bad-cas"});
  EXPECT_EQ(result.code, ExitCode::usage);
  EXPECT_TRUE(contains(result.err, "alignment/bad-case")) << result.err;
}

TEST_F(ShowTest, ReplayNeedsACaseNotACheck) {
  const Result result = run({"replay", path_ + ":alignment"});
  EXPECT_EQ(result.code, ExitCode::usage);
  EXPECT_TRUE(contains(result.err, "CHECK/CASE")) << result.err;
}

}  // namespace
}  // namespace lt_audit
