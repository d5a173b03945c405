// What the cases do: query, look at the list, run every algorithm of it, use one again elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "heuristic_cases.h"
#include "lt_audit/error.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"
#include "lt_audit/verdict.h"

namespace lt_audit::heuristic_validity {
namespace {

constexpr const char* kQuery = "cublasLtMatmulAlgoGetHeuristic";

int requested_of(const Case& the_case) { return std::stoi(the_case.parameters.at(std::string(kRequested))); }

std::string describe_algorithm(const HeuristicResult& result, std::size_t index) {
  return fmt::format("result {} (algo {}, tile {}, stages {}, split-K {}, {} bytes of workspace)", index,
                     result.algo_id, result.tile, result.stages, result.split_k, result.workspace_bytes);
}

void set_defect(Observation& observation, const char* defect, std::string detail) {
  if (observation.facts.count(kDefect) > 0) return;
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = std::move(detail);
}

/// A capability, or nothing where this version of the library does not know it.
template <class Value>
std::optional<Value> capability(const LtApi& lt, const cublasLtMatmulAlgo_t& algo,
                                cublasLtMatmulAlgoCapAttributes_t attribute) {
  Value value{};
  std::size_t written = 0;
  if (!lt.matmul_algo_cap_get_attribute ||
      lt.matmul_algo_cap_get_attribute(&algo, attribute, &value, sizeof value, &written) != CUBLAS_STATUS_SUCCESS) {
    return std::nullopt;
  }
  return value;
}

/// What the algorithm says of itself against what was asked of the heuristic (cublasLt.h 13.1.0, lines 2351-2487).
void look_at_capabilities(const LtApi& lt, const MatmulProblem& p, const cublasLtMatmulAlgo_t& algo,
                          const HeuristicResult& result, const std::string& name, Observation& observation) {
  struct Need {
    const char* operand;
    cublasLtMatmulAlgoCapAttributes_t attribute;
    std::uint32_t promised;
  };
  const std::array<Need, 4> needs{{{"A", CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, p.a_alignment},
                                   {"B", CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, p.b_alignment},
                                   {"C", CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, p.c_alignment},
                                   {"D", CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, p.d_alignment}}};
  for (const auto& need : needs) {
    const auto asked = capability<std::uint32_t>(lt, algo, need.attribute);
    if (asked && *asked > need.promised) {
      set_defect(observation, "capability-above-promise",
                 fmt::format("{} needs {} aligned to {} bytes, and {} were promised", name, need.operand, *asked,
                             need.promised));
    }
  }
  const auto splits = capability<std::int32_t>(lt, algo, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT);
  const auto batches = capability<std::int32_t>(lt, algo, CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT);
  const auto epilogues = capability<std::uint32_t>(lt, algo, CUBLASLT_ALGO_CAP_EPILOGUE_MASK);
  const auto epilogue = static_cast<std::uint32_t>(p.epilogue);
  if (splits && *splits == 0 && result.split_k > 1) {
    set_defect(observation, "capability-contradicts-result", name + " splits k and states that it cannot");
  } else if (batches && *batches == 0 && p.batch_count > 1) {
    set_defect(observation, "capability-contradicts-result",
               name + " is offered for a batch and states that it has none");
  } else if (epilogues && (*epilogues & epilogue) != epilogue) {
    set_defect(
        observation, "capability-contradicts-result",
        fmt::format("{} is offered for epilogue {} and states the mask {:#x}", name, name_of(p.epilogue), *epilogues));
  }
}

/// The list itself: count, states, workspaces, AlgoCheck, capabilities.
void look_at_list(Session& session, PreparedMatmul& matmul, const HeuristicAnswer& answer, int requested,
                  Observation& observation) {
  const auto& p = matmul.problem();
  const auto limit = static_cast<std::uint64_t>(p.workspace_bytes);
  if (answer.results.empty()) set_defect(observation, "no-result", "SUCCESS with 0 results");
  if (static_cast<int>(answer.results.size()) > requested) {
    set_defect(observation, "more-than-requested",
               fmt::format("{} results where {} were requested", answer.results.size(), requested));
  }
  for (std::size_t i = 0; i < answer.results.size(); ++i) {
    const auto& result = answer.results[i];
    const auto& read = observation.heuristic[i];
    if (result.state != CUBLAS_STATUS_SUCCESS) {
      set_defect(observation, "state-not-success", fmt::format("result {} has the state {}", i, read.state));
      continue;
    }
    const std::string name = describe_algorithm(read, i);
    if (result.workspaceSize > limit) {
      set_defect(observation, "workspace-above-limit",
                 fmt::format("{} asks for {} bytes above the limit of {}", name, result.workspaceSize - limit, limit));
    }
    cublasLtMatmulHeuristicResult_t checked{};
    const auto status = matmul.check(session.handle(), result.algo, &checked);
    if (status != CUBLAS_STATUS_SUCCESS) {
      set_defect(observation, "algo-check-refuses", fmt::format("AlgoCheck answers {} to {}", name_of(status), name));
    } else if (checked.workspaceSize > limit) {
      set_defect(
          observation, "workspace-above-limit",
          fmt::format("AlgoCheck asks for {} bytes for {}, the limit is {}", checked.workspaceSize, name, limit));
    } else if (checked.workspaceSize != result.workspaceSize) {
      set_defect(observation, "algo-check-disagrees",
                 fmt::format("AlgoCheck asks for {} bytes of workspace for {}", checked.workspaceSize, name));
    }
    look_at_capabilities(session.platform().lt, p, result.algo, read, name, observation);
  }
}

/// One algorithm on freshly filled buffers. True when the outcome is right.
bool run_algorithm(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t& algo, cudaStream_t stream,
                   Observation& observation) {
  matmul.fill();
  observation.verification.reset();
  if (!matmul.matmul(session.handle(), &algo, stream, observation)) return false;
  const auto error = session.platform().cuda.stream_synchronize(stream);
  if (!record(observation, "synchronize", "cudaStreamSynchronize", error)) {
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error);
    return false;
  }
  return matmul.verify(observation);
}

/// Problem, objects and list of results; nothing to run when it returns null.
const cublasLtMatmulAlgo_t* first_result(Session& session, PreparedMatmul& matmul, Observation& observation) {
  return matmul.describe(observation) ? matmul.choose(session.handle(), observation) : nullptr;
}

Observation run_every_algorithm(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const int requested = requested_of(the_case);
  const auto answer = matmul.query(session.handle(), requested);
  if (!record(observation, "heuristic", kQuery, answer.status)) return observation;
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  look_at_list(session, matmul, answer, requested, observation);
  const auto before = observation.stages.size();
  std::size_t run = 0;
  for (std::size_t i = 0; i < answer.results.size(); ++i) {
    if (answer.results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    // The stages of the last algorithm are enough: of the right ones all say the same.
    observation.stages.resize(before);
    observation.facts[kAlgorithm] = describe_algorithm(observation.heuristic[i], i);
    ++run;
    if (!run_algorithm(session, matmul, answer.results[i].algo, matmul.stream(), observation)) break;
  }
  observation.facts["algorithms_run"] = fmt::to_string(run);
  return observation;
}

/// Stored as 64 bytes, everything else forgotten, restored for new objects.
Observation run_restored(Session& session, const Case& the_case) {
  Observation observation;
  std::array<unsigned char, sizeof(cublasLtMatmulAlgo_t)> stored{};
  {
    auto first = session.prepare(the_case.problem);
    const auto* algo = first_result(session, first, observation);
    if (algo == nullptr) return observation;
    std::memcpy(stored.data(), algo, stored.size());
  }
  auto second = session.prepare(the_case.problem);
  if (!second.describe(observation)) return observation;
  cublasLtMatmulAlgo_t restored;
  std::memcpy(&restored, stored.data(), stored.size());
  cublasLtMatmulHeuristicResult_t checked{};
  if (!record(observation, "algo_check", "cublasLtMatmulAlgoCheck",
              second.check(session.handle(), restored, &checked))) {
    return observation;
  }
  run_algorithm(session, second, restored, second.stream(), observation);
  return observation;
}

Observation run_in_other_process(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto* algo = first_result(session, matmul, observation);
  if (algo == nullptr) return observation;
  MatmulProblem given = the_case.problem;
  given.algo = AlgoChoice::given;
  std::copy(std::begin(algo->data), std::end(algo->data), given.algo_words.begin());
  auto heuristic = std::move(observation.heuristic);
  Observation seen = session.run_in_other_process(given);
  // The query was this process's, the rest is the other's.
  seen.stages.insert(seen.stages.begin(), observation.stages.begin(), observation.stages.end());
  seen.heuristic = std::move(heuristic);
  return seen;
}

/// The stream of the query is nobody's: the same result on streams of every kind.
Observation run_on_other_streams(Session& session, const Case& the_case) {
  const auto& cuda = session.platform().cuda;
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto* algo = first_result(session, matmul, observation);
  if (algo == nullptr) return observation;
  const auto make = [&cuda](unsigned flags) {
    cudaStream_t stream = nullptr;
    require(cuda.stream_create_with_flags(&stream, flags), "cudaStreamCreateWithFlags");
    return Stream(cuda, stream);
  };
  const Stream blocking = make(cudaStreamDefault);
  const Stream other = make(cudaStreamNonBlocking);
  const std::array<std::pair<const char*, cudaStream_t>, 5> streams{{{"the first stream", matmul.stream()},
                                                                     {"another stream", other.get()},
                                                                     {"a blocking stream", blocking.get()},
                                                                     {"the legacy stream", cudaStreamLegacy},
                                                                     {"the per-thread stream", cudaStreamPerThread}}};
  const auto before = observation.stages.size();
  for (const auto& [name, stream] : streams) {
    observation.stages.resize(before);
    observation.facts[kAlgorithm] = fmt::format("{} on {}", describe_algorithm(observation.heuristic[0], 0), name);
    if (!run_algorithm(session, matmul, *algo, stream, observation)) break;
  }
  return observation;
}

Observation run_on_other_buffers(Session& session, const Case& the_case) {
  Observation observation;
  auto first = session.prepare(the_case.problem);
  const auto* algo = first_result(session, first, observation);
  if (algo == nullptr) return observation;
  auto second = session.prepare_apart(the_case.problem);
  if (!second.describe(observation)) return observation;
  run_algorithm(session, second, *algo, second.stream(), observation);
  return observation;
}

Observation request_none(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto answer = matmul.query(session.handle(), requested_of(the_case));
  record(observation, "heuristic", kQuery, answer.status);
  return observation;
}

/// The algorithm was chosen under a limit that allows its workspace, and is then handed none.
Observation withhold_workspace(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto answer = matmul.query(session.handle(), requested_of(the_case));
  if (!record(observation, "heuristic", kQuery, answer.status)) return observation;
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  const auto needs = std::find_if(answer.results.begin(), answer.results.end(),
                                  [](const auto& result) { return result.workspaceSize > 0; });
  if (needs == answer.results.end()) throw NotRun("the heuristic offers no algorithm that needs a workspace here");
  MatmulProblem without = the_case.problem;
  without.workspace_bytes = 0;
  auto second = session.prepare_apart(without);
  if (!second.describe(observation)) return observation;
  observation.facts[kAlgorithm] =
      describe_algorithm(matmul.read(*needs), static_cast<std::size_t>(needs - answer.results.begin()));
  run_algorithm(session, second, needs->algo, second.stream(), observation);
  return observation;
}

/// Reads the id of results beyond the returned count, which the library left as they were.
Observation read_unused_results(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto answer = matmul.query(session.handle(), requested_of(the_case));
  record(observation, "heuristic", kQuery, answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  cublasLtMatmulHeuristicResult_t unused{};
  int id = 0;
  std::size_t written = 0;
  const auto& lt = session.platform().lt;
  const auto status =
      lt.matmul_algo_config_get_attribute(&unused.algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, &written);
  record(observation, "read_unused", "cublasLtMatmulAlgoConfigGetAttribute", status);
  observation.facts["returned"] = fmt::to_string(answer.results.size());
  observation.facts["unused_ids"] = status == CUBLAS_STATUS_SUCCESS ? fmt::to_string(id) : std::string(name_of(status));
  return observation;
}

}  // namespace

Observation observe(Session& session, const Case& the_case) {
  struct Step {
    std::string_view kind;
    Observation (*run)(Session&, const Case&);
  };
  static constexpr std::array kSteps{
      Step{kEveryAlgorithm, run_every_algorithm},   Step{kRestored, run_restored},
      Step{kOtherProcess, run_in_other_process},    Step{kOtherStreams, run_on_other_streams},
      Step{kOtherBuffers, run_on_other_buffers},    Step{kNoneRequested, request_none},
      Step{kWorkspaceWithheld, withhold_workspace}, Step{kUnusedResults, read_unused_results},
  };
  const auto kind = kind_of(the_case);
  const auto* const step = std::find_if(kSteps.begin(), kSteps.end(), [kind](const Step& s) { return s.kind == kind; });
  // What is left is the engine's own run, with the algorithm that the problem names.
  return step == kSteps.end() ? session.run(the_case.problem) : step->run(session, the_case);
}

}  // namespace lt_audit::heuristic_validity
