// The audit's own kernels as plain requests: what to write, what must still be there, what D must hold. The GPU and the
// simulator run the same arithmetic (audit_math.h), the GPU in kernels.cu, the simulator in host_kernels.cpp.
//
// Values are integers by construction (design, "inputs are exact"), so sums are formed in int64 and D's conversion is
// the only rounding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"

namespace lt_audit {

/// Which integers a matrix holds. The value at op-position (row, col) of batch b is hashed from (seed, row, col, b):
/// magnitude 1 .. amplitude, either sign, never 0. Sparse patterns (B) hold one such value per block of `sparse_block`
/// consecutive positions along k, at a hashed place, and 0 elsewhere: sums stay exact for any k, and every k position
/// is used by some column.
struct ValuePattern {
  std::uint64_t seed = 0;
  std::int32_t amplitude = 1;
  /// 1 = dense. For B the block runs along its rows (k), for the others it must be 1.
  std::int64_t sparse_block = 1;
  /// The memory holds op(X) transposed: op-position (r, c) lies at memory (c, r).
  bool transposed = false;
};

/// What prepare writes into one guarded region.
enum class RegionContent {
  values,  ///< the pattern in the matrix elements, poison elsewhere
  poison,  ///< poison everywhere
};

/// What inspect counts the bytes of a region for.
enum class RegionRole { a, b, c, d, bias, workspace };

/// One buffer with its guard zones: [guard][matrix with its padding][guard]. `begin` is 256-byte aligned.
struct Region {
  RegionRole role = RegionRole::a;
  RegionContent content = RegionContent::values;
  void* begin = nullptr;
  std::size_t bytes = 0;
  /// Where the matrix starts: a multiple of the element size.
  std::size_t data_offset = 0;
  /// For the workspace: type i8, rows = bytes, one column.
  MatrixShape shape;
  ValuePattern pattern;
  /// The byte written outside of values. Chosen so that an element of it is no possible result (NaN for floating types,
  /// far outside the range of results for i8 and i32).
  std::uint8_t poison = 0xFF;
  /// Large inputs: inspect looks at padding and guard zones only, and the product check notices changed elements.
  bool inside_is_free = false;

  void* data() const { return static_cast<std::byte*>(begin) + data_offset; }
};

/// A, B, C, D, bias and the two guard zones of the workspace (regions without a matrix) at most; `count` of them are
/// used. D shares C's region for in-place problems: then C is absent, and D's content is C's values.
struct RegionSet {
  std::array<Region, 8> region;
  int count = 0;
};

struct PrepareSpec {
  RegionSet regions;
};

/// Elements of D are skipped (compare reads them); everything else of all regions must be as prepared: values, padding
/// and guard zones. The inside of the workspace may change; its guard zones may not.

struct InspectSpec {
  RegionSet regions;
};

/// Everything that decides D, for the element by element comparison: D = f(alpha * sum + beta * c + bias).
struct CompareSpec {
  std::int64_t m = 0, n = 0, k = 0;
  std::int32_t batch_count = 1;
  ValuePattern a, b, c, bias;
  /// Batch strides of 0: all batches see the values of batch 0.
  bool a_broadcast = false, b_broadcast = false, c_broadcast = false;
  double alpha = 1, beta = 0;
  bool has_bias = false;
  bool has_relu = false;
  /// D in memory.
  const void* d = nullptr;
  MatrixShape d_shape;
  /// What an element of D held before: the poison byte, or C's value when in_place.
  std::uint8_t poison = 0xFF;
  bool in_place = false;
};

/// Freivalds' check of D = alpha op(A) op(B) + beta C (+ bias) from the matrices in memory. Needs results that D's type
/// holds exactly, no ReLU, one batch. `vectors` random integer vectors with 32-bit entries: miss probability 2^-32
/// each. Run twice with the same scratch: before the call it multiplies the inputs, after it everything; inputs whose
/// products differ have changed. So each matrix is read once after the call.
struct ProductSpec {
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  const void* d = nullptr;
  const void* bias = nullptr;
  MatrixShape a_shape, b_shape, c_shape, d_shape;
  cudaDataType_t bias_type = CUDA_R_32F;
  bool transa = false, transb = false;
  double alpha = 1, beta = 0;
  std::uint64_t seed = 0;
  /// 1 or 2.
  int vectors = 2;
  bool before_call = false;
  /// Device memory of product_scratch_bytes().
  void* scratch = nullptr;
};

/// Bytes of scratch that freivalds needs.
std::size_t product_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int vectors);

/// Raw counters in device memory, zeroed by the engine before the kernels run and copied back once. Plain data: kernels
/// add to it atomically. `first_wrong` is the smallest batch * m * n + col * m + row among the wrong elements.
struct VerificationRecord {
  unsigned long long compared = 0;
  unsigned long long wrong = 0;
  unsigned long long unwritten = 0;
  unsigned long long expected_nonzero = 0;
  unsigned long long first_wrong = ~0ULL;
  /// Bits of the doubles, written by the thread that owns first_wrong in a second pass of compare.
  double first_expected = 0;
  double first_actual = 0;
  unsigned long long changed[6] =
      {};  ///< bytes inside the elements of A, B, C, bias; entries of products for freivalds
  unsigned long long guard_before[6] = {};  ///< bytes changed in front of the data, by role
  unsigned long long guard_behind[6] = {};  ///< bytes changed behind the data, by role
  unsigned long long reach_behind[6] = {};  ///< one past the last of them, from the end of the data
  unsigned long long padding[6] = {};       ///< bytes changed in the padding between columns and batches, by role
  /// Rows of the Freivalds check that disagree.
  unsigned long long rows_disagree = 0;
};

}  // namespace lt_audit
