// lt-audit replay.
#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <ostream>

#include "cli/call_variants.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/pasted_call.h"
#include "cli/report_file.h"
#include "cli/report_place.h"
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
void take_from_report(const std::string& what, AuditOptions& options) {
  const ReportedCase reported = read_reported_case(what);
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

AuditOptions options_of(const ReplayArguments& arguments, const std::optional<PastedCall>& pasted,
                        const Context& context) {
  AuditOptions options;
  options.worker.target = TargetChoice::gpu;
  if (pasted) {
    options.selection.problems = {to_text(pasted->call.problem)};
  } else if (names_a_report(arguments.what)) {
    take_from_report(arguments.what, options);
  } else {
    options.selection.problems = {arguments.what};
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

}  // namespace

ExitCode execute(const ReplayArguments& arguments, Context& context) {
  const ReportFile file(arguments.json, false);
  file.require_writable();
  const auto pasted = find_pasted_call(arguments.what, std::cin);
  AuditOptions options = options_of(arguments, pasted, context);
  static_cast<void>(select_checks(options.selection));

  context.err << "API calls of the worker, in order:\n" << std::flush;
  Report report = run_audit(options);
  const ExitCode code = exit_code_of(report, FailOn::fail);
  report.exit_code = static_cast<int>(code);
  const auto [check, the_case] = only_case_of(report, options);

  std::ostream& text = file.is_stdout() ? context.err : context.out;
  TextOptions text_options;
  text_options.color = use_color(arguments.color, text);
  text_options.columns = columns_of(text);
  // The place that brings the scenario along: the new report, else the one that was read.
  text_options.report_path = file.shown_path();
  if (text_options.report_path.empty() && !pasted && names_a_report(arguments.what))
    text_options.report_path = options.report_name;
  write_case_text(report, check, the_case, text_options, text);
  if (pasted) show_variants(*pasted, options, text);
  text.flush();
  file.finish(report, context.out);
  const std::string why = why_cannot_run(report);
  if (!why.empty()) context.err << fmt::format("lt-audit: {}\n", why);
  return code;
}

}  // namespace lt_audit
