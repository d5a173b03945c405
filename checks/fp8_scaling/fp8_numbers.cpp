// Sequences that say how the numbers come about: which layout of a table is read, what fast accumulation loses, and in
// which order the factors are multiplied. And the block-scaled modes of later GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fp8_steps.h"
#include "lt_audit/error.h"

namespace lt_audit::fp8_scaling {
namespace {

using Mode = cublasLtMatmulMatrixScale_t;

// ---- Layout of a table ---------------------------------------------------------------------------------------------

/// One way to lay out a table: where the factor of block `block` of k and row (or block of rows) `outer` stands.
struct TableLayout {
  std::string_view name;
  std::int64_t (*place)(const MatrixShape& documented, std::int64_t row, std::int64_t col);
};
/// The documented one last: what it leaves is judged.
constexpr std::array kVectorLayouts{
    TableLayout{"k-contiguous",
                [](const MatrixShape& s, std::int64_t row, std::int64_t col) { return row * s.cols + col; }},
    TableLayout{"documented",
                [](const MatrixShape& s, std::int64_t row, std::int64_t col) { return col * s.ld + row; }},
};
constexpr std::array kBlockLayouts{
    TableLayout{"unpadded",
                [](const MatrixShape& s, std::int64_t row, std::int64_t col) { return col * s.rows + row; }},
    TableLayout{"outer-contiguous",
                [](const MatrixShape& s, std::int64_t row, std::int64_t col) { return row * s.cols + col; }},
    TableLayout{"documented",
                [](const MatrixShape& s, std::int64_t row, std::int64_t col) { return col * s.ld + row; }},
};

/// The table of one operand in device memory.
struct Table {
  MatrixShape shape;
  void* memory = nullptr;

  std::vector<float> fetch(Steps& steps) const {
    std::vector<float> values(static_cast<std::size_t>(shape.span()));
    steps.fetch(values.data(), memory, values.size() * sizeof(float));
    return values;
  }
  void send(Steps& steps, const std::vector<float>& values) const {
    steps.send(memory, values.data(), values.size() * sizeof(float));
  }
};

/// The documented table in another layout; places that are none there hold a factor that no table has.
std::vector<float> in_layout(const TableLayout& layout, const MatrixShape& shape,
                             const std::vector<float>& documented) {
  std::vector<float> other(documented.size(), 3.0F);
  for (std::int64_t col = 0; col < shape.cols; ++col) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      other[static_cast<std::size_t>(layout.place(shape, row, col))] =
          documented[static_cast<std::size_t>(col * shape.ld + row)];
    }
  }
  return other;
}

/// Whether a reader of the documented layout finds another factor anywhere in what now lies in memory.
bool differs(const TableLayout& layout, const MatrixShape& shape, const std::vector<float>& documented) {
  const auto other = in_layout(layout, shape, documented);
  for (std::int64_t col = 0; col < shape.cols; ++col) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const auto place = static_cast<std::size_t>(col * shape.ld + row);
      if (other[place] != documented[place]) return true;
    }
  }
  return false;
}
bool differs(Steps& steps, const TableLayout& layout, const std::vector<Table>& tables) {
  return std::any_of(tables.begin(), tables.end(),
                     [&](const Table& table) { return differs(layout, table.shape, table.fetch(steps)); });
}

/// Fills with the first values of the factors that look different in each layout: small tables have few of them.
void fill_to_tell_apart(Steps& steps, std::span<const TableLayout> layouts, const std::vector<Table>& tables) {
  for (std::uint64_t variant = 0; variant < 16; ++variant) {
    steps.matmul().fill(variant);
    const auto tells = [&](const TableLayout& layout) { return differs(steps, layout, tables); };
    if (std::all_of(layouts.begin(), layouts.end() - 1, tells)) return;
  }
}

/// The tables in one layout, D computed, the documented tables back in their place, D compared.
bool is_right_with(Steps& steps, const TableLayout& layout, const std::vector<Table>& tables) {
  std::vector<std::vector<float>> documented;
  for (const auto& table : tables) {
    documented.push_back(table.fetch(steps));
    table.send(steps, in_layout(layout, table.shape, documented.back()));
  }
  const bool ran = steps.run();
  if (steps.observation().end != ProcessEnd::survived) return false;
  for (std::size_t i = 0; i < tables.size(); ++i) tables[i].send(steps, documented[i]);
  if (!ran) return false;
  steps.verify();
  const auto& seen = steps.observation().verification;
  return seen && seen->all_right() && seen->nothing_else_written();
}

