// The command line after parsing: one plain struct per subcommand. CLI11 stays in parse*.cpp, so that the commands
// build quickly and tests can call them with structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "driver/audit.h"
#include "driver/plan.h"
#include "gate/fail_on.h"

namespace lt_audit {

/// automatic = only on a terminal.
enum class When { automatic, always, never };

/// The simulator is never chosen unless the user asks for it; the driver's own default is automatic.
inline WorkerOptions gpu_worker() {
  WorkerOptions worker;
  worker.target = TargetChoice::gpu;
  return worker;
}

/// Further formats of a report, beside text and JSON. Empty = not asked for, "-" = standard output.
struct OutputArguments {
  std::string junit;
  std::string sarif;
  std::string markdown;
  std::string html;
  /// automatic = where GITHUB_ACTIONS is true.
  When github = When::automatic;
};

/// What a report is held against; nothing given: no gate.
struct GateFileArguments {
  std::string baseline;
  std::vector<std::string> waivers;

  bool any() const { return !baseline.empty() || !waivers.empty(); }
};

struct RunArguments {
  Selection selection;
  WorkerOptions worker = gpu_worker();
  /// A workload file or logs (--workload); empty: none.
  std::vector<std::string> workload;
  /// --device all: one audit per device.
  bool all_devices = false;
  /// "-" = standard output.
  std::string json = "lt-audit.json";
  FailOn fail_on = FailOn::fail;
  GateFileArguments gate;
  OutputArguments outputs;
  /// Another libcublasLt, audited in turn with the first and compared; and its libcublas. Empty = none.
  LibraryPaths compare;
  bool dry_run = false;
  bool profile = false;
  bool redact = false;
  bool quiet = false;
  bool verbose = false;
  When progress = When::automatic;
  When color = When::automatic;
};

struct ListArguments {
  Selection selection;
  WorkerOptions worker = gpu_worker();
  bool cases = false;
  bool faults = false;
  bool json = false;
};

struct ExplainArguments {
  /// Empty: list the checks.
  std::string check;
};

struct ShowArguments {
  /// REPORT, or REPORT:CHECK or REPORT:CHECK/CASE.
  std::string report;
  /// CHECK or CHECK/CASE; empty: the findings.
  std::string check;
  std::string the_case;
  /// The report written again; empty = not, "-" = standard output.
  std::string json;
  OutputArguments outputs;
  bool redact = false;
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
};

struct DiffArguments {
  /// Two reports: what was, and what is held against it.
  std::string before;
  std::string after;
  /// The comparison as JSON. Empty = no file, "-" = standard output.
  std::string json;
  /// A finding that is new at or over it makes the exit code 1. A comparison informs; none is the default.
  FailOn fail_on = FailOn::none;
  /// markdown is the comparison's own; the others describe the new report with the old one as its baseline.
  OutputArguments outputs;
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
};

struct GateArguments {
  std::string report;
  GateFileArguments files;
  FailOn fail_on = FailOn::fail;
  std::optional<int> max_age_days;
  bool allow_simulator = false;
  /// Globs of checks that must have run.
  std::vector<std::string> require;
  /// Empty = no file, "-" = standard output.
  std::string json;
  OutputArguments outputs;
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
};

struct EnvArguments {
  WorkerOptions worker = gpu_worker();
  bool json = false;
};

struct SelfTestArguments {
  Selection selection;
  WorkerOptions worker = gpu_worker();
  /// Empty = no file, "-" = standard output.
  std::string json;
  When progress = When::automatic;
};

/// The calls that replay and doctor go through, one after the other.
struct CallArguments {
  /// X: problem texts, pasted lines or files with one ("-" = standard input), REPORT:CHECK/CASE or REPORT:CASE.
  std::vector<std::string> what;
  /// --problem: problem texts, after them.
  std::vector<std::string> problems;
};

struct ReplayArguments {
  CallArguments calls;
  /// Not given: as in the report, or gpu for a problem text.
  std::optional<TargetChoice> target;
  std::optional<int> device;
  std::optional<std::string> fault;
  std::optional<std::uint64_t> seed;
  LibraryPaths libraries;
  double timeout_s = 30;
  /// Empty = no file, "-" = standard output, which takes the report of one call.
  std::string json;
  When color = When::automatic;
};

struct DoctorArguments {
  CallArguments calls;
  WorkerOptions worker = gpu_worker();
  /// Seconds for each call after which no further change is tried.
  double budget_s = 20;
  /// Empty = no file, "-" = standard output.
  std::string json;
};

struct ImportArguments {
  /// Logs; "-" = standard input.
  std::vector<std::string> files;
  /// "-" = standard output.
  std::string output = "workload.json";
};

struct KnownIssuesArguments {
  /// One issue, shown whole; empty: all that match.
  std::string id;
  /// As typed; empty: those of the library and GPU that would be audited.
  std::string version;
  std::string compute_capability;
  /// A workload file or logs, or problem texts: only issues that touch them.
  std::vector<std::string> workload;
  std::vector<std::string> problems;
  WorkerOptions worker = gpu_worker();
  /// Empty = no file, "-" = standard output.
  std::string json;
};

/// Many reports into one.
struct MergeArguments {
  std::vector<std::string> reports;
  /// Empty = no file, "-" = standard output.
  std::string json;
  std::string markdown;
  FailOn fail_on = FailOn::fail;
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
};

/// --help or --version: text for standard output, exit code 0.
struct Information {
  std::string text;
};

using Arguments = std::variant<Information, RunArguments, ListArguments, ExplainArguments, ShowArguments, GateArguments,
                               DiffArguments, MergeArguments, EnvArguments, SelfTestArguments, ReplayArguments,
                               DoctorArguments, ImportArguments, KnownIssuesArguments>;

/// Parses the arguments without the program name. Throws AuditError (usage) with the nearest name of a command,
/// option or value that does not exist. Looks at no file, device or check.
Arguments parse_arguments(const std::vector<std::string>& arguments);

/// "0.1.0".
std::string_view tool_version();

}  // namespace lt_audit
