// Observations and targets as JSON, one spelling for the worker protocol and the report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lt_audit/observation.h"
#include "lt_audit/target.h"

namespace lt_audit {

/// Keys in fixed order (ordered_json); fields that say nothing (no log, no cuBLAS, no verification) are left out.
nlohmann::ordered_json observation_to_json(const Observation& observation);
/// Inverse of observation_to_json. Throws AuditError (usage) that names the field.
Observation observation_from_json(const nlohmann::json& json);

nlohmann::ordered_json target_to_json(const Target& target);
Target target_from_json(const nlohmann::json& json);

}  // namespace lt_audit
