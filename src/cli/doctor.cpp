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
#include "cli/pasted_call.h"
#include "cli/report_place.h"
#include "cli/target_choice.h"
#include "cli/terminal.h"
#include "doctor/search.h"
#include "driver/audit.h"
#include "lt_audit/error.h"
#include "report/formats.h"
#include "report/observation_json.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// The problem of a text or of REPORT:CASE.
MatmulProblem problem_of(const std::string& what) {
  return problem_from_text(names_a_report(what) ? read_reported_case(what).result().problem : what);
}

Trial trial_of(const CaseResult& result) {
  const Observation observation = observation_from_json(nlohmann::json::parse(result.observation, nullptr, false));
  Trial trial;
  trial.works = result.outcome == Outcome::correct;
  trial.outcome = name_of(result.outcome);
  trial.status = deciding_status(observation);
  trial.detail = observation.not_run.empty() ? observation.audit_error : observation.not_run;
  trial.gpu_us = observation.times.matmul_gpu_us;
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
    options_.selection.problems.clear();
    for (const auto& problem : problems) options_.selection.problems.push_back(to_text(problem));
    const Report report = run_audit(options_);
    target_ = report.target;
    if (!report.complete) throw AuditError(ErrorKind::cannot_run, why_cannot_run(report));
    std::vector<Trial> trials;
    for (const auto& check : report.checks) {
      for (const auto& one : check.cases) trials.push_back(trial_of(one));
    }
    if (trials.size() != problems.size())
      throw AuditError(ErrorKind::cannot_run, fmt::format("the audit of {} problems gave {} results; please report it",
                                                          problems.size(), trials.size()));
    return trials;
  }

  const Target& target() const { return target_; }

 private:
  AuditOptions options_;
  Target target_;
};

/// What a pasted line stands for: of the calls that it leaves open the first that fails as reported, or fails at all.
MatmulProblem failing_variant(const PastedCall& pasted, Runner& runner, std::ostream& err) {
  const auto variants = variants_of(pasted);
  std::vector<MatmulProblem> problems;
  for (const auto& variant : variants) problems.push_back(variant.problem);
  const auto trials = runner(problems);
  std::size_t chosen = 0;
  for (std::size_t i = trials.size(); i-- > 0;) {
    if (!trials[i].works && (pasted.status.empty() || trials[i].status == pasted.status)) chosen = i;
  }
  if (variants.size() > 1) err << fmt::format("lt-audit: the line is read as: {}\n", variants[chosen].what);
  return problems[chosen];
}

}  // namespace

ExitCode execute(const DoctorArguments& arguments, Context& context) {
  const auto began = std::chrono::steady_clock::now();
  const auto budget_left = [&] {
    return arguments.budget_s - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const auto pasted = find_pasted_call(arguments.what, std::cin);
  Runner runner(arguments, context);
  const MatmulProblem problem = pasted ? failing_variant(*pasted, runner, context.err) : problem_of(arguments.what);
  const Diagnosis diagnosis = diagnose(
      problem, [&runner](const auto& problems) { return runner(problems); }, budget_left);
  if (diagnosis.as_given.outcome == name_of(Outcome::not_run) ||
      diagnosis.as_given.outcome == name_of(Outcome::audit_error)) {
    throw AuditError(ErrorKind::cannot_run, fmt::format("this call cannot be run here: {}", diagnosis.as_given.detail));
  }
  const bool json_on_stdout = arguments.json == "-";
  std::ostream& text = json_on_stdout ? context.err : context.out;
  write_diagnosis(diagnosis, runner.target(), columns_of(text), text);
  if (json_on_stdout) {
    context.out << diagnosis_json(diagnosis, runner.target()) << '\n';
  } else if (!arguments.json.empty()) {
    write_file_atomically(arguments.json,
                          [&](std::ostream& file) { file << diagnosis_json(diagnosis, runner.target()) << '\n'; });
  }
  return diagnosis.as_given.works || !diagnosis.sets.empty() ? ExitCode::ok : ExitCode::findings;
}

}  // namespace lt_audit
