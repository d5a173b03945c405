// The CUDA runtime table: argument rules and locking; the behaviour is in machine and streams.
#include "platform/simulator/runtime.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

namespace lt_audit::simulator {
namespace {

/// A runtime function: locked, and its error kept as the thread's last error.
template <class... Arguments, class Body>
Fn<cudaError_t(Arguments...)> locked(const std::shared_ptr<World>& world, Body body) {
  return [world, body = std::move(body)](Arguments... arguments) {
    const std::lock_guard guard(world->machine.mutex);
    return world->machine.record(body(*world, arguments...));
  };
}

/// The same for a call that is prohibited while a capture is on (Streams::unsafe_call).
template <class... Arguments, class Body>
Fn<cudaError_t(Arguments...)> unsafe_in_capture(const std::shared_ptr<World>& world, Body body) {
  return locked<Arguments...>(world, [body = std::move(body)](World& w, Arguments... arguments) {
    const cudaError_t refused = w.streams.unsafe_call();
    return refused != cudaSuccess ? refused : body(w, arguments...);
  });
}

cudaError_t device_facts(World& world, DeviceFacts* facts, int device) {
  const auto& options = world.machine.options();
  if (facts == nullptr) return cudaErrorInvalidValue;
  if (device < 0 || device >= options.device_count) return cudaErrorInvalidDevice;
  *facts = DeviceFacts{};
  facts->name = fmt::format("Simulated GPU (sm_{})", options.compute_capability);
  facts->compute_major = options.compute_capability / 10;
  facts->compute_minor = options.compute_capability % 10;
  facts->multiprocessors = 132;
  facts->memory_bytes = options.memory_bytes;
  facts->uuid = fmt::format("GPU-00000000-0000-0000-0000-{:012x}", device);
  facts->pci_bus_id = fmt::format("0000:{:02x}:00.0", device + 1);
  return cudaSuccess;
}

cudaError_t device_modes(World& world, DeviceModes* modes, int device) {
  const auto& options = world.machine.options();
  if (modes == nullptr) return cudaErrorInvalidValue;
  if (device < 0 || device >= options.device_count) return cudaErrorInvalidDevice;
  *modes = options.modes;
  return cudaSuccess;
}

cudaError_t put_version(int version, int* to) {
  if (to == nullptr) return cudaErrorInvalidValue;
  *to = version;
  return cudaSuccess;
}

/// Adds one side of a copy to the accesses. A device side that starts outside of all memory is refused at the call, as
/// the driver does; bounds are checked when the copy runs.
cudaError_t add_side(World& world, const Context& context, Access side, bool named_device, Work* work) {
  const int device = world.machine.device_of(side.begin);
  // Copies reach memory of another device too (unified addressing).
  if (device >= 0 && device != context.device) return cudaSuccess;
  if (world.machine.reach(context, side) != Reach::unknown) {
    work->accesses.push_back(side);
  } else if (named_device || device >= 0) {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t copy(World& world, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = world.streams.resolve(handle, &stream); error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  Work work;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const Context& context = *stream->context;
  if (const cudaError_t error = add_side(world, context, {to, bytes}, to_device, &work); error != cudaSuccess)
    return error;
  if (const cudaError_t error = add_side(world, context, {from, bytes}, from_device, &work); error != cudaSuccess) {
    return error;
  }
  work.run = [to, from, bytes] { std::memmove(to, from, bytes); };
  // Pageable memory is read at the call, and written when it returns (CUDA runtime, API synchronization behavior).
  const bool waits = stream->busy() && stream->capture == nullptr;
  if (waits && world.machine.reach(context, {from, 1}) == Reach::unknown && world.machine.device_of(from) < 0) {
    const auto* const begin = static_cast<const std::byte*>(from);
    work.run = [to, staged = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    };
  }
  const cudaError_t error = world.streams.submit(*stream, std::move(work));
  const bool to_pageable = world.machine.reach(context, {to, 1}) == Reach::unknown && world.machine.device_of(to) < 0;
  if (error == cudaSuccess && waits && to_pageable) world.streams.drain(*stream);
  return error;
}

cudaError_t set_bytes(World& world, void* to, int value, std::size_t bytes, cudaStream_t handle) {
  Stream* stream = nullptr;
  if (const cudaError_t error = world.streams.resolve(handle, &stream); error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  if (world.machine.reach(*stream->context, {to, bytes}) == Reach::unknown) return cudaErrorInvalidValue;
  return world.streams.submit(*stream, {nullptr, {{to, bytes}}, [=] { std::memset(to, value, bytes); }});
}

void add_devices_and_memory(const std::shared_ptr<World>& world, CudaApi* api) {
  api->get_device_count = locked<int*>(world, [](World& w, int* count) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = w.machine.options().device_count;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
  api->set_device = locked<int>(world, [](World& w, int device) { return w.machine.set_device(device); });
  api->get_device = locked<int*>(world, [](World& w, int* device) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = w.machine.current_device();
    return cudaSuccess;
  });
  api->get_device_facts = locked<DeviceFacts*, int>(world, device_facts);
  api->get_device_modes = locked<DeviceModes*, int>(world, device_modes);
  api->driver_get_version = locked<int*>(
      world, [](World& w, int* version) { return put_version(w.machine.options().driver_version, version); });
  api->runtime_get_version =
      locked<int*>(world, [](World&, int* version) { return put_version(CUDART_VERSION, version); });
  api->device_synchronize = locked<>(world, [](World& w) { return w.streams.synchronize_device(); });
  api->device_reset = unsafe_in_capture<>(world, [](World& w) { return w.machine.reset_device(); });
  api->mem_get_info = locked<std::size_t*, std::size_t*>(
      world, [](World& w, std::size_t* free, std::size_t* total) { return w.machine.memory_info(free, total); });
  api->malloc = unsafe_in_capture<void**, std::size_t>(
      world, [](World& w, void** pointer, std::size_t bytes) { return w.machine.allocate(pointer, bytes, false); });
  // cudaFree may synchronise (cuda_runtime_api.h 13.0, cudaFree): it reports a fault that no call has seen yet.
  api->free = unsafe_in_capture<void*>(world, [](World& w, void* pointer) {
    Context* context = nullptr;
    cudaError_t error = pointer == nullptr ? cudaSuccess : w.machine.current(&context);
    if (error == cudaSuccess && context != nullptr) {
      w.streams.drain(*context);
      error = w.machine.report_fault(*context);
    }
    return error != cudaSuccess ? error : w.machine.release(pointer, false);
  });
  api->malloc_host = unsafe_in_capture<void**, std::size_t>(
      world, [](World& w, void** pointer, std::size_t bytes) { return w.machine.allocate(pointer, bytes, true); });
  api->free_host = unsafe_in_capture<void*>(world, [](World& w, void* pointer) {
    Context* context = nullptr;
    if (w.machine.current(&context) == cudaSuccess && context != nullptr) w.streams.drain(*context);
    return w.machine.release(pointer, true);
  });
  api->memcpy_async = locked<void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t>(world, copy);
  api->memset_async = locked<void*, int, std::size_t, cudaStream_t>(world, set_bytes);
}

void add_streams_and_events(const std::shared_ptr<World>& world, CudaApi* api) {
  api->stream_create_with_flags = locked<cudaStream_t*, unsigned>(
      world, [](World& w, cudaStream_t* stream, unsigned flags) { return w.streams.create(stream, flags); });
  api->stream_create_with_priority = locked<cudaStream_t*, unsigned, int>(
      world, [](World& w, cudaStream_t* stream, unsigned flags, int) { return w.streams.create(stream, flags); });
  api->device_get_stream_priority_range = locked<int*, int*>(
      world, [](World& w, int* least, int* greatest) { return w.streams.priority_range(least, greatest); });
  api->stream_destroy = locked<cudaStream_t>(world, [](World& w, cudaStream_t s) { return w.streams.destroy(s); });
  api->stream_synchronize =
      locked<cudaStream_t>(world, [](World& w, cudaStream_t s) { return w.streams.synchronize(s); });
  api->stream_wait_event = locked<cudaStream_t, cudaEvent_t>(
      world, [](World& w, cudaStream_t s, cudaEvent_t event) { return w.streams.wait_event(s, event); });
  api->event_create =
      locked<cudaEvent_t*>(world, [](World& w, cudaEvent_t* event) { return w.streams.create_event(event); });
  api->event_destroy = locked<cudaEvent_t>(world, [](World& w, cudaEvent_t e) { return w.streams.destroy_event(e); });
  api->event_record = locked<cudaEvent_t, cudaStream_t>(
      world, [](World& w, cudaEvent_t event, cudaStream_t s) { return w.streams.record_event(event, s); });
  api->event_synchronize =
      locked<cudaEvent_t>(world, [](World& w, cudaEvent_t event) { return w.streams.synchronize_event(event); });
  api->event_elapsed_time = locked<float*, cudaEvent_t, cudaEvent_t>(
      world,
      [](World& w, float* ms, cudaEvent_t start, cudaEvent_t end) { return w.streams.elapsed_time(ms, start, end); });
}

void add_graphs(const std::shared_ptr<World>& world, CudaApi* api) {
  api->stream_begin_capture = locked<cudaStream_t, cudaStreamCaptureMode>(
      world, [](World& w, cudaStream_t s, cudaStreamCaptureMode mode) { return w.streams.begin_capture(s, mode); });
  api->stream_end_capture = locked<cudaStream_t, cudaGraph_t*>(
      world, [](World& w, cudaStream_t s, cudaGraph_t* graph) { return w.streams.end_capture(s, graph); });
  api->stream_is_capturing = locked<cudaStream_t, cudaStreamCaptureStatus*>(
      world,
      [](World& w, cudaStream_t s, cudaStreamCaptureStatus* status) { return w.streams.is_capturing(s, status); });
  api->graph_get_node_count = locked<cudaGraph_t, std::size_t*>(
      world, [](World& w, cudaGraph_t graph, std::size_t* count) { return w.streams.node_count(graph, count); });
  api->graph_instantiate = locked<cudaGraphExec_t*, cudaGraph_t>(
      world, [](World& w, cudaGraphExec_t* exec, cudaGraph_t graph) { return w.streams.instantiate(exec, graph); });
  api->graph_launch = locked<cudaGraphExec_t, cudaStream_t>(
      world, [](World& w, cudaGraphExec_t exec, cudaStream_t s) { return w.streams.launch(exec, s); });
  api->graph_exec_update = locked<cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResult*>(
      world, [](World& w, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult* result) {
        return w.streams.update(exec, graph, result);
      });
  api->graph_destroy =
      locked<cudaGraph_t>(world, [](World& w, cudaGraph_t graph) { return w.streams.destroy_graph(graph); });
  api->graph_exec_destroy =
      locked<cudaGraphExec_t>(world, [](World& w, cudaGraphExec_t exec) { return w.streams.destroy_exec(exec); });
}

void add_contexts(const std::shared_ptr<World>& world, CudaApi* api) {
  api->ctx_create = locked<ContextHandle*, int>(world, [](World& w, ContextHandle* handle, int device) {
    Context* context = nullptr;
    const cudaError_t error = w.machine.create_context(handle == nullptr ? nullptr : &context, device);
    if (error == cudaSuccess) *handle = context;
    return error;
  });
  api->ctx_destroy = unsafe_in_capture<ContextHandle>(
      world, [](World& w, ContextHandle handle) { return w.machine.destroy_context(static_cast<Context*>(handle)); });
  api->ctx_set_current = locked<ContextHandle>(
      world, [](World& w, ContextHandle handle) { return w.machine.set_current(static_cast<Context*>(handle)); });
  api->ctx_get_current = locked<ContextHandle*>(world, [](World& w, ContextHandle* handle) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = w.machine.context_on_top();
    return cudaSuccess;
  });
}

}  // namespace

CudaApi make_cuda_api(const std::shared_ptr<World>& world) {
  CudaApi api;
  add_devices_and_memory(world, &api);
  add_streams_and_events(world, &api);
  add_graphs(world, &api);
  add_contexts(world, &api);
  api.get_last_error = [world] {
    const std::lock_guard guard(world->machine.mutex);
    return world->machine.last_error(true);
  };
  api.peek_at_last_error = [world] {
    const std::lock_guard guard(world->machine.mutex);
    return world->machine.last_error(false);
  };
  return api;
}

}  // namespace lt_audit::simulator
