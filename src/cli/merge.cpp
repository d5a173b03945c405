// lt-audit merge.
#include "compare/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/report_file.h"
#include "cli/terminal.h"
#include "compare/merge_formats.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

/// 0 the nodes agree and no finding reaches the threshold, 1 otherwise, 3 where no report says anything.
ExitCode exit_code_of(const Merged& merged, FailOn fail_on) {
  const bool any_result = std::any_of(merged.nodes.begin(), merged.nodes.end(), [](const MergedNode& node) {
    return node.set_aside.empty() && node.summary.pass + node.summary.warn + node.summary.fail > 0;
  });
  if (!any_result) return ExitCode::cannot_run;
  // Also with --fail-on none: what was not audited is no opinion about findings.
  if (!merged.all_usable()) return ExitCode::findings;
  if (fail_on == FailOn::none) return ExitCode::ok;
  const std::vector<bool> differing = merged.differing_nodes();
  if (std::find(differing.begin(), differing.end(), true) != differing.end()) return ExitCode::findings;
  const bool found = std::any_of(merged.findings.begin(), merged.findings.end(), [fail_on](const MergedFinding& one) {
    return one.status == Status::fail || fail_on == FailOn::warn;
  });
  return found ? ExitCode::findings : ExitCode::ok;
}

}  // namespace

ExitCode execute(const MergeArguments& arguments, Context& context) {
  if (is_stdout_path(arguments.json) && is_stdout_path(arguments.markdown)) {
    throw AuditError(
        ErrorKind::usage,
        "--json and --markdown both go to standard output: give one of them a file, as in --json merge.json");
  }
  Merger merger;
  // One at a time: a hundred reports are a gigabyte, what is kept of them a few megabytes.
  for (const std::string& path : arguments.reports) merger.add(path, read_json(path));
  const Merged merged = merger.merged();
  const ExitCode code = exit_code_of(merged, arguments.fail_on);
  const int number = static_cast<int>(code);

  TextOptions options;
  std::ostream& text = is_stdout_path(arguments.json) || is_stdout_path(arguments.markdown) ? context.err : context.out;
  options.color = use_color(arguments.color, text);
  options.columns = columns_of(text);
  options.quiet = arguments.quiet;
  options.verbose = arguments.verbose;
  write_log_text(text, [&](std::ostream& out) { write_merge_text(merged, options, number, out); });

  write_to(arguments.json, context, [&](std::ostream& out) { write_merge_json(merged, tool_version(), number, out); });
  write_to(arguments.markdown, context, [&](std::ostream& out) { write_merge_markdown(merged, number, out); });
  return code;
}

}  // namespace lt_audit
