// The platform: the functions under test as a value. Checks and the engine call nothing else, so that the real library,
// the simulator and a fault planted in either look alike to them.
//
// Each function has the name, arguments and meaning of the NVIDIA function it stands for (without the prefix); the
// contract is NVIDIA's: cublasLt.h and cublas_api.h 13.1.0, cuda_runtime_api.h 13.0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lt_audit/surroundings.h"
#include "lt_audit/target.h"
#include "lt_audit/types.h"

namespace lt_audit {

struct PrepareSpec;
struct InspectSpec;
struct CompareSpec;
struct ProductSpec;
struct VerificationRecord;

/// A function of the platform. std::function, not a raw pointer, because a decorator (fault, trace) carries state.
template <class Signature>
using Fn = std::function<Signature>;

/// A CUDA context of the driver API, opaque here.
using ContextHandle = void*;

/// The CUDA runtime. ctx_* are the driver's cuCtx* functions with their result mapped to the runtime's codes.
struct CudaApi {
  Fn<cudaError_t(int*)> get_device_count;
  Fn<cudaError_t(int)> set_device;
  Fn<cudaError_t(int*)> get_device;
  Fn<cudaError_t(DeviceFacts*, int)> get_device_facts;
  /// Attributes of cudaDeviceGetAttribute, and the name, which alone tells of MIG.
  Fn<cudaError_t(DeviceModes*, int)> get_device_modes;
  /// 13000 for CUDA 13.0.
  Fn<cudaError_t(int*)> driver_get_version;
  Fn<cudaError_t(int*)> runtime_get_version;
  Fn<cudaError_t()> device_synchronize;
  Fn<cudaError_t()> device_reset;
  Fn<cudaError_t()> get_last_error;
  Fn<cudaError_t()> peek_at_last_error;
  Fn<cudaError_t(std::size_t*, std::size_t*)> mem_get_info;
  Fn<cudaError_t(void**, std::size_t)> malloc;
  Fn<cudaError_t(void*)> free;
  Fn<cudaError_t(void**, std::size_t)> malloc_host;
  Fn<cudaError_t(void*)> free_host;
  Fn<cudaError_t(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t)> memcpy_async;
  Fn<cudaError_t(void*, int, std::size_t, cudaStream_t)> memset_async;
  /// Flags: cudaStreamDefault (blocking) or cudaStreamNonBlocking.
  Fn<cudaError_t(cudaStream_t*, unsigned)> stream_create_with_flags;
  /// The last argument is the priority: a smaller number is a higher one.
  Fn<cudaError_t(cudaStream_t*, unsigned, int)> stream_create_with_priority;
  /// The lowest and the highest priority.
  Fn<cudaError_t(int*, int*)> device_get_stream_priority_range;
  Fn<cudaError_t(cudaStream_t)> stream_destroy;
  Fn<cudaError_t(cudaStream_t)> stream_synchronize;
  Fn<cudaError_t(cudaStream_t, cudaEvent_t)> stream_wait_event;
  Fn<cudaError_t(cudaEvent_t*)> event_create;
  Fn<cudaError_t(cudaEvent_t)> event_destroy;
  Fn<cudaError_t(cudaEvent_t, cudaStream_t)> event_record;
  Fn<cudaError_t(cudaEvent_t)> event_synchronize;
  /// Milliseconds between two recorded events.
  Fn<cudaError_t(float*, cudaEvent_t, cudaEvent_t)> event_elapsed_time;
  Fn<cudaError_t(cudaStream_t, cudaStreamCaptureMode)> stream_begin_capture;
  Fn<cudaError_t(cudaStream_t, cudaGraph_t*)> stream_end_capture;
  Fn<cudaError_t(cudaStream_t, cudaStreamCaptureStatus*)> stream_is_capturing;
  Fn<cudaError_t(cudaGraph_t, std::size_t*)> graph_get_node_count;
  Fn<cudaError_t(cudaGraphExec_t*, cudaGraph_t)> graph_instantiate;
  Fn<cudaError_t(cudaGraphExec_t, cudaStream_t)> graph_launch;
  /// cudaGraphExecUpdate, with the result of its cudaGraphExecUpdateResultInfo alone.
  Fn<cudaError_t(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResult*)> graph_exec_update;
  Fn<cudaError_t(cudaGraph_t)> graph_destroy;
  Fn<cudaError_t(cudaGraphExec_t)> graph_exec_destroy;
  Fn<cudaError_t(ContextHandle*, int)> ctx_create;
  Fn<cudaError_t(ContextHandle)> ctx_destroy;
  Fn<cudaError_t(ContextHandle)> ctx_set_current;
  Fn<cudaError_t(ContextHandle*)> ctx_get_current;
};

/// cuBLASLt. A function that the loaded library does not export is empty.
struct LtApi {
  Fn<cublasStatus_t(cublasLtHandle_t*)> create;
  Fn<cublasStatus_t(cublasLtHandle_t)> destroy;
  Fn<std::size_t()> get_version;
  Fn<cublasStatus_t(libraryPropertyType, int*)> get_property;
  Fn<cublasStatus_t(cublasLtMatmulDesc_t*, cublasComputeType_t, cudaDataType_t)> matmul_desc_create;
  Fn<cublasStatus_t(cublasLtMatmulDesc_t)> matmul_desc_destroy;
  Fn<cublasStatus_t(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void*, std::size_t)>
      matmul_desc_set_attribute;
  Fn<cublasStatus_t(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, void*, std::size_t, std::size_t*)>
      matmul_desc_get_attribute;
  Fn<cublasStatus_t(cublasLtMatrixLayout_t*, cudaDataType_t, std::uint64_t, std::uint64_t, std::int64_t)>
      matrix_layout_create;
  Fn<cublasStatus_t(cublasLtMatrixLayout_t)> matrix_layout_destroy;
  Fn<cublasStatus_t(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void*, std::size_t)>
      matrix_layout_set_attribute;
  Fn<cublasStatus_t(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, void*, std::size_t, std::size_t*)>
      matrix_layout_get_attribute;
  Fn<cublasStatus_t(cublasLtMatmulPreference_t*)> matmul_preference_create;
  Fn<cublasStatus_t(cublasLtMatmulPreference_t)> matmul_preference_destroy;
  Fn<cublasStatus_t(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void*, std::size_t)>
      matmul_preference_set_attribute;
  Fn<cublasStatus_t(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                    cublasLtMatmulHeuristicResult_t*, int*)>
      matmul_algo_get_heuristic;
  Fn<cublasStatus_t(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*,
                    cublasLtMatmulHeuristicResult_t*)>
      matmul_algo_check;
  Fn<cublasStatus_t(const cublasLtMatmulAlgo_t*, cublasLtMatmulAlgoConfigAttributes_t, void*, std::size_t,
                    std::size_t*)>
      matmul_algo_config_get_attribute;
  Fn<cublasStatus_t(const cublasLtMatmulAlgo_t*, cublasLtMatmulAlgoCapAttributes_t, void*, std::size_t, std::size_t*)>
      matmul_algo_cap_get_attribute;
  Fn<cublasStatus_t(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t,
                    const void*, cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t, void*,
                    cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t)>
      matmul;
  Fn<cublasStatus_t(cublasLtLoggerCallback_t)> logger_set_callback;
  Fn<cublasStatus_t(int)> logger_set_level;
};

/// cuBLAS, for the comparison with the call that an application migrates from. A function that the loaded library does
/// not export is empty.
struct BlasApi {
  Fn<cublasStatus_t(cublasHandle_t*)> create;
  Fn<cublasStatus_t(cublasHandle_t)> destroy;
  Fn<cublasStatus_t(libraryPropertyType, int*)> get_property;
  Fn<cublasStatus_t(cublasHandle_t, cudaStream_t)> set_stream;
  Fn<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                    cudaDataType_t, int, const void*, cudaDataType_t, int, const void*, void*, cudaDataType_t, int,
                    cublasComputeType_t, cublasGemmAlgo_t)>
      gemm_ex;
  Fn<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                    cudaDataType_t, int, long long, const void*, cudaDataType_t, int, long long, const void*, void*,
                    cudaDataType_t, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t)>
      gemm_strided_batched_ex;
  Fn<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float*, const float*,
                    int, const float*, int, const float*, float*, int)>
      sgemm;
  Fn<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const double*, const double*,
                    int, const double*, int, const double*, double*, int)>
      dgemm;
  Fn<cublasStatus_t(cublasHandle_t, cublasPointerMode_t)> set_pointer_mode;
  Fn<cublasStatus_t(cublasHandle_t, cublasPointerMode_t*)> get_pointer_mode;
  Fn<cublasStatus_t(cublasHandle_t, cublasMath_t)> set_math_mode;
  Fn<cublasStatus_t(cublasHandle_t, cublasMath_t*)> get_math_mode;
  Fn<cublasStatus_t(cublasHandle_t, cublasAtomicsMode_t*)> get_atomics_mode;
  Fn<cublasStatus_t(cublasHandle_t, void*, std::size_t)> set_workspace;
};

