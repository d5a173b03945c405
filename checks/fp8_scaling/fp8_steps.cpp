// Scale and amax pointers that the engine does not set: elsewhere in device memory, in host memory, null, or at a
// factor of 0.
#include "fp8_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "lt_audit/error.h"

namespace lt_audit::fp8_scaling {
namespace {

struct NamedPointer {
  std::string_view operand;
  cublasLtMatmulDescAttributes_t attribute;
};
constexpr std::array kPointers{
    NamedPointer{"a", CUBLASLT_MATMUL_DESC_A_SCALE_POINTER},
    NamedPointer{"b", CUBLASLT_MATMUL_DESC_B_SCALE_POINTER},
    NamedPointer{"c", CUBLASLT_MATMUL_DESC_C_SCALE_POINTER},
    NamedPointer{"d", CUBLASLT_MATMUL_DESC_D_SCALE_POINTER},
    NamedPointer{"amax", CUBLASLT_MATMUL_DESC_AMAX_D_POINTER},
    NamedPointer{"aux_scale", CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER},
    NamedPointer{"aux_amax", CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER},
};

/// Longer than any product of these sizes takes, and short enough for a run that meets the hang.
constexpr std::chrono::milliseconds kHangLimit{500};

// ---- A pointer to other memory -------------------------------------------------------------------------------------

constexpr std::size_t kBlock = 256;
constexpr unsigned char kMark = 0xA5;

/// The factor, or amax, at `at` instead of where the engine has it; true when D may be looked at.
bool run_with(Steps& steps, std::string_view operand, void* at) {
  void* const usual = steps.pointer_of(operand);
  if (operand != "amax") steps.move(at, usual, sizeof(float));
  if (!steps.set(pointer_attribute(operand), at)) return false;
  const bool ran = steps.choose_and_run();
  // The engine looks for amax where it would be.
  if (ran && operand == "amax") steps.move(usual, at, sizeof(float));
  return ran;
}

Observation run_moved(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  const auto memory = steps.device_memory(3 * kBlock, kMark);
  const auto offset = kBlock + static_cast<std::size_t>(std::stoul(steps.parameter(kOffset)));
  if (!run_with(steps, steps.parameter(kOperand), static_cast<std::byte*>(memory.get()) + offset)) return steps.take();
  steps.verify();
  std::vector<unsigned char> after(3 * kBlock);
  steps.fetch(after.data(), memory.get(), after.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == kMark || (i >= offset && i < offset + sizeof(float))) continue;
    steps.set_defect("beside-pointer-changed", fmt::format("the byte {} bytes behind the pointer is changed",
                                                           static_cast<long>(i) - static_cast<long>(offset)));
    break;
  }
  return steps.take();
}

Observation run_host(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  // On a 256-byte boundary, so that nothing but the memory is at fault.
  HostMemory pinned;
  std::vector<std::byte> pageable(2 * kBlock);
  void* at = nullptr;
  if (steps.parameter(kMemory) == "pinned") {
    require(steps.cuda().malloc_host(&at, kBlock), "cudaMallocHost");
    pinned = HostMemory(steps.cuda(), at);
  } else {
    std::size_t room = pageable.size();
    at = pageable.data();
    at = std::align(kBlock, kBlock, at, room);
  }
  const auto operand = steps.parameter(kOperand);
  void* const usual = steps.pointer_of(operand);
  if (operand != "amax") steps.fetch(at, usual, sizeof(float));
  if (!steps.set(pointer_attribute(operand), at) || !steps.choose_and_run()) return steps.take();
  if (operand == "amax") steps.send(usual, at, sizeof(float));
  steps.verify();
  return steps.take();
}

// ---- No pointer ----------------------------------------------------------------------------------------------------

/// Scalars are set to a factor of 3 first, which counts no more once the pointer is null; tables are taken away.
Observation run_null(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  const bool scalar = !steps.problem().scale_a;
  const auto memory = steps.device_memory(kBlock, 0);
  const float three = 3;
  steps.send(memory.get(), &three, sizeof three);
  for (const char letter : steps.parameter(kOperand)) {
    const auto attribute = pointer_attribute(std::string_view(&letter, 1));
    if (scalar && !steps.set(attribute, memory.get())) return steps.take();
    const void* const null = nullptr;
    if (!steps.set(attribute, null)) return steps.take();
  }
  if (steps.choose_and_run()) steps.verify();
  return steps.take();
}

// ---- A factor of 0 -------------------------------------------------------------------------------------------------

Event new_event(const CudaApi& cuda) {
  cudaEvent_t event = nullptr;
  require(cuda.event_create(&event), "cudaEventCreate");
  return {cuda, event};
}

/// True when the stream has come to an end in time. A kernel that hangs cannot be ended, only its process.
bool ends_in_time(Steps& steps, const Event& begin, const Event& end) {
  const auto& cuda = steps.cuda();
  const auto limit = std::chrono::steady_clock::now() + kHangLimit;
  float ms = 0;
  while (cuda.event_elapsed_time(&ms, begin.get(), end.get()) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() > limit) {
      static_cast<void>(cuda.get_last_error());
      steps.observation().end = ProcessEnd::timed_out;
      steps.observation().end_detail = fmt::format("{} ms", kHangLimit.count());
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  // "Not ready" is kept as the last error of the thread.
  static_cast<void>(cuda.get_last_error());
  return true;
}

/// The product that is left when the factor is 0.
MatmulProblem without_zero(MatmulProblem p, std::string_view operand) {
  if (operand != "c") p.alpha = 0;
  if (operand == "c" || operand == "d") p.beta = 0;
  return p;
}

Observation run_zero(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  const auto operand = steps.parameter(kOperand);
  if (!steps.begin() || !steps.choose()) return steps.take();
  const auto begin = new_event(steps.cuda()), end = new_event(steps.cuda());
  void* const table = steps.pointer_of(operand);
  float factor = 0;
  const float zero = 0;
  steps.fetch(&factor, table, sizeof factor);
  steps.send(table, &zero, sizeof zero);
  const cudaStream_t stream = steps.matmul().stream();
  require(steps.cuda().event_record(begin.get(), stream), "cudaEventRecord");
  const bool accepted = steps.run_without_waiting();
  require(steps.cuda().event_record(end.get(), stream), "cudaEventRecord");
  if (accepted && (!ends_in_time(steps, begin, end) || !steps.wait())) return steps.take();
  steps.send(table, &factor, sizeof factor);
  steps.verify(without_zero(steps.problem(), operand));
  return steps.take();
}

// ---- Factors of aux ------------------------------------------------------------------------------------------------

Observation run_aux_scale(Session& session, const Case& the_case) {
  Steps steps(session, the_case);
  if (!steps.begin()) return steps.take();
  const auto memory = steps.device_memory(kBlock, 0);
  const float one = 1;
  steps.send(memory.get(), &one, sizeof one);
  if (!steps.set(pointer_attribute(steps.parameter(kOperand)), memory.get())) return steps.take();
  if (steps.choose_and_run()) steps.verify();
  return steps.take();
}

}  // namespace

cublasLtMatmulDescAttributes_t pointer_attribute(std::string_view operand) {
  const auto* const found = std::find_if(kPointers.begin(), kPointers.end(),
                                         [operand](const NamedPointer& p) { return p.operand == operand; });
  if (found == kPointers.end()) throw std::logic_error(fmt::format("no pointer of operand \"{}\"", operand));
  return found->attribute;
}

Steps::Steps(Session& session, const Case& the_case)
    : session_(session), case_(the_case), matmul_(session.prepare(the_case.problem)) {}

std::string Steps::parameter(const char* name) const {
  const auto found = case_.parameters.find(name);
  return found == case_.parameters.end() ? std::string() : found->second;
}

bool Steps::begin() {
  if (!matmul_.describe(observation_)) return false;
  matmul_.fill();
  return true;
}

void* Steps::pointer_of(std::string_view operand) {
  void* pointer = nullptr;
  std::size_t written = 0;
  require(
      lt().matmul_desc_get_attribute(matmul_.desc(), pointer_attribute(operand), &pointer, sizeof pointer, &written),
      "cublasLtMatmulDescGetAttribute");
  return pointer;
}

bool Steps::choose() {
  algo_ = matmul_.choose(session_.handle(), observation_);
  return algo_ != nullptr;
}

bool Steps::run_without_waiting() {
  const bool accepted = matmul_.matmul(session_.handle(), algo_, matmul_.stream(), observation_);
  refused_ = !accepted;
  return accepted;
}

bool Steps::wait() {
  const auto error = cuda().stream_synchronize(matmul_.stream());
  if (record(observation_, "synchronize", "cudaStreamSynchronize", error)) return true;
  observation_.end = ProcessEnd::context_lost;
  observation_.end_detail = name_of(error);
  return false;
}

bool Steps::run() {
  if (run_without_waiting()) return wait();
  matmul_.verify_untouched(observation_);
  return false;
}

bool Steps::choose_and_run() { return choose() && run(); }

void Steps::verify(const MatmulProblem& expected) {
  if (refused_) {
    matmul_.verify_untouched(observation_);
  } else {
    matmul_.verify(observation_, expected);
  }
}

void Steps::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  require(cuda().memcpy_async(to, from, bytes, kind, matmul_.stream()), "cudaMemcpyAsync");
  require(cuda().stream_synchronize(matmul_.stream()), "cudaStreamSynchronize");
}

