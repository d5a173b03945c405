// How it is measured: several launches at once, which the GPU begins when the host has enqueued them, so that the time
// is the GPU's and not the host's; in rounds that take turns, so that a change of the clock meets both. The best of the
// rounds counts.
#include "parity_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parity_cases.h"

namespace lt_audit::cublas_parity {
namespace {

constexpr int kRounds = 7;
/// A product that takes this long is compared in fewer rounds.
constexpr double kLongUs = 10'000;
constexpr int kRoundsOfLong = 3;
/// Launches of one round: until they take this long, and no more than so many.
constexpr double kRoundUs = 400;
/// The host needs up to 31 us for a call of cuBLAS here (H200): four of them are enqueued before the GPU begins.
constexpr double kMostLaunches = 4;
/// Differences below it come and go between two runs of the same binary.
constexpr double kNoiseFloor = 0.05;
/// Results of the heuristic beside the first that are tried when cuBLASLt is slower.
constexpr std::size_t kMostOthers = 7;
/// Another result has to be so much faster to be worth a change.
constexpr double kWorthAChange = 1.1;

/// One call; true when the library took it.
using Launch = std::function<bool()>;

/// Launches of one product, again and again.
class Repeated {
 public:
  Repeated(PreparedMatmul& matmul, Launch launch) : matmul_(matmul), launch_(std::move(launch)) {
    // The first launch may load a kernel.
    static_cast<void>(launch_());
    const auto once = matmul_.gpu_us([this] { static_cast<void>(launch_()); });
    if (!once) return;
    count_ = static_cast<int>(std::clamp(kRoundUs / std::max(*once, 1.0), 1.0, kMostLaunches));
  }

  /// GPU time of one product; nothing without a clock.
  std::optional<double> us() {
    const auto all = matmul_.gpu_us([this] { run(); });
    return all ? std::optional<double>(*all / count_) : std::nullopt;
  }

  void measure() {
    if (const auto time = us()) times_.push_back(*time);
  }
  bool measured() const { return !times_.empty(); }
  double best() const { return *std::min_element(times_.begin(), times_.end()); }
  double spread() const {
    auto sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2] / std::max(sorted.front(), 1e-3) - 1;
  }

 private:
  void run() {
    for (int i = 0; i < count_; ++i) static_cast<void>(launch_());
  }

  PreparedMatmul& matmul_;
  Launch launch_;
  int count_ = 1;
  std::vector<double> times_;
};

/// Both in turn.
void take_turns(Repeated& first, Repeated& second) {
  for (int round = 0; round < kRoundsOfLong || (round < kRounds && first.best() < kLongUs); ++round) {
    first.measure();
    second.measure();
    if (!first.measured() || !second.measured()) return;
  }
}

std::string speed_of(double ratio, double spread) {
  const double noise = std::max(spread, kNoiseFloor);
  if (ratio > 1 + noise) return std::string(kCublasFaster);
  return std::string(ratio < 1 / (1 + noise) ? kLtFaster : kWithinNoise);
}

/// Launches cuBLASLt with one result.
Launch launch_of(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t& algo) {
  return [&session, &matmul, &algo] {
    return matmul.matmul(session.handle(), &algo, matmul.stream()) == CUBLAS_STATUS_SUCCESS;
  };
}

/// True when the result gives the right numbers: a wrong one is no way to save time.
bool is_right(Session& session, PreparedMatmul& matmul, const cublasLtMatmulHeuristicResult_t& result) {
  if (result.state != CUBLAS_STATUS_SUCCESS) return false;
  Observation seen;
  matmul.fill();
  return matmul.matmul(session.handle(), &result.algo, matmul.stream(), seen) && matmul.verify(seen);
}

/// The fastest of the other results against the first one, which takes part again.
void look_for_faster_result(Session& session, PreparedMatmul& matmul, const HeuristicAnswer& answer,
                            Observation& observation) {
  const auto count = std::min(answer.results.size(), kMostOthers + 1);
  double best = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& result = answer.results[i];
    if (i > 0 && !is_right(session, matmul, result)) continue;
    Repeated launches(matmul, launch_of(session, matmul, result.algo));
    for (int round = 0; round < kRoundsOfLong; ++round) launches.measure();
    if (!launches.measured() || (i > 0 && launches.best() * (at == 0 ? kWorthAChange : 1) >= best)) continue;
    best = launches.best();
    at = i;
  }
  if (at == 0) return;
  observation.facts[kFasterResult] =
      fmt::format("result {} of the heuristic (algo {}) takes {:.2f} us", at, observation.heuristic[at].algo_id, best);
}

}  // namespace

void compare_times(Session& session, PreparedMatmul& matmul, const CublasForm& form, const HeuristicAnswer& answer,
                   Observation& observation) {
  observation.facts[kSpeed] = kNotTimed;
  if (session.platform().kind == PlatformKind::simulator) return;
  const auto by_cublas = [&matmul, &form] {
    Observation seen;
    return matmul.cublas(seen, form).empty() && seen.stages.back().ok();
  };
  // What once seemed slower is measured again and the better of both counts: a machine has its moments.
  double ratio = 0;
  for (int times = 0; times < 2; ++times) {
    Repeated cublas(matmul, by_cublas);
    Repeated lt(matmul, launch_of(session, matmul, answer.results.front().algo));
    cublas.measure();
    if (!cublas.measured()) return;
    take_turns(cublas, lt);
    if (!lt.measured()) return;
    const double seen = lt.best() / std::max(cublas.best(), 1e-3);
    if (times > 0 && seen >= ratio) break;
    ratio = seen;
    const double spread = std::max(cublas.spread(), lt.spread());
    observation.facts[kCublasUs] = fmt::format("{:.2f}", cublas.best());
    observation.facts[kLtUs] = fmt::format("{:.2f}", lt.best());
    observation.facts[kRatio] = fmt::format("{:.2f}", ratio);
    observation.facts[kSpread] = fmt::format("{:.2f}", spread);
    observation.facts[kSpeed] = speed_of(ratio, spread);
    observation.times.matmul_gpu_us = lt.best();
    if (observation.facts[kSpeed] != kCublasFaster) return;
  }
  if (ratio > kReportedRatio) look_for_faster_result(session, matmul, answer, observation);
}

}  // namespace lt_audit::cublas_parity
