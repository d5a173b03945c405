// Hand-made observations for the tests of checks: what a library could have done, without one.
#pragma once

#include <string>
#include <utility>

#include "lt_audit/observation.h"

namespace lt_audit::hand_made {

/// All stages succeed, 7680 elements compared and right.
inline Observation worked() {
  Observation observation;
  observation.stages = {{"create", "cublasLtMatmulDescCreate", "SUCCESS"},
                        {"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"},
                        {"algo_check", "cublasLtMatmulAlgoCheck", "SUCCESS"},
                        {"matmul", "cublasLtMatmul", "SUCCESS"},
                        {"synchronize", "cudaStreamSynchronize", "cudaSuccess"}};
  observation.heuristic.emplace_back();
  observation.heuristic.back().state = "SUCCESS";
  Verification seen;
  seen.method = "elements";
  seen.compared = 7680;
  seen.expected_nonzero = 7600;
  observation.verification = seen;
  return observation;
}

/// The heuristic says no.
inline Observation refused(const std::string& status = "NOT_SUPPORTED") {
  Observation observation;
  observation.stages = {{"create", "cublasLtMatmulDescCreate", "SUCCESS"},
                        {"heuristic", "cublasLtMatmulAlgoGetHeuristic", status}};
  return observation;
}

/// The heuristic accepts, matmul says no.
inline Observation refused_late(const std::string& status = "NOT_SUPPORTED") {
  Observation observation = worked();
  observation.stages[3].status = status;
  observation.verification.reset();
  return observation;
}

/// Everything succeeds and the numbers of `seen` come out.
inline Observation verified(const Verification& seen) {
  Observation observation = worked();
  observation.verification = seen;
  return observation;
}

/// The same with cublasGemmEx beside it.
inline Observation beside_cublas(Observation observation, const std::string& status) {
  CublasObservation cublas;
  cublas.call = "cublasGemmEx";
  cublas.status = status;
  if (status == "SUCCESS") cublas.verification = worked().verification;
  observation.cublas = std::move(cublas);
  return observation;
}

inline Observation ended(ProcessEnd end, const std::string& detail) {
  Observation observation;
  observation.end = end;
  observation.end_detail = detail;
  return observation;
}

}  // namespace lt_audit::hand_made
