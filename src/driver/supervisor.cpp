// The loop of the parent process: one thread, poll(), a current worker, some spares, and those on their way out.
#include "driver/supervisor.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

/// Cases that a worker has in hand or before it. Enough that it does not wait while the parent writes the report (tens
/// of ms).
constexpr std::size_t kPipeline = 64;
/// Spares for the isolated cases start when this few shared cases are left, about as long as it takes to come up.
constexpr std::size_t kWarmUpCases = 256;
/// A library that dies at every call tells nothing new by the twentieth time, and each costs a start or a time limit.
constexpr int kMaxDeathsInARow = 20;
/// A lost context is noticed by the worker itself and costs a start only; a grid of cases may lose it at each.
constexpr int kMaxLostContextsInARow = 500;
constexpr double kLeaveLimitSeconds = 5;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::chrono::steady_clock::duration to_duration(double seconds) {
  // Eleven days: more would overflow a time point, and is no limit.
  seconds = std::min(seconds, 1e6);
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

std::string printable_start(std::string_view line) {
  std::string text(line.substr(0, 60));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

struct Supervisor::Worker {
  enum class State { starting, ready, warm, leaving };

  Worker(const SupervisorOptions& options, Reaper& reaper)
      : process(options.command, options.start.worker.trace, reaper, options.variables) {}

  WorkerProcess process;
  State state = State::starting;
  /// No case was ever sent to it.
  bool fresh = true;
  /// Holds the one case that it is for.
  bool isolated = false;
  std::deque<std::size_t> in_flight;
  /// When it started, became warm, got the case it works on, or began to leave.
  Clock::time_point since = Clock::now();
  Clock::time_point started = since;
};

struct Supervisor::StartFailure {
  ErrorKind kind = ErrorKind::cannot_run;
  std::string message;
  /// The worker itself said so; otherwise it died or stood still.
  bool told = false;
  /// "SIGKILL" or "exit code 3"; empty when it did not die.
  std::string death = {};
};

Supervisor::Supervisor(SupervisorOptions options) : options_(std::move(options)) {}

Supervisor::~Supervisor() {
  current_.reset();
  spares_.clear();
  leaving_.clear();
  reaper_.wait(kLeaveLimitSeconds);
}

std::size_t SupervisorOptions::usual_spares() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 4, 1, 3);
}

std::unique_ptr<Supervisor::Worker> Supervisor::start_worker() {
  auto worker = std::make_unique<Worker>(options_, reaper_);
  worker->process.send(encode(Request(options_.start)));
  ++costs_.workers;
  return worker;
}

const ReadyResponse& Supervisor::start() {
  while (!came_up_) {
    if (!current_) current_ = start_worker();
    wait_and_handle();
    if (const auto signal = interrupts_.received(); !signal.empty()) {
      throw AuditError(ErrorKind::cannot_run, fmt::format("interrupted by {} before the first case", signal));
    }
  }
  return ready_;
}

Supervisor::End Supervisor::run(std::span<const WorkItem> items, const Done& done) {
  items_ = items;
  done_ = &done;
  answered_ = 0;
  for (std::size_t i = 0; i < items.size(); ++i) (items[i].isolated ? isolated_queue_ : shared_queue_).push_back(i);
  while (answered_ < items_.size()) {
    if (auto reason = stop_reason(); !reason.empty()) {
      current_.reset();
      spares_.clear();
      return {std::move(reason)};
    }
    if (!current_) take_spare();
    if (!current_) current_ = start_worker();
    feed_current();
    if (!current_) continue;
    start_spares_if_useful();
    wait_and_handle();
  }
  return {};
}

std::string Supervisor::stop_reason() const {
  const auto progress = fmt::format("after {} of {} cases", answered_in_all_,
                                    std::max(expected_, answered_in_all_ + items_.size() - answered_));
  if (const auto signal = interrupts_.received(); !signal.empty()) {
    return fmt::format("interrupted by {} {}", signal, progress);
  }
  if (!gave_up_.empty()) return fmt::format("stopped {}: {}", progress, gave_up_);
  if (deaths_in_a_row_ >= kMaxDeathsInARow) {
    return fmt::format("stopped {}: {} worker processes in a row died without finishing a case, the last with {}",
                       progress, deaths_in_a_row_, last_death_);
  }
  if (lost_contexts_in_a_row_ >= kMaxLostContextsInARow) {
    return fmt::format("stopped {}: {} cases in a row lost the CUDA context, the last with {}", progress,
                       lost_contexts_in_a_row_, last_death_);
  }
  return {};
}

