// Calls inside a capture: other functions of the library, a matmul on another stream, a matmul that is refused.
#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

#include "graph_scenarios.h"
#include "lt_audit/error.h"

namespace lt_audit::graph_capture {
namespace {

/// A handle or descriptor that a scenario makes inside the capture, destroyed after it.
struct Made {
  std::optional<LtHandle> lt;
  std::optional<BlasHandle> blas;
  std::optional<MatmulDesc> desc;
};

/// One library call inside the capture, its status as the answer. "first-use" and "null-algorithm" are the matmul
/// itself.
bool call_inside(Session& session, const std::string& subject, PreparedMatmul& matmul, LtHandle& spare, Made& made,
                 Observation& observation) {
  const auto& platform = session.platform();
  const auto answer = [&](const char* call, cublasStatus_t status) {
    return record(observation, kAnswerStage, call, status);
  };
  if (subject == "heuristic") return answer("cublasLtMatmulAlgoGetHeuristic", matmul.query(session.handle(), 8).status);
  if (subject == "algo-check") {
    const auto results = matmul.query(session.handle(), 1).results;
    if (results.empty()) return false;
    cublasLtMatmulHeuristicResult_t checked{};
    return answer("cublasLtMatmulAlgoCheck", matmul.check(session.handle(), results.front().algo, &checked));
  }
  if (subject == "descriptor") {
    cublasLtMatmulDesc_t desc = nullptr;
    const auto status = platform.lt.matmul_desc_create(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    if (status == CUBLAS_STATUS_SUCCESS) made.desc.emplace(platform.lt, desc);
    return answer("cublasLtMatmulDescCreate", status);
  }
  if (subject == "create-handle") {
    cublasLtHandle_t handle = nullptr;
    const auto status = platform.lt.create(&handle);
    if (status == CUBLAS_STATUS_SUCCESS) made.lt.emplace(platform.lt, handle);
    return answer("cublasLtCreate", status);
  }
  if (subject == "destroy-handle") {
    return answer("cublasLtDestroy", platform.lt.destroy(spare.release()));
  }
  if (subject == "create-cublas") {
    cublasHandle_t handle = nullptr;
    const auto status = platform.blas.create(&handle);
    if (status == CUBLAS_STATUS_SUCCESS) made.blas.emplace(platform.blas, handle);
    return answer("cublasCreate", status);
  }
  return true;
}

cudaStream_t special_stream(const std::string& kind) {
  return kind == "legacy" ? cudaStreamLegacy : kind == "per-thread" ? cudaStreamPerThread : nullptr;
}

}  // namespace

Observation called_in_capture(Session& session, const Case& the_case) {
  const auto subject = parameter(the_case, kSubject);
  const auto& platform = session.platform();
  if (subject == "create-cublas" && !platform.blas.create) throw NotRun("libcublas is not loaded");
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto* algo = matmul.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  if (subject == "null-algorithm") algo = nullptr;
  cublasLtHandle_t spare = nullptr;
  require(platform.lt.create(&spare), "cublasLtCreate");
  LtHandle spare_handle(platform.lt, spare);
  Made made;
  const Stream stream = make_stream(platform.cuda);
  Recording recording(session, observation);
  if (!recording.begin(stream.get(), mode_of(the_case))) return observation;
  const bool answered = call_inside(session, subject, matmul, spare_handle, made, observation);
  // The product follows whatever was answered.
  const auto status = matmul.matmul(session.handle(), algo, stream.get());
  const bool ended = recording.end(stream.get(), answered);
  // When a call that succeeded has lost the capture, the product behind it is only the victim.
  if (ended || !answered) record(observation, "matmul", "cublasLtMatmul", status);
  if (!ended || status != CUBLAS_STATUS_SUCCESS || !recording.instantiate()) return observation;
  for (const std::uint64_t contents : {1U, 2U}) {
    matmul.fill(contents);
    if (!recording.replay(stream.get()) || !matmul.verify(observation)) break;
  }
  return observation;
}

/// A capture on one stream, and a matmul on another: is it refused, in the graph, or has it run beside it?
Observation on_stream(Session& session, const Case& the_case) {
  const auto& cuda = session.platform().cuda;
  const auto flags = [](const std::string& kind) {
    return static_cast<unsigned>(kind == "blocking" ? cudaStreamDefault : cudaStreamNonBlocking);
  };
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto* algo = matmul.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  const auto on = parameter(the_case, kOn);
  const Stream capturing = make_stream(cuda, flags(parameter(the_case, kCapturing)));
  std::optional<Stream> other;
  cudaStream_t stream = on == "same" ? capturing.get() : special_stream(on);
  if (stream == nullptr) stream = other.emplace(make_stream(cuda, flags(on))).get();
  matmul.fill(1);
  Recording recording(session, observation);
  if (!recording.begin(capturing.get(), mode_of(the_case))) return observation;
  const bool accepted = matmul.matmul(session.handle(), algo, stream, observation);
  // The runtime keeps the error of a refused launch; it belongs to this call alone.
  static_cast<void>(cuda.get_last_error());
  if (!recording.end(capturing.get(), accepted) || !accepted) return observation;
  if (!recording.synchronize(stream)) return observation;
  if (recording.nodes() > 0) {
    if (!matmul.verify_untouched(observation)) {
      set_defect(observation, "ran-at-once");
      return observation;
    }
    if (recording.instantiate() && recording.replay(capturing.get())) matmul.verify(observation);
    return observation;
  }
  // Not in the graph: right numbers now mean that it ran beside the capture, none that it is lost. Wrong ones speak
  // for themselves.
  Observation now;
  if (matmul.verify_untouched(now)) {
    set_defect(observation, "lost");
  } else if (matmul.verify(observation)) {
    set_defect(observation, "outside-graph");
  }
  return observation;
}

/// A matmul that is refused (its workspace is not aligned to 256 bytes), alone or followed by a right one.
Observation refused_in_capture(Session& session, const Case& the_case) {
  const bool alone = parameter(the_case, kSubject) == "alone";
  MatmulProblem refused = the_case.problem;
  refused.workspace_offset = 16;
  Observation observation;
  auto matmul = session.prepare(refused);
  auto right = session.prepare_apart(the_case.problem);
  if (!matmul.describe(observation) || !right.describe(observation)) return observation;
  const auto* algo = right.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  matmul.fill(1);
  right.fill(1);
  const Stream stream = make_stream(session.platform().cuda);
  Recording recording(session, observation);
  if (!recording.begin(stream.get(), cudaStreamCaptureModeGlobal)) return observation;
  // Alone it is the only matmul of the case, and its memory is what is judged.
  const bool accepted = record(observation, alone ? "matmul" : kAnswerStage, "cublasLtMatmul",
                               matmul.matmul(session.handle(), algo, stream.get()));
  const bool followed = alone || right.matmul(session.handle(), algo, stream.get(), observation);
  if (!recording.end(stream.get(), false) || !followed) return observation;
  if (!recording.instantiate() || !recording.replay(stream.get())) return observation;
  Observation of_refused;
  const bool untouched = matmul.verify_untouched(of_refused);
  if (accepted && untouched) set_defect(observation, "lost");
  if (!accepted && !untouched) set_defect(observation, "half-captured");
  if (alone) {
    observation.verification = of_refused.verification;
  } else {
    right.verify(observation);
  }
  return observation;
}

}  // namespace lt_audit::graph_capture
