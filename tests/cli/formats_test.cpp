// The further formats from outside: files, standard output, exit codes, GitHub Actions.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;

/// Each test has a report with failures of the simulator, r.json.
class FormatsTest : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    ASSERT_EQ(run_program(faulty({"--json", "r.json"}), here()).code, 1);
  }

  static Words faulty(const Words& more) {
    Words words = {"run",      "--target",      "simulator", "--problem", "m=64,n=48,k=32,a=f64",
                   "--inject", "empty-success", "--color",   "never"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  std::string text_of(const char* name) const { return file_text(here_ / name); }
};

TEST_F(FormatsTest, RunWritesEveryFormatAndKeepsItsExitCode) {
  const Finished finished = run_program(
      faulty({"--junit", "j.xml", "--sarif", "s.sarif", "--markdown", "m.md", "--github", "always"}), here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  EXPECT_TRUE(contains(text_of("j.xml"), "<failure type=")) << text_of("j.xml");
  EXPECT_EQ(file_json(here_ / "s.sarif").at("runs").at(0).at("invocations").at(0).at("exitCode"), 1);
  EXPECT_TRUE(contains(text_of("m.md"), "<b>fail</b>"));
  EXPECT_TRUE(contains(finished.err, "::error title=lt-audit ")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "exit 1"));
}

TEST_F(FormatsTest, NoFormatChangesTheExitCodeOfRunOrShow) {
  for (const char* format : {"--junit", "--sarif", "--markdown", "--json"}) {
    EXPECT_EQ(run_program(faulty({format, "x"}), here()).code, 1) << format;
    EXPECT_EQ(run_program(faulty({format, "-"}), here()).code, 1) << format;
    EXPECT_EQ(run_program(faulty({format, "x", "--fail-on", "none"}), here()).code, 0) << format;
    EXPECT_EQ(run_program({"show", "r.json", format, "x"}, here()).code, 0) << format;
  }
}

TEST_F(FormatsTest, AFileThatCannotBeWrittenEndsWithThreeBeforeTheAudit) {
  for (const char* format : {"--junit", "--sarif", "--markdown"}) {
    const Finished run = run_program(faulty({format, "missing/x"}), here());
    EXPECT_EQ(run.code, 3) << format;
    EXPECT_TRUE(contains(run.err, "missing/x") && contains(run.err, format)) << run.err;
    EXPECT_FALSE(std::filesystem::exists(here_ / "lt-audit.json"));
    EXPECT_EQ(run_program({"show", "r.json", format, "missing/x"}, here()).code, 3) << format;
  }
}

TEST_F(FormatsTest, AFullDiskEndsWithThreeAndTakesNothingElseWithIt) {
  const Finished finished = run_program(faulty({"--junit", "/dev/full", "--sarif", "s.sarif"}), here());
  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_TRUE(contains(finished.err, "/dev/full")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "exit 3")) << finished.out;
  EXPECT_EQ(file_json(here_ / "lt-audit.json").at("exit_code"), 3);
  EXPECT_TRUE(std::filesystem::exists(here_ / "s.sarif"));
  const Finished full = run_program(faulty({"--markdown", "-"}), here({}, Output::full));
  EXPECT_EQ(full.code, 3) << full.err;
}

TEST_F(FormatsTest, ADocumentOnStandardOutputIsAlone) {
  const Finished junit = run_program({"show", "r.json", "--junit", "-", "--github", "always"}, here());
  EXPECT_EQ(junit.out.rfind("<?xml", 0), 0U) << junit.out.substr(0, 200);
  EXPECT_EQ(junit.out.substr(junit.out.size() - 14), "</testsuites>\n");
  EXPECT_TRUE(contains(junit.err, "exit 1")) << junit.err;
  const Finished sarif = run_program(faulty({"--sarif", "/dev/stdout"}), here());
  EXPECT_EQ(nlohmann::json::parse(sarif.out).at("version"), "2.1.0");
  const Finished json = run_program(faulty({"--json", "-", "--junit", "j.xml"}), here({"GITHUB_ACTIONS=true"}));
  EXPECT_EQ(nlohmann::json::parse(json.out).at("exit_code"), 1);
  EXPECT_TRUE(contains(json.err, "::error title=")) << json.err;
}

TEST_F(FormatsTest, TwoDocumentsInOnePlaceAreWrongUsage) {
  for (const Words& two : {Words{"--junit", "-", "--json", "-"}, Words{"--junit", "-", "--sarif", "/dev/stdout"},
                           Words{"--markdown", "x", "--junit", "./x"}}) {
    const Finished finished = run_program(faulty(two), here());
    EXPECT_EQ(finished.code, 2) << two[1];
    EXPECT_TRUE(contains(finished.err, "--junit")) << finished.err;
  }
  EXPECT_EQ(run_program(faulty({"--device", "all", "--junit", "-"}), here()).code, 2);
}

TEST_F(FormatsTest, AnEmptyFileNameIsWrongUsage) {
  for (const char* format : {"--junit", "--sarif", "--markdown", "--json"}) {
    EXPECT_EQ(run_program(faulty({format, ""}), here()).code, 2) << format;
    EXPECT_EQ(run_program({"show", "r.json", format, ""}, here()).code, 2) << format;
  }
}

