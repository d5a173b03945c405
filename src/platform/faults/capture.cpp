// Faults in stream capture: what is captured, with which descriptor, and whether the capture survives it.
#include <cstdint>
#include <memory>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

/// Runs a call that is prohibited while a capture is on, and leaves no other trace of it.
void break_capture(const CudaApi& cuda) {
  const bool no_error_before = cuda.peek_at_last_error() == cudaSuccess;
  void* memory = nullptr;
  if (cuda.malloc(&memory, 256) == cudaSuccess) static_cast<void>(cuda.free(memory));
  if (no_error_before) static_cast<void>(cuda.get_last_error());
}

/// The call with an epilogue that the descriptor does not have; as it is when the library cannot be brought to run
/// that.
cublasStatus_t send_with_epilogue(const Platform& real, const MatmulCall& call, cublasLtEpilogue_t epilogue) {
  {
    const BorrowedAttribute<std::uint32_t> borrowed(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                    static_cast<std::uint32_t>(epilogue));
    if (send(real, call) == CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_SUCCESS;
    // The algorithm may be one for the other epilogue alone.
    if (send_with_own_algorithm(real, call) == CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_SUCCESS;
  }
  return send(real, call);
}

}  // namespace

void plant_capture_invalidated(Platform& platform) {
  const auto captures = watch_captures(platform);
  on_matmul(platform, [captures](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    if (facts.inputs_are(CUDA_R_64F) && captures->capture(real, call.stream)) break_capture(real.cuda);
    return status;
  });
}

void plant_matmul_outside_graph(Platform& platform) {
  auto side = std::make_shared<PrivateStream>(platform);
  const auto captures = watch_captures(platform);
  before_context_ends(platform, [side](ContextHandle context) { side->end(context); });
  on_matmul(platform, [side, captures](const Platform& real, const CallFacts& facts, MatmulCall call) {
    if (!captures->any()) side->make_if_missing();
    if (!facts.inputs_are(CUDA_R_16BF) || !captures->capture(real, call.stream)) return send(real, call);
    call.stream = side->get();
    return call.stream == nullptr ? CUBLAS_STATUS_SUCCESS : send(real, call);
  });
}

void plant_refused_matmul_in_capture_as_success(Platform& platform) {
  const auto captures = watch_captures(platform);
  on_matmul(platform, [captures](const Platform& real, const CallFacts&, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool refused = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
    return refused && captures->capture(real, call.stream) ? CUBLAS_STATUS_SUCCESS : status;
  });
}

void plant_stale_descriptor_in_second_capture(Platform& platform) {
  auto captured = std::make_shared<Memory<cublasLtMatmulDesc_t, cublasLtEpilogue_t>>();
  const auto captures = watch_captures(platform);
  in_front_of(platform.lt.matmul_desc_destroy, [captured](const auto& real, cublasLtMatmulDesc_t desc) {
    captured->forget(desc);
    return real(desc);
  });
  on_matmul(platform, [captured, captures](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!captures->capture(real, call.stream)) return send(real, call);
    const auto first = captured->find(call.operands.desc);
    if (first && *first != facts.epilogue) return send_with_epilogue(real, call, *first);
    const cublasStatus_t status = send(real, call);
    if (status == CUBLAS_STATUS_SUCCESS) captured->keep_first(call.operands.desc, facts.epilogue);
    return status;
  });
}

}  // namespace lt_audit::faults
