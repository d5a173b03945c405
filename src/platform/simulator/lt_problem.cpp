// Descriptors to problem, contract to refusal. The texts of known refusals are those of cuBLASLt 13.1.0.
#include "platform/simulator/lt_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace lt_audit::simulator {
namespace {

Refusal refusal(cublasStatus_t status, std::string text) { return {status, {{Logger::error, std::move(text)}}}; }

Refusal not_modelled(const std::string& what) {
  return refusal(CUBLAS_STATUS_NOT_SUPPORTED, fmt::format("{} is not modelled by the simulator", what));
}

std::int64_t size_of(const Attributes& layout, int attribute) { return layout.as<std::int64_t>(attribute); }

/// Attributes outside of what MatmulProblem can say. They are refused rather than ignored: a faultless library never
/// computes something else than what was asked for.
std::optional<Refusal> refuse_unmodelled(const Objects& objects) {
  const Attributes& desc = *objects.desc;
  const auto mode = desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE);
  if (mode != CUBLASLT_POINTER_MODE_HOST && mode != CUBLASLT_POINTER_MODE_DEVICE)
    return not_modelled("this pointer mode");
  if (desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSC) != CUBLAS_OP_N) {
    return refusal(CUBLAS_STATUS_NOT_SUPPORTED, "Only CUBLAS_OP_N is supported for matrix C.");
  }
  if (desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_FILL_MODE) != CUBLAS_FILL_MODE_FULL)
    return not_modelled("a fill mode");
  for (const int attribute : {CUBLASLT_MATMUL_DESC_C_SCALE_MODE, CUBLASLT_MATMUL_DESC_D_SCALE_MODE,
                              CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE}) {
    if (desc.as<std::int32_t>(attribute) != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F)
      return not_modelled("this scale mode");
  }
  for (const int attribute :
       {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER,
        CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER}) {
    if (device_pointer(desc, attribute) != nullptr) return not_modelled("this scale or amax pointer");
  }
  for (const Attributes* layout : {objects.a, objects.b, objects.c, objects.d}) {
    const auto order = layout->as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_ORDER);
    if (order != CUBLASLT_ORDER_COL && order != CUBLASLT_ORDER_ROW) return not_modelled("this order");
    if (size_of(*layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET) < 0) return not_modelled("a negative plane offset");
    const auto batch_mode = layout->as<std::uint32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE);
    if (batch_mode != CUBLASLT_BATCH_MODE_STRIDED && batch_mode != CUBLASLT_BATCH_MODE_POINTER_ARRAY) {
      return not_modelled("this batch mode");
    }
  }
  return std::nullopt;
}

template <class Enum>
bool knows(std::span<const Named<Enum>> table, std::int32_t number) {
  return std::any_of(table.begin(), table.end(), [&](const Named<Enum>& entry) { return entry.value == number; });
}

/// Numbers that are no enumerator: any number can be set, so it is looked at before it is read as one.
std::optional<Refusal> refuse_unknown_numbers(const Objects& objects) {
  const Attributes& desc = *objects.desc;
  if (!knows(compute_types(), desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE))) {
    return refusal(CUBLAS_STATUS_NOT_SUPPORTED, "The compute type is unknown.");
  }
  if (!knows(epilogues(), desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE))) {
    return refusal(CUBLAS_STATUS_NOT_SUPPORTED, "The epilogue is unknown.");
  }
  for (const int attribute : {CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB}) {
    if (!knows(operations(), desc.as<std::int32_t>(attribute))) {
      return refusal(CUBLAS_STATUS_INVALID_VALUE, "The transpose operation of a matrix is unknown.");
    }
  }
  const auto known_type = [](std::int32_t number) { return knows(matrix_types(), number); };
  bool known = known_type(desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_SCALE_TYPE));
  for (const Attributes* layout : {objects.a, objects.b, objects.c, objects.d}) {
    known = known && known_type(layout->as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_TYPE));
  }
  for (const int attribute : {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE}) {
    const auto number = desc.as<std::int32_t>(attribute);
    known = known && (number == -1 || known_type(number));
  }
  for (const int attribute : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE}) {
    known = known && knows(scale_modes(), desc.as<std::int32_t>(attribute));
  }
  if (!known) {
    return refusal(CUBLAS_STATUS_NOT_SUPPORTED, "A data type or scale mode is not one that the simulator models.");
  }
  return std::nullopt;
}

