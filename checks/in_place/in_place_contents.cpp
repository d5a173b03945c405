// Operands that hold NaN or infinity where the scalars leave them out: C at beta 0, A and B at alpha 0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "in_place_scenarios.h"
#include "lt_audit/verdict.h"

namespace lt_audit::in_place {
namespace {

/// The first use of a kernel costs milliseconds, so that few algorithms run before depth full.
constexpr int kFewResults = 2;
constexpr int kManyResults = 16;

enum class Content { nan, infinity };
std::string_view name_of(Content content) { return content == Content::nan ? "NaN" : "infinity"; }

/// An element, low bytes first. The NaN is positive, so that it is not taken for the poison in D. An integer has
/// neither: there both are the bytes 0x80, far above any result.
std::vector<std::byte> element_of(cudaDataType_t type, Content content) {
  const std::size_t size = bytes_of(type);
  if (is_integer(type)) return std::vector<std::byte>(size, std::byte{0x80});
  const std::size_t part = is_complex(type) ? size / 2 : size;
  std::vector<std::byte> element(size, std::byte{0xFF});
  for (std::size_t end = part; end <= size; end += part) element[end - 1] = std::byte{0x7F};
  if (content == Content::nan) return element;
  const auto put = [&](std::initializer_list<int> high) {
    std::fill(element.begin(), element.end(), std::byte{0});
    for (std::size_t end = part; end <= size; end += part) {
      std::size_t at = end - high.size();
      for (const int byte : high) element[at++] = static_cast<std::byte>(byte);
    }
  };
  switch (type) {
    case CUDA_R_16F:
      put({0x00, 0x7C});
      break;
    case CUDA_R_16BF:
    case CUDA_R_32F:
    case CUDA_C_32F:
      put({0x80, 0x7F});
      break;
    case CUDA_R_64F:
    case CUDA_C_64F:
      put({0xF0, 0x7F});
      break;
    case CUDA_R_8F_E5M2:
      put({0x7C});
      break;
    default:
      break;  // E4M3 has no infinity.
  }
  return element;
}

/// One operand on its way: what fill put there, and what it holds during the call.
class Planted {
 public:
  Planted(Session& session, PreparedMatmul& matmul, void* memory, const MatrixShape& shape, Content content)
      : session_(session), matmul_(matmul), memory_(memory) {
    filled_ = fetch(session, matmul, memory, bytes_of_span(shape));
    planted_ = filled_;
    const auto element = element_of(shape.type, content);
    for_each_line(shape, [&](std::size_t begin, std::size_t length) {
      for (std::size_t at = begin; at < begin + length; at += element.size()) {
        std::memcpy(planted_.data() + at, element.data(), element.size());
      }
    });
    send(session, matmul, memory, planted_);
  }

  /// Puts back what fill put there, so that verify finds it; bytes that the call changed.
  std::uint64_t take_back() {
    const auto after = fetch(session_, matmul_, memory_, planted_.size());
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < after.size(); ++i) changed += after[i] != planted_[i] ? 1U : 0U;
    send(session_, matmul_, memory_, filled_);
    return changed;
  }

 private:
  Session& session_;
  PreparedMatmul& matmul_;
  void* memory_;
  std::vector<std::byte> filled_, planted_;
};

std::string what_is_wrong(const Observation& observation) {
  const auto& seen = *observation.verification;
  return fmt::format("{} of {} elements of D are wrong; the first at row {}, column {}: expected {}, found {}",
                     seen.wrong, seen.compared, seen.first_row, seen.first_col, seen.first_expected, seen.first_actual);
}

/// One call while C holds the content. True when D is right and C is as it was.
bool run_unread(Session& session, PreparedMatmul& matmul, const Chosen& chosen, Content content,
                Observation& observation) {
  const auto& p = matmul.problem();
  matmul.fill();
  Planted c(session, matmul, p.in_place ? matmul.pointers().d : matmul.pointers().c, shape_c(p), content);
  if (!call_on(session, matmul, &chosen.algo, matmul.operands(), observation)) return false;
  const std::uint64_t changed = p.in_place ? 0 : c.take_back();
  const bool right = matmul.verify(observation);
  if (!observation.verification) return false;
  observation.verification->c_bytes_changed += changed;
  // No product of the exact inputs is NaN or infinite.
  const auto& seen = *observation.verification;
  if (seen.nothing_else_written() && seen.wrong > seen.unwritten && !std::isfinite(seen.first_actual)) {
    set_defect(observation, "c-read", fmt::format("with {} in C {}", name_of(content), what_is_wrong(observation)));
  }
  return right && changed == 0;
}

}  // namespace

namespace {

/// With NaN and with infinity in all of C.
Observation unread(Session& session, const Case& the_case, int most) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, most, observation);
  for_each_algorithm(algorithms, observation, [&](const Chosen& one) {
    const auto before = observation.stages.size();
    for (const auto content : {Content::nan, Content::infinity}) {
      observation.stages.resize(before);
      if (!run_unread(session, matmul, one, content, observation)) return false;
    }
    return true;
  });
  return observation;
}

}  // namespace

Observation unread_c(Session& session, const Case& the_case) { return unread(session, the_case, kFewResults); }
Observation unread_c_by_all(Session& session, const Case& the_case) { return unread(session, the_case, kManyResults); }

namespace {

/// A and B full of NaN during one call. True when it was accepted and memory was looked at.
template <class Call>
bool with_nan_inputs(Session& session, PreparedMatmul& matmul, Observation& observation, Call call) {
  const auto& p = matmul.problem();
  matmul.fill();
  Planted a(session, matmul, matmul.pointers().a, shape_a(p), Content::nan);
  Planted b(session, matmul, matmul.pointers().b, shape_b(p), Content::nan);
  if (!call()) return false;
  const auto changed_a = a.take_back();
  const auto changed_b = b.take_back();
  matmul.verify(observation);
  if (!observation.verification) return false;
  observation.verification->a_bytes_changed += changed_a;
  observation.verification->b_bytes_changed += changed_b;
  return true;
}

/// What cuBLAS makes of the same values, as a clause; empty for a product that it cannot express.
std::string beside_cublas(Session& session, PreparedMatmul& matmul) {
  Observation beside;
  std::string reason = "out of place";
  const bool ran = with_nan_inputs(session, matmul, beside, [&] {
    if (matmul.problem().in_place) reason = matmul.cublas(beside);
    return reason.empty() && beside.stages.back().ok() && synchronize(session, matmul, beside);
  });
  if (!ran) return {};
  return fmt::format("; {} of the same values gives {} wrong elements", beside.stages.front().call,
                     beside.verification->wrong);
}

}  // namespace

/// alpha is 0 and beta is not: D is beta C, whatever A and B hold.
Observation alpha_zero(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto algorithms = algorithms_of(session, matmul, kFewResults, observation);
  for_each_algorithm(algorithms, observation, [&](const Chosen& one) {
    const bool ran = with_nan_inputs(session, matmul, observation, [&] {
      return call_on(session, matmul, &one.algo, matmul.operands(), observation);
    });
    if (!ran) return false;
    const auto& seen = *observation.verification;
    if (seen.nothing_else_written() && seen.wrong > 0 && std::isnan(seen.first_actual)) {
      set_defect(observation, "nan-in-d", what_is_wrong(observation) + beside_cublas(session, matmul));
    }
    return seen.wrong == 0 && seen.nothing_else_written();
  });
  return observation;
}

}  // namespace lt_audit::in_place
