// Products on several streams at once: with workspaces of their own, with one workspace, in an order or in none.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "streams_scenarios.h"

namespace lt_audit::streams_workspace {
namespace {

/// Calls of each product in a round: the streams are busy side by side for longer than they need to start.
constexpr int kCalls = 4;
/// So many wrong rounds tell enough: work that is mixed up may also hang.
constexpr int kEnoughWrong = 5;
/// What the streams are held for until the host has enqueued a round: for one call, and at least.
constexpr std::int64_t kLeadOfCallNs = 10'000;
constexpr std::int64_t kLeadNs = 60'000;
constexpr int kBitsRounds = 2;

/// A product with its stream, handle and workspace.
struct Lane {
  PreparedMatmul matmul;
  StreamOfKind stream;
  LtHandle own_handle;
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
};

class Round {
 public:
  Round(Session& session, const Case& the_case, Observation& observation)
      : session_(session),
        cuda_(session.platform().cuda),
        observation_(observation),
        order_(parameter(the_case, kOrder)),
        bytes_(static_cast<std::size_t>(the_case.problem.workspace_bytes)),
        calls_(calls_in_a_row(session, the_case.problem, kCalls)),
        gate_(make_event(cuda_)) {
    const bool shared = parameter(the_case, kWorkspace) != "own";
    for (const auto& kind : words_of(parameter(the_case, kStreams))) {
      Lane lane{session.prepare_apart(the_case.problem), {}, {}, session.handle(), nullptr};
      lane.stream = kind == "same" ? StreamOfKind{{}, lanes_.front().stream.stream} : make_stream(cuda_, kind);
      if (parameter(the_case, kHandles) == "each") {
        lane.own_handle = make_handle(session.platform());
        lane.handle = lane.own_handle.get();
      }
      lanes_.push_back(std::move(lane));
      lanes_.back().workspace = (shared ? lanes_.front() : lanes_.back()).matmul.pointers().workspace;
    }
  }

  std::vector<Lane>& lanes() { return lanes_; }
  bool describe() {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](Lane& lane) { return lane.matmul.describe(observation_); });
  }

  /// Enqueues the calls of a round so that the streams begin together, and waits for them.
  bool run(const Chosen& chosen) {
    hold_streams();
    bool accepted = true;
    for (int call = 0; call < calls_ && accepted; ++call) {
      for (auto& lane : lanes_) {
        accepted = accepted && enqueue(lane, chosen);
        keep_order(lane);
      }
    }
    return synchronize(session_, observation_) && accepted;
  }

  /// Fresh inputs, a round, all of memory compared. Nothing when a call was refused or the context is lost.
  std::optional<bool> verified(const Chosen& chosen) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].matmul.fill(i + 1);
    if (!run(chosen)) return std::nullopt;
    bool right = true;
    for (auto& lane : lanes_) {
      right = verify_into(observation_, lane.matmul, after_calls(lane.matmul.problem(), calls_)) && right;
      if (observation_.end != ProcessEnd::survived) return std::nullopt;
    }
    return right;
  }

  /// The bits of every D after a round; empty when a call was refused or the context is lost.
  std::vector<std::uint64_t> bits(const Chosen& chosen) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].matmul.fill_rounding(i + 1);
    if (!run(chosen)) return {};
    return digests();
  }
  /// The same with one stream after the other.
  std::vector<std::uint64_t> bits_alone(const Chosen& chosen) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].matmul.fill_rounding(i + 1);
      for (int call = 0; call < calls_; ++call) {
        if (!enqueue(lanes_[i], chosen)) return {};
      }
      if (!synchronize(session_, observation_)) return {};
    }
    return digests();
  }

 private:
  bool enqueue(const Lane& lane, const Chosen& chosen) {
    const auto status =
        lane.matmul.matmul_with_workspace(lane.handle, &chosen.algo, lane.stream.stream, lane.workspace, bytes_);
    return record(observation_, "matmul", "cublasLtMatmul", status);
  }

  void hold_streams() {
    const auto all_calls = static_cast<std::int64_t>(lanes_.size()) * calls_;
    const auto first = lanes_.front().stream.stream;
    require(session_.platform().kernels.occupy(kLeadNs + all_calls * kLeadOfCallNs, first), "audit kernel occupy");
    require(cuda_.event_record(gate_.get(), first), "cudaEventRecord");
    for (std::size_t i = 1; i < lanes_.size(); ++i) {
      require(cuda_.stream_wait_event(lanes_[i].stream.stream, gate_.get()), "cudaStreamWaitEvent");
    }
  }

  /// Whatever follows waits for the last call, if the case orders its calls.
  void keep_order(const Lane& lane) {
    if (order_ == "events") {
      require(cuda_.event_record(gate_.get(), lane.stream.stream), "cudaEventRecord");
      for (const auto& other : lanes_) {
        require(cuda_.stream_wait_event(other.stream.stream, gate_.get()), "cudaStreamWaitEvent");
      }
    }
    // An operation of the legacy stream lies between the work of blocking streams before and after it.
    if (order_ == "legacy") require(cuda_.event_record(gate_.get(), cudaStreamLegacy), "cudaEventRecord");
  }

  std::vector<std::uint64_t> digests() {
    std::vector<std::uint64_t> all;
    for (auto& lane : lanes_) all.push_back(lane.matmul.d_digest());
    return all;
  }

  Session& session_;
  const CudaApi& cuda_;
  Observation& observation_;
  std::string order_;
  std::size_t bytes_;
  int calls_;
  Event gate_;
  std::vector<Lane> lanes_;
};