bool has_pointer_array(const Attributes& layout) {
  return layout.as<std::uint32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE) == CUBLASLT_BATCH_MODE_POINTER_ARRAY;
}

/// Sizes of one operand, checked against what D and A say.
std::optional<Refusal> refuse_size(const char* name, const Attributes& layout, std::int64_t rows, std::int64_t cols,
                                   std::int32_t batch_count) {
  const auto has_rows = size_of(layout, CUBLASLT_MATRIX_LAYOUT_ROWS);
  const auto has_cols = size_of(layout, CUBLASLT_MATRIX_LAYOUT_COLS);
  if (has_rows != rows || has_cols != cols) {
    return refusal(CUBLAS_STATUS_INVALID_VALUE,
                   fmt::format("Matrix {} is {}x{} and has to be {}x{} to match the others.", name, has_rows, has_cols,
                               rows, cols));
  }
  if (layout.as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) != batch_count) {
    return refusal(CUBLAS_STATUS_INVALID_VALUE,
                   fmt::format("The batch count of matrix {} differs from that of D.", name));
  }
  if (size_of(layout, CUBLASLT_MATRIX_LAYOUT_LD) <= 0) {
    return refusal(CUBLAS_STATUS_INVALID_VALUE,
                   fmt::format("The leading dimension of matrix {} has to be positive.", name));
  }
  if (size_of(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) < 0 && batch_count > 1 &&
      !has_pointer_array(layout)) {
    return refusal(CUBLAS_STATUS_INVALID_VALUE, fmt::format("The batch stride of matrix {} is negative.", name));
  }
  return std::nullopt;
}

/// What arrays of pointers forbid beyond the rest of the contract; asked of the default scope, since no version has
/// taken any of it back.
std::optional<Refusal> refuse_pointer_arrays(const Objects& objects, const MatmulProblem& problem) {
  const std::array layouts{objects.a, objects.b, objects.c, objects.d};
  const auto count = std::count_if(layouts.begin(), layouts.end(), [](const auto* l) { return has_pointer_array(*l); });
  if (count == 0) return std::nullopt;
  const auto promise = promise_of_pointer_arrays(problem, ContractScope{}, count == 4);
  if (promise.refused_by == RefusedBy::nothing || !promise.rule_id.starts_with("pointer-array")) return std::nullopt;
  return refusal(promise.status, promise.rule);
}

std::int64_t stride_in(const Attributes& layout, std::int32_t batch_count) {
  // With one matrix the stride is never used, and its default of 0 must not read as "shared by all batches".
  // The matrices of an array of pointers have none.
  return batch_count == 1 || has_pointer_array(layout) ? -1
                                                       : size_of(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
}

void read_layouts(const Objects& objects, MatmulProblem* p) {
  const auto type = [](const Attributes& layout) { return layout.as<cudaDataType_t>(CUBLASLT_MATRIX_LAYOUT_TYPE); };
  const auto ld = [](const Attributes& layout) { return size_of(layout, CUBLASLT_MATRIX_LAYOUT_LD); };
  const auto order = [](const Attributes& layout) { return layout.as<cublasLtOrder_t>(CUBLASLT_MATRIX_LAYOUT_ORDER); };
  p->type_a = type(*objects.a), p->type_b = type(*objects.b), p->type_c = type(*objects.c),
  p->type_d = type(*objects.d);
  p->lda = ld(*objects.a), p->ldb = ld(*objects.b), p->ldc = ld(*objects.c), p->ldd = ld(*objects.d);
  p->order_a = order(*objects.a), p->order_b = order(*objects.b);
  p->order_c = order(*objects.c), p->order_d = order(*objects.d);
  p->stride_a = stride_in(*objects.a, p->batch_count), p->stride_b = stride_in(*objects.b, p->batch_count);
  p->stride_c = stride_in(*objects.c, p->batch_count), p->stride_d = stride_in(*objects.d, p->batch_count);
  const auto plane = [](const Attributes& layout) { return size_of(layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET); };
  p->plane_a = plane(*objects.a), p->plane_b = plane(*objects.b);
  p->plane_c = plane(*objects.c), p->plane_d = plane(*objects.d);
}

void read_desc(const Attributes& desc, MatmulProblem* p) {
  p->compute_type = desc.as<cublasComputeType_t>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
  p->scale_type = desc.as<cudaDataType_t>(CUBLASLT_MATMUL_DESC_SCALE_TYPE);
  p->transa = desc.as<cublasOperation_t>(CUBLASLT_MATMUL_DESC_TRANSA);
  p->transb = desc.as<cublasOperation_t>(CUBLASLT_MATMUL_DESC_TRANSB);
  p->pointer_mode = desc.as<cublasLtPointerMode_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE);
  p->epilogue = desc.as<cublasLtEpilogue_t>(CUBLASLT_MATMUL_DESC_EPILOGUE);
  p->fast_accum = desc.as<std::int8_t>(CUBLASLT_MATMUL_DESC_FAST_ACCUM) != 0;
  p->sm_count_target = desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET);
}

