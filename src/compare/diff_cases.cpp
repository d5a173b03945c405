// Cases of two reports: which belong together, and what changed about each pair.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "compare/diff_parts.h"
#include "compare/measures.h"
#include "report/identity.h"

namespace lt_audit {
namespace {

/// How an outcome counts when two are held against each other.
enum class Sort { right, refused, wrong, nothing };

Sort sort_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::correct:
    case Outcome::unproven:
    case Outcome::slower:
      return Sort::right;
    case Outcome::refused:
    case Outcome::late_refusal:
      return Sort::refused;
    case Outcome::not_run:
    case Outcome::audit_error:
      return Sort::nothing;
    default:
      return Sort::wrong;
  }
}

std::optional<ChangeKind> outcome_change(Outcome before, Outcome after) {
  if (before == after) return std::nullopt;
  const Sort old_sort = sort_of(before);
  const Sort new_sort = sort_of(after);
  if (old_sort == Sort::nothing || new_sort == Sort::nothing) return ChangeKind::outcome_changed;
  if (old_sort == Sort::refused && new_sort == Sort::refused) {
    return after == Outcome::late_refusal ? ChangeKind::refused_later : ChangeKind::refused_earlier;
  }
  if (old_sort == new_sort) return ChangeKind::outcome_changed;
  if (new_sort == Sort::wrong) return ChangeKind::newly_wrong;
  if (old_sort == Sort::wrong) return ChangeKind::no_longer_wrong;
  return new_sort == Sort::refused ? ChangeKind::newly_refused : ChangeKind::newly_accepted;
}

/// What is wrong about such an outcome is D's numbers.
bool is_about_numbers(Outcome outcome) {
  return outcome == Outcome::wrong_result || outcome == Outcome::unwritten || outcome == Outcome::stale ||
         outcome == Outcome::nondeterministic;
}

/// GELU and its derivative: the only epilogues that are verified within a bound, and not against one exact result.
bool has_bound(std::string_view problem) {
  constexpr std::string_view kKey = "epilogue=";
  const std::size_t begin = problem.find(kKey);
  if (begin == std::string_view::npos) return false;
  const std::string_view value = problem.substr(begin, problem.find(',', begin) - begin);
  return value.find("gelu") != std::string_view::npos;
}

/// A pair of cases with what their observations say.
struct Pair {
  const CaseResult& before;
  const CaseResult& after;
  Measures old_measures;
  Measures new_measures;

  Pair(const CaseResult& old_case, const CaseResult& new_case)
      : before(old_case), after(new_case), old_measures(measures_of(old_case)), new_measures(measures_of(new_case)) {}
};

NumbersVerdict numbers_of(const Pair& pair) {
  const auto proven = [](const CaseResult& one) {
    return one.outcome == Outcome::correct || one.outcome == Outcome::slower;
  };
  if (!proven(pair.before) || !pair.old_measures.numbers_verified) return NumbersVerdict::not_compared;
  if (is_about_numbers(pair.after.outcome)) return NumbersVerdict::beyond_bound;
  if (!proven(pair.after) || !pair.new_measures.numbers_verified) return NumbersVerdict::not_compared;
  const std::string_view old_bits = pair.old_measures.d_bits;
  const std::string_view new_bits = pair.new_measures.d_bits;
  if (!old_bits.empty() && !new_bits.empty()) {
    return old_bits == new_bits ? NumbersVerdict::bit_identical : NumbersVerdict::bits_differ;
  }
  return has_bound(pair.after.problem) ? NumbersVerdict::within_bound : NumbersVerdict::bit_identical;
}

bool cublas_bits_differ(const Pair& pair) {
  const std::string_view old_bits = pair.old_measures.cublas_d_bits;
  const std::string_view new_bits = pair.new_measures.cublas_d_bits;
  return !old_bits.empty() && !new_bits.empty() && old_bits != new_bits;
}

/// Slower or faster only when the ranges from best to median do not meet and the ratio is beyond the threshold.
TimeVerdict time_verdict(const TimeComparison& times, double threshold) {
  const double old_end = times.before_us * (1 + times.before_spread);
  const double new_end = times.after_us * (1 + times.after_spread);
  if (times.after_us > old_end && times.ratio() > threshold) return TimeVerdict::slower;
  if (times.before_us > new_end && times.ratio() < 1 / threshold) return TimeVerdict::faster;
  return TimeVerdict::within_noise;
}

bool same_algorithm(const HeuristicResult& left, const HeuristicResult& right) {
  return left.algo_id == right.algo_id && left.tile == right.tile && left.stages == right.stages &&
         left.split_k == right.split_k && left.workspace_bytes == right.workspace_bytes;
}

/// Compares pairs of one check and counts.
class PairComparison {
 public:
  PairComparison(const ReportDiff& diff, bool same_target)
      : compare_numbers_(diff.why_no_numbers.empty()),
        compare_times_(diff.why_no_times.empty()),
        compare_algorithms_(same_target),
        threshold_(diff.time_threshold) {}

