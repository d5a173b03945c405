// One call that each fault targets and one that it must leave alone, for the tests over the scripted library and over
// the simulator.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit::faults {

inline MatmulProblem problem(cudaDataType_t type) {
  MatmulProblem p = uniform_problem(type, 16, 8, 32);
  p.workspace_bytes = 1024;
  return p;
}

inline MatmulProblem with(MatmulProblem p, void (*change)(MatmulProblem&)) {
  change(p);
  return p;
}

struct Row {
  const char* fault;
  MatmulProblem targeted;
  MatmulProblem untargeted;
  /// What the scripted library answers to the targeted matmul; the simulator answers by the contract.
  cublasStatus_t library_answers = CUBLAS_STATUS_SUCCESS;

  /// As test names allow it.
  std::string name() const {
    std::string text = fault;
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  }
};

inline const std::vector<Row>& rows() {
  static const auto f16 = problem(CUDA_R_16F);
  static const auto bf16 = problem(CUDA_R_16BF);
  static const auto f32 = problem(CUDA_R_32F);
  static const auto f64 = problem(CUDA_R_64F);
  static const auto i8 = problem(CUDA_R_8I);
  static const auto e4m3 = problem(CUDA_R_8F_E4M3);
  static const auto c16 = problem(CUDA_C_16F);
  static const auto tf32 = with(f32, [](MatmulProblem& p) { p.compute_type = CUBLAS_COMPUTE_32F_FAST_TF32; });
  static const auto biased = with(f16, [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; });
  static const std::vector<Row> list = {
      {"alignment-misread", with(f32, [](MatmulProblem& p) { p.a_offset = 4, p.a_alignment = 4; }),
       with(f32, [](MatmulProblem& p) { p.a_offset = 16, p.d_offset = 4, p.d_alignment = 4; })},
      {"alpha-ignored", with(f16, [](MatmulProblem& p) { p.alpha = 2; }),
       with(bf16, [](MatmulProblem& p) { p.alpha = 2; })},
      {"batch-stride-rounded", with(f16, [](MatmulProblem& p) { p.batch_count = 2, p.stride_a = 515; }),
       with(f16, [](MatmulProblem& p) { p.batch_count = 2, p.stride_a = 520; })},
      {"beta-ignored", with(e4m3, [](MatmulProblem& p) { p.beta = 1; }),
       with(f16, [](MatmulProblem& p) { p.beta = 1; })},
      {"bias-ignored", biased, with(f16, [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_RELU; })},
      {"c-read-at-beta-zero", f32, f16},
      {"empty-success", f64, f32},
      {"guard-overwritten", f16, with(f16, [](MatmulProblem& p) { p.transa = CUBLAS_OP_T; })},
      {"heuristic-success-without-result", e4m3, i8},
      {"input-changed", bf16, f16},
      {"k-tail-lost", bf16, f32},
      {"late-refusal", with(f16, [](MatmulProblem& p) { p.b_offset = 8, p.b_alignment = 8; }),
       with(f32, [](MatmulProblem& p) { p.b_offset = 8, p.b_alignment = 8; })},
      {"leading-dimension-rounded", with(f32, [](MatmulProblem& p) { p.lda = 17; }),
       with(f32, [](MatmulProblem& p) { p.lda = 20, p.ldc = p.ldd = 17; })},
      {"padding-overwritten", with(f32, [](MatmulProblem& p) { p.ldd = p.ldc = 17; }), f32},
      {"planar-batch-stride-doubled", with(c16, [](MatmulProblem& p) { p.batch_count = 2; }), c16},
      {"scale-type-misread", with(f16, [](MatmulProblem& p) { p.compute_type = CUBLAS_COMPUTE_16F; }),
       with(f16, [](MatmulProblem& p) { p.compute_type = CUBLAS_COMPUTE_16F, p.scale_type = CUDA_R_16F; })},
      {"short-write", e4m3, f16},
      {"sticky-misaligned-address", with(biased, [](MatmulProblem& p) { p.bias_offset = 2; }),
       with(biased, [](MatmulProblem& p) { p.bias_offset = 4; })},
      {"unaligned-workspace-accepted", with(f32, [](MatmulProblem& p) { p.workspace_offset = 16; }), f32},
      {"unlisted-d-type-overrun", with(tf32, [](MatmulProblem& p) { p.type_c = p.type_d = CUDA_R_16F; }), tf32},
      {"unlisted-input-as-fp32", with(tf32, [](MatmulProblem& p) { p.type_a = p.type_b = CUDA_R_16F; }),
       with(f16, [](MatmulProblem& p) { p.type_c = p.type_d = CUDA_R_32F; })},
      {"valid-call-refused", i8, e4m3},
      {"workspace-overrun", f32, f64},
      {"wrong-element", i8,
       with(i8, [](MatmulProblem& p) { p.type_c = p.type_d = CUDA_R_8I, p.scale_type = CUDA_R_32F; })},
      {"wrong-status", with(f16, [](MatmulProblem& p) { p.a_offset = 2; }), f16, CUBLAS_STATUS_NOT_SUPPORTED},
  };
  return list;
}

