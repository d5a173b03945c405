// A place in a report as the user writes it.
#include "cli/report_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "driver/given_problems.h"
#include "lt_audit/check.h"
#include "lt_audit/error.h"
#include "report/formats.h"
#include "workload/problem_text.h"

namespace lt_audit {

ReportPlace split_place(const std::string& text) {
  std::error_code ignored;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || std::filesystem::exists(text, ignored)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

const CaseResult* find_case(const Report& report, std::string_view check, std::string_view the_case) {
  for (const CheckResult& one : report.checks) {
    if (one.id != check) continue;
    for (const CaseResult& result : one.cases) {
      if (result.id == the_case) return &result;
    }
  }
  return nullptr;
}

CasePlace find_place(const Report& report, std::string_view text) {
  std::vector<std::string> names;
  std::vector<std::string> owners;
  for (const CheckResult& check : report.checks) {
    if (check.id == text) return {check.id, ""};
    names.push_back(check.id);
    for (const CaseResult& one : check.cases) {
      if (one.id == text) owners.push_back(check.id);
    }
  }
  if (owners.size() == 1) return {owners.front(), std::string(text)};
  if (owners.size() > 1) {
    throw AuditError(ErrorKind::usage, fmt::format("several checks have a case '{}': give CHECK/CASE with one of {}",
                                                   text, fmt::join(owners, ", ")));
  }
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    CasePlace place{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
    if (find_case(report, place.check, place.the_case) != nullptr) return place;
  }
  for (const CheckResult& check : report.checks) {
    for (const CaseResult& one : check.cases) {
      names.push_back(slash == std::string_view::npos ? one.id : check.id + "/" + one.id);
    }
  }
  const std::string nearest = nearest_word(text, names);
  throw AuditError(ErrorKind::usage,
                   fmt::format("the report has no check or case '{}'{}; lt-audit show REPORT CHECK lists the cases",
                               text, nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

bool names_a_report(const std::string& what) {
  return what.find(':') != std::string::npos || what.find('=') == std::string::npos;
}

bool is_sequence(const ReportedCase& reported) {
  const CasePlace& place = reported.place;
  const CaseResult& result = reported.result();
  for (const auto& check : registered_checks()) {
    if (check->info().id != place.check) continue;
    // Of a workload: "problem-3.every-algorithm".
    const bool about_problem = place.the_case.starts_with(kGivenProblemsId);
    const std::string id = about_problem ? place.the_case.substr(place.the_case.find('.') + 1) : place.the_case;
    const Target& target = reported.report.target;
    const auto cases = about_problem ? check->cases_about(target, problem_from_text(result.problem))
                                     : check->cases(target, Depth::full);
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return one.id == id; });
    if (found != cases.end()) return found->scenario;
  }
  // A case that this version does not have: what its check noted about the steps.
  return result.parameters.contains("scenario") || result.parameters.contains("kind");
}

ReportedCase read_reported_case(const std::string& what) {
  const ReportPlace place = split_place(what);
  ReportedCase reported{place.report, read_json(place.report), {}};
  if (place.rest.empty()) {
    throw AuditError(ErrorKind::usage, fmt::format("'{}' names no case: give REPORT:CHECK/CASE", what));
  }
  reported.place = find_place(reported.report, place.rest);
  if (reported.place.the_case.empty()) {
    throw AuditError(ErrorKind::usage,
                     fmt::format("'{}' is a whole check: give REPORT:CHECK/CASE, or use lt-audit run {}", what,
                                 reported.place.check));
  }
  return reported;
}

}  // namespace lt_audit
