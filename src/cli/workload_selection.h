// Workloads on the command line: files to problems with notes.
#pragma once

#include <string>
#include <vector>

#include "driver/plan.h"
#include "workload/workload.h"

namespace lt_audit {

/// A workload file, or the import of logs. Throws AuditError (usage) with the name of the file.
Workload load_workload(const std::vector<std::string>& files);

/// Puts the problems of the workload, most called first, with their notes into the selection.
void select_workload(const Workload& workload, Selection& selection);

}  // namespace lt_audit
