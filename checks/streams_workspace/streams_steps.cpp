// What the scenarios share: streams of every kind, algorithms, rounds, verification.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "lt_audit/error.h"
#include "streams_scenarios.h"

namespace lt_audit::streams_workspace {
namespace {

constexpr int kRequestedResults = 8;
constexpr std::size_t kMostKinds = 3;
constexpr std::int64_t kFewRoundsBytes = std::int64_t{4} << 20;
constexpr std::int64_t kFewestRoundsBytes = std::int64_t{64} << 20;

bool adds_to_d(const MatmulProblem& problem) { return problem.in_place && problem.beta != 0; }

/// One of each kind: of those that split k alike, or on the simulator of those that need a workspace and those that do
/// not, since the others differ in nothing that shows.
void keep_kinds(std::vector<Chosen>& chosen, bool by_need_alone) {
  std::vector<Chosen> kept;
  for (const auto& one : chosen) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const Chosen& other) {
      return (other.read.workspace_bytes > 0) == (one.read.workspace_bytes > 0) &&
             (by_need_alone || (other.read.algo_id == one.read.algo_id && other.read.split_k == one.read.split_k));
    });
    if (!known && kept.size() < kMostKinds) kept.push_back(one);
  }
  chosen = std::move(kept);
}

}  // namespace

std::string parameter(const Case& the_case, const char* name) {
  const auto found = the_case.parameters.find(name);
  return found == the_case.parameters.end() ? std::string() : found->second;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void set_defect(Observation& observation, const char* defect, std::string detail) {
  if (observation.facts.count(kDefect) > 0) return;
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = std::move(detail);
}

StreamOfKind make_stream(const CudaApi& cuda, const std::string& kind) {
  if (kind == "legacy") return {{}, cudaStreamLegacy};
  if (kind == "per-thread") return {{}, cudaStreamPerThread};
  if (kind == "null") return {};
  cudaStream_t stream = nullptr;
  if (kind == "high" || kind == "low") {
    int least = 0;
    int greatest = 0;
    require(cuda.device_get_stream_priority_range(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    require(cuda.stream_create_with_priority(&stream, cudaStreamNonBlocking, kind == "high" ? greatest : least),
            "cudaStreamCreateWithPriority");
  } else {
    const unsigned flags = kind == "blocking" ? cudaStreamDefault : cudaStreamNonBlocking;
    require(cuda.stream_create_with_flags(&stream, flags), "cudaStreamCreateWithFlags");
  }
  return {Stream(cuda, stream), stream};
}

Event make_event(const CudaApi& cuda) {
  cudaEvent_t event = nullptr;
  require(cuda.event_create(&event), "cudaEventCreate");
  return {cuda, event};
}

LtHandle make_handle(const Platform& platform) {
  cublasLtHandle_t handle = nullptr;
  require(platform.lt.create(&handle), "cublasLtCreate");
  return {platform.lt, handle};
}

DeviceMemory make_memory(const CudaApi& cuda, std::size_t bytes) {
  void* memory = nullptr;
  require(cuda.malloc(&memory, bytes), "cudaMalloc");
  return {cuda, memory};
}

std::int64_t operand_bytes(const MatmulProblem& problem) {
  std::int64_t bytes = 0;
  for (const auto& shape : {shape_a(problem), shape_b(problem), shape_c(problem), shape_d(problem)}) {
    bytes += shape.span() * static_cast<std::int64_t>(bytes_of(shape.type));
  }
  return bytes;
}

int rounds_of(const Session& session, const Case& the_case) {
  const auto asked = parameter(the_case, kRounds);
  const int rounds = asked.empty() ? 1 : std::stoi(asked);
  if (session.target().kind == PlatformKind::simulator) return 1;
  const auto bytes = operand_bytes(the_case.problem);
  return bytes > kFewestRoundsBytes ? std::min(rounds, 2) : bytes > kFewRoundsBytes ? std::min(rounds, 8) : rounds;
}

std::string Chosen::text() const {
  return fmt::format("algo {}, tile {}, stages {}, split-K {}, asking for {} bytes", read.algo_id, read.tile,
                     read.stages, read.split_k, read.workspace_bytes);
}

std::vector<Chosen> choose(Session& session, const Case& the_case, PreparedMatmul& matmul, Need need,
                           Observation& observation) {
  const auto answer = matmul.query(session.handle(), kRequestedResults);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  std::vector<Chosen> chosen;
  for (const auto& result : answer.results) {
    observation.heuristic.push_back(matmul.read(result));
    const bool fits = need == Need::any || (result.workspaceSize > 0) == (need == Need::some);
    if (result.state == CUBLAS_STATUS_SUCCESS && fits) chosen.push_back({result.algo, observation.heuristic.back()});
  }
  if (chosen.empty() && need != Need::any) {
    throw NotRun(fmt::format("the heuristic offers no algorithm that needs {} for this product: {} with {} results",
                             need == Need::some ? "a workspace" : "no workspace", name_of(answer.status),
                             answer.results.size()));
  }
  const auto asked = parameter(the_case, kAlgorithms);
  if (asked == "first" && chosen.size() > 1) chosen.resize(1);
  if (asked == "some") keep_kinds(chosen, session.target().kind == PlatformKind::simulator);
  return chosen;
}

void keep_out_of_hangs(std::vector<Chosen>& chosen, const MatmulProblem& problem) {
  // Partial sums are at least as wide as D.
  const auto one_d = static_cast<std::uint64_t>(problem.m * problem.n * problem.batch_count) * bytes_of(problem.type_d);
  std::erase_if(chosen, [one_d](const Chosen& one) {
    return one.read.workspace_bytes > 0 && one.read.workspace_bytes < 2 * one_d;
  });
  if (chosen.empty()) {
    throw NotRun("the algorithm keeps counters and no sums in its workspace: shared it may hang, and is not tried");
  }
}

bool synchronize(Session& session, Observation& observation) {
  const auto error = session.platform().cuda.device_synchronize();
  if (record(observation, "synchronize", "cudaDeviceSynchronize", error)) return true;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = name_of(error);
  return false;
}

bool verify_into(Observation& observation, PreparedMatmul& matmul, const MatmulProblem& expected) {
  Observation now;
  const bool right = matmul.verify(now, expected);
  if (now.end != ProcessEnd::survived) {
    observation.end = now.end;
    observation.end_detail = now.end_detail;
    return false;
  }
  const auto& before = observation.verification;
  const bool keep = before && !(before->all_right() && before->nothing_else_written());
  if (!keep) observation.verification = now.verification;
  return right;
}

MatmulProblem after_calls(const MatmulProblem& problem, int calls) {
  MatmulProblem expected = problem;
  if (adds_to_d(problem)) expected.alpha *= calls;
  return expected;
}

int calls_in_a_row(const Session& session, const MatmulProblem& problem, int wanted) {
  const bool alike = session.target().kind == PlatformKind::simulator;
  // alpha times the number of calls is what remains, when each call leaves what was there. Inputs are so that one sum
  // is exact whatever its signs; a few sums of random signs stay far below that bound.
  return adds_to_d(problem) && (problem.beta != 1 || problem.epilogue != CUBLASLT_EPILOGUE_DEFAULT) ? 1
         : alike ? std::min(wanted, 2)
                 : wanted;
}

}  // namespace lt_audit::streams_workspace
