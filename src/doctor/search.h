// The search for the fewest changes that make a call work: pure, whoever runs the problems.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/changes.h"

namespace lt_audit {

/// What came of running one problem.
struct Trial {
  /// The library accepted the call and every number and byte was right.
  bool works = false;
  /// The status that decided, "NOT_SUPPORTED".
  std::string status;
  /// The outcome in one word, "refused".
  std::string outcome;
  /// Why it was not run, or what broke the audit; else empty.
  std::string detail;
  /// Microseconds of the matmul on the GPU; absent where none was taken.
  std::optional<double> gpu_us;
};

/// Runs the problems, one trial for each, in order. Throws what an audit throws.
using RunProblems = std::function<std::vector<Trial>(const std::vector<MatmulProblem>&)>;

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
};

/// Every single change, then every pair, then all changes at once, reduced and weakened while the call still works.
/// What works is run three times more, and the fastest of the last two calls is its time: the first one loads the
/// kernel. `budget_left` returns the seconds that may still be spent; it is asked between runs.
Diagnosis diagnose(const MatmulProblem& problem, const RunProblems& run, const std::function<double()>& budget_left);

}  // namespace lt_audit
