// D in the memory of an input, wholly or by a few columns, and inputs that share memory among themselves.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "in_place_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/owners.h"
#include "lt_audit/verdict.h"

namespace lt_audit::in_place {
namespace {

constexpr std::int64_t kGuard = 4096;

std::int64_t number_of(const Case& the_case, const char* parameter) {
  std::int64_t number = 0;
  const auto& text = the_case.parameters.at(parameter);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int64_t aligned_up(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

MatrixShape shape_of(const MatmulProblem& p, const std::string& input) {
  return input == "a" ? shape_a(p) : (input == "b" ? shape_b(p) : shape_c(p));
}

/// Memory of the check's own in which D and one input lie over each other, poison around them.
class Arena {
 public:
  Arena(Session& session, const PreparedMatmul& matmul, const Case& the_case)
      : session_(session), matmul_(matmul), input_(the_case.parameters.at(kInput)) {
    const auto& p = matmul.problem();
    const std::int64_t shift = number_of(the_case, kShift);
    d_ = shape_d(p);
    const auto shape = shape_of(p, input_);
    const auto input_bytes = static_cast<std::int64_t>(bytes_of_span(shape));
    // D stands on a 256-byte boundary, the input `shift` bytes behind it.
    d_at_ = static_cast<std::size_t>(kGuard + aligned_up(std::max<std::int64_t>(-shift, 0)));
    input_at_ = static_cast<std::size_t>(static_cast<std::int64_t>(d_at_) + shift);
    const auto end = std::max(d_at_ + bytes_of_span(d_), input_at_ + static_cast<std::size_t>(input_bytes));
    const auto poison = is_integer(p.type_d) ? std::byte{0x80} : std::byte{0xFF};
    before_.assign(end + static_cast<std::size_t>(kGuard), poison);
    const auto operands = matmul.operands();
    const void* from = input_ == "a" ? operands.a : (input_ == "b" ? operands.b : operands.c);
    const auto values = fetch(session, matmul, from, static_cast<std::size_t>(input_bytes));
    std::copy(values.begin(), values.end(), before_.begin() + static_cast<std::ptrdiff_t>(input_at_));
    void* memory = nullptr;
    require(session.platform().cuda.malloc(&memory, before_.size()), "cudaMalloc");
    memory_ = DeviceMemory(session.platform().cuda, memory);
    send(session, matmul, memory, before_);
  }

  /// The problem's operands with D and the input in here.
  CallOperands operands() const {
    auto operands = matmul_.operands();
    auto* const base = static_cast<std::byte*>(memory_.get());
    operands.d = base + d_at_;
    const void* const input = base + input_at_;
    (input_ == "a" ? operands.a : (input_ == "b" ? operands.b : operands.c)) = input;
    return operands;
  }

  /// Copies D's elements to where verify looks for them; bytes that were changed beside them.
  std::uint64_t move_d() {
    auto after = fetch(session_, matmul_, memory_.get(), before_.size());
    auto image = fetch(session_, matmul_, matmul_.pointers().d, bytes_of_span(d_));
    for_each_line(d_, [&](std::size_t at, std::size_t length) {
      std::memcpy(image.data() + at, after.data() + d_at_ + at, length);
      std::memcpy(after.data() + d_at_ + at, before_.data() + d_at_ + at, length);
    });
    send(session_, matmul_, matmul_.pointers().d, image);
    return changed(after);
  }
  /// Bytes that a refused call changed.
  std::uint64_t changed() { return changed(fetch(session_, matmul_, memory_.get(), before_.size())); }

 private:
  std::uint64_t changed(const std::vector<std::byte>& after) const {
    if (after == before_) return 0;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < after.size(); ++i) count += after[i] != before_[i] ? 1U : 0U;
    return count;
  }

  Session& session_;
  const PreparedMatmul& matmul_;
  std::string input_;
  MatrixShape d_;
  std::size_t d_at_ = 0;
  std::size_t input_at_ = 0;
  std::vector<std::byte> before_;
  DeviceMemory memory_;
};

}  // namespace

Observation overlap(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, 1, observation);
  if (algorithms.empty()) return observation;
  matmul.fill();
  Arena arena(session, matmul, the_case);
  if (!call_on(session, matmul, &algorithms.front().algo, arena.operands(), observation)) {
    if (observation.end != ProcessEnd::survived) return observation;
    if (const auto changed = arena.changed(); changed > 0) {
      set_defect(observation, "refused-and-written",
                 fmt::format("the call is refused, and {} bytes are changed", changed));
    }
    return observation;
  }
  const auto changed = arena.move_d();
  matmul.verify(observation);
  if (observation.verification) observation.verification->bytes_behind_d += changed;
  return observation;
}

/// The same product twice by one algorithm: first with a copy of A in the other operand's memory, then with A itself.
/// The first call, on values of its own in each, is verified.
Observation shared_inputs(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, 1, observation);
  if (algorithms.empty()) return observation;
  const auto* algo = &algorithms.front().algo;
  matmul.fill();
  if (!call_on(session, matmul, algo, matmul.operands(), observation) || !matmul.verify(observation))
    return observation;
  const auto verified = observation.verification;
  const bool is_c = the_case.parameters.at(kInput) == "c";
  const auto bits_of = [&](const CallOperands& operands) {
    matmul.fill();
    const auto a = fetch(session, matmul, matmul.pointers().a, bytes_of_span(shape_a(the_case.problem)));
    send(session, matmul, is_c ? matmul.pointers().c : matmul.pointers().b, a);
    return call_on(session, matmul, algo, operands, observation) ? matmul.d_digest() : 0;
  };
  const auto apart = bits_of(matmul.operands());
  auto operands = matmul.operands();
  (is_c ? operands.c : operands.b) = operands.a;
  const auto shared = bits_of(operands);
  const bool accepted = observation.stages.size() >= 2 && (observation.stages.end() - 2)->ok();
  if (observation.end != ProcessEnd::survived || !accepted) return observation;
  // B, or C, holds A's values now; only what no product may touch is of interest.
  Observation beside;
  matmul.verify(beside);
  observation.verification = verified;
  if (beside.verification) {
    observation.verification->a_bytes_changed = beside.verification->a_bytes_changed;
    observation.verification->bytes_behind_d = beside.verification->bytes_behind_d;
    observation.verification->bytes_before_d = beside.verification->bytes_before_d;
  }
  if (apart != shared) {
    set_defect(observation, "bits-differ",
               fmt::format("D has the bits {:016x}, and {:016x} with a copy", shared, apart));
  }
  return observation;
}

/// C's pointer is A's, as an application passes some pointer for a C that beta 0 leaves out.
Observation c_in_a_unread(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, 2, observation);
  auto operands = matmul.operands();
  operands.c = operands.a;
  for_each_algorithm(algorithms, observation, [&](const Chosen& one) {
    matmul.fill();
    return call_on(session, matmul, &one.algo, operands, observation) && matmul.verify(observation);
  });
  return observation;
}

}  // namespace lt_audit::in_place
