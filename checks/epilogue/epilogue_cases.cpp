// The grid: types x operations x shapes x epilogues, and what an application sets beside an epilogue.
#include "epilogue_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lt_audit/contract.h"

namespace lt_audit::epilogue {
namespace {

/// How early the cases of a type come: the first has every sample, the last one shape until depth full.
enum class Tier { first, common, rest };

struct Form {
  std::string_view name;
  Tier tier;
  cudaDataType_t ab, c, d;
  cublasComputeType_t compute;
};
constexpr std::array kForms{
    Form{"f16", Tier::first, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"bf16", Tier::common, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"f32", Tier::common, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f64", Tier::common, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"e4m3", Tier::common, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"f16_f32", Tier::rest, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16_f32", Tier::rest, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16_16f", Tier::rest, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    Form{"tf32", Tier::rest, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"e4m3_f16", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"e4m3_f32", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"e4m3_e4m3", Tier::rest, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F},
    Form{"i8", Tier::rest, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I},
    Form{"i8_i32", Tier::rest, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
    Form{"i8_f32", Tier::rest, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
};
const Form& form_named(std::string_view name) {
  return *std::find_if(kForms.begin(), kForms.end(), [name](const Form& form) { return form.name == name; });
}
bool is_narrow(const Form& form) { return bytes_of(form.ab) == 1; }

struct Op {
  std::string_view name;
  cublasOperation_t a, b;
};
constexpr Op kNn{"nn", CUBLAS_OP_N, CUBLAS_OP_N};
constexpr Op kTn{"tn", CUBLAS_OP_T, CUBLAS_OP_N};
constexpr Op kNt{"nt", CUBLAS_OP_N, CUBLAS_OP_T};
constexpr Op kTt{"tt", CUBLAS_OP_T, CUBLAS_OP_T};

struct Size {
  std::int64_t m, n, k;
};
struct Shape {
  std::string_view name;
  /// Several tiles on a GPU; the simulator multiplies on the host.
  Size on_gpu, on_simulator;
  /// A side of 1, which narrow types do not allow.
  bool wide_only = false;
  Depth from = Depth::normal;
};
constexpr Shape kBase{"base", {272, 208, 144}, {48, 40, 32}};
constexpr Shape kLongK{"long_k", {64, 48, 16384}, {32, 24, 1024}};
constexpr std::array kShapes{
    kBase,
    Shape{"odd", {253, 197, 131}, {29, 23, 19}},
    Shape{"row", {1, 208, 144}, {1, 40, 32}, true},
    Shape{"row_ld", {1, 208, 144}, {1, 40, 32}, true},
    Shape{"col", {272, 1, 144}, {48, 1, 32}},
    Shape{"k1", {272, 208, 1}, {48, 40, 1}, true},
    kLongK,
    Shape{"padded", {272, 208, 144}, {48, 40, 32}},
    Shape{"in_place", {272, 208, 144}, {48, 40, 32}},
    Shape{"batch", {144, 112, 80}, {32, 24, 16}},
    Shape{"batch_shared", {144, 112, 80}, {32, 24, 16}},
    Shape{"many_columns", {16, 70000, 32}, {16, 3000, 16}, false, Depth::full},
};
const Shape& shape_named(std::string_view name) {
  return *std::find_if(kShapes.begin(), kShapes.end(), [name](const Shape& shape) { return shape.name == name; });
}

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }
bool has_vector(cublasLtEpilogue_t e) { return has_bias(e) || has_bias_gradient(e); }

/// The family of epilogues, whose cases have one remedy.
std::string_view family_of(cublasLtEpilogue_t e) {
  if (e == CUBLASLT_EPILOGUE_DEFAULT) return "no-epilogue";
  if (e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB) return "operand-gradient";
  if (has_bias_gradient(e)) return "bias-gradient";
  if (reads_aux(e)) return "activation-gradient";
  if (has_aux(e)) return "aux";
  return has_bias(e) ? "bias" : "activation";
}

/// What the shape asks of the problem beyond its sizes.
void place(MatmulProblem& p, std::string_view shape) {
  const std::int64_t unit = has_aux_mask(p.epilogue) ? 128 : 8;
  if (shape == "row_ld") {
    p.ldc = p.ldd = 24;
    p.beta = 1;
  } else if (shape == "padded") {
    p.ldc = p.ldd = p.m + 16;
    if (has_aux(p.epilogue)) p.ldaux = rounded_up(p.m, unit) + unit;
    p.beta = 1;
  } else if (shape == "in_place") {
    p.in_place = true;
    p.beta = 1;
  } else if (shape == "batch" || shape == "batch_shared") {
    p.batch_count = 3;
    if (has_vector(p.epilogue) && shape == "batch") p.stride_bias = rounded_up(std::max(p.m, p.n), 8) + 8;
    if (has_aux(p.epilogue) && shape == "batch") p.stride_aux = rounded_up(p.m, unit) * p.n + unit;
  }
}

/// Collects the cases that the depth asks for and takes their expectation from the contract.
class CaseList {
 public:
  CaseList(const Target& target, Depth depth)
      : scope_(scope_of(target)), depth_(depth), simulator_(target.kind == PlatformKind::simulator) {}

  MatmulProblem problem(const Form& form, const Op& op, const Shape& shape, cublasLtEpilogue_t epilogue) const {
    Size size = simulator_ ? shape.on_simulator : shape.on_gpu;
    if (is_narrow(form)) {
      // m and k are multiples of 16 for FP8 and of 4 for INT8; what is left odd is n.
      size.m = rounded_up(size.m, 16);
      size.k = rounded_up(size.k, 16);
    }
    auto p = uniform_problem(form.ab, size.m, size.n, size.k);
    p.type_c = form.c;
    p.type_d = form.d;
    p.compute_type = form.compute;
    p.scale_type = form.d == CUDA_R_8I ? CUDA_R_32F : default_scale_type(form.compute);
    p.transa = op.a;
    p.transb = op.b;
    p.epilogue = epilogue;
    place(p, shape.name);
    return p;
  }

  /// The case, or null when the depth leaves it out.
  Case* add(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem) {
    if (depth_ < from) return nullptr;
    Case added;
    added.id = std::move(id);
    added.problem = problem;
    auto promise = promise_of(problem, scope_);
    added.expectation = promise.expectation;
    added.rule = std::move(promise.rule);
    added.parameters[kSubject] = subject;
    list_.push_back(std::move(added));
    return &list_.back();
  }

  Case* add_steps(Depth from, std::string id, const char* steps, const MatmulProblem& problem) {
    Case* added = add(from, std::move(id), steps, problem);
    if (added == nullptr) return nullptr;
    added->parameters[kSteps] = steps;
    added->scenario = true;
    return added;
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  bool simulator_;
  std::vector<Case> list_;
};

// ---- The grid ----------------------------------------------------------------------------------------------------

/// Shapes of the first type that public defects are about (KI-013, 014, 019, 020, 022, 025, 048): there already in a
/// quick run.
bool is_sample(std::string_view shape, cublasLtEpilogue_t e) {
  if (shape == "row" || shape == "col") return has_bias(e) && !has_aux(e);
  if (shape == "k1") return reads_aux(e) || has_bias_gradient(e);
  if (shape == "long_k") return has_vector(e);
  if (shape == "batch") return has_bias(e) || has_bias_gradient(e);
  if (shape == "in_place") return has_gelu(e);
  return shape == "padded" && has_aux(e);
}

/// The operation that everything is run with: FP8 and INT8 have TN alone, and bgradb wants B transposed.
const Op& usual_op(const Form& form, cublasLtEpilogue_t epilogue) {
  if (is_narrow(form)) return kTn;
  return epilogue == CUBLASLT_EPILOGUE_BGRADB ? kNt : kNn;
}

bool takes(const Form& form, const Shape& shape, cublasLtEpilogue_t e) {
  if (is_narrow(form) && shape.wide_only) return false;
  if (shape.name == "in_place" && form.c != form.d) return false;
  // What is rounded to an integer after GELU has no bound, and what INT8 refuses need not be refused in every shape.
  if (is_integer(form.d) && (has_gelu(e) || e == CUBLASLT_EPILOGUE_DGELU || e == CUBLASLT_EPILOGUE_DGELU_BGRAD)) {
    return false;
  }
  if (is_integer(form.ab) && form.d != CUDA_R_8I && shape.name != kBase.name) return false;
  // Gradients of several batches would lie in the same memory.
  return shape.name != "batch_shared" || (has_bias(e) || (has_aux(e) && !has_bias_gradient(e)));
}

Depth depth_of(const Form& form, const Op& op, const Shape& shape, cublasLtEpilogue_t e) {
  const bool usual = op.name == usual_op(form, e).name;
  const bool base = shape.name == kBase.name;
  if (shape.from == Depth::full || op.name == kTt.name) return Depth::full;
  if (!usual) return base && form.tier != Tier::rest ? Depth::normal : Depth::full;
  if (form.tier == Tier::rest) return base ? Depth::normal : Depth::full;
  if (base) return Depth::quick;
  const bool first = form.tier == Tier::first || (is_fp8(form.ab) && shape.name == "in_place");
  return first && is_sample(shape.name, e) ? Depth::quick : Depth::normal;
}

/// C6: GELU of anything but FP16 spreads NaN. C11: backward epilogues equal the unfused computation.
void name_claims(Case& added) {
  const auto e = added.problem.epilogue;
  if (added.expectation != Expectation::must_work) return;
  if (has_gelu(e)) added.parameters["claims"] = added.problem.type_a == CUDA_R_16F ? "C6=works" : "C6=fails";
  if (reads_aux(e) || has_bias_gradient(e)) added.parameters["claims"] = "C11=works";
}

void add_grid(CaseList& list) {
  for (const auto& form : kForms) {
    for (const auto& shape : kShapes) {
      for (const auto& op : {kNn, kTn, kNt, kTt}) {
        if (is_narrow(form) && op.name != kTn.name) continue;
        for (const auto& [epilogue, name] : epilogues()) {
          if (!takes(form, shape, epilogue)) continue;
          const auto id = fmt::format("{}.{}.{}.{}", form.name, op.name, shape.name, name);
          Case* added = list.add(depth_of(form, op, shape, epilogue), id, family_of(epilogue),
                                 list.problem(form, op, shape, epilogue));
          if (added != nullptr && shape.name == kBase.name) name_claims(*added);
        }
      }
    }
  }
}

// ---- What an application sets beside an epilogue ------------------------------------------------------------------

/// Leading dimension and address of aux. What is below 16 bytes lost the context on an H200, so GELU's get a process of
/// their own; a mask's do not load more than a byte that anybody knows of.
void add_aux_places(CaseList& list, const Form& form) {
  const bool first = form.tier == Tier::first;
  for (const auto epilogue :
       {CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_DRELU}) {
    const auto plain = list.problem(form, usual_op(form, epilogue), kBase, epilogue);
    const bool mask = has_aux_mask(epilogue);
    const std::int64_t unit = mask ? 128 : 8;
    const std::int64_t ld = rounded_up(plain.m, unit);
    const auto add = [&](Depth from, std::string_view what, const char* subject, const MatmulProblem& p, bool alone) {
      Case* added = list.add(from, fmt::format("{}.{}.{}", form.name, what, name_of(epilogue)), subject, p);
      if (added != nullptr) added->isolated = alone;
    };
    const bool sampled = first && epilogue == CUBLASLT_EPILOGUE_GELU_AUX;
    const Depth early = first ? Depth::normal : Depth::full;
    auto p = plain;
    p.ldaux = ld + (mask ? 64 : 1);
    add(sampled ? Depth::quick : (mask ? Depth::normal : early), "ldaux.odd", "aux-layout", p, !mask);
    p.ldaux = ld + unit / 2;
    if (!mask) add(Depth::full, "ldaux.half", "aux-layout", p, true);
    p.ldaux = ld - unit;
    if (p.ldaux > 0) add(Depth::normal, "ldaux.below_rows", "aux-layout", p, false);
    for (const std::int64_t offset : {1, 2, 4, 8, 16, 32, 128}) {
      if (!mask && offset % static_cast<std::int64_t>(bytes_of(aux_type(plain))) != 0) continue;
      p = plain;
      p.aux_offset = offset;
      const bool alone = !mask && offset < 16;
      Depth from = offset >= 8 ? Depth::normal : Depth::full;
      if (alone) from = offset == 8 ? early : Depth::full;
      add(from, fmt::format("aux_off{}", offset), "aux-pointer", p, alone);
    }
  }
}

void add_types(CaseList& list) {
  struct Row {
    std::string_view form;
    cublasLtEpilogue_t epilogue;
    cudaDataType_t type;
  };
  constexpr std::array kBiasTypes{
      Row{"f16", CUBLASLT_EPILOGUE_BIAS, CUDA_R_32F},        Row{"f16", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16BF},
      Row{"bf16", CUBLASLT_EPILOGUE_BIAS, CUDA_R_32F},       Row{"f32", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16F},
      Row{"f64", CUBLASLT_EPILOGUE_BIAS, CUDA_R_32F},        Row{"f16_f32", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16F},
      Row{"bf16_f32", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16BF},  Row{"e4m3", CUBLASLT_EPILOGUE_BIAS, CUDA_R_32F},
      Row{"e4m3", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16F},       Row{"e4m3_f32", CUBLASLT_EPILOGUE_BIAS, CUDA_R_32F},
      Row{"e4m3_f32", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16F},   Row{"e4m3_e4m3", CUBLASLT_EPILOGUE_BIAS, CUDA_R_16F},
      Row{"f16", CUBLASLT_EPILOGUE_DRELU_BGRAD, CUDA_R_32F}, Row{"bf16", CUBLASLT_EPILOGUE_DGELU_BGRAD, CUDA_R_32F},
      Row{"f16", CUBLASLT_EPILOGUE_BGRADA, CUDA_R_32F},
  };
  for (const auto& row : kBiasTypes) {
    const auto& form = form_named(row.form);
    auto p = list.problem(form, usual_op(form, row.epilogue), kBase, row.epilogue);
    p.type_bias = row.type;
    list.add(form.tier == Tier::first ? Depth::quick : Depth::normal,
             fmt::format("{}.bias_type_{}.{}", form.name, name_of(row.type), name_of(row.epilogue)), "bias-type", p);
  }
  constexpr std::array kAuxTypes{
      Row{"f16", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_32F},
      Row{"bf16", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_32F},
      Row{"bf16", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_16F},
      Row{"f16_f32", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_16F},
      Row{"bf16_f32", CUBLASLT_EPILOGUE_DGELU, CUDA_R_16BF},
      Row{"f32", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_16F},
      Row{"e4m3", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_8F_E4M3},
      Row{"e4m3_e4m3", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_16F},
      Row{"e4m3_e4m3", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_16BF},
      Row{"e4m3_e4m3", CUBLASLT_EPILOGUE_GELU_AUX, CUDA_R_8F_E4M3},
      Row{"f16", CUBLASLT_EPILOGUE_RELU_AUX, CUDA_R_16F},
      Row{"f16", CUBLASLT_EPILOGUE_RELU_AUX, CUDA_R_8I},
      Row{"f32", CUBLASLT_EPILOGUE_DRELU, CUDA_R_32F},
  };
  for (const auto& row : kAuxTypes) {
    const auto& form = form_named(row.form);
    auto p = list.problem(form, usual_op(form, row.epilogue), kBase, row.epilogue);
    p.type_aux = row.type;
    const std::string_view subject = has_aux_mask(row.epilogue) ? "mask-type" : "aux-type";
    list.add(form.tier == Tier::first ? Depth::quick : Depth::normal,
             fmt::format("{}.aux_type_{}.{}", form.name, name_of(row.type), name_of(row.epilogue)), subject, p);
  }
  // The one combination that the documentation names beside D's own type (BR-67: TransformerEngine PR#116).
  auto fp8 = list.problem(form_named("e4m3_e4m3"), kTn, kBase, CUBLASLT_EPILOGUE_GELU_AUX);
  fp8.type_c = CUDA_R_16F;
  for (const auto type : {CUDA_R_16F, CUDA_R_8F_E4M3}) {
    fp8.type_aux = type;
    list.add(Depth::normal, fmt::format("e4m3_e4m3.c_f16.aux_type_{}.gelu_aux", name_of(type)), "aux-type", fp8);
  }
}

/// Order row, scalars in device memory, and no workspace: for k = 1 the last faulted (KI-026).
void add_settings(CaseList& list, const Form& form) {
  const bool first = form.tier == Tier::first;
  const auto add = [&](Depth from, std::string_view what, std::string_view subject, const MatmulProblem& p) {
    return list.add(from, fmt::format("{}.{}.{}", form.name, what, name_of(p.epilogue)), subject, p);
  };
  for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
                              CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    auto p = list.problem(form, usual_op(form, epilogue), kBase, epilogue);
    p.order_c = p.order_d = CUBLASLT_ORDER_ROW;
    add(first && epilogue == CUBLASLT_EPILOGUE_BIAS ? Depth::quick : Depth::normal, "row_order",
        has_bias(epilogue) ? "row-order" : "activation", p);
  }
  for (const auto& [epilogue, name] : epilogues()) {
    auto p = list.problem(form, usual_op(form, epilogue), kBase, epilogue);
    p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    p.alpha = 2;
    p.beta = 1;
    add(first ? Depth::normal : Depth::full, "device_scalars", family_of(epilogue), p);
    for (const auto& shape : {kLongK, shape_named("k1")}) {
      if (is_narrow(form) && shape.wide_only) continue;
      p = list.problem(form, usual_op(form, epilogue), shape, epilogue);
      p.workspace_bytes = 0;
      const bool alone = p.k == 1 && (epilogue == CUBLASLT_EPILOGUE_DRELU || epilogue == CUBLASLT_EPILOGUE_DGELU);
      Case* added = add(first || (alone && form.name == "f32") ? Depth::normal : Depth::full,
                        fmt::format("workspace0.{}", shape.name), family_of(epilogue), p);
      if (added == nullptr) continue;
      added->isolated = alone;
      if (added->expectation == Expectation::must_work && epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        added->expectation = Expectation::may_refuse;
        added->rule =
            "no document says which epilogues run without a workspace; an algorithm that is offered asks for no more "
            "than "
            "the limit (cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, lines 2084-2088)";
      }
    }
  }
}

/// Half a million columns, above the grid of a GPU in one dimension (KI-002, CR-1).
void add_very_many_columns(CaseList& list) {
  constexpr Shape kVeryMany{"very_many_columns", {10, 655360, 10}, {10, 4096, 10}};
  for (const auto* name : {"f16", "f32"}) {
    for (const auto epilogue :
         {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU_BGRAD}) {
      list.add(Depth::full, fmt::format("{}.nn.{}.{}", name, kVeryMany.name, name_of(epilogue)), family_of(epilogue),
               list.problem(form_named(name), kNn, kVeryMany, epilogue));
    }
  }
}

// ---- Sequences ----------------------------------------------------------------------------------------------------

/// A pointer that an earlier call left in the descriptor.
void add_unused_pointers(CaseList& list) {
  for (const auto* name : {"f16", "f32"}) {
    const auto& form = form_named(name);
    for (const auto& [pointer, epilogue] :
         {std::pair{"bias", CUBLASLT_EPILOGUE_DEFAULT}, std::pair{"bias", CUBLASLT_EPILOGUE_RELU},
          std::pair{"bias", CUBLASLT_EPILOGUE_GELU_AUX}, std::pair{"aux", CUBLASLT_EPILOGUE_DEFAULT},
          std::pair{"aux", CUBLASLT_EPILOGUE_RELU_BIAS}}) {
      for (const auto algo : {AlgoChoice::heuristic, AlgoChoice::null}) {
        auto p = list.problem(form, kNn, kBase, epilogue);
        p.algo = algo;
        const bool null = algo == AlgoChoice::null;
        Case* added = list.add_steps(
            form.tier == Tier::first && !null ? Depth::quick : Depth::normal,
            fmt::format("{}.unused_{}.{}{}", name, pointer, name_of(epilogue), null ? ".null" : ""), kUnusedPointer, p);
        if (added == nullptr) continue;
        added->parameters[kPointer] = pointer;
        added->expectation = Expectation::may_refuse;
        added->rule =
            "whether a bias or aux pointer may be set beside an epilogue that does not use it is documented nowhere "
            "(cublasLt.h 13.1.0, CUBLASLT_MATMUL_DESC_BIAS_POINTER and _EPILOGUE_AUX_POINTER, lines 1313-1372)";
      }
    }
  }
}

constexpr std::array kSpecialEpilogues{
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,      CUBLASLT_EPILOGUE_GELU,     CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS};

void add_special_values(CaseList& list) {
  for (const auto* name : {"f16", "bf16", "f32", "f64"}) {
    for (const auto epilogue : kSpecialEpilogues) {
      const auto& form = form_named(name);
      const bool early = epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_GELU;
      list.add_steps(early ? Depth::quick : Depth::normal, fmt::format("{}.special.{}", name, name_of(epilogue)),
                     kSpecialValues, list.problem(form, kNn, kBase, epilogue));
    }
  }
}

/// Sums that D's type cannot hold and sum plus bias can: k is long enough for the 2049 terms of FP16.
void add_bias_rounding(CaseList& list) {
  for (const auto* name : {"f16", "bf16"}) {
    for (const auto& op : {kNn, kTn}) {
      for (const std::int64_t k : {4096, 65536}) {
        const Shape shape{"", {64, 32, k}, {16, 8, 4096}};
        if (k == 65536 && list.problem(form_named(name), op, shape, CUBLASLT_EPILOGUE_BIAS).k != k) continue;
        const Depth from = k == 4096 && op.name == kNn.name ? Depth::quick : Depth::normal;
        list.add_steps(from, fmt::format("{}.{}.rounding.k{}", name, op.name, k), kBiasRounding,
                       list.problem(form_named(name), op, shape, CUBLASLT_EPILOGUE_BIAS));
      }
    }
  }
}

/// Matrices that are copied from the host in no time; the simulator multiplies there too, once for each algorithm.
bool is_small_enough(const MatmulProblem& p, PlatformKind kind) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 22;
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 26;
  for (const auto& shape : {shape_a(p), shape_b(p), shape_d(p)}) {
    if (shape.span() > kMostElements) return false;
  }
  return kind != PlatformKind::simulator || p.m * p.n * p.k * p.batch_count <= kMostProducts;
}

bool is_plain_float(const MatmulProblem& p) {
  const bool wide = !is_integer(p.type_a) && !is_fp8(p.type_a) && !is_complex(p.type_a);
  return wide && p.type_a == p.type_b && p.type_a == p.type_d &&
         p.compute_type == (p.type_a == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F);
}

}  // namespace

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  add_grid(list);
  for (const auto& form : kForms) {
    if (form.tier == Tier::rest) continue;
    add_aux_places(list, form);
    add_settings(list, form);
  }
  add_types(list);
  add_very_many_columns(list);
  add_unused_pointers(list);
  add_special_values(list);
  add_bias_rounding(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  CaseList list(target, Depth::quick);
  if (!is_plain_float(problem) || !is_small_enough(problem, target.kind) || problem.k == 0) return {};
  if (promise_of(problem, scope_of(target)).expectation == Expectation::must_refuse) return {};
  const bool known =
      std::find(kSpecialEpilogues.begin(), kSpecialEpilogues.end(), problem.epilogue) != kSpecialEpilogues.end();
  const bool activates = has_relu(problem.epilogue) || has_gelu(problem.epilogue);
  if (known && activates) list.add_steps(Depth::quick, "special", kSpecialValues, problem);
  const bool rounds =
      problem.type_d == CUDA_R_16F ? problem.k >= 4096 : problem.type_d == CUDA_R_16BF && problem.k >= 512;
  if (problem.epilogue == CUBLASLT_EPILOGUE_BIAS && rounds) {
    list.add_steps(Depth::quick, "rounding", kBiasRounding, problem);
  }
  return list.take();
}

}  // namespace lt_audit::epilogue
