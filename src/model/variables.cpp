#include "lt_audit/variables.h"

#include <array>

namespace lt_audit {
namespace {

constexpr std::string_view kLogging = "cuBLAS 13.2 documentation, cuBLASLt Logging";
constexpr std::string_view kEmulation = "cuBLAS 13.2 documentation, Floating Point Emulation, environment variables";
constexpr std::string_view kDriver = "CUDA Programming Guide, CUDA Environment Variables";
constexpr std::string_view kLogRemedy = "unset it, and take the log with `lt-audit run --trace` or a callback";
constexpr std::string_view kEmulationRemedy =
    "unset it, and choose emulation by the compute type or the handle's math mode";

// Sorted by name; a test says so.
constexpr std::array kRules{
    VariableRule{"CUBLASLT_DISABLE_CPU_INSTRUCTIONS_MASK", "0", "the library's host code avoids instructions",
                 "unset it unless a profiler or emulator needs it",
                 "cuBLAS 13.2 documentation, Disabling CPU Instructions"},
    VariableRule{"CUBLASLT_HEURISTICS_CACHE_CAPACITY", "",
                 "the cache of heuristic results has another size: 0 makes every query as slow as the first",
                 "unset it", "cuBLAS 13.2 documentation, Heuristics Cache"},
    VariableRule{"CUBLASLT_HEURISTICS_LUT_FILE", "", "the heuristic may choose other algorithms, from that file",
                 "unset it", "in no document; the name stands in libcublasLt 13.1.0"},
    VariableRule{"CUBLASLT_LOG_FILE", "", "the library's own log goes into that file", kLogRemedy, kLogging},
    VariableRule{"CUBLASLT_LOG_LEVEL", "0", "the library's logger is switched on and slows every call", kLogRemedy,
                 kLogging},
    VariableRule{"CUBLASLT_LOG_MASK", "0", "the library's logger is switched on and slows every call", kLogRemedy,
                 kLogging},
    VariableRule{"CUBLAS_EMULATE_DOUBLE_PRECISION", "0",
                 "cuBLAS may compute FP64 products by fixed-point emulation: other bits, more workspace",
                 kEmulationRemedy, kEmulation},
    VariableRule{"CUBLAS_EMULATE_SINGLE_PRECISION", "0",
                 "cuBLAS may compute FP32 products by BF16x9 emulation: other bits, more workspace", kEmulationRemedy,
                 kEmulation},
    VariableRule{"CUBLAS_EMULATION_STRATEGY", "", "emulation is chosen by another rule than the default",
                 kEmulationRemedy, kEmulation},
    VariableRule{"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT", "",
                 "emulated FP64 products keep another number of bits", kEmulationRemedy, kEmulation},
    VariableRule{"CUBLAS_WORKSPACE_CONFIG", "",
                 "handles of cuBLAS take this workspace in place of their own: other algorithms, bits and memory",
                 "set it in every run that is compared, or in none; hand cublasLtMatmul a workspace of its own",
                 "cuBLAS 13.2 documentation, Results Reproducibility"},
    VariableRule{"CUDA_FORCE_PTX_JIT", "0", "every kernel is compiled at its first use", "unset it", kDriver},
    VariableRule{"CUDA_INJECTION64_PATH", "", "that library sees and may slow every call of CUDA",
                 "unset it, or measure without the profiler", "CUPTI documentation, injection"},
    VariableRule{"CUDA_LAUNCH_BLOCKING", "0", "every launch waits, so that times mean little and races do not show",
                 "unset it when times count or a race is looked for", kDriver},
    VariableRule{"CUDA_MODULE_LOADING", "LAZY",
                 "the library loads all of its kernels at once: seconds at the start, and device memory",
                 "unset it, or set it to LAZY", kDriver},
    VariableRule{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "100",
                 "the process gets a part of the multiprocessors: other algorithms and times",
                 "set it in every run that is compared, or in none",
                 "Multi-Process Service documentation, Environment Variables"},
    VariableRule{"LD_PRELOAD", "", "a preloaded library may replace functions under test", "unset it for the audit",
                 "ld.so(8)"},
    VariableRule{"NVIDIA_TF32_OVERRIDE", "", "the library ignores or forces TF32 whatever the compute type says",
                 "unset NVIDIA_TF32_OVERRIDE, and choose the precision by the compute type",
                 "cuBLAS 13.2 documentation, cublasComputeType_t, note on NVIDIA_TF32_OVERRIDE"},
};

}  // namespace

std::span<const VariableRule> variable_rules() { return kRules; }

bool changes_something(const VariableRule& rule, const std::map<std::string, std::string>& variables) {
  const auto found = variables.find(std::string(rule.name));
  if (found == variables.end() || found->second.empty()) return false;
  return rule.harmless.empty() || found->second != rule.harmless;
}

}  // namespace lt_audit
