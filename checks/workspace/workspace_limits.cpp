// The limit of the preference from nothing to more than anything asks for: where status, algorithm or bits change, and
// what each step takes. And the algorithm that cublasLtMatmul chooses by itself, on workspaces of every size.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/measured_facts.h"
#include "workspace_scenarios.h"

namespace lt_audit::workspace {
namespace {

/// The fastest of so many counts. The simulator's time is that of its host.
constexpr int kTimings = 5;
/// Each limit fills all operands: above this an algorithm is run once and not at every limit that it is offered for.
constexpr std::int64_t kRunAgainBytes = 4 * kMiB;

/// The answer under one limit.
struct Step {
  std::uint64_t limit = 0;
  /// Of the first call that did not succeed, or SUCCESS.
  std::string status = "SUCCESS";
  std::optional<Chosen> chosen;
  std::optional<std::uint64_t> bits;
  std::optional<double> us;
  /// How far the median of the times lies above the best.
  double spread = 0;

  bool answers_like(const Step& other) const {
    if (status != other.status || bits != other.bits || chosen.has_value() != other.chosen.has_value()) return false;
    return !chosen || same_algorithm(chosen->algo, other.chosen->algo);
  }
  std::string text() const {
    std::string said = fmt::format("from {}: {}", bytes_text(limit), status);
    if (chosen) said += fmt::format(", {}", chosen->text());
    if (bits) said += fmt::format(", bits {:016x}", *bits);
    return us ? fmt::format("{}, {:.1f} us", said, *us) : said;
  }
};

std::vector<std::int64_t> limits_of(const Case& the_case) {
  std::istringstream text(the_case.parameters.at(kLimits));
  std::vector<std::int64_t> limits;
  for (std::int64_t limit = 0; text >> limit;) limits.push_back(limit);
  return limits;
}

/// Runs once on inputs that round, keeps the bits of D, and times it on a GPU.
bool run_rounding(Session& session, PreparedMatmul& matmul, Step& step, Observation& observation) {
  matmul.fill_rounding();
  auto status = CUBLAS_STATUS_SUCCESS;
  const auto once = [&] { status = matmul.matmul(session.handle(), &step.chosen->algo, matmul.stream()); };
  const bool timed = session.target().kind == PlatformKind::gpu;
  const auto first = matmul.gpu_us(once);
  if (!record(observation, "matmul", "cublasLtMatmul", status)) {
    step.status = name_of(status);
    return false;
  }
  if (!synchronize(session, matmul, observation)) return false;
  step.bits = matmul.d_digest();
  if (!timed || !first) return true;
  std::array<double, kTimings> times{*first};
  for (std::size_t i = 1; i < times.size(); ++i) times[i] = matmul.gpu_us(once).value_or(*first);
  std::sort(times.begin(), times.end());
  step.us = times.front();
  step.spread = times[times.size() / 2] / std::max(times.front(), 1e-3) - 1;
  return true;
}

/// Limit after limit: the query, and its first algorithm on a workspace of that size.
class StepWalk {
 public:
  StepWalk(Session& session, const MatmulProblem& problem) : session_(session), problem_(problem) {}

  /// False when the walk is over: wrong numbers, a defect, a lost context. A refused query is an answer like others.
  bool take(std::int64_t limit) {
    problem_.workspace_bytes = limit;
    Step step;
    step.limit = static_cast<std::uint64_t>(limit);
    auto matmul = session_.prepare(problem_);
    // The stages of one limit are enough: of the right ones all say the same.
    const auto stages_before = std::exchange(observation_.stages, {});
    const bool asked = ask(matmul, step);
    const Step* const known = asked ? step_with(step.chosen->algo) : nullptr;
    const bool is_known_enough = known != nullptr && operand_bytes(problem_) > kRunAgainBytes;
    if (is_known_enough) {
      step.bits = known->bits;
      step.us = known->us;
      step.spread = known->spread;
      observation_.stages = stages_before;
    }
    const bool went_well = is_known_enough || (asked && run(matmul, step, known));
    const bool accepted_before =
        std::any_of(steps_.begin(), steps_.end(), [](const Step& earlier) { return earlier.chosen.has_value(); });
    if (!step.chosen && accepted_before) {
      set_defect(observation_, "refused-above-smaller",
                 fmt::format("a limit of {} gives {}, and a limit of {} an algorithm", bytes_text(step.limit),
                             step.status, bytes_text(last_accepted().limit)));
    }
    const bool refused_query = !step.chosen;
    steps_.push_back(std::move(step));
    return (went_well || refused_query) && observation_.facts.count(kDefect) == 0;
  }

  Observation finish() {
    int changes = 0;
    std::string times;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.us) {
        times += fmt::format("{}{}: {:.1f}", times.empty() ? "" : ", ", bytes_text(step.limit), *step.us);
      }
      if (i > 0 && step.answers_like(steps_[i - 1])) continue;
      observation_.facts[fmt::format("step.{:02}", ++changes)] = step.text();
    }
    observation_.facts["limits_taken"] = fmt::to_string(steps_.size());
    if (!times.empty()) observation_.facts["times_us"] = times;
    if (const auto limit = fast_enough()) observation_.facts["fast_from"] = bytes_text(*limit);
    keep_for_comparison();
    return std::move(observation_);
  }

