// gate, and run with a baseline and waivers, from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "scratch.h"

namespace lt_audit {
namespace {

class GateTest : public ScratchTest {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(here_ / name) << text; }

  /// A quick audit of one check on the simulator, with a planted fault if one is named.
  void audit(const std::string& name, const std::string& fault = "") const {
    std::vector<std::string> words{"run", "alignment", "--target", "simulator", "--depth", "quick", "--json", name};
    if (!fault.empty()) words.insert(words.end(), {"--inject", fault});
    static_cast<void>(run_program(words, here()));
  }

  /// The same report as if it came from a GPU without any fault planted.
  void make_real(const std::string& name) const {
    auto report = file_json(here_ / name);
    report["fault"] = nullptr;
    report["target"]["kind"] = "gpu";
    write(name, report.dump());
  }

  Finished gate(std::vector<std::string> words) const {
    words.insert(words.begin(), "gate");
    return run_program(words, here());
  }
};

TEST_F(GateTest, FindingsCloseItAndABaselineOrAWaiverOpensIt) {
  audit("clean.json");
  audit("found.json", "wrong-element");
  make_real("clean.json");
  make_real("found.json");
  EXPECT_EQ(gate({"clean.json"}).code, 0);
  const Finished closed = gate({"found.json", "--baseline", "clean.json"});
  EXPECT_EQ(closed.code, 1) << closed.out << closed.err;
  EXPECT_TRUE(closed.out.starts_with("GATE CLOSED · ")) << closed.out;
  EXPECT_TRUE(contains(closed.out, " new case")) << closed.out;
  EXPECT_TRUE(contains(closed.out, "  next  lt-audit show found.json alignment/")) << closed.out;
  EXPECT_EQ(gate({"found.json", "--baseline", "found.json"}).code, 0);
  EXPECT_EQ(gate({"found.json", "--fail-on", "none"}).code, 0);

  write("w.toml", "[[waiver]]\ncause = \"alignment.*\"\nreason = \"tried out\"\nexpires = 2999-01-01\n");
  const Finished waived = gate({"found.json", "--baseline", "clean.json", "--waivers", "w.toml"});
  EXPECT_EQ(waived.code, 0) << waived.out;
  EXPECT_TRUE(contains(waived.out, "are waived by 1 waiver")) << waived.out;
  write("old.json", R"({"waiver": [{"cause": "alignment.*", "reason": "tried out", "expires": "2020-01-01"}]})");
  const Finished expired = gate({"found.json", "--waivers", "old.json"});
  EXPECT_EQ(expired.code, 1);
  EXPECT_TRUE(contains(expired.out, "waived until 2020-01-01 (old.json, waiver 1: tried out)")) << expired.out;
  // The command of the next step works.
  const auto begin = closed.out.find("alignment/", closed.out.find("  next  "));
  const auto place = closed.out.substr(begin, closed.out.find('\n', begin) - begin);
  EXPECT_EQ(run_program({"show", "found.json", place}, here()).code, 0) << place;
}

TEST_F(GateTest, SimulatorFaultAndInterruptionGiveThree) {
  audit("clean.json");
  const Finished simulator = gate({"clean.json"});
  EXPECT_EQ(simulator.code, 3);
  EXPECT_TRUE(contains(simulator.out, "GATE CLOSED · SIMULATOR · ")) << simulator.out;
  EXPECT_EQ(gate({"clean.json", "--allow-simulator"}).code, 0);
  audit("fault.json", "wrong-element");
  const Finished fault = gate({"fault.json", "--allow-simulator"});
  EXPECT_EQ(fault.code, 3);
  EXPECT_TRUE(contains(fault.out, "'wrong-element' was planted")) << fault.out;
  make_real("clean.json");
  auto report = file_json(here_ / "clean.json");
  report["complete"] = false;
  write("half.json", report.dump());
  EXPECT_EQ(gate({"half.json"}).code, 3);
  report["complete"] = true;
  report["started"] = "2020-01-01T00:00:00Z";
  write("old.json", report.dump());
  EXPECT_EQ(gate({"old.json"}).code, 0);
  EXPECT_EQ(gate({"old.json", "--max-age", "30"}).code, 3);
}

TEST_F(GateTest, AnAuditThatShrankAndARequiredCheckGiveOne) {
  audit("all.json");
  make_real("all.json");
  auto report = file_json(here_ / "all.json");
  auto& cases = report["checks"][0]["cases"];
  cases.erase(std::find_if(cases.begin(), cases.end(), [](const auto& one) { return one["status"] == "pass"; }));
  write("less.json", report.dump());
  const Finished less = gate({"less.json", "--baseline", "all.json"});
  EXPECT_EQ(less.code, 1);
  EXPECT_TRUE(contains(less.out, "1 missing")) << less.out;
  EXPECT_EQ(gate({"all.json", "--require", "alignment"}).code, 0);
  EXPECT_EQ(gate({"all.json", "--require", "alignment", "workspace"}).code, 1);
}

TEST_F(GateTest, BadInputGivesTwoWithOneSentence) {
  audit("r.json");
  write("schema.json", R"({"schema_version": "9.0.0"})");
  write("w.toml", "[[waiver]]\nchek = \"a\"\n");
  write("cut.json", file_text(here_ / "r.json").substr(0, 1000));
  const auto expect = [&](const std::vector<std::string>& words, const std::string& part) {
    const Finished finished = gate(words);
    EXPECT_EQ(finished.code, 2) << finished.out;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_EQ(finished.out, "");
  };
  expect({"schema.json"}, "has report schema 9.0.0, and this lt-audit reads 1.x");
  expect({"cut.json"}, "cut.json: ends in the middle");
  expect({"none.json"}, "none.json: cannot be opened");
  expect({"r.json", "--baseline", "cut.json"}, "cut.json: ends in the middle");
  expect({"r.json", "--waivers", "w.toml"}, "w.toml: waiver 1 (line 2): unknown key 'chek'; did you mean 'check'?");
  expect({"r.json", "--max-age", "soon"}, "'soon' is not a whole number of days");
  expect({"r.json", "--fail-on", "fial"}, "did you mean 'fail'?");
  expect({}, "REPORT");
}

TEST_F(GateTest, MessagesAboutHostileFilesDoNotSteerTheTerminal) {
  write("schema.json", R"({"schema_version": "9\u001b[2J\u009b31m"})");
  write("w.toml", "[[waiver]]\n\"\\u001b]0;owned\\u0007\" = 1\n");
  audit("r.json");
  for (const auto& words : std::vector<std::vector<std::string>>{{"schema.json"}, {"r.json", "--waivers", "w.toml"}}) {
    const Finished finished = gate(words);
    EXPECT_EQ(finished.code, 2);
    for (const char* part : {"\x1b", "\x07", "\xc2\x9b"}) EXPECT_FALSE(contains(finished.err, part)) << finished.err;
  }
}

TEST_F(GateTest, TheJsonDocumentGoesToAFileOrToStandardOutput) {
  audit("r.json");
  const Finished file = gate({"r.json", "--json", "gate.json"});
  EXPECT_EQ(file_json(here_ / "gate.json").at("exit_code"), file.code);
  const Finished out = gate({"r.json", "--json", "-"});
  EXPECT_EQ(nlohmann::json::parse(out.out).at("schema"), "lt-audit-gate");
  EXPECT_TRUE(contains(out.err, "GATE CLOSED")) << out.err;
  EXPECT_EQ(gate({"r.json", "--allow-simulator", "--json", "no/such/folder.json"}).code, 3);
}

TEST_F(GateTest, RunDecidesAgainstABaselineAndWaivers) {
  audit("old.json", "wrong-element");
  auto report = file_json(here_ / "old.json");
  report["fault"] = nullptr;
  write("old.json", report.dump());
  const std::vector<std::string> run{"run",     "alignment", "--target", "simulator",
                                     "--depth", "quick",     "--json",   "now.json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return run_program(more, here());
  };
  const Finished gone = with({"--baseline", "old.json"});
  EXPECT_EQ(gone.code, 0) << gone.out << gone.err;
  EXPECT_TRUE(contains(gone.out, "\nGATE OPEN · SIMULATOR · ")) << gone.out;
  EXPECT_TRUE(contains(gone.out, "of the baseline are no more")) << gone.out;
  EXPECT_EQ(file_json(here_ / "now.json").at("exit_code"), 0);
  const Finished fault = with({"--baseline", "old.json", "--inject", "wrong-element"});
  EXPECT_EQ(fault.code, 3);
  EXPECT_EQ(file_json(here_ / "now.json").at("exit_code"), 3);
  EXPECT_TRUE(contains(fault.out, "GATE CLOSED")) << fault.out;
}

TEST_F(GateTest, RunReadsBaselineAndWaiversBeforeItAudits) {
  audit("old.json");
  write("w.toml", "[[waiver]]\nchek = \"a\"\n");
  const Finished slip =
      run_program({"run", "alignment", "--target", "simulator", "--waivers", "w.toml", "--json", "now.json"}, here());
  EXPECT_EQ(slip.code, 2);
  EXPECT_TRUE(contains(slip.err, "did you mean 'check'?")) << slip.err;
  EXPECT_FALSE(std::filesystem::exists(here_ / "now.json"));
  const auto before = file_text(here_ / "old.json");
  const Finished same = run_program(
      {"run", "alignment", "--target", "simulator", "--baseline", "old.json", "--json", "./old.json"}, here());
  EXPECT_EQ(same.code, 2);
  EXPECT_TRUE(contains(same.err, "would overwrite the baseline")) << same.err;
  EXPECT_EQ(file_text(here_ / "old.json"), before);
}

TEST_F(GateTest, GateNeedsNoGpuAndLittleTime) {
  audit("r.json");
  const auto before = std::chrono::steady_clock::now();
  static_cast<void>(gate({"r.json", "--baseline", "r.json"}));
  const auto limit = std::chrono::seconds(LT_AUDIT_SANITIZED != 0 ? 20 : 2);
  EXPECT_LT(std::chrono::steady_clock::now() - before, limit);
}

}  // namespace
}  // namespace lt_audit
