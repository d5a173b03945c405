// The plan: which checks with which cases, made from the command line and the target's facts. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/target.h"

namespace lt_audit {

/// What the user asked for.
struct Selection {
  /// Globs over check ids; empty = all.
  std::vector<std::string> checks;
  std::vector<std::string> exclude;
  /// Run only the case with this id (replay of a report's case); empty = all.
  std::string only_case;
  /// Problem texts given on the command line: they become the check "problem" (driver/given_problems.h); with problems
  /// and no check named, only that check runs.
  std::vector<std::string> problems;
  /// Of a workload: what is known of each of `problems`, for the parameters of its cases. Then every selected check
  /// speaks about the problems instead of its own cases.
  std::vector<std::map<std::string, std::string>> problem_notes;
  bool is_workload() const { return !problem_notes.empty(); }
  Depth depth = Depth::normal;
};

struct PlannedCheck {
  const Check* check = nullptr;
  /// Not empty: the check does not apply, and there are no cases.
  std::string skip_reason;
  std::vector<Case> cases;
};

/// Owns the check of the given problems; refers to the registered ones.
struct Plan {
  std::vector<PlannedCheck> checks;
  std::unique_ptr<Check> given_problems;
  std::size_t case_count() const;
};

/// The registered checks a selection names, in registry order; empty when only problems are asked for. Throws
/// AuditError (usage) for a pattern that matches nothing, with the nearest check id, for a problem text that cannot be
/// read, and when nothing is left to run. Needs no target: called before any worker starts.
std::vector<const Check*> select_checks(const Selection& selection,
                                        std::span<const std::unique_ptr<Check>> registry = registered_checks());

/// The whole plan. Deterministic: parent and workers make the same one, and talk about cases by index. Throws
/// AuditError (usage) like select_checks, and for an `only_case` that no selected check has.
Plan make_plan(const Selection& selection, const Target& target,
               std::span<const std::unique_ptr<Check>> registry = registered_checks());

std::string_view name_of(Depth depth);
std::optional<Depth> depth_from(std::string_view name);

}  // namespace lt_audit
