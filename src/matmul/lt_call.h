// One cublasLtMatmul from descriptor to call, every status a stage of the observation.
#pragma once

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/owners.h"
#include "lt_audit/platform.h"
#include "lt_audit/prepared_matmul.h"
#include "matmul/buffers.h"
#include "matmul/scalars.h"

namespace lt_audit {

/// The objects of one problem. Stages that go as they should are recorded only where a status is of interest in itself:
/// heuristic, algo_check, matmul; a failed create or set_attribute is recorded too.
class LtCall {
 public:
  /// Problem and buffers must outlive the call.
  LtCall(const Platform& platform, const MatmulProblem& problem, const BufferPlan& buffers);

  /// Descriptor, layouts, preference and their attributes. False when the library refused one.
  bool describe(Observation& observation);

  HeuristicAnswer query(cublasLtHandle_t handle, int requested_results) const;
  HeuristicResult read(const cublasLtMatmulHeuristicResult_t& result) const;
  cublasStatus_t check(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algo,
                       cublasLtMatmulHeuristicResult_t* checked) const;

  /// The algorithm that the problem names, by the heuristic and AlgoCheck. False when there is nothing to run.
  bool choose_algo(cublasLtHandle_t handle, int requested_results, Observation& observation);

  /// alpha and beta in host memory from here on.
  void set_scalars(std::complex<double> alpha, std::complex<double> beta);
  /// alpha and beta to the device, for pointer mode device. Asynchronous on the stream.
  void upload_scalars(cudaStream_t stream);

  /// Addresses of the buffers and the layouts of describe.
  CallOperands operands() const;
  /// What the next call gets as alpha and beta, in host or device memory as the problem says.
  ScalarPointers scalars() const;

  cublasStatus_t matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream) const;
  /// The same with another workspace than the buffers' own.
  cublasStatus_t matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream, void* workspace,
                        std::size_t workspace_bytes) const;
  /// The same on other operands than the buffers' own.
  cublasStatus_t matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                        const CallOperands& operands) const;
  /// The same with the chosen algorithm, as a stage. True when it returned SUCCESS.
  bool matmul(cublasLtHandle_t handle, cudaStream_t stream, Observation& observation) const;

  MatmulDesc& desc() { return desc_; }
  MatrixLayout& a_layout() { return a_; }
  MatrixLayout& b_layout() { return b_; }
  MatrixLayout& c_layout() { return c_; }
  MatrixLayout& d_layout() { return d_; }
  MatmulPreference& preference() { return preference_; }

 private:
  cublasStatus_t send(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                      const CallOperands& operands, void* workspace, std::size_t workspace_bytes) const;
  bool create_objects(Observation& observation);
  bool set_desc(Observation& observation);
  bool set_epilogue(Observation& observation);
  bool set_scales(Observation& observation);
  bool set_layout(const MatrixLayout& layout, const MatrixShape& shape, Observation& observation);
  bool set_preference(Observation& observation);

  const Platform& platform_;
  const MatmulProblem& problem_;
  const BufferPlan& buffers_;
  MatmulDesc desc_;
  MatrixLayout a_, b_, c_, d_;
  MatmulPreference preference_;
  Scalar alpha_;
  Scalar beta_;
  DeviceMemory device_scalars_;
  cublasLtMatmulAlgo_t algo_{};
};

}  // namespace lt_audit
