// What the cases do beyond one run of the engine: every algorithm of the heuristic, and leading dimensions that are set
// in the layout.
#include <fmt/format.h>

#include <string>

#include "lt_audit/error.h"
#include "lt_audit/session.h"
#include "shape_cases.h"

namespace lt_audit::shape_limits {
namespace {

constexpr int kRequested = 16;

std::string algorithm_text(const HeuristicResult& result, std::size_t index, std::size_t count) {
  return fmt::format("algorithm {}, tile {}, stages {}, split-K {} (result {} of {})", result.algo_id, result.tile,
                     result.stages, result.split_k, index, count);
}

/// One call on freshly filled buffers, with everything recorded. True when the numbers of `expected` came out.
bool run_once(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, const MatmulProblem& expected,
              Observation& observation) {
  matmul.fill();
  observation.verification.reset();
  const bool accepted = matmul.matmul(session.handle(), algo, matmul.stream(), observation);
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (!record(observation, "synchronize", "cudaStreamSynchronize", error)) {
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error);
    return false;
  }
  if (accepted) return matmul.verify(observation, expected);
  matmul.verify_untouched(observation);
  return false;
}

/// Every algorithm that the heuristic has for what descriptor and layouts say now, up to the first that fails.
void run_results(Session& session, PreparedMatmul& matmul, const MatmulProblem& expected, Observation& observation) {
  const auto answer = matmul.query(session.handle(), kRequested);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  const auto stages = observation.stages;
  int right = 0;
  for (std::size_t i = 0; i < answer.results.size(); ++i) {
    if (answer.results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    observation.stages = stages;
    observation.facts[kAlgorithm] = algorithm_text(observation.heuristic[i], i, answer.results.size());
    if (!run_once(session, matmul, &answer.results[i].algo, expected, observation)) break;
    observation.facts.erase(kAlgorithm);
    ++right;
  }
  observation.facts[kResultsRight] = fmt::format("{} of {}", right, answer.results.size());
}

Observation run_every_result(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (matmul.describe(observation)) run_results(session, matmul, the_case.problem, observation);
  return observation;
}

Observation run_with_ld(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto& operand = the_case.parameters.at(kOperand);
  const auto layout = operand == "a"   ? matmul.a_layout()
                      : operand == "b" ? matmul.b_layout()
                      : operand == "c" ? matmul.c_layout()
                                       : matmul.d_layout();
  const std::int64_t ld = std::stoll(the_case.parameters.at(kLd));
  const auto status =
      session.platform().lt.matrix_layout_set_attribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld);
  if (!record(observation, "set_attribute", "cublasLtMatrixLayoutSetAttribute", status)) return observation;
  MatmulProblem expected = the_case.problem;
  if (the_case.parameters.at(kSubject) == kBroadcastC) {
    expected.beta = 0;
    expected.epilogue = CUBLASLT_EPILOGUE_BIAS;
    matmul.expect_c_as_bias();
  }
  run_results(session, matmul, expected, observation);
  return observation;
}

}  // namespace

Observation observe(Session& session, const Case& the_case) {
  const auto& steps = the_case.parameters.at(kSteps);
  return steps == kEveryResult ? run_every_result(session, the_case) : run_with_ld(session, the_case);
}

}  // namespace lt_audit::shape_limits
