// One thread, one context: creation, destruction, misuse.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "lifetime_scenarios.h"
#include "lt_audit/error.h"

namespace lt_audit::handle_lifetime {
namespace {

constexpr int kPairs = 1000;
constexpr int kPairsWithUse = 40;
constexpr std::size_t kHandles = 64;
/// Rounds in which a loss must show, and the pause between them: longer than another process takes to come up.
constexpr int kRounds = 8;
constexpr auto kPause = std::chrono::milliseconds(250);

std::size_t free_bytes(const CudaApi& cuda) {
  std::size_t free_now = 0;
  std::size_t total = 0;
  require(cuda.mem_get_info(&free_now, &total), "cudaMemGetInfo");
  return free_now;
}

long long lost(std::size_t before, std::size_t after) {
  return static_cast<long long>(before) - static_cast<long long>(after);
}

std::size_t heap_bytes() { return mallinfo2().uordblks; }

/// What `repeat` costs for good: the least of some rounds. Free device memory is that of the whole GPU, and another
/// process (a worker that comes up, too) may take some at the same time; only a leak takes some in every round.
template <class Repeat>
bool measure_losses(const CudaApi& cuda, Observation& observation, Repeat repeat) {
  long long device = 0;
  long long host = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto device_before = free_bytes(cuda);
    const auto host_before = heap_bytes();
    if (!repeat()) return false;
    const auto device_lost = lost(device_before, free_bytes(cuda));
    const auto host_lost = -lost(host_before, heap_bytes());
    device = round == 0 ? device_lost : std::min(device, device_lost);
    host = round == 0 ? host_lost : std::min(host, host_lost);
    if (device < kDeviceLossThatCounts && host < kHostLossThatCounts) break;
    std::this_thread::sleep_for(kPause);
  }
  observation.facts[kDeviceBytesLost] = fmt::to_string(std::max(device, 0LL));
  observation.facts[kHostBytesLost] = fmt::to_string(std::max(host, 0LL));
  return true;
}

bool pair(const LtApi& lt, Observation& observation) {
  cublasLtHandle_t handle = nullptr;
  const auto created = lt.create(&handle);
  if (created != CUBLAS_STATUS_SUCCESS) return record(observation, kAnswerStage, "cublasLtCreate", created);
  const auto destroyed = lt.destroy(handle);
  if (destroyed != CUBLAS_STATUS_SUCCESS) return record(observation, kAnswerStage, "cublasLtDestroy", destroyed);
  return true;
}

}  // namespace

LtHandle make_handle(const Platform& platform) {
  cublasLtHandle_t handle = nullptr;
  require(platform.lt.create(&handle), "cublasLtCreate");
  return {platform.lt, handle};
}

