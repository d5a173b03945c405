// What the searches of the doctor run and get back; who runs it is not their concern.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// What came of running one problem.
struct Trial {
  /// The library accepted the call and every number and byte was right.
  bool works = false;
  /// The status that decided, "NOT_SUPPORTED".
  std::string status;
  /// The outcome in one word, "refused".
  std::string outcome;
  /// Why it was not run, or what broke the audit; else empty.
  std::string detail;
  /// Microseconds of the matmul on the GPU; absent where none was taken.
  std::optional<double> gpu_us;
};

/// Runs the problems, one trial for each, in order. Throws what an audit throws.
using RunProblems = std::function<std::vector<Trial>(const std::vector<MatmulProblem>&)>;

}  // namespace lt_audit
