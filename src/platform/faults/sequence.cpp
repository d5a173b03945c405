// What faults on sequences of calls remember.
#include "platform/faults/sequence.h"

#include <algorithm>

namespace lt_audit::faults {
namespace {

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

}  // namespace

AlgoKey key_of(const cublasLtMatmulAlgo_t& algo) {
  AlgoKey key;
  std::copy(std::begin(algo.data), std::end(algo.data), key.begin());
  return key;
}

std::span<cublasLtMatmulHeuristicResult_t> results_of(const HeuristicCall& call, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS || call.results == nullptr || call.returned == nullptr || *call.returned < 0) {
    return {};
  }
  return {call.results, static_cast<std::size_t>(*call.returned)};
}

ContextHandle context_now(const Platform& platform) {
  ContextHandle context = nullptr;
  const bool known = platform.cuda.ctx_get_current && platform.cuda.ctx_get_current(&context) == cudaSuccess;
  return known ? context : nullptr;
}

void OpenCaptures::begun(cudaStream_t stream) {
  const std::lock_guard guard(mutex_);
  origins_.insert(stream);
}

void OpenCaptures::ended(cudaStream_t stream) {
  const std::lock_guard guard(mutex_);
  const auto found = origins_.find(stream);
  if (found != origins_.end()) origins_.erase(found);
}

bool OpenCaptures::any() const {
  const std::lock_guard guard(mutex_);
  return !origins_.empty();
}

bool OpenCaptures::capture(const Platform& real, cudaStream_t stream) const {
  // The legacy stream never captures, and asking about it beside a blocking capture is an error (cuda_runtime_api.h
  // 13.0, cudaStreamIsCapturing).
  if (is_legacy(stream) || !any()) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return real.cuda.stream_is_capturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
}

bool ends_capture(cudaError_t answer) {
  return answer == cudaSuccess || answer == cudaErrorStreamCaptureInvalidated ||
         answer == cudaErrorStreamCaptureUnjoined;
}

std::shared_ptr<OpenCaptures> watch_captures(Platform& platform) {
  auto open = std::make_shared<OpenCaptures>();
  CudaApi& cuda = platform.cuda;
  in_front_of(cuda.stream_begin_capture, [open](const auto& real, cudaStream_t stream, cudaStreamCaptureMode mode) {
    const cudaError_t error = real(stream, mode);
    if (error == cudaSuccess) open->begun(stream);
    return error;
  });
  in_front_of(cuda.stream_end_capture, [open](const auto& real, cudaStream_t stream, cudaGraph_t* graph) {
    const cudaError_t error = real(stream, graph);
    if (ends_capture(error)) open->ended(stream);
    return error;
  });
  in_front_of(cuda.stream_destroy, [open](const auto& real, cudaStream_t stream) {
    open->ended(stream);
    return real(stream);
  });
  return open;
}

}  // namespace lt_audit::faults
