// The order of the rules, and what comes of them.
#include "gate/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/gate_parts.h"
#include "report/shell_word.h"

namespace lt_audit {

bool any_ran(const CheckResult& check) { return std::any_of(check.cases.begin(), check.cases.end(), ran); }

std::string case_place(std::string_view check, const CaseResult& result) {
  return fmt::format("{}/{}", check, result.id);
}

std::string run_again(const Report& report) {
  // A line that nobody would type again: of many problems, or of a report that somebody else made up.
  constexpr std::size_t kLongest = 160;
  std::string line = "lt-audit";
  for (const std::string& argument : report.arguments) line += " " + shell_word(argument);
  return report.arguments.empty() || line.size() > kLongest ? "lt-audit run" : line;
}

std::string number_of(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

GateResult decide(const Report& report, const Report* baseline, std::span<const Waiver> waivers,
                  const GateOptions& options) {
  const auto today = std::chrono::floor<std::chrono::days>(options.now);
  GateWork work{report, baseline, waivers, options, match_waivers(report, waivers, today), {}};
  work.result.annotations.has_baseline = baseline != nullptr;
  work.result.annotations.gate.emplace();
  judge_report(work);
  if (baseline != nullptr) judge_baseline(work);
  judge_shrinkage(work);
  judge_findings(work);
  remark_waivers(work);

  GateDecision& decision = *work.result.annotations.gate;
  std::stable_partition(decision.reasons.begin(), decision.reasons.end(),
                        [](const GateEntry& entry) { return entry.unreliable; });
  decision.open = decision.reasons.empty();
  const bool unreliable = !decision.open && decision.reasons.front().unreliable;
  work.result.exit_code = unreliable ? 3 : decision.open ? 0 : 1;
  work.result.waivers = std::move(work.matches.uses);
  return std::move(work.result);
}

}  // namespace lt_audit
