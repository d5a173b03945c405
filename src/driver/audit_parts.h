// What run_audit takes from the program around it, replaceable in tests.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/audit.h"
#include "lt_audit/check.h"

namespace lt_audit {

struct AuditParts {
  std::span<const std::unique_ptr<Check>> registry;
  /// Path and arguments of a worker process.
  std::vector<std::string> worker_command;
};

/// The registered checks, and this program as its own worker.
AuditParts default_parts();

/// run_audit with other parts.
Report run_audit_with(const AuditOptions& options, const AuditParts& parts);
/// run_audits_in_turn with other parts.
std::pair<Report, Report> run_audits_in_turn_with(const AuditOptions& first, const AuditOptions& second,
                                                  const AuditParts& parts);

}  // namespace lt_audit