Stream make_stream(const Platform& platform) {
  cudaStream_t stream = nullptr;
  require(platform.cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return {platform.cuda, stream};
}

bool multiply(Session& session, PreparedMatmul& matmul, cublasLtHandle_t handle, cudaStream_t stream,
              Observation& observation) {
  const auto is_own = [](const Stage& stage) {
    return stage.name == "heuristic" || stage.name == "matmul" || stage.name == "synchronize";
  };
  std::erase_if(observation.stages, is_own);
  observation.heuristic.clear();
  observation.verification.reset();
  if (matmul.desc() == nullptr && !matmul.describe(observation)) return false;
  const auto* algo = matmul.choose(handle, observation);
  if (algo == nullptr) return false;
  matmul.fill();
  if (!matmul.matmul(handle, algo, stream, observation)) return false;
  const auto error = session.platform().cuda.stream_synchronize(stream);
  if (!record(observation, "synchronize", "cudaStreamSynchronize", error)) return false;
  return matmul.verify(observation);
}

bool multiply_apart(Session& session, const MatmulProblem& problem, cublasLtHandle_t handle, Observation& observation) {
  auto matmul = session.prepare_apart(problem);
  return multiply(session, matmul, handle, matmul.stream(), observation);
}

Observation create_and_destroy(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& platform = session.platform();
  Observation observation;
  // The first creation loads what the library keeps for good.
  if (!pair(platform.lt, observation)) return observation;
  const auto start = std::chrono::steady_clock::now();
  int pairs = 0;
  const bool done = measure_losses(platform.cuda, observation, [&] {
    for (int i = 0; i < kPairs; ++i, ++pairs) {
      if (!pair(platform.lt, observation)) return false;
    }
    return true;
  });
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  observation.facts["pairs"] = fmt::to_string(pairs);
  observation.facts["pair_us"] = fmt::format("{:.2f}", took.count() / std::max(pairs, 1));
  if (!done) return observation;
  const LtHandle handle = make_handle(platform);
  multiply_apart(session, problem, handle.get(), observation);
  return observation;
}

Observation create_use_and_destroy(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& platform = session.platform();
  Observation observation;
  auto matmul = session.prepare_apart(problem);
  const auto use = [&] {
    const LtHandle handle = make_handle(platform);
    return multiply(session, matmul, handle.get(), matmul.stream(), observation);
  };
  if (!use()) return observation;
  measure_losses(platform.cuda, observation, [&] {
    for (int i = 0; i < kPairsWithUse; ++i) {
      if (!use()) return false;
    }
    return true;
  });
  observation.facts["pairs"] = fmt::to_string(kPairsWithUse);
  return observation;
}

Observation many_handles(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& platform = session.platform();
  Observation observation;
  auto matmul = session.prepare_apart(problem);
  const auto before = free_bytes(platform.cuda);
  std::vector<LtHandle> handles;
  while (handles.size() < kHandles) handles.push_back(make_handle(platform));
  const auto held = std::max(lost(before, free_bytes(platform.cuda)), 0LL);
  observation.facts["device_bytes_per_handle"] = fmt::to_string(held / static_cast<long long>(kHandles));
  for (const auto& handle : handles) {
    if (!multiply(session, matmul, handle.get(), matmul.stream(), observation)) break;
  }
  return observation;
}

Observation one_of_two_destroyed(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  Observation observation;
  auto matmul = session.prepare_apart(problem);
  LtHandle first = make_handle(session.platform());
  const LtHandle second = make_handle(session.platform());
  if (!multiply(session, matmul, first.get(), matmul.stream(), observation)) return observation;
  first.reset();
  multiply(session, matmul, second.get(), matmul.stream(), observation);
  return observation;
}

Observation cublas_handle(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& blas = session.platform().blas;
  if (!blas.create) throw NotRun("libcublas is not loaded, and only it makes a cublasHandle_t");
  cublasHandle_t made = nullptr;
  require(blas.create(&made), "cublasCreate");
  const BlasHandle handle(blas, made);
  Observation observation;
  multiply_apart(session, problem, reinterpret_cast<cublasLtHandle_t>(handle.get()), observation);
  return observation;
}

Observation two_streams(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  constexpr int kPairsOfCalls = 20;
  const auto& cuda = session.platform().cuda;
  Observation observation;
  auto first = session.prepare_apart(problem);
  auto second = session.prepare_apart(problem);
  // Both are right on their own stream, and know their algorithm.
  if (!multiply(session, first, session.handle(), first.stream(), observation)) return observation;
  if (!multiply(session, second, session.handle(), second.stream(), observation)) return observation;
  const auto* algo = first.choose(session.handle(), observation);
  first.fill(1);
  second.fill(2);
  for (int i = 0; i < kPairsOfCalls; ++i) {
    for (const auto* matmul : {&first, &second}) {
      const auto status = matmul->matmul(session.handle(), algo, matmul->stream());
      if (status != CUBLAS_STATUS_SUCCESS) {
        record(observation, "matmul", "cublasLtMatmul", status);
        return observation;
      }
    }
  }
  for (auto* matmul : {&first, &second}) {
    require(cuda.stream_synchronize(matmul->stream()), "cudaStreamSynchronize");
    if (!matmul->verify(observation)) break;
  }
  return observation;
}

Observation destroyed_twice(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& lt = session.platform().lt;
  cublasLtHandle_t handle = nullptr;
  require(lt.create(&handle), "cublasLtCreate");
  require(lt.destroy(handle), "cublasLtDestroy");
  Observation observation;
  record(observation, kAnswerStage, "cublasLtDestroy", lt.destroy(handle));
  // What the second destruction may have spoiled is not the destroyed handle.
  const LtHandle other = make_handle(session.platform());
  multiply_apart(session, problem, other.get(), observation);
  return observation;
}

Observation used_after_destroy(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& lt = session.platform().lt;
  cublasLtHandle_t handle = nullptr;
  require(lt.create(&handle), "cublasLtCreate");
  require(lt.destroy(handle), "cublasLtDestroy");
  Observation observation;
  multiply_apart(session, problem, handle, observation);
  return observation;
}

Observation null_handle(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  Observation observation;
  auto matmul = session.prepare_apart(problem);
  if (!matmul.describe(observation)) return observation;
  const auto query = matmul.query(nullptr, 1);
  observation.facts["heuristic_of_null"] = name_of(query.status);
  // With an algorithm of a good handle, so that nothing but the handle is wrong.
  const auto* algo = matmul.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  matmul.fill();
  if (!matmul.matmul(nullptr, algo, matmul.stream(), observation)) return observation;
  record(observation, "synchronize", "cudaStreamSynchronize",
         session.platform().cuda.stream_synchronize(matmul.stream()));
  matmul.verify(observation);
  return observation;
}

Observation null_pointers(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& lt = session.platform().lt;
  Observation observation;
  const auto created = lt.create(nullptr);
  const auto destroyed = lt.destroy(nullptr);
  observation.facts["create_of_null"] = name_of(created);
  observation.facts["destroy_of_null"] = name_of(destroyed);
  const bool create_accepts = created == CUBLAS_STATUS_SUCCESS;
  record(observation, kAnswerStage, create_accepts ? "cublasLtCreate" : "cublasLtDestroy",
         create_accepts ? created : destroyed);
  multiply_apart(session, problem, session.handle(), observation);
  return observation;
}

}  // namespace lt_audit::handle_lifetime
