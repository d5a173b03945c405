// Check "environment": what surrounds a call and changes it without being an argument of it. environment_table.cpp has
// the scenarios, environment_facts.cpp, _effects.cpp and _memory.cpp their steps, environment_judge.cpp what is said
// against them, this file the cases.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "environment_scenarios.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {
namespace {

using namespace environment;

constexpr CheckInfo kInfo{
    "environment", "Libraries, driver, device and variables fit together, and no variable changes results unseen",
    "cuBLAS 13.2 documentation, cublasComputeType_t, cublasLtCreate, Results Reproducibility, cuBLASLt Logging; CUDA "
    "Compatibility guide; CUDA Programming Guide, CUDA Environment Variables"};

constexpr std::array kDefects{
    Defect{"algorithm-differs", "is run with another algorithm", "the same algorithm as without the variable"},
    Defect{"bits-differ", "has other bits", "the same bits as without the variable"},
    Defect{"cublas-bits-differ", "has other bits when cuBLAS multiplies", "one setting in all runs that are compared"},
    Defect{"exclusive", "lets one process in at a time", "the default mode, so that several processes can be audited"},
    Defect{"forced", "is computed in TF32 although the compute type is COMPUTE_32F", "the numbers of FP32"},
    Defect{"ignored", "is computed in TF32 although that is switched off", "the numbers of FP32"},
    Defect{"loaded-twice", "is in the process with more than one copy", "one copy of each library"},
    Defect{"low", "is low: handles and workspaces may not fit", "512 MiB or more"},
    Defect{"misleading-status", "fails with NOT_INITIALIZED", "ALLOC_FAILED, which tells of memory"},
    Defect{"mixed-versions", "is of two versions", "one version of both"},
    Defect{"not-recovered", "leaves the library unusable when there is memory again", "a handle and right numbers"},
    Defect{"older-than-headers", "is older than the headers that the program was compiled with",
           "the version of the headers or a newer one"},
    Defect{"other-major", "has another major version than the headers that the program was compiled with",
           "the major version of the headers"},
    Defect{"part-of-gpu", "is a part of a GPU: other algorithms and times than on a whole one", "a whole GPU"},
    Defect{"set", "is set and changes what the library or CUDA does", "not set"},
    Defect{"shared", "is shared through a server: times and faults of others show here", "no server"},
    Defect{"switched-off", "is switched off", "switched on"},
    Defect{"too-old", "is older than the library's major version of CUDA", "a driver of that version or newer"},
    Defect{"two-places", "comes from two directories", "one directory"},
    Defect{"undocumented-status", "fails with a status that the documentation does not list",
           "ALLOC_FAILED, which tells of memory"},
    Defect{"wrong-when-full", "gives wrong numbers while memory is full", "right numbers, or a refusal by status"},
};

/// A product to try an effect with.
struct Form {
  std::string_view name;
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
};
constexpr Form kF16{"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
constexpr Form kF32{"f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
constexpr Form kF64{"f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
constexpr Form kTf32{"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
constexpr Form kE4m3{"e4m3", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
constexpr Form kI8{"i8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I};

struct Shape {
  std::int64_t m, n, k;
};
constexpr Shape kSquare{96, 80, 64};
/// Few tiles and a long k: where workspace, multiprocessors and algorithm show in the bits.
constexpr Shape kLongK{32, 16, 8192};

MatmulProblem problem_of(const Form& form, const Shape& shape) {
  auto problem = uniform_problem(form.input, shape.m, shape.n, shape.k);
  problem.type_c = problem.type_d = form.output;
  problem.compute_type = form.compute;
  problem.scale_type = default_scale_type(form.compute);
  problem.transa = bytes_of(form.input) == 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
  problem.workspace_bytes = 4 << 20;
  return problem;
}

/// Accepted on an H200 by cuBLASLt 13.1.0, and faults while it runs: the leading dimension of aux is no multiple of 8.
MatmulProblem faulting_problem() {
  auto problem = uniform_problem(CUDA_R_16F, 256, 256, 256);
  problem.epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  problem.ldaux = 257;
  return problem;
}

class CaseList {
 public:
  explicit CaseList(Depth depth) : depth_(depth) {}

  void add(Depth from, std::string_view scenario, std::string_view form, const MatmulProblem& problem) {
    if (depth_ < from) return;
    list_.push_back(ScenarioCheck::make_case(scenario_named(scenario), form, problem));
  }
  void add(Depth from, std::string_view scenario, const Form& form, const Shape& shape) {
    add(from, scenario, form.name, problem_of(form, shape));
  }
  Case& back() { return list_.back(); }
  std::vector<Case> take() { return std::move(list_); }

 private:
  Depth depth_;
  std::vector<Case> list_;
};

bool is_about_facts(const Scenario& scenario) {
  return scenario.id.starts_with("libraries.") || scenario.id == "headers" || scenario.id == "driver" ||
         scenario.id.starts_with("device.") || scenario.id == "memory.free" || scenario.id.starts_with("variable.");
}

void add_facts(CaseList& list, const Target& target) {
  for (const auto& scenario : scenarios()) {
    if (!is_about_facts(scenario)) continue;
    list.add(Depth::quick, scenario.id, "", problem_of(kF16, kSquare));
    // C29 says that the toolkits of CUDA 13 have cuBLASLt 12.0: it can be held against a library out of one.
    if (scenario.id == "libraries.versions" && target.cublaslt.path.find("cuda-13") != std::string::npos) {
      list.back().parameters["claims"] = fmt::format("C29={}=12", kLtMajor);
    }
  }
}

/// Each of these is another process, half a second on a GPU: one of depth quick, five of the default.
void add_effects(CaseList& list) {
  list.add(Depth::quick, "whole-significands", kF32, kSquare);
  list.add(Depth::quick, "whole-significands", kF64, kSquare);
  list.add(Depth::quick, "tf32-off", kTf32, kSquare);
  list.add(Depth::normal, "tf32-on", kF32, kSquare);
  // On an H200 with cuBLASLt 13.1.0 it is FP32 and FP64 that show the other pool in the bits of cuBLAS.
  list.add(Depth::normal, "workspace-config", kF32, kLongK);
  for (const auto* scenario : {"launch-blocking", "log"}) list.add(Depth::normal, scenario, kF16, kLongK);
  for (const auto* scenario : {"launch-blocking", "log", "workspace-config"}) {
    const bool pool = std::string_view(scenario) == "workspace-config";
    for (const auto& form : {pool ? kF16 : kF32, kF64, kE4m3, kI8}) list.add(Depth::full, scenario, form, kLongK);
  }
  for (const auto& shape : {Shape{512, 512, 512}, Shape{1, 256, 2048}}) {
    const auto name = fmt::format("{}.{}x{}x{}", kF32.name, shape.m, shape.n, shape.k);
    list.add(Depth::full, "whole-significands", name, problem_of(kF32, shape));
    list.add(Depth::full, "tf32-on", name, problem_of(kF32, shape));
  }
  list.add(Depth::full, "tf32-off", "tf32.512x512x512", problem_of(kTf32, {512, 512, 512}));
  for (const auto* scenario : {"workspace-config-small", "module-loading", "heuristics-cache"}) {
    list.add(Depth::full, scenario, kF16, kLongK);
    list.add(Depth::full, scenario, kF32, kLongK);
  }
  list.add(Depth::full, "emulate-single", kF32, kLongK);
  list.add(Depth::full, "emulate-double", kF64, kLongK);
  list.add(Depth::full, "pinned-error", "f16.gelu_aux_bias", faulting_problem());
}

/// A process of its own and a context beside that of the process: 0.6 s on a GPU, and next to nothing on the simulator.
void add_memory(CaseList& list, const Target& target) {
  const Depth first = target.kind == PlatformKind::simulator ? Depth::quick : Depth::normal;
  list.add(first, "full-memory.leave0", kF16, kSquare);
  list.add(Depth::normal, "full-memory-cublas.leave0", kF16, kSquare);
  for (const auto* leave : {"1", "4", "16", "64", "256"}) {
    list.add(Depth::full, fmt::format("full-memory.leave{}", leave), kF16, kSquare);
    list.add(Depth::full, fmt::format("full-memory-cublas.leave{}", leave), kF16, kSquare);
  }
  for (const auto& form : {kF32, kF64, kE4m3}) {
    for (const auto* leave : {"0", "4", "16"}) {
      list.add(Depth::full, fmt::format("full-memory.leave{}", leave), form, kLongK);
    }
  }
}

/// D is compared element by element, each a sum over k.
constexpr double kMostProducts = 0x1p34;

/// D is a product rounded once, nothing is added to it, and it can be compared within a second.
bool can_show_precision(const MatmulProblem& problem) {
  const double products = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                          static_cast<double>(problem.k) * static_cast<double>(problem.batch_count);
  if (products > kMostProducts) return false;
  const bool native = problem.compute_type == CUBLAS_COMPUTE_32F ||
                      problem.compute_type == CUBLAS_COMPUTE_32F_PEDANTIC ||
                      problem.compute_type == CUBLAS_COMPUTE_64F || problem.compute_type == CUBLAS_COMPUTE_64F_PEDANTIC;
  const bool wide = problem.type_a == CUDA_R_32F || problem.type_a == CUDA_R_64F;
  return native && wide && problem.type_b == problem.type_a && problem.type_d == problem.type_a && problem.alpha == 1 &&
         problem.beta == 0 && problem.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
}

class Environment : public ScenarioCheck {
 public:
  Environment() : ScenarioCheck(scenarios(), kDefects) {}

  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    CaseList list(depth);
    add_facts(list, target);
    add_effects(list);
    add_memory(list, target);
    return list.take();
  }

  /// Whether the process keeps the precision that the product asks for; for a fast one, whether a variable decides.
  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    CaseList list(Depth::quick);
    if (can_show_precision(problem) && promise_of(problem, scope_of(target)).expectation == Expectation::must_work) {
      list.add(Depth::quick, "whole-significands", "", problem);
    }
    if (problem.type_a == CUDA_R_32F) list.add(Depth::quick, "variable.NVIDIA_TF32_OVERRIDE", "", problem);
    return list.take();
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& scenario,
                                               const Observation& observation) const override {
    return judge_facts(scenario, observation);
  }
  std::string sentence(const Scenario& scenario, const Observation& observation) const override {
    const bool ran =
        observation.end == ProcessEnd::survived && observation.not_run.empty() && observation.audit_error.empty();
    if (!ran) return ScenarioCheck::sentence(scenario, observation);
    return fmt::format("{}: {}", scenario.title, describe_facts(scenario, observation));
  }
};

}  // namespace

std::unique_ptr<Check> make_environment() { return std::make_unique<Environment>(); }

}  // namespace lt_audit
