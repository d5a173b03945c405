// Check "in-place": C in D's memory, C that beta 0 leaves out, and D in the memory of an input. in_place_table.cpp has
// the scenarios, in_place_cases.cpp the grid, in_place_{calls,contents,overlaps}.cpp the steps, this file the
// judgement.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "in_place_scenarios.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace in_place;

constexpr CheckInfo kInfo{"in-place",
                          "C may be D's memory, at beta 0 C is never read, and inputs that overlap D are named",
                          "cuBLAS 13.2 documentation, cublasLtMatmul (C == D and Cdesc == Ddesc) and cublas<t>gemm "
                          "(beta == 0); release notes "
                          "13.0 Update 2; cublasLt.h 13.1.0, cublasLtMatmul (lines 997-1026)"};

constexpr std::array kDefects{
    Defect{"accepted", "is accepted silently",
           "refused with a status, since one matrix is written while another is read"},
    Defect{"bits-differ", "gives other bits than with a copy", "the bits of the same product with a copy"},
    Defect{"c-read", "reads C: it reaches D", "D is alpha A B alone, whatever C holds"},
    Defect{"nan-in-d", "gives NaN", "D is beta C, as in BLAS"},
    Defect{"refused-and-written", "is refused, and memory is written all the same", "a refused call writes nothing"},
};

class InPlace : public ScenarioCheck {
 public:
  InPlace() : ScenarioCheck(scenarios(), kDefects) {}

  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override { return in_place::cases(target, depth); }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return in_place::cases_about(target, problem);
  }

 protected:
  std::optional<ScenarioResult> judge_scenario(const Scenario& scenario,
                                               const Observation& observation) const override {
    const auto defect = observation.fact(kDefect);
    if (defect == "nan-in-d") return ScenarioResult{Outcome::wrong_result, Status::warn, defect};
    if (defect == "c-read") return ScenarioResult{Outcome::wrong_result, Status::fail, defect};
    if (defect == "bits-differ") return ScenarioResult{Outcome::wrong_result, Status::fail, defect};
    if (!defect.empty()) return ScenarioResult{Outcome::late_refusal, Status::fail, defect};
    if (scenario.group == "in-place" && observation.verification) {
      // A wrong element that has C's value by chance counts as not written.
      const auto& seen = *observation.verification;
      const bool some = seen.unwritten > 0 && seen.wrong > seen.unwritten;
      if (some && seen.nothing_else_written())
        return ScenarioResult{Outcome::wrong_result, Status::fail, "wrong-result"};
    }
    if (scenario.group != "overlap") return std::nullopt;
    // Nothing is promised, so wrong numbers are the application's fault; right ones are luck, since they depend on
    // which tile is computed first.
    const Outcome outcome = outcome_of(observation);
    const bool ran = outcome == Outcome::correct || outcome == Outcome::wrong_result || outcome == Outcome::unwritten ||
                     outcome == Outcome::unproven;
    if (!ran) return std::nullopt;
    return ScenarioResult{outcome, Status::warn, "accepted"};
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

std::unique_ptr<Check> make_in_place() { return std::make_unique<InPlace>(); }

}  // namespace lt_audit
