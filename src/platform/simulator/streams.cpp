// Streams and events: eager execution, queues of occupied streams and the default-stream rules.
#include "platform/simulator/streams.h"

#include <bit>
#include <utility>

namespace lt_audit::simulator {
namespace {

bool is_legacy(cudaStream_t handle) {
  return handle == nullptr || handle == std::bit_cast<cudaStream_t>(std::uintptr_t{1});
}
bool is_per_thread(cudaStream_t handle) { return handle == std::bit_cast<cudaStream_t>(std::uintptr_t{2}); }

}  // namespace

Streams::Streams(Machine& machine) : machine_(machine) {
  machine_.on_context_death = [this](const Context& context) { on_context_death(context); };
}

template <class Handle>
Handle Streams::next_handle() {
  handles_ += 0x10;
  return std::bit_cast<Handle>(handles_);
}

template <class Table, class Handle, class Object>
cudaError_t Streams::find(Table& table, Handle handle, Object** object) {
  const auto position = table.find(handle);
  if (position == table.end()) return cudaErrorInvalidResourceHandle;
  *object = position->second.get();
  return cudaSuccess;
}

std::vector<Stream*> Streams::all_streams() {
  std::vector<Stream*> all;
  for (const auto& [handle, stream] : streams_) all.push_back(stream.get());
  for (const auto& [key, stream] : per_thread_) all.push_back(stream.get());
  return all;
}

void Streams::on_context_death(const Context& context) {
  for (Stream* stream : all_streams()) {
    if (stream->context == &context && stream->capture != nullptr) leave_capture(std::shared_ptr(stream->capture));
  }
  const auto drop_queue = [&](Stream& stream) {
    if (stream.context != &context) return;
    // Nobody has to wait for work that is gone.
    for (const Waiting& waiting : std::exchange(stream.queue, {})) {
      if (waiting.marks != nullptr) waiting.marks->reached = true;
    }
  };
  for (Stream* stream : all_streams()) drop_queue(*stream);
  for (const auto& [key, stream] : legacy_) drop_queue(*stream);
  std::erase_if(streams_, [&](const auto& entry) { return entry.second->context == &context; });
  std::erase_if(legacy_, [&](const auto& entry) { return entry.first == &context; });
  std::erase_if(per_thread_, [&](const auto& entry) { return entry.first.first == &context; });
  std::erase_if(events_, [&](const auto& entry) { return entry.second->context == &context; });
}

cudaError_t Streams::resolve(cudaStream_t handle, Stream** stream) {
  Context* context = nullptr;
  if (const cudaError_t error = machine_.current(&context); error != cudaSuccess) return error;
  if (is_legacy(handle)) {
    auto& slot = legacy_[context];
    if (slot == nullptr) slot = std::make_unique<Stream>(context, true, true);
    *stream = slot.get();
    return cudaSuccess;
  }
  if (is_per_thread(handle)) {
    auto& slot = per_thread_[{context, std::this_thread::get_id()}];
    if (slot == nullptr) slot = std::make_unique<Stream>(context, true, false);
    *stream = slot.get();
    return cudaSuccess;
  }
  if (const cudaError_t error = find(streams_, handle, stream); error != cudaSuccess) return error;
  const Context& own = *(*stream)->context;
  return own.fault_reported ? own.fault : cudaSuccess;
}

cudaError_t Streams::create(cudaStream_t* stream, unsigned flags) {
  if (stream == nullptr || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) return cudaErrorInvalidValue;
  Context* context = nullptr;
  if (const cudaError_t error = machine_.current(&context); error != cudaSuccess) return error;
  *stream = next_handle<cudaStream_t>();
  streams_.emplace(*stream, std::make_unique<Stream>(context, flags == cudaStreamDefault, false));
  return cudaSuccess;
}

cudaError_t Streams::priority_range(int* least, int* greatest) {
  Context* context = nullptr;
  if (const cudaError_t error = machine_.current(&context); error != cudaSuccess) return error;
  // As an H200 has them.
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

cudaError_t Streams::destroy(cudaStream_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = find(streams_, handle, &stream); error != cudaSuccess) return error;
  // What waits runs all the same (cuda_runtime_api.h 13.0, cudaStreamDestroy).
  drain(*stream);
  if (stream->capture != nullptr) leave_capture(std::shared_ptr(stream->capture));
  for (auto& [key, event] : events_) {
    if (event->captured_on == stream) event->captured_on = nullptr;
  }
  const Context& context = *stream->context;
  const cudaError_t result = context.fault_reported ? context.fault : cudaSuccess;
  streams_.erase(handle);
  return result;
}

void Streams::touch(Stream& stream) {
  ++stream.captured_work;
  const auto position = stream.capture->unjoined.find(&stream);
  if (position != stream.capture->unjoined.end()) position->second = true;
}

cudaError_t Streams::occupy(Stream& stream) {
  if (const cudaError_t error = submit(stream, {nullptr, {}, [] {}}); error != cudaSuccess) return error;
  if (stream.capture == nullptr) stream.occupied = true;
  return cudaSuccess;
}

void Streams::drain(Stream& stream, const Marker* until) {
  while (!stream.queue.empty() && (until == nullptr || !until->reached)) {
    const Waiting next = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (next.after != nullptr && !next.after->reached) drain(*next.after->stream, next.after.get());
    if (next.work.run != nullptr) machine_.execute(next.work);
    if (next.marks == nullptr) continue;
    next.marks->reached = true;
    next.marks->time = std::chrono::steady_clock::now();
  }
  if (stream.queue.empty()) stream.occupied = false;
}

void Streams::drain(const Context& context) {
  for (Stream* stream : all_streams()) {
    if (stream->context == &context) drain(*stream);
  }
  const auto legacy = legacy_.find(&context);
  if (legacy != legacy_.end()) drain(*legacy->second);
}

void Streams::keep_legacy_order(const Stream& stream) {
  if (stream.legacy) {
    for (Stream* other : all_streams()) {
      if (other->context == stream.context && other->blocking) drain(*other);
    }
  } else if (stream.blocking) {
    const auto legacy = legacy_.find(stream.context);
    if (legacy != legacy_.end()) drain(*legacy->second);
  }
}

cudaError_t Streams::submit(Stream& stream, Work work) {
  work.context = stream.context;
  if (stream.capture != nullptr) {
    if (!stream.capture->valid) return cudaErrorStreamCaptureInvalidated;
    stream.capture->nodes.push_back(std::move(work));
    touch(stream);
    return cudaSuccess;
  }
  if (stream.legacy) {
    bool any = false;
    invalidate_captures(*stream.context, true, &any);
    if (any) return cudaErrorStreamCaptureImplicit;
  }
  keep_legacy_order(stream);
  if (stream.busy()) {
    stream.queue.push_back({std::move(work), nullptr, nullptr});
  } else {
    machine_.execute(work);
  }
  return cudaSuccess;
}

cudaError_t Streams::synchronize(cudaStream_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(handle, &stream); error != cudaSuccess) return error;
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
    return cudaErrorStreamCaptureUnsupported;
  }
  if (stream->legacy) {
    bool any = false;
    invalidate_captures(*stream->context, true, &any);
    if (any) return cudaErrorStreamCaptureImplicit;
    keep_legacy_order(*stream);
  }
  drain(*stream);
  return machine_.report_fault(*stream->context);
}

