// Matching: patterns first, problems last and each text once, so that a report of many thousand cases costs little.
#include "gate/waiver_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gate/glob.h"
#include "lt_audit/error.h"
#include "workload/problem_text.h"
#include "workload/problem_values.h"

namespace lt_audit {
namespace {

bool matches(const std::string& glob, std::string_view text) { return glob.empty() || glob_matches(glob, text); }

bool applies_here(const Waiver& waiver, const Target& target) {
  const bool simulator = target.kind == PlatformKind::simulator;
  if (!waiver.platform.empty() && (waiver.platform == "simulator") != simulator) return false;
  if (!matches(waiver.gpu, target.device_facts.name)) return false;
  if (waiver.compute_capability != 0 && waiver.compute_capability != target.device_facts.compute_capability())
    return false;
  if (waiver.cublaslt.empty()) return true;
  if (!target.cublaslt.loaded()) return false;
  const LibraryVersion version{target.cublaslt.major, target.cublaslt.minor, target.cublaslt.patch};
  return std::all_of(waiver.cublaslt.begin(), waiver.cublaslt.end(),
                     [&](const VersionCondition& condition) { return condition.holds(version); });
}

/// The values in force of the keys that waivers ask about, each problem text read once.
class ProblemValues {
 public:
  explicit ProblemValues(std::span<const Waiver> waivers) {
    for (const Waiver& waiver : waivers) {
      for (const auto& [key, value] : waiver.problem) places_.emplace(key, 0);
    }
    std::size_t next = 0;
    for (auto& [key, place] : places_) place = next++;
  }

  /// As the keys; nothing for a text that is no problem.
  using Values = std::optional<std::vector<std::string>>;

  bool matches(const Waiver& waiver, const std::string& problem) {
    if (waiver.problem.empty()) return true;
    const auto& values = values_of(problem);
    if (!values) return false;
    return std::all_of(waiver.problem.begin(), waiver.problem.end(),
                       [&](const auto& wanted) { return (*values)[places_.at(wanted.first)] == wanted.second; });
  }

  const std::map<std::string, std::size_t>& places() const { return places_; }

  const Values& values_of(const std::string& problem) {
    const auto [found, is_new] = known_.try_emplace(problem);
    if (!is_new) return found->second;
    try {
      const MatmulProblem parsed = problem_from_text(problem);
      found->second.emplace();
      for (const auto& [key, place] : places_) found->second->push_back(value_in_force(parsed, key));
    } catch (const AuditError&) {
      // A text of another version, or of an edited report: no waiver knows it.
      found->second.reset();
    }
    return found->second;
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::unordered_map<std::string, Values> known_;
};

/// Finds the waivers of a check that a case may match without trying each: by the value of one key of the problem, the
/// one that fewest waivers share, or by the whole id of the case.
class WaiverIndex {
 public:
  WaiverIndex(std::span<const Waiver> waivers, ProblemValues& values) : waivers_(waivers), values_(values) {
    for (const Waiver& waiver : waivers) {
      for (const auto& condition : waiver.problem) ++uses_[condition];
    }
  }

  void clear() {
    others_.clear();
    by_case_.clear();
    by_value_.clear();
  }

  void add(std::size_t i) {
    const Waiver& waiver = waivers_[i];
    if (!waiver.the_case.empty() && waiver.the_case.find_first_of("*?") == std::string::npos) {
      by_case_[waiver.the_case].push_back(i);
    } else if (!waiver.problem.empty()) {
      const auto& rarest =
          *std::min_element(waiver.problem.begin(), waiver.problem.end(),
                            [this](const auto& left, const auto& right) { return uses_.at(left) < uses_.at(right); });
      by_value_[rarest.first][rarest.second].push_back(i);
    } else {
      others_.push_back(i);
    }
  }

