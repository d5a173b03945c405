// The grid: types x scale modes x what else uses them x shapes, and what the documentation forbids.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fp8_case_list.h"

namespace lt_audit::fp8_scaling {
namespace {

/// Every row, those that run first in front.
std::vector<Form> listed_forms() {
  std::vector<Form> forms;
  for (const auto& [a, b] : {std::pair{kE4, kE4}, std::pair{kE4, kE5}, std::pair{kE5, kE4}}) {
    for (const auto c : {kBf16, kF16}) {
      forms.push_back({a, b, c, c});
      forms.push_back({a, b, c, kE4});
      if (a != b) forms.push_back({a, b, c, kE5});
    }
    forms.push_back({a, b, kF32, kF32});
  }
  return forms;
}
bool is_first(const Form& form) { return form.a == kE4 && form.b == kE4 && form.c == kBf16; }

constexpr std::array kScalarShapes{
    kBase,
    Shape{"ragged", {272, 17, 144}, {48, 17, 32}},
    Shape{"column", {272, 1, 144}, {48, 1, 32}},
    Shape{"long_k", {64, 48, 16384}, {32, 24, 1024}},
    Shape{"padded", {272, 208, 144}, {48, 40, 32}},
    Shape{"in_place", {272, 208, 144}, {48, 40, 32}},
    Shape{"batch", {144, 112, 80}, {32, 24, 16}},
};
constexpr std::array kTableShapes{
    kTableBase,
    Shape{"one_block", {144, 132, 128}, {136, 132, 128}},
    Shape{"no_padding", {272, 196, 512}, {136, 12, 512}},
    Shape{"short_k", {144, 132, 16}, {136, 132, 16}},
    Shape{"narrow", {272, 4, 656}, {136, 4, 272}},
    Shape{"long_k", {144, 132, 8208}, {32, 8, 1040}},
    Shape{"padded", {272, 196, 656}, {136, 132, 144}},
};

// ---- One factor for a whole matrix ---------------------------------------------------------------------------------

/// What is set beside the product: one letter for each scale factor, and more.
struct Setting {
  std::string_view name;
  std::string_view scales;
  bool amax = false;
  double beta = 0;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  bool fast_accum = false;
  double alpha = 1;
  cublasLtPointerMode_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
};
constexpr std::array kSettings{
    Setting{"none", ""},
    Setting{"a", "a"},
    Setting{"b", "b"},
    Setting{"ab", "ab"},
    Setting{"c", "c", false, 1},
    Setting{"abc", "abc", false, 1},
    Setting{"ab_beta", "ab", false, 1},
    Setting{"ab_fast", "ab", false, 0, CUBLASLT_EPILOGUE_DEFAULT, true},
    Setting{"ab_alpha", "ab", false, 1, CUBLASLT_EPILOGUE_DEFAULT, false, 0.5},
    Setting{"ab_device", "ab", false, 1, CUBLASLT_EPILOGUE_DEFAULT, false, 2, CUBLASLT_POINTER_MODE_DEVICE},
    Setting{"ab_bias", "ab", false, 0, CUBLASLT_EPILOGUE_BIAS},
    Setting{"ab_relu", "ab", false, 0, CUBLASLT_EPILOGUE_RELU},
    Setting{"ab_relu_bias", "ab", false, 1, CUBLASLT_EPILOGUE_RELU_BIAS},
    Setting{"ab_gelu", "ab", false, 0, CUBLASLT_EPILOGUE_GELU},
    Setting{"ab_gelu_bias", "ab", false, 0, CUBLASLT_EPILOGUE_GELU_BIAS},
    Setting{"d", "d"},
    Setting{"amax", "", true},
    Setting{"ab_amax", "ab", true},
    Setting{"abd", "abd"},
    Setting{"abd_amax", "abd", true},
    Setting{"abcd_amax", "abcd", true, 1},
    Setting{"abd_bias_amax", "abd", true, 0, CUBLASLT_EPILOGUE_BIAS},
    Setting{"abd_relu_bias_amax", "abd", true, 0, CUBLASLT_EPILOGUE_RELU_BIAS},
    Setting{"abd_fast_amax", "abd", true, 0, CUBLASLT_EPILOGUE_DEFAULT, true},
};
bool has(const Setting& setting, char scale) { return setting.scales.find(scale) != std::string_view::npos; }

void apply(const Setting& setting, MatmulProblem& p) {
  if (has(setting, 'a')) p.scale_a = kScalar;
  if (has(setting, 'b')) p.scale_b = kScalar;
  if (has(setting, 'c')) p.scale_c = kScalar;
  if (has(setting, 'd')) p.scale_d = kScalar;
  p.amax_d = setting.amax;
  if (setting.beta != 0) p.beta = setting.beta;
  p.epilogue = setting.epilogue;
  p.fast_accum = setting.fast_accum;
  p.alpha = setting.alpha;
  p.pointer_mode = setting.pointer_mode;
}

std::string_view subject_of(const Setting& setting, const Form& form) {
  if ((setting.amax || has(setting, 'd')) && !form.narrow_d()) return "wide-output";
  if (setting.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return "epilogue";
  if (has(setting, 'c')) return "scale-c";
  if (has(setting, 'd')) return "scale-d";
  if (setting.amax) return "amax";
  return setting.scales.empty() ? "no-scale" : "scalar";
}

/// The settings that every type and shape meets; of those with D's factor and amax only what D's type allows.
bool is_common(const Setting& setting, const Form& form) {
  return setting.name == "ab" || (form.narrow_d() && setting.name == "abcd_amax");
}

Depth depth_of(const Form& form, const Shape& shape, const Setting& setting) {
  const bool base = shape.name == kBase.name;
  if (base && (is_first(form) || is_common(setting, form))) return Depth::quick;
  if (is_first(form) && is_common(setting, form)) return Depth::quick;
  // Two types of A and B: beside a BF16 C they meet everything, beside the others in depth full.
  if (form.a != form.b && form.c != kBf16) return Depth::full;
  return base || is_common(setting, form) ? Depth::normal : Depth::full;
}

/// What a wide D refuses need not be refused in every combination.
bool takes(const Form& form, const Shape& shape, const Setting& setting) {
  const bool of_d = setting.amax || has(setting, 'd');
  if (of_d && !form.narrow_d()) {
    return shape.name == kBase.name && (setting.name == "d" || setting.name == "amax" || setting.name == "ab_amax");
  }
  return shape.name != "in_place" || form.c == form.d;
}

void add_scalars(CaseList& list) {
  for (const auto& form : listed_forms()) {
    for (const auto& shape : kScalarShapes) {
      for (const auto& setting : kSettings) {
        if (!takes(form, shape, setting)) continue;
        auto p = list.problem(form, shape);
        apply(setting, p);
        list.add(depth_of(form, shape, setting), fmt::format("{}.{}.{}", form.name(), setting.name, shape.name),
                 subject_of(setting, form), p);
      }
    }
  }
}

// ---- Tables of factors ---------------------------------------------------------------------------------------------

constexpr std::array kUnlistedPairs{
    Pair{"blk_blk", "mode-pair", kBlock, kBlock},       Pair{"outer_vec", "mode-pair", kOuter, kVec128},
    Pair{"vec_outer", "mode-pair", kVec128, kOuter},    Pair{"outer_blk", "mode-pair", kOuter, kBlock},
    Pair{"outer_scalar", "mode-pair", kOuter, kScalar}, Pair{"scalar_outer", "mode-pair", kScalar, kOuter},
    Pair{"vec_scalar", "mode-pair", kVec128, kScalar},  Pair{"scalar_vec", "mode-pair", kScalar, kVec128},
    Pair{"blk_scalar", "mode-pair", kBlock, kScalar},   Pair{"scalar_blk", "mode-pair", kScalar, kBlock},
    Pair{"blk_outer", "mode-pair", kBlock, kOuter},
};

/// What is set beside the tables.
struct Beside {
  std::string_view name;
  void (*apply)(MatmulProblem&);
};
constexpr std::array kBeside{
    Beside{"plain", [](MatmulProblem&) {}},
    Beside{"beta", [](MatmulProblem& p) { p.beta = 1; }},
    Beside{"bias", [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; }},
    Beside{"relu_bias", [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS, p.beta = 1; }},
    Beside{"gelu", [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_GELU; }},
    Beside{"fast", [](MatmulProblem& p) { p.fast_accum = true; }},
    Beside{"alpha", [](MatmulProblem& p) { p.alpha = 0.5, p.beta = 2; }},
    Beside{"scale_c", [](MatmulProblem& p) { p.scale_c = kScalar, p.beta = 1; }},
    Beside{"no_workspace", [](MatmulProblem& p) { p.workspace_bytes = 0; }},
};

void add_tables(CaseList& list) {
  for (const auto& form : listed_forms()) {
    if (form.narrow_d()) continue;
    for (const auto& pair : kPairs) {
      for (const auto& shape : kTableShapes) {
        for (const auto& beside : kBeside) {
          const bool base = shape.name == kTableBase.name, plain = beside.name == "plain";
          if (!is_first(form) && !base && !plain) continue;
          auto p = with_pair(list.problem(form, shape), pair);
          beside.apply(p);
          Depth from = Depth::full;
          if (is_first(form) && (base || plain)) from = base && plain ? Depth::quick : Depth::normal;
          // Eight times four products of two or three million terms are for a GPU.
          if (plain && base && !is_first(form)) from = list.simulator() ? Depth::normal : Depth::quick;
          list.add(from, fmt::format("{}.{}.{}.{}", form.name(), pair.name, beside.name, shape.name),
                   p.epilogue == CUBLASLT_EPILOGUE_DEFAULT ? pair.subject : "epilogue", p);
        }
      }
    }
  }
}

/// What tables do not go with.
void add_refused_tables(CaseList& list) {
  const auto plain = list.problem(kFirst, kTableBase);
  for (const auto& pair : kUnlistedPairs) {
    Depth from = pair.name == "blk_blk" ? Depth::quick : Depth::normal;
    if (pair.name == "blk_outer") from = Depth::full;
    Case* added = list.add(from, fmt::format("{}.{}", kFirst.name(), pair.name), pair.subject, with_pair(plain, pair));
    // The first of these two ends the process in cuBLASLt 13.1.0.
    if (added != nullptr) added->isolated = pair.name == "outer_blk" || pair.name == "blk_outer";
  }
  for (const auto& pair : kPairs) {
    const auto narrow = with_pair(list.problem(kFirstNarrow, kTableBase), pair);
    const auto id = [&](std::string_view what) { return fmt::format("{}.{}", pair.name, what); };
    list.add(Depth::quick, id("narrow_d"), "table-output", narrow);
    auto p = narrow;
    p.amax_d = true;
    list.add(Depth::normal, id("narrow_d_amax"), "table-output", p);
    p = with_pair(plain, pair);
    p.scale_d = kScalar;
    list.add(Depth::normal, id("scale_d"), "table-output", p);
    p = with_pair(plain, pair);
    p.amax_d = true;
    list.add(Depth::normal, id("amax"), "table-output", p);
    // The rule of 4 is for m and n; the 16-byte rule of FP8 leaves only n open.
    for (const std::int64_t odd : {1, 2, 3}) {
      p = with_pair(plain, pair);
      p.n += odd;
      list.add(odd == 1 ? Depth::normal : Depth::full, id(fmt::format("n_plus_{}", odd)), pair.subject, p);
    }
  }
}

// ---- Types ---------------------------------------------------------------------------------------------------------

void add_unlisted_types(CaseList& list) {
  std::vector<Form> forms;
  for (const auto c : {kBf16, kF16, kF32}) {
    for (const auto d : {c, kE4, kE5}) forms.push_back({kE5, kE5, c, d});
  }
  for (const auto c : {kBf16, kF16}) forms.push_back({kE4, kE4, c, kE5});
  for (const auto d : {kE4, kE5}) {
    forms.push_back({kE4, kE5, kF32, d});
    forms.push_back({kE4, kE4, kF32, d});
  }
  forms.push_back({kE4, kE4, kE4, kE4});
  forms.push_back({kE4, kE4, kBf16, kF16});
  forms.push_back({kE4, kE4, kBf16, kF32});
  for (const auto& form : forms) {
    const bool both_e5m2 = form.a == kE5 && form.b == kE5;
    for (const bool scaled : {false, true}) {
      auto p = list.problem(form, kBase);
      if (scaled) p.scale_a = p.scale_b = kScalar;
      Case* added = list.add(both_e5m2 && form.c == form.d ? Depth::quick : Depth::normal,
                             fmt::format("{}.unlisted{}", form.name(), scaled ? ".ab" : ""), "types", p);
      // Which types cublasLtMatmul supports is what the tables are for: a row that is not there is a refusal.
      if (added != nullptr && both_e5m2) added->expectation = Expectation::must_refuse;
    }
  }
}

/// Factors and amax beside types that are not narrow.
void add_wide_types(CaseList& list) {
  struct Wide {
    std::string_view name;
    cudaDataType_t type;
  };
  constexpr std::array kWide{Wide{"f16", CUDA_R_16F}, Wide{"bf16", CUDA_R_16BF}, Wide{"f32", CUDA_R_32F},
                             Wide{"f64", CUDA_R_64F}, Wide{"i8", CUDA_R_8I},     Wide{"c32", CUDA_C_32F}};
  for (const auto& wide : kWide) {
    const Size size = list.simulator() ? kBase.on_simulator : kBase.on_gpu;
    const auto plain = uniform_problem(wide.type, size.m, size.n, size.k);
    const auto add = [&](std::string_view what, void (*change)(MatmulProblem&)) {
      auto p = plain;
      change(p);
      list.add(wide.name == "f16" || wide.name == "bf16" ? Depth::quick : Depth::normal,
               fmt::format("{}.{}", wide.name, what), "wide-input", p);
    };
    add("scale_a", [](MatmulProblem& p) { p.scale_a = kScalar; });
    add("scale_b", [](MatmulProblem& p) { p.scale_b = kScalar; });
    add("scale_c", [](MatmulProblem& p) { p.scale_c = kScalar, p.beta = 1; });
    add("scale_d", [](MatmulProblem& p) { p.scale_d = kScalar; });
    add("amax", [](MatmulProblem& p) { p.amax_d = true; });
    add("outer", [](MatmulProblem& p) { p.scale_a = p.scale_b = kOuter; });
  }
}

// ---- Workspace and sizes -------------------------------------------------------------------------------------------

/// Another limit is another algorithm (BR-44).
void add_workspaces(CaseList& list) {
  constexpr Shape kLong{"", {64, 48, 16384}, {32, 24, 1024}};
  for (const auto& form : {kFirst, kFirstNarrow, Form{kE4, kE4, kF32, kF32}}) {
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{4096}, std::int64_t{1} << 16, std::int64_t{1} << 20,
                                     std::int64_t{4} << 20, std::int64_t{64} << 20}) {
      auto p = list.problem(form, kLong);
      p.scale_a = p.scale_b = kScalar;
      if (form.narrow_d()) p.scale_d = kScalar, p.amax_d = true;
      p.workspace_bytes = bytes;
      list.add(form.d == kBf16 && (bytes == 0 || bytes == 1 << 20) ? Depth::quick : Depth::normal,
               fmt::format("{}.workspace.{}", form.name(), bytes), "workspace", p);
    }
  }
}

/// Every number of blocks along k, m and n up to a dozen, on both sides of their edges, and one product as large as
/// applications have (BR-26: vllm-project/vllm#5731).
void add_sweeps(CaseList& list) {
  for (const auto& pair : kPairs) {
    for (std::int64_t k = 16; k <= 1664; k += k % 128 == 16 ? 96 : 16) {
      if (list.simulator() && k > 544) break;
      auto p = with_pair(list.problem(kFirst, {"", {144, 132, k}, {32, 8, k}}), pair);
      list.add(Depth::full, fmt::format("sweep.{}.k{}", pair.name, k), pair.subject, p);
    }
    for (const std::int64_t m : {8, 16, 64, 120, 128, 136, 248, 256, 264, 384, 640, 1032}) {
      if (list.simulator() && m > 264) break;
      list.add(Depth::full, fmt::format("sweep.{}.m{}", pair.name, m), pair.subject,
               with_pair(list.problem(kFirst, {"", {m, 132, 656}, {m, 8, 144}}), pair));
    }
    for (const std::int64_t n : {4, 8, 12, 64, 124, 128, 132, 252, 256, 260, 384, 640, 1028}) {
      if (list.simulator() && n > 260) break;
      list.add(Depth::full, fmt::format("sweep.{}.n{}", pair.name, n), pair.subject,
               with_pair(list.problem(kFirst, {"", {144, n, 656}, {16, n, 144}}), pair));
    }
    list.add(Depth::full, fmt::format("large.{}", pair.name), pair.subject,
             with_pair(list.problem(kFirst, {"", {2048, 1028, 2064}, {144, 132, 272}}), pair));
  }
  for (const std::int64_t n : {1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 1025}) {
    if (list.simulator() && n > 257) break;
    for (const auto& form : {kFirst, kFirstNarrow}) {
      auto p = list.problem(form, {"", {144, n, 272}, {48, n, 32}});
      p.scale_a = p.scale_b = kScalar;
      if (form.narrow_d()) p.scale_d = kScalar, p.amax_d = true;
      list.add(Depth::full, fmt::format("sweep.{}.n{}", form.name(), n), "scalar", p);
    }
  }
  auto large = list.problem(kFirst, {"", {9216, 3398, 7168}, {48, 38, 512}});
  large.scale_a = large.scale_b = kScalar;
  list.add(Depth::full, "large.scalar", "scalar", large);
}

}  // namespace

void add_grid(CaseList& list) {
  add_scalars(list);
  add_tables(list);
  add_refused_tables(list);
  add_unlisted_types(list);
  add_wide_types(list);
  add_workspaces(list);
  add_sweeps(list);
}

}  // namespace lt_audit::fp8_scaling
