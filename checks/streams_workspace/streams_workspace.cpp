// Check "streams-workspace": matmuls on several streams, with workspaces of their own and with one that is shared, and
// the order of a matmul with its neighbours. streams_table.cpp has the scenarios, streams_*.cpp their steps, this file
// cases and judgement.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/contract.h"
#include "streams_scenarios.h"

namespace lt_audit {
namespace {

using namespace streams_workspace;

constexpr CheckInfo kInfo{
    "streams-workspace", "Work on streams keeps its order, and only a workspace that is shared mixes products up",
    "cuBLAS 13.2 documentation, cublasSetWorkspace (2.4.8), Scalar Parameters (2.1.5), Results Reproducibility; "
    "cublasLt.h 13.1.0, cublasLtMatmul (lines 1011-1026); CUDA Programming Guide, Streams"};

constexpr std::array kDefects{
    Defect{"bits-change", "gives other bits beside other streams than alone", "the same bits at every run"},
    Defect{"not-concurrent", "waits all the same, so that the cases about order prove nothing",
           "two streams run side by side"},
    Defect{"other-alpha", "uses an alpha of another time", "alpha as it is when the stream reaches the call"},
};

/// Types of the product. Of 16-bit and 8-bit inputs D is FP32, so that a few sums are exact in it.
struct Form {
  std::string_view name;
  Depth from;
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
};
constexpr std::array kForms{
    Form{"f16", Depth::quick, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f32", Depth::quick, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16", Depth::normal, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f64", Depth::normal, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"e4m3", Depth::normal, CUDA_R_8F_E4M3, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"i8", Depth::normal, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
};

struct Shape {
  std::string_view name;
  std::int64_t m, n, k;
};
/// One tile and a long k, which leaves most of a GPU idle unless k is split; the others have more tiles or longer
/// parts.
constexpr Shape kSplit{"", 32, 16, 8192};
/// No workspace is needed for it.
constexpr Shape kSquare{"", 96, 80, 64};
constexpr std::array kMoreShapes{Shape{"tiles", 128, 96, 16384}, Shape{"longest_k", 32, 16, 65536},
                                 Shape{"wide", 64, 256, 8192}};
constexpr std::int64_t kGiven = 16 << 20;

MatmulProblem problem_of(const Form& form, const Shape& shape) {
  auto problem = uniform_problem(form.input, shape.m, shape.n, shape.k);
  problem.type_c = problem.type_d = form.output;
  problem.compute_type = form.compute;
  problem.scale_type = default_scale_type(form.compute);
  problem.transa = bytes_of(form.input) == 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
  problem.workspace_bytes = kGiven;
  return problem;
}

/// Calls that follow each other add to D, so that one that is wrong shows at the end.
MatmulProblem problem_of(const Form& form, const Shape& shape, const Scenario& scenario) {
  auto problem = problem_of(form, shape);
  if (scenario.run == scalars_in_order) {
    problem.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
  } else if (scenario.run == together || scenario.run == in_threads || scenario.run == workspace_in_order) {
    problem.in_place = true;
    problem.beta = 1;
  }
  return problem;
}

/// In depth quick one scenario of each kind, and more of them for FP16; in depth normal all of them for FP16 and FP32.
Depth depth_of(const Form& form, const Scenario& scenario) {
  static const std::set<std::string_view> kSample{
      "shared.two-streams", "ordered.one-stream", "own.two-streams", "inputs.null", "chain", "pdl.inputs"};
  static const std::set<std::string_view> kFirstOnly{"ordered.events",      "unneeded.two-streams", "own.priorities",
                                                     "own.per-thread",      "inputs.non-blocking",  "inputs.per-thread",
                                                     "across.legacy-first", "scalars.copy",         "pdl.scalars",
                                                     "pdl.workspace",       "control.no-event",     "across.events"};
  const auto& id = scenario.id;
  if (id.ends_with(".long")) return Depth::full;
  if (kSample.contains(id)) return form.from;
  if (kFirstOnly.contains(id)) return form.name == "f16" ? Depth::quick : Depth::normal;
  return form.from == Depth::quick || id.ends_with("two-threads") ? Depth::normal : Depth::full;
}

bool runs(const Form& form, const Scenario& scenario) {
  // INT8 products into INT32 take 0 and 1 alone as scalars.
  if (scenario.run == scalars_in_order && is_integer(form.input)) return false;
  // About a product of an application.
  return !scenario.id.ends_with("first-algorithm");
}

class StreamsWorkspace : public ScenarioCheck {
 public:
  StreamsWorkspace() : ScenarioCheck(scenarios(), kDefects) {}

  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    std::vector<Case> list;
    for (const auto& form : kForms) {
      for (const auto& scenario : scenarios()) {
        if (!runs(form, scenario) || depth < depth_of(form, scenario)) continue;
        add(list, target, scenario, form.name,
            problem_of(form, scenario.group == "unneeded" ? kSquare : kSplit, scenario));
      }
      if (depth < Depth::full) continue;
      for (const auto& shape : kMoreShapes) {
        for (const char* id : {"shared.two-streams", "ordered.one-stream", "own.two-streams", "chain", "pdl.inputs"}) {
          const auto& scenario = scenario_named(id);
          add(list, target, scenario, fmt::format("{}.{}", form.name, shape.name), problem_of(form, shape, scenario));
        }
      }
    }
    return list;
  }

  /// This very product twice at once, with its own algorithm: whether one workspace is enough for two streams.
  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    if (problem.algo == AlgoChoice::given) return {};
    MatmulProblem asked = problem;
    asked.algo = AlgoChoice::heuristic;
    asked.algo_index = 0;
    if (promise_of(asked, scope_of(target)).expectation != Expectation::must_work) return {};
    return {make_case(scenario_named("own.first-algorithm"), "", asked),
            make_case(scenario_named("shared.first-algorithm"), "", asked)};
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& scenario,
                                               const Observation& observation) const override {
    const auto defect = observation.fact(kDefect);
    if (defect == "bits-change") return ScenarioResult{Outcome::nondeterministic, Status::fail, defect};
    if (defect == "not-concurrent") return ScenarioResult{Outcome::unproven, Status::warn, defect};
    if (defect == "other-alpha") return ScenarioResult{Outcome::stale, Status::fail, defect};
    // The application shares what it must not share: a trap, since every status says SUCCESS.
    const auto outcome = outcome_of(observation);
    const bool wrong = outcome == Outcome::wrong_result || outcome == Outcome::unwritten;
    if (scenario.expectation == Expectation::may_refuse && wrong) {
      return ScenarioResult{outcome, Status::warn, "wrong-result"};
    }
    return std::nullopt;
  }

  std::string sentence(const Scenario& scenario, const Observation& observation) const override {
    const auto defect = observation.fact(kDefectDetail);
    const auto detail = observation.fact(kDetail);
    const auto said =
        defect.empty() ? ScenarioCheck::sentence(scenario, observation) : fmt::format("{}: {}", scenario.title, defect);
    return detail.empty() ? said : fmt::format("{} ({})", said, detail);
  }

 private:
  static void add(std::vector<Case>& list, const Target& target, const Scenario& scenario, std::string_view form,
                  const MatmulProblem& problem) {
    list.push_back(make_case(scenario, form, problem));
    auto promise = promise_of(problem, scope_of(target));
    if (promise.expectation == Expectation::must_work) return;
    list.back().expectation = promise.expectation;
    list.back().rule = std::move(promise.rule);
  }
};

}  // namespace

std::unique_ptr<Check> make_streams_workspace() { return std::make_unique<StreamsWorkspace>(); }

}  // namespace lt_audit