/// What goes with the epilogue, and the scale factors.
void read_beside(const Attributes& desc, MatmulProblem* p) {
  const auto type = [&](int attribute) -> std::optional<cudaDataType_t> {
    const auto number = desc.as<std::int32_t>(attribute);
    if (number == -1) return std::nullopt;
    return static_cast<cudaDataType_t>(number);
  };
  p->type_bias = type(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  p->stride_bias = desc.as<std::int64_t>(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE);
  p->type_aux = type(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE);
  p->ldaux = desc.as<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  p->stride_aux = desc.as<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
  const auto scale = [&](int pointer, int mode) -> std::optional<cublasLtMatmulMatrixScale_t> {
    if (device_pointer(desc, pointer) == nullptr) return std::nullopt;
    return desc.as<cublasLtMatmulMatrixScale_t>(mode);
  };
  p->scale_a = scale(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_MODE);
  p->scale_b = scale(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_MODE);
  p->scale_c = scale(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_MODE);
  p->scale_d = scale(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_MODE);
  p->amax_d = device_pointer(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER) != nullptr;
}

/// A mode that is no scalar needs its table.
std::optional<Refusal> refuse_missing_tables(const Attributes& desc) {
  for (const auto& [pointer, mode] :
       {std::pair{CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_MODE},
        std::pair{CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_MODE}}) {
    if (desc.as<std::int32_t>(mode) == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) continue;
    if (device_pointer(desc, pointer) == nullptr) {
      return refusal(CUBLAS_STATUS_NOT_SUPPORTED, "A scale mode requires a custom pointer for its scale factors.");
    }
  }
  return std::nullopt;
}

void read_preference(const Attributes& preference, MatmulProblem* p) {
  p->a_alignment = preference.as<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  p->b_alignment = preference.as<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  p->c_alignment = preference.as<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  p->d_alignment = preference.as<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  p->workspace_bytes = preference.as<std::int64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
}

std::string leading_dimension_text(const MatmulProblem& p) {
  const std::array<std::pair<const char*, MatrixShape>, 4> operands{
      {{"input A", shape_a(p)}, {"input B", shape_b(p)}, {"input C", shape_c(p)}, {"output D", shape_d(p)}}};
  for (const auto& [name, shape] : operands) {
    const bool by_rows = shape.order == CUBLASLT_ORDER_ROW;
    const auto least = by_rows ? shape.cols : shape.rows;
    if (shape.ld >= least) continue;
    return fmt::format(
        "The leading dimension ({}) of {} matrix must be greater or equal to the number of {} in {} ({})", shape.ld,
        name, by_rows ? "columns" : "rows", name[std::string_view(name).size() - 1], least);
  }
  return "The leading dimension of a matrix is too small";
}

/// The lines that cuBLASLt 13.1.0 logs for the rule, or the rule's own text where the library stays silent.
std::vector<Refusal::Line> lines_of(const Promise& promise, const MatmulProblem& p) {
  if (promise.rule_id == "ld-below-rows" || promise.rule_id == "ld-of-one-line") {
    return {{Logger::error, leading_dimension_text(p)}};
  }
  if (promise.rule_id == "fp8-needs-tn") {
    return {{Logger::error, fmt::format("FP8 matrix multiplications support only TN input layout. Got {}{}",
                                        p.transa == CUBLAS_OP_N ? 'N' : 'T', p.transb == CUBLAS_OP_N ? 'N' : 'T')}};
  }
  if (promise.rule_id == "aux-ld-128") {
    return {{Logger::error, "epilogueAuxLd (CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD) has to be a multiple of 128."}};
  }
  if (promise.rule_id == "bias-row-order") {
    return {{Logger::error,
             fmt::format("Unsupported combination: CUBLASLT_ORDER_ROW for output matrix and CUBLASLT_EPILOGUE_{}.",
                         p.epilogue == CUBLASLT_EPILOGUE_BIAS ? "BIAS" : "RELU_BIAS")}};
  }
  std::string reason = promise.rule;
  const auto m_bytes = p.m * static_cast<std::int64_t>(bytes_of(p.type_c));
  if (promise.rule_id == "fp8-16-byte-rule" && (p.k % 16 != 0 || m_bytes % 16 != 0)) {
    const char dimension = p.k % 16 != 0 ? 'K' : 'M';
    reason =
        fmt::format("Unsupported {0} dimension for FP8 matrix multiplication. {0} must be divisible by 16. Got {1}.",
                    dimension, dimension == 'K' ? p.k : p.m);
  }
  return {{Logger::info, std::move(reason)}, {Logger::error, "Failed to query heuristics."}};
}

}  // namespace

