// One spelling of everything that the outputs of a comparison name. Included in src/compare and its tests only.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "compare/diff.h"

namespace lt_audit {

/// As in the JSON: "newly_refused".
std::string_view name_of(ChangeKind kind);
std::string_view name_of(NumbersVerdict verdict);
std::string_view name_of(TimeVerdict verdict);
std::string_view name_of(FindingChange change);
std::string_view name_of(Presence presence);

/// For people: "newly refused".
std::string_view words_of(ChangeKind kind);
/// The two lines of a column's heading: "newly", "refused".
std::pair<std::string_view, std::string_view> heading_of(ChangeKind kind);

/// All of them, in order of importance.
const std::array<ChangeKind, kChangeKinds>& all_change_kinds();

/// What changed about a case for this kind, without the case: "correct -> refused", "algo 66 tile 10 ... -> algo 31
/// ...", "cuBLASLt 4.71 -> 6.02 us (1.28x, spreads 2 % and 3 %)".
std::string detail_of(const CaseChange& change, ChangeKind kind);

/// "NVIDIA H200, driver 580.159.04, cuBLASLt 13.1.0, 2026-11-30T04:16:43Z", or "SIMULATOR of ...".
std::string side_text(const ReportSide& side);

/// Changes of one kind that belong together: all that go from one algorithm to another count as one entry, of others
/// each case is its own.
struct ChangeGroup {
  /// The first, for an example.
  const CaseChange* example = nullptr;
  std::uint64_t count = 0;
  /// For algorithms: "algo 66 -> algo 31"; else empty.
  std::string title;
};
/// Largest groups first; others keep their order.
std::vector<ChangeGroup> groups_of(const ReportDiff& diff, ChangeKind kind);

/// "lt-audit replay 'new.json:alignment/f16.off2'", quoted for a shell. A replay takes the libraries that the loader
/// finds, so those of the new report are named where the old one has others.
std::string replay_line(const ReportDiff& diff, const std::string& report_path, const CaseChange& change);

/// What the numbers of all matched cases are known to be, as clauses: "1890 cases bit-identical", ...
std::vector<std::string> numbers_clauses(const CheckDiff& total);

/// "3 newly refused, 12 with another algorithm": the kinds that occur; "nothing changed" without one.
std::string changes_sentence(const CheckDiff& counts);

}  // namespace lt_audit
