// What faults on sequences of calls remember from one call to the next: algorithms and objects, the captures that are
// on, and which graph holds what was captured. All of it may be called from several threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "platform/faults/fault.h"

namespace lt_audit::faults {

/// Puts body(real function, arguments...) in the place of a function; an empty one stays empty.
template <class Result, class... Arguments, class Body>
void in_front_of(Fn<Result(Arguments...)>& function, Body body) {
  if (!function) return;
  function = [real = std::move(function), body = std::move(body)](Arguments... arguments) -> Result {
    return body(real, arguments...);
  };
}

/// The 64 bytes of an algorithm, which are all that tells one from another.
using AlgoKey = std::array<std::uint64_t, std::size(cublasLtMatmulAlgo_t{}.data)>;
AlgoKey key_of(const cublasLtMatmulAlgo_t& algo);

/// Values by key. Bounded, so that an audit of any length fits: the entry that was written first goes first.
template <class Key, class Value>
class Memory {
 public:
  void keep(const Key& key, Value value) {
    const std::lock_guard guard(mutex_);
    erase(key);
    insert(key, std::move(value));
  }
  /// Keeps the value unless there is one already; returns the one that stands.
  Value keep_first(const Key& key, Value value) {
    const std::lock_guard guard(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) return found->second.value;
    insert(key, value);
    return value;
  }
  std::optional<Value> find(const Key& key) const {
    const std::lock_guard guard(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? std::nullopt : std::optional<Value>(found->second.value);
  }
  void forget(const Key& key) {
    const std::lock_guard guard(mutex_);
    erase(key);
  }

 private:
  static constexpr std::size_t kMost = 65536;
  struct Entry {
    Value value;
    std::uint64_t written = 0;
  };

  void insert(const Key& key, Value value) {
    if (entries_.size() == kMost) erase(Key(order_.begin()->second));
    entries_.emplace(key, Entry{std::move(value), ++writes_});
    order_.emplace(writes_, key);
  }
  void erase(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    order_.erase(found->second.written);
    entries_.erase(found);
  }

  mutable std::mutex mutex_;
  std::uint64_t writes_ = 0;
  std::map<Key, Entry> entries_;
  std::map<std::uint64_t, Key> order_;
};

/// The algorithms that a heuristic query returned; empty unless it succeeded.
std::span<cublasLtMatmulHeuristicResult_t> results_of(const HeuristicCall& call, cublasStatus_t status);

/// The current context; null when there is none or when that cannot be asked.
ContextHandle context_now(const Platform& platform);

/// A non-blocking stream in the context that was current when it was made.
class PrivateStream {
 public:
  explicit PrivateStream(const Platform& real) : real_(real) {}

  void make_if_missing() {
    const std::lock_guard guard(mutex_);
    if (stream_) return;
    const ContextHandle context = context_now(real_);
    cudaStream_t stream = nullptr;
    if (context == nullptr || real_.cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking) != cudaSuccess)
      return;
    stream_ = Stream(real_.cuda, stream);
    context_ = context;
  }
  /// Null when there is none in the current context.
  cudaStream_t get() const {
    const std::lock_guard guard(mutex_);
    return stream_ && context_now(real_) == context_ ? stream_.get() : nullptr;
  }
  /// Destroys the stream when its context ends; a null context stands for all.
  void end(ContextHandle context) {
    const std::lock_guard guard(mutex_);
    if (stream_ && (context == nullptr || context == context_)) stream_.reset();
  }

 private:
  mutable std::mutex mutex_;
  Platform real_;
  ContextHandle context_ = nullptr;
  Stream stream_;
};

/// Calls end(context) before a context is destroyed, and end(null) before the device is reset.
template <class End>
void before_context_ends(Platform& platform, End end) {
  in_front_of(platform.cuda.ctx_destroy, [end](const auto& real, ContextHandle context) {
    end(context);
    return real(context);
  });
  in_front_of(platform.cuda.device_reset, [end](const auto& real) {
    end(nullptr);
    return real();
  });
}

/// The captures that are on, by the stream that they began on.
class OpenCaptures {
 public:
  void begun(cudaStream_t stream);
  void ended(cudaStream_t stream);
  bool any() const;
  /// True when work on the stream is captured. Asks the platform only while a capture is on, so that other calls leave
  /// no trace.
  bool capture(const Platform& real, cudaStream_t stream) const;

