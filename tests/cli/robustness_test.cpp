// What an audit must withstand: signals, dead workers, closed and full outputs.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;
using Robustness = ScratchTest;

const Words kQuick = {"run", "--target", "simulator", "--depth", "quick"};

Words quick(const Words& more) {
  Words words = kQuick;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Robustness, AReaderOfTheTextThatIsGoneChangesNeitherReportNorCode) {
  const Finished finished = run_program(quick({"alignment"}), here({}, Output::reader_gone));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(file_json(here_ / "lt-audit.json").at("complete"), true);
}

TEST_F(Robustness, AReaderOfTheReportThatIsGoneGivesThree) {
  const Finished finished = run_program(quick({"alignment", "--json", "-"}), here({}, Output::reader_gone));
  EXPECT_EQ(finished.code, 3);
  EXPECT_TRUE(contains(finished.err, "standard output")) << finished.err;
}

TEST_F(Robustness, WithoutADescriptorOneNothingElseBecomesStandardOutput) {
  const Finished finished = run_program(quick({"alignment"}), here({}, Output::closed));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(file_json(here_ / "lt-audit.json").at("complete"), true);
  EXPECT_EQ(run_program(quick({"alignment", "--json", "-"}), here({}, Output::closed)).code, 3);
}

TEST_F(Robustness, AFullDiskGivesThreeAndTheTextStays) {
  const Finished finished = run_program(quick({"alignment", "--json", "/dev/full"}), here());
  EXPECT_EQ(finished.code, 3);
  EXPECT_TRUE(contains(finished.err, "/dev/full")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "alignment")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "exit 3")) << finished.out;
}

TEST_F(Robustness, AFullDiskUnderTheTextGivesThree) {
  EXPECT_EQ(run_program({"list"}, here({}, Output::full)).code, 3);
  EXPECT_EQ(run_program({"list"}, here({}, Output::reader_gone)).code, 0);
}

TEST_F(Robustness, AnInterruptLeavesAPartialReportAndGivesThree) {
  Program program(quick({"--inject", "hang", "--timeout", "100"}), here());
  bool sent = false;
  const auto interrupt_once_it_runs = [&] {
    if (sent || !std::filesystem::exists(here_ / "lt-audit.json")) return;
    kill(program.pid(), SIGINT);
    sent = true;
  };
  const Finished finished = program.wait(interrupt_once_it_runs);
  ASSERT_TRUE(sent) << finished.err;
  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_TRUE(contains(finished.err, "SIGINT")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "INCOMPLETE")) << finished.out;
  const auto report = file_json(here_ / "lt-audit.json");
  EXPECT_EQ(report.at("complete"), false);
  EXPECT_EQ(report.at("exit_code"), 3);
  EXPECT_TRUE(contains(report.at("incomplete_reason"), "SIGINT"));
  EXPECT_GT(report.at("summary").at("total").get<int>(), 0);
}

TEST_F(Robustness, AnAuditThatIsKilledLeavesWhatItHad) {
  Program program(quick({"--inject", "hang", "--timeout", "100"}), here());
  bool sent = false;
  const Finished finished = program.wait([&] {
    if (sent || !std::filesystem::exists(here_ / "lt-audit.json")) return;
    kill(program.pid(), SIGKILL);
    sent = true;
  });
  EXPECT_EQ(finished.code, 128 + SIGKILL);
  const auto report = file_json(here_ / "lt-audit.json");
  EXPECT_EQ(report.at("complete"), false);
  EXPECT_GT(report.at("summary").at("total").get<int>(), 0);
}

