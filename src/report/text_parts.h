// Parts that the three text outputs share: what was audited, the row of a check, a finding.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "lt_audit/report.h"
#include "report/formats.h"

namespace lt_audit {

/// What must be said before any result, even a quiet one: that no GPU answered, that a fault was planted.
void write_alarm(const Report& report, std::ostream& out);
/// "lt-audit 0.1.0 · NVIDIA H200 (sm_90, 132 SMs) · driver 580.159.04 · cuBLASLt 13.1.0"
std::string headline(const Report& report);

/// One aligned row for each check; with verbose, each case in one line below its check.
void write_check_rows(std::span<const CheckResult> checks, const TextOptions& options, std::ostream& out);

/// Findings in order of severity, then of count; those of skipped cases only when `with_skips`.
std::vector<const Finding*> sorted_findings(const Report& report, bool with_skips);
/// `check_width`: the check's name is padded to it.
void write_finding(const Finding& finding, std::size_t check_width, const TextOptions& options, std::ostream& out);

/// One case in one line: status, id, and its sentence or, when it passed, its problem.
void write_case_line(const CaseResult& result, std::size_t id_width, const TextOptions& options, std::ostream& out);

/// The products of a workload in one line each, most called first, with a verdict in one word and, where it is not ok,
/// the line of the log that they come from; nothing for a report without a workload.
void write_workload_table(const Report& report, const TextOptions& options, std::ostream& out);

/// Which types were accepted, as a matrix of letters; nothing when types are not what the cases differ
/// in.
void write_type_matrix(const CheckResult& check, const TextOptions& options, std::ostream& out);

/// Which library each kind of product belongs to, why, and the ratio of the times; in brief a screenful, with what may
/// go either way in one row. Nothing for a check whose cases have no route.
void write_route_table(const CheckResult& check, const TextOptions& options, bool brief, std::ostream& out);

}  // namespace lt_audit
