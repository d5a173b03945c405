// Hands cases to worker processes and gets an observation for every one of them, whatever happens to the workers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/interrupts.h"
#include "driver/protocol.h"
#include "driver/worker_process.h"

namespace lt_audit {

struct SupervisorOptions {
  /// Path and arguments of a worker.
  std::vector<std::string> command;
  StartRequest start;
  /// Variables of the workers in place of the parent's own of the same name; an empty value takes one away.
  std::map<std::string, std::string> variables = {};
  /// Seconds from nothing to "warm": library load over a slow network, first context of a machine with many GPUs.
  double start_limit_s = 120;
  /// Workers that may warm up while another works; each keeps a core busy and a context on the device.
  std::size_t most_spares = usual_spares();

  /// One on a small machine, three where their start takes no core from the work.
  static std::size_t usual_spares();
};

/// One case to run. The id must outlive the run.
struct WorkItem {
  std::size_t check = 0;
  std::size_t index = 0;
  std::string_view id;
  bool isolated = false;
};

/// Where the time of the workers went, in seconds.
struct SupervisorCosts {
  /// First worker: spawn to ready (library and context in it, as the worker says), ready to warm.
  double start_s = 0, library_s = 0, context_s = 0, warm_s = 0;
  /// First case sent to its answer.
  double first_case_s = 0;
  /// Waiting for answers; waiting for a worker to come up after the first.
  double waiting_s = 0, restart_s = 0;
  /// Asking the workers to end, and their end.
  double end_s = 0;
  std::uint64_t workers = 0, isolated_cases = 0, restarts = 0;
  /// Sum over the workers that ended in order.
  MatmulEngine::Profile engine;
};

class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options);
  /// Kills what still runs; waits for it up to 5 s.
  ~Supervisor();

  /// Starts the first worker. Throws AuditError when none comes up: the worker's own reason, or how it died (twice).
  const ReadyResponse& start();

  /// How many cases all runs together will have, for the sentence about an early end.
  void expect(std::size_t cases) { expected_ = cases; }

  /// How a run ended before its last case; empty reason when it did not.
  struct End {
    bool complete() const { return reason.empty(); }
    std::string reason;
  };
  /// Called once for each item that was run, in order of completion, from the thread of run().
  using Done = std::function<void(std::size_t item, Observation&& observation)>;
  /// Runs all items: those that may share a worker first, in order, then the isolated ones. A case whose worker dies,
  /// hangs or answers rubbish gets that as its observation; cases waiting behind it are run by the next worker. Stops
  /// early on SIGINT or SIGTERM, and when workers do nothing but die. Throws AuditError when no worker ever gets warm.
  /// May be called again with other items: the workers stay.
  End run(std::span<const WorkItem> items, const Done& done);

  /// Asks the workers to end and waits up to 5 s for it.
  void finish();

  const SupervisorCosts& costs() const { return costs_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;
  struct StartFailure;
  /// What becomes of a worker after something of it was handled.
  enum class Fate { stays, leaves, gone };

  std::unique_ptr<Worker> start_worker();
  void send_start(Worker& worker);
  void feed_current();
  void send_case(Worker& worker, std::size_t item);
  void start_spares_if_useful();
  std::size_t useful_spares() const;
  void take_spare();
  void retire_current();

  void wait_and_handle();
  Fate handle_input(Worker& worker);
  Fate handle_response(Worker& worker, Response&& response);
  Fate handle_result(Worker& worker, ResultResponse&& result);
  Fate handle_deadline(Worker& worker, Clock::time_point now);
  Fate worker_died(Worker& worker, const std::string& how);
  Fate worker_broken(Worker& worker, const std::string& what);
  Fate start_failed(Worker& worker, const StartFailure& failure);
  Fate blame_first(Worker& worker, Observation&& observation);
  void put_back(Worker& worker);
  void settle(std::unique_ptr<Worker>& slot, Fate fate);
  Clock::time_point deadline_of(const Worker& worker) const;
  int poll_timeout_ms() const;
  std::string stop_reason() const;
  void deliver(std::size_t item, Observation&& observation);

  SupervisorOptions options_;
  Interrupts interrupts_;
  Reaper reaper_;
  std::unique_ptr<Worker> current_;
  /// Lists: workers join and leave them while their elements are being handled.
  std::list<std::unique_ptr<Worker>> spares_;
  std::list<std::unique_ptr<Worker>> leaving_;
  bool spares_allowed_ = true;

  std::span<const WorkItem> items_;
  const Done* done_ = nullptr;
  std::deque<std::size_t> shared_queue_;
  std::deque<std::size_t> isolated_queue_;
  std::size_t answered_ = 0;
  /// Over all runs.
  std::size_t answered_in_all_ = 0;
  std::size_t expected_ = 0;

  ReadyResponse ready_;
  bool came_up_ = false;
  bool was_warm_ = false;
  int start_failures_ = 0;
  int spare_deaths_ = 0;
  int deaths_in_a_row_ = 0;
  int lost_contexts_in_a_row_ = 0;
  std::string last_death_;
  /// Not empty: no worker can be started any more.
  std::string gave_up_;
  SupervisorCosts costs_;
};

}  // namespace lt_audit
