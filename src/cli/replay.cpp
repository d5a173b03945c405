// lt-audit replay.
#include <fmt/format.h>

#include <iostream>
#include <ostream>
#include <vector>

#include "cli/call_variants.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/given_calls.h"
#include "cli/report_file.h"
#include "cli/target_choice.h"
#include "cli/terminal.h"
#include "driver/audit.h"
#include "driver/given_problems.h"
#include "lt_audit/error.h"
#include "report/formats.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Fills selection and worker from a case of a report.
void take_from_report(const ReportedCase& reported, AuditOptions& options) {
  const Report& report = reported.report;
  const CasePlace& found = reported.place;
  if (found.check == kGivenProblemsId) {
    options.selection.problems = {reported.result().problem};
  } else if (found.the_case.starts_with(kGivenProblemsId)) {
    // What a check said about a problem of a workload: "problem-3.every-algorithm".
    options.selection.problems = {reported.result().problem};
    options.selection.problem_notes = {{{"calls", "1"}}};
    options.selection.checks = {found.check};
    options.selection.exclude = {std::string(kGivenProblemsId)};
    options.selection.only_case =
        fmt::format("{}-1{}", kGivenProblemsId, found.the_case.substr(found.the_case.find('.')));
  } else {
    options.selection.checks = {found.check};
    options.selection.only_case = found.the_case;
  }
  options.report_name = reported.path;
  options.selection.depth = depth_from(report.depth).value_or(Depth::normal);
  options.worker.seed = report.seed;
  options.worker.fault = report.fault;
  options.worker.device = report.target.device;
  options.worker.target = report.target.kind == PlatformKind::simulator ? TargetChoice::simulator : TargetChoice::gpu;
}

AuditOptions options_of(const ReplayArguments& arguments, const GivenCall& call, const Context& context) {
  AuditOptions options;
  options.worker.target = TargetChoice::gpu;
  if (call.pasted) {
    options.selection.problems = {to_text(call.pasted->call.problem)};
  } else if (call.reported) {
    take_from_report(*call.reported, options);
  } else {
    options.selection.problems = {call.text};
  }
  require_problems(options.selection.problems);
  if (arguments.target) options.worker.target = *arguments.target;
  if (arguments.device) options.worker.device = *arguments.device;
  if (arguments.seed) options.worker.seed = *arguments.seed;
  if (arguments.fault) options.worker.fault = *arguments.fault == "none" ? "" : *arguments.fault;
  require_known_fault(options.worker.fault);
  options.worker.libraries = arguments.libraries;
  options.worker.timeout_s = arguments.timeout_s;
  options.worker.trace = true;
  forbid_fallback_from_named_libraries(options.worker);
  options.arguments = context.arguments;
  static_cast<void>(select_checks(options.selection));
  return options;
}

/// The calls that a pasted line may stand for, side by side.
void show_variants(const PastedCall& pasted, AuditOptions options, std::ostream& out) {
  const auto variants = variants_of(pasted);
  if (variants.size() < 2) return;
  options.worker.trace = false;
  options.selection.problems.clear();
  for (const auto& variant : variants) options.selection.problems.push_back(to_text(variant.problem));
  out << '\n';
  write_variants(pasted, variants, results_of(run_audit(options)), out);
}

/// The one case that ran; throws when there is none.
std::pair<std::string, std::string> only_case_of(const Report& report, const AuditOptions& options) {
  for (const CheckResult& check : report.checks) {
    if (!check.cases.empty()) return {check.id, check.cases.front().id};
    if (!check.skip_reason.empty()) {
      throw AuditError(ErrorKind::cannot_run,
                       fmt::format("check {} does not apply here: {}", check.id, check.skip_reason));
    }
  }
  if (!report.complete) throw AuditError(ErrorKind::cannot_run, why_cannot_run(report));
  throw AuditError(
      ErrorKind::usage,
      fmt::format("this version has no case '{}' on this target: the report was written by another version or for "
                  "another GPU; replay its problem text instead",
                  options.selection.only_case));
}

/// A call that is ready to run: everything that the user got wrong was said before the first one runs.
struct Replay {
  const GivenCall* call;
  AuditOptions options;
  ReportFile file;
};

ExitCode run_replay(const ReplayArguments& arguments, const Replay& replay, std::ostream& text, Context& context) {
  const GivenCall& call = *replay.call;
  context.err << "API calls of the worker, in order:\n" << std::flush;
  Report report = run_audit(replay.options);
  const ExitCode code = exit_code_of(report, FailOn::fail);
  report.exit_code = static_cast<int>(code);
  const auto [check, the_case] = only_case_of(report, replay.options);

  TextOptions text_options;
  text_options.color = use_color(arguments.color, text);
  text_options.columns = columns_of(text);
  // The place that brings the scenario along: the new report, else the one that was read.
  text_options.report_path = replay.file.shown_path();
  if (text_options.report_path.empty() && call.reported) text_options.report_path = replay.options.report_name;
  write_case_text(report, check, the_case, text_options, text);
  if (call.pasted) show_variants(*call.pasted, replay.options, text);
  text.flush();
  replay.file.finish(report, context.out);
  const std::string why = why_cannot_run(report);
  if (!why.empty()) context.err << fmt::format("lt-audit: {}\n", why);
  return code;
}

}  // namespace

ExitCode execute(const ReplayArguments& arguments, Context& context) {
  const auto calls = read_calls(arguments.calls, std::cin);
  std::vector<Replay> replays;
  for (const GivenCall& call : calls) {
    // Numbered as the reports of several devices are.
    const std::string path = path_for_device(arguments.json, static_cast<int>(replays.size()));
    replays.push_back({&call, options_of(arguments, call, context), ReportFile(path, false)});
  }
  const bool on_stdout = replays.front().file.is_stdout();
  if (on_stdout && calls.size() > 1) {
    throw AuditError(ErrorKind::usage,
                     "--json - takes the report of one call; with several give --json FILE, or run --problem TEXT "
                     "--problem TEXT for one report of all");
  }
  for (const Replay& replay : replays) replay.file.require_writable();
  std::ostream& text = on_stdout ? context.err : context.out;
  return in_turn(calls, text, context.err,
                 [&](const GivenCall& call) {
                   const auto place = static_cast<std::size_t>(&call - calls.data());
                   return run_replay(arguments, replays[place], text, context);
                 })
      .code;
}

}  // namespace lt_audit
