// Sums are written with two digits: positions along k where B holds 127, and 16 at the end where it holds 1.
#include "int8_planted.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "int8_cases.h"

namespace lt_audit::int8 {
namespace {

using Int32 = std::numeric_limits<std::int32_t>;

constexpr std::int64_t kBase = 127;
constexpr std::int64_t kLowPositions = 16;
constexpr std::int64_t kMost = Int32::max();
constexpr std::int64_t kLeast = Int32::min();

/// Positions along k where B holds 127.
std::int64_t high_positions(const MatmulProblem& p) { return p.k - kLowPositions; }

/// The first digit of a sum: what is left is within -63 .. 63.
std::int64_t high_digit(std::int64_t sum) {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(sum) / static_cast<double>(kBase)));
}

bool fits(const MatmulProblem& p, std::int64_t sum) { return std::abs(high_digit(sum)) <= kBase * high_positions(p); }

std::int64_t index_of(const MatrixShape& shape, std::int64_t row, std::int64_t col, std::int64_t batch) {
  return batch * shape.batch_stride + (shape.order == CUBLASLT_ORDER_ROW ? row * shape.ld + col : col * shape.ld + row);
}

/// Zeros, and what is put among them.
class Memory {
 public:
  explicit Memory(const MatrixShape& shape, bool transposed = false)
      : shape_(shape),
        transposed_(transposed),
        bytes_(static_cast<std::size_t>(shape.span()) * bytes_of(shape.type), std::byte{0}) {}

  /// op(X)(row, col) of every batch.
  void put(std::int64_t row, std::int64_t col, double value) {
    if (transposed_) std::swap(row, col);
    for (std::int64_t batch = 0; batch < shape_.batch_count; ++batch) {
      std::byte* const at =
          bytes_.data() + static_cast<std::size_t>(index_of(shape_, row, col, batch)) * bytes_of(shape_.type);
      const auto store = [at](const auto typed) { std::memcpy(at, &typed, sizeof typed); };
      if (shape_.type == CUDA_R_8I) {
        store(static_cast<std::int8_t>(value));
      } else if (shape_.type == CUDA_R_32I) {
        store(static_cast<std::int32_t>(value));
      } else {
        store(static_cast<float>(value));
      }
    }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  MatrixShape shape_;
  bool transposed_;
  std::vector<std::byte> bytes_;
};

double load(const MatrixShape& shape, const std::vector<std::byte>& memory, std::int64_t index) {
  const std::byte* const at = memory.data() + static_cast<std::size_t>(index) * bytes_of(shape.type);
  const auto read = [at](auto typed) {
    std::memcpy(&typed, at, sizeof typed);
    return static_cast<double>(typed);
  };
  if (shape.type == CUDA_R_8I) return read(std::int8_t{});
  return shape.type == CUDA_R_32I ? read(std::int32_t{}) : read(float{});
}

bool is_odd(std::int64_t col) { return col % 2 != 0; }

/// The library has alpha and beta in the scale type.
double scalar(const MatmulProblem& p, double value) {
  return p.scale_type == CUDA_R_32F ? static_cast<double>(static_cast<float>(value)) : value;
}

// ---- What is planted ---------------------------------------------------------------------------------------------

/// Around the powers of two at which FP32 loses its last bits and INT32 ends, below, on and above.
std::vector<PlantedRow> rows_of_sums(const MatmulProblem& p) {
  constexpr std::array<std::int64_t, 16> kSums{
      1,          (1 << 24) + 1, -(1 << 24) - 1, (1 << 24) + 3, 33554435,     kMost - 1, kMost,           kLeast,
      kLeast + 1, kMost + 1,     12345678,       kMost + 130,   kLeast - 129, 3LL << 30, (1LL << 30) + 1, -127 * 127};
  std::vector<PlantedRow> rows;
  for (const auto sum : kSums) {
    if (p.beta == 0 || p.type_c != CUDA_R_32I) {
      rows.push_back({fits(p, sum) ? sum : sum % 127, 0});
      continue;
    }
    // C brings what the sum leaves.
    const std::int64_t own = sum % 1000 + 77;
    rows.push_back({own, std::clamp(sum - own, kLeast + 1, kMost)});
  }
  return rows;
}

/// Halves, neighbours of INT8's ends, and far outside of them. C and bias bring back what is outside.
std::vector<PlantedRow> rows_of_int8(const MatmulProblem& p) {
  constexpr std::array kValues{0.5,   1.5,   2.5,   3.5,   -0.5,  0.25,  0.75,  10.25, 11.75,  99.5,     100.5,
                               126.0, 126.5, 127.0, 127.5, 128.0, 129.0, 130.0, 200.0, 255.0,  256.0,    257.0,
                               300.0, 383.0, 384.0, 500.0, 511.0, 512.0, 640.0, 999.0, 4096.0, 1000000.0};
  constexpr std::array kSecond{0, 100, -100, -50};
  std::vector<PlantedRow> rows;
  const double alpha = scalar(p, p.alpha);
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    PlantedRow row;
    const double wanted = kValues.at(i) / alpha;
    if (std::abs(wanted) < 0x1p31) row.sum = std::llround(wanted);
    if (!fits(p, row.sum)) row.sum %= 127;
    const auto second = kSecond.at((i + i / kSecond.size()) % kSecond.size());
    if (p.beta != 0) row.c = second;
    if (has_bias(p.epilogue)) row.bias = second == 0 ? 0.25 : second + 0.5;
    rows.push_back(row);
  }
  return rows;
}

