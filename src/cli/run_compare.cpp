// lt-audit run --compare: two libraries on one GPU.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>

#include "cli/differences.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/run_parts.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

/// "lt-audit.json" -> "lt-audit.compare.json".
std::string path_for_other(const std::string& path) {
  std::filesystem::path name(path);
  const std::string extension = name.extension().string();
  name.replace_extension(".compare" + extension);
  return name.string();
}

/// The same audit with the other library.
RunArguments with_other_library(const RunArguments& arguments) {
  RunArguments other = arguments;
  other.worker.libraries = arguments.compare;
  other.json = path_for_other(arguments.json);
  return other;
}

std::string library_text(const Report& report) {
  return fmt::format("cuBLASLt {} ({})", report.target.cublaslt.version(), report.target.cublaslt.path);
}

/// Exit codes, redaction and the file of one of the two.
ExitCode finish_report(const RunArguments& arguments, Report& report, const ReportFile& file, Context& context) {
  if (!arguments.profile) report.profile.clear();
  report.exit_code = static_cast<int>(exit_code_of(report, arguments.fail_on));
  if (arguments.redact) report = redacted(std::move(report));
  file.finish(report, context.out);
  const std::string why = why_cannot_run(report);
  if (why.empty()) return ExitCode::ok;
  context.err << fmt::format("lt-audit: {}: {}\n", library_text(report), why);
  return ExitCode::cannot_run;
}

DiffArguments differences_of(const RunArguments& arguments, int device, const ReportFile& before,
                             const ReportFile& after) {
  DiffArguments differences;
  differences.before = before.shown_path();
  differences.after = after.shown_path();
  differences.fail_on = arguments.fail_on;
  differences.outputs = outputs_for_device(arguments.outputs, device);
  differences.quiet = arguments.quiet;
  differences.verbose = arguments.verbose;
  differences.color = arguments.color;
  return differences;
}

}  // namespace

void require_comparable(const RunArguments& arguments) {
  const std::string& path = arguments.compare.cublaslt;
  if (arguments.worker.target == TargetChoice::simulator) {
    throw AuditError(
        ErrorKind::usage,
        "--compare runs two libraries on a GPU, and the simulator stands in for neither; leave --target out");
  }
  if (ReportFile(arguments.json, false).is_stdout()) {
    throw AuditError(ErrorKind::usage, "--compare makes two reports, and standard output takes one; give --json FILE");
  }
  if (arguments.gate.any()) {
    throw AuditError(ErrorKind::usage,
                     "--compare has the first library as its baseline; give its second report to lt-audit gate with "
                     "--baseline and --waivers");
  }
  for (const auto& [option, file] :
       {std::pair<const char*, std::string>{"--compare", path}, {"--compare-cublas", arguments.compare.cublas}}) {
    std::error_code failed;
    if (!file.empty() && !std::filesystem::is_regular_file(file, failed)) {
      throw AuditError(ErrorKind::usage, fmt::format("{}: there is no file '{}'; give the path of a libcublas{}.so.13, "
                                                     ".12 or .11",
                                                     option, file, file == path ? "Lt" : ""));
    }
  }
}

DeviceResult compare_on_device(const RunArguments& arguments, int device, Context& context) {
  const RunArguments other = with_other_library(arguments);
  ReportFile first_file(path_for_device(arguments.json, device), arguments.redact);
  ReportFile second_file(path_for_device(other.json, device), arguments.redact);
  first_file.require_writable();
  second_file.require_writable();
  // One line for both: the first one's progress is the other's too.
  ProgressLine progress(arguments.worker.trace ? When::never : arguments.progress, context.err);
  AuditOptions first = audit_options(arguments, device, first_file, progress, context);
  AuditOptions second = audit_options(other, device, second_file, progress, context);
  first.worker.target = second.worker.target = TargetChoice::gpu;
  second.progress = nullptr;
  auto [before, after] = run_audits_in_turn(first, second);
  progress.clear();
  const bool complete = before.complete && after.complete;
  ExitCode code = finish_report(arguments, before, first_file, context);
  code = std::max(code, finish_report(other, after, second_file, context));
  const DiffArguments differences = differences_of(arguments, device, first_file, second_file);
  code = std::max(code, show_differences(before, after, differences, context));
  return {code, complete};
}

}  // namespace lt_audit
