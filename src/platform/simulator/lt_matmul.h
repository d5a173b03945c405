// cublasLtMatmul of the simulator, and the attributes of its algorithms.
#pragma once

#include "platform/simulator/library.h"

namespace lt_audit::simulator {

/// The arguments of cublasLtMatmul, in its order.
struct MatmulCall {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t desc;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
  const cublasLtMatmulAlgo_t* algo;
  void* workspace;
  std::size_t workspace_bytes;
  cudaStream_t stream;
};

/// Argument rules, then the product as work of the stream.
cublasStatus_t run_matmul(Library& library, const MatmulCall& call);

/// The device that a handle of cuBLASLt or cuBLAS is bound to; -1 for null and destroyed handles.
int device_of_handle(const Library& library, cublasLtHandle_t handle);

cublasStatus_t config_attribute(int library_number, const cublasLtMatmulAlgo_t* algo,
                                cublasLtMatmulAlgoConfigAttributes_t attribute, void* value, std::size_t bytes,
                                std::size_t* written);
cublasStatus_t cap_attribute(int library_number, const cublasLtMatmulAlgo_t* algo,
                             cublasLtMatmulAlgoCapAttributes_t attribute, void* value, std::size_t bytes,
                             std::size_t* written);

}  // namespace lt_audit::simulator
