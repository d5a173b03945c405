// lt-audit run from outside: exit codes, report, streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;
using RunTest = ScratchTest;

const Words kQuick = {"run", "--target", "simulator", "--depth", "quick"};

Words quick(const Words& more) {
  Words words = kQuick;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(RunTest, OnTheSimulatorEndsWithZeroAndAWholeReport) {
  const Finished finished = run_program(kQuick, here());
  EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
  EXPECT_EQ(finished.out.rfind("SIMULATOR", 0), 0U) << finished.out;
  const auto report = file_json(here_ / "lt-audit.json");
  EXPECT_EQ(report.at("complete"), true);
  EXPECT_EQ(report.at("exit_code"), 0);
  EXPECT_EQ(report.at("target").at("kind"), "simulator");
  EXPECT_EQ(report.at("tool").at("arguments"), nlohmann::json(kQuick));
  EXPECT_EQ(report.at("summary").at("fail"), 0);
  EXPECT_EQ(report.at("summary").at("error"), 0);
  EXPECT_GT(report.at("summary").at("pass").get<int>(), 100);
  EXPECT_TRUE(contains(finished.out, "lt-audit.json"));
}

TEST_F(RunTest, WithoutAGpuEndsWithThreeAndOffersTheSimulator) {
  const Finished finished = run_program({"run"}, here({"CUDA_VISIBLE_DEVICES="}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(contains(finished.err, "--target simulator")) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(here_ / "lt-audit.json"));
}

TEST_F(RunTest, AutoTakesTheSimulatorLoudlyWithTheReason) {
  const Finished finished =
      run_program({"run", "--target", "auto", "--problem", "m=16,n=16,k=16,a=f32"}, here({"CUDA_VISIBLE_DEVICES="}));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out.rfind("SIMULATOR", 0), 0U) << finished.out;
  EXPECT_TRUE(contains(finished.out, "no GPU")) << finished.out;
}

TEST_F(RunTest, AutoNeverReplacesANamedLibrary) {
  const Finished finished = run_program({"run", "--target", "auto", "--cublaslt", "/missing/libcublasLt.so"},
                                        here({"CUDA_VISIBLE_DEVICES="}));
  EXPECT_EQ(finished.code, 3) << finished.out;
  EXPECT_FALSE(contains(finished.out, "SIMULATOR"));
}

TEST_F(RunTest, AnUnknownCheckNamesTheNearestAndWritesNothing) {
  const Finished finished = run_program(quick({"alignmnt"}), here());
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "alignment")) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(here_ / "lt-audit.json"));
}

TEST_F(RunTest, AReportOnStandardOutputIsOneCleanDocumentWithTheLibrarysLoggerOn) {
  const Finished finished = run_program(quick({"alignment", "--json", "-", "--trace"}),
                                        here({"CUBLASLT_LOG_LEVEL=5", "CUBLASLT_LOG_MASK=63"}));
  EXPECT_EQ(finished.code, 0) << finished.err.substr(0, 2000);
  const auto report = nlohmann::json::parse(finished.out);
  EXPECT_EQ(report.at("complete"), true);
  EXPECT_TRUE(contains(finished.err, "cublasLtMatmul("));
  EXPECT_TRUE(contains(finished.err, "exit 0"));
}

TEST_F(RunTest, TheTraceNamesEachCaseBeforeItsCalls) {
  const Finished finished = run_program(quick({"graph-capture", "--trace"}), here());
  EXPECT_EQ(finished.code, 0) << finished.out;
  const auto heading = finished.err.find("graph-capture/f32.replay\n    1  ");
  ASSERT_NE(heading, std::string::npos) << finished.err.substr(0, 2000);
  EXPECT_LT(heading, finished.err.find("cudaStreamBeginCapture("));
}

TEST_F(RunTest, TwoAuditsInOneDirectoryDoNotDisturbEachOther) {
  Program first(quick({"--json", "one.json"}), here());
  Program second(quick({"--json", "two.json"}), here());
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(second.wait().code, 0);
  const auto one = file_json(here_ / "one.json");
  const auto two = file_json(here_ / "two.json");
  EXPECT_EQ(one.at("complete"), true);
  EXPECT_EQ(differing_cases(one, two), Words{});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(here_), {}), 2);
}

