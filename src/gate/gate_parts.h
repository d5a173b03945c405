// The parts of a decision. Included in src/gate only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gate/gate.h"

namespace lt_audit {

/// What the rules of one decision look at and add to.
struct GateWork {
  const Report& report;
  /// Null without one.
  const Report* baseline;
  std::span<const Waiver> waivers;
  const GateOptions& options;
  WaiverMatches matches;
  GateResult result;

  void reason(GateEntry entry) { result.annotations.gate->reasons.push_back(std::move(entry)); }
  void remark(GateEntry entry) { result.annotations.gate->remarks.push_back(std::move(entry)); }
};

/// gate_trust.cpp: whether the report and the baseline can be relied upon.
void judge_report(GateWork& work);
void judge_baseline(GateWork& work);

/// gate_shrunk.cpp: checks and cases that are missing. Before the findings, of which there may be many.
void judge_shrinkage(GateWork& work);

/// gate_findings.cpp: findings that are new or worse, known, waived, gone.
void judge_findings(GateWork& work);

/// gate_waivers.cpp: waivers that had their day. After judge_findings.
void remark_waivers(GateWork& work);

/// The case is a finding that a threshold or a waiver can be about.
inline bool is_finding(const CaseResult& result) {
  return result.status == Status::fail || result.status == Status::warn;
}
/// A case that ran. An error did not, but is told of as an error.
inline bool ran(const CaseResult& result) { return result.status != Status::skip; }
bool any_ran(const CheckResult& check);

/// "check/case", as show takes it.
std::string case_place(std::string_view check, const CaseResult& result);

/// The command that made the report.
std::string run_again(const Report& report);

/// "3 cases", "1 waiver".
std::string number_of(std::uint64_t count, std::string_view noun);

}  // namespace lt_audit
