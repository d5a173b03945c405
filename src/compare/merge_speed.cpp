// Which nodes are slower or faster than the others with the same GPU: median and median absolute deviation (MAD) of
// each timed case, neither of which a few bad nodes can move.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "compare/merge_parts.h"
#include "lt_audit/error.h"
#include "report/observation_json.h"

namespace lt_audit {
namespace {

/// The MAD of normally distributed values is 0.6745 of their standard deviation (Iglewicz and Hoaglin, as
/// kOutlierScore).
constexpr double kMadOfNormal = 0.6745;

double number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? value : 0;
}

/// Of "0 bytes: 14.6, 64 KiB: 7.6": that of the largest limit, which stands last.
double last_time(std::string_view times) {
  const std::size_t colon = times.rfind(": ");
  return colon == std::string_view::npos ? 0 : number_of(times.substr(colon + 2));
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

struct NodeTime {
  std::size_t node = 0;
  MeasuredTime time;
};

double modified_score(double value, double median, double mad) {
  const double away = std::fabs(value - median);
  if (away == 0) return 0;
  return mad > 0 ? kMadOfNormal * away / mad : std::numeric_limits<double>::infinity();
}

/// One case: its outliers, and of each node the ratio to the median.
void compare_case(const MergedCase& the_case, const std::vector<NodeTime>& all,
                  std::vector<std::vector<double>>& ratios, Merged& merged) {
  std::vector<double> values;
  for (const NodeTime& one : all) values.push_back(static_cast<double>(one.time.us));
  const double median = median_of(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::fabs(value - median));
  const double mad = median_of(deviations);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double ratio = values[i] / median;
    ratios[all[i].node].push_back(ratio);
    const double score = modified_score(values[i], median, mad);
    const double least = std::max(kLeastDeviation, static_cast<double>(all[i].time.spread));
    if (score <= kOutlierScore || std::max(ratio, 1 / ratio) <= 1 + least) continue;
    merged.outliers.push_back({the_case.check, the_case.id, all[i].node, values[i], median, score});
  }
}

void sum_up(const SpeedGroup& group, const std::vector<std::vector<double>>& ratios, std::size_t first_outlier,
            Merged& merged) {
  for (const std::size_t node : group.nodes) {
    if (ratios[node].empty()) continue;
    NodeSpeed speed;
    speed.node = node;
    speed.timed = ratios[node].size();
    speed.median_ratio = median_of(ratios[node]);
    for (std::size_t i = first_outlier; i < merged.outliers.size(); ++i) {
      const SpeedOutlier& outlier = merged.outliers[i];
      if (outlier.node == node) ++(outlier.us > outlier.median_us ? speed.slower : speed.faster);
    }
    const auto most = static_cast<double>(std::max(speed.slower, speed.faster));
    speed.differs = most > kShareOfOutliers * static_cast<double>(speed.timed);
    merged.speeds.push_back(speed);
  }
}

void compare_group(SpeedGroup& group, std::span<const std::vector<MeasuredTime>> times,
                   std::span<const MergedCase> cases, Merged& merged) {
  if (group.nodes.size() < kLeastNodesForSpeed) {
    group.not_compared =
        fmt::format("needs {} nodes with this GPU, there are {}", kLeastNodesForSpeed, group.nodes.size());
    return;
  }
  std::map<std::uint32_t, std::vector<NodeTime>> by_case;
  for (const std::size_t node : group.nodes) {
    for (const MeasuredTime& time : times[node]) by_case[time.the_case].push_back({node, time});
  }
  const std::size_t first_outlier = merged.outliers.size();
  std::vector<std::vector<double>> ratios(times.size());
  for (const auto& [the_case, all] : by_case) {
    if (all.size() < kLeastNodesForSpeed) continue;
    ++group.timed_cases;
    compare_case(cases[the_case], all, ratios, merged);
  }
  if (group.timed_cases == 0)
    group.not_compared = fmt::format("no case was timed on {} of its nodes", kLeastNodesForSpeed);
  sum_up(group, ratios, first_outlier, merged);
}

}  // namespace

bool measured_time(const CaseResult& result, MeasuredTime& time) {
  // Looked for as text first: few cases of thousands were timed.
  const std::string& text = result.observation;
  if (text.find("\"cublaslt_us\"") == std::string::npos && text.find("\"times_us\"") == std::string::npos) return false;
  try {
    const Observation observation = observation_from_json(nlohmann::json::parse(text));
    const double parity = number_of(observation.fact("cublaslt_us"));
    const double us = parity > 0 ? parity : last_time(observation.fact("times_us"));
    // Not below what the checks print, a nanosecond, and what a float can hold.
    if (us < 1e-3 || us > 1e12) return false;
    time.us = static_cast<float>(us);
    time.spread = static_cast<float>(std::clamp(number_of(observation.fact("spread")), 0.0, 1e6));
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const AuditError&) {
    return false;
  }
}

void compare_speeds(std::span<const std::vector<MeasuredTime>> times, std::span<const std::string> gpus,
                    std::span<const MergedCase> cases, Merged& merged) {
  std::map<std::string, SpeedGroup> groups;
  for (std::size_t node = 0; node < gpus.size(); ++node) {
    if (gpus[node].empty()) continue;
    SpeedGroup& group = groups[gpus[node]];
    group.gpu = gpus[node];
    group.nodes.push_back(node);
  }
  for (auto& [gpu, group] : groups) {
    compare_group(group, times, cases, merged);
    merged.speed_groups.push_back(std::move(group));
  }
  std::stable_sort(
      merged.outliers.begin(), merged.outliers.end(), [](const SpeedOutlier& left, const SpeedOutlier& right) {
        const auto distance = [](const SpeedOutlier& one) { return std::fabs(std::log(one.us / one.median_us)); };
        return distance(left) > distance(right);
      });
}

}  // namespace lt_audit
