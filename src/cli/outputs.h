// The further formats that run, show, gate and diff can write beside text and JSON. The formats never change the exit
// code; a file that cannot be written does (cannot_run).
#pragma once

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// Whether one of the formats goes to standard output, so that the text goes to stderr. Throws AuditError (usage) if
/// two documents would, `json` (the path of the JSON document, may be empty) included.
bool takes_stdout(const OutputArguments& outputs, const std::string& json);

/// Writes every format that was asked for. Throws AuditError (cannot_run) that names the file.
void write_outputs(const Report& report, const Annotations& annotations, const OutputArguments& outputs,
                   Context& context);

}  // namespace lt_audit
