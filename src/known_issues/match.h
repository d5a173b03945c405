// Which known issues a version of cuBLASLt on a GPU has, and which of them touch a problem. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "known_issues/known_issue.h"

namespace lt_audit {

/// An issue that fits as far as could be checked.
struct IssueMatch {
  const KnownIssue* issue = nullptr;
  /// What could not be checked, each a few words; empty: the issue applies. Otherwise it may apply.
  std::vector<std::string> doubts;
  /// The first release without it, of the range that the version is in.
  std::optional<LibraryVersion> fixed_in;

  bool applies() const { return doubts.empty(); }
};

/// By version and GPU alone; the conditions on the problem are not looked at.
std::optional<IssueMatch> match_issue(const KnownIssue& issue, const IssuePlace& place);

/// By version, GPU and problem. Issues that concern no single problem never match one.
std::optional<IssueMatch> match_issue(const KnownIssue& issue, const IssuePlace& place, const MatmulProblem& problem,
                                      const AlgorithmFacts& algorithm = {});

/// All built-in issues that match, those that apply before those that may.
std::vector<IssueMatch> match_issues(const IssuePlace& place);
std::vector<IssueMatch> match_issues(const IssuePlace& place, const MatmulProblem& problem);

}  // namespace lt_audit
