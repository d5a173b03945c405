// Faults that the process or its CUDA context does not survive, or has to wait for. Each costs a worker or seconds, so
// each acts on very few calls.
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

#include "platform/api_functions.h"
#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

/// After the loss every call into CUDA returns 716 until the process ends (driver_types.h 13.0, lines 881-887).
using Lost = std::shared_ptr<std::atomic<bool>>;

template <class... Arguments>
void fail_when_lost(Fn<cudaError_t(Arguments...)>& function, const Lost& lost) {
  if (!function) return;
  function = [real = std::move(function), lost](Arguments... arguments) {
    return *lost ? cudaErrorMisalignedAddress : real(arguments...);
  };
}

}  // namespace

void plant_crash(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (facts.compute_type == CUBLAS_COMPUTE_64F_PEDANTIC) static_cast<void>(std::raise(SIGSEGV));
    return send(real, call);
  });
}

void plant_hang(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    while (facts.compute_type == CUBLAS_COMPUTE_16F_PEDANTIC && facts.transa == CUBLAS_OP_N) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return send(real, call);
  });
}

void plant_slow_call(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (facts.compute_type == CUBLAS_COMPUTE_32F_PEDANTIC && facts.inputs_are(CUDA_R_16BF) &&
        facts.d.type == CUDA_R_32F) {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    }
    return send(real, call);
  });
}

void plant_sticky_misaligned_address(Platform& platform) {
  const Lost lost = std::make_shared<std::atomic<bool>>(false);
  on_matmul(platform, [lost](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (*lost) return CUBLAS_STATUS_EXECUTION_FAILED;
    const cublasStatus_t status = send(real, call);
    const bool bias_below_4 = has_bias(facts.epilogue) && facts.bias != nullptr && misalignment(facts.bias, 4) != 0;
    if (status == CUBLAS_STATUS_SUCCESS && facts.inputs_are(CUDA_R_16F) && bias_below_4) *lost = true;
    return status;
  });
  for_each_function(platform.cuda,
                    [&lost](auto& function, const char*, const char*) { fail_when_lost(function, lost); });
  // A kernel launch into a lost context fails like any other call.
  for_each_function(platform.kernels,
                    [&lost](auto& function, const char*, const char*) { fail_when_lost(function, lost); });
}

}  // namespace lt_audit::faults
