// Products with C in D's memory by every algorithm, and calls without a C; and what all steps share.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "in_place_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/verdict.h"

namespace lt_audit::in_place {
namespace {

/// The first use of a kernel costs milliseconds.
constexpr int kFewResults = 2;
constexpr int kManyResults = 16;

/// A layout as a structure that was never initialised has it: the bytes of cublasLtMatrixLayout_t, all zero.
cublasLtMatrixLayout_t zeroed_layout() {
  static cublasLtMatrixLayoutOpaque_t zeros{};
  return &zeros;
}

/// What the library answers to a query or check with this C layout; true for SUCCESS with a result.
bool ask(Session& session, PreparedMatmul& matmul, bool by_check, const Chosen& chosen, const CallOperands& o,
         Observation& observation) {
  const auto& lt = session.platform().lt;
  cublasLtMatmulHeuristicResult_t result{};
  if (by_check) {
    return record(observation, kAnswerStage, "cublasLtMatmulAlgoCheck",
                  lt.matmul_algo_check(session.handle(), matmul.desc(), o.a_layout, o.b_layout, o.c_layout, o.d_layout,
                                       &chosen.algo, &result));
  }
  int returned = 0;
  const auto status = lt.matmul_algo_get_heuristic(session.handle(), matmul.desc(), o.a_layout, o.b_layout, o.c_layout,
                                                   o.d_layout, matmul.preference(), 1, &result, &returned);
  return record(observation, kAnswerStage, "cublasLtMatmulAlgoGetHeuristic", status) && returned > 0;
}

}  // namespace

void set_defect(Observation& observation, const char* defect, std::string detail) {
  if (observation.facts.emplace(kDefect, defect).second) observation.facts[kDefectDetail] = std::move(detail);
}

std::size_t bytes_of_span(const MatrixShape& shape) {
  return static_cast<std::size_t>(shape.span()) * bytes_of(shape.type);
}

std::vector<std::byte> fetch(Session& session, const PreparedMatmul& matmul, const void* from, std::size_t bytes) {
  const auto& cuda = session.platform().cuda;
  std::vector<std::byte> memory(bytes);
  require(cuda.memcpy_async(memory.data(), from, bytes, cudaMemcpyDeviceToHost, matmul.stream()), "cudaMemcpyAsync");
  require(cuda.stream_synchronize(matmul.stream()), "cudaStreamSynchronize");
  return memory;
}

void send(Session& session, const PreparedMatmul& matmul, void* to, const std::vector<std::byte>& bytes) {
  const auto& cuda = session.platform().cuda;
  require(cuda.memcpy_async(to, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, matmul.stream()),
          "cudaMemcpyAsync");
  require(cuda.stream_synchronize(matmul.stream()), "cudaStreamSynchronize");
}

void for_each_line(const MatrixShape& shape, const std::function<void(std::size_t, std::size_t)>& visit) {
  const bool by_row = shape.order == CUBLASLT_ORDER_ROW;
  const std::int64_t lines = by_row ? shape.rows : shape.cols;
  const auto length = static_cast<std::size_t>(by_row ? shape.cols : shape.rows) * bytes_of(shape.type);
  // A stride of 0 is one matrix for all batches.
  const std::int32_t batches = shape.batch_stride == 0 ? 1 : shape.batch_count;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t first = batch * shape.batch_stride + line * shape.ld;
      visit(static_cast<std::size_t>(first) * bytes_of(shape.type), length);
    }
  }
}

bool synchronize(Session& session, const PreparedMatmul& matmul, Observation& observation) {
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (record(observation, "synchronize", "cudaStreamSynchronize", error)) return true;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = name_of(error);
  return false;
}

bool call_on(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, const CallOperands& operands,
             Observation& observation) {
  observation.verification.reset();
  const auto status = matmul.matmul_on(session.handle(), algo, matmul.stream(), operands);
  const bool accepted = record(observation, "matmul", "cublasLtMatmul", status);
  return synchronize(session, matmul, observation) && accepted;
}

