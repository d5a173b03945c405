// The search for the fewest changes that make a call work: pure, whoever runs the problems.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "doctor/changes.h"
#include "doctor/faster.h"
#include "doctor/trial.h"

namespace lt_audit {

/// Changes that make the call work together, none of them without the others.
struct ChangeSet {
  std::vector<Change> changes;
  MatmulProblem problem;
  Trial trial;
};

struct Diagnosis {
  MatmulProblem problem;
  Trial as_given;
  /// The sets of the smallest size that works, cheapest first; one per combination of groups, and none that only adds
  /// to what another one changes. Each has worked four times. Empty: the call works as it is, or nothing was found.
  std::vector<ChangeSet> sets;
  /// Problems run, the given one included.
  std::size_t tried = 0;
  /// False: the budget ended before all single changes, pairs and the set of all were tried.
  bool finished = true;
  /// What would make it faster; only of a call that works as it is.
  std::optional<Speed> speed;
};

/// A call that works is asked for what would make it faster (find_faster). Else every single change, then every pair,
/// then all changes at once, reduced and weakened while the call still works. What works is run three times more, and
/// the fastest of the last two calls is its time: the first one loads the kernel. `budget_left` returns the seconds
/// that may still be spent; it is asked between runs.
Diagnosis diagnose(const MatmulProblem& problem, const RunProblems& run, const std::function<double()>& budget_left);

}  // namespace lt_audit
