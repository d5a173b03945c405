// What several formats ask about a report and its cases, so that they all answer alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// How a case counts once waivers and a baseline are known.
enum class Standing {
  pass,
  skip,
  warn,
  fail,
  error,   ///< also with a waiver or in the baseline: it says nothing about the library
  known,   ///< warn or fail, and the baseline has it
  waived,  ///< warn or fail with a waiver
};

struct CaseView {
  const CheckResult* check = nullptr;
  const CaseResult* result = nullptr;
  /// The finding that the case belongs to; null for pass, and in a report that does not say.
  const Finding* finding = nullptr;
  CaseNote note;
  Standing standing = Standing::pass;
};

/// How many cases of a finding stand where.
struct FindingTally {
  std::uint64_t open = 0;
  std::uint64_t known = 0;
  std::uint64_t waived = 0;
  /// The first open case, else the first one; null when the report has none of them.
  const CaseResult* first = nullptr;
  /// Of the first waived case.
  std::optional<AppliedWaiver> waiver;
};

/// A report with what is known about it. Keeps references to both.
class ReportView {
 public:
  ReportView(const Report& report, const Annotations& annotations);

  const Report& report() const { return report_; }
  const Annotations& annotations() const { return annotations_; }
  CaseView view(const CheckResult& check, const CaseResult& result) const;
  /// Of all cases of the finding.
  const FindingTally& tally(const Finding& finding) const;
  /// A command line that runs this case again: the finding's with the case in place of the finding's first one.
  std::string again(const CaseView& view) const;

 private:
  const Report& report_;
  const Annotations& annotations_;
  /// By "check/case".
  std::unordered_map<std::string, const Finding*> findings_;
  std::unordered_map<const Finding*, FindingTally> tallies_;
  /// The case that the finding's command names.
  std::unordered_map<const Finding*, const CaseResult*> first_cases_;
};

/// Line of a log or workload file that a case comes from.
struct WorkloadPlace {
  std::string file;
  std::uint64_t line = 0;
};
/// Nothing for a case that comes from no file (standard input included).
std::optional<WorkloadPlace> workload_place(const CaseResult& result);

/// Wall time of the case; nothing when the observation has none.
std::optional<double> case_seconds(const CaseResult& result);

/// Why the report must not be taken for a clean one whatever its cases say: not complete, or nothing was audited.
/// Empty when there is no such reason.
std::string audit_gap(const Report& report);

/// What was audited and with what, as names and texts: version, target, GPU, driver, cuBLASLt, fault, depth, seed.
/// Absent facts are left out. The same in every format.
std::vector<std::pair<std::string, std::string>> audit_facts(const Report& report);

/// "waived until 2027-01-31: reason (link)".
std::string waiver_text(const AppliedWaiver& waiver);

/// Whether the text is a time as a report has it, "2026-11-29T20:16:22Z".
bool is_utc_time(std::string_view text);

/// "closed: 2 reasons" or "open".
std::string gate_word(const GateDecision& gate);

}  // namespace lt_audit
