// The simulated cuBLAS: cublasGemmEx and cublasGemmStridedBatchedEx with their documented table of types, cublasSgemm,
// cublasDgemm, and the modes of a handle. Any pointer that is aligned to its element is accepted, which is what an
// application that comes from cuBLAS is used to.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "platform/simulator/arithmetic.h"
#include "platform/simulator/library.h"
#include "platform/simulator/lt_algorithms.h"

namespace lt_audit::simulator {
namespace {

struct GemmCall {
  cublasHandle_t handle;
  cublasOperation_t transa, transb;
  std::int64_t m, n, k;
  const void* alpha;
  const void* a;
  cudaDataType_t type_a;
  std::int64_t lda, stride_a;
  const void* b;
  cudaDataType_t type_b;
  std::int64_t ldb, stride_b;
  const void* beta;
  void* c;
  cudaDataType_t type_c;
  std::int64_t ldc, stride_c;
  std::int32_t batch_count;
  cublasComputeType_t compute;
};

struct TypePair {
  cudaDataType_t ab;
  cudaDataType_t c;
};

/// cuBLAS documentation 13.2, cublasGemmEx, table of supported types; no FP8.
std::span<const TypePair> pairs_of(cublasComputeType_t compute) {
  static constexpr std::array<TypePair, 1> k16F{{{CUDA_R_16F, CUDA_R_16F}}};
  static constexpr std::array<TypePair, 1> k32I{{{CUDA_R_8I, CUDA_R_32I}}};
  static constexpr std::array<TypePair, 8> k32F{{{CUDA_R_16BF, CUDA_R_16BF},
                                                 {CUDA_R_16F, CUDA_R_16F},
                                                 {CUDA_R_8I, CUDA_R_32F},
                                                 {CUDA_R_16BF, CUDA_R_32F},
                                                 {CUDA_R_16F, CUDA_R_32F},
                                                 {CUDA_R_32F, CUDA_R_32F},
                                                 {CUDA_C_8I, CUDA_C_32F},
                                                 {CUDA_C_32F, CUDA_C_32F}}};
  static constexpr std::array<TypePair, 2> kFast{{{CUDA_R_32F, CUDA_R_32F}, {CUDA_C_32F, CUDA_C_32F}}};
  static constexpr std::array<TypePair, 2> k64F{{{CUDA_R_64F, CUDA_R_64F}, {CUDA_C_64F, CUDA_C_64F}}};
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return k16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return k32I;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return k32F;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      return kFast;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return k64F;
  }
  return {};
}

MatrixShape shape(cudaDataType_t type, std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                  std::int32_t batch_count) {
  return {type, rows, cols, ld, CUBLASLT_ORDER_COL, batch_count, stride};
}

/// alpha or beta: read now, or when the product runs.
Factor factor_of(const GemmCall& call, const void* scalar, cublasPointerMode_t mode) {
  const auto type = default_scale_type(call.compute, call.type_c);
  if (mode == CUBLAS_POINTER_MODE_DEVICE) return {1, scalar, type};
  return {load_value(type, scalar), nullptr, type, load_imaginary(type, scalar)};
}

Product product_of(const Library& library, const GemmCall& call, cublasPointerMode_t mode) {
  Product product;
  const bool plain_a = call.transa == CUBLAS_OP_N;
  const bool plain_b = call.transb == CUBLAS_OP_N;
  const auto batches = call.batch_count;
  product.m = call.m, product.n = call.n, product.k = call.k;
  product.a = {
      call.a,
      shape(call.type_a, plain_a ? call.m : call.k, plain_a ? call.k : call.m, call.lda, call.stride_a, batches),
      !plain_a, call.transa == CUBLAS_OP_C};
  product.b = {
      call.b,
      shape(call.type_b, plain_b ? call.k : call.n, plain_b ? call.n : call.k, call.ldb, call.stride_b, batches),
      !plain_b, call.transb == CUBLAS_OP_C};
  product.c = {call.c, shape(call.type_c, call.m, call.n, call.ldc, call.stride_c, batches), false};
  product.d = call.c;
  product.d_shape = product.c.shape;
  product.alpha = factor_of(call, call.alpha, mode);
  product.beta = factor_of(call, call.beta, mode);
  product.accumulator = accumulator_of(call.compute);
  product.factor_bits = factor_bits_of(call.compute, library.tf32_is_off);
  return product;
}

bool below(const MatrixShape& matrix) { return matrix.ld < std::max<std::int64_t>(1, matrix.rows); }

cublasStatus_t check_values(const GemmCall& call) {
  const auto known = [](cublasOperation_t operation) {
    return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
  };
  if (call.m < 0 || call.n < 0 || call.k < 0 || call.batch_count < 0 || !known(call.transa) || !known(call.transb) ||
      call.alpha == nullptr || call.beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto pairs = pairs_of(call.compute);
  const bool listed = std::any_of(pairs.begin(), pairs.end(), [&](const TypePair& pair) {
    return pair.ab == call.type_a && pair.ab == call.type_b && pair.c == call.type_c;
  });
  return listed ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/// INT8 needs pointers and leading dimensions of 4 bytes (cuBLAS documentation, cublasGemmEx).
bool int8_misaligned(const GemmCall& call) {
  const auto odd = [](const void* pointer, std::int64_t ld) {
    return std::bit_cast<std::uintptr_t>(pointer) % 4 != 0 || ld % 4 != 0;
  };
  return call.type_a == CUDA_R_8I && (odd(call.a, call.lda) || odd(call.b, call.ldb));
}

cublasStatus_t gemm(Library& library, const GemmCall& call) {
  const auto* const handle = library.blas_handles.find(call.handle);
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (const auto status = check_values(call); status != CUBLAS_STATUS_SUCCESS) return status;
  if (call.m == 0 || call.n == 0 || call.batch_count == 0) return CUBLAS_STATUS_SUCCESS;
  const Product product = product_of(library, call, handle->pointer_mode);
  if (below(product.a.shape) || below(product.b.shape) || below(product.c.shape) || call.c == nullptr ||
      (call.k > 0 && (call.a == nullptr || call.b == nullptr))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (int8_misaligned(call)) return CUBLAS_STATUS_NOT_SUPPORTED;

  World& world = *library.world;
  Context* context = nullptr;
  Stream* stream = nullptr;
  if (world.machine.current(&context) != cudaSuccess || handle->context != context ||
      world.streams.resolve(handle->stream, &stream) != cudaSuccess || stream->context != context) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  std::vector<Access> accesses{{call.c, bytes_of_span(product.d_shape)}};
  if (call.k > 0) {
    accesses.push_back({call.a, bytes_of_span(product.a.shape)});
    accesses.push_back({call.b, bytes_of_span(product.b.shape)});
  }
  for (const Factor* factor : {&product.alpha, &product.beta}) {
    if (factor->device_pointer != nullptr) accesses.push_back({factor->device_pointer, bytes_of(factor->type)});
  }
  for (const auto& access : accesses) {
    if (world.machine.reach(*context, access) == Reach::unknown) return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const cudaError_t error =
      world.streams.submit(*stream, {nullptr, std::move(accesses), [product] { run_product(product); }});
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t create(Library& library, cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  // It allocates, so a capture that is on refuses it and becomes invalid (measured).
  if (library.world->streams.unsafe_call() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  Context* context = nullptr;
  if (library.world->machine.current(&context) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  BlasHandleState state;
  state.context = context;
  *handle = library.blas_handles.add(state);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroy(Library& library, cublasHandle_t handle) {
  if (!library.blas_handles.remove(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  static_cast<void>(library.world->streams.synchronize_device());
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_stream(Library& library, cublasHandle_t handle, cudaStream_t stream) {
  auto* const state = library.blas_handles.find(handle);
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  state->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_pointer_mode(Library& library, cublasHandle_t handle, cublasPointerMode_t mode) {
  auto* const state = library.blas_handles.find(handle);
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
  state->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_math_mode(Library& library, cublasHandle_t handle, cublasMath_t mode) {
  auto* const state = library.blas_handles.find(handle);
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode < CUBLAS_DEFAULT_MATH || mode > 31) return CUBLAS_STATUS_INVALID_VALUE;
  state->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

/// The products here need no workspace, so that only the rules for it are modelled: 256-byte alignment (cuBLAS
/// documentation 13.2, cublasSetWorkspace), and memory of the device.
cublasStatus_t set_workspace(Library& library, cublasHandle_t handle, void* workspace, std::size_t bytes) {
  const auto* const state = library.blas_handles.find(handle);
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (std::bit_cast<std::uintptr_t>(workspace) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  const bool known = bytes == 0 || library.world->machine.reach(*state->context, {workspace, bytes}) != Reach::unknown;
  return known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/// What cublasGet... functions do: one field of the handle.
template <class Mode, class Field>
cublasStatus_t get_mode(Library& library, cublasHandle_t handle, Mode* mode, Field field) {
  const auto* const state = library.blas_handles.find(handle);
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = field(*state);
  return CUBLAS_STATUS_SUCCESS;
}

/// cublasSgemm and cublasDgemm: one type for everything, and the math mode in place of a compute type.
template <class Real>
cublasStatus_t gemm_by_type(Library& library, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                            int m, int n, int k, const Real* alpha, const Real* a, int lda, const Real* b, int ldb,
                            const Real* beta, Real* c, int ldc) {
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  const auto type = kSingle ? CUDA_R_32F : CUDA_R_64F;
  const auto* const state = library.blas_handles.find(handle);
  const bool tf32 = kSingle && state != nullptr && state->math_mode == CUBLAS_TF32_TENSOR_OP_MATH;
  const auto plain = kSingle ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F;
  return gemm(library,
              {handle, transa, transb, m, n,    k, alpha, a,   type, lda, 0,
               b,      type,   ldb,    0, beta, c, type,  ldc, 0,    1,   tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : plain});
}

/// A function under the machine's lock.
template <class Body>
auto locked(const std::shared_ptr<Library>& library, Body body) {
  return [library, body](auto... arguments) {
    const std::lock_guard guard(library->world->machine.mutex);
    return body(*library, arguments...);
  };
}

void add_modes(BlasApi& api, const std::shared_ptr<Library>& library) {
  api.set_pointer_mode = locked(library, set_pointer_mode);
  api.set_math_mode = locked(library, set_math_mode);
  api.set_workspace = locked(library, set_workspace);
  api.get_pointer_mode = locked(library, [](Library& l, cublasHandle_t handle, cublasPointerMode_t* mode) {
    return get_mode(l, handle, mode, [](const BlasHandleState& state) { return state.pointer_mode; });
  });
  api.get_math_mode = locked(library, [](Library& l, cublasHandle_t handle, cublasMath_t* mode) {
    return get_mode(l, handle, mode, [](const BlasHandleState& state) { return state.math_mode; });
  });
  // No product of the tables knows atomics, and nothing sets them: the documented default (cublasSetAtomicsMode).
  api.get_atomics_mode = locked(library, [](Library& l, cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return get_mode(l, handle, mode, [](const BlasHandleState&) { return CUBLAS_ATOMICS_NOT_ALLOWED; });
  });
}

}  // namespace

BlasApi make_blas_api(const std::shared_ptr<Library>& library) {
  BlasApi api;
  api.create = locked(library, create);
  api.destroy = locked(library, destroy);
  api.set_stream = locked(library, set_stream);
  const int number = library->number();
  api.get_property = [number](libraryPropertyType property, int* value) {
    return library_property(number, property, value);
  };
  api.gemm_ex =
      locked(library, [](Library& l, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                         int n, int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                         cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                         cublasComputeType_t compute, cublasGemmAlgo_t) {
        return gemm(l, {handle, transa, transb, m, n,    k, alpha,  a,   type_a, lda, 0,
                        b,      type_b, ldb,    0, beta, c, type_c, ldc, 0,      1,   compute});
      });
  api.gemm_strided_batched_ex =
      locked(library, [](Library& l, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                         int n, int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                         long long stride_a, const void* b, cudaDataType_t type_b, int ldb, long long stride_b,
                         const void* beta, void* c, cudaDataType_t type_c, int ldc, long long stride_c, int batch_count,
                         cublasComputeType_t compute, cublasGemmAlgo_t) {
        return gemm(l, {handle, transa, transb, m,        n,    k, alpha,  a,   type_a,   lda,         stride_a,
                        b,      type_b, ldb,    stride_b, beta, c, type_c, ldc, stride_c, batch_count, compute});
      });
  api.sgemm = locked(library, gemm_by_type<float>);
  api.dgemm = locked(library, gemm_by_type<double>);
  add_modes(api, library);
  return api;
}

}  // namespace lt_audit::simulator
