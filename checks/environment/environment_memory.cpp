// Handles that are made when device memory is nearly gone.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "environment_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/owners.h"
#include "lt_audit/verdict.h"

namespace lt_audit::environment {
namespace {

/// Smaller pieces than this leave nothing that a library could use.
constexpr std::size_t kSmallestPiece = 64 << 10;

/// A context in which the library has not been used yet, current while it lives.
class FreshContext {
 public:
  explicit FreshContext(Session& session) : cuda_(session.platform().cuda) {
    require(cuda_.ctx_get_current(&first_), "cuCtxGetCurrent");
    require(cuda_.ctx_create(&fresh_, session.target().device), "cuCtxCreate");
  }
  FreshContext(const FreshContext&) = delete;
  FreshContext& operator=(const FreshContext&) = delete;
  ~FreshContext() {
    static_cast<void>(cuda_.ctx_destroy(fresh_));
    static_cast<void>(cuda_.ctx_set_current(first_));
  }

 private:
  const CudaApi& cuda_;
  ContextHandle first_ = nullptr;
  ContextHandle fresh_ = nullptr;
};

std::size_t free_bytes(const CudaApi& cuda) {
  std::size_t free_now = 0;
  std::size_t total = 0;
  require(cuda.mem_get_info(&free_now, &total), "cudaMemGetInfo");
  return free_now;
}

/// Takes device memory with cudaMalloc until no more than `leave` bytes are free, in pieces as large as there are.
std::vector<DeviceMemory> take_all_but(const CudaApi& cuda, std::size_t leave) {
  std::vector<DeviceMemory> taken;
  for (std::size_t piece = free_bytes(cuda); piece >= kSmallestPiece;) {
    const auto left = free_bytes(cuda);
    if (left <= leave) break;
    piece = std::min(piece, left - leave);
    void* memory = nullptr;
    if (cuda.malloc(&memory, piece) == cudaSuccess) {
      taken.emplace_back(cuda, memory);
    } else {
      // Its error is not the library's.
      static_cast<void>(cuda.get_last_error());
      piece /= 2;
    }
  }
  return taken;
}

/// Query, product and verification with this handle. "right", "wrong", or the status that refused.
std::string multiply(Session& session, PreparedMatmul& matmul, cublasLtHandle_t handle, Observation& observation) {
  const auto* algo = matmul.choose(handle, observation);
  if (algo == nullptr) return observation.stages.back().ok() ? "no algorithm" : observation.stages.back().status;
  matmul.fill();
  if (!matmul.matmul(handle, algo, matmul.stream(), observation)) return observation.stages.back().status;
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (!record(observation, "synchronize", "cudaStreamSynchronize", error)) {
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error);
    return name_of(error);
  }
  return matmul.verify(observation) ? "right" : "wrong";
}

std::size_t leave_bytes(const Case& the_case) { return std::stoull(the_case.parameters.at(kLeaveParameter)) << 20; }

/// The handle and a product while memory is full. False when the context is lost.
bool try_when_full(Session& session, const Case& the_case, PreparedMatmul& matmul, Observation& result) {
  const auto& platform = session.platform();
  const auto taken = take_all_but(platform.cuda, leave_bytes(the_case));
  result.facts[kLeftMiB] = fmt::format("{:.2f}", static_cast<double>(free_bytes(platform.cuda)) / (1 << 20));
  cublasLtHandle_t made = nullptr;
  const auto created = platform.lt.create(&made);
  result.facts[kCreated] = name_of(created);
  static_cast<void>(platform.cuda.get_last_error());
  if (created != CUBLAS_STATUS_SUCCESS) return true;
  const LtHandle handle(platform.lt, made);
  Observation full;
  result.facts[kProduct] = multiply(session, matmul, handle.get(), full);
  static_cast<void>(platform.cuda.get_last_error());
  if (full.end == ProcessEnd::survived) return true;
  result.stages = full.stages;
  result.end = full.end;
  result.end_detail = full.end_detail;
  return false;
}

}  // namespace

Observation make_handle_when_full(Session& session, const Case& the_case) {
  const auto& platform = session.platform();
  session.release_engine();
  const FreshContext context(session);
  auto matmul = session.prepare_apart(the_case.problem);
  Observation result;
  if (!matmul.describe(result)) return result;
  // The audit's own kernels are loaded while there is room for them; of the library nothing is.
  matmul.fill();
  Observation unused;
  static_cast<void>(matmul.verify(unused));
  if (!try_when_full(session, the_case, matmul, result)) return result;
  // Memory is back: what failed must have left nothing behind.
  cublasLtHandle_t made = nullptr;
  const auto created = platform.lt.create(&made);
  if (!record(result, kAnswerStage, "cublasLtCreate", created)) return result;
  const LtHandle handle(platform.lt, made);
  static_cast<void>(multiply(session, matmul, handle.get(), result));
  return result;
}

Observation make_cublas_handle_when_full(Session& session, const Case& the_case) {
  const auto& platform = session.platform();
  if (!platform.blas.create) throw NotRun("libcublas is not loaded");
  session.release_engine();
  Observation result;
  {
    const FreshContext context(session);
    const auto make = [&] {
      cublasHandle_t made = nullptr;
      const auto created = platform.blas.create(&made);
      static_cast<void>(platform.cuda.get_last_error());
      const BlasHandle handle = created == CUBLAS_STATUS_SUCCESS ? BlasHandle(platform.blas, made) : BlasHandle();
      return created;
    };
    {
      const auto taken = take_all_but(platform.cuda, leave_bytes(the_case));
      result.facts[kLeftMiB] = fmt::format("{:.2f}", static_cast<double>(free_bytes(platform.cuda)) / (1 << 20));
      result.facts[kCreated] = name_of(make());
    }
    if (!record(result, kAnswerStage, "cublasCreate", make())) return result;
  }
  auto after = session.run(the_case.problem);
  after.facts.insert(result.facts.begin(), result.facts.end());
  after.cublas = session.run_cublas(the_case.problem);
  return after;
}

}  // namespace lt_audit::environment