/// True when all rounds were right.
bool run_rounds(Round& round, const Chosen& chosen, int rounds, std::size_t number, Observation& observation) {
  const auto before = observation.stages.size();
  int wrong = 0;
  int run = 0;
  for (; run < rounds && wrong < kEnoughWrong; ++run) {
    observation.stages.resize(before);
    const auto right = round.verified(chosen);
    if (!right) {
      observation.facts[kDetail] = chosen.text();
      return false;
    }
    wrong += *right ? 0 : 1;
  }
  const auto said = fmt::format("{} of {} rounds wrong with {}", wrong, run, chosen.text());
  observation.facts[fmt::format("algorithm.{}", number)] = said;
  if (wrong > 0) observation.facts[kDetail] = said;
  return wrong == 0;
}

/// The same bits at every run, alone and beside others.
void compare_bits(Round& round, const Chosen& chosen, int rounds, Observation& observation) {
  const auto before = observation.stages.size();
  const auto alone = round.bits_alone(chosen);
  if (alone.empty()) return;
  for (int i = 0; i < rounds; ++i) {
    observation.stages.resize(before);
    const auto now = round.bits(chosen);
    if (now.empty()) return;
    for (std::size_t lane = 0; lane < now.size(); ++lane) {
      if (now[lane] == alone[lane]) continue;
      set_defect(observation, "bits-change",
                 fmt::format("round {} of {} gives D of stream {} the bits {:016x}, and {:016x} when it runs alone "
                             "({})",
                             i + 1, rounds, lane + 1, now[lane], alone[lane], chosen.text()));
      return;
    }
  }
  observation.facts["bits_rounds"] = fmt::to_string(rounds);
}

}  // namespace

Observation together(Session& session, const Case& the_case) {
  Observation observation;
  Round round(session, the_case, observation);
  if (!round.describe()) return observation;
  auto& first = round.lanes().front().matmul;
  const bool only_first = parameter(the_case, kAlgorithms) == "first";
  const auto workspace = parameter(the_case, kWorkspace);
  const Need need = only_first ? Need::any : workspace == "unneeded" ? Need::none : Need::some;
  auto chosen = choose(session, the_case, first, need, observation);
  const bool mixed = workspace == "shared" && parameter(the_case, kOrder) == "none";
  if (mixed && !chosen.empty()) keep_out_of_hangs(chosen, the_case.problem);
  const int rounds = rounds_of(session, the_case);
  std::size_t number = 0;
  const auto before = observation.stages.size();
  for (const auto& one : chosen) {
    observation.stages.resize(before);
    if (!run_rounds(round, one, rounds, ++number, observation)) return observation;
    if (workspace == "own") compare_bits(round, one, std::min(rounds, kBitsRounds), observation);
    if (observation.facts.count(kDefect) > 0 || observation.end != ProcessEnd::survived) return observation;
  }
  observation.facts["rounds_run"] = fmt::to_string(rounds * static_cast<int>(chosen.size()));
  return observation;
}

}  // namespace lt_audit::streams_workspace
