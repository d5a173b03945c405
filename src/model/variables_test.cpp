// The table of variables that change what the libraries do.
#include "lt_audit/variables.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lt_audit {
namespace {

TEST(Variables, AreSortedAndSayWhatTheyDo) {
  const auto rules = variable_rules();
  const auto by_name = [](const VariableRule& left, const VariableRule& right) { return left.name < right.name; };
  EXPECT_TRUE(std::is_sorted(rules.begin(), rules.end(), by_name));
  for (const auto& rule : rules) {
    EXPECT_FALSE(rule.effect.empty() || rule.remedy.empty() || rule.source.empty()) << rule.name;
  }
}

TEST(Variables, ChangeNothingUnlessSetToMoreThanTheHarmlessValue) {
  const auto& lt_log = *std::find_if(variable_rules().begin(), variable_rules().end(),
                                     [](const VariableRule& rule) { return rule.name == "CUBLASLT_LOG_LEVEL"; });
  EXPECT_FALSE(changes_something(lt_log, {}));
  EXPECT_FALSE(changes_something(lt_log, {{"CUBLASLT_LOG_LEVEL", ""}}));
  EXPECT_FALSE(changes_something(lt_log, {{"CUBLASLT_LOG_LEVEL", "0"}}));
  EXPECT_FALSE(changes_something(lt_log, {{"CUBLASLT_LOG_FILE", "5"}}));
  EXPECT_TRUE(changes_something(lt_log, {{"CUBLASLT_LOG_LEVEL", "5"}}));
  const auto& tf32 = variable_rules().back();
  ASSERT_EQ(tf32.name, "NVIDIA_TF32_OVERRIDE");
  EXPECT_TRUE(changes_something(tf32, {{"NVIDIA_TF32_OVERRIDE", "0"}}));
}

}  // namespace
}  // namespace lt_audit
