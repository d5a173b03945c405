// One audit: plan, run, judge as observations arrive, report.
#include "driver/audit_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "driver/environment.h"
#include "lt_audit/error.h"
#include "report/observation_json.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

constexpr double kCheckpointIntervalSeconds = 0.25;
/// Writing a report of megabytes must not eat the audit: at most this part of the time.
constexpr double kCheckpointShare = 0.03;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

CaseResult make_result(const Case& the_case, const Verdict& verdict, const Observation& observation) {
  CaseResult result;
  result.id = the_case.id;
  result.problem = to_text(the_case.problem);
  result.expectation = the_case.expectation;
  result.rule = the_case.rule;
  result.outcome = verdict.outcome;
  result.status = verdict.status;
  result.reason = verdict.reason;
  result.sentence = verdict.sentence;
  result.parameters = the_case.parameters;
  result.observation = observation_to_json(observation).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return result;
}

}  // namespace

SupervisorOptions supervisor_options(const WorkerOptions& worker, const Selection& selection, const AuditParts& parts) {
  SupervisorOptions options;
  options.command = parts.worker_command;
  options.start.worker = worker;
  options.start.selection = selection;
  options.start.engine.seed = worker.seed;
  return options;
}

AuditRun::AuditRun(const AuditOptions& options, const AuditParts& parts)
    : options_(options), parts_(parts), supervisor_(supervisor_options(options.worker, options.selection, parts)) {}

void AuditRun::begin() {
  begin_report();
  const auto& ready = supervisor_.start();
  report_.target = ready.target;
  report_.environment.warnings = environment_warnings(report_.environment, ready.target);
  if (!ready.no_gpu.empty()) report_.environment.warnings.insert(report_.environment.warnings.begin(), ready.no_gpu);

  const auto before_plan = Clock::now();
  plan_ = make_plan(options_.selection, report_.target, parts_.registry);
  make_work();
  plan_s_ = since(before_plan);
  last_checkpoint_ = Clock::now();
}

bool AuditRun::step(std::size_t most) {
  if (!stopped_.empty() || next_item_ == items_.size()) return false;
  const auto before = last_answer_ = Clock::now();
  const std::size_t first = next_item_;
  next_item_ += std::min(most, items_.size() - first);
  const std::span<const WorkItem> items(items_);
  const auto end = supervisor_.run(
      items.subspan(first, next_item_ - first),
      [this, first](std::size_t item, Observation&& observation) { take(first + item, std::move(observation)); });
  cases_s_ += since(before);
  stopped_ = end.reason;
  return stopped_.empty() && next_item_ < items_.size();
}

void AuditRun::stop(const std::string& reason) {
  if (stopped_.empty()) stopped_ = reason;
}

Report AuditRun::end() {
  supervisor_.finish();
  end_report();
  return std::move(report_);
}

void AuditRun::begin_report() {
  report_.tool_version = LT_AUDIT_VERSION;
  report_.arguments = options_.arguments;
  report_.environment = read_environment();
  report_.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report_.depth = name_of(options_.selection.depth);
  report_.seed = options_.worker.seed;
  report_.fault = options_.worker.fault;
}

void AuditRun::make_work() {
  std::vector<WorkItem> planned_items;
  planned_items.reserve(plan_.case_count());
  for (std::size_t check = 0; check < plan_.checks.size(); ++check) {
    const auto& planned = plan_.checks[check];
    auto& result = report_.checks.emplace_back();
    result.id = planned.check->info().id;
    result.skip_reason = planned.skip_reason;
    if (result.skip_reason.empty() && planned.cases.empty()) result.skip_reason = "has no case at this depth";
    result.status = planned.cases.empty() ? Status::skip : Status::pass;
    for (std::size_t index = 0; index < planned.cases.size(); ++index) {
      planned_items.push_back({check, index, planned.cases[index].id, planned.cases[index].isolated});
    }
  }
  progress_.resize(plan_.checks.size());
  places_.resize(planned_items.size());
  std::iota(places_.begin(), places_.end(), std::size_t{0});
  std::stable_partition(places_.begin(), places_.end(),
                        [&planned_items](std::size_t place) { return !planned_items[place].isolated; });
  items_.reserve(places_.size());
  for (const std::size_t place : places_) items_.push_back(planned_items[place]);
  supervisor_.expect(items_.size());
}

