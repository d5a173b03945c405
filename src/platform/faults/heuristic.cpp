// Faults in what the heuristic hands out: a result that says something else than the truth, an algorithm that works
// less often than the query promised.
#include <cstdint>
#include <cstring>
#include <memory>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

/// A set of algorithms.
using Algorithms = Memory<AlgoKey, bool>;

bool holds(const Algorithms& algorithms, const cublasLtMatmulAlgo_t& algo) {
  return algorithms.find(key_of(algo)).has_value();
}

/// MAX_WORKSPACE_BYTES by preference, which has no getter in the tables.
using Limits = Memory<cublasLtMatmulPreference_t, std::uint64_t>;

std::shared_ptr<Limits> watch_limits(LtApi& lt) {
  auto limits = std::make_shared<Limits>();
  in_front_of(lt.matmul_preference_set_attribute,
              [limits](const auto& real, cublasLtMatmulPreference_t preference,
                       cublasLtMatmulPreferenceAttributes_t attribute, const void* value, std::size_t bytes) {
                const cublasStatus_t status = real(preference, attribute, value, bytes);
                std::uint64_t limit = 0;
                if (status == CUBLAS_STATUS_SUCCESS && attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
                    bytes == sizeof limit) {
                  std::memcpy(&limit, value, sizeof limit);
                  limits->keep(preference, limit);
                }
                return status;
              });
  in_front_of(lt.matmul_preference_destroy, [limits](const auto& real, cublasLtMatmulPreference_t preference) {
    limits->forget(preference);
    return real(preference);
  });
  return limits;
}

}  // namespace

void plant_algorithm_bound_to_stream(Platform& platform) {
  auto streams = std::make_shared<Memory<AlgoKey, cudaStream_t>>();
  on_matmul(platform, [streams](const Platform& real, const CallFacts&, const MatmulCall& call) {
    const bool bound_elsewhere =
        call.algo != nullptr && streams->keep_first(key_of(*call.algo), call.stream) != call.stream;
    return bound_elsewhere ? CUBLAS_STATUS_EXECUTION_FAILED : send(real, call);
  });
}

void plant_one_bad_algorithm(Platform& platform) {
  auto bad = std::make_shared<Algorithms>();
  on_heuristic(platform, [bad](const Platform& real, const CallFacts& facts, const HeuristicCall& call) {
    const cublasStatus_t status = send(real, call);
    const auto results = results_of(call, status);
    if (facts.inputs_are(CUDA_R_16F) && results.size() >= 3) bad->keep(key_of(results.back().algo), true);
    return status;
  });
  on_matmul(platform, [bad](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = facts.inputs_are(CUDA_R_16F) && call.algo != nullptr && holds(*bad, *call.algo);
    if (status == CUBLAS_STATUS_SUCCESS && targeted) spoil_middle_element(real, facts, call);
    return status;
  });
}

void plant_restored_algorithm_refused(Platform& platform) {
  auto own = std::make_shared<Algorithms>();
  on_heuristic(platform, [own](const Platform& real, const CallFacts&, const HeuristicCall& call) {
    const cublasStatus_t status = send(real, call);
    for (const auto& result : results_of(call, status)) own->keep(key_of(result.algo), true);
    return status;
  });
  on_matmul(platform, [own](const Platform& real, const CallFacts&, const MatmulCall& call) {
    const bool restored = call.algo != nullptr && !holds(*own, *call.algo);
    return restored ? CUBLAS_STATUS_INVALID_VALUE : send(real, call);
  });
  in_front_of(platform.lt.matmul_algo_check,
              [own](const auto& real, cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                    const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
                const bool restored = algo != nullptr && !holds(*own, *algo);
                return restored ? CUBLAS_STATUS_INVALID_VALUE : real(handle, desc, a, b, c, d, algo, result);
              });
}

void plant_result_state_not_success(Platform& platform) {
  on_heuristic(platform, [](const Platform& real, const CallFacts& facts, const HeuristicCall& call) {
    const cublasStatus_t status = send(real, call);
    const auto results = results_of(call, status);
    if (facts.inputs_are(CUDA_R_32F) && results.size() >= 2) results[1].state = CUBLAS_STATUS_NOT_SUPPORTED;
    return status;
  });
}

void plant_split_k_tail_lost(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    return splits_k(real.lt, call.algo) ? send_without_k_tail(real, facts, call) : send(real, call);
  });
}

void plant_workspace_above_limit(Platform& platform) {
  constexpr std::uint64_t kExcess = 4U << 20;
  const auto limits = watch_limits(platform.lt);
  on_heuristic(platform, [limits](const Platform& real, const CallFacts& facts, const HeuristicCall& call) {
    const cublasStatus_t status = send(real, call);
    const auto results = results_of(call, status);
    if (facts.inputs_are(CUDA_R_16BF) && !results.empty()) {
      // cublasLt.h 13.1.0, line 2086: the default is 0.
      results.back().workspaceSize = limits->find(call.preference).value_or(0) + kExcess;
    }
    return status;
  });
}

}  // namespace lt_audit::faults
