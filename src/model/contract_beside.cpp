// The contract of what goes with a product: epilogue, bias, aux, scale factors, amax. Sources as in contract.cpp.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "model/contract_parts.h"

namespace lt_audit {
namespace {

using Mode = cublasLtMatmulMatrixScale_t;

constexpr Mode kScalar = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
constexpr Mode kOuter = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
constexpr Mode kVec128 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
constexpr Mode kBlock128 = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;

Promise not_supported(Expectation expectation, std::string rule_id, std::string rule) {
  return refuses(expectation, RefusedBy::heuristic, CUBLAS_STATUS_NOT_SUPPORTED, std::move(rule_id), std::move(rule));
}
Promise invalid(std::string rule_id, std::string rule) {
  return refuses(Expectation::must_refuse, RefusedBy::heuristic, CUBLAS_STATUS_INVALID_VALUE, std::move(rule_id),
                 std::move(rule));
}

std::optional<Promise> refuse_aux(const MatmulProblem& p) {
  if (!has_aux(p.epilogue)) return std::nullopt;
  const bool mask = has_aux_mask(p.epilogue);
  const std::int64_t multiple = mask ? 128 : 8;
  const auto bad = [multiple](std::int64_t value) { return value > 0 && value % multiple != 0; };
  if (bad(p.ldaux) || (p.ldaux > 0 && p.ldaux < p.m) || (p.batch_count > 1 && bad(p.stride_aux))) {
    return invalid(mask ? "aux-ld-128" : "aux-ld-8",
                   fmt::format("the leading dimension and batch stride of {} are multiples of {} and at least the rows "
                               "of D (cublasLt.h 13.1.0, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, lines 1374-1400)",
                               mask ? "a ReLU mask" : "a GELU aux matrix", multiple));
  }
  if (mask && p.type_aux) {
    return not_supported(Expectation::may_refuse, "aux-type-of-mask",
                         "a ReLU mask has no type: setting one is refused since CUDA 13.0 (release notes 13.0)");
  }
  MatmulProblem usual = p;
  usual.type_aux.reset();
  if (!mask && p.type_aux && *p.type_aux != aux_type(usual)) {
    return not_supported(Expectation::may_refuse, "aux-type",
                         "an aux type other than D's is documented for a few FP8 combinations only (cuBLAS 13.2 "
                         "documentation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE)");
  }
  if (alignment_of_offset(p.aux_offset) < 16) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "aux-pointer-below-16",
                   "the heuristic takes the alignment of aux from its pointer, and which alignment an algorithm needs "
                   "is documented nowhere (cublasLt.h 13.1.0, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, lines "
                   "1350-1372)");
  }
  return std::nullopt;
}

/// Types for which an epilogue is documented nowhere, or in two ways.
std::optional<Promise> refuse_epilogue_types(const MatmulProblem& p) {
  if (is_complex(p.type_a)) {
    return not_supported(Expectation::must_refuse, "epilogue-complex",
                         "complex types support no epilogue (cuBLAS 13.2 documentation, cublasLtMatmul)");
  }
  if (p.type_a == CUDA_R_8I && p.type_d == CUDA_R_32F) {
    return not_supported(Expectation::must_refuse, "int8-default-epilogue",
                         "INT8 into FP32 supports no epilogue (cuBLAS 13.2 documentation, cublasLtMatmul)");
  }
  if (p.type_d == CUDA_R_8I) {
    return refuses(
        Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "int8-epilogue-conflict",
        "for INT8 output with scale type R_32F one table of the documentation lists a bias type, another says "
        "that no epilogue is supported (cuBLAS 13.2 documentation; CUB-10067)");
  }
  const bool of_b = p.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  const bool of_a = p.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  const bool other_way = (of_a && p.transa != CUBLAS_OP_N) || (of_b && p.transb == CUBLAS_OP_N);
  if (other_way || ((of_a || of_b) && is_fp8(p.type_a))) {
    return not_supported(
        Expectation::may_refuse, "epilogue-operand-gradient",
        "for which types and transposes bgrada and bgradb work is documented nowhere; 13.1.0 says that it has no FP8, "
        "and that bgrada works only with A not transposed and bgradb only with B transposed");
  }
  if (is_fp8(p.type_a) && has_aux(p.epilogue)) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "epilogue-fp8-aux",
                   "which aux epilogues work for FP8 is documented for one combination of types only (cuBLAS 13.2 "
                   "documentation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE)");
  }
  return std::nullopt;
}

