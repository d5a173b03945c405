// lt-audit self-test.
#include "cli/self_test.h"

#include <fmt/format.h>

#include <array>
#include <mutex>
#include <ostream>
#include <thread>

#include "cli/commands.h"
#include "cli/json_documents.h"
#include "cli/report_file.h"
#include "cli/terminal.h"
#include "driver/audit.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

/// Two: the audits mostly wait for their workers, and each worker keeps one core busy.
constexpr std::size_t kAuditsAtOnce = 2;

AuditOptions options_for(const SelfTestArguments& arguments, std::string_view fault) {
  AuditOptions options;
  options.selection = arguments.selection;
  options.worker = arguments.worker;
  options.worker.fault = fault;
  return options;
}

/// Rows of the matrix, filled by several threads.
class FaultRun {
 public:
  FaultRun(const SelfTestArguments& arguments, std::span<const FaultInfo> faults, const AuditFunction& audit,
           const Report& baseline, const std::function<void(const std::string&)>& progress, DetectionMatrix& matrix)
      : arguments_(arguments),
        faults_(faults),
        audit_(audit),
        baseline_(baseline),
        progress_(progress),
        matrix_(matrix) {
    matrix_.faults.resize(faults.size());
  }

  void work() {
    for (std::size_t index = take(); index < faults_.size(); index = take()) {
      const FaultInfo& fault = faults_[index];
      FaultRow row{std::string(fault.name), std::string(fault.modelled_on), "", {}};
      bool interrupted = false;
      try {
        const Report report = audit_(options_for(arguments_, fault.name));
        row.detected_by = detections_of(baseline_, report);
        if (!report.complete) row.error = report.incomplete_reason;
        interrupted = report.incomplete_reason.rfind("interrupted", 0) == 0;
      } catch (const std::exception& error) {
        row.error = error.what();
      }
      keep(index, std::move(row), interrupted);
    }
  }

 private:
  std::size_t take() {
    const std::lock_guard lock(mutex_);
    return stop_ ? faults_.size() : next_++;
  }

  void keep(std::size_t index, FaultRow row, bool interrupted) {
    const std::lock_guard lock(mutex_);
    stop_ = stop_ || interrupted;
    // A row that broke off proves nothing about the faults that it did not reach.
    matrix_.complete = matrix_.complete && row.error.empty();
    progress_(fmt::format("{}/{} faults  {}", ++done_, faults_.size(), row.name));
    matrix_.faults[index] = std::move(row);
  }

  const SelfTestArguments& arguments_;
  std::span<const FaultInfo> faults_;
  const AuditFunction& audit_;
  const Report& baseline_;
  const std::function<void(const std::string&)>& progress_;
  DetectionMatrix& matrix_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  bool stop_ = false;
};

}  // namespace

DetectionMatrix detect_faults(const SelfTestArguments& arguments, std::span<const FaultInfo> faults,
                              const AuditFunction& audit, const std::function<void(const std::string&)>& progress) {
  DetectionMatrix matrix;
  matrix.simulator = arguments.worker.target == TargetChoice::simulator;
  matrix.checks_were_named = !arguments.selection.checks.empty();
  progress("audit without a fault");
  const Report baseline = audit(options_for(arguments, ""));
  if (!baseline.complete)
    throw AuditError(ErrorKind::cannot_run, "the self-test broke off: " + baseline.incomplete_reason);
  matrix.false_alarms = false_alarms_of(baseline);
  for (const CheckResult& check : baseline.checks) {
    if (!check.cases.empty()) matrix.checks.push_back(check.id);
  }
  if (matrix.checks.empty()) {
    throw AuditError(ErrorKind::cannot_run,
                     "the self-test has nothing to test: no selected check applies to this target");
  }
  FaultRun run(arguments, faults, audit, baseline, progress, matrix);
  std::array<std::thread, kAuditsAtOnce> threads;
  for (std::thread& thread : threads) thread = std::thread([&run] { run.work(); });
  for (std::thread& thread : threads) thread.join();
  return matrix;
}

ExitCode execute(const SelfTestArguments& arguments, Context& context) {
  const ReportFile file(arguments.json, false);
  file.require_writable();
  static_cast<void>(select_checks(arguments.selection));
  ProgressLine progress(arguments.progress, context.err);
  const DetectionMatrix matrix =
      detect_faults(arguments, fault_list(), run_audit,
                    [&progress](const std::string& text) { progress.show("self-test  " + text); });
  progress.clear();
  std::ostream& text = file.is_stdout() ? context.err : context.out;
  text << (matrix.simulator ? "SIMULATOR: the faults are planted in a model of a faultless library\n" : "")
       << matrix_text(matrix) << std::flush;
  if (file.is_stdout()) {
    context.out << detection_json(matrix);
  } else if (!arguments.json.empty()) {
    write_file_atomically(arguments.json, [&matrix](std::ostream& out) { out << detection_json(matrix); });
  }
  if (!matrix.complete) {
    context.err << "lt-audit: the self-test is not complete: an audit with a fault broke off, see its row\n";
    return ExitCode::cannot_run;
  }
  return self_test_ok(matrix) ? ExitCode::ok : ExitCode::findings;
}

}  // namespace lt_audit
