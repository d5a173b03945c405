// From a finished report to the exit code: the rules of design section 6 in one pure function.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// cannot_run if the audit is incomplete, nothing ran or a case is an error; else findings if a case reaches the
/// threshold.
ExitCode exit_code_of(const Report& report, FailOn fail_on);

/// Why exit_code_of says cannot_run, one sentence; empty for the other codes.
std::string why_cannot_run(const Report& report);

}  // namespace lt_audit
