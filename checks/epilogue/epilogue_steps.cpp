// Cases whose inputs are planted element by element, which the engine's exact inputs cannot be: NaN, infinities,
// denormal numbers and the largest ones through an activation, and sums that round before the bias is added.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue_cases.h"
#include "lt_audit/error.h"
#include "lt_audit/session.h"

namespace lt_audit::epilogue {
namespace {

constexpr int kRequestedResults = 8;

/// A binary floating-point format by the widths of its fields.
struct Format {
  int exponent;
  int mantissa;

  int bits() const { return 1 + exponent + mantissa; }
  std::size_t bytes() const { return static_cast<std::size_t>(bits() / 8); }
  std::uint64_t sign() const { return std::uint64_t{1} << (exponent + mantissa); }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent) - 1) << mantissa; }
  std::uint64_t nan() const { return infinity() | (std::uint64_t{1} << (mantissa - 1)); }
  std::uint64_t one() const { return infinity() / 2 & infinity(); }
  double value(std::uint64_t pattern) const;
};

double Format::value(std::uint64_t pattern) const {
  const std::uint64_t magnitude = pattern & (sign() - 1);
  const double signum = (pattern & sign()) != 0 ? -1 : 1;
  if (magnitude > infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == infinity()) return signum * std::numeric_limits<double>::infinity();
  const auto fraction = static_cast<double>(magnitude & ((std::uint64_t{1} << mantissa) - 1));
  const int power = static_cast<int>(magnitude >> mantissa);
  const int lowest = 2 - (1 << (exponent - 1)) - mantissa;
  if (power == 0) return signum * std::ldexp(fraction, lowest);
  return signum * std::ldexp(fraction + std::ldexp(1.0, mantissa), lowest + power - 1);
}

Format format_of(cudaDataType_t type) {
  if (type == CUDA_R_64F) return {11, 52};
  if (type == CUDA_R_32F) return {8, 23};
  return type == CUDA_R_16F ? Format{5, 10} : Format{8, 7};
}

std::uint64_t load(const Format& format, const std::vector<std::byte>& memory, std::int64_t index) {
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, memory.data() + static_cast<std::size_t>(index) * format.bytes(), format.bytes());
  return pattern;
}

std::int64_t index_of(const MatrixShape& shape, std::int64_t row, std::int64_t col, std::int64_t batch) {
  return batch * shape.batch_stride + (shape.order == CUBLASLT_ORDER_ROW ? row * shape.ld + col : col * shape.ld + row);
}

/// Zeros, and what is put among them, on their way to one operand.
class Planted {
 public:
  Planted(const MatrixShape& shape, bool transposed)
      : shape_(shape),
        transposed_(transposed),
        format_(format_of(shape.type)),
        memory_(static_cast<std::size_t>(shape.span()) * format_.bytes()) {}

  /// op(X)(row, col) of every batch.
  void put(std::int64_t row, std::int64_t col, std::uint64_t pattern) {
    if (transposed_) std::swap(row, col);
    for (std::int64_t batch = 0; batch < shape_.batch_count; ++batch) {
      const auto at = static_cast<std::size_t>(index_of(shape_, row, col, batch)) * format_.bytes();
      std::memcpy(memory_.data() + at, &pattern, format_.bytes());
    }
  }
  const Format& format() const { return format_; }

