// What a person and a machine see of a decision, and what a hostile report cannot make of it.
#include "cli/gate_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gate/gate_test_reports.h"

namespace lt_audit {
namespace {

/// A decision with everything that it was made from.
struct Decided {
  Report report;
  GateFiles files;
  GateResult result;

  Decided(Report given, GateFiles with = {}, const GateOptions& options = gate_options())
      : report(std::move(given)),
        files(std::move(with)),
        result(decide(report, files.baseline_or_null(), files.waivers, options)) {}

  std::string text(TextOptions options = {}) const {
    std::ostringstream out;
    write_gate_text({report, "r.json", files, result}, options, out);
    return out.str();
  }
  nlohmann::json json() const {
    std::ostringstream out;
    write_gate_json({report, "r.json", files, result}, out);
    return nlohmann::json::parse(out.str());
  }
};

Report with_findings(int causes, int cases) {
  std::vector<CaseResult> all;
  for (int cause = 0; cause < causes; ++cause) {
    for (int i = 0; i < cases; ++i)
      all.push_back(gate_case("c" + std::to_string(cause) + "." + std::to_string(i), Status::fail,
                              "cause-" + std::to_string(cause), "m=" + std::to_string(i + 1) + ",n=1,k=1,a=f16"));
  }
  return gate_report(std::move(all));
}

std::vector<Waiver> waivers(const std::string& text) { return waivers_from_text(text, "w.toml", WaiverFormat::toml); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(GateOutput, TheFirstLineIsTheDecisionWithItsCounts) {
  GateFiles files;
  files.baseline = with_findings(1, 2);
  files.baseline_path = "old.json";
  const std::string closed = Decided(with_findings(2, 2), files).text();
  EXPECT_TRUE(closed.starts_with("GATE CLOSED · 4 cases: 2 new, 2 known · exit 1\n")) << closed;
  EXPECT_TRUE(contains(closed, "\nof      NVIDIA H200, cuBLASLt 13.1.0, 2026-11-29T20:16:22Z, r.json\n")) << closed;
  const std::string open = Decided(gate_report({gate_case("a", Status::pass)})).text();
  EXPECT_TRUE(open.starts_with("GATE OPEN · 1 case · exit 0\n")) << open;
}

TEST(GateOutput, TheSimulatorIsSaidInTheFirstLineEvenOfAnOpenGate) {
  Report report = gate_report({gate_case("a", Status::pass)});
  report.target.kind = PlatformKind::simulator;
  GateOptions options = gate_options();
  options.allow_simulator = true;
  TextOptions quiet;
  quiet.quiet = true;
  EXPECT_EQ(Decided(report, {}, options).text(quiet), "GATE OPEN · SIMULATOR · 1 case · exit 0\n");
}

TEST(GateOutput, InBriefItIsAScreenfulAndVerboseHasAll) {
  const Decided decided(with_findings(30, 5));
  const std::string brief = decided.text();
  EXPECT_LE(std::count(brief.begin(), brief.end(), '\n'), 40) << brief;
  EXPECT_TRUE(contains(brief, "and 24 more reasons (24 new-finding): -v shows all")) << brief;
  EXPECT_TRUE(contains(brief, "and 4 more: -v shows all")) << brief;
  TextOptions verbose;
  verbose.verbose = true;
  const std::string all = decided.text(verbose);
  EXPECT_TRUE(contains(all, "alignment/c29.4: ")) << all;
  EXPECT_FALSE(contains(all, "-v shows all"));
}

TEST(GateOutput, QuietLeavesRemarksAndCasesOut) {
  GateFiles files;
  files.waivers = waivers("[[waiver]]\ncheck = \"x\"\nreason = \"r\"\nexpires = 2027-01-31\n");
  TextOptions quiet;
  quiet.quiet = true;
  const std::string text = Decided(with_findings(1, 1), files).text(quiet);
  EXPECT_EQ(text,
            "GATE CLOSED · 1 case: 1 not accepted · exit 1\n\n"
            "closed  alignment, 1 case fails: cause-0\n"
            "  next  lt-audit show REPORT alignment/c0.0\n");
}

TEST(GateOutput, NoLineIsLongerThanTheTerminalButForCommands) {
  GateFiles files;
  files.waivers = waivers(
      "[[waiver]]\ncheck = \"x\"\nreason = \"a long reason that does not fit into a line of forty columns\"\n"
      "expires = 2027-01-31\n");
  TextOptions narrow;
  narrow.columns = 60;
  std::istringstream lines(Decided(with_findings(3, 3), files).text(narrow));
  for (std::string line; std::getline(lines, line);) {
    if (contains(line, "lt-audit show")) continue;
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }), 60) << line;
  }
}

