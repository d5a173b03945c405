// Audits from start to end: one, or two that take turns.
#include "driver/audit.h"

#include <limits>
#include <utility>

#include "driver/audit_parts.h"
#include "driver/audit_run.h"

namespace lt_audit {
namespace {

/// Few, so that the same case of both audits runs within moments; enough that waiting for the last answer of a turn
/// costs little.
constexpr std::size_t kCasesPerTurn = 16;
constexpr const char* kTogether = "the audit that it takes turns with was ";

}  // namespace

AuditParts default_parts() { return {registered_checks(), {"/proc/self/exe", "worker"}}; }

Report run_audit_with(const AuditOptions& options, const AuditParts& parts) {
  // Before any process is started: a mistyped name must not cost a CUDA context.
  static_cast<void>(select_checks(options.selection, parts.registry));
  AuditRun run(options, parts);
  run.begin();
  while (run.step(std::numeric_limits<std::size_t>::max())) {
  }
  return run.end();
}

std::pair<Report, Report> run_audits_in_turn_with(const AuditOptions& first, const AuditOptions& second,
                                                  const AuditParts& parts) {
  static_cast<void>(select_checks(first.selection, parts.registry));
  AuditRun a(first, parts);
  AuditRun b(second, parts);
  a.begin();
  b.begin();
  bool more = true;
  // A B, B A, A B: whatever drifts (clocks, temperature) meets both alike.
  for (bool a_first = true; more; a_first = !a_first) {
    AuditRun& leader = a_first ? a : b;
    AuditRun& follower = a_first ? b : a;
    const bool leader_goes_on = leader.step(kCasesPerTurn);
    if (leader.interrupted()) follower.stop(kTogether + leader.stopped());
    const bool follower_goes_on = follower.step(kCasesPerTurn);
    if (follower.interrupted()) leader.stop(kTogether + follower.stopped());
    more = leader_goes_on || follower_goes_on;
  }
  Report report = a.end();
  return {std::move(report), b.end()};
}

Report run_audit(const AuditOptions& options) { return run_audit_with(options, default_parts()); }

std::pair<Report, Report> run_audits_in_turn(const AuditOptions& first, const AuditOptions& second) {
  return run_audits_in_turn_with(first, second, default_parts());
}

Target probe_target(const WorkerOptions& options) {
  Supervisor supervisor(supervisor_options(options, {}, default_parts()));
  return supervisor.start().target;
}

int probe_device_count(const WorkerOptions& options) { return probe_target(options).device_count; }

}  // namespace lt_audit
