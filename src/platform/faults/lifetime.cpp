// Faults in what a handle is bound to and what outlives it.
#include <csignal>
#include <cstddef>
#include <memory>
#include <thread>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

constexpr std::size_t kLostPerHandle = 64U << 10;

/// The context that each handle was created in.
using Homes = Memory<cublasLtHandle_t, ContextHandle>;

/// A context or a handle's home that is not known stands for every context.
bool is_elsewhere(const Homes& homes, const Platform& real, cublasLtHandle_t handle) {
  const auto home = homes.find(handle);
  if (!home) return false;
  const ContextHandle now = context_now(real);
  return now != nullptr && now != *home;
}

/// The thread that destroyed a handle, until the handle's value is handed out again.
using Destroyers = Memory<cublasLtHandle_t, std::thread::id>;

std::shared_ptr<Destroyers> watch_destroyed(Platform& platform) {
  auto destroyers = std::make_shared<Destroyers>();
  in_front_of(platform.lt.create, [destroyers](const auto& real, cublasLtHandle_t* handle) {
    const cublasStatus_t status = real(handle);
    if (status == CUBLAS_STATUS_SUCCESS) destroyers->forget(*handle);
    return status;
  });
  // A cublasHandle_t may be cast to a handle of cuBLASLt (cuBLAS documentation, cublasLtHandle_t).
  in_front_of(platform.blas.create, [destroyers](const auto& real, cublasHandle_t* handle) {
    const cublasStatus_t status = real(handle);
    if (status == CUBLAS_STATUS_SUCCESS) destroyers->forget(reinterpret_cast<cublasLtHandle_t>(*handle));
    return status;
  });
  in_front_of(platform.lt.destroy, [destroyers](const auto& real, cublasLtHandle_t handle) {
    // Before it is destroyed, since another thread may get the same value at once.
    const auto before = destroyers->find(handle);
    destroyers->keep(handle, std::this_thread::get_id());
    const cublasStatus_t status = real(handle);
    if (status != CUBLAS_STATUS_SUCCESS) destroyers->forget(handle);
    if (status != CUBLAS_STATUS_SUCCESS && before) destroyers->keep(handle, *before);
    return status;
  });
  return destroyers;
}

void crash_if_destroyed_elsewhere(const Destroyers& destroyers, cublasLtHandle_t handle) {
  const auto by = destroyers.find(handle);
  if (by && *by != std::this_thread::get_id()) static_cast<void>(std::raise(SIGSEGV));
}

}  // namespace

void plant_destroyed_handle_crashes(Platform& platform) {
  const auto destroyers = watch_destroyed(platform);
  on_heuristic(platform, [destroyers](const Platform& real, const CallFacts&, const HeuristicCall& call) {
    crash_if_destroyed_elsewhere(*destroyers, call.handle);
    return send(real, call);
  });
  on_matmul(platform, [destroyers](const Platform& real, const CallFacts&, const MatmulCall& call) {
    crash_if_destroyed_elsewhere(*destroyers, call.handle);
    return send(real, call);
  });
}

void plant_handle_bound_to_context(Platform& platform) {
  auto real = std::make_shared<const Platform>(platform);
  auto homes = std::make_shared<Homes>();
  in_front_of(platform.lt.create, [real, homes](const auto& create, cublasLtHandle_t* handle) {
    // Asked before, since creating may make the first context.
    const ContextHandle home = context_now(*real);
    const cublasStatus_t status = create(handle);
    if (status == CUBLAS_STATUS_SUCCESS) homes->forget(*handle);
    if (status == CUBLAS_STATUS_SUCCESS && home != nullptr) homes->keep(*handle, home);
    return status;
  });
  in_front_of(platform.lt.destroy, [real, homes](const auto& destroy, cublasLtHandle_t handle) {
    if (is_elsewhere(*homes, *real, handle)) return CUBLAS_STATUS_INVALID_VALUE;
    homes->forget(handle);
    return destroy(handle);
  });
  on_heuristic(platform, [homes](const Platform& under, const CallFacts&, const HeuristicCall& call) {
    return is_elsewhere(*homes, under, call.handle) ? CUBLAS_STATUS_NOT_INITIALIZED : send(under, call);
  });
  on_matmul(platform, [homes](const Platform& under, const CallFacts&, const MatmulCall& call) {
    return is_elsewhere(*homes, under, call.handle) ? CUBLAS_STATUS_NOT_INITIALIZED : send(under, call);
  });
}

void plant_leak_per_handle(Platform& platform) {
  const auto captures = watch_captures(platform);
  in_front_of(platform.lt.create,
              [captures, malloc = platform.cuda.malloc](const auto& real, cublasLtHandle_t* handle) {
                const cublasStatus_t status = real(handle);
                // Allocating would invalidate a capture, which is another fault.
                void* lost = nullptr;
                if (status == CUBLAS_STATUS_SUCCESS && !captures->any())
                  static_cast<void>(malloc(&lost, kLostPerHandle));
                return status;
              });
}

}  // namespace lt_audit::faults
