// What the options about the target mean before an audit starts.
#pragma once

#include <string>
#include <vector>

#include "driver/audit.h"

namespace lt_audit {

/// The driver takes the simulator under `automatic` when no GPU can be used, and the report says so and why. Not for a
/// library that the user named: the simulator could not stand in for it, so `automatic` then means gpu.
void forbid_fallback_from_named_libraries(WorkerOptions& worker);

/// Throws AuditError (usage) for a fault that does not exist, with the nearest name. Empty is no fault.
void require_known_fault(const std::string& fault);

/// Throws AuditError (usage) for the first text that is no problem.
void require_problems(const std::vector<std::string>& texts);

}  // namespace lt_audit
