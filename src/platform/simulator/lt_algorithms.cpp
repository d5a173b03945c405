// Algorithm candidates, their needs and their opaque encoding.
#include "platform/simulator/lt_algorithms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "lt_audit/contract.h"
#include "platform/simulator/arithmetic.h"

namespace lt_audit::simulator {
namespace {

/// A kernel family with the ids and tiles that cuBLASLt 13.1.0 shows on sm_90.
struct Family {
  std::int32_t id;
  cublasLtMatmulTile_t tile;
  int tile_rows;
  int tile_cols;
  cublasLtMatmulStages_t stages;
  cublasLtClusterShape_t cluster;
  bool wide_loads;
  bool splits_k;
  /// Relative speed at full waves; only the order matters.
  double speed;
};

constexpr std::array<Family, 7> kFamilies{{
    {66, CUBLASLT_MATMUL_TILE_128x128, 128, 128, CUBLASLT_MATMUL_STAGES_64xAUTO, CUBLASLT_CLUSTER_SHAPE_2x1x1, true,
     false, 8.0},
    {66, CUBLASLT_MATMUL_TILE_64x64, 64, 64, CUBLASLT_MATMUL_STAGES_64xAUTO, CUBLASLT_CLUSTER_SHAPE_1x1x1, true, true,
     6.0},
    {21, CUBLASLT_MATMUL_TILE_128x64, 128, 64, CUBLASLT_MATMUL_STAGES_64x3, CUBLASLT_CLUSTER_SHAPE_AUTO, true, false,
     5.0},
    {24, CUBLASLT_MATMUL_TILE_64x64, 64, 64, CUBLASLT_MATMUL_STAGES_UNDEFINED, CUBLASLT_CLUSTER_SHAPE_AUTO, true, true,
     4.0},
    {20, CUBLASLT_MATMUL_TILE_128x64, 128, 64, CUBLASLT_MATMUL_STAGES_8x5, CUBLASLT_CLUSTER_SHAPE_AUTO, false, false,
     2.0},
    {20, CUBLASLT_MATMUL_TILE_64x64, 64, 64, CUBLASLT_MATMUL_STAGES_16x6, CUBLASLT_CLUSTER_SHAPE_AUTO, false, true,
     1.8},
    {13, CUBLASLT_MATMUL_TILE_32x32, 32, 32, CUBLASLT_MATMUL_STAGES_UNDEFINED, CUBLASLT_CLUSTER_SHAPE_AUTO, false,
     false, 1.0},
}};

constexpr std::uint64_t kMagic = 0x6C742D61'75646974;  // "lt-audit"

std::int64_t blocks(std::int64_t size, std::int64_t tile) {
  return (std::max<std::int64_t>(size, 1) + tile - 1) / tile;
}

const Family* family_of(const Algorithm& algorithm) {
  const auto position = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    return family.id == algorithm.id && static_cast<std::uint32_t>(family.tile) == algorithm.tile;
  });
  return position == kFamilies.end() ? nullptr : &*position;
}

/// Leading dimensions and batch strides in bytes are multiples of what the algorithm loads at once (cublasLt.h 13.1.0,
/// CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES: pointer, leading dimension and possibly other strides). So is the distance
/// of two planes.
bool strides_fit(const MatmulProblem& problem, const std::array<std::uint32_t, 4>& needs) {
  const std::array shapes{shape_a(problem), shape_b(problem), shape_c(problem), shape_d(problem)};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto size = static_cast<std::int64_t>(bytes_of(shapes[i].stored_type()));
    if (shapes[i].plane_offset % needs[i] != 0) return false;
    if (shapes[i].ld * size % needs[i] != 0) return false;
    if (shapes[i].batch_count > 1 && shapes[i].batch_stride * size % needs[i] != 0) return false;
  }
  return true;
}

Algorithm configured(const Family& family, std::int32_t split_k, const MatmulProblem& problem) {
  Algorithm algorithm;
  algorithm.id = family.id;
  algorithm.tile = family.tile;
  algorithm.stages = family.stages;
  algorithm.cluster = static_cast<std::uint16_t>(family.cluster);
  algorithm.wide_loads = family.wide_loads;
  algorithm.split_k = split_k;
  algorithm.reduction = split_k > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
  algorithm.workspace_bytes =
      product_workspace_bytes(problem.m, problem.n, problem.batch_count, split_k, accumulator_of(problem.compute_type));
  return algorithm;
}

