// The report as values. Every output format is made from a Report, and every reader gives one back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lt_audit/target.h"
#include "lt_audit/verdict.h"

namespace lt_audit {

/// Version of the JSON form. Major: a reader of the old form breaks (field removed, renamed, other meaning or unit).
/// Minor: fields or enumerators added. Patch: descriptions only. docs/report.md says the same to users.
inline constexpr std::string_view kReportSchemaVersion = "1.0.0";

/// One case with its verdict.
struct CaseResult {
  std::string id;
  /// Canonical problem text.
  std::string problem;
  Expectation expectation = Expectation::may_refuse;
  std::string rule;
  Outcome outcome = Outcome::correct;
  Status status = Status::pass;
  /// Reason code and sentence; empty for pass.
  std::string reason;
  std::string sentence;
  std::map<std::string, std::string> parameters;
  /// The whole observation as compact JSON text (report/observation_json.h). Text, not a tree: a run keeps thousands.
  std::string observation;
};

struct CheckResult {
  std::string id;
  /// Worst status of its cases; skip when it did not apply.
  Status status = Status::pass;
  /// For a check that does not apply here.
  std::string skip_reason;
  double elapsed_s = 0;
  std::vector<CaseResult> cases;
};

/// Non-pass cases of one cause.
struct Finding {
  /// CHECK.REASON, unique in the report.
  std::string id;
  std::string check;
  Status status = Status::warn;
  std::string title;
  std::uint64_t count = 0;
  std::string measured;
  std::string expected;
  std::string rule;
  std::string remedy;
  /// A command line that runs the first case again.
  std::string repro;
  /// Ids of all cases, in order.
  std::vector<std::string> cases;
};

/// Where the audit ran. Absent facts are empty.
struct Environment {
  std::string host;
  std::string user;
  std::string os;
  /// CUDA_*, CUBLAS*, NVIDIA_*, LD_LIBRARY_PATH, LD_PRELOAD as set.
  std::map<std::string, std::string> variables;
  /// Version of the cuBLAS headers that the auditing program was compiled with, "13.1.0"; empty = this program.
  std::string compiled_against;
  /// Sentences about what may mislead: cuBLAS and cuBLASLt of different versions, logger switched on, ...
  std::vector<std::string> warnings;
};

/// Seconds of wall time by phase (--profile); in order of the run.
struct ProfileEntry {
  std::string phase;
  double seconds = 0;
  std::uint64_t count = 0;
};

struct Report {
  std::string tool_version;
  std::vector<std::string> arguments;
  /// UTC, "2026-11-29T20:16:22Z".
  std::string started;
  double elapsed_s = 0;
  std::string depth;
  std::uint64_t seed = 1;
  /// Name of the planted fault; empty in a real audit.
  std::string fault;
  bool complete = false;
  /// Why it is not complete: "interrupted by SIGINT after 812 of 1290 cases".
  std::string incomplete_reason;
  int exit_code = 0;
  Target target;
  Environment environment;
  std::vector<CheckResult> checks;
  std::vector<Finding> findings;
  std::vector<ProfileEntry> profile;
};

/// Cases per status.
struct Summary {
  std::uint64_t pass = 0, warn = 0, fail = 0, skip = 0, error = 0, total = 0;
  void add(Status status);
};
Summary summary_of(const Report& report);
Summary summary_of(const CheckResult& check);

}  // namespace lt_audit
