// A report against an older one: which of its findings are new.
#pragma once

#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// Notes each case of `report` that is not pass: new, unless the baseline has one of the same check, problem and cause
/// that no earlier case has taken. Sets has_baseline.
void mark_new_findings(const Report& baseline, const Report& report, Annotations& annotations);

}  // namespace lt_audit