// ---- Matrices of planted FP8 numbers -------------------------------------------------------------------------------

/// E4M3 numbers: 0.125, 1 to 7, 256.
constexpr std::uint8_t kEighth = 0x20, kOne = 0x38, k256 = 0x78;
constexpr std::array<std::uint8_t, 7> kSmallIntegers{0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E};

/// Fills op(X), transposed or not, with place(outer, l) for each of the rows of op(A) or columns of op(B).
template <class Place>
void plant(Steps& steps, void* to, const MatrixShape& shape, bool k_is_first, Place place) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(shape.span()));
  for (std::int64_t col = 0; col < shape.cols; ++col) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      bytes[static_cast<std::size_t>(col * shape.ld + row)] = k_is_first ? place(col, row) : place(row, col);
    }
  }
  steps.send(to, bytes.data(), bytes.size());
}
template <class PlaceA, class PlaceB>
void plant_inputs(Steps& steps, PlaceA place_a, PlaceB place_b) {
  const auto& p = steps.problem();
  plant(steps, steps.matmul().pointers().a, shape_a(p), p.transa != CUBLAS_OP_N, place_a);
  plant(steps, steps.matmul().pointers().b, shape_b(p), p.transb == CUBLAS_OP_N, place_b);
}

std::vector<float> fetch_d(Steps& steps) {
  std::vector<float> d(static_cast<std::size_t>(shape_d(steps.problem()).span()));
  steps.fetch(d.data(), steps.matmul().pointers().d, d.size() * sizeof(float));
  return d;
}

// ---- Accumulation --------------------------------------------------------------------------------------------------

/// One term of 65536 at the beginning of k and k - 1 terms of 1/64: the sum is exact in FP32, and an accumulator of
/// fewer bits that is not emptied in time loses the small ones. The largest number of them that an element has lost;
/// nothing when a value is impossible, or when the call was refused.
std::optional<double> lost_terms(Steps& steps, bool fast) {
  if (!steps.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast ? 1 : 0))) return std::nullopt;
  if (!steps.choose_and_run()) return std::nullopt;
  const auto small = static_cast<double>(steps.problem().k - 1);
  const auto d = fetch_d(steps);
  double most = 0;
  for (const float value : d) {
    const double lost = small - (static_cast<double>(value) - 65536) * 64;
    // An accumulator cuts off or rounds to the nearest: it never adds more than there was.
    if (!(lost >= 0 && lost <= small)) {
      steps.set_defect("value-wrong", fmt::format("{} in place of {}, fast accumulation {}", value, 65536 + small / 64,
                                                  fast ? "on" : "off"));
      return std::nullopt;
    }
    most = std::max(most, lost);
  }
  return most;
}

// ---- Order of factors ----------------------------------------------------------------------------------------------

/// Factors that no power of two makes whole, so that every multiplication rounds; the first of each, which a scalar is,
/// give every order other results.
float factor_of_a(std::int64_t i) { return static_cast<float>(1 + i % 7) / 7.0F; }
float factor_of_b(std::int64_t i) { return static_cast<float>(3 + i % 4) / 7.0F; }

/// The one block of k that the problem has: place of the factor for row or column `outer`.
std::int64_t place_of_factor(Mode mode, const MatrixShape& shape, std::int64_t outer) {
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return 0;
  return mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F ? outer / 128 * shape.ld : outer;
}

std::vector<float> send_factors(Steps& steps, std::string_view operand, Mode mode, std::int64_t outer,
                                float (*factor)(std::int64_t)) {
  const auto shape = shape_scale(mode, outer, steps.problem().k);
  std::vector<float> table(static_cast<std::size_t>(shape.span()));
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = factor(static_cast<std::int64_t>(i));
  steps.send(steps.pointer_of(operand), table.data(), table.size() * sizeof(float));
  std::vector<float> of_outer;
  for (std::int64_t i = 0; i < outer; ++i) {
    of_outer.push_back(table[static_cast<std::size_t>(place_of_factor(mode, shape, i))]);
  }
  return of_outer;
}

