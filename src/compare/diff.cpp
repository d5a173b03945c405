// The comparison of two reports, put together.
#include "compare/diff.h"

#include <algorithm>

#include "compare/diff_parts.h"
#include "compare/measures.h"

namespace lt_audit {
namespace {

ReportSide side_of(const Report& report) {
  ReportSide side;
  side.tool_version = report.tool_version;
  side.started = report.started;
  side.target = report.target.kind == PlatformKind::gpu ? "gpu" : "simulator";
  side.gpu = report.target.device_facts.name;
  side.driver = report.target.driver_text;
  side.cublaslt = report.target.cublaslt.version();
  side.cublaslt_path = report.target.cublaslt.path;
  side.cublas_path = report.target.cublas.path;
  for (const CheckResult& check : report.checks) side.cases += check.cases.size();
  side.complete = report.complete;
  return side;
}

}  // namespace

bool CaseChange::has(ChangeKind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }

CheckDiff ReportDiff::total() const {
  CheckDiff sum;
  for (const CheckDiff& check : checks) {
    sum.matched += check.matched;
    sum.only_before += check.only_before;
    sum.only_after += check.only_after;
    sum.unchanged += check.unchanged;
    sum.timed += check.timed;
    for (std::size_t i = 0; i < kChangeKinds; ++i) sum.changed.at(i) += check.changed.at(i);
    for (std::size_t i = 0; i < kNumbersVerdicts; ++i) sum.numbers.at(i) += check.numbers.at(i);
  }
  return sum;
}

ReportDiff diff_reports(const Report& before, const Report& after) {
  ReportDiff diff;
  diff.before = side_of(before);
  diff.after = side_of(after);
  diff.warnings = warnings_of(before, after);
  diff.environment = environment_differences(before, after);
  diff.why_no_numbers = why_numbers_are_not_compared(before, after);
  diff.why_no_times = why_times_are_not_compared(before, after);
  diff.time_threshold = same_device(before, after) ? kTimeThreshold : kTimeThresholdOfAnotherGpu;
  compare_cases(before, after, diff);
  compare_findings(before, after, diff);
  return diff;
}

void keep_for_diff(Report& report) {
  for (CheckResult& check : report.checks) {
    for (CaseResult& one : check.cases) one.observation = without_the_rest(one);
  }
}

}  // namespace lt_audit
