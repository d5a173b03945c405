// lt-audit run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/gate_files.h"
#include "cli/gate_output.h"
#include "cli/outputs.h"
#include "cli/report_file.h"
#include "cli/run_parts.h"
#include "cli/target_choice.h"
#include "cli/terminal.h"
#include "cli/workload_selection.h"
#include "driver/audit.h"
#include "lt_audit/error.h"
#include "report/formats.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

void write_profile(const Report& report, std::ostream& out) {
  out << fmt::format("{:<32} {:>10} {:>10}\n", "phase", "seconds", "count");
  for (const ProfileEntry& entry : report.profile) {
    out << fmt::format("{:<32} {:>10.3f} {:>10}\n", entry.phase, entry.seconds, entry.count);
  }
  if (report.profile.empty()) out << "no phase was measured\n";
}

ExitCode dry_run(const RunArguments& arguments, Context& context) {
  const Target target = probe_target(arguments.worker);
  const Plan plan = make_plan(arguments.selection, target);
  for (const PlannedCheck& planned : plan.checks) {
    const std::string_view id = planned.check->info().id;
    if (!planned.skip_reason.empty()) {
      context.out << fmt::format("{:<24} skip: {}\n", id, planned.skip_reason);
      continue;
    }
    if (!arguments.quiet) context.out << fmt::format("{:<24} {:>6} cases\n", id, planned.cases.size());
    if (!arguments.verbose) continue;
    for (const Case& one : planned.cases) {
      context.out << fmt::format("  {}  {}{}\n", one.id, to_text(one.problem), one.isolated ? "  (own worker)" : "");
    }
  }
  context.out << fmt::format("{} cases would run at depth {}\n", plan.case_count(), name_of(arguments.selection.depth));
  return plan.case_count() > 0 ? ExitCode::ok : ExitCode::cannot_run;
}

}  // namespace

AuditOptions audit_options(const RunArguments& arguments, int device, ReportFile& file, ProgressLine& progress,
                           Context& context) {
  AuditOptions options;
  options.selection = arguments.selection;
  options.worker = arguments.worker;
  options.worker.device = device;
  options.arguments = context.arguments;
  options.progress = [&progress](const ProgressEvent& event) {
    const std::string_view id = event.check == nullptr ? std::string_view() : event.check->check->info().id;
    progress.show(fmt::format("{} {}/{}{}", id, event.done, event.total,
                              event.non_pass == 0 ? "" : fmt::format("  {} not pass", event.non_pass)));
  };
  // A report that goes to standard output has no name yet, and a redacted one keeps its folder to itself.
  const std::string path = file.shown_path();
  if (!path.empty()) options.report_name = arguments.redact ? std::filesystem::path(path).filename().string() : path;
  options.checkpoint = [&file](const Report& report) { file.checkpoint(report); };
  return options;
}

