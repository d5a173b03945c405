// alpha and beta as the scale type wants them.
#pragma once

#include <array>
#include <cstddef>

#include "lt_audit/types.h"

namespace lt_audit {

/// A scalar in the representation of any scale type; complex ones with an imaginary part of 0.
class Scalar {
 public:
  Scalar(double value, cudaDataType_t scale_type);
  const void* data() const { return bytes_.data(); }
  static constexpr std::size_t kBytes = 16;

 private:
  alignas(16) std::array<std::byte, kBytes> bytes_{};
};

/// alpha and beta as a call takes them.
struct ScalarPointers {
  const void* alpha = nullptr;
  const void* beta = nullptr;
};

}  // namespace lt_audit
