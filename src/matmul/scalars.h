// alpha and beta as the scale type wants them.
#pragma once

#include <array>
#include <complex>
#include <cstddef>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/types.h"

namespace lt_audit {

/// A scalar in the representation of any scale type; the imaginary part is of complex ones alone.
class Scalar {
 public:
  Scalar(std::complex<double> value, cudaDataType_t scale_type);
  const void* data() const { return bytes_.data(); }
  static constexpr std::size_t kBytes = 16;

 private:
  alignas(16) std::array<std::byte, kBytes> bytes_{};
};

inline std::complex<double> alpha_of(const MatmulProblem& problem) { return {problem.alpha, problem.alpha_imaginary}; }
inline std::complex<double> beta_of(const MatmulProblem& problem) { return {problem.beta, problem.beta_imaginary}; }

/// alpha and beta as a call takes them.
struct ScalarPointers {
  const void* alpha = nullptr;
  const void* beta = nullptr;
};

}  // namespace lt_audit