void AuditRun::take(std::size_t item, Observation&& observation) {
  const auto now = Clock::now();
  const auto [check, index, id, isolated] = items_[item];
  const auto& planned = plan_.checks[check];
  const auto& the_case = planned.cases[index];
  report_.checks[check].elapsed_s += std::chrono::duration<double>(now - last_answer_).count();

  const auto verdict = judge_case(*planned.check, the_case, observation);
  if (verdict.status != Status::pass && verdict.status != Status::skip) {
    ++progress_[check].non_pass;
    findings_.add(*planned.check, the_case, places_[item], verdict,
                  repro_command(*planned.check, the_case, options_.worker, report_.target.kind, options_.report_name));
  }
  insert_result(check, index, make_result(the_case, verdict, observation));
  ++judged_;
  judge_s_ += since(now);

  const auto done = report_.checks[check].cases.size();
  if (options_.progress) {
    options_.progress({&planned, done, planned.cases.size(), progress_[check].non_pass});
  }
  checkpoint(done == planned.cases.size());
  last_answer_ = Clock::now();
}

/// Isolated cases come after the others; the report stands in the order of the plan at any time.
void AuditRun::insert_result(std::size_t check, std::size_t position, CaseResult&& result) {
  auto& positions = progress_[check].positions;
  auto& checked = report_.checks[check];
  checked.status = worse(checked.status, result.status);
  const auto place = std::upper_bound(positions.begin(), positions.end(), position);
  checked.cases.insert(checked.cases.begin() + (place - positions.begin()), std::move(result));
  positions.insert(place, position);
}

void AuditRun::checkpoint(bool force) {
  if (!options_.checkpoint) return;
  const double interval_s = std::max(kCheckpointIntervalSeconds, last_checkpoint_cost_s_ / kCheckpointShare);
  if (!force && since(last_checkpoint_) < interval_s) return;
  const auto before = Clock::now();
  report_.complete = false;
  report_.incomplete_reason = fmt::format("still running: {} of {} cases judged", judged_, items_.size());
  report_.findings = findings_.findings();
  report_.elapsed_s = since(started_);
  options_.checkpoint(report_);
  last_checkpoint_ = Clock::now();
  last_checkpoint_cost_s_ = since(before);
  checkpoint_s_ += last_checkpoint_cost_s_;
  ++checkpoints_;
}

void AuditRun::end_report() {
  report_.complete = stopped_.empty();
  report_.incomplete_reason = stopped_;
  for (std::size_t check = 0; check < report_.checks.size(); ++check) {
    auto& result = report_.checks[check];
    if (!result.cases.empty() || plan_.checks[check].cases.empty()) continue;
    result.status = Status::skip;
    result.skip_reason = "not reached: the audit ended before its first case";
  }
  report_.findings = findings_.findings();
  report_.elapsed_s = since(started_);
  fill_profile();
}

/// Phases of the parent are wall time and add up, but for waiting, which contains what the workers do: those of the
/// workers
/// ("worker: ...") are sums over all workers.
void AuditRun::fill_profile() {
  const auto& costs = supervisor_.costs();
  const auto& engine = costs.engine;
  const auto cases = static_cast<std::uint64_t>(judged_);
  const auto add = [&](const char* phase, double seconds, std::uint64_t count) {
    report_.profile.push_back({phase, seconds, count});
  };
  add("first worker ready", costs.start_s, 1);
  add("worker: library load", costs.library_s, 1);
  add("worker: context", costs.context_s, 1);
  add("first worker warm", costs.warm_s, 1);
  add("plan", plan_s_, cases);
  add("first case", costs.first_case_s, 1);
  add("cases", cases_s_, cases);
  add("worker: engine setup", engine.setup_us * 1e-6, costs.workers);
  add("worker: prepare", engine.prepare_us * 1e-6, cases);
  add("worker: heuristic", engine.heuristic_us * 1e-6, cases);
  add("worker: matmul", engine.matmul_us * 1e-6, cases);
  add("worker: verify", engine.verify_us * 1e-6, cases);
  add("worker: wait", engine.wait_us * 1e-6, cases);
  add("worker: cublas", engine.cublas_us * 1e-6, cases);
  add("worker: sequences", engine.steps_us * 1e-6, cases);
  add("waiting for answers", costs.waiting_s, cases);
  add("waiting for new workers", costs.restart_s, costs.restarts + costs.isolated_cases);
  add("judging", judge_s_, cases);
  add("checkpoints", checkpoint_s_, checkpoints_);
  add("ending workers", costs.end_s, costs.workers);
  add("total", report_.elapsed_s, 1);
}

}  // namespace lt_audit
