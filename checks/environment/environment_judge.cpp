// From facts to a verdict: what is said against a scenario, and its sentence. Pure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "environment_scenarios.h"
#include "lt_audit/measured_facts.h"
#include "lt_audit/variables.h"
#include "lt_audit/verdict.h"

namespace lt_audit::environment {
namespace {

/// "13.1.0" -> 130100, "13.0" -> 130000; 0 for nothing.
int number_of(std::string_view version) {
  int number = 0;
  for (const int weight : {10000, 100, 1}) {
    int part = 0;
    const auto end = version.find('.');
    const auto text = version.substr(0, end);
    std::from_chars(text.data(), text.data() + text.size(), part);
    number += part * weight;
    version = end == std::string_view::npos ? std::string_view() : version.substr(end + 1);
  }
  return number;
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

using Found = std::optional<ScenarioResult>;

Found trap(const char* defect) { return ScenarioResult{Outcome::correct, Status::warn, defect}; }
Found nothing() { return ScenarioResult{Outcome::correct, Status::pass, {}}; }

Found judge_libraries(const Scenario& scenario, const Observation& seen) {
  const auto lt = seen.fact(kLtVersion);
  const auto blas = seen.fact(kBlasVersion);
  const auto lt_path = seen.fact(kLtPath);
  const auto blas_path = seen.fact(kBlasPath);
  if (scenario.id == "libraries.versions") return !blas.empty() && blas != lt ? trap("mixed-versions") : nothing();
  if (scenario.id == "libraries.copies") return seen.fact(kTwice).empty() ? nothing() : trap("loaded-twice");
  const bool apart = !lt_path.empty() && !blas_path.empty() && directory_of(lt_path) != directory_of(blas_path);
  return apart ? trap("two-places") : nothing();
}

Found judge_headers(const Scenario& /*scenario*/, const Observation& seen) {
  const int lt = number_of(seen.fact(kLtVersion));
  const int headers = number_of(seen.fact(kHeaders));
  if (lt == 0 || headers == 0) return nothing();
  if (lt / 10000 != headers / 10000) return trap("other-major");
  return lt < headers ? trap("older-than-headers") : nothing();
}

Found judge_driver(const Scenario& /*scenario*/, const Observation& seen) {
  const int driver = number_of(seen.fact(kDriver));
  const int lt = number_of(seen.fact(kLtVersion));
  return driver > 0 && driver / 10000 < lt / 10000 ? trap("too-old") : nothing();
}

Found judge_device(const Scenario& scenario, const Observation& seen) {
  const auto mode = seen.fact(kMode);
  if (scenario.group == "compute-mode") return mode == "exclusive" ? trap("exclusive") : nothing();
  if (scenario.group == "ecc") return mode == "off" ? trap("switched-off") : nothing();
  if (mode != "on") return nothing();
  return trap(scenario.group == "mig" ? "part-of-gpu" : "shared");
}

Found judge_memory(const Scenario& /*scenario*/, const Observation& seen) {
  const auto free_mib = seen.fact(kFreeMiB);
  return !free_mib.empty() && std::stoll(free_mib) < kLowMiB ? trap("low") : nothing();
}

Found judge_variable(const Scenario& /*scenario*/, const Observation& seen) {
  return seen.fact(kValue).empty() ? nothing() : trap("set");
}

Found judge_tf32(const Scenario& scenario, const Observation& seen) {
  if (outcome_of(seen) != Outcome::wrong_result || seen.fact(kVariable).empty()) return std::nullopt;
  if (scenario.id == "tf32-on") return ScenarioResult{Outcome::wrong_result, Status::warn, "forced"};
  return ScenarioResult{Outcome::wrong_result, Status::fail, "ignored"};
}

/// FP32 in TF32 because a variable says so is the same trap as in another process.
Found judge_precision(const Scenario& /*scenario*/, const Observation& seen) {
  if (outcome_of(seen) != Outcome::wrong_result || seen.fact(kTf32Override).empty()) return std::nullopt;
  return ScenarioResult{Outcome::wrong_result, Status::warn, "forced"};
}

/// Emulation is documented to change bits; of the others nothing but time, and of the pool nothing but cuBLAS.
Found judge_effect(const Scenario& scenario, const Observation& seen) {
  if (outcome_of(seen) != Outcome::correct || seen.fact(kVariable).empty()) return std::nullopt;
  if (scenario.group.starts_with("emulate-")) return nothing();
  const auto differs = [](const std::string& left, const std::string& right) {
    return !left.empty() && !right.empty() && left != right;
  };
  if (differs(seen.fact(kBitsHere), seen.fact(kDBitsFact))) {
    return ScenarioResult{Outcome::nondeterministic, Status::warn, "bits-differ"};
  }
  if (differs(seen.fact(kAlgorithmHere), seen.fact(kAlgorithmThere))) return trap("algorithm-differs");
  const bool cublas = differs(seen.fact(kCublasBitsHere), seen.fact(kCublasDBitsFact));
  return cublas ? trap("cublas-bits-differ") : nothing();
}

Found judge_pinned(const Scenario& /*scenario*/, const Observation& /*seen*/) { return nothing(); }

Found judge_full_memory(const Scenario& /*scenario*/, const Observation& seen) {
  const auto created = seen.fact(kCreated);
  if (created.empty()) return std::nullopt;
  const auto* again = seen.stage(kAnswerStage);
  const bool back = again == nullptr || again->ok();
  if (!back || outcome_of(seen) != Outcome::correct)
    return ScenarioResult{outcome_of(seen), Status::fail, "not-recovered"};
  if (seen.fact(kProduct) == "wrong") return ScenarioResult{Outcome::wrong_result, Status::fail, "wrong-when-full"};
  if (created == "SUCCESS" || created == "ALLOC_FAILED") return nothing();
  return trap(created == "NOT_INITIALIZED" ? "misleading-status" : "undocumented-status");
}

std::string say_libraries(const Scenario& /*scenario*/, const Observation& seen) {
  const auto twice = seen.fact(kTwice);
  return fmt::format("cuBLAS is {} ({}) and cuBLASLt is {} ({}){}", seen.fact(kBlasVersion), seen.fact(kBlasPath),
                     seen.fact(kLtVersion), seen.fact(kLtPath), twice.empty() ? "" : ", loaded: " + twice);
}

std::string say_headers(const Scenario& /*scenario*/, const Observation& seen) {
  return fmt::format("cuBLASLt is {} and the headers are those of {}", seen.fact(kLtVersion), seen.fact(kHeaders));
}

std::string say_driver(const Scenario& /*scenario*/, const Observation& seen) {
  return fmt::format("the driver supports CUDA {} and cuBLASLt is {}", seen.fact(kDriver), seen.fact(kLtVersion));
}

std::string say_device(const Scenario& /*scenario*/, const Observation& seen) {
  return fmt::format("the mode is {}", seen.fact(kMode));
}

std::string say_memory(const Scenario& /*scenario*/, const Observation& seen) {
  return fmt::format("{} MiB of {} MiB are free", seen.fact(kFreeMiB), seen.fact("total_mib"));
}

std::string say_variable(const Scenario& scenario, const Observation& seen) {
  const auto rules = variable_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const VariableRule& r) {
    return r.name == scenario.parameters.at(kNameParameter);
  });
  return fmt::format("the value is {}{}", seen.fact(kValue),
                     rule == rules.end() ? std::string() : fmt::format("; {}", rule->effect));
}

std::string say_effect(const Scenario& /*scenario*/, const Observation& seen) {
  std::string text = describe(seen);
  if (const auto value = seen.fact(kTf32Override); !value.empty()) text += "; NVIDIA_TF32_OVERRIDE is " + value;
  const auto add = [&](const char* what, const char* here, const char* there) {
    if (seen.fact(here).empty() || seen.fact(here) == seen.fact(there)) return;
    text += fmt::format("; {} without it {}, with it {}", what, seen.fact(here), seen.fact(there));
  };
  add("bits of D", kBitsHere, kDBitsFact);
  add("bits of cuBLAS", kCublasBitsHere, kCublasDBitsFact);
  add("algorithm", kAlgorithmHere, kAlgorithmThere);
  return text;
}

std::string say_full_memory(const Scenario& /*scenario*/, const Observation& seen) {
  const auto product = seen.fact(kProduct);
  const auto* again = seen.stage(kAnswerStage);
  return fmt::format("with {} MiB free the creation returns {}{}; with memory given back {}", seen.fact(kLeftMiB),
                     seen.fact(kCreated), product.empty() ? "" : " and the product is " + product,
                     again != nullptr && !again->ok() ? again->call + " returns " + again->status : describe(seen));
}

struct Judge {
  std::string_view scenarios;
  Found (*judge)(const Scenario&, const Observation&);
  std::string (*say)(const Scenario&, const Observation&);
};
/// By the start of a scenario's id.
constexpr std::array kJudges{
    Judge{"libraries.", judge_libraries, say_libraries},
    Judge{"headers", judge_headers, say_headers},
    Judge{"driver", judge_driver, say_driver},
    Judge{"device.", judge_device, say_device},
    Judge{"memory.", judge_memory, say_memory},
    Judge{"variable.", judge_variable, say_variable},
    Judge{"tf32-", judge_tf32, say_effect},
    Judge{"full-memory", judge_full_memory, say_full_memory},
    Judge{"pinned-error", judge_pinned, say_effect},
    Judge{"whole-significands", judge_precision, say_effect},

    Judge{"", judge_effect, say_effect},
};

const Judge& judge_of(const Scenario& scenario) {
  for (const auto& judge : kJudges) {
    if (scenario.id.starts_with(judge.scenarios)) return judge;
  }
  return kJudges.back();
}

}  // namespace

std::optional<ScenarioResult> judge_facts(const Scenario& scenario, const Observation& observation) {
  return judge_of(scenario).judge(scenario, observation);
}

std::string describe_facts(const Scenario& scenario, const Observation& observation) {
  return judge_of(scenario).say(scenario, observation);
}

}  // namespace lt_audit::environment
