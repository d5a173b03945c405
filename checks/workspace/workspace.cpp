// Check "workspace": limits from nothing to 64 MiB, and workspaces that are too small, null, unaligned or full of
// something old. workspace_table.cpp has the scenarios, workspace_*.cpp their steps, this file cases and judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/contract.h"
#include "workspace_scenarios.h"

namespace lt_audit {
namespace {

using namespace workspace;

constexpr CheckInfo kInfo{
    "workspace", "A workspace is used within its bounds, its old content never shows, and too little of it is refused",
    "cublasLt.h 13.1.0, cublasLtMatmul (lines 1002-1026), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES (lines 2084-2088); "
    "cuBLAS 13.2 documentation, Results Reproducibility"};

constexpr std::array kDefects{
    Defect{"above-limit", "brings an algorithm that asks for more than the limit",
           "workspaceSize within CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES"},
    Defect{"bits-change", "gives other bits on another run", "the same bits at every run"},
    Defect{"late-refusal", "brings an algorithm that cublasLtMatmul refuses", "what the query offers runs"},
    Defect{"refused-above-smaller", "is refused under a limit, and accepted under a smaller one",
           "a larger limit leaves no algorithm out"},
    Defect{"refused-and-written", "is refused, and D is written all the same", "a refused call leaves D alone"},
    Defect{"stale-workspace", "gives bits that depend on what the workspace held before",
           "the same bits whatever the workspace holds"},
};

/// Types of the product.
struct Form {
  std::string_view name;
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
};
constexpr std::array kForms{
    Form{"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"e4m3", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"i8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
};

struct Shape {
  std::string_view name;
  std::int64_t m, n, k;
  bool bias = false;
};
/// One tile and a long k, which leaves most of a GPU idle unless k is split; and products that need no workspace.
constexpr Shape kLongK{"long_k", 32, 16, 8192};
constexpr Shape kLongKBias{"long_k_bias", 32, 16, 8192, true};
constexpr Shape kLongestK{"longest_k", 32, 16, 65536};
constexpr Shape kSquare{"square", 96, 80, 64};
constexpr Shape kFewTiles{"few_tiles", 192, 128, 1024};
constexpr Shape kRow{"row", 1, 256, 2048};

/// What the scenarios about one call hand over, more than any of their algorithms asks for.
constexpr std::int64_t kGiven = 4 * kMiB;
constexpr std::array<std::int64_t, 7> kUsualLimits{0, 64 << 10, kMiB, 4 * kMiB, 16 * kMiB, 32 * kMiB, 64 * kMiB};
constexpr std::array<std::int64_t, 16> kFineLimits{0,         256,       4 << 10,   16 << 10, 32 << 10, 64 << 10,
                                                   128 << 10, 256 << 10, 512 << 10, kMiB,     2 * kMiB, 4 * kMiB,
                                                   8 * kMiB,  16 * kMiB, 32 * kMiB, 64 * kMiB};

MatmulProblem problem_of(const Form& form, const Shape& shape) {
  auto problem = uniform_problem(form.input, shape.m, shape.n, shape.k);
  problem.type_c = problem.type_d = form.output;
  problem.compute_type = form.compute;
  problem.scale_type = default_scale_type(form.compute);
  problem.transa = bytes_of(form.input) == 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (shape.bias) problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  problem.workspace_bytes = kGiven;
  return problem;
}

bool takes(const Form& form, const Shape& shape) {
  // FP8 wants multiples of 16 in m, INT8 of 4; FP64 and INT8 have no bias.
  if (bytes_of(form.input) == 1 && shape.m == 1) return false;
  return !shape.bias || (form.input != CUDA_R_64F && !is_integer(form.input));
}

std::string text_of(std::vector<std::int64_t> limits) {
  std::sort(limits.begin(), limits.end());
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  std::string text;
  for (const auto limit : limits) text += fmt::format("{}{}", text.empty() ? "" : " ", limit);
  return text;
}

class CaseList {
 public:
  CaseList(const Target& target, Depth depth) : scope_(scope_of(target)), depth_(depth) {}

  /// The problem of a walk has the last limit as its workspace.
  void add_walk(Depth from, std::string_view scenario, std::string_view form, MatmulProblem problem,
                std::vector<std::int64_t> limits) {
    problem.workspace_bytes = *std::max_element(limits.begin(), limits.end());
    if (auto* added = add(from, scenario, form, problem)) added->parameters[kLimits] = text_of(std::move(limits));
  }

  /// The case, or null when the depth leaves it out. What the documentation says of the product itself goes first.
  Case* add(Depth from, std::string_view scenario, std::string_view form, const MatmulProblem& problem) {
    if (depth_ < from) return nullptr;
    list_.push_back(ScenarioCheck::make_case(scenario_named(scenario), form, problem));
    auto promise = promise_of(problem, scope_);
    if (promise.expectation != Expectation::must_work) {
      list_.back().expectation = promise.expectation;
      list_.back().rule = std::move(promise.rule);
    }
    return &list_.back();
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  std::vector<Case> list_;
};

void add_form(CaseList& list, const Form& form) {
  const bool first = form.name == "f16";
  const bool early = first || form.name == "f32";
  const Depth sample = early ? Depth::quick : Depth::normal;
  const Depth one = first ? Depth::quick : Depth::normal;
  const auto id = [&form](const Shape& shape) { return fmt::format("{}.{}", form.name, shape.name); };
  const auto add = [&](Depth from, std::string_view scenario, const Shape& shape, std::int64_t offset = 0) {
    auto problem = problem_of(form, shape);
    problem.workspace_offset = offset;
    list.add(from, scenario, id(shape), problem);
  };
  const std::vector<std::int64_t> usual(kUsualLimits.begin(), kUsualLimits.end());
  const std::vector<std::int64_t> fine(kFineLimits.begin(), kFineLimits.end());
  for (const auto& shape : {kLongK, kSquare, kFewTiles, kRow, kLongKBias}) {
    if (!takes(form, shape)) continue;
    const bool always = shape.name == kLongK.name || (first && shape.name == kSquare.name);
    const Depth from = always ? Depth::quick : (shape.name == kFewTiles.name ? Depth::full : Depth::normal);
    list.add_walk(from, "steps", id(shape), problem_of(form, shape), usual);
    list.add_walk(Depth::full, "steps.fine", id(shape), problem_of(form, shape), fine);
    add(shape.bias ? Depth::full : from, "repeat", shape);
  }
  list.add_walk(Depth::full, "steps", id(kLongestK), problem_of(form, kLongestK), usual);
  for (const auto& shape : {kLongK, kSquare}) add(one, "implicit", shape);
  for (const auto* scenario : {"exact", "larger", "too-small"}) add(sample, scenario, kLongK);
  for (const auto* scenario : {"null.unneeded", "null.sized"}) add(one, scenario, kSquare);
  // A process of its own costs more than all the others of a type.
  const bool common = early || form.name == "e4m3";
  add(first ? Depth::quick : (common ? Depth::normal : Depth::full), "null.needed", kLongK);
  for (const int offset : {16, 128}) {
    const Depth from = offset == 16 ? sample : Depth::normal;
    add(from, fmt::format("unaligned.needed.off{}", offset), kLongK, offset);
    add(from, fmt::format("unaligned.unneeded.off{}", offset), kSquare, offset);
  }
}

class Workspace : public ScenarioCheck {
 public:
  Workspace() : ScenarioCheck(scenarios(), kDefects) {}

  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    CaseList list(target, depth);
    for (const auto& form : kForms) add_form(list, form);
    return list.take();
  }

  /// The limits around the application's own, and its own algorithm again and again. A stored algorithm has no limit,
  /// and what the documentation forbids has nothing to repeat.
  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    if (problem.algo == AlgoChoice::given) return {};
    MatmulProblem asked = problem;
    asked.algo = AlgoChoice::heuristic;
    asked.algo_index = 0;
    if (promise_of(asked, scope_of(target)).expectation == Expectation::must_refuse) return {};
    CaseList list(target, Depth::full);
    std::vector<std::int64_t> limits(kUsualLimits.begin(), kUsualLimits.end());
    limits.push_back(asked.workspace_bytes);
    list.add_walk(Depth::quick, "steps", "", asked, std::move(limits));
    list.add(Depth::quick, "repeat", "", asked);
    return list.take();
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& scenario,
                                               const Observation& observation) const override {
    const auto defect = observation.fact(kDefect);
    if (defect.empty()) return std::nullopt;
    if (defect == "bits-change") return ScenarioResult{Outcome::nondeterministic, Status::fail, defect};
    if (defect == "stale-workspace") return ScenarioResult{Outcome::stale, Status::fail, defect};
    // A refused call that wrote is never right; an offer that is not kept is a trap where nothing was promised.
    const bool promised = scenario.expectation == Expectation::must_work || defect == "refused-and-written";
    const auto outcome = defect == "refused-above-smaller" ? Outcome::refused : Outcome::late_refusal;
    return ScenarioResult{outcome, promised ? Status::fail : Status::warn, defect};
  }

  std::string sentence(const Scenario& scenario, const Observation& observation) const override {
    const auto defect = observation.fact(kDefectDetail);
    const auto detail = observation.fact(kDetail);
    const auto said =
        defect.empty() ? ScenarioCheck::sentence(scenario, observation) : fmt::format("{}: {}", scenario.title, defect);
    return detail.empty() ? said : fmt::format("{} ({})", said, detail);
  }
};

}  // namespace

std::unique_ptr<Check> make_workspace() { return std::make_unique<Workspace>(); }

}  // namespace lt_audit