TEST(GateOutput, NothingOfAReportOrAWaiverSteersTheTerminal) {
  const std::string evil =
      "\x1b[2J\x1b]0;owned\x07\xc2\x9b"
      "31m\xe2\x80\xae\r\xff";
  Report report = with_findings(2, 2);
  report.checks[0].id += evil;
  report.started = evil;
  report.target.device_facts.name = evil;
  report.fault = evil;
  report.complete = false;
  report.incomplete_reason = evil;
  report.arguments = {"run", evil};
  for (auto& result : report.checks[0].cases) {
    result.id += evil;
    result.sentence += evil;
    result.reason += evil;
  }
  GateFiles files;
  files.baseline = gate_report({gate_case(evil, Status::pass, "", evil)});
  files.baseline->tool_version = evil;
  files.baseline->depth = evil;
  files.waivers = waivers("[[waiver]]\ncheck = \"x\"\nreason = \"\\u001b[2J\\u009b31m\"\nexpires = 2027-01-31\n");
  files.waivers[0].file = evil;
  const Decided decided(report, files);
  for (const bool verbose : {false, true}) {
    TextOptions options;
    options.verbose = verbose;
    const std::string text = decided.text(options);
    for (const char* part : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae", "\r", "\xff"})
      EXPECT_FALSE(contains(text, part));
  }
  // JSON escapes and replaces what is no UTF-8.
  EXPECT_FALSE(decided.json().at("open").get<bool>());
}

TEST(GateOutput, ColourMarksTheDecisionAlone) {
  TextOptions options;
  options.color = true;
  options.quiet = true;
  EXPECT_EQ(Decided(gate_report({gate_case("a", Status::pass)})).text(options),
            "\x1b[32mGATE OPEN\x1b[0m · 1 case · exit 0\n");
  EXPECT_TRUE(contains(Decided(with_findings(1, 1)).text(options), "\n\x1b[31mclosed\x1b[0m  alignment, 1 case fails"));
}

TEST(GateOutput, JsonHasEveryCaseWithItsWaiverAndFingerprint) {
  GateFiles files;
  files.baseline = with_findings(1, 1);
  files.baseline_path = "old.json";
  files.waivers =
      waivers("[[waiver]]\ncause = \"cause-1\"\nreason = \"r\"\nexpires = 2027-01-31\nlink = \"http://x\"\n");
  const auto json = Decided(with_findings(3, 1), files).json();
  EXPECT_EQ(json.at("schema"), "lt-audit-gate");
  EXPECT_EQ(json.at("open"), false);
  EXPECT_EQ(json.at("exit_code"), 1);
  EXPECT_EQ(json.at("counts").at("closing"), 1);
  EXPECT_EQ(json.at("counts").at("waived"), 1);
  EXPECT_EQ(json.at("counts").at("known"), 1);
  EXPECT_EQ(json.at("baseline").at("path"), "old.json");
  ASSERT_EQ(json.at("cases").size(), 3U);
  EXPECT_EQ(json.at("cases")[0].at("new"), false);
  EXPECT_EQ(json.at("cases")[1].at("waiver").at("link"), "http://x");
  EXPECT_EQ(json.at("cases")[2].at("fingerprint").get<std::string>().size(), 32U);
  EXPECT_EQ(json.at("waivers")[0].at("state"), "used");
  EXPECT_EQ(json.at("waivers")[0].at("line"), 1);
  EXPECT_EQ(json.at("reasons")[0].at("code"), "new-finding");
}

}  // namespace
}  // namespace lt_audit
