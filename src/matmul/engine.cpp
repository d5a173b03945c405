// One problem run on a platform and verified.
#include "matmul/engine.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "lt_audit/measured_facts.h"
#include "lt_audit/owners.h"
#include "lt_audit/verdict.h"
#include "matmul/bench.h"
#include "matmul/cublas_call.h"
#include "matmul/exact_inputs.h"
#include "matmul/log_capture.h"
#include "matmul/lt_call.h"

namespace lt_audit {
namespace {

/// Room for the small problems of the checks, so that a run allocates once.
constexpr std::size_t kFirstSlabBytes = std::size_t{64} << 20;
/// A call of no size takes microseconds, a quarter of a second is a defect on any machine; each product adds 5 ns,
/// which leaves room for the simulator under a sanitizer.
double slow_above_us(const MatmulProblem& p) {
  const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                          static_cast<double>(p.batch_count);
  return 250'000 + products * 0.005;
}

/// What the host needs to enqueue one matmul: the stream is kept busy for so long, or the time between the events would
/// be the host's for a product of a few microseconds.
constexpr std::int64_t kLeadNs = 15'000;

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

LtHandle make_handle(const LtApi& lt) {
  cublasLtHandle_t handle = nullptr;
  require(lt.create(&handle), "cublasLtCreate");
  return {lt, handle};
}

Event make_event(const CudaApi& cuda) {
  cudaEvent_t event = nullptr;
  require(cuda.event_create(&event), "cudaEventCreate");
  return {cuda, event};
}

/// What the engine holds in the worker's context.
struct Resources {
  Resources(const Platform& platform, std::uint64_t seed)
      : bench(std::make_shared<Bench>(platform, seed, kFirstSlabBytes)),
        started(make_event(platform.cuda)),
        stopped(make_event(platform.cuda)),
        verified(make_event(platform.cuda)),
        handle(make_handle(platform.lt)) {}

  std::shared_ptr<Bench> bench;
  Event started;
  Event stopped;
  Event verified;
  LtHandle handle;
};

}  // namespace

struct MatmulEngine::Impl {
  Impl(const Platform& the_platform, const EngineOptions& the_options)
      : platform(the_platform), options(the_options), log(platform.lt, options.on_log) {
    held.emplace(platform, options.seed);
  }

  Resources& resources() {
    if (!held) held.emplace(platform, options.seed);
    return *held;
  }

  /// Microseconds between two events that the stream has passed; nothing where the platform cannot say.
  std::optional<double> gpu_us(const Event& from, const Event& to) const {
    float ms = 0;
    if (platform.cuda.event_elapsed_time(&ms, from.get(), to.get()) != cudaSuccess) return std::nullopt;
    return static_cast<double>(ms) * 1000;
  }

  void run_matmul(const MatmulProblem& problem, LtCall& call, const BufferPlan& buffers, const ExactInputs& inputs,
                  Observation& observation);
  void add_digests(const MatmulProblem& problem, Observation& observation);

  const Platform& platform;
  EngineOptions options;
  LogCapture log;
  std::optional<Resources> held;
  Profile profile;
};

MatmulEngine::MatmulEngine(const Platform& platform, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(platform, options)) {}
MatmulEngine::~MatmulEngine() = default;

const MatmulEngine::Profile& MatmulEngine::profile() const { return impl_->profile; }
void MatmulEngine::add_steps(double us) { impl_->profile.steps_us += us; }
const EngineOptions& MatmulEngine::options() const { return impl_->options; }
cublasLtHandle_t MatmulEngine::handle() { return impl_->resources().handle.get(); }
std::shared_ptr<Bench> MatmulEngine::bench() { return impl_->resources().bench; }
void MatmulEngine::release() { impl_->held.reset(); }
void MatmulEngine::clear_log() { impl_->log.clear(); }
std::vector<LogLine> MatmulEngine::take_log() { return impl_->log.take(); }

void MatmulEngine::Impl::run_matmul(const MatmulProblem& problem, LtCall& call, const BufferPlan& buffers,
                                    const ExactInputs& inputs, Observation& observation) {
  auto& on_device = resources();
  auto& verifier = on_device.bench->verifier();
  const cudaStream_t stream = on_device.bench->stream();
  auto phase = Clock::now();
  verifier.prepare(problem, inputs, buffers);
  call.upload_scalars(stream);
  profile.prepare_us += us_since(phase);

  phase = Clock::now();
  if (options.time_on_gpu) {
    require(platform.kernels.occupy(kLeadNs, stream), "audit kernel occupy");
    require(platform.cuda.event_record(on_device.started.get(), stream), "cudaEventRecord");
  }
  const bool accepted = call.matmul(on_device.handle.get(), stream, observation);
  if (options.time_on_gpu) static_cast<void>(platform.cuda.event_record(on_device.stopped.get(), stream));
  observation.times.matmul_call_us = us_since(phase);
  profile.matmul_us += observation.times.matmul_call_us;

  phase = Clock::now();
  const auto verification_launched = verifier.launch(problem, inputs, buffers, accepted);
  if (options.time_on_gpu) static_cast<void>(platform.cuda.event_record(on_device.verified.get(), stream));
  profile.verify_us += us_since(phase);

  phase = Clock::now();
  const cudaError_t error = platform.cuda.stream_synchronize(stream);
  profile.wait_us += us_since(phase);
  observation.stages.push_back({"synchronize", "cudaStreamSynchronize", name_of(error)});
  if (error == cudaSuccess && verification_launched == cudaErrorMemoryAllocation) {
    // Another process took what the first launch of a kernel needs; the error is not sticky.
    static_cast<void>(platform.cuda.get_last_error());
    observation.not_run = "no GPU memory is left for the audit's kernels";
    return;
  }
  if (error != cudaSuccess || verification_launched != cudaSuccess) {
    // A fault of the matmul shows here; the kernels after it have said nothing, and the context is gone.
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error != cudaSuccess ? error : verification_launched);
    return;
  }
  observation.verification = verifier.read(problem, inputs, buffers, accepted);
  if (!accepted || !options.time_on_gpu) return;
  observation.times.matmul_gpu_us = gpu_us(on_device.started, on_device.stopped);
  observation.times.verify_gpu_us = gpu_us(on_device.stopped, on_device.verified);
}

