// The workload file: JSON, docs/workload.schema.json.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lt_audit {

/// Name and version of the form; a reader takes any version of the same major number.
inline constexpr std::string_view kWorkloadSchema = "lt-audit-workload";
inline constexpr std::string_view kWorkloadSchemaVersion = "1.0.0";

void write_workload(const Workload& workload, std::string_view tool_version, std::ostream& out);

/// Throws AuditError (usage) that names the field.
Workload read_workload(std::string_view text);

/// True when the text begins like a workload file and not like a log.
bool looks_like_workload(std::string_view start);

}  // namespace lt_audit
