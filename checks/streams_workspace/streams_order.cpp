// What stands before a matmul in the order of its stream, and behind it: inputs, alpha and workspace that are written
// right before and right after, by a copy or by a kernel that may overlap with its neighbours.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "streams_scenarios.h"

namespace lt_audit::streams_workspace {
namespace {

constexpr int kCalls = 4;
/// A stream is held until the host has enqueued all of a round behind it.
constexpr std::int64_t kLeadNs = 150'000;
/// Long after another stream is done.
constexpr std::int64_t kLongLeadNs = 5'000'000;
/// A neighbouring kernel lets what follows start this long before it writes.
constexpr std::int64_t kLateNs = 20'000;
constexpr double kOtherAlpha = 3;

/// Writes device memory on a stream, by a copy or by a kernel under programmatic launch.
class Neighbour {
 public:
  Neighbour(Session& session, const Case& the_case)
      : platform_(session.platform()), by_kernel_(parameter(the_case, kNeighbour) == "kernel") {}

  void write(void* to, const void* from, std::size_t bytes, cudaStream_t stream) const {
    if (by_kernel_) {
      require(platform_.kernels.copy_late(to, from, bytes, kLateNs, stream), "audit kernel copy_late");
    } else {
      require(platform_.cuda.memcpy_async(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    }
  }

 private:
  const Platform& platform_;
  bool by_kernel_;
};

/// A as it should be, and zeros, to put in A's place.
class Inputs {
 public:
  Inputs(Session& session, const Case& the_case, const PreparedMatmul& matmul)
      : cuda_(session.platform().cuda), neighbour_(session, the_case), a_(matmul.pointers().a), on_(matmul.stream()) {
    const auto shape = shape_a(the_case.problem);
    bytes_ = static_cast<std::size_t>(shape.span()) * bytes_of(shape.type);
    right_ = make_memory(cuda_, bytes_);
    zeros_ = make_memory(cuda_, bytes_);
    require(cuda_.memset_async(zeros_.get(), 0, bytes_, on_), "cudaMemsetAsync");
  }

  /// Keeps what A holds now.
  void keep() {
    require(cuda_.memcpy_async(right_.get(), a_, bytes_, cudaMemcpyDeviceToDevice, on_), "cudaMemcpyAsync");
    require(cuda_.stream_synchronize(on_), "cudaStreamSynchronize");
  }
  /// The same, with zeros left in A.
  void hide() {
    keep();
    require(cuda_.memset_async(a_, 0, bytes_, on_), "cudaMemsetAsync");
    require(cuda_.stream_synchronize(on_), "cudaStreamSynchronize");
  }
  void bring_back(cudaStream_t stream) const { neighbour_.write(a_, right_.get(), bytes_, stream); }
  void overwrite(cudaStream_t stream) const { neighbour_.write(a_, zeros_.get(), bytes_, stream); }

 private:
  const CudaApi& cuda_;
  Neighbour neighbour_;
  void* a_;
  cudaStream_t on_;
  std::size_t bytes_ = 0;
  DeviceMemory right_;
  DeviceMemory zeros_;
};

/// Runs `round` for each algorithm as often as the case says, until one round is not right; `round` enqueues the calls
/// after the memory was filled and returns false when one was refused.
template <class RunRound, class Expected>
void run_each(Session& session, const Case& the_case, PreparedMatmul& matmul, const std::vector<Chosen>& chosen,
              RunRound run_round, Expected expected, Observation& observation) {
  const int rounds = rounds_of(session, the_case);
  const auto before = observation.stages.size();
  for (const auto& one : chosen) {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
      observation.stages.resize(before);
      observation.facts[kDetail] = one.text();
      matmul.fill(static_cast<std::uint64_t>(i) + 1);
      const bool accepted = run_round(one);
      if (!synchronize(session, observation) || !accepted) return;
      if (!verify_into(observation, matmul, expected)) ++wrong;
      if (observation.end != ProcessEnd::survived) return;
    }
    if (wrong == 0) continue;
    observation.facts[kDetail] = fmt::format("{} of {} rounds wrong with {}", wrong, rounds, one.text());
    return;
  }
  observation.facts.erase(kDetail);
  observation.facts["rounds_run"] = fmt::to_string(rounds * static_cast<int>(chosen.size()));
}

/// A product with the algorithms to run it with; nothing when the library refuses it.
std::optional<PreparedMatmul> prepare(Session& session, const Case& the_case, Need need, std::vector<Chosen>& chosen,
                                      Observation& observation) {
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return std::nullopt;
  chosen = choose(session, the_case, matmul, need, observation);
  if (chosen.empty()) return std::nullopt;
  return matmul;
}

void occupy(Session& session, std::int64_t nanoseconds, cudaStream_t stream) {
  require(session.platform().kernels.occupy(nanoseconds, stream), "audit kernel occupy");
}

void wait_for(const CudaApi& cuda, cudaStream_t waits, cudaStream_t for_this, const Event& event) {
  require(cuda.event_record(event.get(), for_this), "cudaEventRecord");
  require(cuda.stream_wait_event(waits, event.get()), "cudaStreamWaitEvent");
}

/// A scalar of the scale type in device memory.
DeviceMemory scalar_on_device(const CudaApi& cuda, cudaDataType_t type, double value, cudaStream_t stream) {
  alignas(16) std::array<std::byte, 16> bytes{};
  const auto single = static_cast<float>(value);
  if (type == CUDA_R_64F) std::memcpy(bytes.data(), &value, sizeof value);
  if (type == CUDA_R_32F) std::memcpy(bytes.data(), &single, sizeof single);
  auto memory = make_memory(cuda, bytes.size());
  require(cuda.memcpy_async(memory.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
  require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
  return memory;
}

}  // namespace

/// A is written right before the call and overwritten right after it, all on the stream of the call.
Observation inputs_in_order(Session& session, const Case& the_case) {
  Observation observation;
  std::vector<Chosen> chosen;
  auto matmul = prepare(session, the_case, Need::any, chosen, observation);
  if (!matmul) return observation;
  const auto on = make_stream(session.platform().cuda, parameter(the_case, kStreams));
  Inputs inputs(session, the_case, *matmul);
  const auto round = [&](const Chosen& one) {
    inputs.hide();
    occupy(session, kLeadNs, on.stream);
    inputs.bring_back(on.stream);
    const bool accepted = matmul->matmul(session.handle(), &one.algo, on.stream, observation);
    inputs.overwrite(on.stream);
    inputs.bring_back(on.stream);
    return accepted;
  };
  run_each(session, the_case, *matmul, chosen, round, the_case.problem, observation);
  return observation;
}

/// The same with the writer on another stream: events in between, or the order that the legacy stream brings.
Observation inputs_across_streams(Session& session, const Case& the_case) {
  const auto& cuda = session.platform().cuda;
  Observation observation;
  std::vector<Chosen> chosen;
  auto matmul = prepare(session, the_case, Need::any, chosen, observation);
  if (!matmul) return observation;
  const auto kinds = words_of(parameter(the_case, kStreams));
  const auto writer = make_stream(cuda, kinds.at(0));
  const auto on = make_stream(cuda, kinds.at(1));
  const bool by_events = parameter(the_case, kOrder) == "events";
  const auto event = make_event(cuda);
  Inputs inputs(session, the_case, *matmul);
  const auto round = [&](const Chosen& one) {
    inputs.hide();
    occupy(session, kLeadNs, writer.stream);
    inputs.bring_back(writer.stream);
    if (by_events) wait_for(cuda, on.stream, writer.stream, event);
    const bool accepted = matmul->matmul(session.handle(), &one.algo, on.stream, observation);
    if (by_events) wait_for(cuda, writer.stream, on.stream, event);
    inputs.overwrite(writer.stream);
    inputs.bring_back(writer.stream);
    return accepted;
  };
  run_each(session, the_case, *matmul, chosen, round, the_case.problem, observation);
  return observation;
}

/// The control: without an order the matmul is done before the other stream overwrites A, so that the cases about
/// order can fail at all.
Observation no_order_between_streams(Session& session, const Case& the_case) {
  const auto& cuda = session.platform().cuda;
  Observation observation;
  std::vector<Chosen> chosen;
  auto matmul = prepare(session, the_case, Need::any, chosen, observation);
  if (!matmul) return observation;
  chosen.resize(1);
  const auto kinds = words_of(parameter(the_case, kStreams));
  const auto writer = make_stream(cuda, kinds.at(0));
  const auto on = make_stream(cuda, kinds.at(1));
  Inputs inputs(session, the_case, *matmul);
  const auto round = [&](const Chosen& one) {
    inputs.keep();
    occupy(session, kLongLeadNs, writer.stream);
    inputs.overwrite(writer.stream);
    const bool accepted = matmul->matmul(session.handle(), &one.algo, on.stream, observation);
    require(cuda.stream_synchronize(on.stream), "cudaStreamSynchronize");
    inputs.bring_back(writer.stream);
    return accepted;
  };
  run_each(session, the_case, *matmul, chosen, round, the_case.problem, observation);
  const auto& seen = observation.verification;
  if (observation.end == ProcessEnd::survived && seen && seen->wrong > 0 && seen->nothing_else_written()) {
    set_defect(observation, "not-concurrent",
               fmt::format("{} of {} elements of D were computed from what the other stream wrote later", seen->wrong,
                           seen->compared));
  }
  return observation;
}

/// alpha in device memory is written right before the call and changed right after it.
Observation scalars_in_order(Session& session, const Case& the_case) {
  const auto& cuda = session.platform().cuda;
  Observation observation;
  std::vector<Chosen> chosen;
  auto matmul = prepare(session, the_case, Need::any, chosen, observation);
  if (!matmul) return observation;
  const auto type = the_case.problem.scale_type;
  const auto on = make_stream(cuda, parameter(the_case, kStreams));
  const auto old_alpha = scalar_on_device(cuda, type, the_case.problem.alpha, matmul->stream());
  const auto new_alpha = scalar_on_device(cuda, type, kOtherAlpha, matmul->stream());
  const Neighbour neighbour(session, the_case);
  MatmulProblem expected = the_case.problem;
  expected.alpha = kOtherAlpha;
  const auto round = [&](const Chosen& one) {
    occupy(session, kLeadNs, on.stream);
    neighbour.write(matmul->device_alpha(), new_alpha.get(), bytes_of(type), on.stream);
    const bool accepted = matmul->matmul(session.handle(), &one.algo, on.stream, observation);
    neighbour.write(matmul->device_alpha(), old_alpha.get(), bytes_of(type), on.stream);
    return accepted;
  };
  run_each(session, the_case, *matmul, chosen, round, expected, observation);
  Observation instead;
  const bool wrong =
      observation.end == ProcessEnd::survived && observation.verification && observation.verification->wrong > 0;
  if (wrong && matmul->verify(instead, the_case.problem)) {
    set_defect(observation, "other-alpha",
               fmt::format("alpha was {} in the order of the stream, and D is that of {}", kOtherAlpha,
                           the_case.problem.alpha));
  }
  return observation;
}

/// Several calls with one workspace, and a neighbour that writes over it between them.
Observation workspace_in_order(Session& session, const Case& the_case) {
  const auto& cuda = session.platform().cuda;
  Observation observation;
  std::vector<Chosen> chosen;
  auto matmul = prepare(session, the_case, Need::some, chosen, observation);
  if (!matmul) return observation;
  const auto on = make_stream(cuda, parameter(the_case, kStreams));
  const auto bytes = static_cast<std::size_t>(the_case.problem.workspace_bytes);
  const auto junk = make_memory(cuda, bytes);
  require(cuda.memset_async(junk.get(), 0x3C, bytes, matmul->stream()), "cudaMemsetAsync");
  require(cuda.stream_synchronize(matmul->stream()), "cudaStreamSynchronize");
  const Neighbour neighbour(session, the_case);
  const bool between = !parameter(the_case, kNeighbour).empty();
  const int calls = calls_in_a_row(session, the_case.problem, kCalls);
  const auto round = [&](const Chosen& one) {
    occupy(session, kLeadNs, on.stream);
    for (int call = 0; call < calls; ++call) {
      if (!matmul->matmul(session.handle(), &one.algo, on.stream, observation)) return false;
      const auto used = static_cast<std::size_t>(one.read.workspace_bytes);
      if (between) neighbour.write(matmul->pointers().workspace, junk.get(), used, on.stream);
    }
    return true;
  };
  run_each(session, the_case, *matmul, chosen, round, after_calls(the_case.problem, calls), observation);
  return observation;
}

}  // namespace lt_audit::streams_workspace