/// A type of the bias other than the one that the tables pair with the product.
std::optional<Promise> refuse_bias_type(const MatmulProblem& p) {
  if (!p.type_bias || (!has_bias(p.epilogue) && !has_bias_gradient(p.epilogue))) return std::nullopt;
  MatmulProblem usual = p;
  usual.type_bias.reset();
  if (*p.type_bias == bias_type(usual)) return std::nullopt;
  return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "bias-type",
                 fmt::format("the tables of supported types pair these matrices with a bias of {} (cuBLAS 13.2 "
                             "documentation, cublasLtMatmul)",
                             name_of(bias_type(usual))));
}

bool is_narrow(const MatmulProblem& p) { return is_fp8(p.type_a) && is_fp8(p.type_b); }

/// Tables of factors: one GPU architecture, certain pairs.
std::optional<Promise> refuse_scale_tables(const MatmulProblem& p, const ContractScope& scope) {
  const Mode a = p.scale_a.value_or(kScalar);
  const Mode b = p.scale_b.value_or(kScalar);
  if (a == kScalar && b == kScalar) return std::nullopt;
  constexpr std::array kPairs{std::pair{kOuter, kOuter}, std::pair{kVec128, kVec128}, std::pair{kVec128, kBlock128},
                              std::pair{kBlock128, kVec128}};
  bool listed = false;
  for (const auto& pair : kPairs) listed = listed || pair == std::pair{a, b};
  const bool here = scope.compute_capability == 90 && scope.library_number >= 120900;
  if (!listed || !here) {
    return not_supported(Expectation::may_refuse, "scale-modes",
                         fmt::format("scale modes {} and {}: compute capability 9.0 has outer_vec for both, vec128 for "
                                     "both, and vec128 with blk128x128, since cuBLAS 12.9 (cuBLAS 13.2 documentation, "
                                     "Narrow Precision Data Types Usage)",
                                     name_of(a), name_of(b)));
  }
  if (is_fp8(p.type_d) || p.scale_d) {
    return not_supported(Expectation::must_refuse, "scale-modes-of-d",
                         "an FP8 D and a scale of D do not go with vectors and blocks of scale factors (cuBLAS 13.2 "
                         "documentation, cublasLtMatmul, footnote 8)");
  }
  // The rows of a table of vectors lie one behind another; a table of blocks has its own padding.
  if ((a == kVec128 && p.m % 4 != 0) || (b == kVec128 && p.n % 4 != 0)) {
    return not_supported(
        Expectation::must_refuse, "scale-multiples-of-4",
        "with a scale factor for each 128 elements of A's rows m is a multiple of 4, with one for those "
        "of B's columns n (cuBLAS 13.2 documentation, Narrow Precision Data Types Usage)");
  }
  if (a != kOuter && p.fast_accum) {
    return not_supported(Expectation::may_refuse, "scale-modes-fast-accumulation",
                         "whether fast accumulation goes with scale factors for 128 elements is documented nowhere "
                         "(cublasLt.h 13.1.0, CUBLASLT_MATMUL_DESC_FAST_ACCUM, lines 1527-1533)");
  }
  if (a != kOuter && (p.scale_a_offset % 16 != 0 || p.scale_b_offset % 16 != 0)) {
    return refuses(Expectation::must_refuse, RefusedBy::matmul, CUBLAS_STATUS_NOT_SUPPORTED, "scale-16-bytes",
                   "tables of scale factors for 128 elements start on a 16-byte boundary (cuBLAS 13.2 "
                   "documentation, Narrow Precision Data Types Usage)");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Promise> first_that_refuses(std::initializer_list<std::optional<Promise>> refusals) {
  std::optional<Promise> open;
  for (const auto& refusal : refusals) {
    if (refusal && refusal->refused_by != RefusedBy::nothing) return refusal;
    if (!open) open = refusal;
  }
  return open;
}

std::optional<Promise> refuse_epilogue(const MatmulProblem& p) {
  if (p.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return std::nullopt;
  const bool vector = has_bias(p.epilogue) || has_bias_gradient(p.epilogue);
  if (vector && p.order_d == CUBLASLT_ORDER_ROW) {
    return not_supported(
        Expectation::must_refuse, "bias-row-order",
        "a bias epilogue does not take D in order row (cuBLAS 13.2 documentation, cublasLtMatmul, footnote 6)");
  }
  return first_that_refuses({refuse_epilogue_types(p), refuse_aux(p), refuse_bias_type(p)});
}

std::optional<Promise> refuse_scales(const MatmulProblem& p, const ContractScope& scope) {
  const bool any = p.scale_a || p.scale_b || p.scale_d;
  if (any && !is_narrow(p)) {
    // Ignored before, refused since: release notes 13.0, deprecations.
    const bool enforced = scope.library_number >= 130000;
    return not_supported(enforced ? Expectation::must_refuse : Expectation::may_refuse, "scale-of-wide-type",
                         "scale factors belong to narrow types; elsewhere their pointers are refused since CUDA 13.0 "
                         "(cuBLAS 13.2 documentation, Narrow Precision Data Types Usage; release notes 13.0)");
  }
  if (p.scale_c && !is_narrow(p)) {
    return not_supported(Expectation::may_refuse, "scale-of-c",
                         "a scale of C beside a narrow product is documented; elsewhere in one sentence only (cuBLAS "
                         "13.2 documentation, Narrow Precision Data Types Usage)");
  }
  if (p.scale_d && !is_fp8(p.type_d)) {
    const bool enforced = scope.library_number >= 130000;
    return not_supported(enforced ? Expectation::must_refuse : Expectation::may_refuse, "scale-of-wide-d",
                         "a scale of D is for an FP8 D; elsewhere its pointer is refused since CUDA 13.0 (cuBLAS 13.2 "
                         "documentation, Narrow Precision Data Types Usage; release notes 13.0)");
  }
  if (p.amax_d && !is_fp8(p.type_d)) {
    return not_supported(Expectation::must_refuse, "amax-of-wide-d",
                         "amax is for an FP8 D, enforced since CUDA 12.4 Update 1 (release notes 12.4.1)");
  }
  if (auto refusal = refuse_scale_tables(p, scope)) return refusal;
  const bool misplaced = (p.scale_a && p.scale_a_offset % 16 != 0) || (p.scale_b && p.scale_b_offset % 16 != 0);
  const bool outer = p.scale_a.value_or(kScalar) == kOuter;
  if (misplaced && (outer || scope.library_number < 130201)) {
    return refuses(
        Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "scalar-scale-16-bytes",
        "no alignment is documented for the pointer of one scale factor, or of one for each row; cuBLAS "
        "12.9.0 to 13.2.0 refuse one below 16 bytes, which is a defect (KI-056, release notes 13.1 Update 1, "
        "5728938)");
  }
  if (p.scale_c && scope.library_number < 130000) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "scale-of-wide-c",
                   "a scale of a C that is not FP8 is documented today; versions of 2024 refused it (openxla/xla "
                   "PR#15795)");
  }
  if (p.scale_c && (p.scale_a.value_or(kScalar) != kScalar || p.scale_b.value_or(kScalar) != kScalar)) {
    return refuses(Expectation::may_refuse, RefusedBy::nothing, CUBLAS_STATUS_NOT_SUPPORTED, "scale-of-c-with-tables",
                   "a scale of C is documented beside one factor for each matrix, and beside tables of factors nowhere "
                   "(cuBLAS 13.2 documentation, Narrow Precision Data Types Usage)");
  }
  return std::nullopt;
}

}  // namespace lt_audit
