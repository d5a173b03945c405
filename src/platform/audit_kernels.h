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

/// What inspect counts the bytes of a region for. `scale` is every table of scale factors.
enum class RegionRole { a, b, c, d, bias, workspace, aux, scale };
inline constexpr int kRegionRoles = 8;

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

/// A, B, C, D, bias, aux, four tables of scale factors, amax and the two guard zones of the workspace (regions without
/// a matrix) at most; `count` of them are used. D shares C's region for in-place problems: then C is absent, and D's
/// content is C's values.
struct RegionSet {
  std::array<Region, 13> region;
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

/// Scale factors that differ from element to element. The value at a place of the table is the pattern's, 1 or 2 of
/// either sign: powers of two, so that every product stays exact.
struct FactorTable {
  /// Whole matrices share one factor, which is folded into alpha, beta or d_scale.
  enum class Layout {
    none,
    outer,     ///< one for each row of op(A), column of op(B)
    vec128,    ///< (row or column, k / 128)
    block128,  ///< (k / 128, row or column / 128)
  };
  Layout layout = Layout::none;
  ValuePattern pattern;
};

/// What an epilogue does to x = alpha * sum + beta * C + bias.
enum class Activation {
  none,
  relu,
  gelu,   ///< the tanh form
  drelu,  ///< x where the mask has a 1, else 0
  dgelu,  ///< x times the derivative of gelu at aux
};

/// What the matrix aux is for.
enum class AuxUse { none, mask_out, mask_in, values_out, values_in };

/// What a bias gradient sums: D over its columns, op(A) over k, op(B) over k.
enum class GradientOf { none, d, a, b };

/// Everything that decides D and what is written beside it, for the comparison element by element:
/// D = d_scale * activation(alpha * sum + beta * c + bias).
struct CompareSpec {
  std::int64_t m = 0, n = 0, k = 0;
  std::int32_t batch_count = 1;
  ValuePattern a, b, c, bias, aux;
  /// Batch strides of 0: all batches see the values of batch 0.
  bool a_broadcast = false, b_broadcast = false, c_broadcast = false, bias_broadcast = true;
  /// Complex elements: the pattern's value v stands for v + i * imaginary_of(v).
  bool is_complex = false;
  bool conjugate_a = false, conjugate_b = false;
  FactorTable scale_a, scale_b;
  double alpha = 1, beta = 0, d_scale = 1;
  /// Of complex factors.
  double alpha_imaginary = 0, beta_imaginary = 0;
  bool has_bias = false;
  Activation activation = Activation::none;
  /// D in memory. Of a planar D the shape has the type of its parts.
  const void* d = nullptr;
  MatrixShape d_shape;
  /// What an element of D held before: the poison byte, or C's value when in_place.
  std::uint8_t poison = 0xFF;
  bool in_place = false;
  AuxUse aux_use = AuxUse::none;
  /// A mask has bit row % 8 of byte row / 8 of a column for an element: its shape is in bytes.
  const void* aux_memory = nullptr;
  MatrixShape aux_shape;
  GradientOf gradient = GradientOf::none;
  /// One element for each row (of B: column) of D, batches `gradient_shape.batch_stride` apart.
  const void* gradient_memory = nullptr;
  MatrixShape gradient_shape;
  /// One float: the largest magnitude of D before d_scale. Null when it is not asked for.
  const void* amax_memory = nullptr;
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
  /// Of a complex element the number that is wrong. Written by the thread that owns first_wrong in a second pass of
  /// compare.
  double first_expected = 0;
  double first_actual = 0;
  /// Bytes inside the elements of the inputs, by role; entries of products for freivalds.
  unsigned long long changed[kRegionRoles] = {};
  unsigned long long guard_before[kRegionRoles] = {};  ///< bytes changed in front of the data, by role
  unsigned long long guard_behind[kRegionRoles] = {};  ///< bytes changed behind the data, by role
  unsigned long long reach_behind[kRegionRoles] = {};  ///< one past the last of them, from the end of the data
  /// Bytes changed in the padding between columns and batches, by role.
  unsigned long long padding[kRegionRoles] = {};
  unsigned long long aux_compared = 0;
  unsigned long long aux_wrong = 0;
  unsigned long long gradient_compared = 0;
  unsigned long long gradient_wrong = 0;
  /// Bits of the largest magnitude as a double: they sort as their values do.
  unsigned long long amax_expected = 0;
  double amax_actual = 0;
  /// Rows of the Freivalds check that disagree.
  unsigned long long rows_disagree = 0;
};

}  // namespace lt_audit
