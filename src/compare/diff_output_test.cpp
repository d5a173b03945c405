// The outputs of a comparison: they fit, they tell all, and nothing in a report steers them.
#include "compare/diff_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "compare/diff_words.h"
#include "compare/sample_diff.h"
#include "report/sample_report.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

DiffOptions options_of(int columns = 100) {
  DiffOptions options;
  options.columns = columns;
  options.before_path = "old.json";
  options.after_path = "new.json";
  return options;
}

template <class Write>
std::string written(const Write& write, const ReportDiff& diff, const DiffOptions& options) {
  std::ostringstream out;
  write(diff, options, out);
  return out.str();
}
std::string text_of(const ReportDiff& diff, const DiffOptions& options = options_of()) {
  return written(write_diff_text, diff, options);
}
std::string markdown_of(const ReportDiff& diff) { return written(write_diff_markdown, diff, options_of()); }
std::string json_of(const ReportDiff& diff) { return written(write_diff_json, diff, options_of()); }

ReportDiff sample_diff() {
  const ReportPair pair = pair_with_every_change();
  return diff_reports(pair.before, pair.after);
}

/// Every case refused now, with all texts hostile.
ReportDiff large_diff(std::size_t count, const std::string& text = "") {
  std::vector<CaseResult> before;
  std::vector<CaseResult> after;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = "case" + std::to_string(i) + text;
    before.push_back(right_case(id, "m=" + std::to_string(i) + text));
    after.push_back(case_with_outcome(id, "m=" + std::to_string(i) + text, Outcome::refused, Status::fail));
    after.back().sentence = text;
  }
  Report old_report = report_of("alignment" + text, before);
  Report new_report = report_of("alignment" + text, after);
  for (Finding& finding : new_report.findings) finding.title = finding.repro = "title" + text;
  new_report.environment.variables["CUDA_X" + text] = text;
  new_report.target.driver_text = new_report.target.device_facts.name = "driver" + text;
  new_report.fault = text;
  return diff_reports(old_report, new_report);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(DiffText, NamesEveryKindWithAnExample) {
  const std::string text = text_of(sample_diff());
  for (const ChangeKind kind : all_change_kinds()) {
    EXPECT_TRUE(has(text, std::string(words_of(kind)) + ": 1 case")) << words_of(kind) << "\n" << text;
  }
  EXPECT_TRUE(has(text, "alignment/refused  correct (pass) -> refused (fail)")) << text;
  EXPECT_TRUE(has(text, "lt-audit replay new.json:alignment/refused --cublaslt /opt/libcublasLt.so.13\n")) << text;
  EXPECT_TRUE(has(text, "cuBLASLt 10.00 -> 15.00 us (x 1.50; spreads 1 % and 1 %)")) << text;
  EXPECT_TRUE(has(text, "algo 66 -> algo 71: 1 case")) << text;
  EXPECT_TRUE(has(text, "only in the old report: 1 case")) << text;
  EXPECT_TRUE(has(text, "14 cases in both: ")) << text;
}

TEST(DiffText, QuotesTheReplayLineForAShell) {
  CaseChange change;
  change.check = "alignment";
  change.id = "one";
  ReportDiff diff;
  diff.before.cublaslt_path = "libcublasLt.so.12";
  diff.after.cublaslt_path = "libcublasLt.so.13";
  EXPECT_EQ(replay_line(diff, "it's $new.json", change), "lt-audit replay 'it'\\''s $new.json:alignment/one'")
      << "a redacted path names no file";
  diff.after.cublas_path = "/opt/cu blas/libcublas.so";
  EXPECT_EQ(replay_line(diff, "new.json", change),
            "lt-audit replay new.json:alignment/one --cublas '/opt/cu blas/libcublas.so'");
}