void Supervisor::feed_current() {
  if (!current_ || current_->state != Worker::State::warm || current_->isolated) return;
  while (!shared_queue_.empty() && current_->in_flight.size() < kPipeline) {
    const auto item = shared_queue_.front();
    shared_queue_.pop_front();
    send_case(*current_, item);
  }
  if (!shared_queue_.empty() || !current_->in_flight.empty() || isolated_queue_.empty()) return;
  if (!current_->fresh) {
    retire_current();
    return;
  }
  const auto item = isolated_queue_.front();
  isolated_queue_.pop_front();
  current_->isolated = true;
  ++costs_.isolated_cases;
  send_case(*current_, item);
}

void Supervisor::send_case(Worker& worker, std::size_t item) {
  const auto& work = items_[item];
  if (worker.in_flight.empty()) worker.since = Clock::now();
  worker.fresh = false;
  worker.in_flight.push_back(item);
  worker.process.send(encode(Request(CaseRequest{item, work.check, work.index, std::string(work.id)})));
}

void Supervisor::retire_current() { settle(current_, Fate::leaves); }

/// The one that is furthest on its way becomes the current worker.
void Supervisor::take_spare() {
  if (spares_.empty()) return;
  const auto best = std::max_element(spares_.begin(), spares_.end(),
                                     [](const auto& left, const auto& right) { return left->state < right->state; });
  current_ = std::move(*best);
  spares_.erase(best);
}

std::size_t Supervisor::useful_spares() const {
  if (!spares_allowed_ || !current_ || current_->state != Worker::State::warm) return 0;
  // The first isolated case may find the current worker fresh; the others each need one.
  if (!isolated_queue_.empty() && shared_queue_.size() < kWarmUpCases) {
    return std::min(isolated_queue_.size(), options_.most_spares);
  }
  return costs_.restarts > 0 && !(shared_queue_.empty() && isolated_queue_.empty()) ? 1 : 0;
}

void Supervisor::start_spares_if_useful() {
  const auto useful = useful_spares();
  while (spares_.size() < useful) spares_.push_back(start_worker());
}

int Supervisor::poll_timeout_ms() const {
  auto next = Clock::now() + std::chrono::seconds(1);
  if (current_) next = std::min(next, deadline_of(*current_));
  for (const auto& spare : spares_) next = std::min(next, deadline_of(*spare));
  for (const auto& worker : leaving_) next = std::min(next, deadline_of(*worker));
  const double ms = seconds_between(Clock::now(), next) * 1000;
  return static_cast<int>(std::ceil(std::max(ms, 0.0)));
}

Supervisor::Clock::time_point Supervisor::deadline_of(const Worker& worker) const {
  switch (worker.state) {
    case Worker::State::starting:
    case Worker::State::ready:
      return worker.started + to_duration(options_.start_limit_s);
    case Worker::State::leaving:
      return worker.since + to_duration(kLeaveLimitSeconds);
    case Worker::State::warm:
      break;
  }
  // A worker without a case may be idle for as long as it likes.
  if (worker.in_flight.empty()) return Clock::time_point::max();
  return worker.since + to_duration(options_.start.worker.timeout_s);
}

void Supervisor::wait_and_handle() {
  std::vector<std::unique_ptr<Worker>*> slots;
  if (current_) slots.push_back(&current_);
  for (auto& slot : spares_) slots.push_back(&slot);
  for (auto& slot : leaving_) slots.push_back(&slot);
  std::vector<pollfd> fds{{interrupts_.fd(), POLLIN, 0}};
  for (auto* slot : slots) {
    const auto& process = (*slot)->process;
    fds.push_back({process.response_fd(), POLLIN, 0});
    fds.push_back({process.has_unsent() ? process.request_fd() : -1, POLLOUT, 0});
  }
  const bool coming_up = was_warm_ && current_ && current_->state != Worker::State::warm;
  const auto before = Clock::now();
  const bool any = poll(fds.data(), fds.size(), poll_timeout_ms()) > 0;
  const auto now = Clock::now();
  (coming_up ? costs_.restart_s : costs_.waiting_s) += seconds_between(before, now);

  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto& slot = *slots[i];
    if (any && fds[2 * i + 2].revents != 0) slot->process.send_more();
    // Input before deadlines: an answer that waited while the parent was busy or stopped is in time.
    if (any && fds[2 * i + 1].revents != 0) settle(slot, handle_input(*slot));
    if (slot) settle(slot, handle_deadline(*slot, now));
  }
  for (auto* list : {&spares_, &leaving_}) std::erase_if(*list, [](const auto& worker) { return !worker; });
  reaper_.collect();
}

