// A place in a report as the user writes it: REPORT, REPORT:CHECK, REPORT:CHECK/CASE, REPORT:CASE.
#pragma once

#include <string>
#include <string_view>

#include "lt_audit/report.h"

namespace lt_audit {

struct ReportPlace {
  /// Path of the report.
  std::string report;
  /// What stands behind the colon; empty = the whole report.
  std::string rest;
};

/// Splits at the last colon, unless a file with the whole text as its name exists.
ReportPlace split_place(const std::string& text);

struct CasePlace {
  std::string check;
  /// Empty: the whole check.
  std::string the_case;
};

/// CHECK, CHECK/CASE or CASE, looked up in the report. Throws AuditError (usage) with the nearest name if there is
/// none, or with the checks if several have a case of that name.
CasePlace find_place(const Report& report, std::string_view text);

/// The case, or null.
const CaseResult* find_case(const Report& report, std::string_view check, std::string_view the_case);

/// What the user wrote names a case of a report, and is no problem text: that holds no colon, and a case needs one.
bool names_a_report(const std::string& what);

/// A case with the report that it stands in.
struct ReportedCase {
  /// Path of the report, as written.
  std::string path;
  Report report;
  CasePlace place;

  const CaseResult& result() const { return *find_case(report, place.check, place.the_case); }
};

/// Reads REPORT:CHECK/CASE or REPORT:CASE. Throws AuditError (usage) when the report cannot be read, has no such case,
/// or no case is named.
ReportedCase read_reported_case(const std::string& what);

/// The case does more than one run of its problem (Case::scenario): what it saw, the problem alone does not show.
bool is_sequence(const ReportedCase& reported);

}  // namespace lt_audit
