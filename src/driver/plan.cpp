// Selection by glob, and the plan made from it.
#include "driver/plan.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "driver/given_problems.h"
#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

bool matches(const std::string& pattern, std::string_view id) {
  return fnmatch(pattern.c_str(), std::string(id).c_str(), 0) == 0;
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view id) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return matches(pattern, id); });
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest_word(word, candidates);
  return near.empty() ? std::string(";") : fmt::format("; did you mean '{}'?", near);
}

/// What a pattern may name: the registered checks, and "problem" when problems are given.
std::vector<std::string> selectable_ids(const Selection& selection, std::span<const std::unique_ptr<Check>> registry) {
  std::vector<std::string> ids;
  for (const auto& check : registry) ids.emplace_back(check->info().id);
  if (!selection.problems.empty()) ids.emplace_back(kGivenProblemsId);
  return ids;
}

void require_matches(const std::vector<std::string>& patterns, const std::vector<std::string>& ids, const char* where) {
  for (const auto& pattern : patterns) {
    const bool found = std::any_of(ids.begin(), ids.end(), [&](const auto& id) { return matches(pattern, id); });
    if (found) continue;
    throw AuditError(ErrorKind::usage, fmt::format("no check matches '{}'{}{} `lt-audit list` shows all checks",
                                                   pattern, where, did_you_mean(pattern, ids)));
  }
}

bool wants_given_problems(const Selection& selection) {
  return !selection.problems.empty() && !matches_any(selection.exclude, kGivenProblemsId);
}

PlannedCheck plan_check(const Check& check, const Selection& selection, const Target& target) {
  PlannedCheck planned;
  planned.check = &check;
  if (auto reason = check.skip_reason(target)) {
    planned.skip_reason = reason->empty() ? "does not apply to this target" : std::move(*reason);
    return planned;
  }
  planned.cases = check.cases(target, selection.depth);
  return planned;
}

std::string number_of(std::size_t index) { return fmt::format("{}-{}", kGivenProblemsId, index + 1); }

void add_notes(Case& the_case, const Selection& selection, std::size_t index) {
  if (index >= selection.problem_notes.size()) return;
  for (const auto& [key, value] : selection.problem_notes[index]) the_case.parameters.emplace(key, value);
}

/// What a check says about each problem of a workload: "problem-3.every-algorithm".
PlannedCheck plan_about_problems(const Check& check, const Selection& selection, const Target& target) {
  PlannedCheck planned;
  planned.check = &check;
  if (check.skip_reason(target)) return planned;
  for (std::size_t i = 0; i < selection.problems.size(); ++i) {
    for (auto& the_case : check.cases_about(target, problem_from_text(selection.problems[i]))) {
      the_case.id = fmt::format("{}.{}", number_of(i), the_case.id);
      the_case.parameters["problem"] = number_of(i);
      add_notes(the_case, selection, i);
      planned.cases.push_back(std::move(the_case));
    }
  }
  return planned;
}

/// Leaves the case with the wanted id, in every check that has one.
void keep_only_case(Plan& plan, const std::string& id) {
  std::vector<std::string> all_ids;
  bool found = false;
  bool skipped = false;
  for (auto& planned : plan.checks) {
    for (const auto& the_case : planned.cases) all_ids.push_back(the_case.id);
    std::erase_if(planned.cases, [&](const Case& the_case) { return the_case.id != id; });
    found = found || !planned.cases.empty();
    skipped = skipped || !planned.skip_reason.empty();
  }
  if (!found && !skipped) {
    throw AuditError(
        ErrorKind::usage,
        fmt::format("no selected check has a case '{}' at this depth{}; `lt-audit list --cases` shows all cases", id,
                    did_you_mean(id, all_ids)));
  }
  // A check without the case has no part in this run; one that does not apply here says so.
  std::erase_if(plan.checks,
                [](const PlannedCheck& planned) { return planned.cases.empty() && planned.skip_reason.empty(); });
}

struct DepthName {
  Depth depth;
  std::string_view name;
};
constexpr std::array kDepthNames{DepthName{Depth::quick, "quick"}, DepthName{Depth::normal, "default"},
                                 DepthName{Depth::full, "full"}};

}  // namespace

std::size_t Plan::case_count() const {
  std::size_t count = 0;
  for (const auto& planned : checks) count += planned.cases.size();
  return count;
}

std::vector<const Check*> select_checks(const Selection& selection, std::span<const std::unique_ptr<Check>> registry) {
  const auto ids = selectable_ids(selection, registry);
  require_matches(selection.checks, ids, "");
  require_matches(selection.exclude, ids, " (--exclude)");
  if (!selection.problems.empty()) static_cast<void>(make_given_problems(selection.problems));

  std::vector<const Check*> selected;
  const bool only_problems = selection.checks.empty() && !selection.problems.empty() && !selection.is_workload();
  for (const auto& check : registry) {
    const auto id = check->info().id;
    const bool wanted = selection.checks.empty() ? !only_problems : matches_any(selection.checks, id);
    if (wanted && !matches_any(selection.exclude, id)) selected.push_back(check.get());
  }
  if (selected.empty() && !wants_given_problems(selection)) {
    throw AuditError(ErrorKind::usage, "every selected check is excluded; name a check that --exclude does not match");
  }
  return selected;
}

Plan make_plan(const Selection& selection, const Target& target, std::span<const std::unique_ptr<Check>> registry) {
  Plan plan;
  for (const Check* check : select_checks(selection, registry)) {
    if (!selection.is_workload()) {
      plan.checks.push_back(plan_check(*check, selection, target));
    } else if (auto planned = plan_about_problems(*check, selection, target); !planned.cases.empty()) {
      plan.checks.push_back(std::move(planned));
    }
  }
  if (wants_given_problems(selection)) {
    plan.given_problems = make_given_problems(selection.problems);
    plan.checks.push_back(plan_check(*plan.given_problems, selection, target));
    auto& cases = plan.checks.back().cases;
    for (std::size_t i = 0; i < cases.size() && selection.is_workload(); ++i) {
      cases[i].parameters["problem"] = number_of(i);
      add_notes(cases[i], selection, i);
    }
  }
  if (!selection.only_case.empty()) keep_only_case(plan, selection.only_case);
  return plan;
}

std::string_view name_of(Depth depth) {
  const auto* entry = std::find_if(kDepthNames.begin(), kDepthNames.end(), [&](auto e) { return e.depth == depth; });
  return entry == kDepthNames.end() ? std::string_view("unknown") : entry->name;
}

std::optional<Depth> depth_from(std::string_view name) {
  for (const auto& entry : kDepthNames) {
    if (entry.name == name) return entry.depth;
  }
  return std::nullopt;
}

}  // namespace lt_audit
