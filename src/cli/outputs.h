// The further formats that run, show, gate and diff can write beside text and JSON. The formats never change the exit
// code; a file that cannot be written does (cannot_run).
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// Whether a file, or standard output, is asked for.
bool has_documents(const OutputArguments& outputs);

/// Whether one of the formats goes to standard output, so that the text goes to stderr. Throws AuditError (usage) if
/// two documents would go there or to one file, `json` (the path of the JSON document, may be empty) included.
bool takes_stdout(const OutputArguments& outputs, const std::string& json);

/// For the start of a long audit. Throws AuditError (cannot_run) when one of the files cannot be written. Leaves
/// existing files as they are.
void require_writable_outputs(const OutputArguments& outputs);

/// The files of device N, named like its report (path_for_device).
OutputArguments outputs_for_device(OutputArguments outputs, int device);

/// Writes every format that was asked for, as far as each can be written; then throws AuditError (cannot_run) that
/// names the first file that could not. Annotations of GitHub go to stderr, so that standard output stays one document.
void write_outputs(const Report& report, const Annotations& annotations, const OutputArguments& outputs,
                   Context& context);

/// One document to a file, to standard output for "-", nowhere for an empty path. Throws AuditError (cannot_run).
void write_to(const std::string& path, Context& context, const std::function<void(std::ostream&)>& write);

/// Writes text for a person. Under GITHUB_ACTIONS, where the log is read by a machine too, no line of it is a workflow
/// command, whatever a library or a file name put there.
void write_log_text(std::ostream& stream, const std::function<void(std::ostream&)>& write);

}  // namespace lt_audit