  void send(const CudaApi& cuda, void* to, cudaStream_t stream) const {
    require(cuda.memcpy_async(to, memory_.data(), memory_.size(), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
  }

 private:
  MatrixShape shape_;
  bool transposed_;
  Format format_;
  std::vector<std::byte> memory_;
};

Planted op_a(const MatmulProblem& p) { return {shape_a(p), p.transa != CUBLAS_OP_N}; }
Planted op_b(const MatmulProblem& p) { return {shape_b(p), p.transb != CUBLAS_OP_N}; }

std::vector<std::byte> fetch(const CudaApi& cuda, const void* from, const MatrixShape& shape, cudaStream_t stream) {
  std::vector<std::byte> memory(static_cast<std::size_t>(shape.span()) * bytes_of(shape.type));
  require(cuda.memcpy_async(memory.data(), from, memory.size(), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
  return memory;
}

void set_defect(Observation& observation, const char* defect, std::string detail) {
  if (observation.facts.emplace(kDefect, defect).second) observation.facts[kDefectDetail] = std::move(detail);
}

/// Matmul and synchronisation recorded; true when D may be looked at.
bool run(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, Observation& observation) {
  if (!matmul.matmul(session.handle(), algo, matmul.stream(), observation)) return false;
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (record(observation, "synchronize", "cudaStreamSynchronize", error)) return true;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = name_of(error);
  return false;
}

// ---- Special values -------------------------------------------------------------------------------------------------

/// What row r of the product holds in all its columns.
std::vector<std::uint64_t> special_values(const Format& f) {
  const std::uint64_t largest = f.infinity() - 1;
  const std::uint64_t two = f.one() + (std::uint64_t{1} << f.mantissa);
  std::vector<std::uint64_t> values{f.nan(), f.infinity(), largest, 1, 0, f.one(), two};
  const auto positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(values[i] | f.sign());
  return values;
}

/// Infinity times 0 is NaN in the definition of GELU at -infinity, and 0 is its limit: frameworks give the first.
bool is_right(const MatmulProblem& p, double x, double actual) {
  if (has_gelu(p.epilogue)) {
    if (x > 2) return actual == x;
    if (x < -2) return std::fabs(actual) <= 0.01 || (std::isinf(x) && std::isnan(actual));
    // Between 0 and x, one unit above where x is the smallest number of all.
    return std::fabs(actual) <= std::fabs(x) && actual * x >= 0 && (std::fabs(x) < 1 || actual != 0);
  }
  if (has_relu(p.epilogue)) return actual == (x > 0 ? x : 0.0);
  return actual == x;
}

const char* defect_of(const MatmulProblem& p, double x, double actual) {
  if (std::isnan(x)) return std::isnan(actual) ? nullptr : "nan-lost";
  if (is_right(p, x, actual)) return nullptr;
  if (std::isnan(actual)) return "nan-made";
  if (std::isinf(actual) && !std::isinf(x)) return "inf-made";
  return actual == 0 && std::fabs(x) < 1e-4 ? "denormal-flushed" : "value-wrong";
}

/// The order in which defects of one run are told: the first found of the gravest.
constexpr std::array kGravity{"nan-made", "value-wrong", "nan-lost", "inf-made", "denormal-flushed"};

void compare_special(const MatmulProblem& p, const std::vector<std::uint64_t>& values, const std::vector<std::byte>& d,
                     Observation& observation) {
  const auto shape = shape_d(p);
  const auto format = format_of(shape.type);
  std::array<std::string, kGravity.size()> found;
  bool negative = false, positive = false;
  for (std::int64_t batch = 0; batch < shape.batch_count; ++batch) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      for (std::int64_t col = 0; col < p.n; ++col) {
        const auto pattern = load(format, d, index_of(shape, row, col, batch));
        const auto planted = values[static_cast<std::size_t>(row) % values.size()];
        const double x = format.value(planted), actual = format.value(pattern);
        if (x == 0) ((pattern & format.sign()) != 0 ? negative : positive) = true;
        const char* const defect = defect_of(p, x, actual);
        if (defect == nullptr) continue;
        const auto rank =
            static_cast<std::size_t>(std::find_if(kGravity.begin(), kGravity.end(),
                                                  [defect](const char* d2) { return std::string_view(d2) == defect; }) -
                                     kGravity.begin());
        if (found.at(rank).empty())
          found.at(rank) = fmt::format("{} gives {} (row {}, column {})", x, actual, row, col);
      }
    }
  }
  observation.facts[kNegativeZero] = negative && positive ? "both" : (negative ? "-0" : "0");
  for (std::size_t rank = 0; rank < kGravity.size(); ++rank) {
    if (!found.at(rank).empty()) set_defect(observation, kGravity.at(rank), found.at(rank));
  }
}

/// The mask has what is above 0, GELU's aux what was planted.
void compare_aux(Session& session, const PreparedMatmul& matmul, const std::vector<std::uint64_t>& values,
                 Observation& observation) {
  const auto& p = matmul.problem();
  const void* aux = nullptr;
  std::size_t written = 0;
  require(session.platform().lt.matmul_desc_get_attribute(matmul.desc(), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                                                          &aux, sizeof aux, &written),
          "cublasLtMatmulDescGetAttribute");
  const auto shape = shape_aux(p);
  const auto memory = fetch(session.platform().cuda, aux, shape, matmul.stream());
  const auto format = format_of(p.type_d);
  const bool mask = has_aux_mask(p.epilogue);
  for (std::int64_t row = 0; row < p.m; ++row) {
    const double x = format.value(values[static_cast<std::size_t>(row) % values.size()]);
    // What a mask has for 0 and NaN is documented nowhere.
    if (mask && (x == 0 || std::isnan(x))) continue;
    for (std::int64_t col = 0; col < p.n; ++col) {
      if (mask) {
        const auto byte = std::to_integer<unsigned>(memory[static_cast<std::size_t>(index_of(shape, row / 8, col, 0))]);
        if (((byte >> (row % 8)) & 1U) != (x > 0 ? 1U : 0U)) {
          return set_defect(observation, "aux-wrong",
                            fmt::format("the mask of {} is wrong (row {}, column {})", x, row, col));
        }
        continue;
      }
      const double actual = format.value(load(format, memory, index_of(shape, row, col, 0)));
      if (actual != x && !(std::isnan(actual) && std::isnan(x))) {
        return set_defect(observation, "aux-wrong",
                          fmt::format("aux has {} for {} (row {}, column {})", actual, x, row, col));
      }
    }
  }
}

/// x(row, col) is -1 times the negative of the row's value times 1, plus zeros: exact, and -0 where the sum is 0.
Observation run_special_values(Session& session, const Case& the_case) {
  Observation observation;
  const auto& cuda = session.platform().cuda;
  auto matmul = session.prepare(the_case.problem);
  const auto& p = matmul.problem();
  if (!matmul.describe(observation)) return observation;
  const auto* const algo = matmul.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  matmul.fill();
  matmul.set_scalars(-1, 0);
  auto a = op_a(p), b = op_b(p);
  const auto values = special_values(a.format());
  for (std::int64_t row = 0; row < p.m; ++row) {
    a.put(row, 0, values[static_cast<std::size_t>(row) % values.size()] ^ a.format().sign());
  }
  for (std::int64_t col = 0; col < p.n; ++col) b.put(0, col, b.format().one());
  a.send(cuda, matmul.pointers().a, matmul.stream());
  b.send(cuda, matmul.pointers().b, matmul.stream());
  if (matmul.pointers().bias != nullptr) {
    const auto shape = shape_bias(p);
    const auto bytes = static_cast<std::size_t>(shape.span()) * bytes_of(shape.type);
    require(cuda.memset_async(matmul.pointers().bias, 0, bytes, matmul.stream()), "cudaMemsetAsync");
  }
  if (!run(session, matmul, algo, observation)) return observation;
  compare_special(p, values, fetch(cuda, matmul.pointers().d, shape_d(p), matmul.stream()), observation);
  if (has_aux(p.epilogue) && p.batch_count == 1) compare_aux(session, matmul, values, observation);
  return observation;
}

// ---- Rounding ---------------------------------------------------------------------------------------------------

/// Elements of D that hold `value`.
std::int64_t count(const MatmulProblem& p, const std::vector<std::byte>& d, double value) {
  const auto shape = shape_d(p);
  const auto format = format_of(shape.type);
  std::int64_t found = 0;
  for (std::int64_t batch = 0; batch < shape.batch_count; ++batch) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      for (std::int64_t col = 0; col < p.n; ++col) {
        if (format.value(load(format, d, index_of(shape, row, col, batch))) == value) ++found;
      }
    }
  }
  return found;
}

