// Faults in what the library answers: a refusal that comes late or never, an acceptance that is worth nothing.
#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {

void plant_heuristic_success_without_result(Platform& platform) {
  on_heuristic(platform, [](const Platform& real, const CallFacts& facts, const HeuristicCall& call) {
    const cublasStatus_t status = send(real, call);
    if (status == CUBLAS_STATUS_SUCCESS && facts.inputs_are_fp8() && call.returned != nullptr) *call.returned = 0;
    return status;
  });
}

void plant_late_refusal(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool below_16 = misalignment(call.a, 16) != 0 || misalignment(call.b, 16) != 0 ||
                          misalignment(call.c, 16) != 0 || misalignment(call.d, 16) != 0;
    if (facts.inputs_are_16_bit() && below_16) return CUBLAS_STATUS_NOT_SUPPORTED;
    return send(real, call);
  });
}

void plant_unaligned_workspace_accepted(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts&, MatmulCall call) {
    const std::size_t excess = misalignment(call.workspace, 256);
    if (excess != 0 && call.workspace_bytes >= 256) {
      call.workspace = static_cast<std::byte*>(call.workspace) + (256 - excess);
      call.workspace_bytes -= 256 - excess;
    }
    return send(real, call);
  });
}

void plant_valid_call_refused(Platform& platform) {
  on_heuristic(platform, [](const Platform& real, const CallFacts& facts, const HeuristicCall& call) {
    const bool integer = facts.compute_type == CUBLAS_COMPUTE_32I || facts.compute_type == CUBLAS_COMPUTE_32I_PEDANTIC;
    if (!integer || !facts.inputs_are(CUDA_R_8I)) return send(real, call);
    if (call.returned != nullptr) *call.returned = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  });
}

void plant_wrong_status(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts&, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool refused = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
    return refused ? CUBLAS_STATUS_SUCCESS : status;
  });
}

}  // namespace lt_audit::faults
