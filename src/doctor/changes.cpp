#include "doctor/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "doctor/changes_parts.h"
#include "lt_audit/contract.h"
#include "lt_audit/types.h"

namespace lt_audit {
namespace {

struct Operand {
  std::string_view name;
  std::int64_t MatmulProblem::*offset;
  std::uint32_t MatmulProblem::*alignment;
  std::int64_t MatmulProblem::*ld;
  std::int64_t MatmulProblem::*stride;
  std::int64_t MatmulProblem::*plane;
  cublasLtOrder_t MatmulProblem::*order;
  MatrixShape (*shape)(const MatmulProblem&);
};
constexpr std::array kOperands{
    Operand{"A", &MatmulProblem::a_offset, &MatmulProblem::a_alignment, &MatmulProblem::lda, &MatmulProblem::stride_a,
            &MatmulProblem::plane_a, &MatmulProblem::order_a, shape_a},
    Operand{"B", &MatmulProblem::b_offset, &MatmulProblem::b_alignment, &MatmulProblem::ldb, &MatmulProblem::stride_b,
            &MatmulProblem::plane_b, &MatmulProblem::order_b, shape_b},
    Operand{"C", &MatmulProblem::c_offset, &MatmulProblem::c_alignment, &MatmulProblem::ldc, &MatmulProblem::stride_c,
            &MatmulProblem::plane_c, &MatmulProblem::order_c, shape_c},
    Operand{"D", &MatmulProblem::d_offset, &MatmulProblem::d_alignment, &MatmulProblem::ldd, &MatmulProblem::stride_d,
            &MatmulProblem::plane_d, &MatmulProblem::order_d, shape_d},
};

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr std::array<std::int64_t, 4> kMultiples{4, 8, 16, 32};

/// The smallest number from `value` on that is a multiple of this and of no larger power of two (of 32: any multiple):
/// what works with it needs no more than that.
std::int64_t exactly_multiple(std::int64_t value, std::int64_t multiple) {
  std::int64_t result = rounded_up(value, multiple);
  while (multiple < kMultiples.back() && result % (2 * multiple) == 0) result += multiple;
  return result;
}

std::string ld_name(const Operand& operand) {
  return fmt::format("ld{}", static_cast<char>(operand.name[0] - 'A' + 'a'));
}

/// A leading dimension, batch stride or plane offset that has become too small for a grown matrix is the packed one
/// instead.
void mend_layout(MatmulProblem& problem) {
  for (const auto& operand : kOperands) {
    MatmulProblem packed = problem;
    packed.*operand.ld = 0;
    if (problem.*operand.ld < operand.shape(packed).ld) problem.*operand.ld = 0;
    packed = problem;
    packed.*operand.stride = -1;
    if (problem.*operand.stride > 0 && problem.*operand.stride < operand.shape(packed).batch_stride)
      problem.*operand.stride = -1;
    packed = problem;
    packed.*operand.plane = kPackedPlane;
    if (problem.*operand.plane > 0 && problem.*operand.plane < operand.shape(packed).plane_offset)
      problem.*operand.plane = kPackedPlane;
  }
  if (problem.ldaux < problem.m) problem.ldaux = 0;
  if (problem.stride_aux < problem.ldaux * problem.n) problem.stride_aux = -1;
}

void set_ld(MatmulProblem& problem, const Operand& operand, std::int64_t multiple) {
  problem.*operand.ld = exactly_multiple(operand.shape(problem).ld, multiple);
  mend_layout(problem);
}

void add_pointers(const MatmulProblem& problem, Changes& changes) {
  for (const auto& operand : kOperands) {
    if (problem.in_place && operand.offset == &MatmulProblem::c_offset) continue;
    const std::int64_t real = alignment_of_offset(problem.*operand.offset);
    const std::int64_t promised = problem.*operand.alignment;
    const auto preference = [&](std::int64_t bytes) {
      return fmt::format("CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_{}_BYTES = {}", operand.name, bytes);
    };
    if (promised != real) {
      changes.push_back({fmt::format("{} promise", operand.name),
                         fmt::format("promise {}'s real alignment ({} -> {} bytes)", operand.name, promised, real),
                         preference(real), Effort::attribute,
                         [field = operand.alignment, real](MatmulProblem& changed) {
                           changed.*field = static_cast<std::uint32_t>(real);
                         },
                         promised < real});
    }
    for (const std::int64_t wanted : {16, 256}) {
      if (real >= wanted) continue;
      // An aligned pointer of which less is promised would be taken for the old one.
      const bool promises = promised < wanted;
      changes.push_back(
          {fmt::format("{} pointer", operand.name),
           fmt::format("{} on a {}-byte boundary (it is on {})", operand.name, wanted, real),
           fmt::format("pointer {} % {} == 0{}", operand.name, wanted, promises ? ", " + preference(wanted) : ""),
           Effort::memory,
           [&operand, wanted, promises](MatmulProblem& changed) {
             std::int64_t& offset = changed.*operand.offset;
             offset = wanted == 256 ? 0 : rounded_up(offset, wanted) % 256;
             if (promises) changed.*operand.alignment = static_cast<std::uint32_t>(wanted);
           },
           wanted == 256});
    }
  }
}

void add_workspace(const MatmulProblem& problem, Changes& changes) {
  const auto limit = [&](std::int64_t bytes, const char* text, Effort effort) {
    changes.push_back(
        {"workspace", fmt::format("a workspace of {}", text),
         fmt::format("CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = {}, and as many for cublasLtMatmul", bytes), effort,
         [bytes](MatmulProblem& changed) { changed.workspace_bytes = bytes; }, bytes == 32 << 20});
  };
  if (problem.workspace_bytes > 0) limit(0, "0 bytes", Effort::attribute);
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> kSizes{{{1, "1 MiB"}, {4, "4 MiB"}, {32, "32 MiB"}}};
  for (const auto& [mib, text] : kSizes) {
    if (mib << 20 > problem.workspace_bytes) limit(mib << 20, text, Effort::memory);
  }
  if (problem.workspace_bytes > 0 && problem.workspace_offset != 0) {
    changes.push_back({"workspace pointer", "workspace on a 256-byte boundary", "workspace % 256 == 0", Effort::memory,
                       [](MatmulProblem& changed) { changed.workspace_offset = 0; }, true});
  }
}

void add_call(const MatmulProblem& problem, Changes& changes) {
  const auto choose = [&](const char* what, const char* code, AlgoChoice algo, int index) {
    changes.push_back({"algo", what, code, Effort::attribute,
                       [algo, index](MatmulProblem& changed) {
                         changed.algo = algo;
                         changed.algo_index = index;
                       },
                       algo == AlgoChoice::heuristic && index == 0});
  };
  if (problem.algo != AlgoChoice::heuristic || problem.algo_index != 0)
    choose("the first algorithm of the heuristic", "algo = result 0 of cublasLtMatmulAlgoGetHeuristic",
           AlgoChoice::heuristic, 0);
  if (problem.algo != AlgoChoice::heuristic || problem.algo_index != 1)
    choose("the second algorithm of the heuristic", "algo = result 1 of cublasLtMatmulAlgoGetHeuristic",
           AlgoChoice::heuristic, 1);
  if (problem.algo != AlgoChoice::null) choose("no algorithm given", "algo = NULL", AlgoChoice::null, 0);
  if (problem.pointer_mode != CUBLASLT_POINTER_MODE_HOST) {
    changes.push_back({"pointer mode", "alpha and beta in host memory",
                       "CUBLASLT_MATMUL_DESC_POINTER_MODE = CUBLASLT_POINTER_MODE_HOST", Effort::attribute,
                       [](MatmulProblem& changed) { changed.pointer_mode = CUBLASLT_POINTER_MODE_HOST; }, true});
  }
  if (problem.in_place) {
    changes.push_back({"in place", "C and D in different memory", "pointers C != D", Effort::memory,
                       [](MatmulProblem& changed) { changed.in_place = false; }, true});
  }
}

void add_leading_dimensions(const MatmulProblem& problem, Changes& changes) {
  for (const auto& operand : kOperands) {
    if (problem.*operand.order != CUBLASLT_ORDER_COL) {
      changes.push_back({fmt::format("order {}", operand.name), fmt::format("{} stored by columns", operand.name),
                         fmt::format("CUBLASLT_MATRIX_LAYOUT_ORDER of {} = CUBLASLT_ORDER_COL", operand.name),
                         Effort::layout,
                         [&operand](MatmulProblem& changed) {
                           changed.*operand.order = CUBLASLT_ORDER_COL;
                           changed.*operand.ld = 0;
                           changed.*operand.stride = changed.*operand.stride > 0 ? -1 : changed.*operand.stride;
                         },
                         true});
    }
    const std::int64_t ld = operand.shape(problem).ld;
    for (const std::int64_t multiple : kMultiples) {
      if (ld % multiple == 0) continue;
      const std::int64_t padded = exactly_multiple(ld, multiple);
      changes.push_back({ld_name(operand),
                         fmt::format("{} a multiple of {} elements ({} -> {})", ld_name(operand), multiple, ld, padded),
                         fmt::format("CUBLASLT_MATRIX_LAYOUT_LD of {} = {}", operand.name, padded), Effort::layout,
                         [&operand, multiple](MatmulProblem& changed) { set_ld(changed, operand, multiple); },
                         multiple == 32});
    }
  }
}

void add_transposition(const MatmulProblem& problem, Changes& changes) {
  const auto toggled = [](cublasOperation_t operation) { return operation == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto letter = [](cublasOperation_t operation) { return operation == CUBLAS_OP_N ? 'N' : 'T'; };
  const auto add = [&](const char* group, cublasOperation_t a, cublasOperation_t b) {
    const bool both = a != problem.transa && b != problem.transb;
    const std::string stored = both ? "A and B" : a != problem.transa ? "A" : "B";
    changes.push_back(
        {group, fmt::format("{} stored transposed: transa {}, transb {}", stored, letter(a), letter(b)),
         fmt::format("CUBLASLT_MATMUL_DESC_TRANSA = CUBLAS_OP_{}, _TRANSB = CUBLAS_OP_{}", letter(a), letter(b)),
         Effort::layout,
         [a, b](MatmulProblem& changed) {
           if (a != changed.transa) changed.lda = 0;
           if (b != changed.transb) changed.ldb = 0;
           changed.transa = a;
           changed.transb = b;
           mend_layout(changed);
         },
         a == CUBLAS_OP_T && b == CUBLAS_OP_N});
  };
  add("transposition", toggled(problem.transa), problem.transb);
  add("transposition", problem.transa, toggled(problem.transb));
  add("transposition", toggled(problem.transa), toggled(problem.transb));
}

void add_batch(const MatmulProblem& problem, Changes& changes) {
  if (problem.batch_count <= 1) return;
  const bool strided = std::any_of(kOperands.begin(), kOperands.end(),
                                   [&](const Operand& operand) { return problem.*operand.stride != -1; });
  if (strided) {
    changes.push_back({"batch", "every batch packed behind the one before",
                       "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = ld * columns", Effort::layout,
                       [](MatmulProblem& changed) {
                         for (const auto& operand : kOperands) changed.*operand.stride = -1;
                       },
                       false});
  }
  changes.push_back({"batch", fmt::format("one call for each of the {} batches", problem.batch_count),
                     "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 1", Effort::product,
                     [](MatmulProblem& changed) { changed.batch_count = 1; }, true});
}

/// One row of the table of supported types (cuBLAS 13.2 documentation, cublasLtMatmul) that has the type of A.
void use_documented_types(MatmulProblem& problem) {
  const MatmulProblem row = uniform_problem(problem.type_a, problem.m, problem.n, problem.k);
  problem.type_b = row.type_b;
  problem.type_c = row.type_c;
  problem.type_d = row.type_d;
  problem.compute_type = row.compute_type;
  problem.scale_type = row.scale_type;
  problem.plane_a = row.plane_a;
  problem.plane_b = row.plane_b;
  problem.plane_c = row.plane_c;
  problem.plane_d = row.plane_d;
}

cudaDataType_t scale_for(const MatmulProblem& problem, cublasComputeType_t compute) {
  return default_scale_type(compute, problem.type_a);
}

void add_types(const MatmulProblem& problem, Changes& changes) {
  const auto add = [&](const char* group, std::string what, std::string code,
                       std::function<void(MatmulProblem&)> apply) {
    changes.push_back({group, std::move(what), std::move(code), Effort::product, std::move(apply), false});
  };
  const cudaDataType_t scale = scale_for(problem, problem.compute_type);
  if (problem.scale_type != scale) {
    add("scale type", fmt::format("scale type {}", name_of(scale)),
        fmt::format("cublasLtMatmulDescCreate: scaleType of {}", name_of(scale)),
        [scale](MatmulProblem& changed) { changed.scale_type = scale; });
  }
  if (problem.type_a != problem.type_b) {
    add("B type", fmt::format("B in {}, as A", name_of(problem.type_a)), "CUBLASLT_MATRIX_LAYOUT_TYPE of B = A's",
        [](MatmulProblem& changed) { changed.type_b = changed.type_a; });
  }
  if (problem.type_c != problem.type_d) {
    add("C and D type", fmt::format("C in {}, as D", name_of(problem.type_d)), "CUBLASLT_MATRIX_LAYOUT_TYPE of C = D's",
        [](MatmulProblem& changed) { changed.type_c = changed.type_d; });
  }
  for (const cudaDataType_t type : {problem.type_a, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16F}) {
    if (type == problem.type_c && type == problem.type_d) continue;
    if (type == problem.type_a && is_fp8(type)) continue;
    add("C and D type", fmt::format("C and D in {}", name_of(type)),
        fmt::format("CUBLASLT_MATRIX_LAYOUT_TYPE of C and D = {}", name_of(type)), [type](MatmulProblem& changed) {
          changed.type_c = type;
          changed.type_d = type;
        });
  }
  for (const cublasComputeType_t compute :
       {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_16F}) {
    if (compute == problem.compute_type) continue;
    add("compute type",
        fmt::format("compute type {} with scale type {}", name_of(compute), name_of(scale_for(problem, compute))),
        fmt::format("cublasLtMatmulDescCreate: computeType of {}", name_of(compute)),
        [compute](MatmulProblem& changed) {
          changed.compute_type = compute;
          changed.scale_type = scale_for(changed, compute);
        });
  }
  changes.push_back({"all types", fmt::format("the documented types for {} inputs", name_of(problem.type_a)),
                     "types of B, C, D, computeType and scaleType from one row of the table of cublasLtMatmul",
                     Effort::product, use_documented_types, true});
  const auto plain = [](double value) { return value == 0 || value == 1; };
  if (!plain(problem.alpha) || !plain(problem.beta) || problem.alpha_imaginary != 0 || problem.beta_imaginary != 0) {
    changes.push_back({"scalars", "alpha 1 and beta 0, both applied in a kernel of your own", "alpha = 1, beta = 0",
                       Effort::product,
                       [](MatmulProblem& changed) {
                         changed.alpha = 1;
                         changed.beta = 0;
                         changed.alpha_imaginary = changed.beta_imaginary = 0;
                       },
                       true});
  }
}

void add_sizes(const MatmulProblem& problem, Changes& changes) {
  struct Size {
    const char* name;
    std::int64_t MatmulProblem::*field;
  };
  constexpr std::array kSizes{Size{"m", &MatmulProblem::m}, Size{"n", &MatmulProblem::n}, Size{"k", &MatmulProblem::k}};
  for (const auto& size : kSizes) {
    const std::int64_t given = problem.*size.field;
    for (const std::int64_t multiple : kMultiples) {
      if (given % multiple == 0) continue;
      const std::int64_t padded = exactly_multiple(given, multiple);
      changes.push_back(
          {size.name,
           fmt::format("{} a multiple of {} ({} -> {}), filled up with zeros", size.name, multiple, given, padded),
           fmt::format("{} = {} in all layouts", size.name, padded), Effort::product,
           [field = size.field, padded](MatmulProblem& changed) {
             changed.*field = padded;
             mend_layout(changed);
           },
           multiple == 32});
    }
  }
}

}  // namespace

std::vector<Change> changes_for(const MatmulProblem& problem) {
  Changes changes;
  add_call(problem, changes);
  add_pointers(problem, changes);
  add_workspace(problem, changes);
  add_leading_dimensions(problem, changes);
  add_transposition(problem, changes);
  add_batch(problem, changes);
  add_epilogue(problem, changes);
  add_beside(problem, changes);
  add_scales(problem, changes);
  add_types(problem, changes);
  add_sizes(problem, changes);
  // What another change already is, or what changes nothing, is not tried twice.
  std::vector<MatmulProblem> seen{problem};
  Changes distinct;
  for (auto& change : changes) {
    MatmulProblem changed = problem;
    change.apply(changed);
    if (std::find(seen.begin(), seen.end(), changed) != seen.end()) continue;
    seen.push_back(changed);
    distinct.push_back(std::move(change));
  }
  std::stable_sort(distinct.begin(), distinct.end(),
                   [](const Change& left, const Change& right) { return left.effort < right.effort; });
  return distinct;
}

std::int64_t memory_of(const MatmulProblem& problem) {
  std::int64_t bytes = problem.workspace_bytes;
  for (const auto& operand : kOperands) {
    if (problem.in_place && operand.shape == shape_c) continue;
    bytes += operand.shape(problem).bytes();
  }
  if (has_aux(problem.epilogue)) {
    bytes += shape_aux(problem).bytes();
  }
  return bytes;
}

}  // namespace lt_audit
