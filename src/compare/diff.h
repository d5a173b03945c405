// Two reports held against each other: what another library, driver or GPU changed. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lt_audit/observation.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// One fact of the environment that differs. An empty text is a fact that the report does not have.
struct EnvironmentDifference {
  /// "cuBLASLt", "driver", "variable CUDA_HOME", ...
  std::string what;
  std::string before;
  std::string after;
};

/// What may have changed about a case, most important first; a case may have several of them.
enum class ChangeKind {
  newly_wrong,           ///< right or refused before; accepted now, and wrong or unsafe
  newly_refused,         ///< right before, refused now
  refused_later,         ///< refused in time before, now by matmul although the heuristic accepts
  outcome_changed,       ///< any other change of the outcome
  judged_otherwise,      ///< the same outcome under another status or cause
  slower,                ///< beyond the noise of both reports
  numbers_changed,       ///< right in both, with other bits; what is wrong now is newly_wrong
  algorithm_changed,     ///< another first result of the heuristic
  result_count_changed,  ///< the heuristic returns more or fewer results
  faster,
  refused_earlier,
  newly_accepted,   ///< refused before, right now
  no_longer_wrong,  ///< wrong or unsafe before; right or refused now
};
inline constexpr std::size_t kChangeKinds = 13;

/// What is known about D in both reports.
enum class NumbersVerdict {
  not_compared,   ///< not right in both, nothing proven, or inputs of another seed
  bit_identical,  ///< every element is the one exact result in both; and on inputs that round the bits are the same,
                  ///< where the check keeps them
  within_bound,   ///< both within the bound that is derived from the arithmetic (GELU); their bits are not known
  bits_differ,    ///< right in both, and on inputs that round the bits differ: another order of summation
  beyond_bound,   ///< right before, wrong now
};
inline constexpr std::size_t kNumbersVerdicts = 5;

enum class TimeVerdict { within_noise, slower, faster };

/// GPU time of one product in both reports: the best of several launches, and how far the median lies above it.
struct TimeComparison {
  /// "cuBLASLt" or "cuBLAS".
  std::string library;
  double before_us = 0;
  double after_us = 0;
  double before_spread = 0;
  double after_spread = 0;
  TimeVerdict verdict = TimeVerdict::within_noise;

  double ratio() const { return after_us / before_us; }
};

/// A case that is in both reports and changed.
struct CaseChange {
  std::string check;
  /// In the new report.
  std::string id;
  /// In the old one, when it is another.
  std::string id_before;
  std::string problem;
  Outcome outcome_before = Outcome::correct, outcome_after = Outcome::correct;
  Status status_before = Status::pass, status_after = Status::pass;
  std::string reason_before, reason_after;
  /// What was measured, in the new report.
  std::string message;
  /// Sorted, none twice.
  std::vector<ChangeKind> kinds;
  NumbersVerdict numbers = NumbersVerdict::not_compared;
  /// The bits of cuBLAS for the same product differ.
  bool cublas_bits_differ = false;
  /// First results of the heuristic, where algorithm_changed; numbers of results where one of both changed.
  std::optional<HeuristicResult> algorithm_before, algorithm_after;
  std::uint64_t results_before = 0, results_after = 0;
  /// Those that are slower or faster.
  std::vector<TimeComparison> times;

  bool has(ChangeKind kind) const;
};

/// A case that only one of the reports has.
struct LoneCase {
  std::string check;
  std::string id;
  std::string problem;
  Status status = Status::pass;
};

enum class Presence { both, only_before, only_after };

/// Counts of one check.
struct CheckDiff {
  std::string id;
  Presence presence = Presence::both;
  std::uint64_t matched = 0;
  std::uint64_t only_before = 0;
  std::uint64_t only_after = 0;
  /// Matched cases in which nothing changed.
  std::uint64_t unchanged = 0;
  /// Matched cases by what changed (ChangeKind), by what is known of D (NumbersVerdict).
  std::array<std::uint64_t, kChangeKinds> changed{};
  std::array<std::uint64_t, kNumbersVerdicts> numbers{};
  /// Times that were compared.
  std::uint64_t timed = 0;

  std::uint64_t count(ChangeKind kind) const { return changed.at(static_cast<std::size_t>(kind)); }
  std::uint64_t count(NumbersVerdict verdict) const { return numbers.at(static_cast<std::size_t>(verdict)); }
};

enum class FindingChange { appeared, changed, gone };

/// A finding that differs: by check and cause.
struct FindingDiff {
  FindingChange change = FindingChange::appeared;
  /// CHECK.REASON.
  std::string id;
  std::string check;
  /// In the new report, or the old one's when it is gone.
  Status status = Status::warn;
  std::string title;
  std::string repro;
  std::uint64_t count_before = 0, count_after = 0;
  /// Cases by check, problem and cause that only one report has.
  std::uint64_t cases_added = 0, cases_removed = 0;
};

/// Of one report, for a heading.
struct ReportSide {
  std::string tool_version;
  std::string started;
  std::string target;
  std::string gpu;
  std::string driver;
  std::string cublaslt;
  /// Files of the libraries; empty for the simulator.
  std::string cublaslt_path, cublas_path;
  std::uint64_t cases = 0;
  bool complete = false;
};

struct ReportDiff {
  ReportSide before, after;
  /// Sentences about what may mislead, most important first.
  std::vector<std::string> warnings;
  std::vector<EnvironmentDifference> environment;
  /// Why numbers or times were not compared; empty when they were.
  std::string why_no_numbers;
  std::string why_no_times;
  /// A ratio has to be beyond it, either way, to be called slower or faster: 1.1 is ten per cent.
  double time_threshold = 0;
  /// In the order of the new report, then those that are gone.
  std::vector<CheckDiff> checks;
  /// Most important first.
  std::vector<CaseChange> changes;
  std::vector<LoneCase> only_before;
  std::vector<LoneCase> only_after;
  /// New ones first, then changed, then gone; in each by severity.
  std::vector<FindingDiff> findings;
  std::uint64_t findings_unchanged = 0;

  /// Counts of all checks together.
  CheckDiff total() const;
};

/// Two GPUs of one model differ more than one does from itself.
inline constexpr double kTimeThreshold = 1.1;
inline constexpr double kTimeThresholdOfAnotherGpu = 1.2;

/// Matches cases by check, id and problem; what is left by check, problem and the id without the number of a given
/// problem; what is left then by check and problem, in order. Numbers need one seed. Times need one model of GPU.
ReportDiff diff_reports(const Report& before, const Report& after);

/// Leaves of the observations what diff_reports reads, for the one of two large reports that is needed no more.
void keep_for_diff(Report& report);

}  // namespace lt_audit
