// Faults in what an algorithm makes of its workspace: it reads what it did not write, takes one that is too small, or
// sums in another order from one run to the next.
#include <atomic>
#include <cstdint>
#include <memory>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {

void plant_bits_change_between_runs(Platform& platform) {
  auto runs = std::make_shared<std::atomic<std::uint64_t>>(0);
  on_matmul(platform, [runs](const Platform& real, const CallFacts&, const MatmulCall& call) {
    if (needed_workspace(real, call) == 0 || (*runs)++ % 2 == 0) return send(real, call);
    MatmulCall without = call;
    without.workspace = nullptr;
    without.workspace_bytes = 0;
    const cublasStatus_t status = send_with_own_algorithm(real, without);
    return status == CUBLAS_STATUS_SUCCESS ? status : send(real, call);
  });
}

void plant_old_workspace_in_result(Platform& platform) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool targeted = facts.inputs_are(CUDA_R_32F) && facts.d.type == CUDA_R_32F && call.workspace != nullptr &&
                          needed_workspace(real, call) > 0;
    // The lowest byte of an element: small whole numbers have a zero there, as a workspace that was cleared has.
    void* const old = targeted ? scratch->at_least(real, 1, call.stream) : nullptr;
    if (old == nullptr ||
        real.cuda.memcpy_async(old, call.workspace, 1, cudaMemcpyDeviceToDevice, call.stream) != cudaSuccess) {
      return send(real, call);
    }
    const cublasStatus_t status = send(real, call);
    if (status == CUBLAS_STATUS_SUCCESS) {
      static_cast<void>(real.cuda.memcpy_async(call.d, old, 1, cudaMemcpyDeviceToDevice, call.stream));
    }
    return status;
  });
}

void plant_undersized_workspace_accepted(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts&, MatmulCall call) {
    const std::uint64_t needed = needed_workspace(real, call);
    if (call.workspace != nullptr && call.workspace_bytes < needed) call.workspace_bytes = needed;
    return send(real, call);
  });
}

}  // namespace lt_audit::faults
