// One cublasLtMatmul from descriptor to call, every status a stage of the observation.
#pragma once

#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/platform.h"
#include "matmul/buffers.h"
#include "matmul/scalars.h"
#include "platform/owners.h"

namespace lt_audit {

/// The objects of one problem. Stages that go as they should are recorded only where a status is of interest in itself:
/// heuristic, algo_check, matmul; a failed create or set_attribute is recorded too.
class LtCall {
 public:
  LtCall(const Platform& platform, cublasLtHandle_t handle, cudaStream_t stream, const MatmulProblem& problem,
         const BufferPlan& buffers);

  /// Descriptor, layouts, preference and their attributes. False when the library refused one.
  bool describe(Observation& observation);

  /// The heuristic and AlgoCheck of the chosen result. False when there is nothing to run.
  bool choose_algo(int requested_results, Observation& observation);

  /// alpha and beta to the device, for pointer mode device. Asynchronous on the stream.
  void upload_scalars();

  /// cublasLtMatmul. True when it returned SUCCESS.
  bool matmul(Observation& observation);

 private:
  bool create_objects(Observation& observation);
  bool set_desc(Observation& observation);
  bool set_layout(const MatrixLayout& layout, const MatrixShape& shape, Observation& observation);
  bool set_preference(Observation& observation);
  HeuristicResult describe_result(const cublasLtMatmulHeuristicResult_t& result) const;

  const Platform& platform_;
  cublasLtHandle_t handle_;
  cudaStream_t stream_;
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
