// What every verdict of every check must have, for the tests of checks.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lt_audit/check.h"

namespace lt_audit {

/// A pass says nothing; anything else has a reason, a sentence, and advice that knows the reason.
inline void expect_explained(const Check& check, const Case& the_case, const Verdict& verdict) {
  const std::string where = the_case.id + " " + verdict.reason;
  if (verdict.status == Status::pass) {
    EXPECT_TRUE(verdict.reason.empty() && verdict.sentence.empty()) << where;
    return;
  }
  EXPECT_FALSE(verdict.reason.empty() || verdict.sentence.empty()) << where;
  const Advice advice = check.advice(the_case, verdict);
  EXPECT_FALSE(advice.title.empty() || advice.expected.empty() || advice.remedy.empty()) << where;
  EXPECT_EQ(advice.title.find("did not work as expected"), std::string::npos) << where;
  EXPECT_EQ(advice.rule, the_case.rule) << where;
}

/// The page has a row of a table that starts with this word.
inline bool has_row(std::string_view page, std::string_view word) {
  return page.find("\n| " + std::string(word) + " ") != std::string_view::npos;
}

/// The same of a check that is a table of scenarios: its reasons are GROUP-DEFECT, and its page has a row for both.
inline void expect_scenario_explained(const Check& check, const Case& the_case, const Verdict& verdict,
                                      const std::string& group) {
  expect_explained(check, the_case, verdict);
  if (verdict.status == Status::pass) return;
  ASSERT_EQ(verdict.reason.find(group + "-"), 0U) << verdict.reason;
  const auto defect = verdict.reason.substr(group.size() + 1);
  const auto page = page_of(check.info().id);
  EXPECT_TRUE(has_row(page, group)) << group;
  EXPECT_TRUE(has_row(page, defect)) << defect;
}

}  // namespace lt_audit
