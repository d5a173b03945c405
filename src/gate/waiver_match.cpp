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

  bool matches(const Waiver& waiver, const std::string& problem) {
    if (waiver.problem.empty()) return true;
    const auto& values = values_of(problem);
    if (!values) return false;
    return std::all_of(waiver.problem.begin(), waiver.problem.end(),
                       [&](const auto& wanted) { return (*values)[places_.at(wanted.first)] == wanted.second; });
  }

 private:
  using Values = std::optional<std::vector<std::string>>;

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

  std::map<std::string, std::size_t> places_;
  std::unordered_map<std::string, Values> known_;
};

class Matcher {
 public:
  Matcher(const Report& report, std::span<const Waiver> waivers, std::chrono::sys_days today)
      : report_(report), waivers_(waivers), today_(today), values_(waivers), seen_(waivers.size()) {}

  WaiverMatches match() {
    WaiverMatches result;
    for (const Waiver& waiver : waivers_) here_.push_back(applies_here(waiver, report_.target));
    for (const CheckResult& check : report_.checks) {
      auto& covers = result.covers.emplace_back(check.cases.size());
      begin_check(check.id);
      if (of_check_.empty()) continue;
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

  void begin_check(std::string_view check) {
    of_check_.clear();
    of_reason_.clear();
    for (std::size_t i = 0; i < waivers_.size(); ++i) {
      const Waiver& waiver = waivers_[i];
      if (here_[i] && matches(waiver.check, check) && matches(waiver.cause_check, check)) of_check_.push_back(i);
    }
    not_seen_passing_ = of_check_;
    not_seen_idle_ = of_check_;
  }

  bool matches_case(std::size_t waiver, const CaseResult& result) {
    return matches(waivers_[waiver].the_case, result.id) && values_.matches(waivers_[waiver], result.problem);
  }

  void match_case(const CaseResult& result, CaseCover& cover) {
    switch (result.status) {
      case Status::pass:
        std::erase_if(not_seen_passing_, [&](std::size_t i) {
          if (!matches_case(i, result)) return false;
          return seen_[i].passing = true;
        });
        return;
      case Status::skip:
      case Status::error:
        std::erase_if(not_seen_idle_, [&](std::size_t i) {
          if (!matches_case(i, result)) return false;
          return seen_[i].idle = true;
        });
        return;
      case Status::warn:
      case Status::fail:
        cover_case(result, cover);
    }
  }

  void cover_case(const CaseResult& result, CaseCover& cover) {
    for (const std::size_t i : waivers_of_cause(result)) {
      if (!matches_case(i, result)) continue;
      ++seen_[i].cases;
      std::size_t& place = waivers_[i].last_day < today_ ? cover.expired : cover.waiver;
      if (place == CaseCover::kNone) place = i;
    }
    if (cover.waiver != CaseCover::kNone) cover.expired = CaseCover::kNone;
  }

  /// Those of the check whose cause is the case's: its reason, or REASON.STATUS as the id of a finding may have it.
  const std::vector<std::size_t>& waivers_of_cause(const CaseResult& result) {
    const std::string with_status = fmt::format("{}.{}", result.reason, name_of(result.status));
    const auto [found, is_new] = of_reason_.try_emplace(with_status);
    if (is_new) {
      for (const std::size_t i : of_check_) {
        if (matches(waivers_[i].cause, result.reason) || matches(waivers_[i].cause, with_status))
          found->second.push_back(i);
      }
    }
    return found->second;
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
  std::vector<Seen> seen_;
  std::vector<bool> here_;
  /// Of the check that is being matched.
  std::vector<std::size_t> of_check_, not_seen_passing_, not_seen_idle_;
  std::unordered_map<std::string, std::vector<std::size_t>> of_reason_;
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
