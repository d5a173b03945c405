// lt-audit gate.
#include <ostream>

#include "cli/commands.h"
#include "cli/gate_files.h"
#include "cli/gate_output.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

GateOptions gate_options(const GateArguments& arguments) {
  GateOptions options;
  options.fail_on = arguments.fail_on;
  options.max_age_days = arguments.max_age_days;
  options.allow_simulator = arguments.allow_simulator;
  options.require = arguments.require;
  options.now = now_in_seconds();
  options.report_name = arguments.report;
  options.baseline_name = arguments.files.baseline;
  return options;
}

TextOptions text_options(const GateArguments& arguments, const std::ostream& text) {
  TextOptions options;
  options.color = use_color(arguments.color, text);
  options.columns = columns_of(text);
  options.quiet = arguments.quiet;
  options.verbose = arguments.verbose;
  options.report_path = arguments.report;
  return options;
}

}  // namespace

ExitCode execute(const GateArguments& arguments, Context& context) {
  std::ostream& text = takes_stdout(arguments.outputs, arguments.json) ? context.err : context.out;
  const GateFiles files = read_gate_files(arguments.files);
  const Report report = read_json(arguments.report);
  const GateResult result = decide(report, files.baseline_or_null(), files.waivers, gate_options(arguments));
  const GateView view{report, arguments.report, files, result};
  const TextOptions options = text_options(arguments, text);
  write_log_text(text, [&](std::ostream& out) { write_gate_text(view, options, out); });
  write_to(arguments.json, context, [&view](std::ostream& out) { write_gate_json(view, out); });
  write_outputs(report, result.annotations, arguments.outputs, context);
  return static_cast<ExitCode>(result.exit_code);
}

}  // namespace lt_audit
