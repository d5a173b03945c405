// A call that the user pasted: an error line of a framework or a line of a log.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

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

}  // namespace lt_audit
