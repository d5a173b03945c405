// One algorithm again and again on the same inputs: the bits are the same whatever the workspace held before.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lt_audit/error.h"
#include "lt_audit/verdict.h"
#include "workspace_scenarios.h"

namespace lt_audit::workspace {
namespace {

constexpr int kRequestedResults = 8;
/// After zeros: NaN, ordinary and large values, small counters, signs.
constexpr std::array<unsigned char, 6> kContents{0xFF, 0x3C, 0x7B, 0x01, 0x80, 0x55};
/// Runs on the first content, before the others.
constexpr int kSameContent = 4;
constexpr int kOldD = 0xA5;
constexpr std::int64_t kManyRunsBytes = 32 * kMiB;

/// Of a large product two algorithms and two runs of each kind.
struct Runs {
  std::size_t algorithms = kRequestedResults;
  int same = kSameContent;
  std::size_t contents = kContents.size();
};
Runs runs_of(const MatmulProblem& problem) { return operand_bytes(problem) > kManyRunsBytes ? Runs{2, 2, 2} : Runs{}; }

/// The inputs of the first run again, and a D that holds nothing of it. The inputs were seen to be left alone, and to
/// fill them costs more than the run.
void prepare_run(Session& session, PreparedMatmul& matmul, bool is_first) {
  const auto& problem = matmul.problem();
  const bool reads_d = problem.in_place && problem.reads_c();
  if (is_first || reads_d) return matmul.fill_rounding();
  const auto bytes = static_cast<std::size_t>(shape_d(problem).bytes());
  require(session.platform().cuda.memset_async(matmul.pointers().d, kOldD, bytes, matmul.stream()), "cudaMemsetAsync");
}

/// The bits of D after one run; nothing when it did not run.
std::optional<std::uint64_t> bits_of_run(Session& session, PreparedMatmul& matmul, const Chosen& chosen,
                                         unsigned char content, Observation& observation) {
  matmul.fill_workspace(content);
  if (!matmul.matmul(session.handle(), &chosen.algo, matmul.stream(), observation)) return std::nullopt;
  if (!synchronize(session, matmul, observation)) return std::nullopt;
  return matmul.d_digest();
}

/// Wrong numbers on a workspace full of something old may be right on one of zeros, as the first call of a process has
/// it.
void look_again_on_zeros(Session& session, PreparedMatmul& matmul, const Chosen& chosen, Observation& observation) {
  Observation again;
  matmul.fill();
  matmul.fill_workspace(0);
  const bool ran =
      matmul.matmul(session.handle(), &chosen.algo, matmul.stream(), again) && synchronize(session, matmul, again);
  if (!ran || !matmul.verify(again)) return;
  set_defect(observation, "stale-workspace",
             fmt::format("{}, and none on a workspace that was cleared before", describe(observation)));
}

/// True when every run gives the bits of the first.
bool repeat_one(Session& session, PreparedMatmul& matmul, const Chosen& chosen, Observation& observation) {
  const auto before = observation.stages.size();
  const Part part{matmul.pointers().workspace, static_cast<std::size_t>(matmul.problem().workspace_bytes)};
  if (!run_verified(session, matmul, &chosen.algo, part, observation)) {
    if (outcome_of(observation) == Outcome::wrong_result) {
      look_again_on_zeros(session, matmul, chosen, observation);
    }
    return false;
  }
  const auto runs = runs_of(matmul.problem());
  std::optional<std::uint64_t> first;
  const int all = runs.same + static_cast<int>(runs.contents);
  for (int run = 0; run < all; ++run) {
    observation.stages.resize(before);
    const bool other_content = run >= runs.same && part.begin != nullptr;
    const unsigned char content = other_content ? kContents.at(static_cast<std::size_t>(run - runs.same)) : 0;
    prepare_run(session, matmul, run == 0);
    const auto bits = bits_of_run(session, matmul, chosen, content, observation);
    if (!bits) return false;
    if (!first) first = bits;
    if (*bits == *first) continue;
    const auto ran = other_content ? fmt::format("on a workspace filled with {:#04x} where zeros were before", content)
                                   : std::string("on the same inputs and the same workspace");
    set_defect(
        observation, other_content ? "stale-workspace" : "bits-change",
        fmt::format("run {} of {} {} gives D the bits {:016x} instead of {:016x}", run + 1, all, ran, *bits, *first));
    return false;
  }
  observation.facts["runs"] = fmt::to_string(all);
  return true;
}

}  // namespace

/// With the heuristic's first algorithm, and with those that need a workspace.
Observation repeat(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto answer = matmul.query(session.handle(), kRequestedResults);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  const auto most = runs_of(the_case.problem).algorithms;
  std::vector<Chosen> chosen;
  for (const auto& result : answer.results) {
    observation.heuristic.push_back(matmul.read(result));
    if (result.state != CUBLAS_STATUS_SUCCESS) continue;
    const bool wanted = chosen.empty() || result.workspaceSize > 0;
    if (wanted && chosen.size() < most) chosen.push_back({result.algo, observation.heuristic.back()});
  }
  const auto before = observation.stages.size();
  for (const auto& one : chosen) {
    observation.stages.resize(before);
    observation.facts[kDetail] = one.text();
    if (!repeat_one(session, matmul, one, observation)) return observation;
  }
  observation.facts["algorithms_run"] = fmt::to_string(chosen.size());
  return observation;
}

}  // namespace lt_audit::workspace
