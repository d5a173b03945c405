// Reading a call back through the tables, and the hooks that put a fault between caller and platform.
#include "platform/faults/fault.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lt_audit/contract.h"

namespace lt_audit::faults {
namespace {

template <class Value>
bool get(const LtApi& lt, cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, Value& value) {
  std::size_t written = 0;
  return lt.matrix_layout_get_attribute(layout, attribute, &value, sizeof value, &written) == CUBLAS_STATUS_SUCCESS;
}

template <class Value>
bool get(const LtApi& lt, cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, Value& value) {
  std::size_t written = 0;
  return lt.matmul_desc_get_attribute(desc, attribute, &value, sizeof value, &written) == CUBLAS_STATUS_SUCCESS;
}

/// Value types as cublasLt.h 13.1.0 states them, lines 1113-1171.
bool read_shape(const LtApi& lt, cublasLtMatrixLayout_t layout, MatrixShape& shape) {
  if (layout == nullptr) return false;
  std::uint32_t type = 0;
  std::int32_t order = 0;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  if (!get(lt, layout, CUBLASLT_MATRIX_LAYOUT_TYPE, type) || !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_ORDER, order) ||
      !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_ROWS, rows) || !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_COLS, cols) ||
      !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_LD, shape.ld) ||
      !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, shape.batch_count) ||
      !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, shape.plane_offset) ||
      !get(lt, layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, shape.batch_stride)) {
    return false;
  }
  shape.type = static_cast<cudaDataType_t>(type);
  shape.order = static_cast<cublasLtOrder_t>(order);
  shape.rows = static_cast<std::int64_t>(rows);
  shape.cols = static_cast<std::int64_t>(cols);
  return true;
}

std::uint32_t alignment_of(const void* pointer) {
  return alignment_of_offset(static_cast<std::int64_t>(misalignment(pointer, 256)));
}

}  // namespace

bool CallFacts::inputs_are_16_bit() const { return inputs_are(CUDA_R_16F) || inputs_are(CUDA_R_16BF); }
bool CallFacts::inputs_are_fp8() const { return is_fp8(a.type) && is_fp8(b.type); }
bool CallFacts::is_fast_fp32() const {
  return compute_type == CUBLAS_COMPUTE_32F_FAST_16F || compute_type == CUBLAS_COMPUTE_32F_FAST_16BF ||
         compute_type == CUBLAS_COMPUTE_32F_FAST_TF32 || compute_type == CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
}

std::optional<CallFacts> read_facts(const LtApi& lt, const Operands& operands) {
  if (operands.desc == nullptr) return std::nullopt;
  CallFacts facts;
  std::int32_t compute = 0;
  std::int32_t scale = 0;
  std::int32_t transa = 0;
  std::int32_t transb = 0;
  std::int32_t mode = 0;
  std::uint32_t epilogue = 0;
  // cublasLt.h 13.1.0, lines 1268-1340.
  if (!get(lt, operands.desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute) ||
      !get(lt, operands.desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale) ||
      !get(lt, operands.desc, CUBLASLT_MATMUL_DESC_TRANSA, transa) ||
      !get(lt, operands.desc, CUBLASLT_MATMUL_DESC_TRANSB, transb) ||
      !get(lt, operands.desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, mode) ||
      !get(lt, operands.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue) ||
      !get(lt, operands.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, facts.bias)) {
    return std::nullopt;
  }
  facts.compute_type = static_cast<cublasComputeType_t>(compute);
  facts.scale_type = static_cast<cudaDataType_t>(scale);
  facts.transa = static_cast<cublasOperation_t>(transa);
  facts.transb = static_cast<cublasOperation_t>(transb);
  facts.pointer_mode = static_cast<cublasLtPointerMode_t>(mode);
  facts.epilogue = static_cast<cublasLtEpilogue_t>(epilogue);
  if (!read_shape(lt, operands.a, facts.a) || !read_shape(lt, operands.b, facts.b) ||
      !read_shape(lt, operands.c, facts.c) || !read_shape(lt, operands.d, facts.d)) {
    return std::nullopt;
  }
  return facts;
}

cublasStatus_t send(const Platform& real, const MatmulCall& call) {
  const Operands& o = call.operands;
  return real.lt.matmul(call.handle, o.desc, call.alpha, call.a, o.a, call.b, o.b, call.beta, call.c, o.c, call.d, o.d,
                        call.algo, call.workspace, call.workspace_bytes, call.stream);
}

cublasStatus_t send(const Platform& real, const HeuristicCall& call) {
  const Operands& o = call.operands;
  return real.lt.matmul_algo_get_heuristic(call.handle, o.desc, o.a, o.b, o.c, o.d, call.preference, call.requested,
                                           call.results, call.returned);
}

