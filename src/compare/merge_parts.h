// What the parts of a merge share. Included in src/compare only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/merge.h"

namespace lt_audit {

/// The time of one case on one node, from a check that repeats its measurement.
struct MeasuredTime {
  std::uint32_t the_case = 0;
  float us = 0;
  /// Relative, of the node's own repetitions; 0 where the check does not say.
  float spread = 0;
};

/// The time that a case measured with repetitions, or nothing. Single launches (`times` of an observation) are none:
/// their noise is larger than what is looked for.
bool measured_time(const CaseResult& result, MeasuredTime& time);

/// Name and place of a case of the merge.
struct MergedCase {
  std::string check;
  std::string id;
  std::string problem;
};

/// Fills groups, speeds and outliers of `merged` from the times of the nodes (by node). `gpus` are the models by node,
/// empty for nodes that are not compared.
void compare_speeds(std::span<const std::vector<MeasuredTime>> times, std::span<const std::string> gpus,
                    std::span<const MergedCase> cases, Merged& merged);

}  // namespace lt_audit
