// The parts that diff_reports is made of. Included in src/compare only.
#pragma once

#include "compare/diff.h"

namespace lt_audit {

/// Facts that differ, in the order in which a person asks for them.
std::vector<EnvironmentDifference> environment_differences(const Report& before, const Report& after);

/// What may mislead; the first is the worst.
std::vector<std::string> warnings_of(const Report& before, const Report& after);

/// Why the numbers or the times of these reports cannot be held against each other; empty when they can.
std::string why_numbers_are_not_compared(const Report& before, const Report& after);
std::string why_times_are_not_compared(const Report& before, const Report& after);

/// Both are known to be one device.
bool same_device(const Report& before, const Report& after);

/// Fills checks, changes, only_before and only_after. Reads why_no_numbers, why_no_times and time_threshold.
void compare_cases(const Report& before, const Report& after, ReportDiff& diff);

/// Fills findings.
void compare_findings(const Report& before, const Report& after, ReportDiff& diff);

}  // namespace lt_audit
