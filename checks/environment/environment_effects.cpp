// Scenarios that multiply: here, and in another process with a variable set.
#include <fmt/format.h>

#include <utility>

#include "environment_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/measured_facts.h"
#include "lt_audit/verdict.h"

namespace lt_audit::environment {
namespace {

constexpr RunOptions kWholeSignificands{.inputs = Inputs::single_products, .digest = false};
constexpr RunOptions kWithDigest{.inputs = Inputs::exact, .digest = true};

/// "NAME=VALUE" of the case, for a process.
std::map<std::string, std::string> variables_of(const Case& the_case) {
  const auto& text = the_case.parameters.at(kSetsParameter);
  const auto equals = text.find('=');
  return {{text.substr(0, equals), text.substr(equals + 1)}};
}

/// A process that has the variable itself is nothing to compare with.
void need_without(Session& session, const Case& the_case) {
  if (!session.platform().process_facts) return;
  const auto variables = session.platform().process_facts().variables;
  for (const auto& [name, value] : variables_of(the_case)) {
    if (!variables.contains(name)) continue;
    throw NotRun(fmt::format("{} is set in this process: unset it, so that there is a run without it", name));
  }
}

std::string algorithm_of(const Observation& observation) {
  if (observation.heuristic.empty()) return {};
  const auto& best = observation.heuristic.front();
  return fmt::format("{} tile {} stages {} split-K {}", best.algo_id, best.tile, best.stages, best.split_k);
}

Observation run_there(Session& session, const Case& the_case, const RunOptions& run) {
  auto seen = session.run_in_other_process(the_case.problem, {run, variables_of(the_case)});
  seen.facts[kVariable] = the_case.parameters.at(kSetsParameter);
  return seen;
}

}  // namespace

Observation multiply_whole_significands(Session& session, const Case& the_case) {
  auto seen = session.run(the_case.problem, kWholeSignificands);
  if (!session.platform().process_facts) return seen;
  const auto variables = session.platform().process_facts().variables;
  const auto found = variables.find("NVIDIA_TF32_OVERRIDE");
  if (found != variables.end() && found->second != "0") seen.facts[kTf32Override] = found->second;
  return seen;
}

Observation switch_tf32(Session& session, const Case& the_case) {
  need_without(session, the_case);
  const auto here = session.run(the_case.problem, kWholeSignificands);
  const bool tf32_here = outcome_of(here) == Outcome::wrong_result;
  const bool fast = the_case.problem.compute_type == CUBLAS_COMPUTE_32F_FAST_TF32;
  if (fast && outcome_of(here) == Outcome::correct) {
    throw NotRun("COMPUTE_32F_FAST_TF32 gives the numbers of FP32 here, so that there is nothing to switch off");
  }
  if (tf32_here != fast) return here;
  auto seen = run_there(session, the_case, kWholeSignificands);
  seen.facts[kAlgorithmHere] = algorithm_of(here);
  seen.facts[kAlgorithmThere] = algorithm_of(seen);
  return seen;
}

Observation set_variable(Session& session, const Case& the_case) {
  need_without(session, the_case);
  auto here = session.run(the_case.problem, kWithDigest);
  if (outcome_of(here) != Outcome::correct) return here;
  auto seen = run_there(session, the_case, kWithDigest);
  seen.facts[kBitsHere] = here.fact(kDBitsFact);
  seen.facts[kCublasBitsHere] = here.fact(kCublasDBitsFact);
  seen.facts[kAlgorithmHere] = algorithm_of(here);
  seen.facts[kAlgorithmThere] = algorithm_of(seen);
  std::erase_if(seen.facts, [](const auto& fact) { return fact.second.empty(); });
  return seen;
}

Observation pin_asynchronous_error(Session& session, const Case& the_case) {
  need_without(session, the_case);
  const auto plain = session.run_in_other_process(the_case.problem);
  const auto* call = plain.stage("matmul");
  if (plain.end != ProcessEnd::context_lost || call == nullptr || !call->ok()) {
    throw NotRun("the call that faults after its SUCCESS with some versions does not do so here");
  }
  const auto blocking = session.run_in_other_process(the_case.problem, {{}, variables_of(the_case)});
  const auto* pinned = blocking.stage("matmul");
  Observation seen;
  seen.facts[kVariable] = the_case.parameters.at(kSetsParameter);
  seen.facts["without"] = fmt::format("cublasLtMatmul {}, then {}", call->status, plain.end_detail);
  seen.facts["with"] = fmt::format("cublasLtMatmul {}, then {}", pinned == nullptr ? "not called" : pinned->status,
                                   blocking.end_detail.empty() ? "no error" : blocking.end_detail);
  seen.facts["pinned"] = pinned != nullptr && !pinned->ok() ? "yes" : "no";
  return seen;
}

}  // namespace lt_audit::environment
