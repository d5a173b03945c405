// The fields of a problem as numbers, by the key of the problem text.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

struct ProblemField {
  std::string_view key;
  /// Types, modes and orders by the number of their enumerator; leading dimensions and strides as they are in force.
  double (*value)(const MatmulProblem&);
  /// Its values are words: "f16", "row".
  bool named = false;
};

std::span<const ProblemField> problem_fields();
/// Null when there is none.
const ProblemField* find_problem_field(std::string_view key);

}  // namespace lt_audit
