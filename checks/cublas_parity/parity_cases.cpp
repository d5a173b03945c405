// The grid of products: types x shapes, and the ways in which a product is put to cuBLAS.
#include "parity_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "lt_audit/contract.h"

namespace lt_audit::cublas_parity {
namespace {

constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;

struct Form {
  std::string_view name;
  Depth from;
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
};
/// The rows that cublasGemmEx and cublasLtMatmul share (cuBLAS 13.2 documentation, tables of supported types).
constexpr std::array kForms{
    Form{"f64", Depth::quick, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"f32", Depth::quick, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16", Depth::quick, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"bf16", Depth::quick, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"i8", Depth::quick, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
    Form{"tf32", Depth::quick, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"f32_fast16f", Depth::normal, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F},
    Form{"f32_fast16bf", Depth::normal, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF},
    Form{"f16_f32", Depth::normal, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16_f32", Depth::normal, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16_16f", Depth::normal, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    Form{"i8_f32", Depth::full, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F},
};

const Form& form_named(std::string_view name) {
  return *std::find_if(kForms.begin(), kForms.end(), [name](const Form& form) { return form.name == name; });
}

struct Size {
  std::int64_t m, n, k;
};

struct Shape {
  std::string_view name;
  /// Times of a few microseconds say more about the launch than about the product, so that a GPU gets sizes that keep
  /// it busy; the simulator multiplies on the host and has no times.
  Size on_gpu;
  Size on_simulator;
  std::int32_t batch = 1;
  /// One matrix B for all of the batch.
  bool broadcast = false;
};
constexpr std::array kShapes{
    Shape{"square", {2048, 1920, 1792}, {64, 56, 48}},
    Shape{"skinny", {4096, 16, 3584}, {96, 16, 64}},
    Shape{"gemv", {4096, 1, 3584}, {96, 1, 64}},
    Shape{"odd", {1021, 509, 253}, {61, 53, 47}},
    Shape{"long_k", {64, 48, 65536}, {32, 24, 2048}},
    Shape{"batch", {512, 384, 256}, {32, 24, 40}, 8},
    Shape{"broadcast", {512, 384, 256}, {32, 24, 40}, 8, true},
};

const Shape& shape_named(std::string_view name) {
  return *std::find_if(kShapes.begin(), kShapes.end(), [name](const Shape& shape) { return shape.name == name; });
}

class CaseList {
 public:
  CaseList(const Target& target, Depth depth)
      : scope_(scope_of(target)), depth_(depth), simulator_(target.kind == PlatformKind::simulator) {}

  MatmulProblem problem(const Form& form, const Shape& shape, bool transposed) const {
    Size size = simulator_ ? shape.on_simulator : shape.on_gpu;
    if (is_integer(form.input)) {
      // Both libraries want multiples of 4 there; what is left odd is n.
      size.m = (size.m + 3) / 4 * 4;
      size.k = (size.k + 3) / 4 * 4;
    }
    auto p = uniform_problem(form.input, size.m, size.n, size.k);
    p.type_c = p.type_d = form.output;
    p.compute_type = form.compute;
    p.scale_type = default_scale_type(form.compute);
    p.transa = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    p.in_place = true;
    p.workspace_bytes = kWorkspace;
    p.batch_count = shape.batch;
    if (shape.broadcast) p.stride_b = 0;
    return p;
  }

  /// The case, or null when the depth leaves it out. `kind` is the rest of the class behind the types.
  Case* add(Depth from, const Form& form, std::string_view kind, const Shape& shape, std::string id,
            const MatmulProblem& problem) {
    Case* added = add(from, std::move(id), problem);
    if (added == nullptr) return nullptr;
    added->parameters[kClass] = fmt::format("{} {}", form.name, kind);
    added->parameters[kShape] = shape.name;
    return added;
  }

  Case* add(Depth from, std::string id, const MatmulProblem& problem) {
    if (depth_ < from) return nullptr;
    Case added;
    added.id = std::move(id);
    added.problem = problem;
    auto promise = promise_of(problem, scope_);
    added.expectation = promise.expectation;
    added.rule = std::move(promise.rule);
    added.scenario = true;
    list_.push_back(std::move(added));
    return &list_.back();
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  bool simulator_;
  std::vector<Case> list_;
};

void add_shapes(CaseList& list, const Form& form) {
  const bool integer = is_integer(form.input);
  for (const auto& shape : kShapes) {
    for (const bool transposed : {false, true}) {
      // INT8 is documented for cuBLASLt with a transposed A alone; the other way is what an application loses.
      const bool usual = transposed == integer;
      const bool common = form.from == Depth::quick && form.name != "f64";
      list.add(usual ? form.from : (common ? Depth::normal : Depth::full), form, transposed ? "tn" : "nn", shape,
               fmt::format("{}.{}.{}", form.name, shape.name, transposed ? "tn" : "nn"),
               list.problem(form, shape, transposed));
    }
  }
}

/// Functions by type, and the math mode that stands for a FAST compute type.
void add_by_type(CaseList& list) {
  const auto add = [&](const char* form_name, const char* shape_name, const char* function, std::string_view in_form) {
    const auto& form = form_named(form_name);
    const auto& shape = shape_named(shape_name);
    const bool sampled = shape.name == "square";
    Case* added = list.add(sampled ? Depth::quick : Depth::normal, form, function, shape,
                           fmt::format("{}.{}.{}", form_name, shape_name, function), list.problem(form, shape, false));
    if (added != nullptr) added->parameters[kForm] = in_form;
  };
  for (const char* shape : {"square", "skinny", "gemv", "odd", "long_k"}) {
    add("f32", shape, "sgemm", kByType);
    add("f64", shape, "dgemm", kByType);
    add("tf32", shape, "sgemm", kByTypeTf32);
  }
}

/// What migrations forget: where alpha and beta lie, a C that is read, and the workspace, of which a cuBLAS handle has
/// a pool and a preference of cuBLASLt allows none until it is told.
void add_settings(CaseList& list) {
  const auto& square = shape_named("square");
  for (const char* name : {"f32", "f16", "bf16", "f64"}) {
    const auto& form = form_named(name);
    auto on_device = list.problem(form, square, false);
    on_device.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    on_device.alpha = 2;
    list.add(form.name == "f32" ? Depth::quick : Depth::normal, form, "device scalars", square,
             fmt::format("{}.square.device-scalars", name), on_device);
    auto with_c = list.problem(form, square, true);
    with_c.alpha = 2;
    with_c.beta = 1;
    list.add(form.name == "f16" ? Depth::quick : Depth::normal, form, "alpha and beta", square,
             fmt::format("{}.square.alpha2-beta1", name), with_c);
    const auto& long_k = shape_named("long_k");
    auto without = list.problem(form, long_k, false);
    without.workspace_bytes = 0;
    list.add(form.name == "f16" ? Depth::quick : Depth::normal, form, "no workspace", long_k,
             fmt::format("{}.long_k.workspace0", name), without);
    Case* set = list.add(form.name == "f16" ? Depth::quick : Depth::normal, form, "set workspace", long_k,
                         fmt::format("{}.long_k.set-workspace", name), list.problem(form, long_k, false));
    if (set != nullptr) set->parameters[kForm] = kOwnWorkspace;
  }
}

/// More matrices than a grid of a GPU has in y and z, which older libraries refused.
void add_many_matrices(CaseList& list) {
  for (const char* name : {"f16", "f32"}) {
    const auto& form = form_named(name);
    auto many = list.problem(form, Shape{"batch65537", {8, 2, 4}, {8, 2, 4}, 65537}, false);
    list.add(Depth::full, form, "nn", Shape{"batch65537", {}, {}}, fmt::format("{}.batch65537", name), many);
  }
}

void add_defaults(CaseList& list) {
  Case* added =
      list.add(Depth::quick, std::string(kDefaults), list.problem(form_named("f32"), shape_named("odd"), false));
  added->expectation = Expectation::must_work;
  added->rule =
      "a new handle has scalars on the host, default math, which is no TF32, and no atomics (cuBLAS 13.2 "
      "documentation, cublasSetPointerMode, cublasSetMathMode, cublasSetAtomicsMode)";
}

/// C as cuBLAS has it: in D's memory, with D's layout. Its type stays where it is read.
MatmulProblem in_place_form(MatmulProblem p) {
  if (p.beta == 0) p.type_c = p.type_d;
  p.order_c = p.order_d;
  p.ldc = p.ldd;
  p.stride_c = p.stride_d;
  p.c_offset = p.d_offset;
  p.c_alignment = p.d_alignment;
  p.in_place = true;
  p.algo = AlgoChoice::heuristic;
  p.algo_index = 0;
  return p;
}

}  // namespace

CublasForm form_of(const Case& the_case) {
  const auto found = the_case.parameters.find(kForm);
  const std::string_view word = found == the_case.parameters.end() ? std::string_view() : found->second;
  CublasForm form;
  form.by_type = word == kByType || word == kByTypeTf32;
  if (word == kByTypeTf32) form.math_mode = CUBLAS_TF32_TENSOR_OP_MATH;
  form.own_workspace = word == kOwnWorkspace;
  return form;
}

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  for (const auto& form : kForms) add_shapes(list, form);
  add_by_type(list);
  add_settings(list);
  add_many_matrices(list);
  add_defaults(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  const auto in_place = in_place_form(problem);
  if (!why_not_cublas(in_place).empty()) return {};
  CaseList list(target, Depth::quick);
  Case* added = list.add(Depth::quick, "parity", in_place);
  added->parameters[kClass] =
      fmt::format("{} {}{}", name_of(problem.type_a), name_of(problem.transa), name_of(problem.transb));
  added->parameters[kShape] = fmt::format("{}x{}x{}", problem.m, problem.n, problem.k);
  return list.take();
}

}  // namespace lt_audit::cublas_parity
