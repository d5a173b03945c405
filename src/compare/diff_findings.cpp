// Findings of two reports by check and cause, counted in cases by check, problem and cause.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/diff_parts.h"
#include "report/identity.h"

namespace lt_audit {
namespace {

/// Cases of one finding.
struct CaseCounts {
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
};

/// What a finding is called: CHECK.REASON.
std::string finding_id(const std::string& check, const std::string& reason) { return check + "." + reason; }

template <class Visit>
void each_non_pass(const Report& report, const Visit& visit) {
  for (const CheckResult& check : report.checks) {
    for (const CaseResult& one : check.cases) {
      if (one.status != Status::pass) visit(check.id, one);
    }
  }
}

/// By finding: how many of its cases only one report has.
std::unordered_map<std::string, CaseCounts> counts_of(const Report& before, const Report& after) {
  std::unordered_map<std::string, std::uint64_t> left;
  each_non_pass(before, [&](const std::string& check, const CaseResult& one) { ++left[finding_identity(check, one)]; });
  std::unordered_map<std::string, CaseCounts> counts;
  each_non_pass(after, [&](const std::string& check, const CaseResult& one) {
    const auto found = left.find(finding_identity(check, one));
    if (found != left.end() && found->second > 0) {
      --found->second;
    } else {
      ++counts[finding_id(check, one.reason)].added;
    }
  });
  each_non_pass(before, [&](const std::string& check, const CaseResult& one) {
    auto& rest = left[finding_identity(check, one)];
    if (rest == 0) return;
    --rest;
    ++counts[finding_id(check, one.reason)].removed;
  });
  return counts;
}

FindingDiff diff_of(const Finding& finding, FindingChange change) {
  FindingDiff diff;
  diff.change = change;
  diff.id = finding.id;
  diff.check = finding.check;
  diff.status = finding.status;
  diff.title = finding.title;
  diff.repro = finding.repro;
  return diff;
}

}  // namespace

void compare_findings(const Report& before, const Report& after, ReportDiff& diff) {
  std::unordered_map<std::string_view, const Finding*> waiting;
  for (const Finding& finding : before.findings) waiting.emplace(finding.id, &finding);
  const auto counts = counts_of(before, after);
  for (const Finding& finding : after.findings) {
    const auto found = waiting.find(finding.id);
    const bool is_new = found == waiting.end();
    FindingDiff one = diff_of(finding, is_new ? FindingChange::appeared : FindingChange::changed);
    one.count_after = finding.count;
    one.count_before = is_new ? 0 : found->second->count;
    if (const auto counted = counts.find(finding.id); counted != counts.end()) {
      one.cases_added = counted->second.added;
      one.cases_removed = counted->second.removed;
    }
    const bool differs = is_new || found->second->status != finding.status || one.count_before != one.count_after ||
                         one.cases_added + one.cases_removed > 0;
    if (!is_new) waiting.erase(found);
    if (differs) {
      diff.findings.push_back(std::move(one));
    } else {
      ++diff.findings_unchanged;
    }
  }
  for (const Finding& finding : before.findings) {
    const auto found = waiting.find(finding.id);
    if (found == waiting.end() || found->second != &finding) continue;
    FindingDiff one = diff_of(finding, FindingChange::gone);
    one.count_before = one.cases_removed = finding.count;
    diff.findings.push_back(std::move(one));
  }
  std::stable_sort(diff.findings.begin(), diff.findings.end(), [](const FindingDiff& left, const FindingDiff& right) {
    if (left.change != right.change) return left.change < right.change;
    if (left.status != right.status) return worse(left.status, right.status) == left.status;
    return std::max(left.count_before, left.count_after) > std::max(right.count_before, right.count_after);
  });
}

}  // namespace lt_audit
