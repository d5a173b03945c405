// What the options about the target mean before an audit starts.
#include "cli/target_choice.h"

#include <fmt/format.h>

#include "lt_audit/error.h"
#include "platform/platforms.h"
#include "workload/problem_text.h"

namespace lt_audit {

void forbid_fallback_from_named_libraries(WorkerOptions& worker) {
  const bool named = !worker.libraries.cublaslt.empty() || !worker.libraries.cublas.empty();
  if (worker.target == TargetChoice::automatic && named) worker.target = TargetChoice::gpu;
}

void require_known_fault(const std::string& fault) {
  if (fault.empty()) return;
  std::vector<std::string> names;
  for (const FaultInfo& info : fault_list()) {
    if (info.name == fault) return;
    names.emplace_back(info.name);
  }
  const std::string nearest = nearest_word(fault, names);
  throw AuditError(ErrorKind::usage,
                   fmt::format("--inject: unknown fault '{}'{}; lt-audit list --faults shows all", fault,
                               nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

void require_problems(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) static_cast<void>(problem_from_text(text));
}

}  // namespace lt_audit
