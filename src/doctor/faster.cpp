#include "doctor/faster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lt_audit {
namespace {

/// Rounds that count. Quartiles need a few; more would spend the budget on a figure that a user rounds anyway.
constexpr int kRounds = 9;
constexpr int kLeastRounds = 4;
/// Results of the heuristic to try: PyTorch and others ask for at most this many.
constexpr int kAlgorithms = 8;

/// The kind of a change, or nothing when it changes the product or takes less workspace.
std::optional<SpeedKind> kind_of(const MatmulProblem& given, const MatmulProblem& changed) {
  MatmulProblem rest = changed;
  rest.algo = given.algo;
  rest.algo_index = given.algo_index;
  rest.algo_words = given.algo_words;
  if (rest == given) return SpeedKind::algorithm;
  rest = changed;
  rest.workspace_bytes = given.workspace_bytes;
  if (rest == given) {
    return changed.workspace_bytes > given.workspace_bytes ? std::optional(SpeedKind::workspace) : std::nullopt;
  }
  const auto take = [&](auto... fields) { ((rest.*fields = given.*fields), ...); };
  using P = MatmulProblem;
  rest = changed;
  take(&P::lda, &P::ldb, &P::ldc, &P::ldd, &P::stride_a, &P::stride_b, &P::stride_c, &P::stride_d);
  take(&P::a_offset, &P::b_offset, &P::c_offset, &P::d_offset, &P::bias_offset, &P::workspace_offset);
  take(&P::a_alignment, &P::b_alignment, &P::c_alignment, &P::d_alignment);
  const bool packed = changed.stride_a != given.stride_a || changed.stride_b != given.stride_b ||
                      changed.stride_c != given.stride_c || changed.stride_d != given.stride_d;
  const bool padded =
      changed.lda != given.lda || changed.ldb != given.ldb || changed.ldc != given.ldc || changed.ldd != given.ldd;
  // A larger leading dimension takes a batch stride along; strides alone are another layout.
  if (rest == given) return packed && !padded ? SpeedKind::layout : SpeedKind::alignment;
  take(&P::transa, &P::transb, &P::order_a, &P::order_b, &P::order_c, &P::order_d);
  if (rest == given) return SpeedKind::layout;
  return std::nullopt;
}

Change algorithm_change(int index) {
  return {"algo",
          fmt::format("algorithm number {} of the heuristic", index + 1),
          fmt::format("algo = result {} of cublasLtMatmulAlgoGetHeuristic", index),
          Effort::attribute,
          [index](MatmulProblem& changed) {
            changed.algo = AlgoChoice::heuristic;
            changed.algo_index = index;
          },
          false};
}

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(std::lround(part * static_cast<double>(sorted.size() - 1)))];
}

/// Times of the given call and of each candidate, by candidate; a candidate that failed or has no time has none.
struct Times {
  std::vector<double> given;
  std::vector<std::vector<double>> changed;
};

class FasterSearch {
 public:
  FasterSearch(const MatmulProblem& problem, const RunProblems& run, const std::function<double()>& budget_left)
      : problem_(problem), run_(run), budget_left_(budget_left), candidates_(speed_candidates(problem)) {}

  Speed operator()() {
    const double before = budget_left_();
    if (!(before > 0)) return unfinished();
    keep_what_works();
    const int rounds = rounds_for(before);
    if (rounds < kLeastRounds) return unfinished();
    const Times times = time_all(rounds);
    if (speed_.given_failed || times.given.empty()) return speed_;
    judge(times);
    return speed_;
  }

 private:
  Speed unfinished() {
    speed_.finished = false;
    return speed_;
  }

