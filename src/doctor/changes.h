// What can be changed about a call that is refused or wrong, one condition at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// What a change asks of the application, cheapest first.
enum class Effort {
  attribute,  ///< another value in descriptor, preference or call
  memory,     ///< pointers or buffers elsewhere, or more memory
  layout,     ///< matrices stored otherwise: padded, transposed, packed
  product,    ///< other types, other sizes or a kernel of the application's own beside the call
};

/// One condition changed.
struct Change {
  /// Changes of one group are alternatives of each other, in order from the smallest: "ldb", "workspace".
  std::string group;
  /// What is different, for people: "ldb a multiple of 8 elements (77 -> 80)".
  std::string what;
  /// The attribute or argument and its value, as the header spells it: "CUBLASLT_MATRIX_LAYOUT_LD of B = 80".
  std::string code;
  Effort effort = Effort::attribute;
  std::function<void(MatmulProblem&)> apply;
  /// Of its group the one that is tried when everything is changed at once: the documentation leaves least against it.
  bool safest = false;
};

/// Every change that makes this problem another one, by effort, groups together. A valid problem stays valid: leading
/// dimensions and batch strides grow along.
std::vector<Change> changes_for(const MatmulProblem& problem);

/// Bytes of device memory that the call holds: A, B, C, D (C and D once when they are the same memory), aux and
/// workspace.
std::int64_t memory_of(const MatmulProblem& problem);

}  // namespace lt_audit
