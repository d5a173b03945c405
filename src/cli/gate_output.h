// A decision as text, one screen of it, and as the JSON document of docs/gate.schema.json.
#pragma once

#include <iosfwd>
#include <string>

#include "cli/gate_files.h"
#include "gate/gate.h"
#include "lt_audit/report.h"
#include "report/formats.h"

namespace lt_audit {

struct GateView {
  const Report& report;
  /// As it was given; empty for a report that has no name yet.
  std::string report_path;
  const GateFiles& files;
  const GateResult& result;
};

/// The decision with its counts in the first line; then what closed the gate, worst first, each with the next step;
/// then remarks. In brief a screenful; verbose everything; quiet the decision and what closed it.
void write_gate_text(const GateView& view, const TextOptions& options, std::ostream& out);

void write_gate_json(const GateView& view, std::ostream& out);

}  // namespace lt_audit
