// A merge as text, Markdown and JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "compare/merge_formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::vector<NamedReport> three_nodes() {
  std::vector<NamedReport> reports;
  for (const char* host : {"gpu01", "gpu02", "gpu03"}) {
    reports.push_back({std::string(host) + ".json", sample_report()});
    reports.back().report.environment.host = host;
    reports.back().report.checks[0].cases.pop_back();
  }
  return reports;
}

std::string text_of(const Merged& merged, const TextOptions& options = {}) {
  std::ostringstream out;
  write_merge_text(merged, options, 1, out);
  return out.str();
}

std::string markdown_of(const Merged& merged) {
  std::ostringstream out;
  write_merge_markdown(merged, 1, out);
  return out.str();
}

std::string json_of(const Merged& merged) {
  std::ostringstream out;
  write_merge_json(merged, "0.1.0", 1, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(MergeText, NamesTheNodeThatDiffersAndInWhat) {
  std::vector<NamedReport> reports = three_nodes();
  reports[1].report.target.driver_text = "575.57.08";
  reports[1].report.checks[1].cases[0].status = Status::fail;
  reports[1].report.checks[1].cases[0].outcome = Outcome::wrong_result;
  const Merged merged = merge_reports(reports);
  EXPECT_EQ(differences_of(merged, 0, 3), std::vector<std::string>());
  EXPECT_EQ(differences_of(merged, 1, 3),
            (std::vector<std::string>{"driver 575.57.08, where 2 nodes have 580.159.04",
                                      "1 case of 7 ends differently: compute-type/f32.f32.n: fail (wrong_result), on 2 "
                                      "nodes pass (correct)"}));
  const std::string text = text_of(merged);
  EXPECT_EQ(text.find("lt-audit merge · 3 reports · lt-audit 0.1.0 · NVIDIA H200 (sm_90)"), 0U) << text;
  EXPECT_TRUE(contains(text, "\n  gpu02  driver 575.57.08, where 2 nodes have 580.159.04\n")) << text;
  EXPECT_TRUE(contains(text, "only on     gpu02\n")) << text;
  EXPECT_TRUE(contains(text, "needs 4 nodes with this GPU, there are")) << text;
  EXPECT_TRUE(contains(text, "3 nodes: 2 agree, 1 differs; ")) << text;
  EXPECT_EQ(text.substr(text.size() - 7), "exit 1\n");
}

TEST(MergeText, ManyNodesStayOneScreenUnlessAskedFor) {
  std::vector<NamedReport> reports;
  for (int i = 0; i < 60; ++i) {
    reports.push_back(three_nodes()[0]);
    reports.back().report.environment.host = "node" + std::to_string(i);
    reports.back().report.target.driver_text = "driver" + std::to_string(i);
  }
  const Merged merged = merge_reports(reports);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const std::string text = text_of(merged);
  EXPECT_LT(lines(text), 40) << text;
  EXPECT_TRUE(contains(text, "... and 50 nodes more: -v names them")) << text;
  TextOptions verbose;
  verbose.verbose = true;
  EXPECT_GT(lines(text_of(merged, verbose)), 60);
}

TEST(MergeText, WarningsComeFirstAlsoWhenQuiet) {
  std::vector<NamedReport> reports = three_nodes();
  reports[2].report.target.kind = PlatformKind::simulator;
  TextOptions quiet;
  quiet.quiet = true;
  EXPECT_EQ(text_of(merge_reports(reports), quiet).find("!!  gpu03 is SET ASIDE: it is of the simulator\n"), 0U);
}

TEST(MergeText, ForeignTextsSteerNoTerminalAndMakeNoMarkup) {
  std::vector<NamedReport> reports = three_nodes();
  reports[1].report.environment.host = "a|<b>\x1b[31m@team`[x](http://y)";
  reports[1].report.target.driver_text = "<script>alert(1)</script>\n| x |";
  reports[0].report.findings[0].title = "**bold** <img src=x>";
  reports[0].report.checks[0].cases[1].reason = "must-work-late-refusal";
  const Merged merged = merge_reports(reports);
  const std::string text = text_of(merged);
  EXPECT_FALSE(contains(text, "\x1b")) << text;
  const std::string markdown = markdown_of(merged);
  EXPECT_FALSE(contains(markdown, "\x1b")) << markdown;
  EXPECT_FALSE(contains(markdown, "<script")) << markdown;
  EXPECT_FALSE(contains(markdown, "<img")) << markdown;
  EXPECT_FALSE(contains(markdown, "@team")) << markdown;
  EXPECT_FALSE(contains(markdown, "[x](")) << markdown;
  EXPECT_TRUE(contains(markdown, "| a\\|&lt;b&gt;\\[31m&#64;team\\`\\[x\\](http://y) |")) << markdown;
  EXPECT_TRUE(nlohmann::json::accept(json_of(merged)));
}

TEST(MergeText, MarkdownHasARowForEachNodeAndFinding) {
  std::vector<NamedReport> reports = three_nodes();
  reports[1].report.depth = "quick";
  const std::string markdown = markdown_of(merge_reports(reports));
  EXPECT_EQ(markdown.find("### lt-audit merge: 3 nodes: 2 agree, 1 differs; "), 0U) << markdown;
  EXPECT_TRUE(contains(markdown, "\n| gpu02 | depth quick, where 2 nodes have default |\n")) << markdown;
  EXPECT_TRUE(contains(markdown, " | 3 of 3 |  |\n")) << markdown;
}

TEST(MergeJson, HoldsWhatTheTextSays) {
  std::vector<NamedReport> reports = three_nodes();
  reports[1].report.checks[1].cases[0].outcome = Outcome::stale;
  reports[1].report.environment.host = "\xff";
  const auto json = nlohmann::json::parse(json_of(merge_reports(reports)));
  EXPECT_EQ(json.at("schema"), "lt-audit-merge");
  EXPECT_EQ(json.at("exit_code"), 1);
  EXPECT_EQ(json.at("nodes").size(), 3U);
  EXPECT_EQ(json.at("nodes").at(1).at("differs"), true);
  EXPECT_EQ(json.at("nodes").at(1).at("differences").size(), 1U);
  const auto& differing = json.at("results").at("differing");
  ASSERT_EQ(differing.size(), 1U);
  EXPECT_EQ(differing.at(0).at("case"), "f32.f32.n");
  EXPECT_EQ(differing.at(0).at("ends").at(1).at("outcome"), "stale");
  EXPECT_EQ(json.at("speed").at("groups").at(0).at("not_compared"), "needs 4 nodes with this GPU, there are 3");
}

}  // namespace
}  // namespace lt_audit
