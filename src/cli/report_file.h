// Where the report of an audit goes: checked before the audit starts, written as it grows, finished at the end.
#pragma once

#include <iosfwd>
#include <string>

#include "lt_audit/report.h"

namespace lt_audit {

/// Whether the path of a document means standard output: "-" or /dev/stdout.
bool is_stdout_path(const std::string& path);

class ReportFile {
 public:
  /// `path` "-" or /dev/stdout is standard output; empty is no report at all.
  ReportFile(std::string path, bool redact);

  bool is_stdout() const { return stdout_; }
  /// For the last line of the text; empty when there is no file.
  std::string shown_path() const;

  /// Throws AuditError (cannot_run) when the path cannot be written: directory missing, not writable, is a directory.
  /// Leaves an existing report as it is.
  void require_writable() const;

  /// Writes what there is, for an audit that is killed later. Never throws: a full disk must not end the audit, and
  /// finish() reports it. How often is the driver's decision.
  void checkpoint(const Report& report);

  /// Writes the whole report, to `out` if it goes to standard output. Throws AuditError (cannot_run).
  void finish(const Report& report, std::ostream& out) const;

 private:
  void write(const Report& report) const;

  std::string path_;
  bool redact_;
  bool stdout_;
  /// Devices and pipes take one document: a checkpoint in front of it would make two.
  bool one_document_ = false;
  bool failed_ = false;
};

/// Throws AuditError (cannot_run) when the document of `option` cannot be written to the path: directory missing, not
/// writable, is a directory. Leaves an existing file as it is. Standard output ("-") can be written.
void require_writable_file(const std::string& path, const char* option);

/// The report of device N: N > 0 stands before the extension, "lt-audit.json" -> "lt-audit.1.json".
std::string path_for_device(const std::string& path, int device);

}  // namespace lt_audit
