// Findings of a report against those of a baseline, as multisets: how often a check saw a cause on a problem.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "gate/gate_parts.h"
#include "report/identity.h"
#include "report/shell_word.h"

namespace lt_audit {
namespace {

/// What became of a case since the baseline.
enum class Change { none, worse, added };

struct Item {
  const CheckResult* check = nullptr;
  const CaseResult* result = nullptr;
  CaseCover cover;
  Change change = Change::added;

  bool waived() const { return cover.waiver != CaseCover::kNone; }
};

/// All cases of one finding_identity.
struct Group {
  std::uint64_t old_fails = 0;
  std::uint64_t old_warns = 0;
  std::unordered_set<std::string_view> old_ids;
  /// "check.reason", for what is gone.
  std::string cause;
  std::vector<std::size_t> items;
};

std::uint64_t take(std::uint64_t& from) {
  if (from == 0) return 0;
  --from;
  return 1;
}

/// Cases take their counterparts of the baseline: those that are not waived first, failing ones first, and only to tell
/// which of equals is the new one, those whose id the baseline has.
void compare(Group& group, std::vector<Item>& items) {
  const auto rank = [&](std::size_t i) {
    const Item& item = items[i];
    return std::tuple(item.waived(), item.result->status != Status::fail, !group.old_ids.contains(item.result->id));
  };
  std::stable_sort(group.items.begin(), group.items.end(),
                   [&](std::size_t left, std::size_t right) { return rank(left) < rank(right); });
  for (const std::size_t i : group.items) {
    const bool fails = items[i].result->status == Status::fail;
    if (take(group.old_fails) == 1) {
      items[i].change = Change::none;
    } else if (take(group.old_warns) == 1) {
      items[i].change = fails ? Change::worse : Change::none;
    }
  }
}

class FindingsRule {
 public:
  explicit FindingsRule(GateWork& work) : work_(work), counts_(work.result.counts) {}

  void judge() {
    for (const Finding& finding : work_.report.findings) titles_.emplace(finding.id, &finding);
    if (work_.baseline != nullptr) read_baseline();
    collect();
    for (auto& [identity, group] : groups_) compare(group, items_);
    for (const Item& item : items_) sort_out(item);
    for (auto& entry : closing_entries()) work_.reason(std::move(entry));
    remark();
  }

 private:
  /// Cases that close the gate together: of one expired waiver, or of one cause.
  using Key = std::tuple<std::size_t, std::string_view, std::string_view, Status, Change>;

  void read_baseline() {
    for (const CheckResult& check : work_.baseline->checks) {
      for (const CaseResult& result : check.cases) {
        if (!is_finding(result)) continue;
        Group& group = groups_[finding_identity(check.id, result)];
        ++(result.status == Status::fail ? group.old_fails : group.old_warns);
        group.old_ids.insert(result.id);
        if (group.cause.empty()) group.cause = fmt::format("{}.{}", check.id, result.reason);
      }
    }
  }

  void collect() {
    const Report& report = work_.report;
    for (std::size_t check = 0; check < report.checks.size(); ++check) {
      const auto& cases = report.checks[check].cases;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!is_finding(cases[i])) continue;
        groups_[finding_identity(report.checks[check].id, cases[i])].items.push_back(items_.size());
        items_.push_back({&report.checks[check], &cases[i], work_.matches.covers[check][i], Change::added});
      }
    }
  }

  bool reaches_threshold(const Item& item) const {
    if (work_.options.fail_on == FailOn::none) return false;
    return item.result->status == Status::fail || work_.options.fail_on == FailOn::warn;
  }

  void sort_out(const Item& item) {
    note(item);
    if (item.waived()) {
      ++counts_.waived;
    } else if (item.change == Change::none) {
      ++counts_.known;
      ++known_causes_[fmt::format("{}.{}", item.check->id, item.result->reason)];
    } else if (!reaches_threshold(item)) {
      ++counts_.below;
    } else {
      ++counts_.closing;
      closing_[{item.cover.expired, item.check->id, item.result->reason, item.result->status, item.change}].push_back(
          &item);
    }
  }

  void note(const Item& item) {
    CaseNote note;
    note.is_new = item.change != Change::none;
    if (item.waived()) {
      const Waiver& waiver = work_.waivers[item.cover.waiver];
      note.waiver = AppliedWaiver{waiver.reason, waiver.expires(), waiver.link};
    }
    const auto [found, is_first] =
        work_.result.annotations.notes.try_emplace(case_place(item.check->id, *item.result), note);
    if (is_first) return;
    // Two cases of one id, which lt-audit does not write: neither may hide the other.
    found->second.is_new = found->second.is_new || note.is_new;
    if (!note.waiver) found->second.waiver.reset();
  }