namespace {

/// Where the results of one audit go, and what they are held against.
struct Destination {
  const RunArguments& arguments;
  const OutputArguments& outputs;
  const GateFiles& gate_files;
  const ReportFile& file;
};

/// The decision of --baseline and --waivers, whose exit code becomes the run's; nothing without them.
std::optional<GateResult> decide_run(const Destination& to, Report& report) {
  if (!to.arguments.gate.any()) return std::nullopt;
  GateOptions options;
  options.fail_on = to.arguments.fail_on;
  // Who names the simulator knows that it is one; --target auto may fall back to it unseen.
  options.allow_simulator = to.arguments.worker.target == TargetChoice::simulator;
  options.now = now_in_seconds();
  if (!to.file.shown_path().empty()) options.report_name = to.file.shown_path();
  options.baseline_name = to.gate_files.baseline_path;
  GateResult result = decide(report, to.gate_files.baseline_or_null(), to.gate_files.waivers, options);
  report.exit_code = result.exit_code;
  return result;
}

/// Text of the report and, where there is one, of the decision.
void write_texts(const Destination& to, const Report& report, const std::optional<GateResult>& gate,
                 const std::string& report_path, std::ostream& text) {
  TextOptions options;
  options.color = use_color(to.arguments.color, text);
  options.columns = columns_of(text);
  options.quiet = to.arguments.quiet;
  options.verbose = to.arguments.verbose;
  options.report_path = report_path;
  write_log_text(text, [&](std::ostream& out) {
    write_text(report, options, out);
    if (!gate) return;
    out << '\n';
    write_gate_text({report, report_path, to.gate_files, *gate}, options, out);
  });
  text.flush();
}

/// Writes all documents, text, decision and profile. One that cannot be written does not take the others or the text
/// with it.
ExitCode deliver(const Destination& to, Report& report, Context& context) {
  const auto gate = decide_run(to, report);
  std::string failure;
  const auto attempt = [&](const auto& write) {
    try {
      write();
      return true;
    } catch (const AuditError& error) {
      if (failure.empty()) failure = error.what();
      report.exit_code = static_cast<int>(ExitCode::cannot_run);
      return false;
    }
  };
  // The report last, so that it knows the exit code.
  attempt([&] { write_outputs(report, gate ? gate->annotations : Annotations{}, to.outputs, context); });
  const bool written = attempt([&] { to.file.finish(report, context.out); });
  std::ostream& text = takes_stdout(to.outputs, to.arguments.json) ? context.err : context.out;
  write_texts(to, report, gate, written ? to.file.shown_path() : "", text);
  if (to.arguments.profile) write_profile(report, context.err);
  const std::string why = failure.empty() ? why_cannot_run(report) : failure;
  if (!why.empty()) context.err << fmt::format("lt-audit: {}\n", why);
  return static_cast<ExitCode>(report.exit_code);
}

/// One audit of one device.
DeviceResult audit_device(const RunArguments& arguments, int device, const GateFiles& files, Context& context) {
  const std::string path = path_for_device(arguments.json, device);
  require_not_the_baseline(path, arguments.gate);
  ReportFile file(path, arguments.redact);
  const OutputArguments outputs = outputs_for_device(arguments.outputs, device);
  file.require_writable();
  require_writable_outputs(outputs);
  // Traced calls and a line that is rewritten in place would overwrite each other.
  ProgressLine progress(arguments.worker.trace ? When::never : arguments.progress, context.err);
  Report report = run_audit(audit_options(arguments, device, file, progress, context));
  progress.clear();
  if (!arguments.profile) report.profile.clear();
  report.exit_code = static_cast<int>(exit_code_of(report, arguments.fail_on));
  if (arguments.redact) report = redacted(std::move(report));
  return {deliver({arguments, outputs, files, file}, report, context), report.complete};
}

}  // namespace

ExitCode execute(const RunArguments& given, Context& context) {
  RunArguments arguments = given;
  require_known_fault(arguments.worker.fault);
  require_problems(arguments.selection.problems);
  if (!arguments.workload.empty()) select_workload(load_workload(arguments.workload), arguments.selection);
  const ReportFile file(arguments.json, arguments.redact);
  if (takes_stdout(arguments.outputs, arguments.json) && arguments.all_devices) {
    throw AuditError(ErrorKind::usage,
                     "standard output (-) takes the document of one device; with --device all give FILE, as in --json "
                     "FILE, or one --device N");
  }
  if (arguments.json.empty()) throw AuditError(ErrorKind::usage, "--json: the file name is empty");
  if (!arguments.compare.cublaslt.empty()) require_comparable(arguments);
  if (!arguments.dry_run) {
    file.require_writable();
    require_writable_outputs(arguments.outputs);
  }
  static_cast<void>(select_checks(arguments.selection));
  forbid_fallback_from_named_libraries(arguments.worker);
  const GateFiles files = read_gate_files(arguments.gate);
  if (arguments.dry_run) return dry_run(arguments, context);
  const int first = arguments.worker.device;
  const int end = arguments.all_devices ? probe_device_count(arguments.worker) : first + 1;
  ExitCode worst = ExitCode::ok;
  for (int device = first; device < end; ++device) {
    const DeviceResult result = arguments.compare.cublaslt.empty() ? audit_device(arguments, device, files, context)
                                                                   : compare_on_device(arguments, device, context);
    worst = std::max(worst, result.code);
    // Interrupted: the user wants no further device either.
    if (!result.complete) break;
  }
  return worst;
}

}  // namespace lt_audit
