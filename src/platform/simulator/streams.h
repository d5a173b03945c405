// Streams, events, capture and graphs of the simulated machine. Work runs at the call, in order, unless the stream
// captures or is occupied. What is enqueued behind the kernel that occupies a stream waits until something waits for
// it: the latest time that CUDA's rules allow, so that work that does not wait for it as it should shows.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "platform/simulator/machine.h"

namespace lt_audit::simulator {

struct Stream;

/// One capture sequence: the stream it began on and those that joined it through events.
struct Capture {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id owner;
  Stream* origin = nullptr;
  bool valid = true;
  std::vector<Work> nodes;
  /// Joined streams whose last work no other stream of the capture waits for.
  std::map<Stream*, bool> unjoined;
};

/// One record of an event: a point in the order of a stream.
struct Marker {
  Stream* stream = nullptr;
  bool reached = false;
  std::chrono::steady_clock::time_point time;
};

/// What waits on a stream, in its order.
struct Waiting {
  Work work;
  /// Another stream's point that must be reached first, and this stream's that is reached then.
  std::shared_ptr<Marker> after;
  std::shared_ptr<Marker> marks;
};

struct Stream {
  Stream(Context* owner, bool is_blocking, bool is_legacy) : context(owner), blocking(is_blocking), legacy(is_legacy) {}

  /// Later work waits too.
  bool busy() const { return occupied || !queue.empty(); }

  Context* context = nullptr;
  /// Synchronises with the legacy stream (created without cudaStreamNonBlocking).
  bool blocking = true;
  bool legacy = false;
  std::shared_ptr<Capture> capture;
  /// Counts what was captured on the stream.
  std::size_t captured_work = 0;
  /// A kernel that takes its time is in front of the queue.
  bool occupied = false;
  std::deque<Waiting> queue;
};

struct Event {
  Context* context = nullptr;
  /// The last record outside of a capture; null when there was none.
  std::shared_ptr<Marker> marker;
  /// Set when the last record was captured: the capture and the stream it was recorded on.
  std::weak_ptr<Capture> capture;
  Stream* captured_on = nullptr;
  /// Stream::captured_work at the record: later work of the stream is not covered by waiting for the event.
  std::size_t captured_work = 0;
};

/// Rules of stream capture: CUDA Programming Guide, section 4.2.2.1.2 ("Prohibited and Unhandled Operations",
/// "Invalidation"), and cuda_runtime_api.h 13.0 at cudaStreamBeginCapture and cudaThreadExchangeStreamCaptureMode.
class Streams {
 public:
  explicit Streams(Machine& machine);

  cudaError_t create(cudaStream_t* stream, unsigned flags);
  /// Priorities order what runs at one time, which nothing does here: one out of range is clamped, as the CUDA runtime
  /// does (cuda_runtime_api.h 13.0, cudaStreamCreateWithPriority).
  cudaError_t priority_range(int* least, int* greatest);
  cudaError_t destroy(cudaStream_t handle);
  cudaError_t synchronize(cudaStream_t handle);
  cudaError_t synchronize_device();
  cudaError_t wait_event(cudaStream_t handle, cudaEvent_t event);

  cudaError_t create_event(cudaEvent_t* event);
  cudaError_t destroy_event(cudaEvent_t event);
  cudaError_t record_event(cudaEvent_t event, cudaStream_t handle);
  cudaError_t synchronize_event(cudaEvent_t event);
  cudaError_t elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

  cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode);
  cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* graph);
  cudaError_t is_capturing(cudaStream_t handle, cudaStreamCaptureStatus* status);
  cudaError_t node_count(cudaGraph_t graph, std::size_t* count);
  cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph);
  cudaError_t launch(cudaGraphExec_t exec, cudaStream_t handle);
  /// Takes the parameters of a graph of the same topology (CUDA Programming Guide, section "Whole Graph Update");
  /// cudaErrorGraphExecUpdateFailure, with the reason in `result`, for another one: the executable stays as it was.
  cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult* result);
  cudaError_t destroy_graph(cudaGraph_t graph);
  cudaError_t destroy_exec(cudaGraphExec_t exec);

  /// Resolves a handle, the special ones (null, legacy, per thread) for the current context.
  /// cudaErrorInvalidResourceHandle for one that does not exist (any more); errors of Machine::current.
  cudaError_t resolve(cudaStream_t handle, Stream** stream);

  /// Runs or captures work of the stream's context. cudaErrorStreamCaptureImplicit for the legacy stream beside a
  /// capturing blocking stream, which also invalidates that capture.
  cudaError_t submit(Stream& stream, Work work);

  /// From here on work of the stream waits; captured, it is a node that does nothing.
  cudaError_t occupy(Stream& stream);
  /// Runs what waits on the stream, up to a point of it when one is given.
  void drain(Stream& stream, const Marker* until = nullptr);
  /// Runs what waits in a context.
  void drain(const Context& context);

  /// A call that CUDA names potentially unsafe under capture (cudaMalloc is its example): refused, and the capture
  /// invalidated, when this thread has a capture that is not relaxed, or any thread a global one.
  cudaError_t unsafe_call();

 private:
  /// Handles count up from an address that is never mapped and are never used twice.
  template <class Handle>
  Handle next_handle();
  template <class Table, class Handle, class Object>
  static cudaError_t find(Table& table, Handle handle, Object** object);
  void on_context_death(const Context& context);
  std::vector<Stream*> all_streams();
  void invalidate_captures(const Context& context, bool blocking_only, bool* any);
  void leave_capture(const std::shared_ptr<Capture>& capture);
  static void touch(Stream& stream);
  /// The implicit order between the legacy stream and the blocking ones of its context: what came first has run.
  void keep_legacy_order(const Stream& stream);

  Machine& machine_;
  std::uintptr_t handles_ = 0x1000;
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::map<const Context*, std::unique_ptr<Stream>> legacy_;
  std::map<std::pair<const Context*, std::thread::id>, std::unique_ptr<Stream>> per_thread_;
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  std::map<cudaGraph_t, std::unique_ptr<std::vector<Work>>> graphs_;
  std::map<cudaGraphExec_t, std::unique_ptr<std::vector<Work>>> execs_;
};

}  // namespace lt_audit::simulator
