// One algorithm with a workspace that is exact, larger, too small, null or unaligned; and what all steps share.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "lt_audit/verdict.h"
#include "workspace_scenarios.h"

namespace lt_audit::workspace {
namespace {

constexpr int kRequestedResults = 16;
/// No value that a partial sum of small integers or a counter would have.
constexpr unsigned char kPoison = 0xA5;

/// The problem's workspace as it lies in memory.
Part whole(const PreparedMatmul& matmul) {
  return {matmul.pointers().workspace, static_cast<std::size_t>(matmul.problem().workspace_bytes)};
}

std::uint64_t changed_bytes(const CudaApi& cuda, const std::byte* begin, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return 0;
  std::vector<unsigned char> copy(bytes);
  require(cuda.memcpy_async(copy.data(), begin, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
  return static_cast<std::uint64_t>(bytes) - static_cast<std::uint64_t>(std::count(copy.begin(), copy.end(), kPoison));
}

/// Bytes of the problem's workspace that the call changed although they are not in its part.
std::uint64_t changed_outside(const CudaApi& cuda, const PreparedMatmul& matmul, const Part& part) {
  const Part all = whole(matmul);
  const auto* const begin = static_cast<const std::byte*>(all.begin);
  const std::size_t before =
      part.begin == nullptr ? 0 : static_cast<std::size_t>(static_cast<const std::byte*>(part.begin) - begin);
  const std::size_t end = part.begin == nullptr ? 0 : before + part.bytes;
  return changed_bytes(cuda, begin, before, matmul.stream()) +
         changed_bytes(cuda, begin + end, all.bytes - end, matmul.stream());
}

enum class Need { some, none };

/// The first algorithm of the list that needs a workspace, or none; without one the case is not run.
Chosen choose(Session& session, PreparedMatmul& matmul, Need need, Observation& observation) {
  if (!matmul.describe(observation)) throw NotRun("the library refuses the description of the product");
  const auto answer = matmul.query(session.handle(), kRequestedResults);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  const auto found = std::find_if(answer.results.begin(), answer.results.end(), [need](const auto& result) {
    return result.state == CUBLAS_STATUS_SUCCESS && (result.workspaceSize > 0) == (need == Need::some);
  });
  if (found == answer.results.end()) {
    throw NotRun(fmt::format("the heuristic offers no algorithm that needs {} for this product: {} with {} results",
                             need == Need::some ? "a workspace" : "no workspace", name_of(answer.status),
                             answer.results.size()));
  }
  return {found->algo, matmul.read(*found)};
}

/// Calls with one part after the other; the first that does not do what `go_on` says ends it.
void run_each(Session& session, PreparedMatmul& matmul, const Chosen& chosen, const std::vector<Part>& parts,
              bool go_on, Observation& observation) {
  const auto before = observation.stages.size();
  for (const auto& part : parts) {
    observation.stages.resize(before);
    observation.facts[kDetail] = fmt::format("{}, given {}{}", chosen.text(), bytes_text(part.bytes),
                                             part.begin == nullptr ? " at a null pointer" : "");
    const bool right = run_verified(session, matmul, &chosen.algo, part, observation);
    const auto* call = observation.stage("matmul");
    const bool accepted = call != nullptr && call->ok();
    const bool as_expected = go_on ? right : !accepted;
    if (!as_expected || observation.facts.count(kDefect) > 0 || observation.end != ProcessEnd::survived) return;
  }
}

/// The first algorithm of this need, called with every part that `parts_of` makes of the problem's workspace and of the
/// bytes that the algorithm asks for.
template <class PartsOf>
Observation call_with(Session& session, const Case& the_case, Need need, bool go_on, PartsOf parts_of) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto chosen = choose(session, matmul, need, observation);
  const std::vector<Part> parts = parts_of(whole(matmul), static_cast<std::size_t>(chosen.read.workspace_bytes));
  run_each(session, matmul, chosen, parts, go_on, observation);
  return observation;
}

std::vector<Part> all_of_it(const Part& all, std::size_t /*asked*/) { return {all}; }

}  // namespace

std::int64_t operand_bytes(const MatmulProblem& problem) {
  std::int64_t bytes = 0;
  for (const auto& shape : {shape_a(problem), shape_b(problem), shape_c(problem), shape_d(problem)}) {
    bytes += shape.bytes();
  }
  return bytes;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes > 0 && bytes % kMiB == 0) return fmt::format("{} MiB", bytes / kMiB);
  if (bytes > 0 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes / 1024);
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

void set_defect(Observation& observation, const char* defect, std::string detail) {
  if (observation.facts.count(kDefect) > 0) return;
  observation.facts[kDefect] = defect;
  observation.facts[kDefectDetail] = std::move(detail);
}

std::string Chosen::text() const {
  return fmt::format("algo {}, tile {}, stages {}, split-K {}, asking for {}", read.algo_id, read.tile, read.stages,
                     read.split_k, bytes_text(read.workspace_bytes));
}

bool same_algorithm(const cublasLtMatmulAlgo_t& left, const cublasLtMatmulAlgo_t& right) {
  return std::memcmp(left.data, right.data, sizeof left.data) == 0;
}

bool synchronize(Session& session, const PreparedMatmul& matmul, Observation& observation) {
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (record(observation, "synchronize", "cudaStreamSynchronize", error)) return true;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = name_of(error);
  return false;
}

bool run_verified(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, const Part& part,
                  Observation& observation) {
  matmul.fill();
  matmul.fill_workspace(kPoison);
  observation.verification.reset();
  const auto status = matmul.matmul_with_workspace(session.handle(), algo, matmul.stream(), part.begin, part.bytes);
  const bool accepted = record(observation, "matmul", "cublasLtMatmul", status);
  if (!synchronize(session, matmul, observation)) return false;
  const bool right = accepted ? matmul.verify(observation) : matmul.verify_untouched(observation);
  if (observation.end != ProcessEnd::survived) return false;
  const auto outside = changed_outside(session.platform().cuda, matmul, part);
  if (outside > 0) {
    if (!observation.verification) observation.verification.emplace();
    observation.verification->workspace_guard_bytes_changed += outside;
  }
  if (accepted) return right && outside == 0;
  const auto outcome = outcome_of(observation);
  const bool told = outcome == Outcome::out_of_bounds || outcome == Outcome::input_changed;
  if (!right && !told) {
    set_defect(observation, "refused-and-written",
               fmt::format("cublasLtMatmul returns {}, and {} elements of D are written", name_of(status),
                           observation.verification->compared - observation.verification->unwritten));
  }
  return false;
}

Observation exact(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::some, true, [](const Part& all, std::size_t asked) {
    return std::vector<Part>{{all.begin, asked}};
  });
}

/// Four times what the heuristic was allowed, and the same from another aligned address.
Observation larger(Session& session, const Case& the_case) {
  Observation observation;
  Chosen chosen;
  {
    auto asked = session.prepare(the_case.problem);
    chosen = choose(session, asked, Need::some, observation);
  }
  MatmulProblem with_more = the_case.problem;
  with_more.workspace_bytes *= 4;
  auto matmul = session.prepare(with_more);
  if (!matmul.describe(observation)) return observation;
  const Part all = whole(matmul);
  run_each(session, matmul, chosen, {all, {static_cast<std::byte*>(all.begin) + 256, all.bytes - 256}}, true,
           observation);
  return observation;
}

/// The memory that the algorithm asks for is there each time, so that a call that runs all the same does no harm and
/// shows how far it writes.
Observation too_small(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::some, false, [](const Part& all, std::size_t asked) {
    return std::vector<Part>{{all.begin, 0}, {all.begin, asked / 2}, {all.begin, asked - 1}};
  });
}

Observation null_needed(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::some, false, [](const Part& /*all*/, std::size_t asked) {
    return std::vector<Part>{{nullptr, 0}, {nullptr, asked}};
  });
}

Observation null_unneeded(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::none, true, [](const Part& /*all*/, std::size_t /*asked*/) {
    return std::vector<Part>{{nullptr, 0}};
  });
}

Observation null_sized(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::none, true, [](const Part& all, std::size_t /*asked*/) {
    return std::vector<Part>{{nullptr, all.bytes}};
  });
}

Observation unaligned_needed(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::some, true, all_of_it);
}
Observation unaligned_unneeded(Session& session, const Case& the_case) {
  return call_with(session, the_case, Need::none, true, all_of_it);
}

}  // namespace lt_audit::workspace