std::optional<Refusal> build_problem(const Objects& objects, MatmulProblem* problem) {
  *problem = MatmulProblem{};
  if (auto refused = refuse_unmodelled(objects)) return refused;
  if (auto refused = refuse_unknown_numbers(objects)) return refused;
  MatmulProblem& p = *problem;
  read_desc(*objects.desc, &p);
  p.m = size_of(*objects.d, CUBLASLT_MATRIX_LAYOUT_ROWS);
  p.n = size_of(*objects.d, CUBLASLT_MATRIX_LAYOUT_COLS);
  p.k = size_of(*objects.a, p.transa == CUBLAS_OP_N ? CUBLASLT_MATRIX_LAYOUT_COLS : CUBLASLT_MATRIX_LAYOUT_ROWS);
  for (const auto size : {p.m, p.n, p.k}) {
    // "Usually only values that can be expressed as int32_t are supported" (cublasLt.h 13.1.0, line 1121).
    if (size < 0 || size > std::numeric_limits<std::int32_t>::max()) {
      return refusal(CUBLAS_STATUS_NOT_SUPPORTED, fmt::format("A dimension of {} is not supported.", size));
    }
  }
  p.batch_count = objects.d->as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  const bool plain_a = p.transa == CUBLAS_OP_N;
  const bool plain_b = p.transb == CUBLAS_OP_N;
  if (auto no = refuse_size("A", *objects.a, plain_a ? p.m : p.k, plain_a ? p.k : p.m, p.batch_count)) return no;
  if (auto no = refuse_size("B", *objects.b, plain_b ? p.k : p.n, plain_b ? p.n : p.k, p.batch_count)) return no;
  if (auto no = refuse_size("C", *objects.c, p.m, p.n, p.batch_count)) return no;
  if (auto no = refuse_size("D", *objects.d, p.m, p.n, p.batch_count)) return no;
  read_layouts(objects, &p);
  read_beside(*objects.desc, &p);
  if (objects.preference != nullptr) read_preference(*objects.preference, &p);
  if (has_aux(p.epilogue) && p.ldaux == 0) {
    return refusal(CUBLAS_STATUS_INVALID_VALUE, "epilogueAuxLd (CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD) has to be set.");
  }
  if (auto no = refuse_pointer_arrays(objects, p)) return no;
  return refuse_missing_tables(*objects.desc);
}

bool uses_pointer_arrays(const Objects& objects) { return has_pointer_array(*objects.d); }

std::optional<Refusal> refuse_by_contract(const MatmulProblem& problem, const ContractScope& scope, RefusedBy stage) {
  const Promise promise = promise_of(problem, scope);
  const bool refused = promise.refused_by == RefusedBy::heuristic ||
                       (promise.refused_by == RefusedBy::matmul && stage == RefusedBy::matmul);
  if (!refused) return std::nullopt;
  return Refusal{promise.status, lines_of(promise, problem)};
}

}  // namespace lt_audit::simulator
