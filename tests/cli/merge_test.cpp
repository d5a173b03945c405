// lt-audit merge from outside: reports of the simulator, changed so that one of them differs.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;

class MergeCommandTest : public ScratchTest {
 protected:
  /// A quick audit of one check, once for all tests of a program run.
  static const nlohmann::json& audited() {
    static const nlohmann::json report = [] {
      std::string name = testing::TempDir() + "lt_audit_merge_XXXXXX";
      if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
      run_program({"run", "compute-type", "--target", "simulator", "--depth", "quick"}, {name, {}});
      nlohmann::json json = file_json(std::filesystem::path(name) / "lt-audit.json");
      std::filesystem::remove_all(name);
      return json;
    }();
    return report;
  }

  /// The report of a GPU node; `change` may break it.
  template <class Change>
  std::string node(const std::string& name, const Change& change) {
    nlohmann::json report = audited();
    report["environment"]["host"] = name;
    report["target"]["kind"] = "gpu";
    change(report);
    std::ofstream(here_ / (name + ".json")) << report.dump();
    return name + ".json";
  }
  std::string node(const std::string& name) {
    return node(name, [](nlohmann::json&) {});
  }

  Finished merge(const Words& more) {
    Words words = {"merge"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, here());
  }
};

TEST_F(MergeCommandTest, EqualNodesGiveZeroAndAllFormats) {
  const Finished finished = merge({node("a"), node("b"), node("c"), "--json", "m.json", "--markdown", "m.md"});
  EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_TRUE(contains(finished.out, "3 nodes: 3 agree, 0 differ; ")) << finished.out;
  EXPECT_TRUE(contains(finished.out, " · exit 0\n")) << finished.out;
  const auto json = file_json(here_ / "m.json");
  EXPECT_EQ(json.at("exit_code"), 0);
  EXPECT_GT(json.at("results").at("compared_cases"), 50);
  EXPECT_TRUE(contains(file_text(here_ / "m.md"), "### lt-audit merge: 3 nodes: 3 agree"));
}

TEST_F(MergeCommandTest, ANodeThatDiffersGivesOneUnlessNothingCounts) {
  const std::string other = node("other", [](nlohmann::json& report) {
    report["environment"]["driver"] = "1.2.3";
    auto& changed = report["checks"][0]["cases"][0];
    changed["status"] = "warn";
    changed["outcome"] = "slower";
    changed["reason"] = "slow";
    changed["message"] = "it was slow";
  });
  const Words reports = {node("a"), node("b"), other};
  const Finished finished = merge(reports);
  EXPECT_EQ(finished.code, 1);
  EXPECT_TRUE(contains(finished.out, "  other  driver 1.2.3, where 2 nodes have ")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "1 case of ")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "only on     other\n")) << finished.out;
  EXPECT_EQ(merge({reports[0], reports[1], reports[2], "--fail-on", "none"}).code, 0);
}

TEST_F(MergeCommandTest, TheThresholdIsAboutFindings) {
  const auto fails = [](nlohmann::json& report) {
    auto& changed = report["checks"][0]["cases"][0];
    changed["status"] = "fail";
    changed["outcome"] = "wrong_result";
    changed["reason"] = "wrong";
    changed["message"] = "it was wrong";
  };
  EXPECT_EQ(merge({node("a", fails), node("b", fails)}).code, 1);
  EXPECT_EQ(merge({"a.json", "b.json", "--fail-on", "none"}).code, 0);
  // The simulator has warnings of its own.
  EXPECT_EQ(merge({node("c"), node("d")}).code, 0);
  EXPECT_EQ(merge({"c.json", "d.json", "--fail-on", "warn"}).code, 1);
}

TEST_F(MergeCommandTest, WhatIsNotToBeBelievedIsSaidAndNeverClean) {
  const std::string simulated = node("sim", [](nlohmann::json& report) { report["target"]["kind"] = "simulator"; });
  const std::string half = node("half", [](nlohmann::json& report) {
    report["complete"] = false;
    report["incomplete_reason"] = "interrupted by SIGTERM";
  });
  const Finished mixed = merge({node("a"), node("b"), simulated, "--fail-on", "none"});
  EXPECT_EQ(mixed.code, 1);
  EXPECT_EQ(mixed.out.find("!!  sim is SET ASIDE: it is of the simulator\n"), 0U) << mixed.out;
  const Finished incomplete = merge({"a.json", "b.json", half, "--fail-on", "none", "-q"});
  EXPECT_EQ(incomplete.code, 1);
  EXPECT_EQ(incomplete.out.find("!!  half is INCOMPLETE: interrupted by SIGTERM\n"), 0U) << incomplete.out;
  const Finished nothing = merge({node("empty", [](nlohmann::json& report) { report["checks"].clear(); })});
  EXPECT_EQ(nothing.code, 3) << nothing.out;
}

TEST_F(MergeCommandTest, JsonOnStdoutIsOneDocument) {
  const Finished finished = merge({node("a"), node("b"), "--json", "-"});
  EXPECT_EQ(nlohmann::json::parse(finished.out).at("nodes").size(), 2U);
  EXPECT_TRUE(contains(finished.err, "2 nodes: 2 agree")) << finished.err;
  const Finished both = merge({"a.json", "--json", "-", "--markdown", "-"});
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.out, "");
}

TEST_F(MergeCommandTest, BadInputGivesTwoAndNamesTheFile) {
  std::ofstream(here_ / "cut.json") << "{\"schema_version\": \"1.0.0\", \"che";
  for (const auto& [words, says] :
       std::vector<std::pair<Words, std::string>>{{{}, "REPORT"},
                                                  {{node("a"), "absent.json"}, "absent.json: cannot be opened"},
                                                  {{"a.json", "cut.json"}, "cut.json: ends in the middle"},
                                                  {{"a.json", "."}, "Is a directory"},
                                                  {{"a.json", "--jsn", "x"}, "did you mean '--json'?"}}) {
    const Finished finished = merge(words);
    EXPECT_EQ(finished.code, 2) << testing::PrintToString(words);
    EXPECT_TRUE(contains(finished.err, says)) << finished.err;
    EXPECT_EQ(finished.out, "") << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace lt_audit
