// Faults in what a graph does when it is launched: what it reads then, what it needs then, what an update changes.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

/// How often each object was destroyed since it was first asked about: an address that is in use again is another
/// object.
class Deaths {
 public:
  int watch(const void* object) {
    const std::lock_guard guard(mutex_);
    return counts_[object];
  }
  void died(const void* object) {
    const std::lock_guard guard(mutex_);
    const auto found = counts_.find(object);
    if (found != counts_.end()) ++found->second;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, int> counts_;
};

/// A matmul as it was captured, with copies of what the caller may change or end.
struct CapturedMatmul {
  CapturedMatmul(const CallFacts& call_facts, const MatmulCall& original, Deaths& deaths)
      : facts(call_facts), call(original) {
    desc_deaths = deaths.watch(call.operands.desc);
    handle_deaths = deaths.watch(call.handle);
    if (call.algo != nullptr) algo = *call.algo;
    if (!has_host_scalars(facts)) return;
    alpha = scalar_at(facts.scale_type, call.alpha);
    beta = scalar_at(facts.scale_type, call.beta);
  }

  CallFacts facts;
  MatmulCall call;
  Scalar alpha, beta;
  cublasLtMatmulAlgo_t algo = {};
  int desc_deaths = 0;
  int handle_deaths = 0;
};
using Captured = std::shared_ptr<const CapturedMatmul>;

/// Runs a captured matmul once more with what its descriptor says now, if that differs. A descriptor that is gone says
/// anything.
void read_descriptor_again(const Platform& real, Deaths& deaths, const CapturedMatmul& captured, cudaStream_t stream) {
  const CallFacts& then = captured.facts;
  MatmulCall call = captured.call;
  if (deaths.watch(call.operands.desc) != captured.desc_deaths) {
    const auto elements = static_cast<std::size_t>(line_length(then.d));
    return scribble(real, call.d, elements * bytes_of(then.d.type), stream);
  }
  if (deaths.watch(call.handle) != captured.handle_deaths) return;
  // Layouts of the captured shapes, so that the call stays within the captured memory whatever became of the caller's.
  const MatrixLayout a = make_layout(real.lt, then.a);
  const MatrixLayout b = make_layout(real.lt, then.b);
  const MatrixLayout c = make_layout(real.lt, then.c);
  const MatrixLayout d = make_layout(real.lt, then.d);
  call.operands = {call.operands.desc, a.get(), b.get(), c.get(), d.get()};
  const auto now = read_facts(real.lt, call.operands);
  // The scalars are kept in the captured form, and one in host memory beside one in device memory is not.
  if (!now || now->epilogue == then.epilogue || now->pointer_mode != then.pointer_mode ||
      now->scale_type != then.scale_type || now->pointer_mode > CUBLASLT_POINTER_MODE_DEVICE_VECTOR) {
    return;
  }
  if (has_host_scalars(then)) {
    call.alpha = captured.alpha.bytes;
    call.beta = captured.beta.bytes;
  }
  if (call.algo != nullptr) call.algo = &captured.algo;
  call.stream = stream;
  if (send(real, call) != CUBLAS_STATUS_SUCCESS) static_cast<void>(send_with_own_algorithm(real, call));
}

/// Device memory that a fault has captured matmuls use, and frees too early.
class LentWorkspace {
 public:
  LentWorkspace(const Platform& real, std::size_t bytes, std::shared_ptr<const OpenCaptures> captures)
      : free_(real.cuda.free), captures_(std::move(captures)), context_(context_now(real)), bytes_(bytes) {
    if (real.cuda.malloc(&memory_, bytes) == cudaSuccess) return;
    memory_ = nullptr;
    static_cast<void>(real.cuda.get_last_error());
  }
  LentWorkspace(const LentWorkspace&) = delete;
  LentWorkspace& operator=(const LentWorkspace&) = delete;
  ~LentWorkspace() { free_now(); }

  /// The memory when it holds so many bytes in the context that is current.
  void* at_least(const Platform& real, std::size_t bytes) const {
    const std::lock_guard guard(mutex_);
    return bytes <= bytes_ && context_now(real) == context_ ? memory_ : nullptr;
  }
  std::size_t bytes() const { return bytes_; }
  void free_now() {
    const std::lock_guard guard(mutex_);
    // Freeing would invalidate a capture, and memory of another context may be gone and in use again.
    if (memory_ != nullptr && !captures_->any()) static_cast<void>(free_(std::exchange(memory_, nullptr)));
  }
  /// Its context ends, and the memory with it; a null context stands for all.
  void end(ContextHandle context) {
    const std::lock_guard guard(mutex_);
    if (context == nullptr || context == context_) memory_ = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  Fn<cudaError_t(void*)> free_;
  std::shared_ptr<const OpenCaptures> captures_;
  ContextHandle context_ = nullptr;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};

/// Lends workspaces to captures, each at least this large: freeing a smaller one may leave it mapped.
constexpr std::size_t kLentBytes = std::size_t{64} << 20;

class Lender {
 public:
  Lender(const Platform& real, std::shared_ptr<const OpenCaptures> captures)
      : real_(real), captures_(std::move(captures)) {}

  /// What the algorithms of a query need.
  void learn(std::span<const cublasLtMatmulHeuristicResult_t> results) {
    for (const auto& result : results) {
      needs_.keep(key_of(result.algo), result.workspaceSize);
      const std::lock_guard guard(mutex_);
      most_ = std::max(most_, result.workspaceSize);
    }
  }
  std::size_t need(const cublasLtMatmulAlgo_t& algo) const { return needs_.find(key_of(algo)).value_or(0); }