 private:
  mutable std::mutex mutex_;
  /// A multiset, since cudaStreamPerThread is one value for many streams.
  std::multiset<cudaStream_t> origins_;
};

/// True when cudaStreamEndCapture ended the capture, whether or not there is a graph.
bool ends_capture(cudaError_t answer);

/// Begins to watch the captures of a platform.
std::shared_ptr<OpenCaptures> watch_captures(Platform& platform);

/// Follows items from the stream that they were captured on into graphs and executables.
template <class Item>
class CaptureLog {
 public:
  struct Launch {
    std::vector<Item> items;
    /// Of this executable, from 1.
    int number = 0;
  };

  explicit CaptureLog(std::shared_ptr<const OpenCaptures> open) : open_(std::move(open)) {}

  void captured(cudaStream_t stream, Item item) {
    const std::lock_guard guard(mutex_);
    pending_.emplace_back(stream, std::move(item));
  }
  /// What the capture that ended on the stream held. Other streams join a capture through events, which the tables do
  /// not tell: their items go to the last capture that was on.
  std::vector<Item> take(cudaStream_t stream) {
    const std::lock_guard guard(mutex_);
    std::vector<Item> taken;
    std::vector<std::pair<cudaStream_t, Item>> left;
    for (auto& [on, item] : pending_) {
      if (on == stream || !open_->any()) {
        taken.push_back(std::move(item));
      } else {
        left.emplace_back(on, std::move(item));
      }
    }
    pending_ = std::move(left);
    return taken;
  }
  void ended(cudaGraph_t graph, std::vector<Item> items) {
    const std::lock_guard guard(mutex_);
    graphs_[graph] = std::move(items);
  }
  /// An executable was made from the graph or takes its work over.
  void instantiated(cudaGraphExec_t exec, cudaGraph_t graph) {
    const std::lock_guard guard(mutex_);
    const auto found = graphs_.find(graph);
    execs_[exec] = {found == graphs_.end() ? std::vector<Item>{} : found->second, 0};
  }
  /// Counts one more launch.
  Launch launched(cudaGraphExec_t exec) {
    const std::lock_guard guard(mutex_);
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return {};
    ++found->second.number;
    return found->second;
  }
  void destroyed(cudaGraph_t graph) { drop(graphs_, graph); }
  void destroyed(cudaGraphExec_t exec) { drop(execs_, exec); }

 private:
  /// The end of an item may call the platform, so it comes after the lock.
  template <class Table, class Handle>
  void drop(Table& table, Handle handle) {
    typename Table::node_type dropped;
    const std::lock_guard guard(mutex_);
    dropped = table.extract(handle);
  }

  std::shared_ptr<const OpenCaptures> open_;
  std::mutex mutex_;
  std::vector<std::pair<cudaStream_t, Item>> pending_;
  std::map<cudaGraph_t, std::vector<Item>> graphs_;
  std::map<cudaGraphExec_t, Launch> execs_;
};

/// Begins to follow what is captured on a platform. `open` watches the same platform and was planted before. An object
/// is forgotten before it is destroyed, since its handle may be given out again at once.
template <class Item>
std::shared_ptr<CaptureLog<Item>> follow_captures(Platform& platform, std::shared_ptr<const OpenCaptures> open) {
  auto log = std::make_shared<CaptureLog<Item>>(std::move(open));
  CudaApi& cuda = platform.cuda;
  in_front_of(cuda.stream_begin_capture, [log](const auto& real, cudaStream_t stream, cudaStreamCaptureMode mode) {
    const cudaError_t error = real(stream, mode);
    // Left over from a stream that was destroyed while it captured.
    if (error == cudaSuccess) static_cast<void>(log->take(stream));
    return error;
  });
  in_front_of(cuda.stream_end_capture, [log](const auto& real, cudaStream_t stream, cudaGraph_t* graph) {
    const cudaError_t error = real(stream, graph);
    if (ends_capture(error)) {
      auto items = log->take(stream);
      if (error == cudaSuccess) log->ended(*graph, std::move(items));
    }
    return error;
  });
  in_front_of(cuda.graph_instantiate, [log](const auto& real, cudaGraphExec_t* exec, cudaGraph_t graph) {
    const cudaError_t error = real(exec, graph);
    if (error == cudaSuccess) log->instantiated(*exec, graph);
    return error;
  });
  in_front_of(cuda.graph_exec_update,
              [log](const auto& real, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult* result) {
                const cudaError_t error = real(exec, graph, result);
                if (error == cudaSuccess) log->instantiated(exec, graph);
                return error;
              });
  in_front_of(cuda.graph_destroy, [log](const auto& real, cudaGraph_t graph) {
    log->destroyed(graph);
    return real(graph);
  });
  in_front_of(cuda.graph_exec_destroy, [log](const auto& real, cudaGraphExec_t exec) {
    log->destroyed(exec);
    return real(exec);
  });
  return log;
}

}  // namespace lt_audit::faults
