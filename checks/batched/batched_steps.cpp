// Layouts that disagree about the number of matrices, and matrices that share memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "batched_call.h"
#include "batched_cases.h"
#include "lt_audit/error.h"

namespace lt_audit::batched {
namespace {

constexpr std::size_t kD = 3;

std::array<std::int32_t, 4> counts_of(const Case& the_case) {
  std::istringstream text(the_case.parameters.at(kCounts));
  std::array<std::int32_t, 4> counts{};
  for (auto& count : counts) text >> count;
  return counts;
}

/// Calls f(offset) for every element of one matrix, in elements from its first.
template <class Function>
void for_each_element(const MatrixShape& shape, const Function& f) {
  const bool by_rows = shape.order == CUBLASLT_ORDER_ROW;
  for (std::int64_t outer = 0; outer < (by_rows ? shape.rows : shape.cols); ++outer) {
    for (std::int64_t inner = 0; inner < (by_rows ? shape.cols : shape.rows); ++inner) f(outer * shape.ld + inner);
  }
}

/// A copy of D's memory.
class Memory {
 public:
  Memory(Session& session, const PreparedMatmul& matmul)
      : shape_(shape_d(matmul.problem())),
        size_(bytes_of(shape_.type)),
        bytes_(fetch(session, matmul.pointers().d, static_cast<std::size_t>(shape_.span()) * size_, matmul.stream())) {}

  bool same(std::int64_t index, const Memory& other, std::int64_t other_index) const {
    return std::memcmp(at(index), other.at(other_index), size_) == 0;
  }
  bool is_zero(std::int64_t index) const {
    return std::all_of(at(index), at(index) + size_, [](std::byte byte) { return byte == std::byte{0}; });
  }
  std::int64_t elements() const { return static_cast<std::int64_t>(bytes_.size() / size_); }

 private:
  const std::byte* at(std::int64_t index) const { return bytes_.data() + static_cast<std::size_t>(index) * size_; }

