// From a finished report to the exit code.
#include "cli/exit_code.h"

#include <fmt/format.h>

namespace lt_audit {

std::string why_cannot_run(const Report& report) {
  if (!report.complete) {
    return fmt::format("the audit is not complete: {}",
                       report.incomplete_reason.empty() ? "no reason is known" : report.incomplete_reason);
  }
  const Summary summary = summary_of(report);
  if (summary.error > 0) {
    return fmt::format("{} case{} could not be audited: see the findings with status error", summary.error,
                       summary.error == 1 ? "" : "s");
  }
  if (summary.pass + summary.warn + summary.fail > 0) return "";
  if (summary.total > 0) return fmt::format("nothing was audited: all {} cases were skipped", summary.total);
  for (const CheckResult& check : report.checks) {
    if (!check.skip_reason.empty()) {
      return fmt::format("nothing was audited: check {} does not apply here, {}", check.id, check.skip_reason);
    }
  }
  return "nothing was audited: the selection holds no case";
}

ExitCode exit_code_of(const Report& report, FailOn fail_on) {
  if (!why_cannot_run(report).empty()) return ExitCode::cannot_run;
  const Summary summary = summary_of(report);
  if (fail_on != FailOn::none && summary.fail > 0) return ExitCode::findings;
  if (fail_on == FailOn::warn && summary.warn > 0) return ExitCode::findings;
  return ExitCode::ok;
}

}  // namespace lt_audit
