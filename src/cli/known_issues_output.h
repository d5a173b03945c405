// What lt-audit known-issues shows: text for the terminal, JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "known_issues/match.h"
#include "workload/workload.h"

namespace lt_audit {

/// A problem that an issue touches.
struct TouchedProblem {
  WorkloadProblem problem;
  IssueMatch match;
};

struct IssueRow {
  /// Of the version and GPU; with problems, of the problem that it touches most surely.
  IssueMatch match;
  /// Those it applies to first, most called first.
  std::vector<TouchedProblem> touched;
};

struct KnownIssuesView {
  IssuePlace place;
  /// Where version and GPU are from: "NVIDIA H200, libcublasLt of /usr/lib/..."; empty when they were given.
  std::string origin;
  /// Those that apply first.
  std::vector<IssueRow> rows;
  /// Problems that were looked at; 0 when none was given and rows are those of version and GPU.
  std::size_t problems = 0;
  /// With problems: issues of version and GPU that concern no single problem.
  std::size_t beside_problems = 0;
};

/// What matches the place, or touches one of the problems there.
KnownIssuesView known_issues_view(const IssuePlace& place, const std::vector<WorkloadProblem>& problems);

/// Lines of at most `columns`; problem texts and paths stay whole.
void write_known_issues(const KnownIssuesView& view, int columns, std::ostream& out);
/// One issue whole, with its sources.
void write_known_issue(const KnownIssue& issue, int columns, std::ostream& out);

/// The same as documents of the schema "lt-audit-known-issues", version 1.0.0.
std::string known_issues_json(const KnownIssuesView& view);
std::string known_issue_json(const KnownIssue& issue);

}  // namespace lt_audit