  /// A changed call that is refused, wrong or deadly has no place among the timed ones.
  void keep_what_works() {
    speed_.tried = candidates_.size();
    std::vector<MatmulProblem> problems;
    for (const auto& one : candidates_) problems.push_back(one.problem);
    if (problems.empty()) return;
    const auto trials = run_(problems);
    std::vector<FasterCall> working;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (trials.at(i).works) working.push_back(candidates_[i]);
    }
    candidates_ = std::move(working);
  }

  /// How many rounds the rest of the budget holds, going by what the round of all candidates took.
  int rounds_for(double before) const {
    const double left = budget_left_();
    const double spent = before - left;
    // Written so that a budget without an end, where the difference is no number, gives them all.
    if (!(spent > 0)) return kRounds;
    const double affordable = left / spent - 1;
    return affordable < kRounds ? static_cast<int>(affordable) : kRounds;
  }

  /// The given call stands in each round twice: its times are those that all others are held against.
  Times time_all(int rounds) {
    std::vector<MatmulProblem> round{problem_};
    for (const auto& one : candidates_) round.push_back(one.problem);
    round.insert(round.begin() + static_cast<std::ptrdiff_t>((round.size() + 1) / 2), problem_);
    std::vector<MatmulProblem> problems;
    for (int i = 0; i <= rounds; ++i) problems.insert(problems.end(), round.begin(), round.end());
    const auto trials = run_(problems);
    const std::size_t middle = (candidates_.size() + 2) / 2;
    Times times;
    times.changed.resize(candidates_.size());
    std::vector<bool> broken(candidates_.size(), false);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const std::size_t place = i % round.size();
      const Trial& trial = trials.at(i);
      const bool counts = i >= round.size();
      if (place == 0 || place == middle) {
        if (!trial.works && !speed_.given_failed) speed_.given_failed = trial;
        if (counts && trial.gpu_us) times.given.push_back(*trial.gpu_us);
        continue;
      }
      const std::size_t candidate = place < middle ? place - 1 : place - 2;
      if (!trial.works || !trial.gpu_us) broken[candidate] = true;
      if (counts && trial.gpu_us) times.changed[candidate].push_back(*trial.gpu_us);
    }
    for (std::size_t i = 0; i < broken.size(); ++i) {
      if (broken[i]) times.changed[i].clear();
    }
    speed_.changed_calls = static_cast<std::size_t>(rounds);
    return times;
  }

  void judge(const Times& times) {
    std::vector<double> given = times.given;
    std::sort(given.begin(), given.end());
    speed_.timed = true;
    speed_.given_calls = given.size();
    speed_.given_us = quantile(given, 0.5);
    speed_.noise = speed_.given_us > 0 ? (quantile(given, 0.75) - quantile(given, 0.25)) / speed_.given_us : 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      std::vector<double> changed = times.changed[i];
      if (changed.empty()) continue;
      std::sort(changed.begin(), changed.end());
      FasterCall one = candidates_[i];
      one.gpu_us = quantile(changed, 0.5);
      if (one.gpu_us <= 0) continue;
      one.ratio = speed_.given_us / one.gpu_us;
      if (one.ratio > 1 + speed_.noise) speed_.faster.push_back(std::move(one));
    }
    std::stable_sort(speed_.faster.begin(), speed_.faster.end(),
                     [](const FasterCall& left, const FasterCall& right) { return left.ratio > right.ratio; });
  }

  const MatmulProblem& problem_;
  const RunProblems& run_;
  const std::function<double()>& budget_left_;
  std::vector<FasterCall> candidates_;
  Speed speed_;
};

}  // namespace

std::string_view name_of(SpeedKind kind) {
  switch (kind) {
    case SpeedKind::algorithm:
      return "algorithm";
    case SpeedKind::alignment:
      return "alignment";
    case SpeedKind::workspace:
      return "workspace";
    case SpeedKind::layout:
      break;
  }
  return "layout";
}

std::vector<FasterCall> speed_candidates(const MatmulProblem& problem) {
  std::vector<Change> changes = changes_for(problem);
  for (int index = 0; index < kAlgorithms; ++index) changes.push_back(algorithm_change(index));
  std::vector<FasterCall> candidates;
  for (auto& change : changes) {
    MatmulProblem changed = problem;
    change.apply(changed);
    const bool known = changed == problem || std::any_of(candidates.begin(), candidates.end(),
                                                         [&](const auto& one) { return one.problem == changed; });
    const auto kind = kind_of(problem, changed);
    if (!known && kind) candidates.push_back({*kind, std::move(change), changed, 0, 1});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const FasterCall& left, const FasterCall& right) { return left.kind < right.kind; });
  return candidates;
}

Speed find_faster(const MatmulProblem& problem, const Trial& given, const RunProblems& run,
                  const std::function<double()>& budget_left) {
  if (!given.gpu_us) return {};
  return FasterSearch(problem, run, budget_left)();
}

}  // namespace lt_audit
