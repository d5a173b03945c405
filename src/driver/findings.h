// Non-pass cases of one cause become one finding.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "driver/audit.h"
#include "lt_audit/check.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// Judges by the check, but never asks it about how a process ended, an error of the audit or a case that was not run:
/// those mean the same in every check, and no check can forget them.
Verdict judge_case(const Check& check, const Case& the_case, const Observation& observation);

/// The check's advice, or the general one for an outcome that judge_case decided without the check.
Advice advice_for(const Check& check, const Case& the_case, const Verdict& verdict);

/// A command line that runs the case again, quoted for a shell: the problem text when the engine alone decides what
/// happens, the case of the report `report_name` when the check does more than that (Case::scenario).
std::string repro_command(const Check& check, const Case& the_case, const WorkerOptions& worker, PlatformKind kind,
                          const std::string& report_name);

/// Groups cases by check, status and reason.
class FindingBuilder {
 public:
  /// `position` of the case in the plan: the first case of a group by position explains it, whatever ran first.
  void add(const Check& check, const Case& the_case, std::size_t position, const Verdict& verdict, std::string repro);

  /// Sorted: fail, error, warn; then by count, largest first; then by id.
  std::vector<Finding> findings() const;

 private:
  struct Group {
    Finding finding;
    std::string reason;
    std::size_t first_position = 0;
    std::vector<std::pair<std::size_t, std::string>> cases;
  };
  std::vector<Group> groups_;
};

}  // namespace lt_audit
