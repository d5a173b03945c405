// lt-audit list.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/json_documents.h"
#include "driver/plan.h"
#include "lt_audit/check.h"
#include "platform/platforms.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

ExitCode list_faults(bool json, Context& context) {
  if (json) {
    context.out << faults_json(fault_list());
    return ExitCode::ok;
  }
  for (const FaultInfo& fault : fault_list()) {
    context.out << fmt::format("{}\n    {}\n    after {}\n", fault.name, fault.summary, fault.modelled_on);
  }
  return ExitCode::ok;
}

/// The simulator needs no worker: its facts are made here.
Target target_of(const WorkerOptions& worker) {
  if (worker.target == TargetChoice::simulator) return describe_target(make_simulator_platform({}), 0);
  return probe_target(worker);
}

ExitCode list_cases(const ListArguments& arguments, Context& context) {
  const Plan plan = make_plan(arguments.selection, target_of(arguments.worker));
  if (arguments.json) {
    context.out << plan_json(plan);
    return ExitCode::ok;
  }
  for (const PlannedCheck& planned : plan.checks) {
    const std::string_view id = planned.check->info().id;
    if (!planned.skip_reason.empty()) context.out << fmt::format("{}  skip: {}\n", id, planned.skip_reason);
    for (const Case& one : planned.cases) context.out << fmt::format("{}/{}  {}\n", id, one.id, to_text(one.problem));
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode execute(const ListArguments& arguments, Context& context) {
  if (arguments.faults) return list_faults(arguments.json, context);
  const std::vector<const Check*> checks = select_checks(arguments.selection);
  if (arguments.cases) return list_cases(arguments, context);
  if (arguments.json) {
    context.out << checks_json(checks);
    return ExitCode::ok;
  }
  std::size_t width = 0;
  for (const Check* check : checks) width = std::max(width, check->info().id.size());
  for (const Check* check : checks) {
    context.out << fmt::format("{:<{}}  {}\n", check->info().id, width, check->info().summary);
  }
  return ExitCode::ok;
}

}  // namespace lt_audit