const PlantedRow& row_at(const std::vector<PlantedRow>& rows, std::int64_t row) {
  return rows[static_cast<std::size_t>(row) % rows.size()];
}

// ---- What D must be ----------------------------------------------------------------------------------------------

void set_defect(Observation& observation, std::string_view defect, const std::string& detail) {
  if (observation.facts.emplace(kDefect, defect).second) observation.facts[kDefectDetail] = detail;
}

/// One element: what it must be before the conversion, and what it is.
struct Seen {
  double exact = 0;
  double actual = 0;
  /// Without the bias.
  double before_bias = 0;
  double bias = 0;
};

/// Counts, over all elements, of what the documentation leaves open.
struct Tally {
  std::int64_t wraps = 0, saturates = 0, other = 0;
  std::int64_t even = 0, uneven = 0;
  std::int64_t once = 0, on_the_way = 0;
};

double clamped(double value) { return std::clamp(std::nearbyint(value), -128.0, 127.0); }

double wrapped_to_int8(double value) {
  return static_cast<double>(static_cast<std::int8_t>(static_cast<std::uint8_t>(std::llround(value) & 0xFF)));
}

double wrapped_to_int32(double value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(std::llround(value) & 0xFFFFFFFF)));
}

/// Right, or the defect's name.
const char* judge_int32(const Seen& seen, Tally& tally) {
  const bool outside = seen.exact > static_cast<double>(kMost) || seen.exact < static_cast<double>(kLeast);
  if (outside) {
    // No document says what a sum becomes that INT32 does not hold.
    const double nearest = std::clamp(seen.exact, static_cast<double>(kLeast), static_cast<double>(kMost));
    ++(seen.actual == wrapped_to_int32(seen.exact) ? tally.wraps
                                                   : (seen.actual == nearest ? tally.saturates : tally.other));
    return nullptr;
  }
  if (seen.actual == seen.exact) return nullptr;
  // FP32 keeps multiples of 256 at 2^31.
  return std::abs(seen.actual - seen.exact) < 1024 ? "low-bits-lost" : "value-wrong";
}

const char* judge_fp32(const Seen& seen, Tally& tally) {
  const bool large = std::abs(seen.exact) > 0x1p24;
  if (seen.actual == static_cast<double>(static_cast<float>(seen.exact))) {
    if (large) ++tally.once;
    return nullptr;
  }
  // FP32 sums round at every step, far less often than k times by half a unit.
  if (large && std::abs(seen.actual - seen.exact) <= std::abs(seen.exact) * 0x1p-10) {
    ++tally.on_the_way;
    return nullptr;
  }
  if (seen.exact > static_cast<double>(kMost) || seen.exact < static_cast<double>(kLeast)) {
    if (seen.actual == static_cast<double>(static_cast<float>(wrapped_to_int32(seen.exact)))) return "sum-wraps";
    if (std::abs(seen.actual) == 0x1p31) return "sum-saturates";
  }
  return "value-wrong";
}

/// FP32 arithmetic may land on a half where the exact value is beside it.
bool is_near_half(double value) {
  const double part = std::abs(value) - std::floor(std::abs(value));
  return std::abs(part - 0.5) <= 1e-5 * std::max(1.0, std::abs(value));
}

const char* judge_int8(const MatmulProblem& p, const Seen& seen, Tally& tally) {
  const double right = clamped(seen.exact);
  const double value = std::clamp(seen.exact, -129.0, 128.0);
  if (is_near_half(value)) {
    const double low = clamped(std::floor(value)), high = clamped(std::ceil(value));
    if (low != high && (seen.actual == low || seen.actual == high)) {
      const bool is_half = 2 * value == std::floor(2 * value);
      if (is_half) ++(seen.actual == right ? tally.even : tally.uneven);
      return nullptr;
    }
  }
  if (seen.actual == right) return nullptr;
  if (seen.bias != 0) {
    double rounded = clamped(clamped(seen.before_bias) + seen.bias);
    if (has_relu(p.epilogue)) rounded = std::max(rounded, 0.0);
    if (seen.actual == rounded) return "rounded-first";
  }
  if (std::abs(seen.exact) > 127 && seen.actual == wrapped_to_int8(std::nearbyint(seen.exact))) return "wraps";
  return std::abs(seen.actual - seen.exact) < 1 ? "truncated" : "value-wrong";
}

