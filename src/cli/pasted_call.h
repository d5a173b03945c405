// A call that the user pasted: an error line of a framework or a line of a log, and the calls that it may stand for.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "lt_audit/observation.h"
#include "lt_audit/report.h"
#include "workload/workload.h"

namespace lt_audit {

struct PastedCall {
  WorkloadProblem call;
  /// "NOT_SUPPORTED", as the line reports it; empty when it reports none.
  std::string status;
};

/// The first call in the text; "-" is standard input, and the name of a file that is no JSON its content. Nothing when
/// there is no call in it. Throws AuditError (usage) when the text is of a known format and has no call that can be
/// read, with the reason.
std::optional<PastedCall> find_pasted_call(const std::string& what, std::istream& standard_input);

/// The status of the stage that decided: matmul's, or what refused before it; "not run" or "unknown" without one.
std::string deciding_status(const Observation& observation);

/// One call that the line may stand for, and what it takes for granted.
struct CallVariant {
  std::string what;
  MatmulProblem problem;
};

/// What the line leaves open and decides: the alignment of each pointer, told to the heuristic or not. The first is the
/// call as it was read; nothing else when the line says it all.
std::vector<CallVariant> variants_of(const PastedCall& pasted);

/// One line for each variant, in order: the status it got and whether that is the one that the line reports. `report`
/// is the audit of their problems.
void write_variants(const PastedCall& pasted, const std::vector<CallVariant>& variants, const Report& report,
                    std::ostream& out);

}  // namespace lt_audit
