// Check "graph-capture": matmuls under stream capture, and what their graphs replay. graph_table.cpp has the scenarios,
// graph_*.cpp their steps, this file cases and judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph_scenarios.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {
namespace {

using namespace graph_capture;

constexpr CheckInfo kInfo{
    "graph-capture", "A captured matmul is in the graph, keeps what it captured, and replays with the right numbers",
    "cuBLAS 13.2 documentation, CUDA Graphs Support; CUDA Programming Guide, Stream Capture and Whole Graph Update; "
    "cuda_runtime_api.h 13.0, cudaStreamBeginCapture"};

constexpr std::array kDefects{
    Defect{"capture-lost", "succeeds and invalidates the capture", "the capture goes on, or the call says no"},
    Defect{"follows-descriptor", "replays with what the descriptor says now",
           "the graph keeps the state of its own capture"},
    Defect{"half-captured", "is refused and leaves work in the graph", "nothing of a refused call is captured"},
    Defect{"lost", "returns SUCCESS and is neither in the graph nor run", "the matmul is a node of the graph"},
    Defect{"not-instantiated", "cannot be made executable", "cudaGraphInstantiate accepts the captured graph"},
    Defect{"not-replayed", "cannot be replayed", "the graph runs without an error"},
    Defect{"outside-graph", "runs at once and is not in the graph",
           "a status, or a node in the graph: SUCCESS looks like a captured call"},
    Defect{"ran-at-once", "runs during the capture", "captured work runs at the launch of its graph"},
    Defect{"stale", "replays an old state", "the state of its own capture, or the present content of the memory"},
    Defect{"wrong-scalar", "replays with a scalar that nobody captured", "the scalar of the capture"},
};

/// Types of the product.
struct Form {
  std::string_view name;
  Depth from;
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
};
constexpr std::array kForms{
    Form{"f32", Depth::quick, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16", Depth::quick, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"f64", Depth::quick, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"bf16", Depth::quick, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"e4m3", Depth::quick, CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"i8", Depth::normal, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
    Form{"tf32", Depth::normal, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"f16_f32", Depth::normal, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
};

struct Shape {
  std::string_view name;
  std::int64_t m, n, k;
};
constexpr std::array kShapes{Shape{"row", 1, 256, 128}, Shape{"column", 256, 1, 128}, Shape{"odd", 61, 53, 47},
                             Shape{"long_k", 32, 32, 2048}};
/// The heuristic wants split-K partial sums in the workspace for it.
constexpr Shape kSplit{"split_k", 32, 32, 8192};

MatmulProblem problem_of(const Form& form, const Shape& shape) {
  auto problem = uniform_problem(form.input, shape.m, shape.n, shape.k);
  problem.type_c = problem.type_d = form.output;
  problem.compute_type = form.compute;
  problem.scale_type = default_scale_type(form.compute);
  problem.transa = bytes_of(form.input) == 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
  problem.workspace_bytes = 4 << 20;
  return problem;
}

bool takes_bias(const Form& form) { return !is_integer(form.input) && form.input != CUDA_R_64F; }

/// The scenarios that are about the library's types run with all of them, those about CUDA with one.
bool runs(const Form& form, const Scenario& scenario, Depth depth) {
  const bool first = form.name == "f32";
  const bool about_scales = scenario.id.find("scale-") != std::string::npos;
  if (about_scales) return is_fp8(form.input);
  if (scenario.id.find("compute-type") != std::string::npos) return first;
  const bool about_bias =
      scenario.id.find("epilogue") != std::string::npos || scenario.id.find("bias") != std::string::npos;
  if (about_bias && !takes_bias(form)) return false;
  const auto mode = scenario.parameters.find(kMode);
  const bool global = mode == scenario.parameters.end() || mode->second == "global";
  const bool about_cuda = scenario.id.starts_with("stream.") || scenario.id.starts_with("inside.");
  if (about_cuda) {
    // The first use is an experiment of its own for each type, and costs a process.
    const bool costly = scenario.nature == Nature::isolated;
    return (first || depth == Depth::full) && (global || (costly ? depth == Depth::full : depth != Depth::quick));
  }
  if (scenario.id == "workspace") return first || form.name == "f16";
  // INT8 products into INT32 take 0 and 1 alone as scalars.
  const bool about_scalars = scenario.id.find("alpha") != std::string::npos || scenario.id == "device-scalars";
  if (about_scalars && is_integer(form.input)) return false;
  return form.from == Depth::quick ? depth != Depth::quick || first || form.name == "f16" || scenario.id == "replay"
                                   : scenario.id == "replay";
}

MatmulProblem problem_of(const Form& form, const Scenario& scenario) {
  if (scenario.id == "workspace") return problem_of(form, kSplit);
  auto problem = problem_of(form, Shape{"plain", 96, 80, 64});
  if (takes_bias(form)) problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  if (scenario.id == "device-scalars") problem.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
  return problem;
}

class GraphCapture : public ScenarioCheck {
 public:
  GraphCapture() : ScenarioCheck(scenarios(), kDefects) {}

  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& /*target*/, Depth depth) const override {
    std::vector<Case> list;
    for (const auto& form : kForms) {
      if (depth < form.from) continue;
      for (const auto& scenario : scenarios()) {
        if (runs(form, scenario, depth)) list.push_back(make_case(scenario, form.name, problem_of(form, scenario)));
      }
      add_shapes(list, form, depth);
    }
    return list;
  }

  /// The capture of exactly this call, where the documentation promises the call at all.
  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    if (promise_of(problem, scope_of(target)).expectation != Expectation::must_work) return {};
    MatmulProblem captured = problem;
    captured.algo = AlgoChoice::heuristic;
    captured.algo_index = 0;
    return {make_case(scenario_named("replay"), "", captured)};
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& scenario,
                                               const Observation& observation) const override {
    const auto defect = observation.fact(kDefect);
    if (defect.empty()) return std::nullopt;
    // A trap: every status said SUCCESS, and CUDA's own rules explain what happened.
    const bool must_work = scenario.expectation == Expectation::must_work;
    const bool trap = !must_work && (defect == "outside-graph" || defect == "capture-lost");
    return ScenarioResult{defect == "stale" ? Outcome::stale : Outcome::not_captured,
                          trap ? Status::warn : Status::fail, defect};
  }

  std::string sentence(const Scenario& scenario, const Observation& observation) const override {
    auto text = ScenarioCheck::sentence(scenario, observation);
    const auto* end = observation.stage("end_capture");
    if (const auto* said = stage_of_defect(observation); said != nullptr) {
      text = fmt::format("{}: {} returns {}", scenario.title, said->call, said->status);
    }
    if (end != nullptr) text += fmt::format("; cudaStreamEndCapture returns {}", end->status);
    if (const auto nodes = observation.fact(kNodes); !nodes.empty()) {
      text += fmt::format(" with {} node{}", nodes, nodes == "1" ? "" : "s");
    }
    return text;
  }

 private:
  /// The call that speaks for a defect that was seen without numbers: the first that failed, but for the end of the
  /// capture, which the sentence names anyway; the matmul when all succeeded.
  static const Stage* stage_of_defect(const Observation& observation) {
    const bool told_otherwise = observation.facts.count(kDefect) == 0 || observation.verification ||
                                observation.end != ProcessEnd::survived || observation.stage(kAnswerStage) != nullptr;
    if (told_otherwise) return nullptr;
    const auto& stages = observation.stages;
    const auto failed = std::find_if(stages.begin(), stages.end(),
                                     [](const Stage& stage) { return !stage.ok() && stage.name != "end_capture"; });
    return failed != stages.end() ? &*failed : observation.stage("matmul");
  }

  static const Scenario& scenario_named(std::string_view id) {
    const auto all = scenarios();
    return *std::find_if(all.begin(), all.end(), [id](const Scenario& scenario) { return scenario.id == id; });
  }

  /// Other kernels: vectors, odd sizes, a long k, a batch.
  static void add_shapes(std::vector<Case>& list, const Form& form, Depth depth) {
    if (depth == Depth::quick) return;
    const auto& replay = scenario_named("replay");
    const auto& update = scenario_named("exec-update.operands");
    for (const auto& shape : kShapes) {
      // FP8 wants multiples of 16, INT8 of 4.
      if (bytes_of(form.input) == 1 && shape.name != "long_k") continue;
      list.push_back(make_case(replay, fmt::format("{}.{}", form.name, shape.name), problem_of(form, shape)));
      if (shape.m == 1 || shape.n == 1) {
        list.push_back(make_case(update, fmt::format("{}.{}", form.name, shape.name), problem_of(form, shape)));
      }
    }
    auto batched = problem_of(form, Shape{"plain", 96, 80, 64});
    batched.batch_count = 3;
    list.push_back(make_case(replay, fmt::format("{}.batch3", form.name), batched));
  }
};

}  // namespace

std::unique_ptr<Check> make_graph_capture() { return std::make_unique<GraphCapture>(); }

}  // namespace lt_audit
