// The scenarios of check "graph-capture" and the steps that they share.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../scenario_check.h"
#include "lt_audit/check.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"

namespace lt_audit::graph_capture {

/// All scenarios, in the order of the page.
std::span<const Scenario> scenarios();

/// Parameters of a case.
inline constexpr const char* kMode = "mode";            ///< global, thread-local, relaxed
inline constexpr const char* kCapturing = "capturing";  ///< kind of the capturing stream: blocking, non-blocking
inline constexpr const char* kOn = "on";  ///< stream of the matmul: same, legacy, per-thread, blocking, non-blocking
inline constexpr const char* kSubject = "subject";  ///< what is changed, destroyed, called or updated

/// Fact: what went wrong with capture or graph, a defect of graph_capture.cpp.
inline constexpr const char* kDefect = "defect";
/// Fact: nodes of the captured graph.
inline constexpr const char* kNodes = "nodes";

/// The parameter's value, empty when the case has none.
std::string parameter(const Case& the_case, const char* name);
cudaStreamCaptureMode mode_of(const Case& the_case);
Stream make_stream(const CudaApi& cuda, unsigned flags = cudaStreamNonBlocking);
/// Keeps the first defect of an observation.
void set_defect(Observation& observation, const char* defect);

/// One capture and the graph that comes of it. Every step is a stage of the observation.
class Recording {
 public:
  Recording(Session& session, Observation& observation) : cuda_(session.platform().cuda), observation_(observation) {}

  /// Captures what `calls` does; ends the capture whatever they return, and makes the graph executable. False when a
  /// call failed or the capture was lost.
  bool capture(cudaStream_t stream, cudaStreamCaptureMode mode, const std::function<bool()>& calls);
  /// The halves of capture. `end` is false, with defect "capture-lost" when every call before it succeeded.
  bool begin(cudaStream_t stream, cudaStreamCaptureMode mode);
  bool end(cudaStream_t stream, bool calls_succeeded);
  bool instantiate();

  /// Launches the graph and waits for it.
  bool replay(cudaStream_t stream);
  bool launch(cudaStream_t stream);
  bool synchronize(cudaStream_t stream);

  std::size_t nodes() const { return nodes_; }
  const Graph& graph() const { return graph_; }
  const GraphExec& exec() const { return exec_; }
  void destroy_graph() { graph_.reset(); }

 private:
  const CudaApi& cuda_;
  Observation& observation_;
  Graph graph_;
  GraphExec exec_;
  std::size_t nodes_ = 0;
};

/// A product that is described, has an algorithm and is captured as one call on its own stream.
class CapturedProduct {
 public:
  CapturedProduct(Session& session, const MatmulProblem& problem, Observation& observation);

  PreparedMatmul& matmul() { return matmul_; }
  cudaStream_t stream() const { return stream_.get(); }
  /// Asks the heuristic for the descriptor as it is now. False when there is nothing to run.
  bool choose();
  /// One captured call with the chosen algorithm.
  bool capture(Recording& recording, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
  bool call();
  /// The captured call is in the graph, and D still untouched. False, with defect "lost", "outside-graph" or
  /// "ran-at-once", when it is not.
  bool waits_in(const Recording& recording);
  void destroy_stream() { stream_.reset(); }

 private:
  Session& session_;
  Observation& observation_;
  PreparedMatmul matmul_;
  Stream stream_;
  const cublasLtMatmulAlgo_t* algo_ = nullptr;
};

/// What D should hold: a problem, and whose bias.
struct Expected {
  MatmulProblem problem;
  const PreparedMatmul* bias = nullptr;
};
/// Replays on new contents and compares. When D is what `other` describes instead, the defect is `defect`.
bool replay_and_verify(Recording& recording, CapturedProduct& product, std::uint64_t variant, const Expected& expected,
                       const Expected& other, const char* defect, Observation& observation);

// By file.
Observation replay(Session& session, const Case& the_case);
Observation replay_with_workspace(Session& session, const Case& the_case);
Observation replay_many_times(Session& session, const Case& the_case);
Observation replay_in_parallel(Session& session, const Case& the_case);
Observation two_products(Session& session, const Case& the_case);
Observation device_scalars(Session& session, const Case& the_case);
Observation exec_update(Session& session, const Case& the_case);

Observation changed_between(Session& session, const Case& the_case);
Observation changed_after(Session& session, const Case& the_case);
Observation destroyed_before_replay(Session& session, const Case& the_case);
Observation scale_content(Session& session, const Case& the_case);

Observation called_in_capture(Session& session, const Case& the_case);
Observation on_stream(Session& session, const Case& the_case);
Observation refused_in_capture(Session& session, const Case& the_case);

}  // namespace lt_audit::graph_capture