TEST_F(Robustness, AHangCostsItsCaseOnly) {
  // A check of single calls: sequences may take longer than this limit under a sanitizer.
  ASSERT_EQ(run_program(quick({"compute-type", "--json", "clean.json"}), here()).code, 0);
  const Finished finished =
      run_program(quick({"compute-type", "--json", "hang.json", "--inject", "hang", "--timeout", "1"}), here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  const auto report = file_json(here_ / "hang.json");
  EXPECT_EQ(report.at("complete"), true);
  const auto different = differing_cases(file_json(here_ / "clean.json"), report);
  EXPECT_GE(different.size(), 1U);
  EXPECT_LE(different.size(), 6U);
}

TEST_F(Robustness, ACrashCostsExactlyItsCases) {
  ASSERT_EQ(run_program(quick({"--json", "clean.json"}), here()).code, 0);
  const Finished finished = run_program(quick({"--json", "crash.json", "--inject", "crash"}), here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  const auto report = file_json(here_ / "crash.json");
  EXPECT_EQ(report.at("complete"), true);
  Words crashed;
  for (const auto& check : report.at("checks")) {
    for (const auto& one : check.at("cases")) {
      if (one.at("outcome") == "crashed")
        crashed.push_back(check.at("id").get<std::string>() + "/" + one.at("id").get<std::string>());
    }
  }
  std::sort(crashed.begin(), crashed.end());
  EXPECT_FALSE(crashed.empty());
  EXPECT_EQ(differing_cases(file_json(here_ / "clean.json"), report), crashed);
}

TEST_F(Robustness, AWorkerThatIsKilledCostsAtMostOneCase) {
  const Words words = {"run", "--target", "simulator", "--json", "clean.json", "compute-type"};
  ASSERT_EQ(run_program(words, here()).code, 0);
  Words again = words;
  again[4] = "killed.json";
  Program program(again, here());
  bool killed = false;
  const Finished finished = program.wait([&] {
    // The first checkpoint: the worker is in the middle of its cases.
    if (killed || !std::filesystem::exists(here_ / "killed.json")) return;
    const std::vector<pid_t> workers = children_of(program.pid());
    if (workers.empty()) return;
    kill(workers.front(), SIGKILL);
    killed = true;
  });
  ASSERT_TRUE(killed) << finished.err;
  const auto report = file_json(here_ / "killed.json");
  EXPECT_EQ(report.at("complete"), true);
  EXPECT_LE(differing_cases(file_json(here_ / "clean.json"), report).size(), 1U);
}

TEST_F(Robustness, FiftyKilledWorkersCostAtMostTheCasesInTheirHands) {
  // Workers of a sanitized build come up and work many times slower.
  constexpr std::size_t kKills = LT_AUDIT_SANITIZED != 0 ? 6 : 50;
  constexpr unsigned kPauseMs = LT_AUDIT_SANITIZED != 0 ? 1000 : 20;
  Words words = {"run", "--target", "simulator", "--json", "clean.json", "alignment"};
  if (LT_AUDIT_SANITIZED == 0) words.insert(words.end(), {"compute-type", "graph-capture"});
  ASSERT_EQ(run_program(words, here()).code, 0);
  Words again = words;
  again[4] = "killed.json";
  Program program(again, here());
  std::mt19937 random(20261129);
  std::size_t kills = 0;
  auto next = std::chrono::steady_clock::now();
  const Finished finished = program.wait([&] {
    const auto now = std::chrono::steady_clock::now();
    if (kills == kKills || now < next) return;
    // A first worker that dies twice while it starts ends the audit: the report on disk says that one is up.
    if (!std::filesystem::exists(here_ / "killed.json")) return;
    const std::vector<pid_t> workers = children_of(program.pid());
    if (workers.empty()) return;
    // Current, spare or leaving, in whatever it does: coming up, in the middle of a case, between two.
    if (kill(workers[random() % workers.size()], SIGKILL) == 0) ++kills;
    next = now + std::chrono::milliseconds(kPauseMs + random() % (2 * kPauseMs));
  });
  ASSERT_EQ(kills, kKills) << "the run was over before: " << finished.out;
  ASSERT_TRUE(std::filesystem::exists(here_ / "killed.json")) << finished.err;
  const auto report = file_json(here_ / "killed.json");
  EXPECT_EQ(report.at("complete"), true) << finished.err;
  const auto clean = file_json(here_ / "clean.json");
  EXPECT_EQ(report.at("summary").at("total"), clean.at("summary").at("total"));
  std::vector<std::string> crashed;
  for (const auto& check : report.at("checks")) {
    for (const auto& one : check.at("cases")) {
      if (one.at("outcome") == "crashed") {
        crashed.push_back(check.at("id").get<std::string>() + "/" + one.at("id").get<std::string>());
      }
    }
  }
  std::sort(crashed.begin(), crashed.end());
  EXPECT_LE(crashed.size(), kKills);
  EXPECT_EQ(differing_cases(clean, report), crashed);
}

TEST_F(Robustness, TheParentStaysSmallAndLoadsNoCuda) {
  // The check with the most cases: the report is what the parent holds.
  Program program({"run", "--target", "simulator", "--json", "r.json", "compute-type"}, here());
  const std::string process = "/proc/" + std::to_string(program.pid());
  std::string status;
  std::string maps;
  const Finished finished = program.wait([&] {
    // Gone or a zombie: keep what was read last.
    const std::string now = file_text(process + "/status");
    if (!contains(now, "VmHWM")) return;
    status = now;
    maps = file_text(process + "/maps");
  });
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_FALSE(contains(maps, "libcuda") || contains(maps, "libcublas") || contains(maps, "libnvidia")) << maps;
  if (LT_AUDIT_SANITIZED) GTEST_SKIP() << "a sanitizer's memory is not the program's";
  const std::size_t at = status.find("VmHWM:");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stol(status.substr(at + 6)), 30 * 1024) << "kB";
}

}  // namespace
}  // namespace lt_audit