cudaError_t Streams::synchronize_device() {
  Context* context = nullptr;
  if (const cudaError_t error = machine_.current(&context); error != cudaSuccess) return error;
  bool any = false;
  invalidate_captures(*context, false, &any);
  if (any) return cudaErrorStreamCaptureUnsupported;
  drain(*context);
  return machine_.report_fault(*context);
}

cudaError_t Streams::create_event(cudaEvent_t* event) {
  if (event == nullptr) return cudaErrorInvalidValue;
  Context* context = nullptr;
  if (const cudaError_t error = machine_.current(&context); error != cudaSuccess) return error;
  *event = next_handle<cudaEvent_t>();
  auto created = std::make_unique<Event>();
  created->context = context;
  events_.emplace(*event, std::move(created));
  return cudaSuccess;
}

cudaError_t Streams::destroy_event(cudaEvent_t event) {
  return events_.erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t Streams::record_event(cudaEvent_t handle, cudaStream_t stream_handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(stream_handle, &stream); error != cudaSuccess) return error;
  Event* event = nullptr;
  if (const cudaError_t error = find(events_, handle, &event); error != cudaSuccess) return error;
  if (event->context != stream->context) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) {
    if (!stream->capture->valid) return cudaErrorStreamCaptureInvalidated;
    event->capture = stream->capture;
    event->captured_on = stream;
    event->captured_work = stream->captured_work;
    return cudaSuccess;
  }
  if (const cudaError_t error = submit(*stream, {nullptr, {}, [] {}}); error != cudaSuccess) return error;
  event->capture.reset();
  event->captured_on = nullptr;
  event->marker = std::make_shared<Marker>();
  event->marker->stream = stream;
  if (stream->busy()) {
    stream->queue.push_back({{}, nullptr, event->marker});
  } else {
    event->marker->reached = true;
    event->marker->time = std::chrono::steady_clock::now();
  }
  return cudaSuccess;
}

