// Baseline and waivers from their files.
#include "cli/gate_files.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {

GateFiles read_gate_files(const GateFileArguments& arguments) {
  GateFiles files;
  for (const std::string& path : arguments.waivers) {
    auto waivers = read_waivers(path);
    files.waivers.insert(files.waivers.end(), std::make_move_iterator(waivers.begin()),
                         std::make_move_iterator(waivers.end()));
  }
  if (arguments.baseline.empty()) return files;
  files.baseline = read_json(arguments.baseline);
  files.baseline_path = arguments.baseline;
  for (CheckResult& check : files.baseline->checks) {
    for (CaseResult& result : check.cases) result.observation = std::string();
  }
  return files;
}

void require_not_the_baseline(const std::string& path, const GateFileArguments& arguments) {
  std::error_code ignored;
  if (arguments.baseline.empty() || !std::filesystem::equivalent(path, arguments.baseline, ignored)) return;
  throw AuditError(ErrorKind::usage,
                   fmt::format("the report {} would overwrite the baseline: give --json another name, and copy the "
                               "report over the baseline when its findings are to be accepted",
                               path));
}

std::chrono::sys_seconds now_in_seconds() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace lt_audit
