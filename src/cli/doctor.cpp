// lt-audit doctor.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/call_variants.h"
#include "cli/commands.h"
#include "cli/doctor_output.h"
#include "cli/exit_code.h"
#include "cli/given_calls.h"
#include "cli/target_choice.h"
#include "cli/terminal.h"
#include "doctor/search.h"
#include "driver/audit.h"
#include "lt_audit/error.h"
#include "report/formats.h"
#include "report/observation_json.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

Trial trial_of(const CaseResult& result, const Target& target) {
  const Observation observation = observation_from_json(nlohmann::json::parse(result.observation, nullptr, false));
  Trial trial;
  trial.works = result.outcome == Outcome::correct;
  trial.outcome = name_of(result.outcome);
  trial.status = deciding_status(observation);
  trial.detail = observation.not_run.empty() ? observation.audit_error : observation.not_run;
  // What the simulator's events say is how fast the host multiplies.
  if (target.kind == PlatformKind::gpu) trial.gpu_us = observation.times.matmul_gpu_us;
  return trial;
}

/// Runs problems as the audit does: each judged by its numbers, a worker that dies costs its problem only.
class Runner {
 public:
  Runner(const DoctorArguments& arguments, const Context& context) {
    options_.worker = arguments.worker;
    options_.arguments = context.arguments;
    forbid_fallback_from_named_libraries(options_.worker);
    require_known_fault(options_.worker.fault);
  }

  std::vector<Trial> operator()(const std::vector<MatmulProblem>& problems) {
    const Report report = audit(problems);
    std::vector<Trial> trials;
    for (const auto& check : report.checks) {
      for (const auto& one : check.cases) trials.push_back(trial_of(one, target_));
    }
    if (trials.size() != problems.size())
      throw AuditError(ErrorKind::cannot_run, fmt::format("the audit of {} problems gave {} results; please report it",
                                                          problems.size(), trials.size()));
    return trials;
  }

  std::vector<VariantResult> results(const std::vector<MatmulProblem>& problems) { return results_of(audit(problems)); }

  const Target& target() const { return target_; }

 private:
  Report audit(const std::vector<MatmulProblem>& problems) {
    options_.selection.problems.clear();
    for (const auto& problem : problems) options_.selection.problems.push_back(to_text(problem));
    Report report = run_audit(options_);
    target_ = report.target;
    if (!report.complete) throw AuditError(ErrorKind::cannot_run, why_cannot_run(report));
    return report;
  }

  AuditOptions options_;
  Target target_;
};

/// What a pasted line stands for: of the calls that it leaves open the first that fails as reported.
MatmulProblem failing_variant(const PastedCall& pasted, Runner& runner, std::ostream& err) {
  const auto variants = variants_of(pasted);
  if (variants.size() == 1) return variants.front().problem;
  std::vector<MatmulProblem> problems;
  for (const auto& variant : variants) problems.push_back(variant.problem);
  const auto first = first_that_fails(pasted, runner.results(problems));
  if (first) {
    err << fmt::format("lt-audit: the line is read as: {}\n", variants[*first].what);
    return problems[*first];
  }
  err << fmt::format("lt-audit: none of the {} calls that the line may stand for {} here; the first is looked at: {}\n",
                     variants.size(), pasted.status.empty() ? "fails" : "gives " + printable(pasted.status),
                     variants.front().what);
  return problems.front();
}

MatmulProblem problem_of(const GivenCall& call, Runner& runner, std::ostream& err) {
  if (call.pasted) return failing_variant(*call.pasted, runner, err);
  return problem_from_text(call.reported ? call.reported->result().problem : call.text);
}

Diagnosed diagnosed(const GivenCall& call, double budget_s, Runner& runner, std::ostream& err) {
  const auto began = std::chrono::steady_clock::now();
  const auto budget_left = [&] {
    return budget_s - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const MatmulProblem problem = problem_of(call, runner, err);
  const auto run = [&runner](const auto& problems) { return runner(problems); };
  Diagnosed one{diagnose(problem, run, budget_left), {}};
  if (call.reported && is_sequence(*call.reported)) {
    const CasePlace& place = call.reported->place;
    one.sequence = fmt::format("{}:{}/{}", call.reported->path, place.check, place.the_case);
  }
  const Trial& as_given = one.diagnosis.as_given;
  if (as_given.outcome == name_of(Outcome::not_run) || as_given.outcome == name_of(Outcome::audit_error))
    throw AuditError(ErrorKind::cannot_run, fmt::format("this call cannot be run here: {}", as_given.detail));
  return one;
}

/// A sequence whose product works has not been explained.
ExitCode code_of(const Diagnosed& one) {
  const bool works = one.diagnosis.as_given.works && one.sequence.empty();
  return works || !one.diagnosis.sets.empty() ? ExitCode::ok : ExitCode::findings;
}

}  // namespace

ExitCode execute(const DoctorArguments& arguments, Context& context) {
  const auto calls = read_calls(arguments.calls, std::cin);
  Runner runner(arguments, context);
  const bool json_on_stdout = arguments.json == "-";
  std::ostream& text = json_on_stdout ? context.err : context.out;
  DiagnosisDocument document;
  const Turns turns = in_turn(calls, text, context.err, [&](const GivenCall& call) {
    document.diagnoses.push_back(diagnosed(call, arguments.budget_s, runner, context.err));
    write_diagnosis(document.diagnoses.back(), runner.target(), columns_of(text), text);
    text.flush();
    return code_of(document.diagnoses.back());
  });
  if (document.diagnoses.empty()) return turns.code;
  for (const FailedCall& failed : turns.failed) document.not_diagnosed.push_back({failed.text, failed.reason});
  document.target = runner.target();
  if (json_on_stdout) {
    context.out << document_json(document) << '\n';
  } else if (!arguments.json.empty()) {
    write_file_atomically(arguments.json, [&](std::ostream& file) { file << document_json(document) << '\n'; });
  }
  return turns.code;
}

}  // namespace lt_audit