Seen seen_at(const MatmulProblem& p, const PlantedRow& row, std::int64_t col) {
  const double sign = is_odd(col) ? -1 : 1;
  Seen seen;
  seen.bias = row.bias;
  seen.before_bias = sign * (scalar(p, p.alpha) * static_cast<double>(row.sum) +
                             (p.beta != 0 ? scalar(p, p.beta) * static_cast<double>(row.c) : 0.0));
  seen.exact = seen.before_bias + row.bias;
  if (has_relu(p.epilogue)) seen.exact = std::max(seen.exact, 0.0);
  return seen;
}

void tell(const Tally& tally, Observation& observation) {
  if (tally.wraps + tally.saturates + tally.other > 0) {
    const bool mixed = (tally.wraps > 0) + (tally.saturates > 0) + (tally.other > 0) > 1;
    const char* one = tally.wraps > 0 ? "wraps" : (tally.saturates > 0 ? "saturates" : "other");
    observation.facts[kOverflow] = mixed ? "mixed" : one;
  }
  if (tally.even + tally.uneven > 0) {
    observation.facts[kTies] = tally.even > 0 && tally.uneven > 0 ? "both" : (tally.even > 0 ? "even" : "other");
  }
  if (tally.once + tally.on_the_way > 0) observation.facts[kRounded] = tally.on_the_way > 0 ? "on the way" : "once";
}

}  // namespace

std::vector<PlantedRow> planted_rows(const MatmulProblem& p) {
  return p.type_d == CUDA_R_8I ? rows_of_int8(p) : rows_of_sums(p);
}

std::vector<std::byte> planted_a(const MatmulProblem& p, const std::vector<PlantedRow>& rows) {
  Memory a(shape_a(p), p.transa != CUBLAS_OP_N);
  for (std::int64_t row = 0; row < p.m; ++row) {
    const std::int64_t sum = row_at(rows, row).sum;
    std::int64_t high = high_digit(sum);
    const std::int64_t low = sum - high * kBase;
    for (std::int64_t at = 0; high != 0; ++at) {
      const std::int64_t digit = std::clamp<std::int64_t>(high, -128, 127);
      a.put(row, at, static_cast<double>(digit));
      high -= digit;
    }
    a.put(row, high_positions(p) + row % kLowPositions, static_cast<double>(low));
  }
  return a.take();
}

std::vector<std::byte> planted_b(const MatmulProblem& p) {
  Memory b(shape_b(p), p.transb != CUBLAS_OP_N);
  for (std::int64_t col = 0; col < p.n; ++col) {
    const double sign = is_odd(col) ? -1 : 1;
    for (std::int64_t at = 0; at < p.k; ++at) {
      b.put(at, col, sign * (at < high_positions(p) ? static_cast<double>(kBase) : 1.0));
    }
  }
  return b.take();
}

std::vector<std::byte> planted_c(const MatmulProblem& p, const std::vector<PlantedRow>& rows) {
  Memory c(shape_c(p));
  for (std::int64_t row = 0; row < p.m; ++row) {
    const auto value = static_cast<double>(row_at(rows, row).c);
    for (std::int64_t col = 0; col < p.n; ++col) c.put(row, col, is_odd(col) ? -value : value);
  }
  return c.take();
}

std::vector<std::byte> planted_bias(const MatmulProblem& p, const std::vector<PlantedRow>& rows) {
  Memory bias(shape_bias(p));
  for (std::int64_t row = 0; row < p.m; ++row) bias.put(row, 0, row_at(rows, row).bias);
  return bias.take();
}

void compare_planted(const MatmulProblem& p, const std::vector<PlantedRow>& rows, const std::vector<std::byte>& d,
                     const std::string& who, Observation& observation) {
  const auto shape = shape_d(p);
  Tally tally;
  std::int64_t wrong = 0;
  const char* first = nullptr;
  std::string detail;
  for (std::int64_t batch = 0; batch < shape.batch_count; ++batch) {
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        auto seen = seen_at(p, row_at(rows, row), col);
        seen.actual = load(shape, d, index_of(shape, row, col, batch));
        const char* const defect = p.type_d == CUDA_R_8I
                                       ? judge_int8(p, seen, tally)
                                       : (p.type_d == CUDA_R_32I ? judge_int32(seen, tally) : judge_fp32(seen, tally));
        if (defect == nullptr) continue;
        ++wrong;
        // The gravest names the case.
        if (first != nullptr && (first == std::string_view("value-wrong") || defect != std::string_view("value-wrong")))
          continue;
        first = defect;
        detail = fmt::format("{} is {} (row {}, column {})", seen.exact, seen.actual, row, col);
      }
    }
  }
  tell(tally, observation);
  if (first == nullptr) return;
  set_defect(observation, first,
             fmt::format("{} is wrong in {} of {} elements: {}", who, wrong, p.m * p.n * p.batch_count, detail));
}

}  // namespace lt_audit::int8