TEST_F(RunTest, EveryDeviceHasItsReport) {
  const Finished finished = run_program(quick({"alignment", "--device", "all"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(file_json(here_ / "lt-audit.json").at("target").at("device"), 0);
  EXPECT_EQ(file_json(here_ / "lt-audit.1.json").at("target").at("device"), 1);
}

TEST_F(RunTest, ADeviceThatDoesNotExistIsWrongUsage) {
  const Finished finished = run_program(quick({"--device", "7"}), here());
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "7")) << finished.err;
}

TEST_F(RunTest, AFindingGivesOneAndTheThresholdDecides) {
  const Words wrong = quick({"alignment", "--inject", "wrong-element"});
  const Finished failed = run_program(wrong, here());
  EXPECT_EQ(failed.code, 1) << failed.out << failed.err;
  EXPECT_TRUE(contains(failed.out, "wrong-element"));
  EXPECT_EQ(file_json(here_ / "lt-audit.json").at("exit_code"), 1);
  Words tolerant = wrong;
  tolerant.insert(tolerant.end(), {"--fail-on", "none"});
  EXPECT_EQ(run_program(tolerant, here()).code, 0);
}

TEST_F(RunTest, DryRunListsCasesAndWritesNoReport) {
  const Finished finished = run_program(quick({"--dry-run", "-v", "alignment"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "m="));
  EXPECT_TRUE(contains(finished.out, "cases would run"));
  EXPECT_TRUE(std::filesystem::is_empty(here_));
}

TEST_F(RunTest, ProfileIsATableAndStandsInTheReport) {
  const Finished finished = run_program(quick({"alignment", "--profile"}), here());
  EXPECT_TRUE(contains(finished.err, "phase"));
  EXPECT_FALSE(file_json(here_ / "lt-audit.json").at("profile").empty());
  run_program(quick({"alignment"}), here());
  const auto plain = file_json(here_ / "lt-audit.json");
  EXPECT_TRUE(!plain.contains("profile") || plain.at("profile").empty());
}

TEST_F(RunTest, ARedactedReportHoldsNoHostNoUserNoDirectory) {
  const Finished finished = run_program(quick({"alignment", "--redact", "--json", here_ / "r.json"}),
                                        here({"USER=somebody", "CUDA_HOME=/secret/x"}));
  EXPECT_EQ(finished.code, 0) << finished.err;
  const std::string text = file_text(here_ / "r.json");
  EXPECT_FALSE(contains(text, "somebody"));
  EXPECT_FALSE(contains(text, "/secret"));
  EXPECT_FALSE(contains(text, here_.string()));
}

TEST_F(RunTest, GivenProblemsRunAloneAndAreJudged) {
  const Finished finished =
      run_program(quick({"--problem", "m=64,n=48,k=32,a=f16", "--problem", "m=16,n=16,k=16,a=f64"}), here());
  EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
  const auto report = file_json(here_ / "lt-audit.json");
  EXPECT_EQ(report.at("summary").at("total"), 2);
  EXPECT_EQ(report.at("checks").size(), 1U);
}

TEST_F(RunTest, AHeuristicResultIsUsedInAnotherProcess) {
  const Words words = {"run", "heuristic-validity", "--target", "simulator", "--depth", "quick"};
  const std::string the_case = "heuristic-validity/f16.long_k.other-process";
  ASSERT_EQ(run_program(words, here()).code, 0);
  EXPECT_EQ(statuses_of(file_json(here_ / "lt-audit.json")).at(the_case), "pass");
  // The other process has the same fault, and knows no algorithm that it did not return itself.
  Words faulty = words;
  faulty.insert(faulty.end(), {"--inject", "restored-algorithm-refused"});
  EXPECT_EQ(run_program(faulty, here()).code, 1);
  EXPECT_EQ(statuses_of(file_json(here_ / "lt-audit.json")).at(the_case), "fail");
}

TEST_F(RunTest, AnotherProcessHasTheVariableThatACaseSets) {
  const Words words = {"run", "environment", "--target", "simulator", "--depth", "quick"};
  // Right numbers only where the variable arrives: without it the product is one of TF32.
  const std::string the_case = "environment/tf32.tf32-off";
  ASSERT_EQ(run_program(words, here()).code, 0);
  EXPECT_EQ(statuses_of(file_json(here_ / "lt-audit.json")).at(the_case), "pass");
  EXPECT_EQ(run_program(words, here({"NVIDIA_TF32_OVERRIDE=1"})).code, 0);
  const auto statuses = statuses_of(file_json(here_ / "lt-audit.json"));
  EXPECT_EQ(statuses.at(the_case), "skip");
  EXPECT_EQ(statuses.at("environment/variable.NVIDIA_TF32_OVERRIDE"), "warn");
}

}  // namespace
}  // namespace lt_audit