/// The bits of D for inputs whose sums round, and those of cuBLAS beside them.
void MatmulEngine::Impl::add_digests(const MatmulProblem& problem, Observation& observation) {
  auto& on_device = resources();
  const auto hex = [](std::uint64_t digest) { return fmt::format("{:016x}", digest); };
  Observation steps;
  MatmulProblem in_place = problem;
  in_place.in_place = true;
  for (const bool beside : {false, true}) {
    if (beside && (!platform.blas.create || !why_not_cublas(problem).empty())) break;
    PreparedMatmul matmul(on_device.bench, beside ? in_place : problem, options.seed);
    if (beside) {
      matmul.fill_rounding();
      if (!matmul.cublas(steps).empty() || !steps.stages.back().ok()) break;
    } else {
      if (!matmul.describe(steps)) break;
      const auto* algo = matmul.choose(on_device.handle.get(), steps);
      matmul.fill_rounding();
      if (algo == nullptr || !matmul.matmul(on_device.handle.get(), algo, matmul.stream(), steps)) break;
    }
    observation.facts[beside ? kCublasDBitsFact : kDBitsFact] = hex(matmul.d_digest());
  }
}

Observation MatmulEngine::run(const MatmulProblem& problem) { return run(problem, impl_->options.run); }

Observation MatmulEngine::run(const MatmulProblem& problem, const RunOptions& how) {
  auto& engine = *impl_;
  auto& on_device = engine.resources();
  Observation observation;
  const auto start = Clock::now();
  engine.log.clear();
  const auto inputs = choose_inputs(problem, engine.options.seed, how.inputs);
  const auto buffers = on_device.bench->place(problem, inputs, observation.not_run);
  if (!buffers) return observation;

  LtCall call(engine.platform, problem, *buffers);
  bool runnable = call.describe(observation);
  engine.profile.setup_us += us_since(start);
  if (runnable) {
    const auto phase = Clock::now();
    runnable = call.choose_algo(on_device.handle.get(), engine.options.requested_results, observation);
    observation.times.heuristic_us = us_since(phase);
    engine.profile.heuristic_us += observation.times.heuristic_us;
  }
  if (runnable) {
    engine.run_matmul(problem, call, *buffers, inputs, observation);
    const double limit_us = slow_above_us(problem);
    if (observation.times.matmul_call_us > limit_us && outcome_of(observation) == Outcome::correct) {
      // Once more: the first use of a kernel loads it, and that is no slow call.
      Observation again;
      again.stages = {observation.stages.begin(), observation.stages.end() - 2};
      again.heuristic = observation.heuristic;
      again.times = observation.times;
      engine.run_matmul(problem, call, *buffers, inputs, again);
      if (again.times.matmul_call_us > limit_us) {
        again.facts[kSlowCallFact] = fmt::format("{:.0f}", again.times.matmul_call_us / 1000);
      }
      observation = std::move(again);
    }
  }
  observation.log = engine.log.take();
  observation.times.host_us = us_since(start);
  if (how.digest && outcome_of(observation) == Outcome::correct) engine.add_digests(problem, observation);
  return observation;
}

CublasObservation MatmulEngine::run_cublas(const MatmulProblem& problem) {
  auto& engine = *impl_;
  CublasObservation result;
  result.not_expressible = why_not_cublas(problem);
  if (!engine.platform.blas.create) result.not_expressible = "libcublas is not loaded";
  if (!result.not_expressible.empty()) return result;
  const auto start = Clock::now();
  // cublasGemmEx has one C for input and output.
  MatmulProblem in_place = problem;
  in_place.in_place = true;
  in_place.workspace_bytes = 0;
  const auto inputs = choose_inputs(in_place, engine.options.seed);
  auto& on_device = engine.resources();
  auto& verifier = on_device.bench->verifier();
  const cudaStream_t stream = on_device.bench->stream();
  const auto buffers = on_device.bench->place(in_place, inputs, result.not_expressible);
  if (!buffers) return result;
  verifier.prepare(in_place, inputs, *buffers);
  const bool accepted = on_device.bench->cublas().gemm(in_place, *buffers, result);
  if (accepted) {
    require(verifier.launch(in_place, inputs, *buffers, true), "audit kernels");
    const cudaError_t error = engine.platform.cuda.stream_synchronize(stream);
    if (error == cudaSuccess) {
      result.verification = verifier.read(in_place, inputs, *buffers, true);
    } else {
      result.status = name_of(error);
    }
  }
  engine.profile.cublas_us += us_since(start);
  return result;
}

}  // namespace lt_audit