bool within(const RatedAlgorithm& rated, const MatmulProblem& problem, const AlgorithmLimits& limits) {
  const Algorithm& algorithm = rated.algorithm;
  if (algorithm.workspace_bytes > limits.workspace_bytes) return false;
  if (algorithm.split_k > 1 && (algorithm.reduction & limits.reduction_mask) == 0) return false;
  if (limits.max_waves > 0 && rated.waves > limits.max_waves) return false;
  if (limits.only_id >= 0 && algorithm.id != limits.only_id) return false;
  const std::uint64_t flags = impl_flags(algorithm, problem);
  return (flags & limits.impl_mask) == flags;
}

/// FNV-1a over the fields that an algorithm depends on.
class Key {
 public:
  template <class T>
  Key& add(T value) {
    for (const auto byte : std::bit_cast<std::array<unsigned char, sizeof(T)>>(value)) {
      hash_ = (hash_ ^ byte) * 0x100000001B3ULL;
    }
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

std::uint64_t checksum(const cublasLtMatmulAlgo_t& algo) {
  Key key;
  for (std::size_t i = 0; i < 7; ++i) key.add(algo.data[i]);
  return key.value();
}

}  // namespace

cudaDataType_t accumulator_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

std::uint64_t impl_flags(const Algorithm& algorithm, const MatmulProblem& problem) {
  const bool tensor = algorithm.wide_loads;
  const auto type = part_type(problem.type_a);
  switch (type) {
    case CUDA_R_64F:
      return (tensor ? CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA) |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
    case CUDA_R_8I:
      return (tensor ? CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA) |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I;
    case CUDA_R_32F:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
    default:
      break;
  }
  const std::uint64_t input = type == CUDA_R_16F       ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F
                              : type == CUDA_R_16BF    ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF
                              : type == CUDA_R_8F_E4M3 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3
                                                       : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2;
  return (tensor ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA) |
         CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F | input;
}

std::array<std::uint32_t, 4> alignment_needs(const Algorithm& algorithm, const MatmulProblem& problem) {
  const std::array shapes{shape_a(problem), shape_b(problem), shape_c(problem), shape_d(problem)};
  std::array<std::uint32_t, 4> needs{};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto least = static_cast<std::uint32_t>(required_alignment(problem, shapes[i].stored_type()));
    needs[i] = algorithm.wide_loads ? std::max(16U, least) : std::max(1U, least);
  }
  return needs;
}

bool pointers_fit(const Algorithm& algorithm, const MatmulProblem& problem) {
  const auto needs = alignment_needs(algorithm, problem);
  return alignment_of_offset(problem.a_offset) >= needs[0] && alignment_of_offset(problem.b_offset) >= needs[1] &&
         alignment_of_offset(problem.c_offset) >= needs[2] && alignment_of_offset(problem.d_offset) >= needs[3];
}

float waves_of(const Algorithm& algorithm, const MatmulProblem& problem, int multiprocessors) {
  const Family* const family = family_of(algorithm);
  if (family == nullptr) return 0;
  const std::int64_t tiles = blocks(problem.m, family->tile_rows) * blocks(problem.n, family->tile_cols);
  return static_cast<float>(static_cast<double>(tiles * problem.batch_count * algorithm.split_k) / multiprocessors);
}

