// lt-audit known-issues.
#include <fmt/format.h>

#include <functional>
#include <ostream>

#include "cli/commands.h"
#include "cli/known_issues_output.h"
#include "cli/target_choice.h"
#include "cli/terminal.h"
#include "cli/workload_selection.h"
#include "driver/audit.h"
#include "lt_audit/error.h"
#include "report/formats.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

const KnownIssue& issue_named(const std::string& id) {
  if (const auto* issue = find_known_issue(id)) return *issue;
  std::vector<std::string> ids;
  for (const auto& issue : known_issues()) ids.push_back(issue.id);
  const auto nearest = nearest_word(id, ids);
  throw AuditError(ErrorKind::usage,
                   fmt::format("no known issue '{}'{} ids are KI-001 to {}; lt-audit known-issues lists those of this "
                               "machine",
                               id, nearest.empty() ? ";" : fmt::format("; did you mean '{}'?", nearest), ids.back()));
}

/// What `read` makes of the value of an option; its error names the option.
template <class Read>
auto option(const char* name, const Read& read) {
  try {
    return read();
  } catch (const AuditError& error) {
    throw AuditError(error.kind(), fmt::format("{}: {}", name, error.what()));
  }
}

Target probed(const KnownIssuesArguments& arguments) {
  WorkerOptions worker = arguments.worker;
  forbid_fallback_from_named_libraries(worker);
  try {
    return probe_target(worker);
  } catch (const AuditError& error) {
    if (error.kind() != ErrorKind::cannot_run) throw;
    throw AuditError(
        error.kind(),
        fmt::format("{}; without a GPU name what is asked about: --cublaslt-version 13.1.0 --cc 9.0", error.what()));
  }
}

std::string origin_of(const Target& target) {
  if (target.kind == PlatformKind::simulator) return "SIMULATOR: not those of a real GPU";
  return fmt::format("{}, {}", target.device_facts.name, target.cublaslt.path);
}

/// Version and GPU as given; what is not given is asked of the machine.
KnownIssuesView view_of(const KnownIssuesArguments& arguments, const std::vector<WorkloadProblem>& problems) {
  IssuePlace place;
  if (!arguments.version.empty())
    place.version = option("--cublaslt-version", [&] { return version_from(arguments.version); });
  if (!arguments.compute_capability.empty())
    place.compute_capability = option("--cc", [&] { return compute_capability_from(arguments.compute_capability); });
  std::string origin;
  if (arguments.version.empty() || arguments.compute_capability.empty()) {
    const Target target = probed(arguments);
    const IssuePlace here = place_of(target);
    if (arguments.version.empty()) place.version = here.version;
    if (arguments.compute_capability.empty()) place.compute_capability = here.compute_capability;
    origin = origin_of(target);
  }
  KnownIssuesView view = known_issues_view(place, problems);
  view.origin = std::move(origin);
  return view;
}

std::vector<WorkloadProblem> problems_of(const KnownIssuesArguments& arguments) {
  if (!arguments.workload.empty()) {
    auto workload = load_workload(arguments.workload);
    if (workload.problems.empty())
      throw AuditError(ErrorKind::usage, "the workload has no problem: import a log with calls");
    return std::move(workload.problems);
  }
  std::vector<WorkloadProblem> problems;
  for (const auto& text : arguments.problems) {
    problems.emplace_back().problem =
        option(fmt::format("--problem '{}'", text).c_str(), [&] { return problem_from_text(text); });
  }
  return problems;
}

}  // namespace

ExitCode execute(const KnownIssuesArguments& arguments, Context& context) {
  const bool json_on_stdout = arguments.json == "-";
  std::ostream& text = json_on_stdout ? context.err : context.out;
  std::string json;
  if (!arguments.id.empty()) {
    const auto& issue = issue_named(arguments.id);
    write_known_issue(issue, columns_of(text), text);
    json = known_issue_json(issue);
  } else {
    const auto view = view_of(arguments, problems_of(arguments));
    write_known_issues(view, columns_of(text), text);
    json = known_issues_json(view);
  }
  if (json_on_stdout) {
    context.out << json << '\n';
  } else if (!arguments.json.empty()) {
    write_file_atomically(arguments.json, [&](std::ostream& file) { file << json << '\n'; });
  }
  return ExitCode::ok;
}

}  // namespace lt_audit
