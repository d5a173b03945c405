// lt-audit diff.
#include "compare/diff.h"

#include <algorithm>
#include <future>
#include <ostream>
#include <utility>

#include "cli/differences.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "compare/diff_output.h"
#include "lt_audit/error.h"
#include "report/baseline.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

/// Whether a case of the new report is a finding that the old one does not have, and counts.
bool closes(const CaseResult& one, FailOn fail_on) {
  if (fail_on == FailOn::none || one.status == Status::pass || one.status == Status::skip) return false;
  return one.status != Status::warn || fail_on == FailOn::warn;
}

ExitCode code_of(const Report& after, const Annotations& annotations, FailOn fail_on) {
  for (const CheckResult& check : after.checks) {
    const bool found = std::any_of(check.cases.begin(), check.cases.end(), [&](const CaseResult& one) {
      return closes(one, fail_on) && annotations.note_of(check.id, one.id).is_new;
    });
    if (found) return ExitCode::findings;
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode execute(const DiffArguments& arguments, Context& context) {
  static_cast<void>(takes_stdout(arguments.outputs, arguments.json));
  // At once: parsing is nearly all of the time that this command takes.
  auto reading = std::async(std::launch::async, read_json, arguments.after);
  Report before = read_json(arguments.before);
  // The formats below may need memory for the new report; of the old one little is looked at.
  keep_for_diff(before);
  return show_differences(before, reading.get(), arguments, context);
}

ExitCode show_differences(const Report& before, const Report& after, const DiffArguments& arguments, Context& context) {
  const bool text_on_stderr = takes_stdout(arguments.outputs, arguments.json);
  const ReportDiff diff = diff_reports(before, after);
  Annotations annotations;
  mark_new_findings(before, after, annotations);
  const ExitCode code = code_of(after, annotations, arguments.fail_on);

  std::ostream& text = text_on_stderr ? context.err : context.out;
  DiffOptions options;
  options.color = use_color(arguments.color, text);
  options.columns = columns_of(text);
  options.quiet = arguments.quiet;
  options.verbose = arguments.verbose;
  options.before_path = arguments.before;
  options.after_path = arguments.after;
  options.exit_code = static_cast<int>(code);
  write_log_text(text, [&](std::ostream& out) { write_diff_text(diff, options, out); });
  write_to(arguments.json, context, [&](std::ostream& out) { write_diff_json(diff, options, out); });
  write_to(arguments.outputs.markdown, context, [&](std::ostream& out) { write_diff_markdown(diff, options, out); });
  OutputArguments of_the_new = arguments.outputs;
  of_the_new.markdown.clear();
  write_outputs(after, annotations, of_the_new, context);
  return code;
}

}  // namespace lt_audit