  /// The change; nothing when there is none. Counts it in `counts`.
  std::optional<CaseChange> compare(const CaseResult& before, const CaseResult& after, CheckDiff& counts) const {
    const Pair pair(before, after);
    CaseChange change;
    ++counts.matched;
    if (const auto kind = outcome_change(before.outcome, after.outcome)) {
      change.kinds.push_back(*kind);
    } else if (before.status != after.status || before.reason != after.reason) {
      change.kinds.push_back(ChangeKind::judged_otherwise);
    }
    numbers(pair, change);
    algorithm(pair, change);
    times(pair, change, counts);
    std::sort(change.kinds.begin(), change.kinds.end());
    change.kinds.erase(std::unique(change.kinds.begin(), change.kinds.end()), change.kinds.end());
    ++counts.numbers.at(static_cast<std::size_t>(change.numbers));
    for (const ChangeKind kind : change.kinds) ++counts.changed.at(static_cast<std::size_t>(kind));
    if (change.kinds.empty()) {
      ++counts.unchanged;
      return std::nullopt;
    }
    describe(pair, counts.id, change);
    return change;
  }

 private:
  void numbers(const Pair& pair, CaseChange& change) const {
    if (!compare_numbers_) return;
    change.numbers = numbers_of(pair);
    change.cublas_bits_differ = cublas_bits_differ(pair);
    if (change.numbers == NumbersVerdict::bits_differ || change.cublas_bits_differ)
      change.kinds.push_back(ChangeKind::numbers_changed);
  }

  void algorithm(const Pair& pair, CaseChange& change) const {
    const Measures& before = pair.old_measures;
    const Measures& after = pair.new_measures;
    change.results_before = before.results;
    change.results_after = after.results;
    // That a heuristic returns nothing at all is a change of the outcome.
    if (!compare_algorithms_ || before.results == 0 || after.results == 0) return;
    if (before.results != after.results) change.kinds.push_back(ChangeKind::result_count_changed);
    if (before.first_result == after.first_result) return;
    const auto old_result = heuristic_result(before.first_result);
    const auto new_result = heuristic_result(after.first_result);
    if (!old_result || !new_result || same_algorithm(*old_result, *new_result)) return;
    change.kinds.push_back(ChangeKind::algorithm_changed);
    change.algorithm_before = old_result;
    change.algorithm_after = new_result;
  }

  void times(const Pair& pair, CaseChange& change, CheckDiff& counts) const {
    if (!compare_times_) return;
    const Measures& before = pair.old_measures;
    const Measures& after = pair.new_measures;
    const auto compare = [&](const char* library, std::optional<double> old_us, std::optional<double> new_us) {
      // Without a spread nobody knows what noise is; no launch takes less than a nanosecond.
      constexpr double kLeastUs = 1e-3;
      if (old_us.value_or(0) < kLeastUs || new_us.value_or(0) < kLeastUs || !before.spread || !after.spread) return;
      TimeComparison comparison{library, *old_us, *new_us, *before.spread, *after.spread, TimeVerdict::within_noise};
      ++counts.timed;
      comparison.verdict = time_verdict(comparison, threshold_);
      if (comparison.verdict == TimeVerdict::within_noise) return;
      const bool slower = comparison.verdict == TimeVerdict::slower;
      change.kinds.push_back(slower ? ChangeKind::slower : ChangeKind::faster);
      change.times.push_back(std::move(comparison));
    };
    compare("cuBLASLt", before.lt_us, after.lt_us);
    compare("cuBLAS", before.cublas_us, after.cublas_us);
  }

  static void describe(const Pair& pair, const std::string& check, CaseChange& change) {
    change.check = check;
    change.id = pair.after.id;
    if (pair.before.id != pair.after.id) change.id_before = pair.before.id;
    change.problem = pair.after.problem;
    change.outcome_before = pair.before.outcome;
    change.outcome_after = pair.after.outcome;
    change.status_before = pair.before.status;
    change.status_after = pair.after.status;
    change.reason_before = pair.before.reason;
    change.reason_after = pair.after.reason;
    change.message = pair.after.sentence;
  }

  bool compare_numbers_;
  bool compare_times_;
  bool compare_algorithms_;
  double threshold_;
};

/// "problem-12.steps" -> ".steps": the number of a given problem is its place in the workload, which may move.
std::string_view without_number(std::string_view id) {
  constexpr std::string_view kGiven = "problem-";
  if (!id.starts_with(kGiven)) return id;
  std::size_t at = kGiven.size();
  while (at < id.size() && std::isdigit(static_cast<unsigned char>(id[at])) != 0) ++at;
  return id.substr(at);
}

