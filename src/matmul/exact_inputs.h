// Which integers the operands hold, so that every order of summation gives the same exact value.
#pragma once

#include <cstdint>

#include "lt_audit/matmul_problem.h"
#include "platform/audit_kernels.h"

namespace lt_audit {

/// Patterns of a problem's operands with |alpha * sum + beta * c + bias| bounded by what the effective accumulator and
/// D hold exactly.
struct ExactInputs {
  ValuePattern a, b, c, bias;
  /// True when every possible result is exact in D's type too: then Freivalds' check applies.
  bool exact_in_d = false;
  /// Nonzero products per element of D.
  std::int64_t terms = 0;
};

/// Chooses the patterns. Amplitudes and density fall as k grows, never the coverage: each position along k is used by
/// some column of B.
ExactInputs choose_inputs(const MatmulProblem& problem, std::uint64_t seed);

}  // namespace lt_audit
