// Changes of what goes with the product: epilogue, bias, aux, scale factors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "doctor/changes_parts.h"
#include "lt_audit/contract.h"
#include "lt_audit/types.h"

namespace lt_audit {
namespace {

using Mode = cublasLtMatmulMatrixScale_t;

/// An epilogue and one that does a part of it, most of it first.
struct Part {
  cublasLtEpilogue_t whole;
  cublasLtEpilogue_t part;
};
constexpr std::array kParts{Part{CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_BIAS},
                            Part{CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU},
                            Part{CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS},
                            Part{CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_BIAS},
                            Part{CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_BIAS},
                            Part{CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU},
                            Part{CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS},
                            Part{CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_BIAS},
                            Part{CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DRELU},
                            Part{CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_DGELU}};

std::string enumerator_of(cublasLtEpilogue_t epilogue) {
  std::string name = name_of(epilogue);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return "CUBLASLT_EPILOGUE_" + name;
}

bool uses_bias(const MatmulProblem& problem) {
  return has_bias(problem.epilogue) || has_bias_gradient(problem.epilogue);
}

void add_bias(const MatmulProblem& problem, Changes& changes) {
  if (!uses_bias(problem)) return;
  if (alignment_of_offset(problem.bias_offset) < 16) {
    changes.push_back({"bias pointer", "bias on a 16-byte boundary", "CUBLASLT_MATMUL_DESC_BIAS_POINTER % 16 == 0",
                       Effort::memory, [](MatmulProblem& changed) { changed.bias_offset = 0; }, true});
  }
  if (problem.type_bias) {
    MatmulProblem usual = problem;
    usual.type_bias.reset();
    changes.push_back({"bias type", fmt::format("the bias in {}", name_of(bias_type(usual))),
                       fmt::format("CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = {}", name_of(bias_type(usual))),
                       Effort::product, [](MatmulProblem& changed) { changed.type_bias.reset(); }, true});
  }
  if (problem.stride_bias != 0 && has_bias(problem.epilogue)) {
    changes.push_back({"bias stride", "one bias vector for all batches", "CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 0",
                       Effort::product, [](MatmulProblem& changed) { changed.stride_bias = 0; }, true});
  }
}

void add_aux(const MatmulProblem& problem, Changes& changes) {
  if (!has_aux(problem.epilogue)) return;
  if (alignment_of_offset(problem.aux_offset) < 16) {
    changes.push_back({"aux pointer", "aux on a 16-byte boundary",
                       "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER % 16 == 0", Effort::memory,
                       [](MatmulProblem& changed) { changed.aux_offset = 0; }, true});
  }
  if (problem.type_aux) {
    changes.push_back({"aux type", "aux in its default type", "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE not set",
                       Effort::product, [](MatmulProblem& changed) { changed.type_aux.reset(); }, true});
  }
  const std::int64_t multiple = has_aux_mask(problem.epilogue) ? 128 : 8;
  if (problem.ldaux != 0) {
    const std::int64_t ld = (std::max(problem.ldaux, problem.m) + multiple - 1) / multiple * multiple;
    changes.push_back({"ldaux", fmt::format("ldaux a multiple of {} ({} -> {})", multiple, problem.ldaux, ld),
                       fmt::format("CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = {}", ld), Effort::layout,
                       [ld](MatmulProblem& changed) {
                         changed.ldaux = ld;
                         if (changed.stride_aux < ld * changed.n) changed.stride_aux = -1;
                       },
                       true});
  }
  if (problem.stride_aux >= 0 && problem.batch_count > 1) {
    changes.push_back({"aux stride", "aux of every batch packed behind the one before",
                       "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = ldaux * n", Effort::layout,
                       [](MatmulProblem& changed) { changed.stride_aux = -1; }, true});
  }
}

/// Which modes go together on one GPU or another.
struct ModePair {
  Mode a, b;
  const char* what;
};
constexpr std::array kModePairs{
    ModePair{CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
             "one scale factor for A and one for B"},
    ModePair{CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
             "a scale factor for each row of A and column of B"},
    ModePair{CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
             "a scale factor for 128 elements along k, for A and for B"},
    ModePair{CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
             "scale factors for 128 by 128 blocks of A and for 128 elements of B"},
    ModePair{CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
             "scale factors for 128 elements of A and for 128 by 128 blocks of B"}};

void add_scale_modes(const MatmulProblem& problem, Changes& changes) {
  if (!problem.scale_a && !problem.scale_b) return;
  changes.push_back({"scales", "no scale factors for A and B, but in alpha or a kernel of your own",
                     "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER and _B_SCALE_POINTER not set", Effort::product,
                     [](MatmulProblem& changed) {
                       changed.scale_a.reset();
                       changed.scale_b.reset();
                     },
                     true});
  for (const auto& pair : kModePairs) {
    changes.push_back(
        {"scales", pair.what,
         fmt::format("CUBLASLT_MATMUL_DESC_A_SCALE_MODE = {}, _B_SCALE_MODE = {}", name_of(pair.a), name_of(pair.b)),
         Effort::product,
         [&pair](MatmulProblem& changed) {
           changed.scale_a = pair.a;
           changed.scale_b = pair.b;
         },
         false});
  }
}

}  // namespace

void add_epilogue(const MatmulProblem& problem, Changes& changes) {
  const auto use = [&](cublasLtEpilogue_t epilogue, const char* rest) {
    changes.push_back({"epilogue", fmt::format("epilogue {}, {} in a kernel of your own", name_of(epilogue), rest),
                       fmt::format("CUBLASLT_MATMUL_DESC_EPILOGUE = {}", enumerator_of(epilogue)), Effort::product,
                       [epilogue](MatmulProblem& changed) { changed.epilogue = epilogue; },
                       epilogue == CUBLASLT_EPILOGUE_DEFAULT});
  };
  for (const auto& entry : kParts) {
    if (entry.whole == problem.epilogue) use(entry.part, "the rest of it");
  }
  if (problem.epilogue != CUBLASLT_EPILOGUE_DEFAULT) use(CUBLASLT_EPILOGUE_DEFAULT, "all of it");
}

void add_beside(const MatmulProblem& problem, Changes& changes) {
  add_bias(problem, changes);
  add_aux(problem, changes);
}

void add_scales(const MatmulProblem& problem, Changes& changes) {
  const auto misplaced = [](const auto& mode, std::int64_t offset) { return mode && alignment_of_offset(offset) < 16; };
  if (misplaced(problem.scale_a, problem.scale_a_offset) || misplaced(problem.scale_b, problem.scale_b_offset)) {
    changes.push_back({"scale pointers", "the scale factors of A and B on 16-byte boundaries",
                       "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER % 16 == 0, _B_SCALE_POINTER % 16 == 0", Effort::memory,
                       [](MatmulProblem& changed) { changed.scale_a_offset = changed.scale_b_offset = 0; }, true});
  }
  add_scale_modes(problem, changes);
  const auto drop = [&](bool is_set, const char* group, const char* what, const char* code,
                        std::function<void(MatmulProblem&)> apply) {
    if (is_set) changes.push_back({group, what, code, Effort::product, std::move(apply), true});
  };
  drop(problem.scale_c.has_value(), "scale of C", "no scale factor for C, but in beta",
       "CUBLASLT_MATMUL_DESC_C_SCALE_POINTER not set", [](MatmulProblem& changed) { changed.scale_c.reset(); });
  drop(problem.scale_d.has_value(), "scale of D", "no scale factor for D, but in a kernel of your own",
       "CUBLASLT_MATMUL_DESC_D_SCALE_POINTER not set", [](MatmulProblem& changed) { changed.scale_d.reset(); });
  drop(problem.amax_d, "amax", "amax in a kernel of your own", "CUBLASLT_MATMUL_DESC_AMAX_D_POINTER not set",
       [](MatmulProblem& changed) { changed.amax_d = false; });
  if (is_fp8(problem.type_a)) {
    changes.push_back(
        {"fast accumulation", problem.fast_accum ? "no fast accumulation" : "fast accumulation, which is less accurate",
         fmt::format("CUBLASLT_MATMUL_DESC_FAST_ACCUM = {}", problem.fast_accum ? 0 : 1), Effort::attribute,
         [](MatmulProblem& changed) { changed.fast_accum = !changed.fast_accum; }, false});
  }
  if (problem.sm_count_target != 0) {
    changes.push_back({"SM count target", "all SMs", "CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET = 0", Effort::attribute,
                       [](MatmulProblem& changed) { changed.sm_count_target = 0; }, true});
  }
}

}  // namespace lt_audit