/// Pairs the cases of one check: three passes, each over what the one before left.
class CaseMatcher {
 public:
  CaseMatcher(const std::vector<CaseResult>& before, const std::vector<CaseResult>& after)
      : before_(before), after_(after), partner_(after.size(), kNone), taken_(before.size(), false) {
    const auto with = [](std::string_view id, const CaseResult& one) {
      std::string key(id);
      key += '\n';
      key += one.problem;
      return key;
    };
    pass([&](const CaseResult& one) { return with(one.id, one); });
    pass([&](const CaseResult& one) { return with(without_number(one.id), one); });
    pass([](const CaseResult& one) { return case_identity("", one); });
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Of a new case: the position of the old one, or kNone.
  std::size_t partner(std::size_t after) const { return partner_[after]; }
  bool is_taken(std::size_t before) const { return taken_[before]; }

 private:
  template <class KeyOf>
  void pass(const KeyOf& key_of) {
    if (left_ == 0) return;
    // Positions of old cases by key, the first last.
    std::unordered_map<std::string, std::vector<std::size_t>> places;
    for (std::size_t i = before_.size(); i-- > 0;) {
      if (!taken_[i]) places[key_of(before_[i])].push_back(i);
    }
    if (places.empty()) return;
    left_ = 0;
    for (std::size_t i = 0; i < after_.size(); ++i) {
      if (partner_[i] != kNone) continue;
      const auto found = places.find(key_of(after_[i]));
      if (found == places.end() || found->second.empty()) {
        ++left_;
        continue;
      }
      partner_[i] = found->second.back();
      taken_[partner_[i]] = true;
      found->second.pop_back();
    }
  }

  const std::vector<CaseResult>& before_;
  const std::vector<CaseResult>& after_;
  std::vector<std::size_t> partner_;
  std::vector<bool> taken_;
  std::size_t left_ = kNone;
};

void compare_check(const CheckResult& before, const CheckResult& after, const PairComparison& comparison,
                   ReportDiff& diff) {
  CheckDiff counts;
  counts.id = after.id;
  const CaseMatcher matcher(before.cases, after.cases);
  for (std::size_t i = 0; i < after.cases.size(); ++i) {
    const CaseResult& one = after.cases[i];
    const std::size_t partner = matcher.partner(i);
    if (partner == CaseMatcher::kNone) {
      ++counts.only_after;
      diff.only_after.push_back({after.id, one.id, one.problem, one.status});
    } else if (auto change = comparison.compare(before.cases[partner], one, counts)) {
      diff.changes.push_back(std::move(*change));
    }
  }
  for (std::size_t i = 0; i < before.cases.size(); ++i) {
    const CaseResult& one = before.cases[i];
    if (matcher.is_taken(i)) continue;
    ++counts.only_before;
    diff.only_before.push_back({before.id, one.id, one.problem, one.status});
  }
  diff.checks.push_back(std::move(counts));
}

/// A check that only one of the reports has.
void add_lone_check(const CheckResult& check, Presence presence, ReportDiff& diff) {
  CheckDiff counts;
  counts.id = check.id;
  counts.presence = presence;
  const bool is_old = presence == Presence::only_before;
  (is_old ? counts.only_before : counts.only_after) = check.cases.size();
  auto& list = is_old ? diff.only_before : diff.only_after;
  for (const CaseResult& one : check.cases) list.push_back({check.id, one.id, one.problem, one.status});
  diff.checks.push_back(std::move(counts));
}

/// The largest ratio of times, either way.
double weight(const CaseChange& change) {
  double largest = 1;
  for (const TimeComparison& times : change.times) {
    largest = std::max({largest, times.ratio(), 1 / std::max(times.ratio(), 1e-9)});
  }
  return largest;
}

int severity(Status status) {
  int worse_than = 0;
  for (const Status other : {Status::pass, Status::skip, Status::warn, Status::error, Status::fail}) {
    if (other != status && worse(status, other) == status) ++worse_than;
  }
  return worse_than;
}

void sort_changes(std::vector<CaseChange>& changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const CaseChange& left, const CaseChange& right) {
    const ChangeKind kind = left.kinds.front();
    if (kind != right.kinds.front()) return kind < right.kinds.front();
    // Of times the largest change first, whatever else is said of the case.
    if (kind == ChangeKind::slower || kind == ChangeKind::faster) return weight(left) > weight(right);
    const int left_severity = severity(left.status_after);
    const int right_severity = severity(right.status_after);
    return left_severity > right_severity;
  });
}

}  // namespace

void compare_cases(const Report& before, const Report& after, ReportDiff& diff) {
  const PairComparison comparison(diff, before.target.kind == after.target.kind);
  std::unordered_map<std::string_view, const CheckResult*> waiting;
  for (const CheckResult& check : before.checks) waiting.emplace(check.id, &check);
  for (const CheckResult& check : after.checks) {
    const auto found = waiting.find(check.id);
    if (found == waiting.end()) {
      add_lone_check(check, Presence::only_after, diff);
      continue;
    }
    compare_check(*found->second, check, comparison, diff);
    waiting.erase(found);
  }
  for (const CheckResult& check : before.checks) {
    const auto found = waiting.find(check.id);
    if (found != waiting.end() && found->second == &check) add_lone_check(check, Presence::only_before, diff);
  }
  sort_changes(diff.changes);
}

}  // namespace lt_audit
