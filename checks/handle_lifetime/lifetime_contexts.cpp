// More than one context, and more than one device.
#include <fmt/format.h>

#include <future>
#include <optional>
#include <utility>

#include "lifetime_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/verdict.h"

namespace lt_audit::handle_lifetime {
namespace {

/// A second context of the session's device, current while it lives unless `leave` was called.
class SecondContext {
 public:
  explicit SecondContext(Session& session) : cuda_(session.platform().cuda) {
    require(cuda_.ctx_get_current(&first_), "cuCtxGetCurrent");
    require(cuda_.ctx_create(&second_, session.target().device), "cuCtxCreate");
  }
  SecondContext(const SecondContext&) = delete;
  SecondContext& operator=(const SecondContext&) = delete;
  ~SecondContext() { destroy(); }

  void enter() const { require(cuda_.ctx_set_current(second_), "cuCtxSetCurrent"); }
  void leave() const { require(cuda_.ctx_set_current(first_), "cuCtxSetCurrent"); }
  /// The first context is current afterwards.
  void destroy() {
    if (second_ == nullptr) return;
    static_cast<void>(cuda_.ctx_destroy(second_));
    static_cast<void>(cuda_.ctx_set_current(first_));
    second_ = nullptr;
  }

 private:
  const CudaApi& cuda_;
  ContextHandle first_ = nullptr;
  ContextHandle second_ = nullptr;
};

/// Another device than the session's, current while it lives.
class OtherDevice {
 public:
  explicit OtherDevice(Session& session) : cuda_(session.platform().cuda), own_(session.target().device) {
    const int count = session.target().device_count;
    if (count < 2) {
      throw NotRun(fmt::format("needs two GPUs, {} {} here", count, count == 1 ? "is" : "are"));
    }
    other_ = (own_ + 1) % count;
    enter();
  }
  OtherDevice(const OtherDevice&) = delete;
  OtherDevice& operator=(const OtherDevice&) = delete;
  ~OtherDevice() { static_cast<void>(cuda_.set_device(own_)); }

  void enter() const { require(cuda_.set_device(other_), "cudaSetDevice"); }
  void leave() const { require(cuda_.set_device(own_), "cudaSetDevice"); }
  int number() const { return other_; }

 private:
  const CudaApi& cuda_;
  int own_;
  int other_ = 0;
};

/// The stream of another context, created there and, if asked, used there; the product is the first context's.
Observation stream_of_other_context(Session& session, const MatmulProblem& problem, bool used) {
  const auto& platform = session.platform();
  const SecondContext second(session);
  Stream stream = make_stream(platform);
  if (used) {
    void* memory = nullptr;
    require(platform.cuda.malloc(&memory, 256), "cudaMalloc");
    const DeviceMemory owner(platform.cuda, memory);
    require(platform.cuda.memset_async(memory, 0, 256, stream.get()), "cudaMemsetAsync");
    require(platform.cuda.stream_synchronize(stream.get()), "cudaStreamSynchronize");
  }
  second.leave();
  Observation observation;
  {
    auto matmul = session.prepare_apart(problem);
    multiply(session, matmul, session.handle(), stream.get(), observation);
  }
  second.enter();
  stream.reset();
  return observation;
}

}  // namespace

Observation used_in_other_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const LtHandle handle = make_handle(session.platform());
  Observation observation;
  if (!multiply_apart(session, problem, handle.get(), observation)) return observation;
  const SecondContext second(session);
  multiply_apart(session, problem, handle.get(), observation);
  return observation;
}

Observation destroyed_in_other_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& lt = session.platform().lt;
  cublasLtHandle_t handle = nullptr;
  require(lt.create(&handle), "cublasLtCreate");
  Observation observation;
  if (!multiply_apart(session, problem, handle, observation)) return observation;
  {
    const SecondContext second(session);
    record(observation, kAnswerStage, "cublasLtDestroy", lt.destroy(handle));
  }
  multiply_apart(session, problem, session.handle(), observation);
  return observation;
}

Observation created_in_other_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const SecondContext second(session);
  const LtHandle handle = make_handle(session.platform());
  second.leave();
  Observation observation;
  multiply_apart(session, problem, handle.get(), observation);
  return observation;
}

Observation used_after_its_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  SecondContext second(session);
  const LtHandle handle = make_handle(session.platform());
  Observation observation;
  if (!multiply_apart(session, problem, handle.get(), observation)) return observation;
  second.destroy();
  multiply_apart(session, problem, handle.get(), observation);
  return observation;
}

Observation result_in_other_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  Observation observation;
  std::optional<cublasLtMatmulAlgo_t> algo;
  {
    auto first = session.prepare_apart(problem);
    if (!first.describe(observation)) return observation;
    const auto* chosen = first.choose(session.handle(), observation);
    if (chosen == nullptr) return observation;
    algo = *chosen;
  }
  const SecondContext second(session);
  const LtHandle handle = make_handle(session.platform());
  auto matmul = session.prepare_apart(problem);
  if (!matmul.describe(observation)) return observation;
  matmul.fill();
  if (!matmul.matmul(handle.get(), &*algo, matmul.stream(), observation)) return observation;
  record(observation, "synchronize", "cudaStreamSynchronize",
         session.platform().cuda.stream_synchronize(matmul.stream()));
  matmul.verify(observation);
  return observation;
}

Observation unused_stream_of_other_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  return stream_of_other_context(session, problem, false);
}

Observation used_stream_of_other_context(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  return stream_of_other_context(session, problem, true);
}

Observation used_after_device_reset(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& platform = session.platform();
  cublasLtHandle_t handle = nullptr;
  require(platform.lt.create(&handle), "cublasLtCreate");
  Observation observation;
  if (!multiply_apart(session, problem, handle, observation)) return observation;
  session.release_engine();
  require(platform.cuda.device_reset(), "cudaDeviceReset");
  require(platform.cuda.set_device(session.target().device), "cudaSetDevice");
  multiply_apart(session, problem, handle, observation);
  observation.facts["destroy_after_reset"] = name_of(platform.lt.destroy(handle));
  return observation;
}

Observation handle_of_other_device(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const LtHandle handle = make_handle(session.platform());
  Observation observation;
  if (!multiply_apart(session, problem, handle.get(), observation)) return observation;
  const OtherDevice other(session);
  multiply_apart(session, problem, handle.get(), observation);
  return observation;
}

Observation stream_of_other_device(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const OtherDevice other(session);
  Stream stream = make_stream(session.platform());
  other.leave();
  Observation observation;
  {
    auto matmul = session.prepare_apart(problem);
    multiply(session, matmul, session.handle(), stream.get(), observation);
  }
  other.enter();
  stream.reset();
  return observation;
}

Observation handle_per_device(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  Observation observation;
  const OtherDevice other(session);
  {
    const LtHandle handle = make_handle(session.platform());
    if (!multiply_apart(session, problem, handle.get(), observation)) return observation;
  }
  other.leave();
  multiply_apart(session, problem, session.handle(), observation);
  return observation;
}

Observation devices_in_threads(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  int other_number = 0;
  {
    const OtherDevice other(session);
    other_number = other.number();
  }
  auto other_device = std::async(std::launch::async, [&] {
    require(session.platform().cuda.set_device(other_number), "cudaSetDevice");
    Observation own;
    const LtHandle handle = make_handle(session.platform());
    multiply_apart(session, problem, handle.get(), own);
    return own;
  });
  Observation observation;
  const bool right = multiply_apart(session, problem, session.handle(), observation);
  Observation of_other = other_device.get();
  return right ? of_other : observation;
}

}  // namespace lt_audit::handle_lifetime
