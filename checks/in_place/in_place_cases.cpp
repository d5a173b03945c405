// The grid: types x shapes x scalars x scenarios.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "in_place_scenarios.h"
#include "lt_audit/contract.h"

namespace lt_audit::in_place {
namespace {

/// How early the cases of a type come. `sampled` has one or two cases in depth quick, since the first use of a type
/// costs a GPU a tenth of a second, and is `common` otherwise.
enum class Tier { first, sampled, common, rest };

struct Form {
  std::string_view name;
  Tier tier;
  cudaDataType_t ab, c, d;
  cublasComputeType_t compute;
};
constexpr std::array kForms{
    Form{"f16", Tier::first, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"f32", Tier::first, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16", Tier::common, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"f64", Tier::common, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"e4m3", Tier::sampled, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"i8_i32", Tier::sampled, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
    Form{"c32", Tier::common, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F},
    Form{"f16_f32", Tier::rest, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16_f32", Tier::rest, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16_16f", Tier::rest, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    Form{"tf32", Tier::rest, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"e4m3_f16", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"e4m3_f32", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"e4m3_e4m3", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F},
    Form{"i8", Tier::rest, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I},
    Form{"i8_f32", Tier::rest, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"c64", Tier::rest, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F},
};
const Form& form_named(std::string_view name) {
  return *std::find_if(kForms.begin(), kForms.end(), [name](const Form& form) { return form.name == name; });
}
bool is_narrow(const Form& form) { return bytes_of(form.ab) == 1; }

struct Size {
  std::int64_t m, n, k;
};
struct Shape {
  std::string_view name;
  /// Several tiles on a GPU; the simulator multiplies on the host.
  Size on_gpu, on_simulator;
  /// A side that narrow types do not allow.
  bool wide_only = false;
};
constexpr Shape kBase{"base", {272, 208, 144}, {48, 40, 32}};
constexpr Shape kOdd{"odd", {253, 197, 131}, {29, 23, 19}, true};
constexpr Shape kRow{"row", {1, 208, 144}, {1, 40, 32}, true};
constexpr Shape kCol{"col", {272, 1, 144}, {48, 1, 32}};
/// One or two tiles and a long k, which a library splits: partial sums lie in the workspace, or in D.
constexpr Shape kLongK{"long_k", {64, 48, 16384}, {32, 24, 1024}};
constexpr Shape kLongOddK{"long_odd_k", {61, 43, 9999}, {29, 23, 1003}, true};
constexpr Shape kPadded{"padded", {272, 208, 144}, {48, 40, 32}};
constexpr Shape kBatch{"batch", {144, 112, 80}, {32, 24, 16}};
constexpr Shape kBatchPadded{"batch_padded", {144, 112, 80}, {32, 24, 16}};
constexpr Shape kBatchLongK{"batch_long_k", {32, 48, 8192}, {16, 24, 1024}};
constexpr Shape kRowOrder{"row_order", {272, 208, 144}, {48, 40, 32}};
/// More tiles than a GPU computes at once, so that the last read what the first wrote.
constexpr Shape kWaves{"waves", {3072, 2048, 64}, {48, 40, 32}};
constexpr Shape kGram{"gram", {272, 272, 144}, {48, 48, 32}};
constexpr Shape kSameK{"same_k", {272, 144, 144}, {48, 32, 32}};

class CaseList {
 public:
  CaseList(const Target& target, Depth depth) : scope_(scope_of(target)), kind_(target.kind), depth_(depth) {}

  MatmulProblem problem(const Form& form, const Shape& shape, double beta) const {
    const auto& size = kind_ == PlatformKind::simulator ? shape.on_simulator : shape.on_gpu;
    MatmulProblem p = uniform_problem(form.ab, size.m, size.n, size.k);
    p.type_c = form.c;
    p.type_d = form.d;
    p.compute_type = form.compute;
    p.scale_type = scale_of(form);
    p.transa = is_narrow(form) ? CUBLAS_OP_T : CUBLAS_OP_N;
    p.beta = beta;
    p.workspace_bytes = std::int64_t{4} << 20;
    if (shape.name == "padded" || shape.name == "batch_padded") p.ldc = p.ldd = p.m + 16;
    if (shape.name.find("batch") == 0) p.batch_count = 3;
    if (shape.name == "batch_padded") p.stride_c = p.stride_d = p.ldd * p.n + 64;
    if (shape.name == "row_order") p.order_c = p.order_d = CUBLASLT_ORDER_ROW;
    return p;
  }

  /// What the documentation says of the product itself goes first.
  Case* add(Depth from, std::string_view scenario, const std::string& form, const MatmulProblem& p) {
    if (depth_ < from) return nullptr;
    const auto& row = scenario_named(scenario);
    list_.push_back(ScenarioCheck::make_case(row, form, p));
    Case& made = list_.back();
    // The engine's run of the problem shows all that these see.
    if (row.run == by_engine) made.scenario = false;
    auto promise = promise_of(p, scope_);
    if (promise.expectation != Expectation::must_work) {
      made.expectation = promise.expectation;
      made.rule = std::move(promise.rule);
    } else if (row.group == "layouts") {
      made.expectation = Expectation::must_work;
      made.rule = std::move(promise.rule);
    }
    return &made;
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  static cudaDataType_t scale_of(const Form& form) {
    if (is_complex(form.ab)) return form.ab;
    if (form.compute == CUBLAS_COMPUTE_32I && form.d == CUDA_R_8I) return CUDA_R_32F;
    return default_scale_type(form.compute);
  }

  ContractScope scope_;
  PlatformKind kind_;
  Depth depth_;
  std::vector<Case> list_;
};

std::string id_of(const Form& form, const Shape& shape) { return fmt::format("{}.{}", form.name, shape.name); }
std::string id_of(const Form& form, const Shape& shape, double beta) {
  return fmt::format("{}.{}.beta{}", form.name, shape.name, beta == -0.5 ? "_half" : (beta == 1 ? "1" : "0"));
}

bool takes(const Form& form, const Shape& shape) { return !is_narrow(form) || !shape.wide_only; }

Depth depth_of(Tier tier, Depth first, Depth common, Depth rest = Depth::full) {
  if (tier == Tier::first) return first;
  if (tier == Tier::rest) return rest;
  return tier == Tier::common ? std::max(common, Depth::normal) : common;
}

/// Partial sums are added in D, whose old content is C.
constexpr std::string_view kInPlaceScheme = "algorithms.inplace";

// ---- C in D's memory ------------------------------------------------------------------------------------------------

void add_in_place(CaseList& list, const Form& form) {
  // Only an FP8 D has another type than C.
  if (form.c != form.d) return;
  using enum Depth;
  for (const auto& shape :
       {kBase, kOdd, kRow, kCol, kLongK, kLongOddK, kPadded, kBatch, kBatchPadded, kBatchLongK, kRowOrder}) {
    if (!takes(form, shape)) continue;
    for (const double beta : {1.0, 0.0, -0.5}) {
      if (beta == -0.5 && is_integer(form.d)) continue;
      auto p = list.problem(form, shape, beta);
      p.in_place = true;
      const bool base = shape.name == kBase.name;
      const bool early = base || shape.name == kBatch.name || shape.name == kLongK.name || shape.name == kPadded.name ||
                         shape.name == kRowOrder.name;
      const Depth from = beta == 1
                             ? depth_of(form.tier, early ? quick : normal, base ? quick : normal, base ? normal : full)
                             : depth_of(form.tier, base ? quick : normal, base ? normal : full);
      list.add(from, "in-place", id_of(form, shape, beta), p);
    }
    auto p = list.problem(form, shape, 1);
    p.in_place = true;
    p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    list.add(depth_of(form.tier, normal, full), "in-place", id_of(form, shape) + ".device", p);
    p.pointer_mode = CUBLASLT_POINTER_MODE_HOST;
    if (shape.name == kBase.name) list.add(depth_of(form.tier, quick, normal), "one-layout", id_of(form, shape), p);
    if (shape.name == kBase.name || p.k > 1000) {
      const bool early = shape.name == kLongK.name;
      list.add(depth_of(form.tier, early ? quick : normal, early ? normal : full), "algorithms", id_of(form, shape), p);
    }
    if (p.k <= 1000) continue;
    for (const std::string_view scheme :
         {kInPlaceScheme, std::string_view("algorithms.compute_type"), std::string_view("algorithms.output_type")}) {
      const bool sample = form.tier == Tier::first && shape.name == kLongK.name && scheme == kInPlaceScheme;
      list.add(sample ? normal : full, scheme, id_of(form, shape), p);
    }
  }
}

/// Epilogues read what the product and C add up to (KI-020, BR-90: FP8 with GELU).
void add_epilogues(CaseList& list, const Form& form) {
  if (form.c != form.d || is_complex(form.ab) || is_integer(form.ab)) return;
  using enum Depth;
  const bool fp8 = is_fp8(form.ab);
  for (const auto epilogue : {CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU,
                              CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX,
                              CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
                              CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DGELU}) {
    for (const auto& shape : {kBase, kBatch, kLongK}) {
      for (const double beta : {1.0, 0.0}) {
        auto p = list.problem(form, shape, beta);
        p.in_place = true;
        p.epilogue = epilogue;
        if (p.batch_count > 1 && has_aux(epilogue) && has_aux_mask(epilogue)) continue;
        const bool plain = shape.name == kBase.name && beta == 1;
        const bool early = plain && epilogue == CUBLASLT_EPILOGUE_GELU;
        const bool common = early || epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
                            epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
        Depth from = plain && common ? depth_of(form.tier, early ? quick : normal, early ? quick : normal) : full;
        if (fp8 && plain && has_gelu(epilogue)) from = std::min(from, normal);
        list.add(from, "in-place", fmt::format("{}.{}", id_of(form, shape, beta), name_of(epilogue)), p);
      }
    }
  }
}

/// Another leading dimension, order, batch stride or type for C than for D, in one memory.
void add_layouts(CaseList& list, const Form& form) {
  using enum Depth;
  const auto add = [&](Depth from, std::string_view what, const MatmulProblem& p) {
    list.add(from, "layouts", fmt::format("{}.{}", form.name, what), p);
  };
  for (const double beta : {1.0, 0.0}) {
    auto base = list.problem(form, kBase, beta);
    base.in_place = true;
    const std::string suffix = beta == 0 ? ".beta0" : "";
    const Depth from = depth_of(form.tier, beta == 1 ? quick : normal, beta == 1 ? normal : full);
    if (form.c != form.d) {
      add(normal, "c_type" + suffix, base);
      continue;
    }
    auto p = base;
    p.ldc = p.m + 16;
    add(from, "ldc_above" + suffix, p);
    p = base;
    p.ldd = p.m + 16;
    add(from, "ldd_above" + suffix, p);
    p = base;
    p.order_c = CUBLASLT_ORDER_ROW;
    add(from, "c_order" + suffix, p);
    p = list.problem(form, kBatch, beta);
    p.in_place = true;
    p.stride_c = p.m * p.n + 64;
    add(from, "c_stride" + suffix, p);
    p.stride_c = 0;
    add(from, "c_shared" + suffix, p);
  }
}

// ---- C that is not read ---------------------------------------------------------------------------------------------

void add_unread(CaseList& list, const Form& form) {
  using enum Depth;
  for (const auto& shape : {kBase, kOdd, kRow, kCol, kLongK, kLongOddK, kBatch, kRowOrder, kPadded}) {
    if (!takes(form, shape)) continue;
    const bool base = shape.name == kBase.name;
    const bool early = base || shape.name == kLongK.name;
    auto p = list.problem(form, shape, 0);
    list.add(depth_of(form.tier, early ? quick : normal, base ? quick : (early ? normal : full), base ? normal : full),
             "c-unread", id_of(form, shape), p);
    list.add(full, "c-unread.all", id_of(form, shape), p);
    if (form.c == form.d) {
      p.in_place = true;
      list.add(depth_of(form.tier, early ? quick : normal, early ? normal : full), "c-unread",
               id_of(form, shape) + ".in_place", p);
      p.in_place = false;
    }
    p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    list.add(depth_of(form.tier, base ? quick : normal, base ? normal : full), "c-unread",
             id_of(form, shape) + ".device", p);
  }
  if (is_complex(form.ab) || is_integer(form.ab)) return;
  for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_GELU}) {
    auto p = list.problem(form, kBase, 0);
    p.epilogue = epilogue;
    list.add(depth_of(form.tier, normal, full), "c-unread", fmt::format("{}.{}", id_of(form, kBase), name_of(epilogue)),
             p);
  }
  if (!is_fp8(form.ab)) return;
  auto p = list.problem(form, kBase, 0);
  p.scale_a = p.scale_b = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  list.add(depth_of(form.tier, normal, normal), "c-unread", id_of(form, kBase) + ".scaled", p);
}

/// Each case in a process of its own costs more than all others of a type.
void add_null(CaseList& list, const Form& form) {
  using enum Depth;
  const bool f16 = form.name == "f16";
  for (const auto& shape : {kBase, kLongK, kBatch}) {
    const bool base = shape.name == kBase.name;
    auto p = list.problem(form, shape, 0);
    list.add(depth_of(form.tier, base ? quick : normal, base ? normal : full), "c-null", id_of(form, shape), p);
    if (!base || form.tier == Tier::rest) continue;
    p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    list.add(full, "c-null.device", id_of(form, shape), p);
    p = list.problem(form, shape, 1);
    list.add(f16 ? normal : full, "c-null.beta1", id_of(form, shape), p);
  }
  if (!f16) return;
  for (const auto* layout : {"null", "zeros"}) {
    for (const auto* call : {"matmul", "heuristic", "check"}) {
      for (const double beta : {0.0, 1.0}) {
        const bool early = beta == 0 && layout == std::string_view("null");
        const Depth from = early && call == std::string_view("matmul") ? quick : full;
        list.add(from, fmt::format("c-layout-{}.{}", layout, call), id_of(form, kBase, beta),
                 list.problem(form, kBase, beta));
      }
    }
  }
}

// ---- Overlaps -------------------------------------------------------------------------------------------------------

/// Bytes from D to the input that lies over it. A few columns are 3.
std::int64_t shift_of(const MatmulProblem& p, std::string_view input, std::string_view place) {
  constexpr std::int64_t kFewColumns = 3;
  constexpr std::int64_t kFewElements = 64;
  const auto in = input == "a" ? shape_a(p) : (input == "b" ? shape_b(p) : shape_c(p));
  const auto d = shape_d(p);
  const auto in_column = in.ld * static_cast<std::int64_t>(bytes_of(in.type));
  const auto d_column = d.ld * static_cast<std::int64_t>(bytes_of(d.type));
  if (place == "first") return -(in.cols - kFewColumns) * in_column;
  if (place == "last") return (d.cols - kFewColumns) * d_column;
  if (place == "elements") return kFewElements;
  if (place == "elements_before") return -kFewElements;
  if (place == "columns") return kFewColumns * d_column;
  return place == "columns_before" ? -kFewColumns * d_column : 0;
}

void add_overlap(CaseList& list, Depth from, const Form& form, const Shape& shape, std::string_view input,
                 std::string_view place) {
  auto p = list.problem(form, shape, 1);
  const auto shift = shift_of(p, input, place);
  const auto alignment = alignment_of_offset(shift);
  (input == "a" ? p.a_alignment : (input == "b" ? p.b_alignment : p.c_alignment)) = alignment;
  Case* added = list.add(from, fmt::format("overlap.{}.{}", input, place), id_of(form, shape), p);
  if (added != nullptr) added->parameters[kShift] = fmt::to_string(shift);
}

/// FP32, whose small tiles show it, comes before the other types.
void add_overlaps(CaseList& list, const Form& form) {
  using enum Depth;
  const bool f32 = form.name == "f32";
  for (const auto& shape : {kWaves, kBase}) {
    const bool waves = shape.name == kWaves.name;
    if (waves && form.tier != Tier::first) continue;
    for (const auto* input : {"a", "b"}) {
      for (const auto* place : {"whole", "first", "last"}) {
        const bool sample = waves && *input == 'a' && place == std::string_view("whole");
        const Depth from = !f32 ? full : (sample ? quick : (waves ? full : normal));
        add_overlap(list, from, form, shape, input, place);
      }
    }
    if (form.c != form.d) continue;
    for (const auto* place : {"elements", "elements_before", "columns", "columns_before"}) {
      const bool sample = place == std::string_view("elements") || place == std::string_view("columns");
      const Depth from = waves || form.tier != Tier::first ? full : (sample ? quick : normal);
      add_overlap(list, from, form, shape, "c", place);
    }
  }
}

void add_shared(CaseList& list, const Form& form) {
  using enum Depth;
  auto gram = list.problem(form, kGram, 1);
  gram.transa = CUBLAS_OP_T;
  list.add(depth_of(form.tier, form.name == "f16" ? quick : normal, normal), "a-is-b", id_of(form, kGram), gram);
  if (form.c == form.ab) {
    list.add(depth_of(form.tier, normal, normal), "c-is-a", id_of(form, kSameK), list.problem(form, kSameK, 1));
  }
  // The call of torch._scaled_mm.
  if (is_fp8(form.ab) || form.tier == Tier::first) {
    list.add(normal, "c-is-a.unread", id_of(form, kBase), list.problem(form, kBase, 0));
  }
}

void add_alpha_zero(CaseList& list, const Form& form) {
  using enum Depth;
  if (is_integer(form.ab)) return;
  for (const auto& shape : {kBase, kRow, kLongK, kBatch}) {
    if (!takes(form, shape)) continue;
    const bool base = shape.name == kBase.name;
    for (const bool in_place : {true, false}) {
      if (in_place && form.c != form.d) continue;
      auto p = list.problem(form, shape, 1);
      p.alpha = 0;
      p.in_place = in_place;
      // cuBLAS stands beside a product in place.
      const bool sample = base && in_place;
      const bool known = base || (form.name == "f16" && shape.name == kLongK.name);
      const Depth from =
          sample ? depth_of(form.tier, quick, normal) : (known ? depth_of(form.tier, normal, full) : full);
      const auto id = id_of(form, shape) + (in_place ? ".in_place" : "");
      list.add(from, "alpha-zero", id, p);
      p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
      list.add(sample ? depth_of(form.tier, normal, full) : full, "alpha-zero", id + ".device", p);
    }
  }
}

/// Operands that go to the host and back in no time.
bool is_small_enough(const MatmulProblem& p, PlatformKind kind) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 26;
  for (const auto& shape : {shape_a(p), shape_b(p), shape_c(p), shape_d(p)}) {
    if (shape.span() > kMostElements) return false;
  }
  return kind != PlatformKind::simulator || p.m * p.n * p.k * p.batch_count <= kMostProducts;
}

}  // namespace

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  add_overlaps(list, form_named("f32"));
  for (const auto& form : kForms) {
    add_in_place(list, form);
    add_epilogues(list, form);
    add_layouts(list, form);
    add_unread(list, form);
    add_null(list, form);
    if (form.name != "f32") add_overlaps(list, form);
    add_shared(list, form);
    add_alpha_zero(list, form);
  }
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  if (problem.algo == AlgoChoice::given) return {};
  CaseList list(target, Depth::full);
  MatmulProblem asked = problem;
  asked.algo = AlgoChoice::heuristic;
  asked.algo_index = 0;
  const auto promise = promise_of(asked, scope_of(target));
  if (promise.rule_id == "in-place-layouts-differ") {
    list.add(Depth::quick, "layouts", "", asked);
    return list.take();
  }
  if (promise.expectation == Expectation::must_refuse) return {};
  if (asked.in_place && asked.beta != 0) list.add(Depth::quick, "algorithms", "", asked);
  if (asked.beta == 0 && is_small_enough(asked, target.kind)) list.add(Depth::quick, "c-unread", "", asked);
  return list.take();
}

}  // namespace lt_audit::in_place