/// The audit's own kernels (src/platform/audit_kernels.h): fill, inspect and verify. They never call the library under
/// test. All run asynchronously on the stream; the record is in device memory.
struct KernelApi {
  /// Writes inputs, poison and guard zones of all buffers of a problem.
  Fn<cudaError_t(const PrepareSpec&, cudaStream_t)> prepare;
  /// Compares every byte that the matmul must not change with what prepare wrote.
  Fn<cudaError_t(const InspectSpec&, VerificationRecord*, cudaStream_t)> inspect;
  /// Computes the expected D element by element and compares.
  Fn<cudaError_t(const CompareSpec&, VerificationRecord*, cudaStream_t)> compare;
  /// Freivalds' check: D x against alpha A (B x) + beta C x, exact, for random x; before the call and after it.
  Fn<cudaError_t(const ProductSpec&, VerificationRecord*, cudaStream_t)> freivalds;
  /// Keeps the stream busy for so many nanoseconds, so that the host gets ahead of it: what is enqueued meanwhile runs
  /// without waiting for the host, and events around it see the GPU's time alone.
  Fn<cudaError_t(std::int64_t, cudaStream_t)> occupy;
  /// Copies so many bytes of device memory from the second address to the first, after so many nanoseconds, as a right
  /// neighbour under programmatic dependent launch: it lets what follows it start at once, may itself start before the
  /// work in front of it has ended, and waits for the end of that work before it touches memory. A plain kernel where
  /// the GPU has no such launch (below sm_90).
  Fn<cudaError_t(void*, const void*, std::size_t, std::int64_t, cudaStream_t)> copy_late;
};

/// Everything an audit calls. Copyable: a decorator copies the platform and replaces functions in the copy.
struct Platform {
  PlatformKind kind = PlatformKind::gpu;
  CudaApi cuda;
  LtApi lt;
  BlasApi blas;
  KernelApi kernels;
  /// Variables and loaded files of the process, read at each call.
  Fn<ProcessFacts()> process_facts;
  LibraryFacts cublaslt;
  LibraryFacts cublas;
  /// Keeps alive what the functions refer to: loaded libraries, the simulated machine, a fault's state.
  std::shared_ptr<void> owner;
};

}  // namespace lt_audit
