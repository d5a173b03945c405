#include "known_issues/match.h"

#include <fmt/format.h>

#include <algorithm>

namespace lt_audit {
namespace {

const VersionRange* range_of(const KnownIssue& issue, const LibraryVersion& version) {
  const auto found = std::find_if(issue.affected.begin(), issue.affected.end(), [&](const VersionRange& range) {
    return (!range.from || version >= *range.from) && (!range.before || version < *range.before);
  });
  return found == issue.affected.end() ? nullptr : &*found;
}

/// Whether this very version has it. What the sources say of a place counts for more than the bounds of a range.
void add_version_doubts(const KnownIssue& issue, const IssuePlace& place, const VersionRange& range,
                        std::vector<std::string>& doubts) {
  const auto answer = issue.sources_say.find(place.text());
  if (answer != issue.sources_say.end()) {
    const auto where = fmt::format("{} on compute capability {}", place.version.text(),
                                   compute_capability_text(place.compute_capability));
    if (answer->second == SourcesSay::maybe)
      doubts.push_back(fmt::format("the sources leave open whether it is in {}", where));
    if (answer->second == SourcesSay::no)
      doubts.push_back(fmt::format("the sources do not say that it is in {}", where));
    return;
  }
  if (!range.from) doubts.emplace_back("the first version with it is not known");
  const bool seen_here = range.from && *range.from == place.version;
  if (!range.before && issue.open && !seen_here)
    doubts.emplace_back("no release note lists a fix, nor says that this version still has it");
}

template <class Issues>
std::vector<IssueMatch> sorted(Issues&& issues) {
  std::stable_partition(issues.begin(), issues.end(), [](const IssueMatch& match) { return match.applies(); });
  return std::forward<Issues>(issues);
}

}  // namespace

std::optional<IssueMatch> match_issue(const KnownIssue& issue, const IssuePlace& place) {
  const auto* range = range_of(issue, place.version);
  if (range == nullptr || !issue.capabilities.contains(place.compute_capability)) return std::nullopt;
  IssueMatch match{&issue, {}, range->before};
  add_version_doubts(issue, place, *range, match.doubts);
  if (!issue.condition.empty()) match.doubts.push_back("only where: " + issue.condition);
  return match;
}

std::optional<IssueMatch> match_issue(const KnownIssue& issue, const IssuePlace& place, const MatmulProblem& problem,
                                      const AlgorithmFacts& algorithm) {
  if (issue.concern != Concern::problem) return std::nullopt;
  auto match = match_issue(issue, place);
  if (!match) return std::nullopt;
  std::string of_the_algorithm;
  for (const auto& predicate : issue.problem) {
    const auto holds = predicate.holds(problem, algorithm);
    if (holds && !*holds) return std::nullopt;
    if (!holds) of_the_algorithm += (of_the_algorithm.empty() ? "" : " && ") + predicate.text();
  }
  if (!of_the_algorithm.empty()) match->doubts.push_back("only with an algorithm of: " + of_the_algorithm);
  return match;
}

std::vector<IssueMatch> match_issues(const IssuePlace& place) {
  std::vector<IssueMatch> matches;
  for (const auto& issue : known_issues()) {
    if (auto match = match_issue(issue, place)) matches.push_back(std::move(*match));
  }
  return sorted(std::move(matches));
}

std::vector<IssueMatch> match_issues(const IssuePlace& place, const MatmulProblem& problem) {
  std::vector<IssueMatch> matches;
  for (const auto& issue : known_issues()) {
    if (auto match = match_issue(issue, place, problem)) matches.push_back(std::move(*match));
  }
  return sorted(std::move(matches));
}

}  // namespace lt_audit
