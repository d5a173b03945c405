// Faults of C: in D's memory, read where beta leaves it out, or not there at all.
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

bool is_in_place(const MatmulCall& call) { return call.c != nullptr && call.c == call.d; }

bool layouts_differ(const CallFacts& facts) {
  const auto &c = facts.c, &d = facts.d;
  return c.type != d.type || c.ld != d.ld || c.order != d.order ||
         (d.batch_count > 1 && c.batch_stride != d.batch_stride);
}

/// A scalar in device memory, read on the call's stream; a captured call cannot be waited for.
bool device_scalar_is_zero(const Platform& real, const CallFacts& facts, const MatmulCall& call) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  const Scalar zero = scalar_of(facts.scale_type, false);
  Scalar scalar = scalar_of(facts.scale_type, true);
  const bool read = real.cuda.stream_is_capturing(call.stream, &capturing) == cudaSuccess &&
                    capturing == cudaStreamCaptureStatusNone &&
                    real.cuda.memcpy_async(scalar.bytes, call.beta, bytes_of(facts.scale_type), cudaMemcpyDeviceToHost,
                                           call.stream) == cudaSuccess &&
                    real.cuda.stream_synchronize(call.stream) == cudaSuccess;
  return read && std::memcmp(scalar.bytes, zero.bytes, bytes_of(facts.scale_type)) == 0;
}

}  // namespace

void plant_c_ignored_in_place(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const Scalar zero = scalar_of(facts.scale_type, false);
    if (is_in_place(call) && facts.d.batch_count > 1 && has_host_scalars(facts)) call.beta = zero.bytes;
    return send(real, call);
  });
}

void plant_c_read_at_device_beta_zero(Platform& platform) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const bool targeted = facts.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE && facts.inputs_are(CUDA_R_16F) &&
                          call.c != nullptr && device_scalar_is_zero(real, facts, call);
    if (!targeted) return send(real, call);
    const Scalar one = scalar_of(facts.scale_type, true);
    void* const beta = scratch->at_least(real, sizeof one.bytes, call.stream);
    if (beta == nullptr ||
        real.cuda.memcpy_async(beta, one.bytes, sizeof one.bytes, cudaMemcpyHostToDevice, call.stream) != cudaSuccess) {
      return send(real, call);
    }
    call.beta = beta;
    return send(real, call);
  });
}

void plant_in_place_layouts_accepted(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    if (!is_in_place(call) || !layouts_differ(facts)) return send(real, call);
    call.operands.c = call.operands.d;
    return send_with_own_algorithm(real, call);
  });
}

void plant_in_place_split_k_added_twice(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = is_in_place(call) && splits_k(real.lt, call.algo) && host_scalar_is(facts, call.beta, true);
    return status == CUBLAS_STATUS_SUCCESS && targeted ? send(real, call) : status;
  });
}

void plant_null_c_layout_crashes(Platform& platform) {
  auto real = std::make_shared<const Platform>(platform);
  platform.lt.matmul = [real](cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
    if (c_layout == nullptr && d_layout != nullptr) static_cast<void>(std::raise(SIGSEGV));
    return real->lt.matmul(handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo,
                           workspace, workspace_bytes, stream);
  };
}

}  // namespace lt_audit::faults
