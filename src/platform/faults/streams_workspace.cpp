// Faults in the order of a call with what stands before and behind it, and in what calls on several streams share.
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

/// Calls forget() whenever the host waits for work, or orders streams by an event.
template <class Forget>
void when_ordered(CudaApi& cuda, Forget forget) {
  const auto first = [forget](const auto& real, auto... arguments) {
    forget();
    return real(arguments...);
  };
  in_front_of(cuda.stream_synchronize, first);
  in_front_of(cuda.device_synchronize, first);
  in_front_of(cuda.event_synchronize, first);
  in_front_of(cuda.event_record, first);
  in_front_of(cuda.stream_wait_event, first);
  in_front_of(cuda.stream_destroy, first);
  in_front_of(cuda.graph_launch, first);
}

/// What was kept last under a key, until streams are ordered.
template <class Key, class Value>
class Latest {
 public:
  /// The value so far; nothing when there is none.
  std::optional<Value> exchange(const Key& key, const Value& value) {
    const std::lock_guard guard(mutex_);
    const auto [position, is_new] = values_.try_emplace(key, value);
    if (is_new) return std::nullopt;
    return std::exchange(position->second, value);
  }
  std::optional<Value> find(const Key& key) const {
    const std::lock_guard guard(mutex_);
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional<Value>(found->second);
  }
  void forget() {
    const std::lock_guard guard(mutex_);
    values_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, Value> values_;
};

/// A call with device scalars, with what the caller may change of it.
struct ScalarCall {
  MatmulCall call;
  cublasLtMatmulAlgo_t algo = {};
  bool has_algo = false;
};
using ScalarCalls = Latest<cudaStream_t, ScalarCall>;

/// The last call of the stream once more, when its alpha was written now.
void read_alpha_again(const Platform& real, const ScalarCalls& calls, const void* written, std::size_t bytes,
                      cudaStream_t stream) {
  auto last = calls.find(stream);
  const auto* const begin = static_cast<const std::byte*>(written);
  if (!last || last->call.alpha < begin || last->call.alpha >= begin + bytes) return;
  if (last->has_algo) last->call.algo = &last->algo;
  static_cast<void>(send(real, last->call));
}

}  // namespace

void plant_device_scalar_read_late(Platform& platform) {
  auto under = std::make_shared<const Platform>(platform);
  auto calls = std::make_shared<ScalarCalls>();
  const auto captures = watch_captures(platform);
  when_ordered(platform.cuda, [calls] { calls->forget(); });
  const auto objects_end = [calls](const auto& real, auto object) {
    calls->forget();
    return real(object);
  };
  in_front_of(platform.lt.matmul_desc_destroy, objects_end);
  in_front_of(platform.lt.matrix_layout_destroy, objects_end);
  in_front_of(platform.lt.destroy, objects_end);
  in_front_of(platform.cuda.memcpy_async, [under, calls](const auto& real, void* to, const void* from,
                                                         std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const cudaError_t error = real(to, from, bytes, kind, stream);
    if (error == cudaSuccess) read_alpha_again(*under, *calls, to, bytes, stream);
    return error;
  });
  in_front_of(platform.kernels.copy_late, [under, calls](const auto& real, void* to, const void* from,
                                                         std::size_t bytes, std::int64_t ns, cudaStream_t stream) {
    const cudaError_t error = real(to, from, bytes, ns, stream);
    if (error == cudaSuccess) read_alpha_again(*under, *calls, to, bytes, stream);
    return error;
  });
  on_matmul(platform, [calls, captures](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    // Run again in place it would add its product twice.
    const bool targeted =
        facts.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE && call.c != call.d && !captures->capture(real, call.stream);
    if (status != CUBLAS_STATUS_SUCCESS || !targeted) return status;
    ScalarCall kept{call, {}, call.algo != nullptr};
    if (kept.has_algo) kept.algo = *call.algo;
    static_cast<void>(calls->exchange(call.stream, kept));
    return status;
  });
}

void plant_split_k_state_per_handle(Platform& platform) {
  auto streams = std::make_shared<Latest<cublasLtHandle_t, cudaStream_t>>();
  const auto captures = watch_captures(platform);
  when_ordered(platform.cuda, [streams] { streams->forget(); });
  on_matmul(platform, [streams, captures](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = status == CUBLAS_STATUS_SUCCESS && needed_workspace(real, call) > 0;
    if (!targeted || captures->capture(real, call.stream)) return status;
    const auto before = streams->exchange(call.handle, call.stream);
    if (before && *before != call.stream) spoil_middle_element(real, facts, call);
    return status;
  });
}

void plant_stream_ignored(Platform& platform) {
  auto own = std::make_shared<PrivateStream>(platform);
  const auto captures = watch_captures(platform);
  before_context_ends(platform, [own](ContextHandle context) { own->end(context); });
  on_matmul(platform, [own, captures](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const bool targeted = facts.inputs_are(CUDA_R_32F) && !captures->any();
    if (targeted) own->make_if_missing();
    const cudaStream_t instead = targeted ? own->get() : nullptr;
    if (instead != nullptr) call.stream = instead;
    return send(real, call);
  });
}

void plant_workspace_reused_too_early(Platform& platform) {
  auto workspaces = std::make_shared<Latest<cudaStream_t, const void*>>();
  const auto captures = watch_captures(platform);
  when_ordered(platform.cuda, [workspaces] { workspaces->forget(); });
  on_matmul(platform, [workspaces, captures](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = status == CUBLAS_STATUS_SUCCESS && facts.inputs_are(CUDA_R_16F) &&
                          call.workspace != nullptr && needed_workspace(real, call) > 0;
    if (!targeted || captures->capture(real, call.stream)) return status;
    const auto before = workspaces->exchange(call.stream, call.workspace);
    if (before && *before == call.workspace) spoil_middle_element(real, facts, call);
    return status;
  });
}

}  // namespace lt_audit::faults
