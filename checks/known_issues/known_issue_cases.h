// The cases of check "known-issues".
#pragma once

#include <vector>

#include "known_issues/known_issue.h"
#include "lt_audit/check.h"

namespace lt_audit {

/// Parameter with the id of the issue.
inline constexpr const char* kIssueParameter = "known_issue";
/// Parameter with the reason why no run can show the issue.
inline constexpr const char* kNoWitnessParameter = "no_witness";

/// Each issue of the target's version and GPU: a case for each of its witnesses, or one that says why there is none.
std::vector<Case> known_issue_cases(const Target& target);

/// The issues that touch the problem and that a run of it can show.
std::vector<Case> known_issue_cases_about(const Target& target, const MatmulProblem& problem);

/// Whether the issue touches the problem is known only once an algorithm is chosen.
bool depends_on_algorithm(const KnownIssue& issue, const MatmulProblem& problem);

}  // namespace lt_audit
