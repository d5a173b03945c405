// Pairs of reports made by hand for the tests of the comparison.
#pragma once

#include <map>
#include <string>

#include "lt_audit/observation.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// A complete audit of an H200 without checks.
Report empty_report();

/// The observation of a right call: one result of the heuristic, verified element by element.
Observation right_observation();

/// A case that was right, with this observation.
CaseResult right_case(const std::string& id, const std::string& problem,
                      const Observation& observation = right_observation());

/// The same with these facts.
CaseResult case_with_facts(const std::string& id, const std::string& problem,
                           const std::map<std::string, std::string>& facts);

/// A case that ended otherwise; its reason is the outcome's name.
CaseResult case_with_outcome(const std::string& id, const std::string& problem, Outcome outcome, Status status);

/// The report with one check of these cases, and the findings that they make.
Report report_of(const std::string& check, std::vector<CaseResult> cases);

/// Two reports with changes of every kind.
struct ReportPair {
  Report before;
  Report after;
};
ReportPair pair_with_every_change();

}  // namespace lt_audit
