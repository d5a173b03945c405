// What every scenario is made of: a recording, a product to record, replay and comparison.
#include <fmt/format.h>

#include <utility>

#include "graph_scenarios.h"
#include "lt_audit/error.h"

namespace lt_audit::graph_capture {

std::string parameter(const Case& the_case, const char* name) {
  const auto found = the_case.parameters.find(name);
  return found == the_case.parameters.end() ? std::string() : found->second;
}

cudaStreamCaptureMode mode_of(const Case& the_case) {
  const auto mode = parameter(the_case, kMode);
  if (mode == "relaxed") return cudaStreamCaptureModeRelaxed;
  return mode == "thread-local" ? cudaStreamCaptureModeThreadLocal : cudaStreamCaptureModeGlobal;
}

Stream make_stream(const CudaApi& cuda, unsigned flags) {
  cudaStream_t stream = nullptr;
  require(cuda.stream_create_with_flags(&stream, flags), "cudaStreamCreateWithFlags");
  return {cuda, stream};
}

void set_defect(Observation& observation, const char* defect) { observation.facts.emplace(kDefect, defect); }

bool Recording::begin(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return record(observation_, "begin_capture", "cudaStreamBeginCapture", cuda_.stream_begin_capture(stream, mode));
}

bool Recording::end(cudaStream_t stream, bool calls_succeeded) {
  cudaGraph_t graph = nullptr;
  const auto error = cuda_.stream_end_capture(stream, &graph);
  if (graph != nullptr) graph_ = Graph(cuda_, graph);
  if (!record(observation_, "end_capture", "cudaStreamEndCapture", error)) {
    // Not sticky; the next capture starts without it.
    static_cast<void>(cuda_.get_last_error());
    if (calls_succeeded) set_defect(observation_, "capture-lost");
    return false;
  }
  require(cuda_.graph_get_node_count(graph, &nodes_), "cudaGraphGetNodes");
  observation_.facts[kNodes] = fmt::to_string(nodes_);
  return true;
}

bool Recording::instantiate() {
  cudaGraphExec_t exec = nullptr;
  const auto error = cuda_.graph_instantiate(&exec, graph_.get());
  if (!record(observation_, "instantiate", "cudaGraphInstantiate", error)) {
    set_defect(observation_, "not-instantiated");
    return false;
  }
  exec_ = GraphExec(cuda_, exec);
  return true;
}

bool Recording::capture(cudaStream_t stream, cudaStreamCaptureMode mode, const std::function<bool()>& calls) {
  if (!begin(stream, mode)) return false;
  const bool succeeded = calls();
  const bool ended = end(stream, succeeded);
  return succeeded && ended && instantiate();
}

bool Recording::launch(cudaStream_t stream) {
  // What was seen of an earlier replay says nothing about this one.
  observation_.verification.reset();
  if (record(observation_, "launch", "cudaGraphLaunch", cuda_.graph_launch(exec_.get(), stream))) return true;
  set_defect(observation_, "not-replayed");
  return false;
}

bool Recording::synchronize(cudaStream_t stream) {
  const auto error = cuda_.stream_synchronize(stream);
  if (record(observation_, "synchronize", "cudaStreamSynchronize", error)) return true;
  // Replayed kernels fault like any others; whether the context survived, the worker finds out.
  set_defect(observation_, "not-replayed");
  return false;
}

bool Recording::replay(cudaStream_t stream) { return launch(stream) && synchronize(stream); }

CapturedProduct::CapturedProduct(Session& session, const MatmulProblem& problem, Observation& observation)
    : session_(session),
      observation_(observation),
      matmul_(session.prepare_apart(problem)),
      stream_(make_stream(session.platform().cuda)) {}

bool CapturedProduct::choose() {
  if (matmul_.desc() == nullptr && !matmul_.describe(observation_)) return false;
  observation_.heuristic.clear();
  algo_ = matmul_.choose(session_.handle(), observation_);
  return algo_ != nullptr;
}

bool CapturedProduct::call() { return matmul_.matmul(session_.handle(), algo_, stream_.get(), observation_); }

bool CapturedProduct::capture(Recording& recording, cudaStreamCaptureMode mode) {
  return recording.capture(stream_.get(), mode, [this] { return call(); });
}

bool CapturedProduct::waits_in(const Recording& recording) {
  // What ran elsewhere instead may still be running; an error of it shows in the verification.
  static_cast<void>(session_.platform().cuda.device_synchronize());
  const bool untouched = matmul_.verify_untouched(observation_);
  if (observation_.end != ProcessEnd::survived) return false;
  if (recording.nodes() == 0) {
    set_defect(observation_, untouched ? "lost" : "outside-graph");
  } else if (!untouched) {
    set_defect(observation_, "ran-at-once");
  }
  return untouched && recording.nodes() > 0;
}

bool replay_and_verify(Recording& recording, CapturedProduct& product, std::uint64_t variant, const Expected& expected,
                       const Expected& other, const char* defect, Observation& observation) {
  auto& matmul = product.matmul();
  matmul.fill(variant);
  if (!recording.replay(product.stream())) return false;
  const auto is = [&matmul](const Expected& what, Observation& seen) {
    matmul.expect_bias_of(what.bias == nullptr ? matmul : *what.bias);
    return matmul.verify(seen, what.problem);
  };
  if (is(expected, observation)) return true;
  if (observation.end != ProcessEnd::survived) return false;
  Observation instead;
  if (is(other, instead)) set_defect(observation, defect);
  return false;
}

}  // namespace lt_audit::graph_capture