cudaError_t Streams::synchronize_event(cudaEvent_t handle) {
  Event* event = nullptr;
  if (const cudaError_t error = find(events_, handle, &event); error != cudaSuccess) return error;
  if (event->captured_on != nullptr) {
    if (const auto capture = event->capture.lock()) capture->valid = false;
    return cudaErrorCapturedEvent;
  }
  const auto marker = event->marker;
  if (marker != nullptr && !marker->reached) drain(*marker->stream, marker.get());
  return machine_.report_fault(*event->context);
}

cudaError_t Streams::elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (milliseconds == nullptr) return cudaErrorInvalidValue;
  Event* first = nullptr;
  Event* last = nullptr;
  if (const cudaError_t error = find(events_, start, &first); error != cudaSuccess) return error;
  if (const cudaError_t error = find(events_, end, &last); error != cudaSuccess) return error;
  if (first->captured_on != nullptr || last->captured_on != nullptr) return cudaErrorCapturedEvent;
  if (first->marker == nullptr || last->marker == nullptr || first->context != last->context) {
    return cudaErrorInvalidResourceHandle;
  }
  if (!first->marker->reached || !last->marker->reached) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(last->marker->time - first->marker->time).count();
  return cudaSuccess;
}

cudaError_t Streams::wait_event(cudaStream_t stream_handle, cudaEvent_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(stream_handle, &stream); error != cudaSuccess) return error;
  Event* event = nullptr;
  if (const cudaError_t error = find(events_, handle, &event); error != cudaSuccess) return error;
  const auto capture = event->capture.lock();
  if (event->captured_on == nullptr || capture == nullptr) {
    if (stream->capture == nullptr) {
      const cudaError_t error = submit(*stream, {nullptr, {}, [] {}});
      const bool pending = event->marker != nullptr && !event->marker->reached;
      if (error == cudaSuccess && pending) stream->queue.push_back({{}, event->marker, nullptr});
      return error;
    }
    // A capturing stream may not depend on work outside of the capture; an event that was never recorded is no work.
    if (event->marker == nullptr) return cudaSuccess;
    stream->capture->valid = false;
    return cudaErrorStreamCaptureIsolation;
  }
  if (stream->legacy || (stream->capture != nullptr && stream->capture != capture)) {
    capture->valid = false;
    if (stream->capture != nullptr) stream->capture->valid = false;
    return stream->legacy ? cudaErrorStreamCaptureImplicit : cudaErrorStreamCaptureMerge;
  }
  if (!capture->valid) return cudaErrorStreamCaptureInvalidated;
  if (stream->capture == nullptr) {
    stream->capture = capture;
    capture->unjoined[stream] = true;
  }
  const auto waited_for = capture->unjoined.find(event->captured_on);
  const bool covers_all = event->captured_work == event->captured_on->captured_work;
  if (waited_for != capture->unjoined.end() && event->captured_on != stream && covers_all) waited_for->second = false;
  touch(*stream);
  return cudaSuccess;
}

}  // namespace lt_audit::simulator
