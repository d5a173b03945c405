// The check "problem": matrix products that the user gives as texts, judged by the documented contract alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"

namespace lt_audit {

inline constexpr std::string_view kGivenProblemsId = "problem";

/// Parameter that names the rule of the contract behind the expectation ("fp8-16-byte-rule").
inline constexpr std::string_view kRuleParameter = "rule_id";

/// One case per text: "problem-1", "problem-2", ... Throws AuditError (usage) that names the text that cannot be read.
std::unique_ptr<Check> make_given_problems(const std::vector<std::string>& texts);

}  // namespace lt_audit