struct FactorOrder {
  std::string_view name;
  float (*value)(float sum, float a, float b);
};
constexpr std::array kFactorOrders{
    FactorOrder{"(a*b)*sum", [](float sum, float a, float b) { return (a * b) * sum; }},
    FactorOrder{"(a*sum)*b", [](float sum, float a, float b) { return (a * sum) * b; }},
    FactorOrder{"(b*sum)*a", [](float sum, float a, float b) { return (b * sum) * a; }},
    FactorOrder{"rounded-once",
                [](float sum, float a, float b) {
                  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(sum));
                }},
};

/// Two roundings of 2^-24 each, and one more for alpha.
constexpr double kOrderTolerance = 3 * 0x1p-24;

// ---- Block-scaled modes --------------------------------------------------------------------------------------------

std::size_t rounded_up(std::int64_t value, std::int64_t step) {
  return static_cast<std::size_t>((value + step - 1) / step * step);
}

/// The heuristic's answer to FP4 matrices, which the engine cannot fill.
cublasStatus_t query_fp4(Steps& steps) {
  const auto& p = steps.problem();
  std::vector<MatrixLayout> layouts;
  for (const auto& shape : {shape_a(p), shape_b(p), shape_c(p), shape_d(p)}) {
    const auto type = is_fp8(shape.type) ? CUDA_R_4F_E2M1 : shape.type;
    cublasLtMatrixLayout_t layout = nullptr;
    const auto status = steps.lt().matrix_layout_create(&layout, type, static_cast<std::uint64_t>(shape.rows),
                                                        static_cast<std::uint64_t>(shape.cols), shape.ld);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    layouts.emplace_back(steps.lt(), layout);
  }
  cublasLtMatmulHeuristicResult_t result{};
  int count = 0;
  const auto status = steps.lt().matmul_algo_get_heuristic(
      steps.session().handle(), steps.matmul().desc(), layouts[0].get(), layouts[1].get(), layouts[2].get(),
      layouts[3].get(), steps.matmul().preference(), 1, &result, &count);
  return status == CUBLAS_STATUS_SUCCESS && count == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : status;
}

}  // namespace

Observation run_layout(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin() || !steps.choose()) return steps.take();
  const auto& p = steps.problem();
  const auto operands = steps.parameter(kOperand);
  auto mode = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  std::vector<Table> tables;
  for (const char letter : operands) {
    const bool of_a = letter == 'a';
    mode = (of_a ? p.scale_a : p.scale_b).value_or(mode);
    tables.push_back({shape_scale(mode, of_a ? p.m : p.n, p.k), steps.pointer_of(std::string_view(&letter, 1))});
  }
  const bool blocks = mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
  const std::span<const TableLayout> layouts =
      blocks ? std::span<const TableLayout>(kBlockLayouts) : std::span<const TableLayout>(kVectorLayouts);
  fill_to_tell_apart(steps, layouts, tables);
  std::string right;
  const auto before = steps.observation().stages.size();
  for (const auto& layout : layouts) {
    // One block, or no padding: two layouts are the same.
    const bool documented = layout.name == layouts.back().name;
    if (!documented && !differs(steps, layout, tables)) continue;
    steps.observation().stages.resize(before);
    const bool is_right = is_right_with(steps, layout, tables);
    if (steps.observation().end != ProcessEnd::survived) return steps.take();
    if (is_right) right += fmt::format("{}{}", right.empty() ? "" : " ", layout.name);
  }
  steps.observation().facts[kLayoutsRight] = right.empty() ? "none" : right;
  if (right != "documented" && !right.empty()) {
    steps.set_defect(right.ends_with("documented") ? "layout-undecided" : "other-layout",
                     fmt::format("D is right with the table in these layouts: {}", right));
  }
  return steps.take();
}

Observation run_accumulation(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  const auto place = [](std::int64_t, std::int64_t l) { return l == 0 ? k256 : kEighth; };
  plant_inputs(steps, place, place);
  const auto before = steps.observation().stages.size();
  const auto fast = lost_terms(steps, true);
  if (steps.observation().end != ProcessEnd::survived) return steps.take();
  steps.observation().stages.resize(before);
  steps.observation().heuristic.clear();
  const auto precise = lost_terms(steps, false);
  if (fast) steps.observation().facts[kLostFast] = fmt::format("{:.0f}", *fast);
  if (!precise) return steps.take();
  steps.observation().facts[kLostPrecise] = fmt::format("{:.0f}", *precise);
  const auto small = static_cast<double>(steps.problem().k - 1);
  if (*precise * 2 > small || (fast && *precise > *fast)) {
    steps.set_defect("precision-lost",
                     fmt::format("{:.0f} of {:.0f} small terms are lost without fast accumulation, {} with it",
                                 *precise, small, fast ? fmt::format("{:.0f}", *fast) : "an unknown number"));
  }
  return steps.take();
}

