// What a report is held against, for gate and run: read before anything else, so that a slip in it costs no audit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "gate/gate.h"
#include "gate/waivers.h"
#include "lt_audit/report.h"

namespace lt_audit {

struct GateFiles {
  /// Without its observations: a gate needs statuses alone.
  std::optional<Report> baseline;
  std::string baseline_path;
  /// Of all files, in order.
  std::vector<Waiver> waivers;

  const Report* baseline_or_null() const { return baseline ? &*baseline : nullptr; }
};

/// Throws AuditError (usage) that names the file.
GateFiles read_gate_files(const GateFileArguments& arguments);

/// Throws AuditError (usage) when `path` is the baseline: a run that overwrites it would accept its own findings.
void require_not_the_baseline(const std::string& path, const GateFileArguments& arguments);

/// UTC.
std::chrono::sys_seconds now_in_seconds();

}  // namespace lt_audit