cublasStatus_t send_with_own_algorithm(const Platform& real, MatmulCall call) {
  cublasLtMatmulPreference_t object = nullptr;
  const cublasStatus_t created = real.lt.matmul_preference_create(&object);
  if (created != CUBLAS_STATUS_SUCCESS) return created;
  const MatmulPreference preference(real.lt, object);
  const std::uint64_t workspace = call.workspace == nullptr ? 0 : call.workspace_bytes;
  const std::array<cublasStatus_t, 5> set = {
      preference.set<CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES>(workspace),
      preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES>(alignment_of(call.a)),
      preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES>(alignment_of(call.b)),
      preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES>(alignment_of(call.c)),
      preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES>(alignment_of(call.d))};
  for (const cublasStatus_t status : set) {
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  cublasLtMatmulHeuristicResult_t result = {};
  int returned = 0;
  const cublasStatus_t offered =
      send(real, HeuristicCall{call.handle, call.operands, preference.get(), 1, &result, &returned});
  if (offered != CUBLAS_STATUS_SUCCESS) return offered;
  if (returned == 0 || result.state != CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_NOT_SUPPORTED;
  call.algo = &result.algo;
  return send(real, call);
}

cublasStatus_t send_with_inputs(const Platform& real, const MatmulCall& call, const MatrixShape& a,
                                const MatrixShape& b) {
  const MatrixLayout a_layout = make_layout(real.lt, a);
  const MatrixLayout b_layout = make_layout(real.lt, b);
  if (!a_layout || !b_layout) return send(real, call);
  MatmulCall changed = call;
  changed.operands.a = a_layout.get();
  changed.operands.b = b_layout.get();
  const cublasStatus_t status = send_with_own_algorithm(real, changed);
  return status == CUBLAS_STATUS_SUCCESS ? status : send(real, call);
}

cublasStatus_t send_without_k_tail(const Platform& real, const CallFacts& facts, const MatmulCall& call) {
  if (facts.k() <= 16) return send(real, call);
  MatrixShape a = facts.a;
  MatrixShape b = facts.b;
  (facts.transa == CUBLAS_OP_N ? a.cols : a.rows) -= 16;
  (facts.transb == CUBLAS_OP_N ? b.rows : b.cols) -= 16;
  return send_with_inputs(real, call, a, b);
}

std::uint64_t needed_workspace(const Platform& real, const MatmulCall& call) {
  if (call.algo == nullptr || !real.lt.matmul_algo_check) return 0;
  const Operands& o = call.operands;
  cublasLtMatmulHeuristicResult_t checked = {};
  const cublasStatus_t status = real.lt.matmul_algo_check(call.handle, o.desc, o.a, o.b, o.c, o.d, call.algo, &checked);
  return status == CUBLAS_STATUS_SUCCESS ? checked.workspaceSize : 0;
}

MatrixLayout make_layout(const LtApi& lt, const MatrixShape& shape) {
  cublasLtMatrixLayout_t object = nullptr;
  if (lt.matrix_layout_create(&object, shape.type, static_cast<std::uint64_t>(shape.rows),
                              static_cast<std::uint64_t>(shape.cols), shape.ld) != CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  MatrixLayout layout(lt, object);
  if (layout.set<CUBLASLT_MATRIX_LAYOUT_ORDER>(static_cast<std::int32_t>(shape.order)) != CUBLAS_STATUS_SUCCESS ||
      layout.set<CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT>(shape.batch_count) != CUBLAS_STATUS_SUCCESS ||
      layout.set<CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET>(shape.plane_offset) != CUBLAS_STATUS_SUCCESS ||
      layout.set<CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET>(shape.batch_stride) != CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  return layout;
}

Scratch::~Scratch() {
  if (memory_ != nullptr) static_cast<void>(free_(memory_));
}

void* Scratch::at_least(const Platform& real, std::size_t bytes, cudaStream_t stream) {
  if (bytes <= bytes_) return memory_;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  if (real.cuda.stream_is_capturing(stream, &capturing) != cudaSuccess || capturing != cudaStreamCaptureStatusNone) {
    return nullptr;
  }
  // Twice the need, since growing waits for the device and would hide a race that the fault is not about.
  void* grown = nullptr;
  if (real.cuda.malloc(&grown, 2 * bytes) != cudaSuccess) return nullptr;
  if (memory_ != nullptr) static_cast<void>(free_(memory_));
  free_ = real.cuda.free;
  memory_ = grown;
  bytes_ = 2 * bytes;
  return memory_;
}

void on_matmul(Platform& platform, MatmulFault fault) {
  auto real = std::make_shared<const Platform>(platform);
  platform.lt.matmul = [real, fault = std::move(fault)](
                           cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                           cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                           const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                           cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                           std::size_t workspace_bytes, cudaStream_t stream) {
    const MatmulCall call{handle,
                          {desc, a_layout, b_layout, c_layout, d_layout},
                          alpha,
                          a,
                          b,
                          beta,
                          c,
                          d,
                          algo,
                          workspace,
                          workspace_bytes,
                          stream};
    const auto facts = read_facts(real->lt, call.operands);
    return facts ? fault(*real, *facts, call) : send(*real, call);
  };
}

void on_heuristic(Platform& platform, HeuristicFault fault) {
  auto real = std::make_shared<const Platform>(platform);
  platform.lt.matmul_algo_get_heuristic =
      [real, fault = std::move(fault)](cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       cublasLtMatmulPreference_t preference, int requested,
                                       cublasLtMatmulHeuristicResult_t* results, int* returned) {
        const HeuristicCall call{handle, {desc, a, b, c, d}, preference, requested, results, returned};
        const auto facts = read_facts(real->lt, call.operands);
        return facts ? fault(*real, *facts, call) : send(*real, call);
      };
}

void on_operands(Platform& platform, MakeDisguise disguise) {
  auto real = std::make_shared<const Platform>(platform);
  on_heuristic(platform, [disguise](const Platform& under, const CallFacts& facts, HeuristicCall call) {
    const auto seen = disguise(under, facts, call.operands);
    if (seen) call.operands = seen->operands;
    return send(under, call);
  });
  on_matmul(platform, [disguise](const Platform& under, const CallFacts& facts, MatmulCall call) {
    const auto seen = disguise(under, facts, call.operands);
    if (seen) call.operands = seen->operands;
    return send(under, call);
  });
  platform.lt.matmul_algo_check = [real, disguise](
                                      cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                      cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                      const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
    Operands operands{desc, a, b, c, d};
    const auto facts = read_facts(real->lt, operands);
    const auto seen = facts ? disguise(*real, *facts, operands) : std::nullopt;
    if (seen) operands = seen->operands;
    return real->lt.matmul_algo_check(handle, operands.desc, operands.a, operands.b, operands.c, operands.d, algo,
                                      result);
  };
}

Scalar scalar_of(cudaDataType_t scale_type, bool one) {
  Scalar scalar;
  if (!one) return scalar;
  const auto store = [&scalar](auto value) { std::memcpy(scalar.bytes, &value, sizeof value); };
  switch (scale_type) {
    case CUDA_R_16F:
      store(std::uint16_t{0x3C00});
      break;
    case CUDA_R_16BF:
      store(std::uint16_t{0x3F80});
      break;
    case CUDA_R_64F:
    case CUDA_C_64F:
      store(1.0);
      break;
    case CUDA_R_32I:
      store(std::int32_t{1});
      break;
    default:
      store(1.0F);
      break;
  }
  return scalar;
}

Scalar scalar_at(cudaDataType_t scale_type, const void* host) {
  Scalar scalar;
  std::memcpy(scalar.bytes, host, bytes_of(scale_type));
  return scalar;
}

bool has_host_scalars(const CallFacts& facts) { return facts.pointer_mode == CUBLASLT_POINTER_MODE_HOST; }

bool host_scalar_is(const CallFacts& facts, const void* scalar, bool one) {
  const std::size_t bytes = bytes_of(facts.scale_type);
  if (!has_host_scalars(facts) || scalar == nullptr || bytes == 0) return false;
  const Scalar wanted = scalar_of(facts.scale_type, one);
  return std::memcmp(scalar, wanted.bytes, bytes) == 0;
}

bool splits_k(const LtApi& lt, const cublasLtMatmulAlgo_t* algo) {
  // cublasLt.h 13.1.0, line 2534.
  std::int32_t parts = 1;
  std::size_t written = 0;
  return algo != nullptr && lt.matmul_algo_config_get_attribute &&
         lt.matmul_algo_config_get_attribute(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts, &written) ==
             CUBLAS_STATUS_SUCCESS &&
         parts > 1;
}

void scribble(const Platform& real, void* begin, std::size_t bytes, cudaStream_t stream) {
  const std::size_t half = bytes / 2;
  static_cast<void>(real.cuda.memset_async(begin, 0x5A, bytes - half, stream));
  if (half == 0) return;
  static_cast<void>(real.cuda.memset_async(static_cast<std::byte*>(begin) + (bytes - half), 0xA5, half, stream));
}

void spoil_middle_element(const Platform& real, const CallFacts& facts, const MatmulCall& call) {
  if (line_count(facts.d) < 1 || line_length(facts.d) < 1) return;
  const std::int64_t offset = line_offset(facts.d, line_count(facts.d) / 2) + line_length(facts.d) / 2;
  void* const middle = element(call.d, facts.d, offset);
  static_cast<void>(real.cuda.memset_async(middle, 0x3D, bytes_of(facts.d.stored_type()), call.stream));
}

void* element(void* matrix, const MatrixShape& shape, std::int64_t offset) {
  return static_cast<std::byte*>(matrix) + offset * static_cast<std::int64_t>(bytes_of(shape.stored_type()));
}

std::int64_t line_count(const MatrixShape& shape) {
  return shape.order == CUBLASLT_ORDER_ROW ? shape.rows : shape.cols;
}
std::int64_t line_length(const MatrixShape& shape) {
  return shape.order == CUBLASLT_ORDER_ROW ? shape.cols : shape.rows;
}
std::int64_t line_offset(const MatrixShape& shape, std::int64_t line) {
  return std::max<std::int64_t>(shape.batch_count - 1, 0) * shape.batch_stride + line * shape.ld;
}

std::size_t misalignment(const void* pointer, std::size_t alignment) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(pointer)) & (alignment - 1);
}

}  // namespace lt_audit::faults
