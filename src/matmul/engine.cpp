// One problem run on a platform and verified.
#include "matmul/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "lt_audit/verdict.h"
#include "matmul/buffers.h"
#include "matmul/cublas_call.h"
#include "matmul/exact_inputs.h"
#include "matmul/log_capture.h"
#include "matmul/lt_call.h"
#include "matmul/verifier.h"
#include "platform/owners.h"

namespace lt_audit {
namespace {

/// Room for the small problems of the checks, so that a run allocates once.
constexpr std::size_t kFirstSlabBytes = std::size_t{64} << 20;
/// Left to the library: its own workspaces, module code.
constexpr std::size_t kReserveBytes = std::size_t{256} << 20;
/// A call of no size takes microseconds, a quarter of a second is a defect on any machine; each product adds 5 ns,
/// which leaves room for the simulator under a sanitizer.
double slow_above_us(const MatmulProblem& p) {
  const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                          static_cast<double>(p.batch_count);
  return 250'000 + products * 0.005;
}

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Stream make_stream(const CudaApi& cuda) {
  cudaStream_t stream = nullptr;
  require(cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return {cuda, stream};
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

}  // namespace

struct MatmulEngine::Impl {
  Impl(const Platform& the_platform, const EngineOptions& the_options)
      : platform(the_platform),
        options(the_options),
        stream(make_stream(platform.cuda)),
        started(make_event(platform.cuda)),
        stopped(make_event(platform.cuda)),
        verified(make_event(platform.cuda)),
        handle(make_handle(platform.lt)),
        log(platform.lt, options.on_log),
        verifier(platform, stream.get(), options.seed) {}

  /// Nothing when the problem's buffers are in place; otherwise why it cannot be run here.
  std::optional<std::string> make_room(std::size_t bytes);

  /// Buffers with addresses for the problem, or the reason in `not_run`.
  std::optional<BufferPlan> place(const MatmulProblem& problem, const ExactInputs& inputs, std::string& not_run);

  /// Microseconds between two events that the stream has passed; nothing where the platform cannot say.
  std::optional<double> gpu_us(const Event& from, const Event& to) const {
    float ms = 0;
    if (platform.cuda.event_elapsed_time(&ms, from.get(), to.get()) != cudaSuccess) return std::nullopt;
    return static_cast<double>(ms) * 1000;
  }

  void run_matmul(const MatmulProblem& problem, LtCall& call, const BufferPlan& buffers, const ExactInputs& inputs,
                  Observation& observation);

  const Platform& platform;
  EngineOptions options;
  Stream stream;
  Event started;
  Event stopped;
  Event verified;
  LtHandle handle;
  std::unique_ptr<CublasCall> cublas;
  LogCapture log;
  DeviceMemory slab;
  std::size_t slab_bytes = 0;
  Verifier verifier;
  Profile profile;
};

MatmulEngine::MatmulEngine(const Platform& platform, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(platform, options)) {}
MatmulEngine::~MatmulEngine() = default;

const MatmulEngine::Profile& MatmulEngine::profile() const { return impl_->profile; }

std::optional<std::string> MatmulEngine::Impl::make_room(std::size_t bytes) {
  if (bytes <= slab_bytes) return std::nullopt;
  slab.reset();
  slab_bytes = 0;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  require(platform.cuda.mem_get_info(&free_bytes, &total_bytes), "cudaMemGetInfo");
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const auto needs = [&] {
    return fmt::format("needs {:.1f} GiB of GPU memory, {:.1f} GiB are free", static_cast<double>(bytes) / kGiB,
                       static_cast<double>(free_bytes) / kGiB);
  };
  if (bytes + kReserveBytes > free_bytes) return needs();
  std::size_t wanted = std::max(bytes, kFirstSlabBytes);
  if (wanted + kReserveBytes > free_bytes) wanted = bytes;
  void* memory = nullptr;
  if (platform.cuda.malloc(&memory, wanted) != cudaSuccess) {
    // Another process took it in between: not an error of this audit. The error is not sticky; it is cleared.
    static_cast<void>(platform.cuda.get_last_error());
    return needs();
  }
  slab = DeviceMemory(platform.cuda, memory);
  slab_bytes = wanted;
  return std::nullopt;
}

std::optional<BufferPlan> MatmulEngine::Impl::place(const MatmulProblem& problem, const ExactInputs& inputs,
                                                    std::string& not_run) {
  if (auto reason = cannot_lay_out(problem)) {
    not_run = *reason;
    return std::nullopt;
  }
  const std::size_t product_bytes = verifier.scratch_bytes(problem, inputs);
  const std::size_t bytes = plan_buffers(problem, inputs, nullptr).total_bytes;
  if (auto reason = make_room(bytes + product_bytes)) {
    not_run = *reason;
    return std::nullopt;
  }
  verifier.use_scratch(static_cast<std::byte*>(slab.get()) + bytes);
  return plan_buffers(problem, inputs, slab.get());
}

void MatmulEngine::Impl::run_matmul(const MatmulProblem& problem, LtCall& call, const BufferPlan& buffers,
                                    const ExactInputs& inputs, Observation& observation) {
  auto phase = Clock::now();
  verifier.prepare(problem, inputs, buffers);
  call.upload_scalars();
  profile.prepare_us += us_since(phase);

  phase = Clock::now();
  if (options.time_on_gpu) require(platform.cuda.event_record(started.get(), stream.get()), "cudaEventRecord");
  const bool accepted = call.matmul(observation);
  if (options.time_on_gpu) static_cast<void>(platform.cuda.event_record(stopped.get(), stream.get()));
  observation.times.matmul_call_us = us_since(phase);
  profile.matmul_us += observation.times.matmul_call_us;

  phase = Clock::now();
  const auto verification_launched = verifier.launch(problem, inputs, buffers, accepted);
  if (options.time_on_gpu) static_cast<void>(platform.cuda.event_record(verified.get(), stream.get()));
  profile.verify_us += us_since(phase);

  phase = Clock::now();
  const cudaError_t error = platform.cuda.stream_synchronize(stream.get());
  profile.wait_us += us_since(phase);
  observation.stages.push_back({"synchronize", "cudaStreamSynchronize", name_of(error)});
  if (error != cudaSuccess || verification_launched != cudaSuccess) {
    // A fault of the matmul shows here; the kernels after it have said nothing, and the context is gone.
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error != cudaSuccess ? error : verification_launched);
    return;
  }
  observation.verification = verifier.read(problem, inputs, buffers, accepted);
  if (!accepted || !options.time_on_gpu) return;
  observation.times.matmul_gpu_us = gpu_us(started, stopped);
  observation.times.verify_gpu_us = gpu_us(stopped, verified);
}

Observation MatmulEngine::run(const MatmulProblem& problem) {
  auto& engine = *impl_;
  Observation observation;
  const auto start = Clock::now();
  engine.log.clear();
  const auto inputs = choose_inputs(problem, engine.options.seed);
  const auto buffers = engine.place(problem, inputs, observation.not_run);
  if (!buffers) return observation;

  LtCall call(engine.platform, engine.handle.get(), engine.stream.get(), problem, *buffers);
  bool runnable = call.describe(observation);
  engine.profile.setup_us += us_since(start);
  if (runnable) {
    const auto phase = Clock::now();
    runnable = call.choose_algo(engine.options.requested_results, observation);
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
  const auto buffers = engine.place(in_place, inputs, result.not_expressible);
  if (!buffers) return result;
  if (engine.cublas == nullptr) engine.cublas = std::make_unique<CublasCall>(engine.platform, engine.stream.get());
  engine.verifier.prepare(in_place, inputs, *buffers);
  const bool accepted = engine.cublas->gemm(in_place, *buffers, result);
  if (accepted) {
    require(engine.verifier.launch(in_place, inputs, *buffers, true), "audit kernels");
    const cudaError_t error = engine.platform.cuda.stream_synchronize(engine.stream.get());
    if (error == cudaSuccess) {
      result.verification = engine.verifier.read(in_place, inputs, *buffers, true);
    } else {
      result.status = name_of(error);
    }
  }
  engine.profile.cublas_us += us_since(start);
  return result;
}

}  // namespace lt_audit
