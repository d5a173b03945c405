#include "matmul/cublas_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

int number(std::int64_t value) { return static_cast<int>(value); }

/// The compute type that cublasSgemm and cublasDgemm have under a math mode (cublas_api.h 13.1.0, lines 170-193).
cublasComputeType_t compute_type_of(cudaDataType_t type, cublasMath_t math_mode) {
  if (type == CUDA_R_64F) return CUBLAS_COMPUTE_64F;
  return math_mode == CUBLAS_TF32_TENSOR_OP_MATH ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// cublasSgemm or cublasDgemm on the operands of a problem.
template <class Real>
cublasStatus_t call_by_type(
    const Fn<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const Real*,
                            const Real*, int, const Real*, int, const Real*, Real*, int)>& function,
    cublasHandle_t handle, const MatmulProblem& p, const BufferPlan& buffers, const ScalarPointers& scalars) {
  const auto in = [](const void* pointer) { return static_cast<const Real*>(pointer); };
  return function(handle, p.transa, p.transb, number(p.m), number(p.n), number(p.k), in(scalars.alpha), in(buffers.a),
                  number(shape_a(p).ld), in(buffers.b), number(shape_b(p).ld), in(scalars.beta),
                  static_cast<Real*>(buffers.d), number(shape_d(p).ld));
}

}  // namespace

std::string why_not_cublas(const MatmulProblem& p) {
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    return fmt::format("epilogue {} has no cuBLAS form", name_of(p.epilogue));
  const auto scale_type = default_scale_type(p.compute_type, p.type_d);
  if (p.scale_type != scale_type) {
    return fmt::format("cuBLAS takes alpha and beta as {} under compute type {}", name_of(scale_type),
                       name_of(p.compute_type));
  }
  if (is_fp8(p.type_a) || is_fp8(p.type_b) || is_fp8(p.type_d)) return "cublasGemmEx has no FP8";
  if (p.type_c != p.type_d) return "cublasGemmEx has one type for C and D";
  for (const auto& shape : {shape_a(p), shape_b(p), shape_c(p), shape_d(p)}) {
    if (shape.is_planar()) return "cublasGemmEx has no planar complex matrices";
  }
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

std::string why_not_in_form(const BlasApi& blas, const MatmulProblem& p, const CublasForm& form) {
  if (!blas.create) return "libcublas is not loaded";
  if (auto reason = why_not_cublas(p); !reason.empty()) return reason;
  if (form.by_type) {
    const bool one_type = p.type_a == p.type_b && p.type_a == p.type_d;
    if (!one_type || (p.type_a != CUDA_R_32F && p.type_a != CUDA_R_64F)) {
      return "cublasSgemm and cublasDgemm have one type for A, B and C";
    }
    if (p.batch_count != 1) return "cublasSgemm and cublasDgemm have no batch";
    if (p.compute_type != compute_type_of(p.type_a, form.math_mode)) {
      return fmt::format("no math mode of cublasSgemm or cublasDgemm asks for compute type {}",
                         name_of(p.compute_type));
    }
  }
  const auto missing = [](const char* function) { return fmt::format("this libcublas does not export {}", function); };
  if (form.by_type && p.type_a == CUDA_R_32F && !blas.sgemm) return missing("cublasSgemm");
  if (form.by_type && p.type_a == CUDA_R_64F && !blas.dgemm) return missing("cublasDgemm");
  const bool device_mode = p.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  if (device_mode && !blas.set_pointer_mode) return missing("cublasSetPointerMode");
  if (form.math_mode != CUBLAS_DEFAULT_MATH && !blas.set_math_mode) return missing("cublasSetMathMode");
  if (form.own_workspace && !blas.set_workspace) return missing("cublasSetWorkspace");
  return {};
}

CublasCall::CublasCall(const Platform& platform, cudaStream_t stream) : platform_(platform) {
  cublasHandle_t handle = nullptr;
  require(platform_.blas.create(&handle), "cublasCreate");
  handle_ = BlasHandle(platform_.blas, handle);
  require(platform_.blas.set_stream(handle, stream), "cublasSetStream");
}

bool CublasCall::set_modes(const MatmulProblem& p, const BufferPlan& buffers, const CublasForm& form,
                           CublasObservation& result) {
  const auto& blas = platform_.blas;
  const auto succeeded = [&result](const char* function, cublasStatus_t status) {
    result.call = function;
    result.status = name_of(status);
    return status == CUBLAS_STATUS_SUCCESS;
  };
  if (p.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE &&
      !succeeded("cublasSetPointerMode", blas.set_pointer_mode(handle_.get(), CUBLAS_POINTER_MODE_DEVICE))) {
    return false;
  }
  if (form.math_mode != CUBLAS_DEFAULT_MATH &&
      !succeeded("cublasSetMathMode", blas.set_math_mode(handle_.get(), form.math_mode))) {
    return false;
  }
  // After the stream: cublasSetStream puts the handle's own pool back (cuBLAS documentation 13.2, cublasSetStream).
  return !form.own_workspace ||
         succeeded("cublasSetWorkspace",
                   blas.set_workspace(handle_.get(), buffers.workspace, static_cast<std::size_t>(p.workspace_bytes)));
}

bool CublasCall::gemm(const MatmulProblem& p, const BufferPlan& buffers, CublasObservation& result) {
  const Scalar alpha(alpha_of(p), p.scale_type);
  const Scalar beta(beta_of(p), p.scale_type);
  return gemm(p, buffers, {alpha.data(), beta.data()}, result);
}

bool CublasCall::gemm(const MatmulProblem& p, const BufferPlan& buffers, const ScalarPointers& scalars,
                      CublasObservation& result) {
  const auto a = shape_a(p), b = shape_b(p), d = shape_d(p);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (p.batch_count == 1) {
    result.call = "cublasGemmEx";
    status =
        platform_.blas.gemm_ex(handle_.get(), p.transa, p.transb, number(p.m), number(p.n), number(p.k), scalars.alpha,
                               buffers.a, p.type_a, number(a.ld), buffers.b, p.type_b, number(b.ld), scalars.beta,
                               buffers.d, p.type_d, number(d.ld), p.compute_type, CUBLAS_GEMM_DEFAULT);
  } else {
    result.call = "cublasGemmStridedBatchedEx";
    status = platform_.blas.gemm_strided_batched_ex(
        handle_.get(), p.transa, p.transb, number(p.m), number(p.n), number(p.k), scalars.alpha, buffers.a, p.type_a,
        number(a.ld), a.batch_stride, buffers.b, p.type_b, number(b.ld), b.batch_stride, scalars.beta, buffers.d,
        p.type_d, number(d.ld), d.batch_stride, p.batch_count, p.compute_type, CUBLAS_GEMM_DEFAULT);
  }
  result.status = name_of(status);
  return status == CUBLAS_STATUS_SUCCESS;
}

bool CublasCall::gemm_by_type(const MatmulProblem& p, const BufferPlan& buffers, const ScalarPointers& scalars,
                              CublasObservation& result) {
  const bool single = p.type_a == CUDA_R_32F;
  result.call = single ? "cublasSgemm" : "cublasDgemm";
  const auto status = single ? call_by_type<float>(platform_.blas.sgemm, handle_.get(), p, buffers, scalars)
                             : call_by_type<double>(platform_.blas.dgemm, handle_.get(), p, buffers, scalars);
  result.status = name_of(status);
  return status == CUBLAS_STATUS_SUCCESS;
}

}  // namespace lt_audit
