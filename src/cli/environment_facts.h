// What lt-audit env found.
#pragma once

#include <string>
#include <vector>

#include "lt_audit/report.h"
#include "lt_audit/target.h"

namespace lt_audit {

struct EnvironmentFacts {
  /// One per device; empty when nothing can be audited.
  std::vector<Target> targets;
  /// Why nothing can be audited; empty when something can.
  std::string failure;
  Environment environment;
};

}  // namespace lt_audit
