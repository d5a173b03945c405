// Judging one case, and the findings of an audit.
#include "driver/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/shell_word.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

bool decided_without_check(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::timed_out || outcome == Outcome::context_lost ||
         outcome == Outcome::audit_error;
}

Advice general_advice(const Case& the_case, Outcome outcome) {
  Advice advice;
  advice.rule = the_case.rule;
  advice.expected = the_case.expectation == Expectation::must_work
                        ? "the call works, and the process and its CUDA context live on"
                        : "the call is refused with a status, or works; the process and its CUDA context live on";
  switch (outcome) {
    case Outcome::crashed:
      advice.title = "The call kills the process";
      advice.remedy =
          "avoid the call with this library; the repro line runs it in a process of its own, `gdb --args` or "
          "compute-sanitizer in front of it shows where it dies";
      break;
    case Outcome::timed_out:
      advice.title = "The call does not return";
      advice.remedy =
          "avoid the call with this library; if the machine is busy or the product is large, raise the limit with "
          "--timeout and run it again";
      break;
    case Outcome::context_lost:
      advice.title = "The call makes the CUDA context unusable";
      advice.remedy =
          "avoid the call with this library: every later CUDA call of the process fails; look first at pointer "
          "alignment and at what the preference declares; compute-sanitizer in front of the repro line shows the "
          "kernel";
      break;
    default:
      advice.title = "The audit could not do its own work on these cases";
      advice.expected = "every case is run and judged";
      advice.remedy =
          "free memory on the GPU and run again; if it stays, run the repro line with --trace and report it to the "
          "makers of lt-audit";
      break;
  }
  return advice;
}

int severity(Status status) {
  switch (status) {
    case Status::fail:
      return 0;
    case Status::error:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

Verdict judge_case(const Check& check, const Case& the_case, const Observation& observation) {
  if (observation.end != ProcessEnd::survived || !observation.audit_error.empty() || !observation.not_run.empty()) {
    return judge_by_table(the_case.expectation, observation);
  }
  try {
    return check.judge(the_case, observation);
  } catch (const std::exception& error) {
    return {Status::error, Outcome::audit_error, "judgement-failed",
            fmt::format("the check could not judge what it saw: {}", error.what())};
  }
}

Advice advice_for(const Check& check, const Case& the_case, const Verdict& verdict) {
  return decided_without_check(verdict.outcome) ? general_advice(the_case, verdict.outcome)
                                                : check.advice(the_case, verdict);
}

std::string repro_command(const Check& check, const Case& the_case, const WorkerOptions& worker, PlatformKind kind,
                          const std::string& report_name) {
  std::string line = "lt-audit replay ";
  line += the_case.scenario ? shell_word(fmt::format("{}:{}/{}", report_name, check.info().id, the_case.id))
                            : fmt::format("'{}'", to_text(the_case.problem));
  if (kind == PlatformKind::simulator) line += " --target simulator";
  if (worker.device != 0) line += fmt::format(" --device {}", worker.device);
  if (!worker.libraries.cublaslt.empty()) line += " --cublaslt " + shell_word(worker.libraries.cublaslt);
  if (!worker.fault.empty()) line += " --inject " + shell_word(worker.fault);
  if (worker.seed != WorkerOptions{}.seed) line += fmt::format(" --seed {}", worker.seed);
  return line;
}

void FindingBuilder::add(const Check& check, const Case& the_case, std::size_t position, const Verdict& verdict,
                         std::string repro) {
  if (verdict.status == Status::pass || verdict.status == Status::skip) return;
  const std::string_view check_id = check.info().id;
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
    return g.finding.check == check_id && g.finding.status == verdict.status && g.reason == verdict.reason;
  });
  const bool is_new = group == groups_.end();
  if (is_new) group = groups_.insert(groups_.end(), Group{});
  group->cases.emplace_back(position, the_case.id);
  if (!is_new && position > group->first_position) return;

  group->first_position = position;
  group->reason = verdict.reason;
  auto advice = advice_for(check, the_case, verdict);
  auto& finding = group->finding;
  finding.check = check_id;
  finding.status = verdict.status;
  finding.title = std::move(advice.title);
  finding.measured = verdict.sentence;
  finding.expected = std::move(advice.expected);
  finding.rule = std::move(advice.rule);
  finding.remedy = std::move(advice.remedy);
  finding.repro = std::move(repro);
}

std::vector<Finding> FindingBuilder::findings() const {
  std::vector<Finding> findings;
  findings.reserve(groups_.size());
  for (const auto& group : groups_) {
    auto& finding = findings.emplace_back(group.finding);
    finding.id = fmt::format("{}.{}", finding.check, group.reason);
    // One reason with two statuses makes two findings; the id tells them apart.
    const bool shared = std::any_of(groups_.begin(), groups_.end(), [&](const Group& other) {
      return &other != &group && other.finding.check == finding.check && other.reason == group.reason;
    });
    if (shared) finding.id += fmt::format(".{}", name_of(finding.status));
    auto cases = group.cases;
    std::sort(cases.begin(), cases.end());
    for (auto& the_case : cases) finding.cases.push_back(std::move(the_case.second));
    finding.count = finding.cases.size();
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& left, const Finding& right) {
    return std::tuple(severity(left.status), right.count, std::string_view(left.id)) <
           std::tuple(severity(right.status), left.count, std::string_view(right.id));
  });
  return findings;
}

}  // namespace lt_audit
