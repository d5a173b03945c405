// Matrices of a strided problem in other places: far apart, backwards, or named by arrays of pointers. The engine fills
// and verifies them where its own layout has them.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "batched_call.h"
#include "batched_cases.h"
#include "lt_audit/error.h"

namespace lt_audit::batched {
namespace {

constexpr std::size_t kD = 3;

/// Memory for one operand with its matrices `stride` elements apart. Nothing but the matrices is ever touched.
class FarMemory {
 public:
  FarMemory(Session& session, const PreparedMatmul& matmul, const Operand& near, std::int64_t stride)
      : cuda_(session.platform().cuda), stream_(matmul.stream()), near_(near), far_(near) {
    far_.shape.batch_stride = stride;
    const auto size = static_cast<std::int64_t>(bytes_of(near.shape.type));
    const std::int64_t reach = (near.shape.batch_count - 1) * (stride < 0 ? -stride : stride) * size;
    memory_ = allocate(session, static_cast<std::size_t>(reach) + bytes_of_one(near.shape));
    far_.pointer = static_cast<std::byte*>(memory_.get()) + (stride < 0 ? reach : 0);
  }

  const Operand& operand() const { return far_; }
  void bring() const { copy(near_, far_); }
  void bring_back() const { copy(far_, near_); }

 private:
  void copy(const Operand& from, const Operand& to) const {
    for (std::int64_t batch = 0; batch < from.shape.batch_count; ++batch) {
      require(cuda_.memcpy_async(matrix_at(to.pointer, to.shape, batch), matrix_at(from.pointer, from.shape, batch),
                                 bytes_of_one(from.shape), cudaMemcpyDeviceToDevice, stream_),
              "cudaMemcpyAsync");
    }
  }

  const CudaApi& cuda_;
  cudaStream_t stream_;
  Operand near_, far_;
  DeviceMemory memory_;
};

void note_denied_capability(const char* mode, Observation& observation) {
  if (observation.fact(kCapability) != "0") return;
  set_defect(observation, "capability-denied",
             fmt::format("the product is right, and the capability attribute of its algorithm says that it does not "
                         "support {}",
                         mode));
}

bool is_right(const Observation& observation) {
  return outcome_of(observation) == Outcome::correct && observation.verification.has_value();
}

}  // namespace

Observation run_far(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  OwnCall call(session, matmul);
  const auto& word = the_case.parameters.at(kFarStride);
  std::vector<FarMemory> places;
  places.reserve(kOperandNames.size());
  bool d_is_far = false;
  matmul.fill();
  for (const char name : the_case.parameters.at(kFar)) {
    const auto index = kOperandNames.find(name);
    auto& operand = call.operand(index);
    const std::int64_t stride = word == kReverse ? -operand.shape.batch_stride : std::stoll(word);
    const auto& place = places.emplace_back(session, matmul, operand, stride);
    place.bring();
    operand = place.operand();
    d_is_far = d_is_far || index == kD;
  }
  if (!call.run(observation)) return observation;
  if (d_is_far) places.back().bring_back();
  matmul.verify(observation);
  if (is_right(observation)) note_denied_capability("strided batches", observation);
  return observation;
}

Observation run_pointers(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  OwnCall call(session, matmul);
  const auto count = static_cast<std::size_t>(matmul.problem().batch_count);
  const auto& in_arrays = the_case.parameters.at(kArrays);
  const bool backwards = the_case.parameters.at(kMembers) == kBackwards;
  // Each array starts on a 256-byte boundary.
  const std::size_t room = (count + 31) / 32 * 32;
  std::vector<void*> members(room * kOperandNames.size());
  const auto memory = allocate(session, members.size() * sizeof(void*));
  for (const char name : in_arrays) {
    const auto index = kOperandNames.find(name);
    auto& operand = call.operand(index);
    for (std::size_t i = 0; i < count; ++i) {
      const auto batch = static_cast<std::int64_t>(backwards ? count - 1 - i : i);
      members[index * room + i] = matrix_at(operand.pointer, operand.shape, batch);
    }
    operand.pointer = static_cast<std::byte*>(memory.get()) + index * room * sizeof(void*);
    operand.pointer_array = true;
  }
  // One array for both, so that the library sees that C is D.
  if (matmul.problem().in_place && in_arrays == kOperandNames) call.operand(kD - 1).pointer = call.operand(kD).pointer;
  matmul.fill();
  require(session.platform().cuda.memcpy_async(memory.get(), members.data(), members.size() * sizeof(void*),
                                               cudaMemcpyHostToDevice, matmul.stream()),
          "cudaMemcpyAsync");
  if (!call.run(observation)) return observation;
  matmul.verify(observation);
  if (is_right(observation) && in_arrays == kOperandNames) note_denied_capability("arrays of pointers", observation);
  return observation;
}

Observation run_steps(Session& session, const Case& the_case) {
  const auto& steps = the_case.parameters.at(kSteps);
  if (steps == kUnequalCounts) return run_unequal_counts(session, the_case);
  if (steps == kFar) return run_far(session, the_case);
  if (steps == kShared) return run_shared(session, the_case);
  return run_pointers(session, the_case);
}

}  // namespace lt_audit::batched