Observation run_order(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  const auto& p = steps.problem();
  const auto integer = [](std::int64_t i) { return kSmallIntegers[static_cast<std::size_t>(i % 7)]; };
  plant_inputs(
      steps, [&](std::int64_t row, std::int64_t) { return integer(row); },
      [](std::int64_t, std::int64_t) { return kOne; });
  const auto a = send_factors(steps, "a", p.scale_a.value(), p.m, factor_of_a);
  const auto b = send_factors(steps, "b", p.scale_b.value(), p.n, factor_of_b);
  if (!steps.choose_and_run()) return steps.take();
  const auto d = fetch_d(steps);
  std::array<bool, kFactorOrders.size()> agrees;
  agrees.fill(true);
  for (std::int64_t col = 0; col < p.n; ++col) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      const float value = d[static_cast<std::size_t>(col * shape_d(p).ld + row)];
      const auto sum = static_cast<float>((row % 7 + 1) * p.k);
      const float fa = a[static_cast<std::size_t>(row)], fb = b[static_cast<std::size_t>(col)];
      const double exact = static_cast<double>(fa) * static_cast<double>(fb) * static_cast<double>(sum);
      if (!(std::fabs(static_cast<double>(value) - exact) <= kOrderTolerance * exact)) {
        steps.set_defect("value-wrong", fmt::format("{} in place of {} times {} times {} (row {}, column {})", value,
                                                    fa, fb, sum, row, col));
        return steps.take();
      }
      for (std::size_t i = 0; i < agrees.size(); ++i) {
        agrees.at(i) = agrees.at(i) && value == kFactorOrders.at(i).value(sum, fa, fb);
      }
    }
  }
  std::string orders;
  for (std::size_t i = 0; i < agrees.size(); ++i) {
    if (agrees.at(i)) orders += fmt::format("{}{}", orders.empty() ? "" : " ", kFactorOrders.at(i).name);
  }
  steps.observation().facts[kScaleOrder] = orders.empty() ? "none of those" : orders;
  return steps.take();
}

/// MXFP8 with the same factor of 2 for every block, whatever the layout of the table; NVFP4 is only asked for.
Observation run_block_scaled(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  const auto& p = steps.problem();
  const bool fp4 = steps.parameter(kOperand) == name_of(CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
  const std::int32_t mode = fp4 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
  // Tiles of 128 rows by 4 blocks; UE8M0 has 2 as 0x80, UE4M3 has 1 as 0x38.
  const auto bytes = rounded_up(std::max(p.m, p.n), 128) * rounded_up(p.k / (fp4 ? 16 : 32), 4);
  const auto table = steps.device_memory(bytes, fp4 ? 0x38 : 0x80);
  const bool set = steps.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, table.get()) &&
                   steps.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, table.get()) &&
                   steps.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode) &&
                   steps.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
  const auto& device = session.target().device_facts;
  const auto here = fmt::format("this GPU has {}.{}", device.compute_major, device.compute_minor);
  const auto name = name_of(static_cast<Mode>(mode));
  if (fp4) {
    const auto status = set ? query_fp4(steps) : CUBLAS_STATUS_NOT_SUPPORTED;
    throw NotRun(status == CUBLAS_STATUS_SUCCESS
                     ? fmt::format("{} is offered, and the audit cannot fill FP4 matrices yet", name)
                     : fmt::format("{} is for compute capability 10.0 and later, {}: {}", name, here, name_of(status)));
  }
  if (!set || !steps.choose()) {
    if (device.compute_major >= 10) return steps.take();
    throw NotRun(fmt::format("{} is for compute capability 10.0 and later, {}", name, here));
  }
  if (!steps.run()) return steps.take();
  auto expected = p;
  expected.alpha = 4 * p.alpha;
  steps.verify(expected);
  return steps.take();
}

}  // namespace lt_audit::fp8_scaling