DeviceMemory Steps::device_memory(std::size_t bytes, unsigned char byte) {
  void* memory = nullptr;
  require(cuda().malloc(&memory, bytes), "cudaMalloc");
  DeviceMemory owned(cuda(), memory);
  require(cuda().memset_async(memory, byte, bytes, matmul_.stream()), "cudaMemsetAsync");
  return owned;
}

void Steps::set_defect(const char* defect, std::string detail) {
  if (observation_.facts.emplace(kDefect, defect).second) observation_.facts[kDefectDetail] = std::move(detail);
}

Observation observe(Session& session, const Case& the_case) {
  using Run = Observation (*)(Session&, const Case&);
  constexpr std::array<std::pair<std::string_view, Run>, 9> kRuns{{{kLayout, run_layout},
                                                                   {kMoved, run_moved},
                                                                   {kNull, run_null},
                                                                   {kHost, run_host},
                                                                   {kZero, run_zero},
                                                                   {kAccumulation, run_accumulation},
                                                                   {kOrder, run_order},
                                                                   {kBlockScaled, run_block_scaled},
                                                                   {kAuxScale, run_aux_scale}}};
  const auto found = the_case.parameters.find(kSteps);
  if (found == the_case.parameters.end()) return session.run(the_case.problem);
  for (const auto& [name, run] : kRuns) {
    if (name == found->second) return run(session, the_case);
  }
  throw std::logic_error(fmt::format("no steps \"{}\"", found->second));
}

}  // namespace lt_audit::fp8_scaling