/// The sums of all elements are `terms` + 1, spread over k, and the bias is 1.
void plant_sums(const CudaApi& cuda, PreparedMatmul& matmul, std::int64_t terms) {
  const auto& p = matmul.problem();
  matmul.fill();
  matmul.set_scalars(1, 0);
  auto a = op_a(p), b = op_b(p);
  for (std::int64_t row = 0; row < p.m; ++row) {
    for (std::int64_t i = 0; i < terms; ++i) a.put(row, i * (p.k / terms), a.format().one());
    a.put(row, 1, a.format().one());
  }
  for (std::int64_t col = 0; col < p.n; ++col) {
    for (std::int64_t l = 0; l < p.k; ++l) b.put(l, col, b.format().one());
  }
  Planted bias(shape_bias(p), false);
  for (std::int64_t row = 0; row < p.m; ++row) bias.put(row, 0, bias.format().one());
  a.send(cuda, matmul.pointers().a, matmul.stream());
  b.send(cuda, matmul.pointers().b, matmul.stream());
  bias.send(cuda, matmul.pointers().bias, matmul.stream());
}

/// The sum is 2^p + 1, one more than D's type holds without a gap, and the bias is 1: 2^p + 2 is rounded nowhere, and a
/// sum that is rounded first gives 2^p. Every result of the heuristic is run; the first one counts.
Observation run_bias_rounding(Session& session, const Case& the_case) {
  Observation observation;
  const auto& cuda = session.platform().cuda;
  auto matmul = session.prepare(the_case.problem);
  const auto& p = matmul.problem();
  if (!matmul.describe(observation)) return observation;
  const auto answer = matmul.query(session.handle(), kRequestedResults);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  const std::int64_t terms = std::int64_t{1} << (format_of(p.type_d).mantissa + 1);
  plant_sums(cuda, matmul, terms);
  const auto before = observation.stages.size();
  const std::int64_t all = p.m * p.n * p.batch_count;
  std::string rounded;
  for (std::size_t i = 0; i < answer.results.size(); ++i) {
    if (answer.results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    observation.stages.resize(before);
    if (!run(session, matmul, &answer.results[i].algo, observation)) return observation;
    const auto d = fetch(cuda, matmul.pointers().d, shape_d(p), matmul.stream());
    const auto right = count(p, d, static_cast<double>(terms + 2));
    const auto first = count(p, d, static_cast<double>(terms));
    if (right == all) continue;
    const auto& read = observation.heuristic[i];
    const auto clause = fmt::format("result {} (algorithm {}, split-K {}) gives {} in {} of {} elements for {} + 1", i,
                                    read.algo_id, read.split_k, terms, first, all, terms + 1);
    if (right + first != all) {
      set_defect(observation, "value-wrong", clause);
      continue;
    }
    rounded += fmt::format("{}{}", rounded.empty() ? "" : " ", i);
    if (i == 0) set_defect(observation, "rounded-first", clause);
  }
  if (!rounded.empty()) observation.facts[kRoundedFirst] = rounded;
  return observation;
}

// ---- Pointers that an epilogue does not use ---------------------------------------------------------------------

Observation run_unused_pointer(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto& p = matmul.problem();
  if (!matmul.describe(observation)) return observation;
  // Memory that is there and that nobody may write: B.
  void* const pointer = matmul.pointers().b;
  const auto& lt = session.platform().lt;
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    return record(observation, "set_attribute", "cublasLtMatmulDescSetAttribute",
                  lt.matmul_desc_set_attribute(matmul.desc(), attribute, &value, sizeof value));
  };
  if (the_case.parameters.at(kPointer) == "bias") {
    if (!set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, pointer)) return observation;
  } else if (const std::int64_t ld = (p.m + 127) / 128 * 128;
             !set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pointer) ||
             !set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, ld)) {
    return observation;
  }
  const cublasLtMatmulAlgo_t* algo = nullptr;
  if (p.algo == AlgoChoice::heuristic) {
    algo = matmul.choose(session.handle(), observation);
    if (algo == nullptr) return observation;
  }
  matmul.fill();
  if (run(session, matmul, algo, observation)) {
    matmul.verify(observation);
  } else if (observation.end == ProcessEnd::survived) {
    matmul.verify_untouched(observation);
  }
  return observation;
}

}  // namespace

Observation observe(Session& session, const Case& the_case) {
  const auto found = the_case.parameters.find(kSteps);
  if (found == the_case.parameters.end()) return session.run(the_case.problem);
  if (found->second == kSpecialValues) return run_special_values(session, the_case);
  if (found->second == kBiasRounding) return run_bias_rounding(session, the_case);
  return run_unused_pointer(session, the_case);
}

}  // namespace lt_audit::epilogue
