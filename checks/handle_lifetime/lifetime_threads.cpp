// Several threads: one handle, handles of their own, a handle that changes hands.
#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "lifetime_scenarios.h"
#include "lt_audit/error.h"
#include "lt_audit/verdict.h"

namespace lt_audit::handle_lifetime {
namespace {

constexpr int kThreads = 16;
constexpr int kCallsOfAThread = 4;

/// Runs `work` in a thread with the session's device current, and waits for it. Exceptions come back.
template <class Work>
void in_thread(Session& session, Work work) {
  std::async(std::launch::async, [&] {
    require(session.platform().cuda.set_device(session.target().device), "cudaSetDevice");
    work();
  }).get();
}

/// Some products one after the other with the handle that `handle_of` gives this thread.
template <class HandleOf>
Observation work_of_a_thread(Session& session, const MatmulProblem& problem, HandleOf handle_of) {
  require(session.platform().cuda.set_device(session.target().device), "cudaSetDevice");
  Observation observation;
  const auto handle = handle_of();
  auto matmul = session.prepare_apart(problem);
  for (int i = 0; i < kCallsOfAThread; ++i) {
    if (!multiply(session, matmul, handle.get(), matmul.stream(), observation)) break;
  }
  return observation;
}

/// The first observation that is not right, or the last one.
Observation worst_of(std::vector<std::future<Observation>>& threads) {
  Observation seen;
  bool wrong = false;
  for (auto& thread : threads) {
    Observation own = thread.get();
    if (wrong) continue;
    wrong = outcome_of(own) != Outcome::correct;
    seen = std::move(own);
  }
  return seen;
}

/// A handle that somebody else owns.
struct Shared {
  cublasLtHandle_t handle;
  cublasLtHandle_t get() const { return handle; }
};

}  // namespace

Observation threads_on_one_handle(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const LtHandle handle = make_handle(session.platform());
  std::vector<std::future<Observation>> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(std::async(
        std::launch::async, [&] { return work_of_a_thread(session, problem, [&] { return Shared{handle.get()}; }); }));
  }
  return worst_of(threads);
}

Observation threads_with_own_handles(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  std::vector<std::future<Observation>> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      return work_of_a_thread(session, problem, [&] { return make_handle(session.platform()); });
    }));
  }
  return worst_of(threads);
}

Observation handed_between_threads(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& lt = session.platform().lt;
  cublasLtHandle_t handle = nullptr;
  Observation observation;
  in_thread(session, [&] { require(lt.create(&handle), "cublasLtCreate"); });
  in_thread(session, [&] { multiply_apart(session, problem, handle, observation); });
  in_thread(session, [&] {
    if (outcome_of(observation) != Outcome::correct) return;
    record(observation, kAnswerStage, "cublasLtDestroy", lt.destroy(handle));
  });
  return observation;
}

Observation destroyed_beside_threads(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const LtHandle used = make_handle(session.platform());
  std::atomic<bool> working = true;
  std::vector<std::future<Observation>> threads;
  for (int i = 0; i < kCallsOfAThread; ++i) {
    threads.push_back(std::async(
        std::launch::async, [&] { return work_of_a_thread(session, problem, [&] { return Shared{used.get()}; }); }));
  }
  std::thread destroyer([&] {
    if (session.platform().cuda.set_device(session.target().device) != cudaSuccess) return;
    while (working) {
      cublasLtHandle_t other = nullptr;
      if (session.platform().lt.create(&other) != CUBLAS_STATUS_SUCCESS) return;
      static_cast<void>(session.platform().lt.destroy(other));
      std::this_thread::yield();
    }
  });
  for (const auto& thread : threads) thread.wait();
  working = false;
  destroyer.join();
  return worst_of(threads);
}

Observation used_after_destroy_elsewhere(Session& session, const Case& the_case) {
  const auto& problem = the_case.problem;
  const auto& lt = session.platform().lt;
  cublasLtHandle_t handle = nullptr;
  require(lt.create(&handle), "cublasLtCreate");
  in_thread(session, [&] { require(lt.destroy(handle), "cublasLtDestroy"); });
  Observation observation;
  multiply_apart(session, problem, handle, observation);
  return observation;
}

}  // namespace lt_audit::handle_lifetime
