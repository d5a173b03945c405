// The simulated library's algorithms: which exist, what they need, and how a cublasLtMatmulAlgo_t holds one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit::simulator {

/// One configured algorithm.
struct Algorithm {
  std::int32_t id = -1;
  std::uint32_t tile = CUBLASLT_MATMUL_TILE_UNDEFINED;
  std::uint32_t stages = CUBLASLT_MATMUL_STAGES_UNDEFINED;
  std::int32_t split_k = 1;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
  std::uint16_t cluster = CUBLASLT_CLUSTER_SHAPE_AUTO;
  /// Loads 16 bytes at once: pointers, leading dimensions and batch strides must be multiples of 16 bytes.
  bool wide_loads = false;
  std::uint64_t workspace_bytes = 0;
};

/// What decides whether an algorithm may be offered, besides the problem.
struct AlgorithmLimits {
  std::uint64_t workspace_bytes = 0;
  std::uint32_t reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
  float max_waves = 0;
  std::uint64_t impl_mask = ~std::uint64_t{0};
  /// Only this id; -1 = any (CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID).
  std::int32_t only_id = -1;
};

/// A candidate with its estimates.
struct RatedAlgorithm {
  Algorithm algorithm;
  float waves = 0;
  double estimated_time = 0;
};

/// All algorithms that fit the problem's declared alignments (a_alignment ...), leading dimensions, strides and the
/// limits, by increasing estimated time. The pointer offsets of the problem are not looked at: the heuristic cannot
/// know them.
std::vector<RatedAlgorithm> rated_algorithms(const MatmulProblem& problem, const AlgorithmLimits& limits,
                                             int multiprocessors);

/// Waves of one algorithm on the problem.
float waves_of(const Algorithm& algorithm, const MatmulProblem& problem, int multiprocessors);

/// Bytes that the algorithm needs A, B, C and D aligned to.
std::array<std::uint32_t, 4> alignment_needs(const Algorithm& algorithm, const MatmulProblem& problem);

/// True when the real pointers of the problem (offsets) are aligned as the algorithm needs.
bool pointers_fit(const Algorithm& algorithm, const MatmulProblem& problem);

/// Type in which the library sums: R_64F, R_32I or R_32F.
cudaDataType_t accumulator_of(cublasComputeType_t compute);

/// Detail bits of cublasLtNumericalImplFlags_t.
std::uint64_t impl_flags(const Algorithm& algorithm, const MatmulProblem& problem);

/// The algorithm as opaque bytes: valid for this problem and this library version only.
cublasLtMatmulAlgo_t encode(const Algorithm& algorithm, const MatmulProblem& problem, int library_number);

/// A decoded algorithm and the problem it was made for, as far as an algorithm depends on it.
struct DecodedAlgorithm {
  Algorithm algorithm;
  /// Types, compute type and scale type only: what the capabilities depend on.
  MatmulProblem types;
  std::uint64_t problem_key = 0;
};

/// Nothing for bytes that this library version did not make.
std::optional<DecodedAlgorithm> decode(const cublasLtMatmulAlgo_t& algo, int library_number);

/// What encode stores of a problem: types, operations, orders, sizes, leading dimensions and strides. Pointers,
/// alignments and the epilogue are left out, so an algorithm may be used again with them changed.
std::uint64_t problem_key(const MatmulProblem& problem);

}  // namespace lt_audit::simulator
