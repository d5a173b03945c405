// Which integers the operands hold, so that every order of summation gives the same exact value.
#pragma once

#include <cstdint>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/prepared_matmul.h"
#include "platform/audit_kernels.h"

namespace lt_audit {

/// Patterns of a problem's operands with |alpha * sum + beta * c + bias| bounded by what the effective accumulator and
/// D hold exactly.
struct ExactInputs {
  ValuePattern a, b, c, bias, aux;
  /// Tables of scale factors: 1 or 2 of either sign. A scalar one is 2 or -2, so that nobody can leave it out.
  ValuePattern scale_a, scale_b, scale_c, scale_d;
  /// What the scalar factors make of alpha, beta and D.
  double alpha_factor = 1;
  double beta_factor = 1;
  double d_scale = 1;
  /// True when every possible result is exact in D's type too: then Freivalds' check applies.
  bool exact_in_d = false;
  /// Nonzero products per element of D.
  std::int64_t terms = 0;
};

/// Chooses the patterns. Amplitudes and density fall as k grows, never the coverage: each position along k is used by
/// some column of B.
ExactInputs choose_inputs(const MatmulProblem& problem, std::uint64_t seed, Inputs kind = Inputs::exact);

/// Patterns whose sums round in the accumulator, so that D's bits tell one order of summation from another. Times
/// `alpha_factor`, a power of two, the product stays within D's range. Integer products are exact whatever one does:
/// for them these are the exact inputs.
struct RoundingInputs {
  ExactInputs inputs;
  double alpha_factor = 1;
};
RoundingInputs choose_rounding_inputs(const MatmulProblem& problem, std::uint64_t seed);

}  // namespace lt_audit
