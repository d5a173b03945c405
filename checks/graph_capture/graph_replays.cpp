// Graphs that are replayed: on new contents, many times, beside each other, after an update.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "graph_scenarios.h"
#include "lt_audit/error.h"

namespace lt_audit::graph_capture {
namespace {

constexpr int kReplays = 10;

/// The first returned algorithm that needs a workspace.
cublasLtMatmulAlgo_t with_workspace(Session& session, PreparedMatmul& matmul, Observation& observation) {
  const auto answer = matmul.query(session.handle(), 16);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  const auto found = std::find_if(answer.results.begin(), answer.results.end(), [](const auto& result) {
    return result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize > 0;
  });
  if (found == answer.results.end()) throw NotRun("the heuristic offers no algorithm that needs a workspace here");
  observation.heuristic.push_back(matmul.read(*found));
  return found->algo;
}

}  // namespace

Observation replay(Session& session, const Case& the_case) {
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  if (!product.choose()) return observation;
  Recording recording(session, observation);
  product.matmul().fill(1);
  if (!product.capture(recording, mode_of(the_case)) || !product.waits_in(recording)) {
    return observation;
  }
  for (const std::uint64_t contents : {1U, 2U}) {
    product.matmul().fill(contents);
    if (!recording.replay(product.stream()) || !product.matmul().verify(observation)) break;
  }
  return observation;
}

/// The library may keep partial sums and counters in the workspace, and nothing between two replays.
Observation replay_with_workspace(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto algo = with_workspace(session, matmul, observation);
  const Stream stream = make_stream(session.platform().cuda);
  Recording recording(session, observation);
  const auto call = [&] { return matmul.matmul(session.handle(), &algo, stream.get(), observation); };
  if (!recording.capture(stream.get(), mode_of(the_case), call)) return observation;
  for (const unsigned byte : {0x00U, 0xFFU, 0x5AU}) {
    matmul.fill(byte);
    matmul.fill_workspace(static_cast<unsigned char>(byte));
    if (!recording.replay(stream.get()) || !matmul.verify(observation)) break;
  }
  return observation;
}

Observation replay_many_times(Session& session, const Case& the_case) {
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  if (!product.choose()) return observation;
  Recording recording(session, observation);
  if (!product.capture(recording)) return observation;
  product.matmul().fill(1);
  const auto before = observation.stages.size();
  for (int i = 0; i < kReplays; ++i) {
    observation.stages.resize(before);
    if (!recording.launch(product.stream())) return observation;
  }
  if (recording.synchronize(product.stream())) product.matmul().verify(observation);
  return observation;
}

/// Two graphs with separate operands and workspaces on two streams at once.
Observation replay_in_parallel(Session& session, const Case& the_case) {
  Observation observation;
  CapturedProduct first(session, the_case.problem, observation);
  CapturedProduct second(session, the_case.problem, observation);
  Recording first_graph(session, observation);
  Recording second_graph(session, observation);
  if (!first.choose() || !first.capture(first_graph)) return observation;
  if (!second.choose() || !second.capture(second_graph)) return observation;
  first.matmul().fill(1);
  second.matmul().fill(2);
  const auto before = observation.stages.size();
  for (int i = 0; i < kReplays; ++i) {
    observation.stages.resize(before);
    if (!first_graph.launch(first.stream()) || !second_graph.launch(second.stream())) return observation;
  }
  if (!first_graph.synchronize(first.stream()) || !second_graph.synchronize(second.stream())) return observation;
  if (first.matmul().verify(observation)) second.matmul().verify(observation);
  return observation;
}

/// One capture of two products on one stream.
Observation two_products(Session& session, const Case& the_case) {
  Observation observation;
  CapturedProduct first(session, the_case.problem, observation);
  auto second = session.prepare_apart(the_case.problem);
  if (!first.choose() || !second.describe(observation)) return observation;
  const auto* algo = second.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  Recording recording(session, observation);
  const auto both = [&] { return first.call() && second.matmul(session.handle(), algo, first.stream(), observation); };
  if (!recording.capture(first.stream(), cudaStreamCaptureModeGlobal, both)) return observation;
  first.matmul().fill(1);
  second.fill(2);
  if (!recording.replay(first.stream())) return observation;
  if (first.matmul().verify(observation)) second.verify(observation);
  return observation;
}

/// alpha in device memory is read at each replay.
Observation device_scalars(Session& session, const Case& the_case) {
  MatmulProblem tripled = the_case.problem;
  tripled.alpha = 3;
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  if (!product.choose()) return observation;
  product.matmul().fill(1);
  Recording recording(session, observation);
  if (!product.capture(recording)) return observation;
  if (!replay_and_verify(recording, product, 1, {the_case.problem}, {tripled}, "wrong-scalar", observation)) {
    return observation;
  }
  product.matmul().set_scalars(3, 0);
  replay_and_verify(recording, product, 2, {tripled}, {the_case.problem}, "stale", observation);
  return observation;
}

/// The executable of a first capture takes the parameters of a second one: another alpha, or other operands.
Observation exec_update(Session& session, const Case& the_case) {
  const bool other_operands = parameter(the_case, kSubject) == "operands";
  MatmulProblem tripled = the_case.problem;
  if (!other_operands) tripled.alpha = 3;
  Observation observation;
  CapturedProduct first(session, the_case.problem, observation);
  CapturedProduct second(session, the_case.problem, observation);
  if (!first.choose() || !second.choose()) return observation;
  Recording before(session, observation);
  if (!first.capture(before)) return observation;
  if (!replay_and_verify(before, first, 1, {the_case.problem}, {tripled}, "wrong-scalar", observation)) {
    return observation;
  }
  CapturedProduct& target = other_operands ? second : first;
  if (!other_operands) first.matmul().set_scalars(3, 0);
  Recording after(session, observation);
  if (!target.capture(after)) return observation;
  auto result = cudaGraphExecUpdateError;
  const auto error = session.platform().cuda.graph_exec_update(before.exec().get(), after.graph().get(), &result);
  observation.facts["update"] = name_of(error);
  observation.facts["update_result"] = fmt::to_string(static_cast<int>(result));
  // A refused update is allowed: the second graph has its own executable. It is no sticky error.
  if (error != cudaSuccess) static_cast<void>(session.platform().cuda.get_last_error());
  Recording& replayed = error == cudaSuccess ? before : after;
  target.matmul().fill(3);
  if (!replayed.replay(target.stream())) return observation;
  if (target.matmul().verify(observation, tripled)) return observation;
  Observation instead;
  const bool old =
      other_operands ? target.matmul().verify_untouched(instead) : target.matmul().verify(instead, the_case.problem);
  if (old && observation.end == ProcessEnd::survived) set_defect(observation, "stale");
  return observation;
}

}  // namespace lt_audit::graph_capture
