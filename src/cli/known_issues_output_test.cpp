// What lt-audit known-issues shows of a place and of problems.
#include "cli/known_issues_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "workload/problem_text.h"

namespace lt_audit {
namespace {

const IssuePlace kHopper{{13, 1, 0}, 90};

WorkloadProblem problem(const char* text, std::uint64_t calls = 0, std::uint64_t line = 0) {
  WorkloadProblem made;
  made.problem = problem_from_text(text);
  made.calls = calls;
  if (line > 0) made.first = {"app.log", line};
  return made;
}

std::string text_of(const KnownIssuesView& view, int columns = 100) {
  std::ostringstream out;
  write_known_issues(view, columns, out);
  return out.str();
}

std::string text_of(const char* id, int columns = 100) {
  std::ostringstream out;
  write_known_issue(*find_known_issue(id), columns, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

const IssueRow* row_of(const KnownIssuesView& view, const char* id) {
  const auto found =
      std::find_if(view.rows.begin(), view.rows.end(), [id](const IssueRow& row) { return row.match.issue->id == id; });
  return found == view.rows.end() ? nullptr : &*found;
}

TEST(KnownIssuesView, WithoutProblemsHasAllOfThePlaceThoseThatApplyFirst) {
  const auto view = known_issues_view(kHopper, {});
  EXPECT_EQ(view.rows.size(), match_issues(kHopper).size());
  EXPECT_NE(row_of(view, "KI-024"), nullptr);
  EXPECT_EQ(row_of(view, "KI-050"), nullptr);
  EXPECT_TRUE(
      std::is_partitioned(view.rows.begin(), view.rows.end(), [](const IssueRow& row) { return row.match.applies(); }));
}

TEST(KnownIssuesView, WithProblemsHasWhatTouchesThemAndCountsTheRest) {
  const auto view = known_issues_view(
      kHopper, {problem("m=64,n=64,k=64,a=f16"), problem("m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3", 12, 7)});
  const auto* row = row_of(view, "KI-061");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->match.applies());
  ASSERT_EQ(row->touched.size(), 1U);
  EXPECT_EQ(row->touched[0].problem.calls, 12U);
  EXPECT_EQ(row_of(view, "KI-024"), nullptr);
  EXPECT_GT(view.beside_problems, 0U);
  EXPECT_LT(view.rows.size() + view.beside_problems, match_issues(kHopper).size());
}

TEST(WriteKnownIssues, NamesPlaceCountsAndRemedy) {
  const auto text = text_of(known_issues_view(kHopper, {}));
  EXPECT_TRUE(contains(text, "on        cuBLASLt 13.1.0, compute capability 9.0\n")) << text;
  EXPECT_TRUE(contains(text, "of " + std::to_string(known_issues().size()) + " known: ")) << text;
  EXPECT_TRUE(contains(text, "applies    KI-061    INT8 to INT32 is refused")) << text;
  EXPECT_TRUE(contains(text, "           fixed in  13.2.0\n")) << text;
  EXPECT_TRUE(contains(text, "           remedy    split n, loop over the batch\n")) << text;
  EXPECT_TRUE(contains(text, "may apply  KI-073    ")) << text;
  EXPECT_TRUE(contains(text, "(n > 65536 || batch > 1)")) << text;
}

TEST(WriteKnownIssues, FitsTheWidthThatItIsGiven) {
  for (const int columns : {80, 100, 160}) {
    EXPECT_LE(longest_line(text_of(known_issues_view(kHopper, {}), columns)), static_cast<std::size_t>(columns));
    for (const auto& issue : known_issues())
      EXPECT_LE(longest_line(text_of(issue.id.c_str(), columns)), static_cast<std::size_t>(columns)) << issue.id;
  }
}

TEST(WriteKnownIssues, NamesTheProblemsWithCallsAndLineAndCutsALongList) {
  std::vector<WorkloadProblem> problems;
  for (int i = 0; i < 8; ++i) problems.push_back(problem("m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3", 8, 7));
  const auto text = text_of(known_issues_view(kHopper, problems));
  EXPECT_TRUE(contains(text, "touches   8 calls, app.log:7: m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3")) << text;
  EXPECT_TRUE(contains(text, "and 3 more problems: --json FILE has all")) << text;
  EXPECT_TRUE(contains(text, "(for 8 problems)")) << text;
  EXPECT_TRUE(contains(text, "not about single products")) << text;
}

TEST(WriteKnownIssue, ShowsOneWhole) {
  const auto text = text_of("KI-056");
  for (const char* part : {"KI-056", "12.9.0 to before 13.2.1", "a in (e4m3, e5m2) && b in (e4m3, e5m2)", "SCALAR_32F",
                           "refused although legal (refused)", "align every scale pointer", "in 13.1.0/sm_90: yes",
                           "5728938", "RN13.4 3.1.8", "no run of lt-audit can show it: scale pointers"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_TRUE(contains(text_of("KI-061"), "lt-audit replay 'm=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3'"));
  EXPECT_TRUE(contains(text_of("CR-4"), "by users alone"));
  EXPECT_TRUE(contains(text_of("KI-073"), "before 13.3.0, the first one is not known"));
  EXPECT_TRUE(contains(text_of("KI-034"), "12.5.3 and later; no release note lists a fix"));
}

TEST(KnownIssuesJson, HoldsEveryRowAndProblem) {
  std::vector<WorkloadProblem> problems(8, problem("m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3", 8, 7));
  const auto view = known_issues_view(kHopper, problems);
  const auto json = nlohmann::json::parse(known_issues_json(view));
  EXPECT_EQ(json.at("schema"), "lt-audit-known-issues");
  EXPECT_EQ(json.at("cublaslt"), "13.1.0");
  EXPECT_EQ(json.at("compute_capability"), "9.0");
  ASSERT_EQ(json.at("issues").size(), view.rows.size());
  const auto& first = json.at("issues").at(0);
  EXPECT_EQ(first.at("id"), "KI-061");
  EXPECT_EQ(first.at("match"), "applies");
  EXPECT_EQ(first.at("fixed_in"), "13.2.0");
  EXPECT_EQ(first.at("touches").size(), 8U);
  EXPECT_EQ(first.at("touches").at(0).at("source").at("line"), 7);
}

TEST(KnownIssuesJson, HoldsOneIssueWhole) {
  const auto json = nlohmann::json::parse(known_issue_json(*find_known_issue("KI-061")));
  ASSERT_EQ(json.at("issues").size(), 1U);
  EXPECT_EQ(json.at("issues").at(0).at("affected").at(0).at("before"), "13.2.0");
  EXPECT_EQ(json.at("issues").at(0).at("witness").size(), 1U);
}

}  // namespace
}  // namespace lt_audit
