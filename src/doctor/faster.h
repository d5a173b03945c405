// What makes a call that works faster: other algorithms, better alignment, more workspace, another layout.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "doctor/changes.h"
#include "doctor/trial.h"

namespace lt_audit {

/// What a change that may save time is about.
enum class SpeedKind {
  algorithm,  ///< another result of the heuristic, or none given
  alignment,  ///< pointers, their promises and leading dimensions
  workspace,  ///< a larger one
  layout,     ///< order, transposition, batches packed
};

std::string_view name_of(SpeedKind kind);

/// A changed call that is right and faster than the given one.
struct FasterCall {
  SpeedKind kind = SpeedKind::algorithm;
  Change change;
  MatmulProblem problem;
  /// Median of the timed calls.
  double gpu_us = 0;
  /// Time of the given call over this one's.
  double ratio = 1;
};

struct Speed {
  /// False: the target has no times, or the budget was too small to take them; then nothing below is known.
  bool timed = false;
  /// False: the budget ended before each call was timed often enough.
  bool finished = true;
  /// Changed calls that were run.
  std::size_t tried = 0;
  /// Timed calls of the given problem, and of each changed one.
  std::size_t given_calls = 0;
  std::size_t changed_calls = 0;
  /// Median of the given call, microseconds.
  double given_us = 0;
  /// The middle half of its times, from quartile to quartile, as a part of the median: what the same call differs by
  /// without a change.
  double noise = 0;
  /// Those whose ratio is above 1 + noise, best first.
  std::vector<FasterCall> faster;
  /// The given call failed when it was run again.
  std::optional<Trial> given_failed;
};

/// Changes of one kind each, in the order of the kinds; no other types, sizes or epilogue.
std::vector<FasterCall> speed_candidates(const MatmulProblem& problem);

/// Runs every candidate once, then those that work and the given call in turn, all in one run, so that clocks, caches
/// and neighbours on the GPU are the same for all; the first round loads the kernels and does not count.
/// `given` is the trial of the given call: without a time nothing is run.
Speed find_faster(const MatmulProblem& problem, const Trial& given, const RunProblems& run,
                  const std::function<double()>& budget_left);

}  // namespace lt_audit
