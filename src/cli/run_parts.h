// What the parts of `lt-audit run` share: one audit, or two libraries compared (run_compare.cpp).
#pragma once

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/report_file.h"
#include "cli/terminal.h"
#include "driver/audit.h"

namespace lt_audit {

struct DeviceResult {
  ExitCode code = ExitCode::ok;
  bool complete = false;
};

/// `file` and `progress` must outlive the audit.
AuditOptions audit_options(const RunArguments& arguments, int device, ReportFile& file, ProgressLine& progress,
                           Context& context);

/// Throws AuditError when the arguments make no comparison: no GPU, two reports on standard output, no such library.
void require_comparable(const RunArguments& arguments);

/// `lt-audit run --compare`: both libraries on one device, case by case in turn, each in workers of its own; two
/// reports, and what the second changes. Exit code: findings where the second has one that the first has not.
DeviceResult compare_on_device(const RunArguments& arguments, int device, Context& context);

}  // namespace lt_audit