TEST_F(FormatsTest, EachDeviceHasItsFiles) {
  const Finished finished = run_program(faulty({"--device", "all", "--junit", "j.xml", "--sarif", "s.sarif"}), here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  for (const char* name : {"j.xml", "j.1.xml", "s.sarif", "s.1.sarif", "lt-audit.json", "lt-audit.1.json"}) {
    EXPECT_TRUE(std::filesystem::exists(here_ / name)) << name;
  }
}

TEST_F(FormatsTest, UnderGithubActionsAnnotationsAndSummaryComeByThemselves) {
  const std::vector<std::string> job = {"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md"};
  run_program({"show", "r.json"}, here(job));
  const Finished second = run_program({"show", "r.json"}, here(job));
  EXPECT_TRUE(contains(second.err, "::error title=")) << second.err;
  EXPECT_FALSE(contains(second.out, "::error")) << second.out;
  const std::string summary = text_of("summary.md");
  const std::size_t first = summary.find("## lt-audit: ");
  EXPECT_NE(summary.find("## lt-audit: ", first + 1), std::string::npos) << "appended, not replaced";
  EXPECT_EQ(run_program({"show", "r.json", "--github", "never"}, here(job)).err, "");
  EXPECT_EQ(run_program({"show", "r.json"}, here({"GITHUB_ACTIONS=false"})).err, "");
}

TEST_F(FormatsTest, AStepSummaryThatCannotBeWrittenCountsOnlyWhenItWasAskedFor) {
  const std::vector<std::string> job = {"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=missing/summary.md"};
  const Finished automatic = run_program({"show", "r.json"}, here(job));
  EXPECT_EQ(automatic.code, 0);
  EXPECT_TRUE(contains(automatic.err, "missing/summary.md")) << automatic.err;
  EXPECT_EQ(run_program({"show", "r.json", "--github", "always"}, here(job)).code, 3);
}

TEST_F(FormatsTest, TheTextOfAReportIsNoWorkflowCommand) {
  auto report = file_json(here_ / "r.json");
  // Long enough that the command begins a line of its own.
  report.at("findings").at(0)["remedy"] = "stop ##[error]x " + std::string(80, 'y') + " ::stop-commands::z";
  std::ofstream(here_ / "evil.json") << report;
  const Finished plain = run_program({"show", "evil.json"}, here());
  EXPECT_TRUE(contains(plain.out, " ::stop-commands::z")) << plain.out;
  const Finished job = run_program({"show", "evil.json"}, here({"GITHUB_ACTIONS=true"}));
  EXPECT_FALSE(contains(job.out, " ::stop-commands") || contains(job.out, "##[")) << job.out;
  EXPECT_TRUE(contains(job.out, ": :stop-commands::z")) << job.out;
}

TEST_F(FormatsTest, ShowWritesTheReportAgainAndRedactsEverything) {
  EXPECT_EQ(run_program({"show", "r.json", "--json", "same.json"}, here()).code, 0);
  EXPECT_EQ(text_of("same.json"), text_of("r.json"));
  auto report = file_json(here_ / "r.json");
  report.at("environment")["host"] = "secret-host";
  report.at("tool")["arguments"] = {"run", "--json", "/home/secret/r.json"};
  report.at("environment")["warnings"] = {"LD_PRELOAD names /home/secret/x.so on secret-host"};
  std::ofstream(here_ / "named.json") << report;
  const Finished show =
      run_program({"show", (here_ / "named.json").string(), "--redact", "--json", "r2.json", "--junit", "j.xml",
                   "--sarif", "s.sarif", "--markdown", "m.md", "--github", "always"},
                  here());
  EXPECT_EQ(show.code, 0) << show.err;
  for (const std::string& text :
       {show.out, show.err, text_of("r2.json"), text_of("j.xml"), text_of("s.sarif"), text_of("m.md")}) {
    EXPECT_FALSE(contains(text, "secret")) << text.substr(0, 2000);
  }
}

TEST_F(FormatsTest, AFormatOfOneCaseIsWrongUsage) {
  const Finished finished = run_program({"show", "r.json", "alignment", "--junit", "j.xml"}, here());
  EXPECT_EQ(finished.code, 2);
  EXPECT_FALSE(std::filesystem::exists(here_ / "j.xml"));
}

TEST_F(FormatsTest, HtmlIsOnePageThatLoadsNothing) {
  for (const Finished& finished : {run_program(faulty({"--html", "h.html"}), here()),
                                   run_program({"show", "r.json", "--html", "s.html"}, here())}) {
    EXPECT_NE(finished.code, 2) << finished.err;
  }
  for (const char* name : {"h.html", "s.html"}) {
    const std::string page = file_text(here_ / name);
    EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U) << name;
    EXPECT_TRUE(contains(page, "default-src 'none'")) << name;
    EXPECT_TRUE(contains(page, "SIMULATOR")) << name;
  }
}

}  // namespace
}  // namespace lt_audit
