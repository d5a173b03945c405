// lt-audit show.
#include <filesystem>
#include <ostream>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/report_file.h"
#include "cli/report_place.h"
#include "cli/terminal.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

void write_view(const Report& report, const std::string& place, const TextOptions& options, std::ostream& out) {
  if (place.empty()) return write_text(report, options, out);
  const CasePlace found = find_place(report, place);
  if (found.the_case.empty()) {
    write_check_text(report, found.check, options, out);
  } else {
    write_case_text(report, found.check, found.the_case, options, out);
  }
}

}  // namespace

ExitCode execute(const ShowArguments& arguments, Context& context) {
  ReportPlace place = split_place(arguments.report);
  if (place.rest.empty()) place.rest = arguments.check;
  if (!arguments.the_case.empty()) place.rest += "/" + arguments.the_case;
  const bool documents =
      !arguments.json.empty() || has_documents(arguments.outputs) || arguments.outputs.github == When::always;
  if (documents && !place.rest.empty()) {
    throw AuditError(ErrorKind::usage, "the other formats hold the whole report: leave out CHECK and CASE");
  }
  const bool to_stdout = takes_stdout(arguments.outputs, arguments.json);
  require_writable_file(arguments.json, "--json");
  require_writable_outputs(arguments.outputs);
  Report report = read_json(place.report);
  if (arguments.redact) report = redacted(std::move(report));

  std::ostream& text = to_stdout ? context.err : context.out;
  TextOptions options;
  options.color = use_color(arguments.color, text);
  options.columns = columns_of(text);
  options.quiet = arguments.quiet;
  options.verbose = arguments.verbose;
  options.report_path = arguments.redact ? std::filesystem::path(place.report).filename().string() : place.report;
  write_log_text(text, [&](std::ostream& out) { write_view(report, place.rest, options, out); });
  text.flush();
  // What was looked at in part is no news of a whole report.
  if (!place.rest.empty()) return ExitCode::ok;
  ReportFile(arguments.json, false).finish(report, context.out);
  write_outputs(report, Annotations{}, arguments.outputs, context);
  return ExitCode::ok;
}

}  // namespace lt_audit