void Supervisor::settle(std::unique_ptr<Worker>& slot, Fate fate) {
  if (fate == Fate::stays) return;
  if (fate == Fate::gone) {
    slot.reset();
    return;
  }
  slot->state = Worker::State::leaving;
  slot->since = Clock::now();
  slot->process.close_requests();
  leaving_.push_back(std::move(slot));
}

Supervisor::Fate Supervisor::handle_input(Worker& worker) {
  const bool open = worker.process.receive();
  try {
    while (auto line = worker.process.next_line()) {
      // Decoded apart from what is done with it: a case's own exception must not look like a broken worker.
      Response response;
      try {
        response = decode_response(*line);
      } catch (const ProtocolError&) {
        return worker_broken(worker, fmt::format("'{}'", printable_start(*line)));
      }
      const Fate fate = handle_response(worker, std::move(response));
      if (fate != Fate::stays) return fate;
    }
  } catch (const ProtocolError& error) {
    return worker_broken(worker, error.what());
  }
  if (open) return Fate::stays;
  return worker.state == Worker::State::leaving ? Fate::gone : worker_died(worker, worker.process.end_reason());
}

Supervisor::Fate Supervisor::handle_response(Worker& worker, Response&& response) {
  using State = Worker::State;
  if (auto* result = std::get_if<ResultResponse>(&response)) return handle_result(worker, std::move(*result));
  if (auto* failed = std::get_if<FailedResponse>(&response)) {
    if (worker.state == State::warm) return worker_broken(worker, failed->message);
    return start_failed(worker, {failed->kind, failed->message, true});
  }
  if (auto* ready = std::get_if<ReadyResponse>(&response)) {
    if (worker.state != State::starting) return worker_broken(worker, "a second greeting");
    worker.state = State::ready;
    worker.since = Clock::now();
    if (came_up_) return Fate::stays;
    came_up_ = true;
    ready_ = std::move(*ready);
    costs_.start_s = seconds_between(worker.started, worker.since);
    costs_.library_s = ready_.library_s;
    costs_.context_s = ready_.context_s;
    // Later workers must not choose again: a GPU that fails in between would give a report of two targets.
    options_.start.worker.target =
        ready_.target.kind == PlatformKind::gpu ? TargetChoice::gpu : TargetChoice::simulator;
    return Fate::stays;
  }
  if (std::holds_alternative<WarmResponse>(response)) {
    if (worker.state != State::ready) return worker_broken(worker, "a second greeting");
    worker.state = State::warm;
    if (!was_warm_) {
      costs_.warm_s = seconds_between(worker.since, Clock::now());
      // Until here it was a start, counted as such.
      costs_.waiting_s = 0;
    }
    worker.since = Clock::now();
    was_warm_ = true;
    start_failures_ = 0;
    return Fate::stays;
  }
  const auto& engine = std::get<ByeResponse>(response).profile;
  auto& sum = costs_.engine;
  sum.setup_us += engine.setup_us;
  sum.prepare_us += engine.prepare_us;
  sum.heuristic_us += engine.heuristic_us;
  sum.matmul_us += engine.matmul_us;
  sum.verify_us += engine.verify_us;
  sum.wait_us += engine.wait_us;
  sum.cublas_us += engine.cublas_us;
  sum.steps_us += engine.steps_us;
  return Fate::stays;
}

Supervisor::Fate Supervisor::handle_result(Worker& worker, ResultResponse&& result) {
  if (worker.in_flight.empty() || worker.in_flight.front() != result.sequence) {
    return worker_broken(worker, "an answer to a case that it was not asked for");
  }
  const std::size_t item = worker.in_flight.front();
  worker.in_flight.pop_front();
  const auto now = Clock::now();
  if (costs_.first_case_s == 0) costs_.first_case_s = seconds_between(worker.since, now);
  worker.since = now;
  if (!result.lost) {
    deaths_in_a_row_ = 0;
    lost_contexts_in_a_row_ = 0;
    deliver(item, std::move(result.observation));
    return worker.isolated ? Fate::leaves : Fate::stays;
  }
  last_death_ = result.observation.end_detail;
  if (!worker.isolated) ++lost_contexts_in_a_row_;
  ++costs_.restarts;
  put_back(worker);
  deliver(item, std::move(result.observation));
  return Fate::leaves;
}