std::vector<RatedAlgorithm> rated_algorithms(const MatmulProblem& problem, const AlgorithmLimits& limits,
                                             int multiprocessors) {
  std::vector<RatedAlgorithm> rated;
  for (const Family& family : kFamilies) {
    for (const std::int32_t split_k : {1, 4}) {
      // Splitting k pays when the tiles leave most of the GPU idle and each part is still long.
      const bool short_k = problem.k < 64 * split_k;
      if (split_k > 1 && (!family.splits_k || short_k)) continue;
      RatedAlgorithm candidate{configured(family, split_k, problem)};
      candidate.waves = waves_of(candidate.algorithm, problem, multiprocessors);
      if (split_k > 1 && candidate.waves > static_cast<float>(split_k)) continue;
      const auto needs = alignment_needs(candidate.algorithm, problem);
      const bool declared_fit = problem.a_alignment >= needs[0] && problem.b_alignment >= needs[1] &&
                                problem.c_alignment >= needs[2] && problem.d_alignment >= needs[3];
      if (!declared_fit || !strides_fit(problem, needs) || !within(candidate, problem, limits)) continue;
      const double work = static_cast<double>(family.tile_rows) * family.tile_cols *
                          static_cast<double>(std::max<std::int64_t>(problem.k, 1)) / split_k;
      const double reduction = split_k > 1 ? 1.1 : 1.0;
      candidate.estimated_time = std::ceil(static_cast<double>(candidate.waves)) * work * reduction / family.speed;
      rated.push_back(candidate);
    }
  }
  std::stable_sort(rated.begin(), rated.end(), [](const RatedAlgorithm& left, const RatedAlgorithm& right) {
    return left.estimated_time < right.estimated_time;
  });
  return rated;
}

std::uint64_t problem_key(const MatmulProblem& problem) {
  Key key;
  key.add(problem.m).add(problem.n).add(problem.k).add(problem.batch_count);
  key.add(problem.transa).add(problem.transb).add(problem.compute_type).add(problem.scale_type);
  for (const auto& shape : {shape_a(problem), shape_b(problem), shape_c(problem), shape_d(problem)}) {
    key.add(shape.type)
        .add(shape.order)
        .add(shape.ld)
        .add(shape.plane_offset)
        .add(shape.batch_count > 1 ? shape.batch_stride : 0);
  }
  return key.value();
}

cublasLtMatmulAlgo_t encode(const Algorithm& algorithm, const MatmulProblem& problem, int library_number) {
  const auto u64 = [](auto value) { return static_cast<std::uint64_t>(value); };
  cublasLtMatmulAlgo_t algo{};
  algo.data[0] = kMagic ^ u64(library_number);
  algo.data[1] =
      u64(algorithm.id) | u64(algorithm.tile) << 16 | u64(algorithm.stages) << 32 | u64(algorithm.cluster) << 48;
  algo.data[2] = u64(algorithm.split_k) | u64(algorithm.reduction) << 16 | u64(algorithm.wide_loads) << 32;
  algo.data[3] = algorithm.workspace_bytes;
  algo.data[4] =
      u64(problem.type_a) | u64(problem.type_b) << 16 | u64(problem.type_c) << 32 | u64(problem.type_d) << 48;
  algo.data[5] = u64(problem.compute_type) | u64(problem.scale_type) << 32;
  algo.data[6] = problem_key(problem);
  algo.data[7] = checksum(algo);
  return algo;
}

std::optional<DecodedAlgorithm> decode(const cublasLtMatmulAlgo_t& algo, int library_number) {
  if (algo.data[0] != (kMagic ^ static_cast<std::uint64_t>(library_number)) || algo.data[7] != checksum(algo)) {
    return std::nullopt;
  }
  const auto field = [&](std::size_t word, int shift) { return static_cast<std::uint16_t>(algo.data[word] >> shift); };
  DecodedAlgorithm decoded;
  decoded.algorithm.id = field(1, 0);
  decoded.algorithm.tile = field(1, 16);
  decoded.algorithm.stages = field(1, 32);
  decoded.algorithm.cluster = field(1, 48);
  decoded.algorithm.split_k = field(2, 0);
  decoded.algorithm.reduction = field(2, 16);
  decoded.algorithm.wide_loads = field(2, 32) != 0;
  decoded.algorithm.workspace_bytes = algo.data[3];
  decoded.types.type_a = static_cast<cudaDataType_t>(field(4, 0));
  decoded.types.type_b = static_cast<cudaDataType_t>(field(4, 16));
  decoded.types.type_c = static_cast<cudaDataType_t>(field(4, 32));
  decoded.types.type_d = static_cast<cudaDataType_t>(field(4, 48));
  decoded.types.compute_type = static_cast<cublasComputeType_t>(field(5, 0));
  decoded.types.scale_type = static_cast<cudaDataType_t>(field(5, 32));
  decoded.problem_key = algo.data[6];
  return decoded;
}

}  // namespace lt_audit::simulator
