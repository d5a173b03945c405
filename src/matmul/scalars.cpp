#include "matmul/scalars.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

namespace lt_audit {

Scalar::Scalar(std::complex<double> complex, cudaDataType_t scale_type) {
  const auto store = [this](const auto& typed) { std::memcpy(bytes_.data(), &typed, sizeof typed); };
  const double value = complex.real();
  switch (scale_type) {
    case CUDA_C_64F:
      store(complex);
      break;
    case CUDA_C_32F:
      store(std::complex<float>(complex));
      break;
    case CUDA_R_64F:
      store(value);
      break;
    case CUDA_R_16F:
      store(__double2half(value));
      break;
    case CUDA_R_16BF:
      store(__double2bfloat16(value));
      break;
    case CUDA_R_32I:
      store(static_cast<std::int32_t>(value));
      break;
    default:
      store(static_cast<float>(value));
  }
}

}  // namespace lt_audit