  /// In the order of the files.
  std::vector<std::size_t> candidates(const CaseResult& result) {
    std::vector<std::size_t> found = others_;
    const auto append = [&found](const auto& map, const std::string& key) {
      if (const auto at = map.find(key); at != map.end())
        found.insert(found.end(), at->second.begin(), at->second.end());
    };
    append(by_case_, result.id);
    if (!by_value_.empty()) {
      if (const auto& values = values_.values_of(result.problem)) {
        for (const auto& [key, map] : by_value_) append(map, (*values)[values_.places().at(key)]);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  using Lists = std::unordered_map<std::string, std::vector<std::size_t>>;

  std::span<const Waiver> waivers_;
  ProblemValues& values_;
  std::map<std::pair<std::string, std::string>, std::size_t> uses_;
  std::vector<std::size_t> others_;
  Lists by_case_;
  std::map<std::string, Lists> by_value_;
};

class Matcher {
 public:
  Matcher(const Report& report, std::span<const Waiver> waivers, std::chrono::sys_days today)
      : report_(report),
        waivers_(waivers),
        today_(today),
        values_(waivers),
        index_(waivers, values_),
        seen_(waivers.size()) {}

  WaiverMatches match() {
    WaiverMatches result;
    for (const Waiver& waiver : waivers_) here_.push_back(applies_here(waiver, report_.target));
    for (const CheckResult& check : report_.checks) {
      auto& covers = result.covers.emplace_back(check.cases.size());
      if (!begin_check(check.id)) continue;
      for (std::size_t i = 0; i < check.cases.size(); ++i) match_case(check.cases[i], covers[i]);
    }
    for (std::size_t i = 0; i < waivers_.size(); ++i) result.uses.push_back({state_of(i), seen_[i].cases});
    return result;
  }

 private:
  struct Seen {
    std::uint64_t cases = 0;
    bool passing = false;
    /// A case that did not run, or ran elsewhere.
    bool idle = false;
  };

  /// False when no waiver is about the check.
  bool begin_check(std::string_view check) {
    index_.clear();
    bool any = false;
    for (std::size_t i = 0; i < waivers_.size(); ++i) {
      const Waiver& waiver = waivers_[i];
      if (!here_[i] || !matches(waiver.check, check) || !matches(waiver.cause_check, check)) continue;
      index_.add(i);
      any = true;
    }
    return any;
  }

  bool matches_case(std::size_t waiver, const CaseResult& result) {
    return matches(waivers_[waiver].the_case, result.id) && values_.matches(waivers_[waiver], result.problem);
  }

  void match_case(const CaseResult& result, CaseCover& cover) {
    const bool finding = result.status == Status::warn || result.status == Status::fail;
    // REASON.STATUS as the id of a finding may have it.
    const std::string cause = finding ? fmt::format("{}.{}", result.reason, name_of(result.status)) : "";
    for (const std::size_t i : index_.candidates(result)) {
      Seen& seen = seen_[i];
      if (finding) {
        const bool of_cause = matches(waivers_[i].cause, result.reason) || matches(waivers_[i].cause, cause);
        if (of_cause && matches_case(i, result)) cover_case(i, cover);
      } else {
        bool& known = result.status == Status::pass ? seen.passing : seen.idle;
        known = known || matches_case(i, result);
      }
    }
    if (cover.waiver != CaseCover::kNone) cover.expired = CaseCover::kNone;
  }

  void cover_case(std::size_t i, CaseCover& cover) {
    ++seen_[i].cases;
    std::size_t& place = waivers_[i].last_day < today_ ? cover.expired : cover.waiver;
    if (place == CaseCover::kNone) place = i;
  }

  WaiverState state_of(std::size_t i) const {
    if (!here_[i]) return WaiverState::elsewhere;
    if (seen_[i].cases > 0) return waivers_[i].last_day < today_ ? WaiverState::expired : WaiverState::used;
    if (seen_[i].passing) return WaiverState::not_needed;
    return seen_[i].idle ? WaiverState::elsewhere : WaiverState::unused;
  }

  const Report& report_;
  std::span<const Waiver> waivers_;
  std::chrono::sys_days today_;
  ProblemValues values_;
  /// Of the check that is being matched.
  WaiverIndex index_;
  std::vector<Seen> seen_;
  std::vector<bool> here_;
};

}  // namespace

std::string_view name_of(WaiverState state) {
  switch (state) {
    case WaiverState::used:
      return "used";
    case WaiverState::expired:
      return "expired";
    case WaiverState::not_needed:
      return "not_needed";
    case WaiverState::unused:
      return "unused";
    case WaiverState::elsewhere:
      return "elsewhere";
  }
  return "unused";
}

WaiverMatches match_waivers(const Report& report, std::span<const Waiver> waivers, std::chrono::sys_days today) {
  return Matcher(report, waivers, today).match();
}

}  // namespace lt_audit