Supervisor::Fate Supervisor::handle_deadline(Worker& worker, Clock::time_point now) {
  if (now < deadline_of(worker)) return Fate::stays;
  switch (worker.state) {
    case Worker::State::leaving:
      return Fate::gone;
    case Worker::State::starting:
    case Worker::State::ready:
      return start_failed(
          worker, {ErrorKind::cannot_run,
                   fmt::format("the worker process did not come up within {:g} s; look at the GPU with nvidia-smi",
                               options_.start_limit_s)});
    case Worker::State::warm:
      break;
  }
  worker.process.kill();
  Observation observation;
  observation.end = ProcessEnd::timed_out;
  observation.end_detail = fmt::format("{:g} s", options_.start.worker.timeout_s);
  last_death_ = "the time limit of " + observation.end_detail;
  return blame_first(worker, std::move(observation));
}

Supervisor::Fate Supervisor::worker_died(Worker& worker, const std::string& how) {
  if (worker.state != Worker::State::warm) {
    StartFailure failure;
    failure.message = fmt::format(
        "the worker process died with {} while it started, twice; try another library with --cublaslt, or "
        "`--target simulator` to see whether the tool itself works",
        how);
    failure.death = how;
    return start_failed(worker, failure);
  }
  Observation observation;
  observation.end = ProcessEnd::crashed;
  observation.end_detail = how;
  last_death_ = how;
  return blame_first(worker, std::move(observation));
}

Supervisor::Fate Supervisor::worker_broken(Worker& worker, const std::string& what) {
  worker.process.kill();
  if (worker.state == Worker::State::leaving) return Fate::gone;
  const auto text = fmt::format("the worker process answered with something that is no answer: {}", what);
  if (worker.state != Worker::State::warm) return start_failed(worker, {ErrorKind::cannot_run, text});
  Observation observation;
  observation.audit_error = text;
  last_death_ = "an answer that is none";
  return blame_first(worker, std::move(observation));
}

Supervisor::Fate Supervisor::start_failed(Worker& worker, const StartFailure& failure) {
  worker.process.kill();
  const bool spare =
      std::any_of(spares_.begin(), spares_.end(), [&worker](const auto& one) { return one.get() == &worker; });
  if (spare) {
    // A device in exclusive mode, or one too full for two: go on with one worker at a time. Death proves neither.
    if (failure.death.empty() || ++spare_deaths_ >= kMaxDeathsInARow) spares_allowed_ = false;
    return Fate::gone;
  }
  if (was_warm_ && !failure.death.empty()) {
    // Something kills workers while they start; others have come up before, so the next one may.
    ++deaths_in_a_row_;
    last_death_ = failure.death;
    return Fate::gone;
  }
  ++start_failures_;
  // A reason that the worker itself tells about the very first start (no GPU, no library) stays true.
  const bool final = failure.told && !was_warm_;
  if (!final && start_failures_ < 2) {
    // What dead and leaving workers hold of the device must be free before the second try.
    for (auto& other : leaving_) {
      if (other) other->process.kill();
    }
    reaper_.wait(kLeaveLimitSeconds);
    return Fate::gone;
  }
  if (!was_warm_) throw AuditError(failure.kind, failure.message);
  gave_up_ = "no new worker comes up: " + failure.message;
  return Fate::gone;
}

Supervisor::Fate Supervisor::blame_first(Worker& worker, Observation&& observation) {
  ++costs_.restarts;
  if (!worker.isolated) ++deaths_in_a_row_;
  if (worker.in_flight.empty()) return Fate::gone;
  const std::size_t item = worker.in_flight.front();
  worker.in_flight.pop_front();
  put_back(worker);
  deliver(item, std::move(observation));
  return Fate::gone;
}

/// What was sent and not begun is run by the next worker, in order.
void Supervisor::put_back(Worker& worker) {
  shared_queue_.insert(shared_queue_.begin(), worker.in_flight.begin(), worker.in_flight.end());
  worker.in_flight.clear();
}

void Supervisor::deliver(std::size_t item, Observation&& observation) {
  ++answered_;
  ++answered_in_all_;
  (*done_)(item, std::move(observation));
}

void Supervisor::finish() {
  const auto before = Clock::now();
  // Spares have nothing to tell.
  spares_.clear();
  if (current_) retire_current();
  while (!leaving_.empty() && interrupts_.received().empty()) wait_and_handle();
  leaving_.clear();
  reaper_.wait(kLeaveLimitSeconds);
  costs_.end_s = seconds_between(before, Clock::now());
}

}  // namespace lt_audit
