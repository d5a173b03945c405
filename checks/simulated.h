// A check's cases over the simulator, for the tests of checks that make their observations themselves.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/error.h"
#include "lt_audit/session.h"
#include "matmul/engine.h"
#include "platform/platforms.h"

namespace lt_audit::simulated {

/// What a worker has, in this process: platform with one fault or none, engine, session. "Another process" is another
/// simulator with the same fault, which knows nothing of this one.
class Worker {
 public:
  explicit Worker(const std::string& fault = {}, const SimulatorOptions& options = {})
      : platform_(make_simulator_platform(options)), target_(describe_target(platform_, 0)) {
    if (!fault.empty()) platform_ = inject_fault(platform_, fault);
    engine_ = std::make_unique<MatmulEngine>(platform_, EngineOptions{});
    session_ = std::make_unique<Session>(platform_, target_, *engine_,
                                         [=](const MatmulProblem& problem, const Session::OtherProcessOptions& how) {
                                           SimulatorOptions changed = options;
                                           for (const auto& [name, value] : how.variables)
                                             changed.variables[name] = value;
                                           Platform other = make_simulator_platform(changed);
                                           if (!fault.empty()) other = inject_fault(other, fault);
                                           return MatmulEngine(other, EngineOptions{}).run(problem, how.run);
                                         });
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const Target& target() const { return target_; }
  Session& session() { return *session_; }

  /// What the driver's worker makes of a case.
  Observation observe(const Check& check, const Case& the_case) {
    Observation observation;
    try {
      observation = check.observe(*session_, the_case);
    } catch (const NotRun& reason) {
      observation.not_run = reason.what();
    } catch (const std::exception& error) {
      observation.audit_error = error.what();
    }
    // An error that stays is a lost context; another one is this case's alone.
    static_cast<void>(platform_.cuda.get_last_error());
    const cudaError_t left = platform_.cuda.device_synchronize();
    if (left != cudaSuccess) {
      observation.end = ProcessEnd::context_lost;
      observation.end_detail = name_of(left);
      observation.audit_error.clear();
    }
    return observation;
  }

 private:
  Platform platform_;
  Target target_;
  std::unique_ptr<MatmulEngine> engine_;
  std::unique_ptr<Session> session_;
};

/// The cases of a depth by id, on the simulator's target.
inline std::map<std::string, Case> cases_by_id(const Check& check, Depth depth) {
  const Target target = describe_target(make_simulator_platform({}), 0);
  std::map<std::string, Case> by_id;
  for (auto& the_case : check.cases(target, depth)) by_id.emplace(the_case.id, the_case);
  return by_id;
}

}  // namespace lt_audit::simulated
