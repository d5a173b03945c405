// The JSON documents of list, env and self-test; the report has its own writer. All carry "schema_version".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/detection_matrix.h"
#include "cli/environment_facts.h"
#include "driver/plan.h"
#include "lt_audit/check.h"
#include "platform/platforms.h"

namespace lt_audit {

/// {schema_version, checks: [{id, summary, source}]}
std::string checks_json(const std::vector<const Check*>& checks);
/// {schema_version, checks: [{id, skip_reason, cases: [{id, problem, expectation, rule, isolated}]}]}
std::string plan_json(const Plan& plan);
/// {schema_version, faults: [{name, summary, modelled_on}]}
std::string faults_json(std::span<const FaultInfo> faults);
/// {schema_version, usable, failure, devices: [target], environment: {host, user, os, variables, warnings}}
std::string environment_json(const EnvironmentFacts& facts);
/// {schema_version, target, complete, checks, faults: [{name, modelled_on, error, detected_by}], false_alarms,
/// undetected_faults, weak_checks, ok}
std::string detection_json(const DetectionMatrix& matrix);

}  // namespace lt_audit
