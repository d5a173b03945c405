// Every scenario with its rule, its remedy and the claim that it settles.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "environment_scenarios.h"
#include "lt_audit/variables.h"

namespace lt_audit::environment {
namespace {

using enum Expectation;

constexpr std::string_view kOneRelease =
    "libcublas and libcublasLt are one component of a toolkit and have one version (CUDA 13.0 release notes, table of "
    "component versions); libcublas calls functions of its own libcublasLt that no header has";
constexpr std::string_view kHeaderRule =
    "the cuBLAS interface is backward compatible within a major version (CUDA Compatibility guide, minor version "
    "compatibility): a library may be newer than its headers, and not older or of another major version";
constexpr std::string_view kDriverRule =
    "a library of CUDA N.x needs a driver for CUDA N.0 or newer (CUDA Compatibility guide, minor version "
    "compatibility)";
constexpr std::string_view kModeRule =
    "in exclusive mode one process alone can have a context on the device (cuda_runtime_api.h 13.0, cudaComputeMode)";
constexpr std::string_view kMigRule =
    "an instance has a part of the multiprocessors and of the memory (MIG User Guide, Concepts), and the heuristic "
    "chooses by them";
constexpr std::string_view kMpsRule =
    "clients of one server share its limits, and a fatal fault of one ends the others (Multi-Process Service "
    "documentation, Memory Protection and Error Containment)";
constexpr std::string_view kEccRule =
    "without ECC a flipped bit of the device's memory stays unnoticed (nvidia-smi documentation, ECC Mode)";
constexpr std::string_view kMemoryRule =
    "cublasLtCreate and cublasCreate allocate and return ALLOC_FAILED when they cannot (cuBLAS 13.2 documentation, "
    "cublasLtCreate, cublasCreate)";
constexpr std::string_view kFp32Rule =
    "CUBLAS_COMPUTE_32F and CUBLAS_COMPUTE_64F compute with at least that precision (cuBLAS 13.2 documentation, "
    "cublasComputeType_t): a product of two whole significands is rounded once";
constexpr std::string_view kTf32Off =
    "NVIDIA_TF32_OVERRIDE=0 overrides defaults and settings by API, and no product uses TF32 (cuBLAS 13.2 "
    "documentation, cublasComputeType_t, note)";
constexpr std::string_view kTf32On =
    "CUBLAS_COMPUTE_32F computes with at least the precision of FP32 (cuBLAS 13.2 documentation, "
    "cublasComputeType_t), and of NVIDIA_TF32_OVERRIDE only the value 0 is documented";
constexpr std::string_view kNoNumbers =
    "what the documentation says of this variable is not about numbers, and two runs of one build on one GPU give the "
    "same bits (cuBLAS 13.2 documentation, Results Reproducibility)";
constexpr std::string_view kPool =
    "CUBLAS_WORKSPACE_CONFIG sizes the workspace of cuBLAS handles; cublasLtMatmul has its caller's (cuBLAS 13.2 "
    "documentation, Results Reproducibility and cublasSetWorkspace)";
constexpr std::string_view kEmulated =
    "emulation by variable is offered for FP32 on compute capability 10.0 and 10.3 and for FP64 from 8.0 on, and is "
    "not "
    "IEEE 754 arithmetic (cuBLAS 13.2 documentation, Floating Point Emulation)";
constexpr std::string_view kBlocking =
    "with CUDA_LAUNCH_BLOCKING=1 a launch returns after its kernel (CUDA Programming Guide, CUDA Environment "
    "Variables); which call then returns the error of a library's kernel is not documented";

std::string kebab(std::string_view words) {
  std::string text;
  std::transform(words.begin(), words.end(), std::back_inserter(text),
                 [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return text;
}

Scenario make(std::string_view id, std::string_view group, std::string_view title, Expectation expectation,
              std::string_view rule, std::string_view remedy, Observation (*run)(Session&, const Case&)) {
  Scenario scenario;
  scenario.id = id;
  scenario.group = group;
  scenario.title = title;
  scenario.expectation = expectation;
  scenario.rule = rule;
  scenario.remedy = remedy;
  scenario.run = run;
  return scenario;
}

void add_facts(std::vector<Scenario>& list) {
  constexpr std::string_view kBoth =
      "give --cublas and --cublaslt files of one directory, and clear LD_LIBRARY_PATH and RUNPATH of older copies";
  for (const auto* what : {"versions", "places", "copies"}) {
    list.push_back(make(fmt::format("libraries.{}", what), "libraries", "The pair of libcublas and libcublasLt",
                        must_work, kOneRelease, kBoth, look_at_libraries));
  }
  list.push_back(make("headers", "headers", "The cuBLASLt that runs", must_work, kHeaderRule,
                      "run with the cuBLASLt of the headers that the application was compiled with, or a newer one of "
                      "the same major version",
                      look_at_libraries));
  list.push_back(make("driver", "driver", "The NVIDIA driver", must_work, kDriverRule,
                      "update the driver, install the cuda-compat package of the library's CUDA version, or take a "
                      "library of the driver's CUDA version",
                      look_at_driver));
  const auto device = [&](std::string_view what, std::string_view title, std::string_view rule,
                          std::string_view remedy) {
    list.push_back(make(fmt::format("device.{}", what), what, title, must_work, rule, remedy, look_at_device));
    list.back().parameters[kDeviceParameter] = what;
  };
  device("compute-mode", "The device's compute mode", kModeRule, "set the default mode: nvidia-smi -c DEFAULT");
  device("mig", "The device", kMigRule, "compare only with runs on an instance of the same profile");
  device("mps", "The device", kMpsRule, "audit without the server, or while no other client runs");
  device("ecc", "Error correction of the device's memory", kEccRule, "switch it on and reset the GPU: nvidia-smi -e 1");
  list.push_back(make("memory.free", "memory", "Free device memory", must_work, kMemoryRule,
                      "end the processes that hold the memory (nvidia-smi), or make handles and workspaces before the "
                      "pool of the framework takes the rest",
                      look_at_memory));
  for (const auto& rule : variable_rules()) {
    list.push_back(make(fmt::format("variable.{}", rule.name), kebab(rule.name), rule.name, must_work, rule.source,
                        rule.remedy, look_at_variable));
    list.back().parameters[kNameParameter] = rule.name;
  }
}

void add_effects(std::vector<Scenario>& list) {
  list.push_back(make("whole-significands", "whole-significands", "A product of whole significands", must_work,
                      kFp32Rule,
                      "unset NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_*; use CUBLAS_COMPUTE_32F_PEDANTIC or "
                      "CUBLAS_COMPUTE_64F_PEDANTIC where every bit counts",
                      multiply_whole_significands));
  const auto effect = [&](std::string_view id, std::string_view sets, std::string_view rule, std::string_view remedy,
                          Observation (*run)(Session&, const Case&), Expectation expectation = must_work) {
    list.push_back(make(id, id, fmt::format("A product in a process with {}", sets), expectation, rule, remedy, run));
    list.back().parameters[kSetsParameter] = sets;
  };
  constexpr std::string_view kSameEverywhere = "set the variable in every run that is compared, or in none";
  effect("tf32-off", "NVIDIA_TF32_OVERRIDE=0", kTf32Off,
         "do not rely on the variable: use CUBLAS_COMPUTE_32F in place of CUBLAS_COMPUTE_32F_FAST_TF32", switch_tf32);
  effect("tf32-on", "NVIDIA_TF32_OVERRIDE=1", kTf32On,
         "unset NVIDIA_TF32_OVERRIDE, and use CUBLAS_COMPUTE_32F_FAST_TF32 where TF32 is wanted; where FP32 must be, "
         "CUBLAS_COMPUTE_32F_PEDANTIC",
         switch_tf32);
  effect("launch-blocking", "CUDA_LAUNCH_BLOCKING=1", kNoNumbers, kSameEverywhere, set_variable);
  effect("log", "CUBLASLT_LOG_LEVEL=5", kNoNumbers, kSameEverywhere, set_variable);
  effect("workspace-config", "CUBLAS_WORKSPACE_CONFIG=:4096:8", kPool, kSameEverywhere, set_variable);
  effect("workspace-config-small", "CUBLAS_WORKSPACE_CONFIG=:16:8", kPool, kSameEverywhere, set_variable);
  effect("module-loading", "CUDA_MODULE_LOADING=EAGER", kNoNumbers, kSameEverywhere, set_variable);
  effect("heuristics-cache", "CUBLASLT_HEURISTICS_CACHE_CAPACITY=0", kNoNumbers, kSameEverywhere, set_variable);
  effect("emulate-single", "CUBLAS_EMULATE_SINGLE_PRECISION=1", kEmulated, kSameEverywhere, set_variable, may_refuse);
  effect("emulate-double", "CUBLAS_EMULATE_DOUBLE_PRECISION=1", kEmulated, kSameEverywhere, set_variable, may_refuse);
  effect("pinned-error", "CUDA_LAUNCH_BLOCKING=1", kBlocking,
         "synchronise after each call while looking for the one that faults", pin_asynchronous_error, may_refuse);
  list.back().claims = "C20=pinned=yes";
}

void add_memory(std::vector<Scenario>& list) {
  constexpr std::string_view kEarly =
      "make handles at start and keep them, before the pool of the framework takes the memory, and read "
      "NOT_INITIALIZED and ALLOC_FAILED of a creation as lack of memory";
  for (const auto* leave : {"0", "1", "4", "16", "64", "256"}) {
    const auto add = [&](std::string_view group, std::string_view title, Observation (*run)(Session&, const Case&)) {
      auto& made = list.emplace_back(
          make(fmt::format("{}.leave{}", group, leave), group, title, may_refuse, kMemoryRule, kEarly, run));
      made.nature = Nature::isolated;
      made.parameters[kLeaveParameter] = leave;
    };
    add("full-memory", "A cuBLASLt handle made when memory is nearly gone", make_handle_when_full);
    add("full-memory-cublas", "A cuBLAS handle made when memory is nearly gone", make_cublas_handle_when_full);
  }
}

std::vector<Scenario> make_scenarios() {
  std::vector<Scenario> list;
  add_facts(list);
  add_effects(list);
  add_memory(list);
  return list;
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const std::vector<Scenario> list = make_scenarios();
  return list;
}

const Scenario& scenario_named(std::string_view id) {
  const auto list = scenarios();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Scenario& s) { return s.id == id; });
  if (found == list.end()) throw std::logic_error(fmt::format("environment: no scenario {}", id));
  return *found;
}

}  // namespace lt_audit::environment