 private:
  /// The bits under every limit, and the time under the largest.
  void keep_for_comparison() {
    std::string bits;
    for (const auto& step : steps_) {
      bits += bits.empty() ? "" : " ";
      bits += step.bits ? fmt::format("{:016x}", *step.bits) : "none";
    }
    if (!steps_.empty()) observation_.facts[kDBitsFact] = bits;
    if (steps_.empty() || !steps_.back().us) return;
    observation_.facts[kLtUsFact] = fmt::format("{:.2f}", *steps_.back().us);
    observation_.facts[kSpreadFact] = fmt::format("{:.2f}", steps_.back().spread);
  }

  /// The smallest limit that takes no more than a twentieth longer than the fastest; nothing where none was timed.
  std::optional<std::uint64_t> fast_enough() const {
    std::optional<double> fastest;
    for (const auto& step : steps_) {
      if (step.us) fastest = std::min(*step.us, fastest.value_or(*step.us));
    }
    const auto found = std::find_if(steps_.begin(), steps_.end(),
                                    [&](const Step& step) { return step.us && *step.us <= 1.05 * *fastest; });
    return found == steps_.end() ? std::nullopt : std::optional(found->limit);
  }

  const Step& last_accepted() const {
    return *std::find_if(steps_.rbegin(), steps_.rend(), [](const Step& step) { return step.chosen.has_value(); });
  }

  bool ask(PreparedMatmul& matmul, Step& step) {
    if (!matmul.describe(observation_)) {
      step.status = observation_.stages.back().status;
      return false;
    }
    const auto answer = matmul.query(session_.handle(), 1);
    record(observation_, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
    step.status = name_of(answer.status);
    if (answer.results.empty()) {
      if (answer.status == CUBLAS_STATUS_SUCCESS) step.status = "SUCCESS without a result";
      return false;
    }
    const auto& first = answer.results.front();
    if (first.state != CUBLAS_STATUS_SUCCESS) {
      step.status = fmt::format("a result of state {}", name_of(first.state));
      return false;
    }
    step.chosen = Chosen{first.algo, matmul.read(first)};
    observation_.facts[kDetail] = fmt::format("workspace limit {}, {}", bytes_text(step.limit), step.chosen->text());
    if (first.workspaceSize <= step.limit) return true;
    set_defect(observation_, "above-limit",
               fmt::format("a limit of {} gives an algorithm that asks for {}", bytes_text(step.limit),
                           bytes_text(first.workspaceSize)));
    return false;
  }

  /// The earlier step with this algorithm, or null.
  const Step* step_with(const cublasLtMatmulAlgo_t& algo) const {
    const auto found = std::find_if(steps_.begin(), steps_.end(), [&algo](const Step& earlier) {
      return earlier.chosen && same_algorithm(earlier.chosen->algo, algo);
    });
    return found == steps_.end() ? nullptr : &*found;
  }

  /// Verified where no earlier step has the algorithm, compared with it where one does.
  bool run(PreparedMatmul& matmul, Step& step, const Step* known) {
    if (known == nullptr) {
      observation_.heuristic.push_back(step.chosen->read);
      const Part part{matmul.pointers().workspace, static_cast<std::size_t>(problem_.workspace_bytes)};
      if (!run_verified(session_, matmul, &step.chosen->algo, part, observation_)) {
        step.status = observation_.stage("matmul")->status;
        return refused_late(step);
      }
    }
    if (!run_rounding(session_, matmul, step, observation_)) return refused_late(step);
    if (known == nullptr || step.bits == known->bits) return true;
    set_defect(observation_, "bits-change",
               fmt::format("the same algorithm gives D the bits {:016x} under a limit of {} and {:016x} under {}",
                           *known->bits, bytes_text(known->limit), *step.bits, bytes_text(step.limit)));
    return false;
  }

  /// Always false: the step did not do what the query promised.
  bool refused_late(const Step& step) {
    if (step.status != "SUCCESS") {
      set_defect(observation_, "late-refusal",
                 fmt::format("cublasLtMatmul returns {} to the algorithm that the query gave", step.status));
    }
    return false;
  }

  Session& session_;
  MatmulProblem problem_;
  std::vector<Step> steps_;
  Observation observation_;
};

}  // namespace

Observation steps(Session& session, const Case& the_case) {
  StepWalk walk(session, the_case.problem);
  for (const auto limit : limits_of(the_case)) {
    if (!walk.take(limit)) break;
  }
  return walk.finish();
}

Observation implicit_algorithm(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto before = observation.stages.size();
  const auto all = static_cast<std::size_t>(the_case.problem.workspace_bytes);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{256}, std::size_t{65536}, all}) {
    observation.stages.resize(before);
    observation.facts[kDetail] = fmt::format("without an algorithm, given {}", bytes_text(bytes));
    const Part part{bytes == 0 ? nullptr : matmul.pointers().workspace, bytes};
    if (!run_verified(session, matmul, nullptr, part, observation)) break;
  }
  return observation;
}

}  // namespace lt_audit::workspace
