// The large cases: numbers of elements, bytes, tiles and columns around the limits of 16 and 32 bits. The simulator has
// those that need no gigabytes.
#include <fmt/format.h>

#include <algorithm>

#include "shape_cases.h"

namespace lt_audit::shape_limits {
namespace {

using Tier = Form::Tier;

/// TN for narrow types, since they have nothing else; NN for the others.
const Op& usual_op(const Form& form) { return form.is_narrow() ? kTn : kNn; }

constexpr std::int64_t k2p31 = std::int64_t{1} << 31;
constexpr std::int64_t k2p32 = std::int64_t{1} << 32;

/// A number of elements that a span is compared with.
struct Threshold {
  std::string_view name;
  std::int64_t elements;
};
std::vector<Threshold> thresholds_of(std::int64_t bytes_per_element) {
  std::vector<Threshold> all{{"2p31_bytes", k2p31 / bytes_per_element},
                             {"2p32_bytes", k2p32 / bytes_per_element},
                             {"2p31_elements", k2p31},
                             {"2p32_elements", k2p32}};
  // The same number under two names is one case.
  const auto is_twice = [&](const Threshold& threshold) {
    return threshold.name.find("bytes") != std::string_view::npos && threshold.elements >= k2p31;
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_twice), all.end());
  return all;
}

// ---- Spans -------------------------------------------------------------------------------------------------------

/// The matrix from its first to its last element is `elements` long: 65 columns, and a leading dimension of a multiple
/// of 16 elements. `more` elements are added through the rows of the last column. Narrow types have no multiple of 16
/// in both directions for A; there 81 columns come close.
MatmulProblem with_span(const Form& form, const Operand& operand, std::int64_t elements, std::int64_t more) {
  constexpr std::int64_t kRows = 1024;
  auto p = product(form, usual_op(form), {96, 80, 64});
  const bool narrow_a = form.is_narrow() && operand.name == "a";
  const std::int64_t cols = narrow_a ? 80 : 65;
  const std::int64_t ld = (elements - kRows) / (cols - 1) / 16 * 16;
  resize(p, operand, kRows + more, cols);
  p.*operand.ld = narrow_a && more > 0 ? ld + 16 : ld;
  p.beta = operand.name == "c" ? 1 : 0;
  return p;
}

void add_spans(CaseList& list, const Form& form) {
  if (form.tier == Tier::rest) return;
  struct Side {
    std::string_view name;
    std::int64_t sign;
  };
  const std::int64_t step = form.is_narrow() ? 16 : 1;
  for (const auto& operand : kOperands) {
    const auto plain = product(form, usual_op(form), {96, 80, 64});
    const auto size = static_cast<std::int64_t>(bytes_of(operand.shape(plain).type));
    for (const auto& threshold : thresholds_of(size)) {
      for (const auto& side : {Side{"below", -1}, Side{"at", 0}, Side{"above", 1}}) {
        const auto p = with_span(form, operand, threshold.elements, side.sign * step);
        const auto id = fmt::format("{}.span_{}.{}.{}", form.name, operand.name, threshold.name, side.name);
        const bool main = threshold.name == "2p31_elements";
        const bool first = form.name == "f16";
        const bool early = (first && main) || (side.sign > 0 && (first || (main && form.name != "f64")));
        list.add(early ? Depth::normal : Depth::full, id, "span", p);
        if (side.sign > 0 && form.name != "f64" && form.name != "bf16")
          list.add_every_result(Depth::full, id + ".every_result", "span", p);
      }
    }
  }
}

// ---- Leading dimensions beyond 32 bits ---------------------------------------------------------------------------

/// Which matrix, and what its columns in memory are a side of.
struct Lines {
  std::size_t operand;
  Op op;
};
constexpr std::array kLines{Lines{0, kNn}, Lines{0, kTn}, Lines{1, kTn}, Lines{1, kNt}, Lines{2, kTn}, Lines{3, kTn}};

void add_far_lds(CaseList& list, const Form& form) {
  if (form.tier == Tier::rest) return;
  const bool main_form = form.name == "f16" || form.name == "e4m3";
  const bool few = !main_form && form.name != "f32";
  for (const auto& [index, op] : kLines) {
    if (form.is_narrow() && op.name != kTn.name) continue;
    const auto& operand = kOperands.at(index);
    // m of FP8 and INT8 comes in multiples of 16.
    const bool narrow_a = form.is_narrow() && operand.name == "a";
    const auto plain = product(form, op, {256, 256, 256});
    const auto size = static_cast<std::int64_t>(bytes_of(operand.shape(plain).type));
    for (const auto& threshold : thresholds_of(size)) {
      for (const std::int64_t lines : {2, 4, 16}) {
        const bool few_bytes = threshold.elements * size == k2p31;
        if ((narrow_a && lines != 16) || (few && (!few_bytes || lines == 2))) continue;
        const bool huge = threshold.elements * size * lines > (std::int64_t{20} << 30);
        if (huge && !(few_bytes && (main_form || narrow_a))) continue;
        auto p = plain;
        resize(p, operand, 256, lines);
        p.*operand.ld = threshold.elements + 16;
        p.beta = operand.name == "c" ? 1 : 0;
        // The smallest that fails on an H200 with 13.1.0; each costs a new process there.
        const bool early =
            few_bytes && op.name == kTn.name && lines == 2 &&
            ((form.name == "f16" && operand.name == "b") || (form.name == "e4m3" && operand.name == "d"));
        const auto id =
            fmt::format("{}.{}.ld{}.above_{}.lines{}", form.name, op.name, operand.name, threshold.name, lines);
        if (few_bytes && main_form) {
          auto below = p;
          below.*operand.ld = threshold.elements - 16;
          list.add_every_result(
              early ? Depth::normal : Depth::full,
              fmt::format("{}.{}.ld{}.below_{}.lines{}", form.name, op.name, operand.name, threshold.name, lines),
              "ld-above-int32", below);
        }
        list.add_every_result(early ? Depth::normal : Depth::full, id, "ld-above-int32", p);
      }
    }
  }
}

// ---- Tiles -------------------------------------------------------------------------------------------------------

void add_tiles(CaseList& list, const Form& form) {
  if (form.tier == Tier::rest) return;
  const Op& op = usual_op(form);
  const bool first = form.tier == Tier::first;
  const std::int64_t few = form.is_narrow() ? 16 : 4;
  // More columns than 16 bits count, small enough for a simulator.
  auto p = product(form, op, {few, 65600, few});
  p.beta = 1;
  list.add(first ? Depth::quick : Depth::normal, fmt::format("{}.{}.n65600", form.name, op.name), "many-tiles", p);
  p = product(form, op, {65600, few, few});
  p.beta = 1;
  list.add(first ? Depth::quick : Depth::normal, fmt::format("{}.{}.m65600", form.name, op.name), "many-tiles", p);
  if (list.is_simulator()) return;
  // More tiles than 16 bits count, whatever their size up to 256.
  const std::int64_t many = 65536 * 256 + 16;
  const std::int64_t side = form.is_narrow() ? 16 : 8;
  list.add(Depth::normal, fmt::format("{}.{}.n16777232", form.name, op.name), "many-tiles",
           product(form, op, {side, many + 1, side}));
  list.add(Depth::normal, fmt::format("{}.{}.m16777232", form.name, op.name), "many-tiles",
           product(form, op, {many, side, side}));
  list.add_every_result(Depth::full, fmt::format("{}.{}.n16777232.every_result", form.name, op.name), "many-tiles",
                        product(form, op, {side, many + 1, side}));
  list.add_every_result(Depth::full, fmt::format("{}.{}.m16777232.every_result", form.name, op.name), "many-tiles",
                        product(form, op, {many, side, side}));
  if (form.is_narrow()) return;
  // pytorch PR#73455: addmm of 655360 rows by 10, with a bias.
  p = product(form, op, {10, 655360, 10});
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  list.add(Depth::normal, fmt::format("{}.{}.n655360.bias", form.name, op.name), "many-tiles", p);
  p = product(form, op, {side, many + 1, side});
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  list.add(Depth::full, fmt::format("{}.{}.n16777232.bias", form.name, op.name), "many-tiles", p);
}

// ---- Vectors and sums --------------------------------------------------------------------------------------------

/// rapidsai/raft#3097: a matrix of 2 by 2^27 whose span reaches 2^31 elements, times a vector of 2.
void add_raft(CaseList& list) {
  for (const auto& form : kForms) {
    if (form.is_narrow() || form.tier == Tier::rest || form.name == "f64") continue;
    for (const std::int64_t m : {(k2p31 / 16) - 1, k2p31 / 16, k2p31 / 16 + 1}) {
      auto p = product(form, kTt, {m, 1, 2});
      p.lda = 16;
      p.workspace_bytes = 0;
      const bool early = form.name == "f32" && m != k2p31 / 16 + 1;
      list.add(early ? Depth::normal : Depth::full, fmt::format("{}.tt.m{}.n1.lda16", form.name, m), "long-vector", p);
      if (m >= k2p31 / 16) {
        list.add_every_result(Depth::full, fmt::format("{}.tt.m{}.n1.lda16.every_result", form.name, m), "long-vector",
                              p);
      }
    }
  }
}

/// A side near the end of an int32: that it works is promised in no words, so that a late refusal is a trap alone.
void leave_open(Case* the_case) {
  if (the_case == nullptr) return;
  the_case->expectation = Expectation::may_refuse;
  the_case->rule =
      "rows and columns: \"usually only values that can be expressed as int32_t are supported\" (cublasLt.h 13.1.0, "
      "CUBLASLT_MATRIX_LAYOUT_ROWS and _COLS, lines 1121-1135); that all of them are, no document says";
}

/// A side of 1 beside a matrix of more than 2^31 elements, and a side of more than an int32.
void add_long_vectors(CaseList& list, const Form& form) {
  if (form.is_narrow() || form.tier == Tier::rest) return;
  const bool first = form.name == "f16";
  constexpr std::int64_t kLong = 1 << 20;
  constexpr std::int64_t kShort = (1 << 11) + 8;
  struct Vector {
    std::string_view name;
    Size size;
    Depth from;
  };
  const Depth early = first ? Depth::normal : Depth::full;
  for (const auto& vector :
       {Vector{"m1.2p31_of_b", {1, kLong, kShort}, early}, Vector{"n1.2p31_of_a", {kLong, 1, kShort}, early},
        Vector{"m1.long_k.2p31_of_b", {1, kShort, kLong}, Depth::full},
        Vector{"n1.long_k.2p31_of_a", {kShort, 1, kLong}, Depth::full}}) {
    for (const auto& op : {kNn, kTn, kNt}) {
      const auto id = fmt::format("{}.{}.{}", form.name, op.name, vector.name);
      auto p = product(form, op, vector.size);
      list.add(op.name == kNn.name ? vector.from : Depth::full, id, "long-vector", p);
      p.epilogue = CUBLASLT_EPILOGUE_BIAS;
      list.add(Depth::full, id + ".bias", "long-vector", p);
    }
  }
  if (!first && form.name != "f32") return;
  for (const std::int64_t length : {k2p31 - 1, k2p31, k2p31 + 16}) {
    const bool int32 = length < k2p31;
    if (!first && !int32) continue;
    const std::string_view subject = int32 ? "long-vector" : "dimension-above-int32";
    const Depth from = first && length != k2p31 + 16 ? Depth::normal : Depth::full;
    const auto add = [&](Depth depth, std::string id, const MatmulProblem& p) {
      Case* added = list.add(depth, std::move(id), subject, p);
      if (added != nullptr) added->with_cublas = int32;
      if (int32) leave_open(added);
    };
    add(int32 ? Depth::full : from, fmt::format("{}.nn.m{}.n1.k1", form.name, length),
        product(form, kNn, {length, 1, 1}));
    add(from, fmt::format("{}.nn.m1.n{}.k1", form.name, length), product(form, kNn, {1, length, 1}));
    // Of FP32 many more terms would be exact than a comparison wants to add up for one element.
    if (first)
      list.add(Depth::full, fmt::format("{}.tn.m1.n1.k{}", form.name, length), subject,
               product(form, kTn, {1, 1, length}));
  }
}

/// Between 2^30 and the largest length that an int32 has: where a vector becomes too long.
void add_vector_sweep(CaseList& list, const Form& form) {
  if (form.name != "f16") return;
  for (const std::int64_t length : {k2p31 / 2, k2p31 / 2 + 16, k2p31 / 4 * 3, k2p31 - (1 << 28), k2p31 - (1 << 24),
                                    k2p31 - (1 << 20), k2p31 - (1 << 16), k2p31 - 128}) {
    leave_open(list.add(Depth::full, fmt::format("{}.nn.m1.n{}.k1", form.name, length), "long-vector",
                        product(form, kNn, {1, length, 1})));
  }
}

void add_long_sums(CaseList& list, const Form& form) {
  if (form.tier == Tier::rest) return;
  const Op& op = usual_op(form);
  const bool first = form.tier == Tier::first;
  const std::int64_t few = form.is_narrow() ? 16 : 8;
  const auto add = [&](Depth from, std::string_view name, const Size& size, const Op& the_op, int sms = 0) {
    auto p = product(form, the_op, size);
    p.sm_count_target = sms;
    list.add(from, fmt::format("{}.{}.{}", form.name, the_op.name, name), "long-k", p);
  };
  add(first ? Depth::quick : Depth::normal, "k16384", {few, few, 16384}, op);
  if (list.is_simulator()) return;
  add(form.name == "f16" ? Depth::normal : Depth::full, "k2p20", {few, few, 1 << 20}, op);
  if (form.tier == Tier::common && bytes_of(form.type) > 2) return;
  // vllm#4392 and others: SIGFPE on an H20, which has 78 multiprocessors.
  const bool is_16_bit = bytes_of(form.type) == 2;
  if (!form.is_narrow()) add(is_16_bit ? Depth::normal : Depth::full, "k14688", {1536, 64, 14688}, kNn);
  add(Depth::full, "k14688", {1536, 64, 14688}, kTn);
  for (const int sms : {1, 7, 20, 39, 78, 114, 131}) {
    add(is_16_bit && sms == 78 ? Depth::normal : Depth::full, fmt::format("k14688.sm{}", sms), {1536, 64, 14688}, op,
        sms);
  }
  if (bytes_of(form.type) > 2 || form.type == CUDA_R_8I) return;
  add(Depth::full, "k2p27", {few, few, 1 << 27}, op);
}

/// Public reproducer of 2021 on a V100: cublasGemmEx wrote outside C when its columns span more than 2^32 elements.
void add_far_columns(CaseList& list) {
  auto p = product(kForms.front(), kNn, {1024, 100, 3072});
  p.ldb = p.ldd = p.ldc = 52301824;
  p.in_place = true;
  if (Case* added = list.add(Depth::full, "f16.nn.ldb_ldd_52301824", "span", p)) added->with_cublas = true;
  p.n = 42;
  if (Case* added = list.add(Depth::normal, "f16.nn.ldb_ldd_52301824.n42", "span", p)) added->with_cublas = true;
}

}  // namespace

void add_large(CaseList& list) {
  for (const auto& form : kForms) {
    add_tiles(list, form);
    add_long_sums(list, form);
  }
  if (list.is_simulator()) return;
  for (const auto& form : kForms) {
    add_spans(list, form);
    add_far_lds(list, form);
    add_long_vectors(list, form);
    add_vector_sweep(list, form);
  }
  add_raft(list);
  add_far_columns(list);
}

}  // namespace lt_audit::shape_limits