std::vector<Chosen> algorithms_of(Session& session, PreparedMatmul& matmul, int most, Observation& observation) {
  std::vector<Chosen> chosen;
  if (!matmul.describe(observation)) return chosen;
  const auto answer = matmul.query(session.handle(), most);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) {
    observation.heuristic.push_back(matmul.read(result));
    if (result.state == CUBLAS_STATUS_SUCCESS) chosen.push_back({result.algo, observation.heuristic.back()});
  }
  return chosen;
}

void for_each_algorithm(const std::vector<Chosen>& algorithms, Observation& observation,
                        const std::function<bool(const Chosen&)>& run) {
  const auto before = observation.stages.size();
  int split = 0;
  int done = 0;
  for (const auto& one : algorithms) {
    observation.stages.resize(before);
    observation.facts[kDetail] = fmt::format("algo {}, tile {}, stages {}, split-K {}", one.read.algo_id, one.read.tile,
                                             one.read.stages, one.read.split_k);
    if (!run(one)) return;
    ++done;
    if (one.read.split_k > 1) ++split;
  }
  observation.facts["algorithms_run"] = fmt::to_string(done);
  observation.facts["split_k_algorithms"] = fmt::to_string(split);
}

Observation by_engine(Session& session, const Case& the_case) { return session.run(the_case.problem); }

/// C + A B into C's memory, or what else the problem says, by each algorithm on the same values.
Observation every_algorithm(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  if (const auto found = the_case.parameters.find(kMask); found != the_case.parameters.end()) {
    std::uint32_t mask = 0;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), mask);
    const auto status = session.platform().lt.matmul_preference_set_attribute(
        matmul.preference(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &mask, sizeof mask);
    if (status != CUBLAS_STATUS_SUCCESS) throw NotRun(fmt::format("the mask is refused with {}", name_of(status)));
  }
  const auto answer = matmul.query(session.handle(), kManyResults);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  std::vector<Chosen> algorithms;
  for (const auto& result : answer.results) {
    observation.heuristic.push_back(matmul.read(result));
    if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back({result.algo, observation.heuristic.back()});
  }
  for_each_algorithm(algorithms, observation, [&](const Chosen& one) {
    matmul.fill();
    return call_on(session, matmul, &one.algo, matmul.operands(), observation) && matmul.verify(observation);
  });
  return observation;
}

Observation one_layout(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, kFewResults, observation);
  auto operands = matmul.operands();
  operands.c_layout = operands.d_layout;
  for_each_algorithm(algorithms, observation, [&](const Chosen& one) {
    matmul.fill();
    return call_on(session, matmul, &one.algo, operands, observation) && matmul.verify(observation);
  });
  return observation;
}

Observation null_c(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, kFewResults, observation);
  auto operands = matmul.operands();
  operands.c = nullptr;
  for_each_algorithm(algorithms, observation, [&](const Chosen& one) {
    matmul.fill();
    return call_on(session, matmul, &one.algo, operands, observation) && matmul.verify(observation);
  });
  return observation;
}

/// The first algorithm alone: what accepts the call faults, and nothing runs after it.
Observation null_c_with_beta(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, 1, observation);
  if (algorithms.empty()) return observation;
  auto operands = matmul.operands();
  operands.c = nullptr;
  matmul.fill();
  if (call_on(session, matmul, &algorithms.front().algo, operands, observation)) matmul.verify(observation);
  return observation;
}

/// The call gets no layout of C, or one that was never initialised. A query that is answered all the same is followed
/// by the call that it is for, with the layout that it did not see.
Observation null_layout(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, 1, observation);
  if (algorithms.empty()) return observation;
  const auto& chosen = algorithms.front();
  const auto& function = the_case.parameters.at(kCall);
  auto without = matmul.operands();
  without.c_layout = the_case.parameters.at(kLayout) == "null" ? nullptr : zeroed_layout();
  const bool asks = function != "matmul";
  if (asks && !ask(session, matmul, function == "check", chosen, without, observation)) return observation;
  matmul.fill();
  if (call_on(session, matmul, &chosen.algo, asks ? matmul.operands() : without, observation)) {
    matmul.verify(observation);
  }
  return observation;
}

}  // namespace lt_audit::in_place
