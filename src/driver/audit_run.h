// One audit as a value that can be stepped: begun, given a few cases at a time, ended. Two of them can take turns.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "driver/audit.h"
#include "driver/audit_parts.h"
#include "driver/findings.h"
#include "driver/interrupts.h"
#include "driver/supervisor.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// How the workers of an audit are started.
SupervisorOptions supervisor_options(const WorkerOptions& worker, const Selection& selection, const AuditParts& parts);

class AuditRun {
 public:
  AuditRun(const AuditOptions& options, const AuditParts& parts);

  /// Starts the first worker and makes the plan. Throws AuditError (cannot_run) when no worker comes up.
  void begin();
  /// Runs the next cases, at most `most`, those that need a worker of their own after all others. False when there is
  /// none left or the audit cannot go on.
  bool step(std::size_t most);
  /// For an audit that takes turns with one that was stopped: it stops too, and says why.
  void stop(const std::string& reason);
  /// A signal came or workers do nothing but die: why; empty while it can go on.
  const std::string& stopped() const { return stopped_; }
  /// A signal came, which is meant for every audit of this process.
  bool interrupted() const { return !stopped_.empty() && !interrupts_.received().empty(); }
  Report end();

 private:
  using Clock = std::chrono::steady_clock;
  /// What the parent keeps of a check while it runs. `positions` says where in the plan each of its results stands.
  struct Progress {
    std::vector<std::size_t> positions;
    std::size_t non_pass = 0;
  };

  void begin_report();
  void make_work();
  void take(std::size_t item, Observation&& observation);
  void insert_result(std::size_t check, std::size_t position, CaseResult&& result);
  void checkpoint(bool force);
  void end_report();
  void fill_profile();

  const AuditOptions& options_;
  const AuditParts& parts_;
  const Clock::time_point started_ = Clock::now();
  Interrupts interrupts_;
  Supervisor supervisor_;
  Plan plan_;
  /// In the order in which they run: those that share workers first.
  std::vector<WorkItem> items_;
  /// Place of each item in the plan.
  std::vector<std::size_t> places_;
  std::size_t next_item_ = 0;
  std::string stopped_;
  std::vector<Progress> progress_;
  FindingBuilder findings_;
  Report report_;
  std::size_t judged_ = 0;
  Clock::time_point last_answer_;
  Clock::time_point last_checkpoint_;
  double last_checkpoint_cost_s_ = 0;
  double plan_s_ = 0, judge_s_ = 0, cases_s_ = 0, checkpoint_s_ = 0;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace lt_audit
