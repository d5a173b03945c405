// Report in, text out: one function per format. None of them touches the exit code.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// The JSON document of docs/report.schema.json, fixed key order, streamed case by case: no tree of the whole report.
void write_json(const Report& report, std::ostream& out);

/// Reads a report of the same major schema version. Throws AuditError (usage) that names file, position or field, and
/// what to do. Knows the limits 1 GiB and depth 64.
Report read_json(const std::string& path);
/// The same of a text, whose messages name no file. Knows the depth alone.
Report report_from_text(const std::string& text);

/// Replaces host name, user and the directories of absolute paths (file names and build ids stay), in every field and
/// in the observations' texts.
Report redacted(Report report);

/// What the text output shows.
struct TextOptions {
  bool color = false;
  int columns = 100;
  /// -q: findings alone; -v: every case.
  bool quiet = false;
  bool verbose = false;
  /// Where the report lies, for the last line; empty = not named.
  std::string report_path;
};

/// First line: what is audited (and a loud one if it is the simulator), then one line per check, the findings, the last
/// line.
void write_text(const Report& report, const TextOptions& options, std::ostream& out);

/// One check with all its cases; one case with its whole observation. Throw AuditError (usage) with the nearest id.
void write_check_text(const Report& report, std::string_view check_id, const TextOptions& options, std::ostream& out);
void write_case_text(const Report& report, std::string_view check_id, std::string_view case_id,
                     const TextOptions& options, std::ostream& out);

// The formats below take what is known beside the report (report/annotations.h); docs/formats.md says what maps to
// what. Every text of the report is escaped: none of them holds markup, control characters or commands of others.

/// JUnit XML as Jenkins, GitLab and others read it: a suite for each check, a test case for each case.
void write_junit(const Report& report, const Annotations& annotations, std::ostream& out);

/// SARIF 2.1.0 with one run: a rule for each check and each cause, a result for each case with warn or fail.
void write_sarif(const Report& report, const Annotations& annotations, std::ostream& out);

/// Markdown that fits a comment on a pull request (65,536 characters); says what it leaves out.
void write_markdown(const Report& report, const Annotations& annotations, std::ostream& out);

/// Workflow commands of GitHub Actions: one annotation for each finding, at most 10 errors and 10 warnings, and a
/// notice that says how many more there are.
void write_github_annotations(const Report& report, const Annotations& annotations, std::ostream& out);

/// One HTML page that loads nothing: summary and findings in full, pictures and a table of all cases by script. The
/// same report gives the same page; what a large one leaves out, it says.
void write_html(const Report& report, const Annotations& annotations, std::ostream& out);

/// Writes the whole text to a temporary file beside `path` and renames it. Throws AuditError (cannot_run) that names
/// the path.
void write_file_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace lt_audit
