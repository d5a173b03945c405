// Stream capture and graphs: a graph is the list of captured work, which holds by value what CUDA fixes at capture.
#include <algorithm>
#include <bit>

#include "platform/simulator/streams.h"

namespace lt_audit::simulator {
namespace {

/// Graphs and executables share one shape: a list of work behind a handle.
template <class Handle>
Handle keep(std::map<Handle, std::unique_ptr<std::vector<Work>>>& table, Handle handle, std::vector<Work> nodes) {
  table.emplace(handle, std::make_unique<std::vector<Work>>(std::move(nodes)));
  return handle;
}

}  // namespace

void Streams::invalidate_captures(const Context& context, bool blocking_only, bool* any) {
  for (const Stream* stream : all_streams()) {
    if (stream->context != &context || stream->capture == nullptr || (blocking_only && !stream->blocking)) continue;
    stream->capture->valid = false;
    *any = true;
  }
}

cudaError_t Streams::unsafe_call() {
  cudaError_t result = cudaSuccess;
  for (const Stream* stream : all_streams()) {
    if (stream->capture == nullptr || stream->capture->origin != stream) continue;
    const bool own = stream->capture->owner == std::this_thread::get_id();
    const bool prohibited = stream->capture->mode == cudaStreamCaptureModeGlobal ||
                            (own && stream->capture->mode == cudaStreamCaptureModeThreadLocal);
    if (!prohibited) continue;
    stream->capture->valid = false;
    result = cudaErrorStreamCaptureUnsupported;
  }
  return result;
}

void Streams::leave_capture(const std::shared_ptr<Capture>& capture) {
  capture->valid = false;
  for (Stream* stream : all_streams()) {
    if (stream->capture == capture) stream->capture.reset();
  }
}

cudaError_t Streams::begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  if (mode != cudaStreamCaptureModeGlobal && mode != cudaStreamCaptureModeThreadLocal &&
      mode != cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(handle, &stream); error != cudaSuccess) return error;
  if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture != nullptr) return cudaErrorIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->owner = std::this_thread::get_id();
  stream->capture->origin = stream;
  return cudaSuccess;
}

cudaError_t Streams::end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(handle, &stream); error != cudaSuccess) return error;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->owner != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  const bool valid = capture->valid;
  bool unjoined = false;
  for (const auto& [joined, open] : capture->unjoined) unjoined = unjoined || open;
  leave_capture(capture);
  if (!valid) return cudaErrorStreamCaptureInvalidated;
  if (unjoined) return cudaErrorStreamCaptureUnjoined;
  *graph = keep(graphs_, std::bit_cast<cudaGraph_t>(handles_ += 0x10), std::move(capture->nodes));
  return cudaSuccess;
}

cudaError_t Streams::is_capturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return cudaErrorInvalidValue;
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(handle, &stream); error != cudaSuccess) return error;
  *status = stream->capture == nullptr ? cudaStreamCaptureStatusNone
            : stream->capture->valid   ? cudaStreamCaptureStatusActive
                                       : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}

cudaError_t Streams::node_count(cudaGraph_t graph, std::size_t* count) {
  const auto position = graphs_.find(graph);
  if (position == graphs_.end() || count == nullptr) return cudaErrorInvalidValue;
  *count = position->second->size();
  return cudaSuccess;
}

cudaError_t Streams::instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  const auto position = graphs_.find(graph);
  if (position == graphs_.end() || exec == nullptr) return cudaErrorInvalidValue;
  *exec = keep(execs_, std::bit_cast<cudaGraphExec_t>(handles_ += 0x10), *position->second);
  return cudaSuccess;
}

cudaError_t Streams::launch(cudaGraphExec_t exec, cudaStream_t handle) {
  const auto position = execs_.find(exec);
  if (position == execs_.end()) return cudaErrorInvalidValue;
  Stream* stream = nullptr;
  if (const cudaError_t error = resolve(handle, &stream); error != cudaSuccess) return error;
  for (const Work& node : *position->second) {
    if (!node.context->alive) return cudaErrorContextIsDestroyed;
    if (node.context != stream->context) return cudaErrorInvalidResourceHandle;
  }
  // Also for an empty graph: the rules of the stream hold for the launch itself.
  if (position->second->empty()) return submit(*stream, {nullptr, {}, [] {}});
  for (const Work& node : *position->second) {
    if (const cudaError_t error = submit(*stream, node); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t Streams::update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult* result) {
  const auto executable = execs_.find(exec);
  const auto source = graphs_.find(graph);
  if (executable == execs_.end() || source == graphs_.end() || result == nullptr) return cudaErrorInvalidValue;
  const auto& old_nodes = *executable->second;
  const auto& new_nodes = *source->second;
  const bool same_topology = old_nodes.size() == new_nodes.size();
  // A kernel node may not move to another context (cuda_runtime_api.h 13.0, cudaGraphExecUpdate).
  const bool same_contexts =
      same_topology && std::equal(old_nodes.begin(), old_nodes.end(), new_nodes.begin(),
                                  [](const Work& left, const Work& right) { return left.context == right.context; });
  *result = same_contexts   ? cudaGraphExecUpdateSuccess
            : same_topology ? cudaGraphExecUpdateErrorUnsupportedFunctionChange
                            : cudaGraphExecUpdateErrorTopologyChanged;
  if (!same_contexts) return cudaErrorGraphExecUpdateFailure;
  *executable->second = new_nodes;
  return cudaSuccess;
}

cudaError_t Streams::destroy_graph(cudaGraph_t graph) {
  return graphs_.erase(graph) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t Streams::destroy_exec(cudaGraphExec_t exec) {
  return execs_.erase(exec) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace lt_audit::simulator
