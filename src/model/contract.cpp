// The documented contract as data. Sources: cuBLAS documentation 13.2 ("cublasLtMatmul()", tables of supported types;
// "Tensor Core Usage"), cublasLt.h 13.1.0, CUDA release notes 11.8 to 13.4. "doc" in the rules is the first of them.
#include "lt_audit/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>

#include "model/contract_parts.h"

namespace lt_audit {
namespace {

/// One row of the tables of supported types, A = B and C = D.
struct TypeRow {
  std::span<const cublasComputeType_t> compute;
  cudaDataType_t scale;
  cudaDataType_t ab;
  cudaDataType_t cd;
};

constexpr std::array kCompute16F{CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC};
constexpr std::array kCompute32F{CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC};
constexpr std::array kPlain32F{CUBLAS_COMPUTE_32F};
constexpr std::array kComputeFast{CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF,
                                  CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_EMULATED_16BFX9};
constexpr std::array kCompute64F{CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC,
                                 CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT};
constexpr std::array kCompute32I{CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC};

constexpr std::array<TypeRow, 15> kTypeRows{{
    {kCompute16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {kCompute32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
    {kCompute32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I},
    {kCompute32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {kCompute32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {kCompute32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_32F},
    {kCompute32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {kCompute32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {kCompute32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {kComputeFast, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {kCompute64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {kCompute32F, CUDA_C_32F, CUDA_C_8I, CUDA_C_32F},
    {kCompute32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {kComputeFast, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {kCompute64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
}};

/// The table for four planar matrices.
constexpr std::array<TypeRow, 4> kPlanarRows{{
    {kPlain32F, CUDA_C_32F, CUDA_C_16F, CUDA_C_16F},
    {kPlain32F, CUDA_C_32F, CUDA_C_16F, CUDA_C_32F},
    {kPlain32F, CUDA_C_32F, CUDA_C_16BF, CUDA_C_16BF},
    {kPlain32F, CUDA_C_32F, CUDA_C_16BF, CUDA_C_32F},
}};

constexpr std::string_view kTable = "cuBLAS 13.2 documentation, cublasLtMatmul, tables of supported types";

Promise works(std::string rule_id, std::string rule) {
  return {Expectation::must_work, RefusedBy::nothing, CUBLAS_STATUS_SUCCESS, std::move(rule_id), std::move(rule)};
}
Promise unlisted(const MatmulProblem& p, std::string_view why) {
  const auto name = [](cudaDataType_t type, std::int64_t plane) {
    return (plane == 0 ? "" : "planar ") + name_of(type);
  };
  return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "types-unlisted",
                 fmt::format("compute type {}, scale type {}, A {}, B {}, C {}, D {} {} ({})", name_of(p.compute_type),
                             name_of(p.scale_type), name(p.type_a, p.plane_a), name(p.type_b, p.plane_b),
                             name(p.type_c, p.plane_c), name(p.type_d, p.plane_d), why, kTable));
}

/// No row is for matrices of which some are planar.
std::span<const TypeRow> rows_for(const MatmulProblem& p) {
  const std::array planes{p.plane_a, p.plane_b, p.plane_c, p.plane_d};
  const auto interleaved = std::count(planes.begin(), planes.end(), 0);
  if (interleaved == 4) return kTypeRows;
  return interleaved == 0 ? std::span<const TypeRow>(kPlanarRows) : std::span<const TypeRow>();
}

bool contains(std::span<const cublasComputeType_t> list, cublasComputeType_t type) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

/// FP8 table: C decides which D are allowed; an FP8 D only beside a 16-bit C; E5M2 x E5M2 is in no row, and E4M3 x E4M3
/// gives no E5M2.
Promise promise_of_fp8_types(const MatmulProblem& p, const ContractScope& scope) {
  const bool both_fp8 = is_fp8(p.type_a) && is_fp8(p.type_b);
  const bool both_e5m2 = p.type_a == CUDA_R_8F_E5M2 && p.type_b == CUDA_R_8F_E5M2;
  const bool both_e4m3 = p.type_a == CUDA_R_8F_E4M3 && p.type_b == CUDA_R_8F_E4M3;
  const bool c_is_16_bit = p.type_c == CUDA_R_16F || p.type_c == CUDA_R_16BF;
  const bool d_allowed = p.type_d == p.type_c ||
                         (c_is_16_bit && (p.type_d == CUDA_R_8F_E4M3 || (p.type_d == CUDA_R_8F_E5M2 && !both_e4m3)));
  if (!both_fp8 || both_e5m2 || p.compute_type != CUBLAS_COMPUTE_32F || p.scale_type != CUDA_R_32F ||
      (!c_is_16_bit && p.type_c != CUDA_R_32F) || !d_allowed) {
    return unlisted(p, "stand in no row");
  }
  const int since = scope.compute_capability == 89 ? 120103 : 110800;
  if (scope.compute_capability < 89 || scope.library_number < since) {
    return refuses(
        Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "types-not-on-this-gpu",
        "FP8 needs compute capability 8.9 (cuBLAS 12.1.3) or 9.0 (cuBLAS 11.8) and later (release notes 11.8 "
        "and 12.9.1)");
  }
  return works("fp8-types", fmt::format("FP8 table ({})", kTable));
}

/// Emulated compute types exist on some GPUs only.
std::optional<Promise> refuse_emulation(const MatmulProblem& p, const ContractScope& scope) {
  const int cc = scope.compute_capability;
  if (p.compute_type == CUBLAS_COMPUTE_32F_EMULATED_16BFX9 && (cc != 100 && cc != 103)) {
    return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED,
                   "emulation-not-on-this-gpu",
                   "BF16x9 emulation is offered on compute capability 10.0 and 10.3 (cuBLAS 13.2 documentation, "
                   "Floating Point Emulation)");
  }
  if (p.compute_type == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT && (cc < 80 || scope.library_number < 130100)) {
    return refuses(
        Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "emulation-not-on-this-gpu",
        "fixed-point FP64 emulation is offered on compute capability 8.x and later since cuBLAS 13.1.0 (cuBLAS "
        "13.2 documentation, Floating Point Emulation)");
  }
  return std::nullopt;
}

bool is_tn(const MatmulProblem& p) { return p.transa == CUBLAS_OP_T && p.transb == CUBLAS_OP_N; }

bool all_col(const MatmulProblem& p) {
  return p.order_a == CUBLASLT_ORDER_COL && p.order_b == CUBLASLT_ORDER_COL && p.order_c == CUBLASLT_ORDER_COL &&
         p.order_d == CUBLASLT_ORDER_COL;
}
bool all_row(const MatmulProblem& p) {
  return p.order_a == CUBLASLT_ORDER_ROW && p.order_b == CUBLASLT_ORDER_ROW && p.order_c == CUBLASLT_ORDER_ROW &&
         p.order_d == CUBLASLT_ORDER_ROW;
}

std::int64_t bytes(std::int64_t elements, cudaDataType_t type) {
  return elements * static_cast<std::int64_t>(bytes_of(type));
}

std::optional<Promise> refuse_shape(const MatmulProblem& p) {
  if (p.m <= 0 || p.n <= 0) {
    return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, "zero-dimension",
                   "m and n of 0 are documented nowhere");
  }
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  if (p.m > kLargest || p.n > kLargest || p.k > kLargest) {
    return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "dimension-above-int32",
                   "usually only numbers of rows and columns that an int32 can express are supported (cublasLt.h "
                   "13.1.0, CUBLASLT_MATRIX_LAYOUT_ROWS and _COLS, lines 1121-1135)");
  }
  const std::array shapes{shape_a(p), shape_b(p), shape_c(p), shape_d(p)};
  for (const auto& s : shapes) {
    const bool by_row = s.order == CUBLASLT_ORDER_ROW;
    const std::int64_t inner = by_row ? s.cols : s.rows;
    if (s.ld < inner) {
      if ((by_row ? s.rows : s.cols) <= 1) {
        return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, "ld-of-one-line",
                       "a single column (order col) or row (order row) overlaps with nothing, whatever its leading "
                       "dimension; the header asks for no overlap and gives rows as the example (cublasLt.h 13.1.0, "
                       "CUBLASLT_MATRIX_LAYOUT_LD, lines 1137-1143)");
      }
      return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, "ld-below-rows",
                     "a leading dimension below the rows (order col) or columns (order row) makes columns overlap "
                     "(cublasLt.h 13.1.0, CUBLASLT_MATRIX_LAYOUT_LD, line 1142)");
    }
  }
  if (std::any_of(shapes.begin(), shapes.end(), [](const MatrixShape& s) { return s.ld > kLargest; })) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "ld-above-int32",
                   "a leading dimension is an int64 without a documented limit (cublasLt.h 13.1.0, "
                   "CUBLASLT_MATRIX_LAYOUT_LD, lines 1137-1145); 13.1.0 says that it must not exceed 2147483647");
  }
  if (p.k == 0) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "k-of-zero",
                   "D = alpha A B + beta C with an empty sum is beta C; that k may be 0 is said only by a release note "
                   "that mends it (4614629, release notes 12.6)");
  }
  return std::nullopt;
}

/// The 16-byte rule that is optional for other types and mandatory for FP8 (doc, Tensor Core Usage, last paragraph).
std::optional<Promise> refuse_fp8(const MatmulProblem& p, const ContractScope& scope) {
  if (!is_fp8(p.type_a)) return std::nullopt;
  const bool needs_tn = scope.compute_capability / 10 != 10 && scope.compute_capability != 110;
  if ((needs_tn && !is_tn(p)) || !all_col(p)) {
    return refuses(needs_tn && all_col(p) ? Expectation::must_refuse : Expectation::may_refuse, RefusedBy::heuristic,
                   CUBLAS_STATUS_NOT_SUPPORTED, "fp8-needs-tn",
                   "FP8 runs only as TN on compute capability 8.9, 9.0 and 12.x (cuBLAS 13.2 documentation, "
                   "cublasLtMatmul, FP8 requirements)");
  }
  const auto a = shape_a(p), b = shape_b(p), c = shape_c(p), d = shape_d(p);
  if (p.k % 16 != 0 || bytes(p.m, p.type_c) % 16 != 0 || bytes(a.ld, a.type) % 16 != 0 ||
      bytes(b.ld, b.type) % 16 != 0 || bytes(c.ld, c.type) % 16 != 0 || bytes(d.ld, d.type) % 16 != 0 ||
      (p.batch_count > 1 && (bytes(a.batch_stride, a.type) % 16 != 0 || bytes(b.batch_stride, b.type) % 16 != 0 ||
                             bytes(c.batch_stride, c.type) % 16 != 0 || bytes(d.batch_stride, d.type) % 16 != 0))) {
    return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "fp8-16-byte-rule",
                   "for FP8, k, m * sizeof(C) and every leading dimension are multiples of 16 bytes (cuBLAS 13.2 "
                   "documentation, Tensor Core Usage and cublasLtMatmul)");
  }
  return std::nullopt;
}

/// Regular INT8 (IMMA) kernels: TN, multiples of 4. Their tables have COMPUTE_32I alone; whether INT8 into FP32 keeps
/// to the same rules is documented nowhere.
std::optional<Promise> refuse_int8(const MatmulProblem& p, const ContractScope& scope) {
  if (p.type_a != CUDA_R_8I) return std::nullopt;
  const bool imma = contains(kCompute32I, p.compute_type);
  if (!is_tn(p)) {
    return refuses(Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "int8-needs-tn",
                   "INT8 in regular order runs as TN (cuBLAS 13.2 documentation, cublasLtMatmul, IMMA kernels)");
  }
  const auto a = shape_a(p), b = shape_b(p), c = shape_c(p), d = shape_d(p);
  const auto odd = [](std::int64_t value) { return value % 4 != 0; };
  const bool odd_stride =
      p.batch_count > 1 && (odd(a.batch_stride) || odd(b.batch_stride) || odd(c.batch_stride) || odd(d.batch_stride));
  if (odd(p.m) || odd(p.k) || odd(a.ld) || odd(b.ld) || odd(c.ld) || odd(d.ld) || odd_stride) {
    return refuses(imma ? Expectation::must_refuse : Expectation::may_refuse, RefusedBy::heuristic,
                   CUBLAS_STATUS_NOT_SUPPORTED, "int8-multiples-of-4",
                   "for INT8 under COMPUTE_32I, m, k and every leading dimension are multiples of 4 (cuBLAS 13.2 "
                   "documentation, cublasLtMatmul, IMMA kernels)");
  }
  if (p.scale_type == CUDA_R_32I) {
    if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
      return refuses(
          Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "int8-default-epilogue",
          "INT8 with scale type R_32I has only the default epilogue (cuBLAS 13.2 documentation, cublasLtMatmul)");
    }
    const auto plain = [](double value) { return value == 0 || value == 1; };
    if (!plain(p.alpha) || !plain(p.beta)) {
      // Nobody reads device memory to refuse a call.
      const bool enforced = scope.library_number >= 130002 && p.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
      return refuses(enforced ? Expectation::must_refuse : Expectation::may_refuse,
                     enforced ? RefusedBy::matmul : RefusedBy::nothing, CUBLAS_STATUS_INVALID_VALUE, "int8-alpha-beta",
                     "with scale type R_32I, alpha and beta are 0 or 1, enforced for scalars in host memory since CUDA "
                     "13.0 Update 1 (cuBLAS 13.2 documentation, cublasLtMatmul; CUB-8873)");
    }
  }
  return std::nullopt;
}

/// Conjugates of complex matrices.
std::optional<Promise> refuse_conjugate(const MatmulProblem& p) {
  const bool conjugate = p.transa == CUBLAS_OP_C || p.transb == CUBLAS_OP_C;
  if (!is_complex(p.type_a) || !conjugate || all_col(p) || all_row(p)) {
    return std::nullopt;
  }
  return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "conjugate-row-order",
                 "order row goes with CUBLAS_OP_C only where A, B, C and D are all in order row (cuBLAS 13.2 "
                 "documentation, cublasLtMatmul, footnote 7)");
}

/// C and D in the same memory.
std::optional<Promise> refuse_in_place(const MatmulProblem& p, const ContractScope& scope) {
  const bool equal = shape_c(p).ld == shape_d(p).ld && p.type_c == p.type_d && p.order_c == p.order_d &&
                     shape_c(p).batch_stride == shape_d(p).batch_stride &&
                     shape_c(p).plane_offset == shape_d(p).plane_offset;
  if (!p.in_place || equal) return std::nullopt;
  const bool enforced = scope.library_number >= 130100;
  return refuses(enforced ? Expectation::must_refuse : Expectation::may_refuse, RefusedBy::matmul,
                 CUBLAS_STATUS_INVALID_VALUE, "in-place-layouts-differ",
                 "C and D in the same memory need equal layouts (cuBLAS 13.2 documentation, cublasLtMatmul), enforced "
                 "since cuBLAS 13.1.0 (release notes 13.0 Update 2)");
}

std::optional<Promise> refuse_workspace(const MatmulProblem& p, const ContractScope& scope) {
  if (p.workspace_offset % 256 == 0) return std::nullopt;
  const bool enforced = scope.library_number >= 120901;
  return refuses(enforced ? Expectation::must_refuse : Expectation::may_refuse, RefusedBy::matmul,
                 CUBLAS_STATUS_INVALID_VALUE, "workspace-256-bytes",
                 "the workspace must be aligned to 256 bytes, enforced since cuBLAS 12.9.1 (cuBLAS 13.2 documentation, "
                 "cublasLtMatmul; release notes 12.9.1)");
}

struct Pointer {
  const char* name;
  MatrixShape shape;
  std::int64_t offset;
  std::uint32_t declared;
};

/// Declared and real alignment of the four matrices.
std::optional<Promise> refuse_pointers(const MatmulProblem& p) {
  const std::array<Pointer, 4> pointers{{{"A", shape_a(p), p.a_offset, p.a_alignment},
                                         {"B", shape_b(p), p.b_offset, p.b_alignment},
                                         {"C", shape_c(p), p.c_offset, p.c_alignment},
                                         {"D", shape_d(p), p.d_offset, p.d_alignment}}};
  const std::string rule_of_type =
      is_fp8(p.type_a) ? "FP8 needs pointers of 16 bytes" : "INT8 needs pointers of 4 bytes";
  for (const auto& pointer : pointers) {
    const auto needed = required_alignment(p, pointer.shape.stored_type());
    const auto real = alignment_of_offset(pointer.offset);
    const bool declared_too_little = pointer.declared < needed;
    if (declared_too_little || real < needed) {
      return refuses(Expectation::must_refuse, declared_too_little ? RefusedBy::heuristic : RefusedBy::matmul,
                     CUBLAS_STATUS_NOT_SUPPORTED, "pointer-below-the-type",
                     fmt::format("{}, and {} has {} (cuBLAS 13.2 documentation, cublasLtMatmul)", rule_of_type,
                                 pointer.name, real));
    }
  }
  if (is_fp8(p.type_a) && has_bias(p.epilogue) && alignment_of_offset(p.bias_offset) < 16) {
    return refuses(
        Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, "fp8-bias-below-16",
        "the 16-byte rule of FP8 speaks of pointers and does not say whether the bias is one of them (cuBLAS "
        "13.2 documentation, cublasLtMatmul, FP8 requirements)");
  }
  for (const auto& pointer : pointers) {
    const auto real = alignment_of_offset(pointer.offset);
    if (real >= pointer.declared) continue;
    // Which algorithms need more than the element size is not documented; 16 bytes is what tensor core kernels load.
    const bool may_matter = real < 16 && pointer.declared >= 16;
    return refuses(
        Expectation::may_refuse, may_matter ? RefusedBy::matmul : RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED,
        "pointer-below-promise",
        fmt::format("{} is promised to be aligned to {} bytes and is aligned to {}: an algorithm may rely on the "
                    "promise (cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_{}_BYTES, lines 2099-2133)",
                    pointer.name, pointer.declared, real, pointer.name));
  }
  for (const auto& pointer : pointers) {
    const auto real = alignment_of_offset(pointer.offset + pointer.shape.plane_offset);
    if (!pointer.shape.is_planar() || real >= std::min(16U, pointer.declared)) continue;
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "plane-below-16",
                   fmt::format("which alignment the imaginary parts of {} need is documented nowhere (cublasLt.h "
                               "13.1.0, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, lines 1173-1178)",
                               pointer.name));
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t alignment_of_offset(std::int64_t offset) {
  if (offset == 0) return 256;
  const auto low = std::countr_zero(static_cast<std::uint64_t>(offset));
  return low >= 8 ? 256U : 1U << low;
}

std::int64_t required_alignment(const MatmulProblem& p, cudaDataType_t type) {
  if (is_fp8(p.type_a) || is_fp8(p.type_b)) return 16;
  if (p.type_a == CUDA_R_8I || p.type_b == CUDA_R_8I) return std::max<std::int64_t>(4, bytes(1, type));
  return bytes(1, type);
}

Promise promise_of_types(const MatmulProblem& p, const ContractScope& scope) {
  if (is_fp8(p.type_a) || is_fp8(p.type_b)) return promise_of_fp8_types(p, scope);
  for (const auto& row : rows_for(p)) {
    if (contains(row.compute, p.compute_type) && row.scale == p.scale_type && row.ab == p.type_a &&
        row.ab == p.type_b && row.cd == p.type_c && row.cd == p.type_d) {
      if (auto refusal = refuse_emulation(p, scope)) return *refusal;
      return works("types-listed", fmt::format("listed row {} / {}: A, B {}, C, D {}{} ({})", name_of(p.compute_type),
                                               name_of(row.scale), name_of(row.ab), name_of(row.cd),
                                               p.plane_a == 0 ? "" : ", planar", kTable));
    }
  }
  return unlisted(p, "stand in no row");
}

Promise promise_of_imma_order(cublasLtOrder_t order_b, const ContractScope& scope) {
  const int cc = scope.compute_capability;
  const bool turing = cc == 75, ampere = cc == 80;
  const bool listed =
      order_b == CUBLASLT_ORDER_COL4_4R2_8C ? turing || ampere : order_b == CUBLASLT_ORDER_COL32_2R_4R4 && ampere;
  constexpr std::string_view kSource =
      "cuBLAS 13.2 documentation, cublasLtMatmul, IMMA kernels; cublasLt.h 13.1.0, cublasLtOrder_t, lines 1069-1088";
  if (listed) return works("imma-order-listed", fmt::format("COL32 with this order of B ({})", kSource));
  return refuses(
      cc >= 90 ? Expectation::must_refuse : Expectation::may_refuse, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED,
      "imma-order-not-on-this-gpu",
      fmt::format("the orders COL32, COL4_4R2_8C and COL32_2R_4R4 are for compute capability 7.5 and 8.0, the "
                  "last for 8.0 alone, and not for 9.0 and later ({})",
                  kSource));
}

Promise promise_of(const MatmulProblem& p, const ContractScope& scope) {
  Promise types = promise_of_types(p, scope);
  if (types.refused_by != RefusedBy::nothing) return types;
  const auto refusal =
      first_that_refuses({refuse_shape(p), refuse_batch(p, scope), refuse_fp8(p, scope), refuse_int8(p, scope),
                          refuse_conjugate(p), refuse_epilogue(p), refuse_scales(p, scope), refuse_in_place(p, scope),
                          refuse_workspace(p, scope), refuse_pointers(p)});
  return refusal.value_or(types);
}

}  // namespace lt_audit