TEST(DiffText, FitsTheTerminal) {
  for (const int columns : {80, 100, 160}) {
    for (const std::string& line : lines_of(text_of(sample_diff(), options_of(columns)))) {
      if (has(line, "lt-audit replay") || has(line, "m=")) continue;
      EXPECT_LE(text_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST(DiffText, IsATableWhereThereIsRoomAndSentencesWhereNot) {
  EXPECT_TRUE(has(text_of(sample_diff(), options_of(160)), "check      in both  same"));
  EXPECT_TRUE(has(text_of(sample_diff(), options_of(80)), "alignment  14 cases in both: 1 newly wrong"));
}

TEST(DiffText, OfManyChangesShowsAScreenAndAllWithV) {
  const ReportDiff diff = large_diff(500);
  const std::string text = text_of(diff);
  EXPECT_LT(lines_of(text).size(), 45U) << text;
  EXPECT_TRUE(has(text, "... and 497 more cases: -v")) << text;
  DiffOptions verbose = options_of();
  verbose.verbose = true;
  const std::string all = text_of(diff, verbose);
  EXPECT_TRUE(has(all, "alignment/case499")) << "the last one";
  EXPECT_FALSE(has(all, "more case"));
}

TEST(DiffText, QuietlyShowsNotesAndFindings) {
  DiffOptions quiet = options_of();
  quiet.quiet = true;
  const std::string text = text_of(sample_diff(), quiet);
  EXPECT_TRUE(has(text, "findings\n")) << text;
  EXPECT_TRUE(has(text, "new      fail   alignment: Calls end as wrong_result (1 case)")) << text;
  EXPECT_FALSE(has(text, "environment")) << text;
  EXPECT_FALSE(has(text, "newly refused: 1 case")) << text;
}

TEST(DiffText, OfEqualReportsSaysSo) {
  const Report report = pair_with_every_change().before;
  const std::string text = text_of(diff_reports(report, report));
  EXPECT_TRUE(has(text, "The environments are the same.")) << text;
  EXPECT_TRUE(has(text, "no finding is new, changed or gone")) << text;
  EXPECT_TRUE(has(text, "15 cases in both: nothing changed")) << text;
}

TEST(DiffText, ColoursStatusWordsAlone) {
  DiffOptions colored = options_of();
  colored.color = true;
  EXPECT_TRUE(has(text_of(sample_diff(), colored), "\x1b[31mfail"));
  EXPECT_FALSE(has(text_of(sample_diff()), "\x1b"));
}

TEST(DiffText, LetsNoReportSteerTheTerminal) {
  DiffOptions options = options_of();
  options.verbose = true;
  options.after_path = "evil\x1b[2J.json";
  const std::string text = text_of(large_diff(4, "\x1b]0;owned\x07\r\n\xff\xe2\x80\xae"), options);
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
  }
  EXPECT_FALSE(has(text, "\xe2\x80\xae")) << "bidirectional override";
  EXPECT_EQ(valid_utf8(text), text);
}

/// What GitHub would see outside of code spans.
std::string outside_of_code(const std::string& markdown) {
  std::string outside;
  for (std::size_t at = 0; at < markdown.size();) {
    if (markdown[at] != '`') {
      outside += markdown[at++];
      continue;
    }
    const std::size_t length = markdown.find_first_not_of('`', at) - at;
    std::size_t end = at + length;
    // A span ends at a run of the same length.
    while (end < markdown.size()) {
      const std::size_t run = markdown.find('`', end);
      const std::size_t run_end = std::min(markdown.find_first_not_of('`', run), markdown.size());
      end = run_end;
      if (run_end - run == length) break;
    }
    at = end;
  }
  return outside;
}

TEST(DiffMarkdown, KeepsTextsOfReportsInCodeSpans) {
  const std::string evil = "</details> @everyone [x](http://evil) `` <img src=x onerror=alert(1)> | # $1 `";
  const std::string markdown = markdown_of(large_diff(3, evil));
  const std::string outside = outside_of_code(markdown);
  for (const char* part : {"@everyone", "<img", "http://", "onerror"}) EXPECT_FALSE(has(outside, part)) << outside;
  // Each opened block is closed, by us.
  const auto count = [&](const std::string& part) {
    std::size_t sum = 0;
    for (std::size_t at = outside.find(part); at != std::string::npos; at = outside.find(part, at + 1)) ++sum;
    return sum;
  };
  EXPECT_EQ(count("<details>"), count("</details>")) << outside;
  EXPECT_GT(count("<details>"), 0U);
  // A table row has as many cells as its heading, whatever the texts hold.
  for (const std::string& line : lines_of(markdown)) {
    if (!line.starts_with("| new ")) continue;
    std::size_t cells = 0;
    for (std::size_t i = 0; i < line.size(); ++i) cells += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    EXPECT_EQ(cells, 6U) << line;
  }
}

TEST(DiffMarkdown, FitsAComment) {
  const std::string markdown = markdown_of(large_diff(3000, std::string(400, 'x')));
  EXPECT_LE(markdown.size(), kMostMarkdownBytes);
  EXPECT_TRUE(has(markdown, "more cases"));
  Report many = empty_report();
  Report others = empty_report();
  for (int i = 0; i < 3000; ++i) {
    others.environment.variables["CUDA_" + std::to_string(i)] = std::string(200, 'y');
  }
  const std::string cut = markdown_of(diff_reports(many, others));
  EXPECT_LE(cut.size(), kMostMarkdownBytes);
  EXPECT_TRUE(has(cut, "The rest was left out")) << cut.substr(cut.size() - 300);
  EXPECT_TRUE(has(cut, "</details>"));
}

TEST(DiffMarkdown, HasWhatTheTextHas) {
  const std::string markdown = markdown_of(sample_diff());
  for (const ChangeKind kind : all_change_kinds()) {
    EXPECT_TRUE(has(markdown, "<summary>" + std::string(words_of(kind)) + ": 1 case</summary>")) << words_of(kind);
  }
  EXPECT_TRUE(has(markdown, "| new | fail | `alignment` | `Calls end as wrong_result` | 0 → 1 |")) << markdown;
  EXPECT_TRUE(has(markdown, "| `cuBLASLt` | `13.1.0` | `13.4.0` |")) << markdown;
}

TEST(DiffJson, HoldsEverything) {
  const auto json = nlohmann::json::parse(json_of(sample_diff()));
  EXPECT_EQ(json.at("schema"), "lt-audit-diff");
  EXPECT_EQ(json.at("changes").size(), 12U);
  EXPECT_EQ(json.at("total").at("newly_refused"), 1);
  EXPECT_EQ(json.at("total").at("numbers").at("bits_differ"), 1);
  EXPECT_EQ(json.at("only_old").at(0).at("id"), "gone");
  EXPECT_EQ(json.at("only_new").at(0).at("id"), "added");
  EXPECT_TRUE(json.at("times_not_compared").is_null());
}

/// Exit status of scripts/validate_report.py.
int validate(const std::string& text) {
  const TemporaryDirectory directory;
  const std::string path = directory.file_with("diff.json", text);
  const std::string command = "python3 " LT_AUDIT_SOURCE_DIR "/scripts/validate_report.py " + path + " >/dev/null 2>&1";
  return std::system(command.c_str());
}

TEST(DiffJson, IsWhatItsSchemaSaysAndNothingElse) {
  if (std::system("python3 -c 'import jsonschema' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3 with jsonschema";
  EXPECT_EQ(validate(json_of(sample_diff())), 0);
  EXPECT_EQ(validate(json_of(diff_reports(Report{}, Report{}))), 0);
  EXPECT_EQ(validate(json_of(large_diff(3, "\xff\x1b\"\\"))), 0);
  auto json = nlohmann::json::parse(json_of(sample_diff()));
  json["changes"][0]["kinds"][0] = "better";
  EXPECT_NE(validate(json.dump()), 0);
  json = nlohmann::json::parse(json_of(sample_diff()));
  json["undocumented"] = 1;
  EXPECT_NE(validate(json.dump()), 0);
}

}  // namespace
}  // namespace lt_audit
