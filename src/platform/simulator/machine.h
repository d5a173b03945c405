// The simulated machine: devices, contexts and memory with bounds. Device pointers are real host addresses, so products
// and kernels are ordinary loops; every access is checked against the live allocations first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lt_audit/platform.h"
#include "platform/platforms.h"

namespace lt_audit::simulator {

/// A CUDA context: one address space and one error state. Contexts stay allocated until the machine goes, so that a
/// stale pointer to one is recognised instead of followed.
struct Context {
  int device = 0;
  bool primary = false;
  bool alive = true;
  /// A fault of work that ran; it makes all later work of the context a no-op.
  cudaError_t fault = cudaSuccess;
  /// A synchronising call has returned the fault: from here on every call of the context returns it.
  bool fault_reported = false;
};

/// What one thread has selected. CUDA keeps the current device, the context stack and the last error per thread.
struct ThreadState {
  int device = 0;
  std::vector<Context*> stack;
  cudaError_t last_error = cudaSuccess;
};

/// One piece of memory that work reads or writes.
struct Access {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};

/// Work as a stream executes it: the memory it touches and what it does. Kept by value in graphs, so everything that is
/// fixed at the call (scalars in host memory) must be captured by value.
struct Work {
  Context* context = nullptr;
  std::vector<Access> accesses;
  std::function<void()> run;
};

/// How a span lies in memory, seen from one context.
enum class Reach {
  live,      ///< inside one allocation that the context can address
  past_end,  ///< starts inside one and runs past its end
  unknown,   ///< starts in none, or in one of another context
};

/// Devices, contexts and memory. Not synchronised: callers hold `mutex` (recursive, since the logger's callback may
/// call back).
class Machine {
 public:
  explicit Machine(const SimulatorOptions& options) : options_(options), primaries_(device_slots(options), nullptr) {}
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::recursive_mutex mutex;

  const SimulatorOptions& options() const { return options_; }
  ThreadState& thread() { return threads_[std::this_thread::get_id()]; }

  /// Keeps an error as the thread's last error and returns it.
  cudaError_t record(cudaError_t error);
  /// cudaGetLastError; a reported fault of the current context stays, other errors are cleared if `clear`.
  cudaError_t last_error(bool clear);

  /// The current context of the calling thread, made if it has none yet. cudaErrorContextIsDestroyed, or the context's
  /// fault once it was reported.
  cudaError_t current(Context** context);
  /// The device of the current context, or the selected one; never fails.
  int current_device();

  cudaError_t set_device(int device);
  cudaError_t create_context(Context** context, int device);
  /// Kills the context and everything in it; streams and events go through the hook that Streams installs.
  cudaError_t destroy_context(Context* context);
  cudaError_t set_current(Context* context);
  Context* context_on_top();
  /// Kills every context of the current device; the next call makes a fresh primary context.
  cudaError_t reset_device();

  /// Device memory of the current context, page aligned. A size of 0 gives a null pointer.
  cudaError_t allocate(void** pointer, std::size_t bytes, bool host);
  cudaError_t release(void* pointer, bool host);
  cudaError_t memory_info(std::size_t* free_bytes, std::size_t* total_bytes);

  Reach reach(const Context& from, const Access& access) const;
  /// The device whose memory holds the address, -1 for host memory and unknown addresses.
  int device_of(const void* address) const;

  /// Runs work now, unless its context has a fault. An access out of bounds becomes the context's fault and the work is
  /// dropped, as a GPU stops a kernel.
  void execute(const Work& work);
  /// Returns the context's fault, if it has one, and marks it as reported.
  cudaError_t report_fault(Context& context);

  /// Called for every context that dies, before it does.
  std::function<void(Context&)> on_context_death;

 private:
  struct Allocation {
    std::size_t bytes = 0;
    std::size_t mapped = 0;
    Context* context = nullptr;
    bool host = false;
  };
  using Allocations = std::map<std::uintptr_t, Allocation>;

  static std::size_t device_slots(const SimulatorOptions& options) {
    return static_cast<std::size_t>(options.device_count > 0 ? options.device_count : 0);
  }
  Context* add_context(int device, bool primary);
  Allocations::const_iterator holder_of(const void* address) const;
  std::uint64_t used_bytes(int device) const;
  void kill(Context& context);
  Allocations::iterator unmap(Allocations::iterator position);

  SimulatorOptions options_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<Context*> primaries_;
  std::map<std::thread::id, ThreadState> threads_;
  Allocations allocations_;
};

}  // namespace lt_audit::simulator
