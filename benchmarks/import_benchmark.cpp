// How fast a cuBLASLt log is read: 256 MiB of Trace lines of 1000 distinct products, in memory, on one core.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "workload/importer.h"

namespace {

constexpr std::size_t kLogBytes = std::size_t{256} << 20;
constexpr std::int64_t kProducts = 1000;

class CountingSink : public lt_audit::CallSink {
 public:
  std::size_t call(const lt_audit::ImportedCall& /*call*/, std::uint64_t /*line*/) override {
    ++calls;
    return distinct++;
  }
  void again(std::size_t /*id*/, std::optional<std::uint64_t> /*stream*/) override { ++calls; }
  void damaged(std::uint64_t /*line*/, const std::string& /*reason*/) override { ++damages; }

  std::uint64_t calls = 0;
  std::size_t distinct = 0;
  std::uint64_t damages = 0;
};

/// Pointers, times and algorithms differ from line to line, as in the logs of an application.
std::string make_log() {
  std::string log;
  log.reserve(kLogBytes + 4096);
  std::mt19937_64 random(1);
  const auto address = [&random] { return 0x7F0000000000ULL + (random() & 0xFFFFFFFF00ULL); };
  while (log.size() < kLogBytes) {
    const auto product = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kProducts));
    const auto m = 64 + 8 * (product % 40);
    const auto n = 64 + 8 * (product / 40);
    const std::int64_t k = 768;
    fmt::format_to(
        std::back_inserter(log),
        "[2026-11-29 18:{:02}:{:02}][cublasLt][524][Trace][cublasLtMatmul] A=0X{:X} Adesc=[type=R_16F rows={} cols={} "
        "ld={}] B=0X{:X} Bdesc=[type=R_16F rows={} cols={} ld={}] C=0X{:X} Cdesc=[type=R_16F rows={} cols={} ld={}] "
        "D=0X{:X} Ddesc=[type=R_16F rows={} cols={} ld={}] ",
        random() % 60, random() % 60, address(), m, k, m, address(), k, n, k, address(), m, n, m, address(), m, n, m);
    fmt::format_to(
        std::back_inserter(log),
        "computeDesc=[computeType=COMPUTE_32F scaleType=R_32F epilogue=EPILOGUE_BIAS biasPointer=0x{:x}] "
        "algo=[algoId=66 tile=MATMUL_TILE_192x96 stages=MATMUL_STAGES_64xAUTO customOption={} "
        "clusterShape=CLUSTER_SHAPE_2x1x1] workSpace=0X{:X} workSpaceSizeInBytes=1048576 beta=0 outOfPlace=0 "
        "stream=0X{:X}\n",
        address(), random() % 8, address(), random() % 4);
  }
  return log;
}

void import_cublaslt_log(benchmark::State& state) {
  const auto log = make_log();
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const auto importer = lt_audit::make_cublaslt_log_importer();
    CountingSink sink;
    std::uint64_t number = 0;
    std::string_view rest = log;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const auto line = rest.substr(0, end);
      if (importer->claims(line)) importer->take(line, ++number, sink);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    importer->finish(sink);
    state.counters["calls"] = static_cast<double>(sink.calls);
    state.counters["distinct"] = static_cast<double>(sink.distinct);
    if (sink.damages != 0) {
      state.SkipWithError("lines of the log are damaged");
      break;
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(log.size()));
}
BENCHMARK(import_cublaslt_log)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
