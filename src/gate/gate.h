// The decision of a gate: a report in, against a baseline and waivers; whether a build may go on, and why not. Pure: no
// clock, no file, no output. docs/guide/gate.md has the rules in a table.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/fail_on.h"
#include "gate/waiver_match.h"
#include "gate/waivers.h"
#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

struct GateOptions {
  /// The least status of a case that closes the gate. Whatever makes a report unreliable closes it with any threshold.
  FailOn fail_on = FailOn::fail;
  std::optional<int> max_age_days;
  bool allow_simulator = false;
  /// Globs over check ids: each must match a check of which a case ran.
  std::vector<std::string> require;
  /// UTC; decides about the age of the report and about waivers.
  std::chrono::sys_seconds now{};
  /// Paths for the commands of the next steps.
  std::string report_name = "REPORT";
  std::string baseline_name = "BASELINE";
};

/// Cases, but for `gone`, which counts findings of the baseline that are no more.
struct GateCounts {
  /// At or over the threshold, not waived, and new or worse than in the baseline: what closes the gate.
  std::uint64_t closing = 0;
  /// Fail or warn, not waived, and in the baseline too.
  std::uint64_t known = 0;
  std::uint64_t waived = 0;
  /// New or worse, not waived, under the threshold.
  std::uint64_t below = 0;
  /// Ran in the baseline and not in the report.
  std::uint64_t missing = 0;
  std::uint64_t gone = 0;
};

struct GateResult {
  /// With a note for each case that fails or warns, and the decision.
  Annotations annotations;
  GateCounts counts;
  /// As the waivers.
  std::vector<WaiverUse> waivers;
  /// 0 open; 1 closed by what was found or is missing; 3 closed because report or baseline cannot be relied upon.
  int exit_code = 0;

  const GateDecision& decision() const { return *annotations.gate; }
};

/// `baseline` may be null. A baseline counts by finding_identity: how many cases of a check and a problem have a cause,
/// not which ids or words they have.
GateResult decide(const Report& report, const Report* baseline, std::span<const Waiver> waivers,
                  const GateOptions& options);

}  // namespace lt_audit