/// Faults that show in no single call of cuBLASLt, or in none without attributes that the scripted library does not
/// have; sequences_test.cpp, graphs_test.cpp, cublas_test.cpp and the tests named like the files of the faults have
/// what they do.
inline constexpr auto kSequenceFaults = std::to_array<std::string_view>({
    "algorithm-bound-to-stream",
    "amax-ignored",
    "aux-ld-ignored",
    "batch-index-of-16-bits",
    "batch-stride-of-32-bits",
    "bias-added-after-rounding",
    "bias-along-columns",
    "bias-gradient-wrong-at-k-1",
    "bits-change-between-runs",
    "block-scale-padding-ignored",
    "c-ignored-in-place",
    "c-read-at-device-beta-zero",
    "capture-invalidated",
    "columns-beyond-65535-lost",
    "cublas-default-tf32",
    "cublas-refuses-bf16",
    "cublas-writes-behind-c",
    "descriptor-read-at-replay",
    "destroyed-handle-crashes",
    "device-scalar-read-late",
    "driver-too-old",
    "empty-product-writes",
    "exec-update-ignored",
    "far-leading-dimension-halved",
    "first-bias-for-all-batches",
    "first-scale-for-all-blocks",
    "gelu-aux-after-activation",
    "gelu-in-place-wrong",
    "handle-bound-to-context",
    "handle-lost-to-full-memory",
    "in-place-layouts-accepted",
    "in-place-split-k-added-twice",
    "int32-low-bits-lost",
    "int8-alpha-ignored",
    "int8-columns-cut",
    "int8-many-refused",
    "int8-rounded-before-bias",
    "int8-wraps",
    "last-pointer-for-all",
    "ld-below-rows-accepted",
    "leak-per-handle",
    "library-loaded-twice",
    "matmul-outside-graph",
    "mixed-libraries",
    "null-c-layout-crashes",
    "old-workspace-in-result",
    "one-bad-algorithm",
    "pointer-members-rounded",
    "refused-matmul-in-capture-as-success",
    "replay-reads-freed-workspace",
    "restored-algorithm-refused",
    "result-state-not-success",
    "scalar-scale-refused-below-16",
    "scale-d-ignored",
    "shared-matrix-read-as-packed",
    "split-k-state-per-handle",
    "split-k-tail-lost",
    "stale-descriptor-in-second-capture",
    "stream-ignored",
    "tf32-always",
    "tf32-override-ignored",
    "undersized-workspace-accepted",
    "unequal-counts-as-of-d",
    "vector-scales-read-along-k",
    "vector-with-bias-wrong",
    "wide-d-scale-ignored",
    "workspace-above-limit",
    "workspace-reused-too-early",
    "wrong-when-memory-is-full",
    "zero-k-skipped",
});

}  // namespace lt_audit::faults