  std::string title_of(const Item& item) const {
    const std::string id = fmt::format("{}.{}", item.check->id, item.result->reason);
    // One reason with two statuses makes two findings, and the id tells them apart.
    for (const std::string& name : {id, fmt::format("{}.{}", id, name_of(item.result->status))}) {
      const auto found = titles_.find(name);
      if (found != titles_.end() && found->second->status == item.result->status && !found->second->title.empty())
        return found->second->title;
    }
    return item.result->reason;
  }

  std::string what_happened(const std::vector<const Item*>& items) const {
    const Item& first = *items.front();
    const std::string verb(name_of(first.result->status));
    const bool one = items.size() == 1;
    if (first.change == Change::worse) {
      return fmt::format("{}, {} {} where the baseline warned", first.check->id, number_of(items.size(), "case"),
                         one ? "fails" : "fail");
    }
    return fmt::format("{}, {}{} {}{}", first.check->id, items.size(),
                       work_.baseline == nullptr ? (one ? " case" : " cases") : (one ? " new case" : " new cases"),
                       verb, one ? "s" : "");
  }

  GateEntry entry_of(const std::vector<const Item*>& items) const {
    const Item& first = *items.front();
    GateEntry entry;
    entry.code = first.change == Change::worse ? "worse-finding" : "new-finding";
    entry.title = fmt::format("{}: {}", what_happened(items), title_of(first));
    entry.next = fmt::format("lt-audit show {} {}", shell_word(work_.options.report_name),
                             shell_word(case_place(first.check->id, *first.result)));
    if (first.cover.expired != CaseCover::kNone) {
      const Waiver& waiver = work_.waivers[first.cover.expired];
      entry.code = "waiver-expired";
      entry.title =
          fmt::format("{}; waived until {} ({}: {})", entry.title, waiver.expires(), waiver.place(), waiver.reason);
      entry.next = fmt::format("mend the cause, or decide anew and change expires in {}", waiver.place());
    }
    for (const Item* item : items) {
      entry.details.push_back(
          fmt::format("{}: {}", case_place(item->check->id, *item->result), item->result->sentence));
    }
    return entry;
  }

  /// Failing before warning, many cases before few.
  std::vector<GateEntry> closing_entries() const {
    std::vector<const std::vector<const Item*>*> order;
    for (const auto& [key, items] : closing_) order.push_back(&items);
    std::stable_sort(order.begin(), order.end(), [](const auto* left, const auto* right) {
      const auto rank = [](const std::vector<const Item*>& items) {
        return items.front()->result->status == Status::fail ? 0 : 1;
      };
      return std::tuple(rank(*left), right->size()) < std::tuple(rank(*right), left->size());
    });
    std::vector<GateEntry> entries;
    for (const auto* items : order) entries.push_back(entry_of(*items));
    return entries;
  }

  void remark() {
    std::map<std::string, std::uint64_t> gone_causes;
    for (const auto& [identity, group] : groups_) {
      const std::uint64_t left = group.old_fails + group.old_warns;
      counts_.gone += left;
      if (left > 0) gone_causes[group.cause] += left;
    }
    const auto lines = [](const std::map<std::string, std::uint64_t>& causes) {
      std::vector<std::string> texts;
      for (const auto& [cause, count] : causes) texts.push_back(fmt::format("{}: {}", cause, number_of(count, "case")));
      return texts;
    };
    if (counts_.known > 0) {
      work_.remark({"known",
                    fmt::format("{} {} as in the baseline", number_of(counts_.known, "case"),
                                counts_.known == 1 ? "fails or warns" : "fail or warn"),
                    lines(known_causes_), ""});
    }
    if (counts_.below > 0) {
      const bool warns = work_.options.fail_on == FailOn::fail;
      work_.remark(
          {"below-threshold",
           fmt::format("{} {}, which --fail-on {} lets pass", number_of(counts_.below, "case"),
                       counts_.below == 1 ? (warns ? "warns" : "fails or warns") : (warns ? "warn" : "fail or warn"),
                       warns ? "fail" : "none"),
           {},
           "lt-audit show " + shell_word(work_.options.report_name)});
    }
    if (counts_.gone > 0) {
      work_.remark({"gone",
                    fmt::format("{} of the baseline {} no more", number_of(counts_.gone, "finding"),
                                counts_.gone == 1 ? "is" : "are"),
                    lines(gone_causes),
                    // Not of an audit that shrank: what is missing has not been mended.
                    counts_.missing > 0
                        ? ""
                        : fmt::format("take this report as the baseline: cp {} {}",
                                      shell_word(work_.options.report_name), shell_word(work_.options.baseline_name))});
    }
  }

  GateWork& work_;
  GateCounts& counts_;
  std::unordered_map<std::string, const Finding*> titles_;
  std::unordered_map<std::string, Group> groups_;
  std::vector<Item> items_;
  std::map<Key, std::vector<const Item*>> closing_;
  std::map<std::string, std::uint64_t> known_causes_;
};

}  // namespace

void judge_findings(GateWork& work) { FindingsRule(work).judge(); }

}  // namespace lt_audit
