// Check "handle-lifetime": handles created, destroyed, shared and misused, across threads, contexts and devices.
// lifetime_table.cpp has the scenarios, lifetime_*.cpp their steps, this file cases and judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lifetime_scenarios.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace handle_lifetime;

constexpr CheckInfo kInfo{
    "handle-lifetime", "Handles, contexts, threads and devices may be mixed as documented, and misuse is refused",
    "cuBLAS 13.2 documentation, Thread Safety, cublasLtHandle_t, cublasLtCreate, cublasLtDestroy; cuda_runtime_api.h "
    "13.0, cudaDeviceReset"};

constexpr std::array kDefects{
    Defect{"device-memory-lost", "loses device memory", "cublasLtDestroy gives back what cublasLtCreate took"},
    Defect{"host-memory-lost", "loses host memory", "cublasLtDestroy gives back what cublasLtCreate took"},
};

/// A process or a context takes a tenth of a second and more on a GPU.
bool is_costly(const Scenario& scenario) {
  return scenario.nature == Nature::isolated || scenario.id.find("context") != std::string::npos;
}

/// Neighbours of what a quick run has, each a context or a process more.
bool is_left_out_of_quick(const Scenario& scenario) {
  constexpr std::array<std::string_view, 5> kNeighbours{"result-in-other-context", "unused-stream-of-other-context",
                                                        "used-after-destroy-elsewhere", "used-after-device-reset",
                                                        "used-after-its-context"};
  return std::find(kNeighbours.begin(), kNeighbours.end(), scenario.id) != kNeighbours.end();
}

/// A type to run the scenarios with, and the depths from which the cheap and the costly ones run.
struct Form {
  std::string_view name;
  cudaDataType_t input;
  cudaDataType_t output;
  Depth cheap;
  Depth costly;
};
constexpr std::array kForms{
    Form{"f32", CUDA_R_32F, CUDA_R_32F, Depth::quick, Depth::quick},
    Form{"f16", CUDA_R_16F, CUDA_R_16F, Depth::normal, Depth::full},
    Form{"f64", CUDA_R_64F, CUDA_R_64F, Depth::normal, Depth::full},
    Form{"bf16", CUDA_R_16BF, CUDA_R_16BF, Depth::full, Depth::full},
    Form{"e4m3", CUDA_R_8F_E4M3, CUDA_R_16BF, Depth::full, Depth::full},
    Form{"i8", CUDA_R_8I, CUDA_R_32I, Depth::full, Depth::full},
};

MatmulProblem problem_of(const Form& form) {
  auto problem = uniform_problem(form.input, 96, 80, 64);
  problem.type_c = problem.type_d = form.output;
  const bool narrow = bytes_of(form.input) == 1;
  problem.transa = narrow ? CUBLAS_OP_T : CUBLAS_OP_N;
  // Every scenario allocates: a workspace of the recommended size would cost more than the product.
  problem.workspace_bytes = 1 << 20;
  return problem;
}

long long bytes_of_fact(const Observation& observation, const char* name) {
  const auto bytes = observation.fact(name);
  return bytes.empty() ? 0 : std::stoll(bytes);
}

class HandleLifetime : public ScenarioCheck {
 public:
  HandleLifetime() : ScenarioCheck(scenarios(), kDefects) {}

  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    std::vector<Case> list;
    for (const auto& form : kForms) {
      for (const auto& scenario : scenarios()) {
        if (depth < (is_costly(scenario) ? form.costly : form.cheap)) continue;
        if (depth == Depth::quick && is_left_out_of_quick(scenario)) continue;
        list.push_back(make_case(scenario, form.name, problem_of(form)));
        // C9 says that CUDA 13.1, whose library is 13.2.0, brought a guard: from there on it predicts the opposite.
        if (scenario.id == "two-streams" && target.cublaslt.number() >= 130200) {
          list.back().parameters["claims"] = "C9=works C4=fails";
        }
      }
    }
    return list;
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& /*scenario*/,
                                               const Observation& observation) const override {
    const Outcome outcome = outcome_of(observation);
    if (outcome != Outcome::correct) return std::nullopt;
    if (bytes_of_fact(observation, kDeviceBytesLost) >= kDeviceLossThatCounts) {
      return ScenarioResult{outcome, Status::fail, "device-memory-lost"};
    }
    if (bytes_of_fact(observation, kHostBytesLost) >= kHostLossThatCounts) {
      return ScenarioResult{outcome, Status::warn, "host-memory-lost"};
    }
    return std::nullopt;
  }

  std::string sentence(const Scenario& scenario, const Observation& observation) const override {
    auto text = ScenarioCheck::sentence(scenario, observation);
    const auto pairs = observation.fact("pairs");
    if (pairs.empty()) return text;
    return fmt::format("{}; {} bytes of device memory and {} bytes of host memory are gone after {} pairs", text,
                       bytes_of_fact(observation, kDeviceBytesLost), bytes_of_fact(observation, kHostBytesLost), pairs);
  }
};

}  // namespace

std::unique_ptr<Check> make_handle_lifetime() { return std::make_unique<HandleLifetime>(); }

}  // namespace lt_audit
