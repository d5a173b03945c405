// lt-audit self-test with the audit itself as a parameter, so that its rules can be tested without one.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/arguments.h"
#include "cli/detection_matrix.h"
#include "platform/platforms.h"

namespace lt_audit {

using AuditFunction = std::function<Report(const AuditOptions&)>;

/// One audit without a fault, then one per fault, two at a time. `progress` gets one line of text, from one thread at a
/// time. Throws AuditError when the audit without a fault cannot run; with a fault that is the row's error.
DetectionMatrix detect_faults(const SelfTestArguments& arguments, std::span<const FaultInfo> faults,
                              const AuditFunction& audit, const std::function<void(const std::string&)>& progress);

}  // namespace lt_audit
