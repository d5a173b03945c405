// What is known about a report beyond itself: from a baseline, a waiver file, a gate. Empty for a report alone. Every
// format takes it, so that a gate and a run look alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lt_audit {

/// The waiver that covers a case.
struct AppliedWaiver {
  std::string reason;
  /// Last day that it holds, "2027-01-31" (UTC).
  std::string expires;
  /// Empty when none was given.
  std::string link;
};

struct CaseNote {
  /// The baseline has no such finding: same check, problem and cause. True without a baseline.
  bool is_new = true;
  std::optional<AppliedWaiver> waiver;
};

/// One thing that closes a gate, or a remark that does not.
struct GateEntry {
  /// Kebab-case: "new-finding", "case-missing", "incomplete", "too-old", "simulator", "waiver-expired", ...
  std::string code;
  /// One sentence: what happened, where.
  std::string title;
  /// Cases or checks that it is about, as "check/case" with a sentence; may be many.
  std::vector<std::string> details;
  /// The shortest next step: a command or an edit.
  std::string next;
  /// The report or the comparison cannot be relied upon, whatever it says: exit code 3 and not 1.
  bool unreliable = false;
};

struct GateDecision {
  bool open = true;
  /// Why it is closed, worst first; empty when open.
  std::vector<GateEntry> reasons;
  /// Stale waivers, findings gone, findings waived: said, closes nothing.
  std::vector<GateEntry> remarks;
};

struct Annotations {
  /// A baseline was compared: `CaseNote::is_new` tells something.
  bool has_baseline = false;
  /// Notes of cases that are not pass, by "check/case"; a case without one is new and not waived.
  std::unordered_map<std::string, CaseNote> notes;
  /// Present when a gate decided.
  std::optional<GateDecision> gate;

  CaseNote note_of(std::string_view check, std::string_view case_id) const {
    const auto found = notes.find(std::string(check) + "/" + std::string(case_id));
    return found == notes.end() ? CaseNote{} : found->second;
  }
};

}  // namespace lt_audit