  /// Allocates a workspace for the captures to come, unless one is there that no graph has yet.
  void prepare() {
    const std::lock_guard guard(mutex_);
    const bool fresh = spare_ != nullptr && spare_.use_count() == 1 && spare_->at_least(real_, most_) != nullptr;
    if (most_ == 0 || fresh || captures_->any()) return;
    spare_ = std::make_shared<LentWorkspace>(real_, std::max(kLentBytes, most_), captures_);
    std::erase_if(made_, [](const auto& workspace) { return workspace.expired(); });
    made_.push_back(spare_);
  }
  std::shared_ptr<LentWorkspace> lend() const {
    const std::lock_guard guard(mutex_);
    return spare_;
  }
  void end(ContextHandle context) {
    const std::lock_guard guard(mutex_);
    for (const auto& workspace : made_) {
      if (const auto alive = workspace.lock()) alive->end(context);
    }
  }

 private:
  Platform real_;
  std::shared_ptr<const OpenCaptures> captures_;
  Memory<AlgoKey, std::size_t> needs_;
  mutable std::mutex mutex_;
  std::size_t most_ = 0;
  std::shared_ptr<LentWorkspace> spare_;
  std::vector<std::weak_ptr<LentWorkspace>> made_;
};

using Workspaces = CaptureLog<std::shared_ptr<LentWorkspace>>;

/// Captures the call with a workspace of the lender's, where it has one for the algorithm.
cublasStatus_t send_with_lent_workspace(const Platform& real, const Lender& lender, Workspaces& log, MatmulCall call) {
  const auto lent = lender.lend();
  const std::size_t need = lender.need(*call.algo);
  void* const memory = lent == nullptr || need == 0 ? nullptr : lent->at_least(real, need);
  if (memory == nullptr) return send(real, call);
  call.workspace = memory;
  call.workspace_bytes = std::min(call.workspace_bytes, lent->bytes());
  const cublasStatus_t status = send(real, call);
  if (status == CUBLAS_STATUS_SUCCESS) log.captured(call.stream, lent);
  return status;
}

}  // namespace

void plant_descriptor_read_at_replay(Platform& platform) {
  auto real = std::make_shared<const Platform>(platform);
  auto deaths = std::make_shared<Deaths>();
  const auto captures = watch_captures(platform);
  const auto log = follow_captures<Captured>(platform, captures);
  in_front_of(platform.lt.matmul_desc_destroy, [deaths](const auto& destroy, cublasLtMatmulDesc_t desc) {
    deaths->died(desc);
    return destroy(desc);
  });
  in_front_of(platform.lt.destroy, [deaths](const auto& destroy, cublasLtHandle_t handle) {
    deaths->died(handle);
    return destroy(handle);
  });
  in_front_of(platform.cuda.graph_launch,
              [real, deaths, log](const auto& launch, cudaGraphExec_t exec, cudaStream_t stream) {
                const cudaError_t error = launch(exec, stream);
                if (error != cudaSuccess) return error;
                for (const Captured& captured : log->launched(exec).items) {
                  read_descriptor_again(*real, *deaths, *captured, stream);
                }
                return error;
              });
  on_matmul(platform, [deaths, captures, log](const Platform& under, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(under, call);
    if (status == CUBLAS_STATUS_SUCCESS && captures->capture(under, call.stream)) {
      log->captured(call.stream, std::make_shared<const CapturedMatmul>(facts, call, *deaths));
    }
    return status;
  });
}

void plant_exec_update_ignored(Platform& platform) {
  in_front_of(platform.cuda.graph_exec_update,
              [](const auto& real, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult* result) {
                if (exec == nullptr || graph == nullptr || result == nullptr) return real(exec, graph, result);
                *result = cudaGraphExecUpdateSuccess;
                return cudaSuccess;
              });
}

void plant_replay_reads_freed_workspace(Platform& platform) {
  const Platform real = platform;
  const auto captures = watch_captures(platform);
  auto lender = std::make_shared<Lender>(real, captures);
  in_front_of(platform.cuda.stream_begin_capture,
              [lender](const auto& begin, cudaStream_t stream, cudaStreamCaptureMode mode) {
                lender->prepare();
                return begin(stream, mode);
              });
  const auto log = follow_captures<std::shared_ptr<LentWorkspace>>(platform, captures);
  before_context_ends(platform, [lender](ContextHandle context) { lender->end(context); });
  on_heuristic(platform, [lender](const Platform& under, const CallFacts&, const HeuristicCall& call) {
    const cublasStatus_t status = send(under, call);
    lender->learn(results_of(call, status));
    lender->prepare();
    return status;
  });
  on_matmul(platform, [lender, captures, log](const Platform& under, const CallFacts&, const MatmulCall& call) {
    // A workspace that the library may refuse stays the caller's.
    const bool targeted = call.workspace != nullptr && misalignment(call.workspace, 256) == 0 && call.algo != nullptr &&
                          captures->capture(under, call.stream);
    return targeted ? send_with_lent_workspace(under, *lender, *log, call) : send(under, call);
  });
  in_front_of(platform.cuda.graph_launch, [log](const auto& launch, cudaGraphExec_t exec, cudaStream_t stream) {
    const auto launched = log->launched(exec);
    for (const auto& workspace : launched.items) {
      if (launched.number >= 2) workspace->free_now();
    }
    return launch(exec, stream);
  });
}

}  // namespace lt_audit::faults
