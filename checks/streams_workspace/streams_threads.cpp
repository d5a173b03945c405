// Two host threads with one handle, each on cudaStreamPerThread.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "streams_scenarios.h"

namespace lt_audit::streams_workspace {
namespace {

constexpr std::size_t kThreads = 2;
constexpr int kCalls = 8;
/// So many wrong results tell enough: work that is mixed up may also hang.
constexpr int kEnoughWrong = 5;
constexpr std::int64_t kLeadNs = 150'000;

/// The rounds of all threads begin together; one that ends early keeps nobody waiting.
class Together {
 public:
  explicit Together(std::barrier<>& barrier) : barrier_(barrier) {}
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  ~Together() { barrier_.arrive_and_drop(); }
  void begin_round() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<>& barrier_;
};

/// What a thread saw of its product.
struct Seen {
  Observation observation;
  int rounds = 0;
  int wrong = 0;
  bool accepted = true;
};

struct Work {
  Session& session;
  PreparedMatmul& matmul;
  void* workspace;
  const std::vector<Chosen>& chosen;
  int rounds;
  /// Of both threads.
  std::atomic<int>& wrong;
};

/// One round of a thread; false when it is the last.
bool run_round(const Work& work, const Chosen& one, std::uint64_t variant, Together& all, Seen& seen) {
  const auto& platform = work.session.platform();
  const auto bytes = static_cast<std::size_t>(work.matmul.problem().workspace_bytes);
  const int calls = calls_in_a_row(work.session, work.matmul.problem(), kCalls);
  work.matmul.fill(variant);
  all.begin_round();
  require(platform.kernels.occupy(kLeadNs, cudaStreamPerThread), "audit kernel occupy");
  for (int call = 0; call < calls && seen.accepted; ++call) {
    const auto status =
        work.matmul.matmul_with_workspace(work.session.handle(), &one.algo, cudaStreamPerThread, work.workspace, bytes);
    seen.accepted = record(seen.observation, "matmul", "cublasLtMatmul", status);
  }
  const auto error = platform.cuda.stream_synchronize(cudaStreamPerThread);
  if (!record(seen.observation, "synchronize", "cudaStreamSynchronize", error)) {
    seen.observation.end = ProcessEnd::context_lost;
    seen.observation.end_detail = name_of(error);
    return false;
  }
  if (!seen.accepted) return false;
  ++seen.rounds;
  if (!verify_into(seen.observation, work.matmul, after_calls(work.matmul.problem(), calls))) {
    ++seen.wrong;
    ++work.wrong;
  }
  return seen.observation.end == ProcessEnd::survived && work.wrong < kEnoughWrong;
}

Seen run_thread(const Work& work, std::uint64_t variant, std::barrier<>& barrier) {
  Together all(barrier);
  Seen seen;
  require(work.session.platform().cuda.set_device(work.session.target().device), "cudaSetDevice");
  for (const auto& one : work.chosen) {
    for (int i = 0; i < work.rounds; ++i) {
      seen.observation.stages.clear();
      if (!run_round(work, one, variant, all, seen)) return seen;
    }
  }
  return seen;
}

}  // namespace

Observation in_threads(Session& session, const Case& the_case) {
  Observation observation;
  std::vector<PreparedMatmul> matmuls;
  for (std::size_t i = 0; i < kThreads; ++i) {
    matmuls.push_back(session.prepare_apart(the_case.problem));
    if (!matmuls.back().describe(observation)) return observation;
  }
  auto chosen = choose(session, the_case, matmuls.front(), Need::some, observation);
  const int rounds = rounds_of(session, the_case);
  const bool shared = parameter(the_case, kWorkspace) == "shared";
  if (shared) keep_out_of_hangs(chosen, the_case.problem);
  std::barrier<> barrier(kThreads);
  std::atomic<int> all_wrong = 0;
  std::vector<std::future<Seen>> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    auto* const workspace = matmuls.at(shared ? 0 : i).pointers().workspace;
    threads.push_back(std::async(std::launch::async, [&, i, workspace] {
      return run_thread({session, matmuls.at(i), workspace, chosen, rounds, all_wrong}, i + 1, barrier);
    }));
  }
  std::vector<Seen> seen;
  for (auto& thread : threads) seen.push_back(thread.get());
  int runs = 0;
  const Seen* worst = &seen.front();
  for (const auto& one : seen) {
    runs += one.rounds;
    const bool bad = one.wrong > 0 || !one.accepted || one.observation.end != ProcessEnd::survived;
    if (bad) worst = &one;
  }
  auto& stages = observation.stages;
  stages.insert(stages.end(), worst->observation.stages.begin(), worst->observation.stages.end());
  observation.verification = worst->observation.verification;
  observation.end = worst->observation.end;
  observation.end_detail = worst->observation.end_detail;
  observation.facts["rounds_run"] = fmt::to_string(runs);
  if (all_wrong > 0) {
    observation.facts[kDetail] = fmt::format("{} of {} results of two threads wrong", all_wrong.load(), runs);
  }
  return observation;
}

}  // namespace lt_audit::streams_workspace
