// An audit that shrank is not green: checks and cases that the baseline ran and the report lacks, and required checks.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "gate/gate_parts.h"
#include "gate/glob.h"
#include "report/identity.h"
#include "report/shell_word.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Cases by case_identity.
using Counts = std::unordered_map<std::string, std::int64_t>;

/// Not the renewal of the baseline, which is the last thing to do.
std::string next_step(const GateWork& work) { return "audit as for the baseline: " + run_again(*work.baseline); }

/// A check that is not in the report (`now` is null) or of which nothing ran.
void judge_check(GateWork& work, const CheckResult& old, const CheckResult* now) {
  std::string why;
  if (now == nullptr) {
    why = "is not in the report";
  } else {
    why = now->skip_reason.empty() ? "was skipped" : fmt::format("was skipped: {}", now->skip_reason);
  }
  const auto lost = static_cast<std::uint64_t>(std::count_if(old.cases.begin(), old.cases.end(), ran));
  work.result.counts.missing += lost;
  work.reason({"check-missing",
               fmt::format("check {}, of which the baseline ran {}, {}", old.id, number_of(lost, "case"), why),
               {},
               next_step(work)});
}

/// The cases of a check that ran then and not now. Which of several with one problem is missing, only their ids can
/// tell.
void judge_cases(GateWork& work, const CheckResult& old, const CheckResult& now) {
  Counts left;
  std::unordered_map<std::string_view, const CaseResult*> by_id;
  for (const CaseResult& result : now.cases) {
    by_id.emplace(result.id, &result);
    if (ran(result)) ++left[case_identity(now.id, result)];
  }
  std::vector<const CaseResult*> unsure;
  // First those whose id is still there and ran, so that of equals the missing one is named.
  for (const CaseResult& result : old.cases) {
    if (!ran(result) || result.status == Status::error) continue;
    const auto same = by_id.find(result.id);
    const bool there = same != by_id.end() && ran(*same->second) && same->second->problem == result.problem;
    if (there) --left[case_identity(old.id, result)];
    if (!there) unsure.push_back(&result);
  }
  std::vector<std::string> details;
  for (const CaseResult* result : unsure) {
    std::int64_t& count = left[case_identity(old.id, *result)];
    if (count > 0) {
      --count;
      continue;
    }
    const auto same = by_id.find(result->id);
    const bool skipped = same != by_id.end() && !ran(*same->second);
    details.push_back(fmt::format("{}: {}", case_place(old.id, *result),
                                  skipped ? "skipped now, " + same->second->sentence : "missing, " + result->problem));
  }
  if (details.empty()) return;
  work.result.counts.missing += details.size();
  const std::string title = fmt::format("check {}, {} that the baseline ran {} missing or skipped now", old.id,
                                        number_of(details.size(), "case"), details.size() == 1 ? "is" : "are");
  work.reason({"case-missing", title, std::move(details), next_step(work)});
}

void judge_required(GateWork& work, const std::string& pattern) {
  std::vector<std::string> ids;
  bool there = false;
  for (const CheckResult& check : work.report.checks) {
    ids.push_back(check.id);
    if (!glob_matches(pattern, check.id)) continue;
    there = true;
    if (any_ran(check)) return;
  }
  const std::string near = there ? "" : nearest_word(pattern, ids);
  work.reason(
      {"required-missing",
       there ? fmt::format("check {} is required, and no case of it ran", pattern)
             : fmt::format("check {} is required and not in the report{}", pattern,
                           near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
       {},
       there ? fmt::format("see why: lt-audit show {} {}", shell_word(work.options.report_name), shell_word(pattern))
             : fmt::format("audit it: lt-audit run {}", shell_word(pattern))});
}

}  // namespace

void judge_shrinkage(GateWork& work) {
  if (work.baseline != nullptr) {
    std::unordered_map<std::string_view, const CheckResult*> checks;
    for (const CheckResult& check : work.report.checks) checks.emplace(check.id, &check);
    for (const CheckResult& old : work.baseline->checks) {
      if (!any_ran(old)) continue;
      const auto found = checks.find(old.id);
      const CheckResult* now = found == checks.end() ? nullptr : found->second;
      if (now == nullptr || !any_ran(*now)) {
        judge_check(work, old, now);
      } else {
        judge_cases(work, old, *now);
      }
    }
  }
  for (const std::string& pattern : work.options.require) judge_required(work, pattern);
}

}  // namespace lt_audit
