// Small reports for the tests of the gate.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "gate/gate.h"
#include "report/sample_report.h"

namespace lt_audit {

inline const std::string kProblem = "m=64,n=64,k=64,a=f16";

/// A case with a cause of its own.
inline CaseResult gate_case(const std::string& id, Status status, const std::string& reason = "late",
                            const std::string& problem = kProblem) {
  CaseResult result =
      sample_case(id, problem, status, status == Status::pass ? Outcome::correct : Outcome::late_refusal);
  if (status != Status::pass) result.reason = reason;
  return result;
}

/// A whole report of a GPU with one check.
inline Report gate_report(std::vector<CaseResult> cases) {
  Report report = sample_report();
  report.checks = {CheckResult{"alignment", Status::pass, "", 0.1, std::move(cases)}};
  report.findings.clear();
  return report;
}

inline GateOptions gate_options(FailOn fail_on = FailOn::fail) {
  using namespace std::chrono;
  GateOptions options;
  options.fail_on = fail_on;
  options.now = sys_days(year(2026) / 12 / 1) + hours(12);
  return options;
}

inline std::vector<std::string> codes_of(const std::vector<GateEntry>& entries) {
  std::vector<std::string> codes;
  for (const GateEntry& entry : entries) codes.push_back(entry.code);
  return codes;
}

using Codes = std::vector<std::string>;

inline bool has_code(const std::vector<GateEntry>& entries, const std::string& code) {
  const auto codes = codes_of(entries);
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

inline const GateEntry& entry_of(const std::vector<GateEntry>& entries, const std::string& code) {
  return *std::find_if(entries.begin(), entries.end(), [&](const GateEntry& entry) { return entry.code == code; });
}

}  // namespace lt_audit
