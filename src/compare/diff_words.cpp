// The words of a comparison.
#include "compare/diff_words.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "report/shell_word.h"
#include "report/text_layout.h"

namespace lt_audit {
namespace {

struct KindWords {
  ChangeKind kind;
  std::string_view name;
  std::string_view words;
  std::string_view upper;
  std::string_view lower;
};

constexpr std::array<KindWords, kChangeKinds> kKinds = {{
    {ChangeKind::newly_wrong, "newly_wrong", "newly wrong", "newly", "wrong"},
    {ChangeKind::newly_refused, "newly_refused", "newly refused", "newly", "refused"},
    {ChangeKind::refused_later, "refused_later", "refused later", "refused", "later"},
    {ChangeKind::outcome_changed, "outcome_changed", "other outcome", "other", "outcome"},
    {ChangeKind::judged_otherwise, "judged_otherwise", "judged otherwise", "judged", "otherw."},
    {ChangeKind::slower, "slower", "slower", "", "slower"},
    {ChangeKind::numbers_changed, "numbers_changed", "other numbers", "other", "numbers"},
    {ChangeKind::algorithm_changed, "algorithm_changed", "another algorithm", "other", "algo"},
    {ChangeKind::result_count_changed, "result_count_changed", "more or fewer results", "result", "count"},
    {ChangeKind::faster, "faster", "faster", "", "faster"},
    {ChangeKind::refused_earlier, "refused_earlier", "refused earlier", "refused", "earlier"},
    {ChangeKind::newly_accepted, "newly_accepted", "newly accepted", "newly", "accepted"},
    {ChangeKind::no_longer_wrong, "no_longer_wrong", "no longer wrong", "no longer", "wrong"},
}};

const KindWords& words_for(ChangeKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::string outcome_text(Outcome outcome, Status status) {
  return fmt::format("{} ({})", name_of(outcome), name_of(status));
}

std::string algorithm_text(const HeuristicResult& result) {
  std::string text = fmt::format("algo {}, tile {}, stages {}, split-K {}", result.algo_id, result.tile, result.stages,
                                 result.split_k);
  if (result.workspace_bytes != 0) text += fmt::format(", {} bytes of workspace", result.workspace_bytes);
  return text;
}

std::string times_text(const CaseChange& change, TimeVerdict verdict) {
  std::string text;
  for (const TimeComparison& times : change.times) {
    if (times.verdict != verdict) continue;
    text += fmt::format("{}{} {:.2f} -> {:.2f} us (x {:.2f}; spreads {:.0f} % and {:.0f} %)", text.empty() ? "" : "; ",
                        times.library, times.before_us, times.after_us, times.ratio(), times.before_spread * 100,
                        times.after_spread * 100);
  }
  return text;
}

std::string numbers_text(const CaseChange& change) {
  std::string text;
  if (change.numbers == NumbersVerdict::bits_differ) text = "right in both, other bits on inputs that round";
  if (change.cublas_bits_differ) text += text.empty() ? "cuBLAS gives other bits" : ", cuBLAS's too";
  return text;
}

}  // namespace

std::string_view name_of(ChangeKind kind) { return words_for(kind).name; }
std::string_view words_of(ChangeKind kind) { return words_for(kind).words; }
std::pair<std::string_view, std::string_view> heading_of(ChangeKind kind) {
  return {words_for(kind).upper, words_for(kind).lower};
}

std::string_view name_of(NumbersVerdict verdict) {
  constexpr std::array<std::string_view, kNumbersVerdicts> kNames = {"not_compared", "bit_identical", "within_bound",
                                                                     "bits_differ", "beyond_bound"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view name_of(TimeVerdict verdict) {
  constexpr std::array<std::string_view, 3> kNames = {"within_noise", "slower", "faster"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view name_of(FindingChange change) {
  constexpr std::array<std::string_view, 3> kNames = {"new", "changed", "gone"};
  return kNames.at(static_cast<std::size_t>(change));
}

std::string_view name_of(Presence presence) {
  constexpr std::array<std::string_view, 3> kNames = {"both", "only_old", "only_new"};
  return kNames.at(static_cast<std::size_t>(presence));
}

const std::array<ChangeKind, kChangeKinds>& all_change_kinds() {
  static constexpr auto kAll = [] {
    std::array<ChangeKind, kChangeKinds> all{};
    for (std::size_t i = 0; i < kChangeKinds; ++i) all.at(i) = kKinds.at(i).kind;
    return all;
  }();
  return kAll;
}

std::string detail_of(const CaseChange& change, ChangeKind kind) {
  switch (kind) {
    case ChangeKind::slower:
      return times_text(change, TimeVerdict::slower);
    case ChangeKind::faster:
      return times_text(change, TimeVerdict::faster);
    case ChangeKind::numbers_changed:
      return numbers_text(change);
    case ChangeKind::algorithm_changed:
      return change.algorithm_before && change.algorithm_after
                 ? algorithm_text(*change.algorithm_before) + " -> " + algorithm_text(*change.algorithm_after)
                 : std::string();
    case ChangeKind::result_count_changed:
      return fmt::format("{} -> {} results", change.results_before, change.results_after);
    case ChangeKind::judged_otherwise:
      return fmt::format("{} {} -> {} {}", name_of(change.status_before), change.reason_before,
                         name_of(change.status_after), change.reason_after);
    default:
      return outcome_text(change.outcome_before, change.status_before) + " -> " +
             outcome_text(change.outcome_after, change.status_after);
  }
}

std::string side_text(const ReportSide& side) {
  std::string text = side.target == "simulator" ? "SIMULATOR" : side.gpu.empty() ? "unknown GPU" : side.gpu;
  if (!side.driver.empty()) text += ", driver " + side.driver;
  if (!side.cublaslt.empty()) text += ", cuBLASLt " + side.cublaslt;
  if (!side.started.empty()) text += ", " + side.started;
  text += ", " + counted(side.cases, "case");
  return side.complete ? text : text + ", INCOMPLETE";
}

std::vector<ChangeGroup> groups_of(const ReportDiff& diff, ChangeKind kind) {
  std::vector<ChangeGroup> groups;
  std::map<std::pair<int, int>, std::size_t> places;
  for (const CaseChange& change : diff.changes) {
    if (!change.has(kind)) continue;
    if (kind != ChangeKind::algorithm_changed || !change.algorithm_before || !change.algorithm_after) {
      groups.push_back({&change, 1, ""});
      continue;
    }
    const std::pair<int, int> ids(change.algorithm_before->algo_id, change.algorithm_after->algo_id);
    const auto [place, is_new] = places.emplace(ids, groups.size());
    if (is_new) {
      const auto title = ids.first == ids.second ? fmt::format("algo {}, configured otherwise", ids.first)
                                                 : fmt::format("algo {} -> algo {}", ids.first, ids.second);
      groups.push_back({&change, 0, title});
    }
    ++groups[place->second].count;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ChangeGroup& left, const ChangeGroup& right) { return left.count > right.count; });
  return groups;
}

std::string replay_line(const ReportDiff& diff, const std::string& report_path, const CaseChange& change) {
  std::string line = "lt-audit replay " + shell_word(report_path + ":" + change.check + "/" + change.id);
  const auto name = [&line](const char* option, const std::string& before, const std::string& after) {
    // A redacted path has no directory, and names no file here.
    if (after != before && after.starts_with('/')) line += fmt::format(" {} {}", option, shell_word(after));
  };
  name("--cublaslt", diff.before.cublaslt_path, diff.after.cublaslt_path);
  name("--cublas", diff.before.cublas_path, diff.after.cublas_path);
  return line;
}

std::vector<std::string> numbers_clauses(const CheckDiff& total) {
  std::vector<std::string> clauses;
  const auto add = [&](NumbersVerdict verdict, std::string_view words) {
    const std::uint64_t count = total.count(verdict);
    if (count != 0) clauses.push_back(fmt::format("{} {}", count, words));
  };
  add(NumbersVerdict::beyond_bound, "wrong now");
  add(NumbersVerdict::bits_differ, "right with other bits on inputs that round");
  add(NumbersVerdict::within_bound, "within the derived bound");
  add(NumbersVerdict::bit_identical, "bit-identical");
  return clauses;
}

std::string changes_sentence(const CheckDiff& counts) {
  std::string text;
  for (const ChangeKind kind : all_change_kinds()) {
    if (counts.count(kind) == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.count(kind), words_of(kind));
  }
  return text.empty() ? "nothing changed" : text;
}

}  // namespace lt_audit
