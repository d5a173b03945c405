// The scanner of the cases reads what write_json writes, and where it reads something it reads what the general reader
// would have read.
#include "report/json_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "report/formats.h"
#include "report/observation_json.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::string json_of(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

/// A report of three cases, of which the second has everything that a case can have.
Report report_with_a_full_case() {
  Report report;
  report.checks.resize(1);
  CheckResult& check = report.checks[0];
  check.id = "alignment";
  check.cases = {sample_case("first", "m=1,n=2,k=3,a=f16", Status::pass, Outcome::correct),
                 sample_case("full", "m=4,n=5,k=6,a=f32", Status::fail, Outcome::wrong_result),
                 sample_case("last", "m=7,n=8,k=9,a=f64", Status::warn, Outcome::refused)};
  check.cases[1].rule = "a \"rule\" with a \\ and a · in it";
  check.cases[1].parameters = {{"declared", "256"}, {"scenario", "two\nlines"}};
  check.cases[1].observation = observation_to_json(full_observation()).dump();
  return report;
}

/// Where the scanner begins: behind the key "cases" of the first check.
std::size_t behind_key(const std::string& text) { return text.find("\"cases\":") + std::string("\"cases\"").size(); }

std::vector<CaseResult> scanned(const std::string& text) {
  std::vector<CaseResult> cases;
  scan_cases(text, behind_key(text), CasesFollow::key, cases);
  return cases;
}

TEST(ScanCases, ReadsEveryCaseThatIsWritten) {
  for (const Report& report : {sample_report(), report_with_a_full_case()}) {
    const std::string text = json_of(report);
    std::vector<CaseResult> cases;
    const std::size_t end = scan_cases(text, behind_key(text), CasesFollow::key, cases);
    EXPECT_EQ(cases.size(), report.checks[0].cases.size());
    ASSERT_LT(end, text.size());
    EXPECT_EQ(text[end], ']');
  }
}

TEST(ScanCases, GivesTheValuesOfACase) {
  const Report report = report_with_a_full_case();
  const auto cases = scanned(json_of(report));
  ASSERT_EQ(cases.size(), 3U);
  const CaseResult& wanted = report.checks[0].cases[1];
  EXPECT_EQ(cases[1].id, "full");
  EXPECT_EQ(cases[1].problem, wanted.problem);
  EXPECT_EQ(cases[1].expectation, wanted.expectation);
  EXPECT_EQ(cases[1].rule, wanted.rule);
  EXPECT_EQ(cases[1].outcome, Outcome::wrong_result);
  EXPECT_EQ(cases[1].status, Status::fail);
  EXPECT_EQ(cases[1].reason, wanted.reason);
  EXPECT_EQ(cases[1].sentence, wanted.sentence);
  EXPECT_EQ(cases[1].parameters, wanted.parameters);
  EXPECT_EQ(cases[1].observation, wanted.observation);
}

TEST(ScanCases, LeavesWhatItDoesNotKnowAndStopsInFrontOfIt) {
  std::string text = json_of(report_with_a_full_case());
  text.insert(text.find("\"id\":\"full\""), "\"novelty\":0,");
  std::vector<CaseResult> cases;
  const std::size_t there = scan_cases(text, behind_key(text), CasesFollow::key, cases);
  EXPECT_EQ(cases.size(), 1U);
  EXPECT_EQ(text.compare(there, 12, "{\"novelty\":0"), 0);
  // Behind the one that somebody else has read it goes on.
  const std::size_t behind = text.find("{\"id\":\"last\"") - 10;
  const std::size_t comma = text.rfind(',', behind + 9);
  EXPECT_NE(scan_cases(text, comma, CasesFollow::another_case, cases), std::string_view::npos);
  EXPECT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases.back().id, "last");
}

TEST(ScanCases, ReadsNothingWhereNoArrayOrNoCaseFollows) {
  std::vector<CaseResult> cases;
  for (const char* text : {"", ":", ": 3", ":{", ":[", ":[]", ":[3]", ":[{}]", ":[{\"id\":", ":null"}) {
    EXPECT_EQ(scan_cases(text, 0, CasesFollow::key, cases), std::string_view::npos) << text;
  }
  for (const char* text : {"", "]", ",", ",]", ", {}", "}"}) {
    EXPECT_EQ(scan_cases(text, 0, CasesFollow::another_case, cases), std::string_view::npos) << text;
  }
  EXPECT_TRUE(cases.empty());
}

/// What reading gives as one text, apart from how numbers and escapes are spelled and from positions in the file.
std::string reading_of(const TemporaryDirectory& directory, const std::string& text) {
  std::string result;
  try {
    Report report = read_json(directory.file_with("report.json", text));
    for (CaseResult& one : report.checks.at(0).cases) {
      if (!one.observation.empty()) one.observation = nlohmann::ordered_json::parse(one.observation).dump();
    }
    return json_of(report);
  } catch (const AuditError& error) {
    result = error.what();
  }
  result.erase(std::remove_if(result.begin(), result.end(), [](unsigned char c) { return std::isdigit(c) != 0; }),
               result.end());
  return result;
}

TEST(ScanCases, AgreesWithTheGeneralReaderOnDamagedCases) {
  const TemporaryDirectory directory;
  const std::string text = json_of(report_with_a_full_case());
  const std::size_t begin = text.find("{\"id\":\"full\"") + 1;
  const std::size_t end = text.find("},\n", begin);
  // An unknown field keeps the scanner away from this case.
  const std::string slow = std::string(text).insert(end, ",\"novelty\":0");
  ASSERT_EQ(reading_of(directory, text), reading_of(directory, slow));
  constexpr std::array<std::string_view, 14> kDamages = {"",  "\"", "\\", "{", "]",    ",",    "0",
                                                         " ", "9",  "-",  ".", "\x01", "\xff", "null"};
  std::size_t accepted = 0;
  // Every third byte: each takes two readings. No damage is a closing brace, nor is the last one damaged: the unknown
  // field would stand behind the case.
  for (std::size_t at = begin; at + 1 < end; at += 3) {
    const std::string_view damage = kDamages[at % kDamages.size()];
    const std::string damaged = std::string(text).replace(at, 1, damage);
    const std::string reading = reading_of(directory, damaged);
    ASSERT_EQ(reading, reading_of(directory, std::string(slow).replace(at, 1, damage)))
        << "byte " << at - begin << " replaced by '" << damage << "'";
    accepted += reading.front() == '{' ? 1 : 0;
  }
  EXPECT_GT(accepted, (end - begin) / 30) << "most damages make no report, so that little was compared";
}

}  // namespace
}  // namespace lt_audit
