// show, replay and env from outside.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using ViewsTest = ScratchTest;

TEST_F(ViewsTest, ShowRepeatsTheTextOfTheRun) {
  const Finished run = run_program({"run", "--target", "simulator", "--depth", "quick", "alignment"}, here());
  ASSERT_EQ(run.code, 0) << run.err;
  const Finished show = run_program({"show", "lt-audit.json"}, here());
  EXPECT_EQ(show.code, 0) << show.err;
  EXPECT_EQ(show.out, run.out);
}

TEST_F(ViewsTest, ATruncatedReportIsABadInputFile) {
  ASSERT_EQ(run_program({"run", "--target", "simulator", "--depth", "quick", "alignment"}, here()).code, 0);
  std::filesystem::resize_file(here_ / "lt-audit.json", std::filesystem::file_size(here_ / "lt-audit.json") / 2);
  const Finished show = run_program({"show", "lt-audit.json"}, here());
  EXPECT_EQ(show.code, 2);
  EXPECT_TRUE(contains(show.err, "lt-audit.json")) << show.err;
}

TEST_F(ViewsTest, ReplayOfAProblemShowsEveryCallNumberedAndTheVerdict) {
  const Finished finished = run_program({"replay", "m=64,n=48,k=32,a=f16", "--target", "simulator"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "  1  ")) << finished.err;
  EXPECT_TRUE(contains(finished.err, "cublasLtMatmulAlgoGetHeuristic(")) << finished.err;
  EXPECT_TRUE(contains(finished.err, "cublasLtMatmul(")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "pass")) << finished.out;
  EXPECT_TRUE(std::filesystem::is_empty(here_));
}

TEST_F(ViewsTest, ReplayOfAReportsCaseTakesTargetFaultAndSeedFromIt) {
  run_program(
      {"run", "--target", "simulator", "--depth", "quick", "--inject", "wrong-element", "--seed", "5", "alignment"},
      here());
  const auto report = file_json(here_ / "lt-audit.json");
  ASSERT_FALSE(report.at("findings").empty());
  const auto& finding = report.at("findings").at(0);
  const std::string place =
      "lt-audit.json:" + finding.at("check").get<std::string>() + "/" + finding.at("cases").at(0).get<std::string>();
  const Finished again = run_program({"replay", place, "--json", "again.json"}, here());
  EXPECT_EQ(again.code, 1) << again.err;
  const auto second = file_json(here_ / "again.json");
  EXPECT_EQ(second.at("summary").at("total"), 1);
  EXPECT_EQ(second.at("fault"), "wrong-element");
  EXPECT_EQ(second.at("seed"), 5);
  EXPECT_EQ(second.at("target").at("kind"), "simulator");
  const Finished clean = run_program({"replay", place, "--inject", "none"}, here());
  EXPECT_EQ(clean.code, 0) << clean.out << clean.err;
}

TEST_F(ViewsTest, ReplayOfAScenarioNamesItsPlaceAgain) {
  run_program({"run", "graph-capture", "--target", "simulator", "--depth", "quick", "--json", "r.json"}, here());
  const Finished finished = run_program({"replay", "r.json:graph-capture/f32.changed-between.epilogue"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "lt-audit replay 'r.json:graph-capture/f32.changed-between.epilogue'"))
      << finished.out;
  EXPECT_TRUE(contains(finished.out, "C13=stale")) << finished.out;
}

TEST_F(ViewsTest, ReplayGoesThroughSeveralCallsAndTheWorstExitCodeCounts) {
  const Finished finished = run_program({"replay", "m=64,n=48,k=32,a=f64", "--problem", "m=64,n=48,k=32,a=f16",
                                         "--target", "simulator", "--inject", "empty-success", "--json", "r.json"},
                                        here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  const auto first = finished.out.find("call 1 of 2: m=64,n=48,k=32,a=f64\n");
  const auto second = finished.out.find("\ncall 2 of 2: m=64,n=48,k=32,a=f16\n");
  EXPECT_TRUE(first < second && second != std::string::npos) << finished.out;
  EXPECT_EQ(file_json(here_ / "r.json").at("exit_code"), 1);
  EXPECT_EQ(file_json(here_ / "r.1.json").at("exit_code"), 0);
  const Finished refused =
      run_program({"replay", "m=1,n=1,k=1,a=f16", "m=2,n=2,k=2,a=f16", "--target", "simulator", "--json", "-"}, here());
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(contains(refused.err, "--json FILE")) << refused.err;
}

TEST_F(ViewsTest, ReplayWithoutAGpuGivesThree) {
  const Finished finished = run_program({"replay", "m=64,n=48,k=32,a=f16"}, here({"CUDA_VISIBLE_DEVICES="}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_TRUE(contains(finished.err, "--target simulator")) << finished.err;
}

TEST_F(ViewsTest, EnvTellsWhatItCanWithoutAGpu) {
  const Finished finished = run_program({"env"}, here({"CUDA_VISIBLE_DEVICES=", "CUBLASLT_LOG_LEVEL=5"}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_TRUE(contains(finished.out, "CUBLASLT_LOG_LEVEL=5")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "os ")) << finished.out;
  EXPECT_TRUE(contains(finished.err, "--target simulator")) << finished.err;
  const Finished json = run_program({"env", "--json"}, here({"CUDA_VISIBLE_DEVICES="}));
  EXPECT_EQ(json.code, 3);
  EXPECT_EQ(nlohmann::json::parse(json.out).at("usable"), false);
}

TEST_F(ViewsTest, EnvOfTheSimulatorListsItsDevices) {
  const Finished finished = run_program({"env", "--target", "simulator", "--json"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(nlohmann::json::parse(finished.out).at("devices").size(), 2U);
}

}  // namespace
}  // namespace lt_audit
