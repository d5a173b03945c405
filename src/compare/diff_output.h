// What lt-audit diff shows: text for a terminal, Markdown for a pull request, JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "compare/diff.h"

namespace lt_audit {

/// Version of the JSON form (docs/diff.schema.json). Major: a reader of the old form breaks. Minor: fields added.
inline constexpr std::string_view kDiffSchemaVersion = "1.0.0";

/// What a comment on GitHub may have, in characters; the Markdown keeps below it in bytes.
inline constexpr std::size_t kMostMarkdownBytes = 65'536;

struct DiffOptions {
  bool color = false;
  int columns = 100;
  /// -q: warnings and findings alone; -v: every entry.
  bool quiet = false;
  bool verbose = false;
  /// Paths as the user wrote them, for headings and replay lines.
  std::string before_path;
  std::string after_path;
  int exit_code = 0;
};

void write_diff_text(const ReportDiff& diff, const DiffOptions& options, std::ostream& out);
/// Every text of a report stands in a code span, so that none of it is markup, link or mention.
void write_diff_markdown(const ReportDiff& diff, const DiffOptions& options, std::ostream& out);
/// One case a line, streamed.
void write_diff_json(const ReportDiff& diff, const DiffOptions& options, std::ostream& out);

}  // namespace lt_audit
