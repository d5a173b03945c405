#include "matmul/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

/// Left to the library: its own workspaces, module code.
constexpr std::size_t kReserveBytes = std::size_t{256} << 20;

/// The host needs about 10 us to enqueue a matmul of cuBLASLt and up to 31 us for one of cuBLAS: enough for a handful.
constexpr std::int64_t kLeadNs = 200'000;

Stream make_stream(const CudaApi& cuda) {
  cudaStream_t stream = nullptr;
  require(cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return {cuda, stream};
}

Event make_event(const CudaApi& cuda) {
  cudaEvent_t event = nullptr;
  require(cuda.event_create(&event), "cudaEventCreate");
  return {cuda, event};
}

}  // namespace

Bench::Bench(const Platform& platform, std::uint64_t seed, std::size_t first_slab_bytes)
    : platform_(platform),
      first_slab_bytes_(first_slab_bytes),
      stream_(make_stream(platform.cuda)),
      verifier_(platform, stream_.get(), seed) {}

CublasCall& Bench::cublas() {
  if (cublas_ == nullptr) cublas_ = std::make_unique<CublasCall>(platform_, stream_.get());
  return *cublas_;
}

std::optional<double> Bench::gpu_us(const std::function<void()>& work) {
  const auto& cuda = platform_.cuda;
  if (!started_) started_ = make_event(cuda);
  if (!stopped_) stopped_ = make_event(cuda);
  require(platform_.kernels.occupy(kLeadNs, stream_.get()), "audit kernel occupy");
  require(cuda.event_record(started_.get(), stream_.get()), "cudaEventRecord");
  work();
  require(cuda.event_record(stopped_.get(), stream_.get()), "cudaEventRecord");
  require(cuda.stream_synchronize(stream_.get()), "cudaStreamSynchronize");
  float ms = 0;
  if (cuda.event_elapsed_time(&ms, started_.get(), stopped_.get()) != cudaSuccess) return std::nullopt;
  return static_cast<double>(ms) * 1000;
}

std::optional<std::string> Bench::make_room(std::size_t bytes) {
  if (bytes <= slab_bytes_) return std::nullopt;
  slab_.reset();
  slab_bytes_ = 0;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  require(platform_.cuda.mem_get_info(&free_bytes, &total_bytes), "cudaMemGetInfo");
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const auto needs = [&] {
    return fmt::format("needs {:.1f} GiB of GPU memory, {:.1f} GiB are free", static_cast<double>(bytes) / kGiB,
                       static_cast<double>(free_bytes) / kGiB);
  };
  if (bytes + kReserveBytes > free_bytes) return needs();
  std::size_t wanted = std::max(bytes, first_slab_bytes_);
  if (wanted + kReserveBytes > free_bytes) wanted = bytes;
  void* memory = nullptr;
  if (platform_.cuda.malloc(&memory, wanted) != cudaSuccess) {
    // Another process took it in between: not an error of this audit. The error is not sticky; it is cleared.
    static_cast<void>(platform_.cuda.get_last_error());
    return needs();
  }
  slab_ = DeviceMemory(platform_.cuda, memory);
  slab_bytes_ = wanted;
  return std::nullopt;
}

std::optional<BufferPlan> Bench::place(const MatmulProblem& problem, const ExactInputs& inputs, std::string& not_run) {
  if (auto reason = cannot_lay_out(problem)) {
    not_run = *reason;
    return std::nullopt;
  }
  const std::size_t product_bytes = verifier_.scratch_bytes(problem, inputs);
  const std::size_t bytes = plan_buffers(problem, inputs, nullptr).total_bytes;
  if (auto reason = make_room(bytes + product_bytes)) {
    not_run = *reason;
    return std::nullopt;
  }
  verifier_.use_scratch(static_cast<std::byte*>(slab_.get()) + bytes);
  return plan_buffers(problem, inputs, slab_.get());
}

}  // namespace lt_audit