  MatrixShape shape_;
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

/// Matrices of D that changed, from the first on; -1 when one that did not change lies between them.
std::int32_t written_matrices(const MatrixShape& d, const Memory& before, const Memory& after) {
  std::int32_t written = 0;
  for (std::int32_t batch = 0; batch < d.batch_count; ++batch) {
    bool changed = false;
    for_each_element(d, [&](std::int64_t offset) {
      const auto index = batch * d.batch_stride + offset;
      changed = changed || !before.same(index, after, index);
    });
    if (changed && written != batch) return -1;
    if (changed) ++written;
  }
  return written;
}

/// Operands that have fewer matrices than were written, and are read.
std::string short_operands(const MatmulProblem& p, const std::array<std::int32_t, 4>& counts, std::int32_t written) {
  std::string names;
  for (std::size_t i = 0; i < kD; ++i) {
    if (counts.at(i) < written && (i < 2 || p.beta != 0)) names += kOperandNames[i];
  }
  return names;
}

MatmulProblem with_shared(MatmulProblem p, const std::string& operands) {
  for (const char name : operands) (name == 'a' ? p.stride_a : (name == 'b' ? p.stride_b : p.stride_c)) = 0;
  return p;
}

/// What the library made of a call that it accepted: memory behind the layouts is there, so that it shows.
void judge_counts(PreparedMatmul& matmul, const std::array<std::int32_t, 4>& counts, std::int32_t written,
                  Observation& observation) {
  MatmulProblem all = matmul.problem();
  const auto told = fmt::format("batch counts {}, {}, {} and {} of A, B, C and D are accepted", counts[0], counts[1],
                                counts[2], counts[3]);
  if (written <= 0) {
    matmul.verify(observation);
    return;
  }
  all.batch_count = written;
  const auto few = short_operands(all, counts, written);
  const auto shared = with_shared(all, few);
  const bool as_all = matmul.verify(observation, all);
  const bool as_shared = shared == all ? as_all : matmul.verify(observation, shared);
  if (!as_all && !as_shared) {
    matmul.verify(observation, all);
    return;
  }
  if (written > counts[kD]) {
    set_defect(observation, "writes-past-the-last", fmt::format("{}, and {} matrices of D are written", told, written));
  } else if (!as_shared) {
    set_defect(observation, "reads-past-the-last",
               fmt::format("{}, and the product uses {} matrices of {}, more than its layout has", told, written, few));
  } else if (written < counts[kD]) {
    set_defect(observation, "rest-unwritten",
               fmt::format("{}, and only the first {} matrices of D are written", told, written));
  } else if (!few.empty()) {
    set_defect(observation, "taken-as-shared", fmt::format("{}, and {} is used for all matrices", told, few));
  } else {
    set_defect(observation, "rest-ignored",
               fmt::format("{}, and what is beyond the {} of D is not used", told, written));
  }
}

/// One call for each matrix, with the stride that the batch has for the shared operand: what the batch must give.
bool run_one_by_one(OwnCall& call, std::int64_t count, std::size_t shared, std::int64_t stride,
                    Observation& observation) {
  const std::array<Operand, 4> all{call.operand(0), call.operand(1), call.operand(2), call.operand(3)};
  for (std::int64_t batch = 0; batch < count; ++batch) {
    observation = {};
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto shape = all.at(i).shape;
      if (i == shared && shared != kD) shape.batch_stride = stride;
      call.operand(i).pointer = matrix_at(all.at(i).pointer, shape, batch);
      call.operand(i).shape.batch_count = 1;
    }
    if (!call.run(observation)) return false;
  }
  for (std::size_t i = 0; i < all.size(); ++i) call.operand(i) = all.at(i);
  observation = {};
  return true;
}

/// D of a batch whose input matrices overlap, against D of the single calls.
void compare_inputs_shared(const MatrixShape& d, const Memory& expected, const Memory& before, const Memory& after,
                           Verification& seen) {
  seen.compared = seen.wrong = seen.unwritten = seen.expected_nonzero = 0;
  for (std::int64_t batch = 0; batch < d.batch_count; ++batch) {
    for_each_element(d, [&](std::int64_t offset) {
      const auto index = batch * d.batch_stride + offset;
      ++seen.compared;
      if (!expected.is_zero(index)) ++seen.expected_nonzero;
      if (after.same(index, expected, index)) return;
      ++seen.wrong;
      if (after.same(index, before, index)) ++seen.unwritten;
    });
  }
}

/// D of a batch whose results overlap: each element has to be that of one of the matrices that lie there, and what no
/// matrix covers has to be as it was.
void compare_results_shared(const MatrixShape& d, std::int64_t stride, const Memory& expected, const Memory& before,
                            const Memory& after, Observation& observation) {
  auto& seen = *observation.verification;
  seen.compared = seen.wrong = seen.unwritten = seen.expected_nonzero = 0;
  struct Candidate {
    std::int64_t matrices = 0, differing = 0, first = -1, last = -1;
    bool matched = false;
  };
  std::vector<Candidate> candidates(static_cast<std::size_t>(after.elements()));
  for (std::int64_t batch = 0; batch < d.batch_count; ++batch) {
    for_each_element(d, [&](std::int64_t offset) {
      const auto index = batch * stride + offset;
      const auto own = batch * d.batch_stride + offset;
      auto& here = candidates.at(static_cast<std::size_t>(index));
      if (here.first >= 0 && !expected.same(own, expected, here.first)) ++here.differing;
      if (here.first < 0) here.first = own;
      here.last = own;
      ++here.matrices;
      here.matched = here.matched || after.same(index, expected, own);
    });
  }
  std::int64_t contested = 0, last = 0;
  for (std::int64_t index = 0; index < after.elements(); ++index) {
    const auto& here = candidates[static_cast<std::size_t>(index)];
    const bool as_it_was = after.same(index, before, index);
    if (here.matrices == 0) {
      if (!as_it_was) ++seen.wrong;
      continue;
    }
    ++seen.compared;
    if (!expected.is_zero(here.first)) ++seen.expected_nonzero;
    if (!here.matched) ++seen.wrong;
    if (!here.matched && as_it_was) ++seen.unwritten;
    if (here.differing == 0) continue;
    ++contested;
    if (after.same(index, expected, here.last)) ++last;
  }
  if (seen.wrong > 0) return;
  set_defect(
      observation, "accepted-silently",
      fmt::format("a batch stride of {} elements for D, whose matrices reach over {}, is accepted: of {} elements "
                  "that several matrices write differently {} have the value of the last",
                  stride, bytes_of_one(d) / bytes_of(d.type), contested, last));
}

}  // namespace

Observation run_unequal_counts(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  OwnCall call(session, matmul);
  const auto counts = counts_of(the_case);
  for (std::size_t i = 0; i < counts.size(); ++i) call.operand(i).shape.batch_count = counts.at(i);
  matmul.fill();
  const Memory before(session, matmul);
  if (!call.run(observation)) return observation;
  const Memory after(session, matmul);
  judge_counts(matmul, counts, written_matrices(shape_d(matmul.problem()), before, after), observation);
  return observation;
}

Observation run_shared(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto shared = kOperandNames.find(the_case.parameters.at(kSharedOperand));
  const std::int64_t stride = std::stoll(the_case.parameters.at(kSharedStride));
  OwnCall call(session, matmul);
  const auto d = call.operand(kD).shape;
  matmul.fill();
  if (!run_one_by_one(call, d.batch_count, shared, stride, observation)) return observation;
  const Memory expected(session, matmul);
  matmul.fill();
  const Memory before(session, matmul);
  call.operand(shared).shape.batch_stride = stride;
  if (!call.run(observation)) return observation;
  const Memory after(session, matmul);
  // For what lies around D and for the inputs; the numbers are compared here.
  matmul.verify(observation);
  if (!observation.verification) return observation;
  if (shared == kD) {
    compare_results_shared(d, stride, expected, before, after, observation);
  } else {
    compare_inputs_shared(d, expected, before, after, *observation.verification);
  }
  return observation;
}

}  // namespace lt_audit::batched
