// One audit from plan to report: the seam between the command line and the driver.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "driver/plan.h"
#include "lt_audit/report.h"
#include "platform/platforms.h"

namespace lt_audit {

enum class TargetChoice { gpu, simulator, automatic };

/// How the workers come up and how long they may take.
struct WorkerOptions {
  TargetChoice target = TargetChoice::automatic;
  int device = 0;
  LibraryPaths libraries;
  /// Name of the fault to plant; empty = none.
  std::string fault;
  std::uint64_t seed = 1;
  /// Seconds that one case may take before its worker is killed.
  double timeout_s = 30;
  /// Every API call of the cases goes to stderr, one line each.
  bool trace = false;
};

/// Progress for the terminal; called from the parent's only thread.
struct ProgressEvent {
  const PlannedCheck* check = nullptr;
  std::size_t done = 0;
  std::size_t total = 0;
  std::size_t non_pass = 0;
};

struct AuditOptions {
  Selection selection;
  WorkerOptions worker;
  /// The command line without the program name, for the report.
  std::vector<std::string> arguments;
  /// The report's name in the commands that run a case of it again.
  std::string report_name = "lt-audit.json";
  std::function<void(const ProgressEvent&)> progress;
  /// Called with the report as far as it is (all judged cases in it) at most every 250 ms and at the end of each check,
  /// to be written to disk.
  std::function<void(const Report&)> checkpoint;
};

/// Runs the audit of one device. Returns a report with complete = false when it was interrupted (SIGINT, SIGTERM).
/// Throws AuditError (cannot_run) when no worker comes up; a dying worker later costs its case only.
Report run_audit(const AuditOptions& options);

/// Two audits of one device in turn, a few cases each, in workers of their own: the same cases of both run within
/// moments of each other, so that what they differ in is not the time of day. For two libraries, or two settings. A
/// signal ends both. Throws like run_audit.
std::pair<Report, Report> run_audits_in_turn(const AuditOptions& first, const AuditOptions& second);

/// Starts a worker, asks what it would audit, ends it. Throws like run_audit.
Target probe_target(const WorkerOptions& options);

/// How many devices the target has: for --device all.
int probe_device_count(const WorkerOptions& options);

/// The hidden subcommand: reads requests from fd 3, writes responses to fd 4, until end of file. Returns the exit code.
int worker_main();

}  // namespace lt_audit
