// What changed between two reports, in every format that was asked for: for diff, and for run --compare.
#pragma once

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// Writes the differences as `arguments` say; the paths in them name the two reports and are not read. Exit code:
/// findings when the new report has one that reaches arguments.fail_on and the old one has not. Throws AuditError
/// (cannot_run) for a file that cannot be written.
ExitCode show_differences(const Report& before, const Report& after, const DiffArguments& arguments, Context& context);

}  // namespace lt_audit
