// Streams and events: eager execution and the default-stream rules.
#include "platform/simulator/streams.h"

#include <bit>

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

cudaError_t Streams::destroy(cudaStream_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = find(streams_, handle, &stream); error != cudaSuccess) return error;
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
  machine_.execute(work);
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
  }
  return machine_.report_fault(*stream->context);
}

cudaError_t Streams::synchronize_device() {
  Context* context = nullptr;
  if (const cudaError_t error = machine_.current(&context); error != cudaSuccess) return error;
  bool any = false;
  invalidate_captures(*context, false, &any);
  if (any) return cudaErrorStreamCaptureUnsupported;
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
  event->recorded = true;
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}

cudaError_t Streams::synchronize_event(cudaEvent_t handle) {
  Event* event = nullptr;
  if (const cudaError_t error = find(events_, handle, &event); error != cudaSuccess) return error;
  if (event->captured_on != nullptr) {
    if (const auto capture = event->capture.lock()) capture->valid = false;
    return cudaErrorCapturedEvent;
  }
  return machine_.report_fault(*event->context);
}

cudaError_t Streams::elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (milliseconds == nullptr) return cudaErrorInvalidValue;
  Event* first = nullptr;
  Event* last = nullptr;
  if (const cudaError_t error = find(events_, start, &first); error != cudaSuccess) return error;
  if (const cudaError_t error = find(events_, end, &last); error != cudaSuccess) return error;
  if (first->captured_on != nullptr || last->captured_on != nullptr) return cudaErrorCapturedEvent;
  if (!first->recorded || !last->recorded || first->context != last->context) return cudaErrorInvalidResourceHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return cudaSuccess;
}

cudaError_t Streams::wait_event(cudaStream_t stream_handle, cudaEvent_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(stream_handle, &stream); error != cudaSuccess) return error;
  Event* event = nullptr;
  if (const cudaError_t error = find(events_, handle, &event); error != cudaSuccess) return error;
  const auto capture = event->capture.lock();
  if (event->captured_on == nullptr || capture == nullptr) {
    if (stream->capture == nullptr) return submit(*stream, {nullptr, {}, [] {}});
    // A capturing stream may not depend on work outside of the capture; an event that was never recorded is no work.
    if (!event->recorded) return cudaSuccess;
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
