// The worker process: builds the platform, runs one case at a time, answers with observations, and tells when the
// context is gone.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>

#include "driver/audit.h"
#include "driver/other_process.h"
#include "driver/plan.h"
#include "driver/protocol.h"
#include "lt_audit/error.h"
#include "lt_audit/session.h"
#include "matmul/engine.h"
#include "platform/platforms.h"

namespace lt_audit {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Errors after which every further call of the process fails (driver_types.h 13.0: "leaves the process in an
/// inconsistent state", "the context cannot be used", or a context or device that is gone).
constexpr std::array kStickyErrors{cudaErrorECCUncorrectable,
                                   cudaErrorNvlinkUncorrectable,
                                   cudaErrorContained,
                                   cudaErrorIllegalAddress,
                                   cudaErrorLaunchTimeout,
                                   cudaErrorContextIsDestroyed,
                                   cudaErrorAssert,
                                   cudaErrorHardwareStackError,
                                   cudaErrorIllegalInstruction,
                                   cudaErrorMisalignedAddress,
                                   cudaErrorInvalidAddressSpace,
                                   cudaErrorInvalidPc,
                                   cudaErrorLaunchFailure,
                                   cudaErrorTensorMemoryLeak,
                                   cudaErrorMpsClientTerminated,
                                   cudaErrorExternalDevice,
                                   cudaErrorUnknown};

bool is_sticky(cudaError_t error) {
  return std::find(kStickyErrors.begin(), kStickyErrors.end(), error) != kStickyErrors.end();
}

/// Lines from fd 3, blocking; responses to fd 4.
class ParentConnection {
 public:
  /// Nothing at the end of the requests.
  std::optional<Request> next() {
    for (;;) {
      if (auto line = lines_.next()) return decode_request(*line);
      std::array<char, 1 << 14> bytes;
      const ssize_t count = read(kRequestFd, bytes.data(), bytes.size());
      if (count > 0) lines_.append(bytes.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) return std::nullopt;
    }
  }

  void send(const Response& response) {
    const std::string line = encode(response);
    std::size_t sent = 0;
    while (sent < line.size()) {
      const ssize_t count = write(kResponseFd, line.data() + sent, line.size() - sent);
      // Nobody listens any more: nothing this process could say or do matters.
      if (count < 0 && errno != EINTR) _exit(0);
      if (count > 0) sent += static_cast<std::size_t>(count);
    }
  }

 private:
  LineBuffer lines_;
};

/// One write per line, so that lines of several workers do not mix.
void print_trace(const std::string& text) {
  const std::string line = text + '\n';
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

class Worker {
 public:
  explicit Worker(ParentConnection& parent) : parent_(parent) {}

  /// Platform and context; answers "ready".
  void come_up(const StartRequest& request);
  /// Engine and plan; answers "warm".
  void warm_up(const StartRequest& request);
  /// False when the context is gone.
  bool run(const CaseRequest& request);
  MatmulEngine::Profile profile() const { return engine_->profile(); }

 private:
  void use_device(int device);
  std::string too_long_here(const MatmulProblem& problem) const;
  Observation observe(const CaseRequest& request);
  cudaError_t lost_context(const Observation& observation);

  ParentConnection& parent_;
  /// With fault and trace; what they decorate is kept alive by their functions.
  Platform platform_;
  Target target_;
  Plan plan_;
  std::unique_ptr<MatmulEngine> engine_;
  std::optional<Session> session_;
  bool trace_ = false;
  bool is_workload_ = false;
  /// Only the calls of cases are traced, not those of the start.
  std::atomic<bool> tracing_ = false;
  /// Number of the last traced call of this case.
  std::atomic<int> traced_ = 0;
};

Platform make_platform(const WorkerOptions& options, std::string& no_gpu) {
  if (options.target == TargetChoice::simulator) return make_simulator_platform({});
  try {
    return make_gpu_platform(options.libraries);
  } catch (const AuditError& error) {
    if (options.target == TargetChoice::gpu) throw;
    no_gpu = fmt::format("the simulator was taken because no GPU can be audited: {}", error.what());
    return make_simulator_platform({});
  }
}

void Worker::use_device(int device) {
  int count = 0;
  require(platform_.cuda.get_device_count(&count), "cudaGetDeviceCount");
  if (device < 0 || device >= count) {
    throw AuditError(ErrorKind::usage, fmt::format("there is no device {}: {} device{} found, numbered from 0", device,
                                                   count, count == 1 ? " was" : "s were"));
  }
  require(platform_.cuda.set_device(device), "cudaSetDevice");
  // The context of the device comes with the first call that needs it.
  require(platform_.cuda.free(nullptr), "cudaFree(0), which makes the context");
}

void Worker::come_up(const StartRequest& request) {
  ReadyResponse ready;
  const auto begin = Clock::now();
  platform_ = make_platform(request.worker, ready.no_gpu);
  ready.library_s = since(begin);
  const auto before_context = Clock::now();
  use_device(request.worker.device);
  ready.context_s = since(before_context);
  target_ = describe_target(platform_, request.worker.device);
  if (!request.worker.fault.empty()) platform_ = inject_fault(platform_, request.worker.fault);
  trace_ = request.worker.trace;
  if (trace_) {
    platform_ = trace_calls(platform_, [this](const std::string& line) {
      if (tracing_) print_trace(fmt::format("{:>5}  {}", ++traced_, line));
    });
  }
  ready.target = target_;
  parent_.send(ready);
}

void Worker::warm_up(const StartRequest& request) {
  const auto begin = Clock::now();
  engine_ = std::make_unique<MatmulEngine>(platform_, request.engine);
  session_.emplace(platform_, target_, *engine_,
                   [request](const MatmulProblem& problem, const Session::OtherProcessOptions& how) {
                     return run_in_other_process(request, problem, how);
                   });
  is_workload_ = request.selection.is_workload();
  plan_ = make_plan(request.selection, target_);
  parent_.send(WarmResponse{since(begin)});
}

/// A workload has the sizes of its application; the simulator multiplies on the host.
std::string Worker::too_long_here(const MatmulProblem& p) const {
  constexpr double kMostProducts = 0x1p26;
  const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                          static_cast<double>(std::max(p.batch_count, 1));
  if (!is_workload_ || target_.kind != PlatformKind::simulator || products <= kMostProducts) return {};
  return fmt::format("{:.2g} products take the simulator too long; audit this one on a GPU", products);
}

Observation Worker::observe(const CaseRequest& request) {
  Observation observation;
  if (request.check >= plan_.checks.size() || request.index >= plan_.checks[request.check].cases.size() ||
      plan_.checks[request.check].cases[request.index].id != request.id) {
    observation.audit_error = fmt::format(
        "the worker has no case '{}' in its plan: its target differs from that of the first worker", request.id);
    return observation;
  }
  const auto& planned = plan_.checks[request.check];
  if (auto reason = too_long_here(planned.cases[request.index].problem); !reason.empty()) {
    observation.not_run = std::move(reason);
    return observation;
  }
  if (trace_) print_trace(fmt::format("{}/{}", planned.check->info().id, request.id));
  tracing_ = true;
  traced_ = 0;
  engine_->clear_log();
  const auto begin = Clock::now();
  try {
    observation = planned.check->observe(*session_, planned.cases[request.index]);
    // The engine puts the log of its own runs into their observations; what is left belongs to a sequence of steps.
    if (observation.log.empty()) observation.log = engine_->take_log();
    if (observation.times.host_us == 0) {
      observation.times.host_us = since(begin) * 1e6;
      engine_->add_steps(observation.times.host_us);
    }
  } catch (const NotRun& reason) {
    observation = {};
    observation.not_run = reason.what();
  } catch (const std::exception& error) {
    observation = {};
    observation.audit_error = error.what();
  }
  tracing_ = false;
  return observation;
}

/// The sticky error that this case left, or success. A synchronisation only when something points to trouble: a healthy
/// case ends synchronised, and asking again at each would cost more than the question is worth.
cudaError_t Worker::lost_context(const Observation& observation) {
  const auto& cuda = platform_.cuda;
  const cudaError_t left = cuda.peek_at_last_error();
  const auto suspicious = [](const Stage& stage) {
    return (stage.status.starts_with("cuda") && stage.status != "cudaSuccess") || stage.status == "EXECUTION_FAILED" ||
           stage.status == "INTERNAL_ERROR" || stage.status == "ALLOC_FAILED";
  };
  const bool trouble = left != cudaSuccess || !observation.audit_error.empty() ||
                       std::any_of(observation.stages.begin(), observation.stages.end(), suspicious);
  if (!trouble) return cudaSuccess;
  const cudaError_t error = cuda.device_synchronize();
  if (is_sticky(error)) return error;
  if (is_sticky(left)) return left;
  // An ordinary error is this case's alone; forget it before the next.
  static_cast<void>(cuda.get_last_error());
  return cudaSuccess;
}

bool Worker::run(const CaseRequest& request) {
  ResultResponse result{request.sequence, observe(request), false};
  auto& observation = result.observation;
  if (const auto error = lost_context(observation); error != cudaSuccess) {
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error);
    // A consequence, not another result.
    if (!observation.audit_error.empty()) observation.facts.emplace("audit_error", observation.audit_error);
    observation.audit_error.clear();
  }
  // A check that waits with a limit of its own has seen a kernel hang: nothing else can run in this context either.
  result.lost = observation.end != ProcessEnd::survived;
  const bool lost = result.lost;
  parent_.send(std::move(result));
  return !lost;
}

/// What a worker must be before it does anything.
void settle_in() {
  // End of file on fd 3 tells a worker between two cases that its parent died; this tells one in the middle of a call.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A crash is a result here; writing tens of GiB of mapped memory to disk would delay it by minutes.
  rlimit no_core{0, 0};
  static_cast<void>(getrlimit(RLIMIT_CORE, &no_core));
  no_core.rlim_cur = 0;
  static_cast<void>(setrlimit(RLIMIT_CORE, &no_core));
  fcntl(kRequestFd, F_SETFD, FD_CLOEXEC);
  fcntl(kResponseFd, F_SETFD, FD_CLOEXEC);
}

bool has_parent() { return fcntl(kRequestFd, F_GETFD) >= 0 && fcntl(kResponseFd, F_GETFD) >= 0; }

/// Runs cases until the requests end.
void serve(ParentConnection& parent, Worker& worker) {
  auto request = parent.next();
  if (!request) return;
  const auto* start = std::get_if<StartRequest>(&*request);
  if (start == nullptr) throw ProtocolError("the first request is not a start");
  worker.come_up(*start);
  worker.warm_up(*start);
  while ((request = parent.next())) {
    const auto* the_case = std::get_if<CaseRequest>(&*request);
    if (the_case == nullptr) throw ProtocolError("a second start request");
    // No destructors: they call into a library whose context is gone, and may hang.
    if (!worker.run(*the_case)) _exit(0);
  }
  parent.send(ByeResponse{worker.profile()});
}

}  // namespace

int worker_main() {
  if (!has_parent()) {
    static constexpr std::string_view kText = "lt-audit worker: is started by `lt-audit run`, not by hand\n";
    return write(STDERR_FILENO, kText.data(), kText.size()) < 0 ? 3 : 2;
  }
  settle_in();
  ParentConnection parent;
  // Outlives the catch blocks: the parent hears the reason before any destructor runs.
  Worker worker(parent);
  try {
    serve(parent, worker);
  } catch (const AuditError& error) {
    parent.send(FailedResponse{error.kind(), error.what()});
    return 3;
  } catch (const std::exception& error) {
    parent.send(FailedResponse{ErrorKind::cannot_run, error.what()});
    return 3;
  }
  return 0;
}

}  // namespace lt_audit
