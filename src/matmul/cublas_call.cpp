#include "matmul/cublas_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "lt_audit/error.h"
#include "matmul/scalars.h"

namespace lt_audit {

std::string why_not_cublas(const MatmulProblem& p) {
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    return fmt::format("epilogue {} has no cuBLAS form", name_of(p.epilogue));
  const auto scale_type = is_complex(p.type_d) ? p.type_d : default_scale_type(p.compute_type);
  if (p.scale_type != scale_type) {
    return fmt::format("cuBLAS takes alpha and beta as {} under compute type {}", name_of(scale_type),
                       name_of(p.compute_type));
  }
  if (is_fp8(p.type_a) || is_fp8(p.type_b) || is_fp8(p.type_d)) return "cublasGemmEx has no FP8";
  if (p.type_c != p.type_d) return "cublasGemmEx has one type for C and D";
  for (const auto order : {p.order_a, p.order_b, p.order_c, p.order_d}) {
    if (order != CUBLASLT_ORDER_COL) return "cublasGemmEx has column order only";
  }
  if (p.batch_count != 1 && p.stride_d == 0) return "cublasGemmStridedBatchedEx needs a stride of C";
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
  const std::array numbers{p.m, p.n, p.k, shape_a(p).ld, shape_b(p).ld, shape_d(p).ld};
  if (std::any_of(numbers.begin(), numbers.end(), [](std::int64_t number) { return number > kLargest; })) {
    return "cublasGemmEx takes 32-bit dimensions";
  }
  return {};
}

CublasCall::CublasCall(const Platform& platform, cudaStream_t stream) : platform_(platform) {
  cublasHandle_t handle = nullptr;
  require(platform_.blas.create(&handle), "cublasCreate");
  handle_ = BlasHandle(platform_.blas, handle);
  require(platform_.blas.set_stream(handle, stream), "cublasSetStream");
}

bool CublasCall::gemm(const MatmulProblem& p, const BufferPlan& buffers, CublasObservation& result) {
  const Scalar alpha(p.alpha, p.scale_type);
  const Scalar beta(p.beta, p.scale_type);
  const auto a = shape_a(p), b = shape_b(p), d = shape_d(p);
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (p.batch_count == 1) {
    result.call = "cublasGemmEx";
    status =
        platform_.blas.gemm_ex(handle_.get(), p.transa, p.transb, number(p.m), number(p.n), number(p.k), alpha.data(),
                               buffers.a, p.type_a, number(a.ld), buffers.b, p.type_b, number(b.ld), beta.data(),
                               buffers.d, p.type_d, number(d.ld), p.compute_type, CUBLAS_GEMM_DEFAULT);
  } else {
    result.call = "cublasGemmStridedBatchedEx";
    status = platform_.blas.gemm_strided_batched_ex(
        handle_.get(), p.transa, p.transb, number(p.m), number(p.n), number(p.k), alpha.data(), buffers.a, p.type_a,
        number(a.ld), a.batch_stride, buffers.b, p.type_b, number(b.ld), b.batch_stride, beta.data(), buffers.d,
        p.type_d, number(d.ld), d.batch_stride, p.batch_count, p.compute_type, CUBLAS_GEMM_DEFAULT);
  }
  result.status = name_of(status);
  return status == CUBLAS_STATUS_SUCCESS;
}

}  // namespace lt_audit
