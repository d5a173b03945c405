// Which planted fault turns which check red.
#include "cli/detection_matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

namespace lt_audit {
namespace {

bool is_red(Status status) { return status == Status::fail || status == Status::warn || status == Status::error; }

bool is_false_alarm(const CaseResult& one, PlatformKind kind) {
  if (one.status == Status::error) return true;
  if (kind == PlatformKind::gpu) return false;
  // What the contract leaves open is a trap of a faultless library too: a promise that the caller breaks may be refused
  // late.
  return one.status == Status::fail || (one.status == Status::warn && one.expectation == Expectation::must_work);
}

const CheckResult* find_check(const Report& report, const std::string& id) {
  for (const CheckResult& check : report.checks) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

std::size_t faults_seen_by(const DetectionMatrix& matrix, const std::string& check) {
  return static_cast<std::size_t>(std::count_if(matrix.faults.begin(), matrix.faults.end(),
                                                [&](const FaultRow& row) { return row.detected_by.count(check) > 0; }));
}

}  // namespace

std::vector<FalseAlarm> false_alarms_of(const Report& baseline) {
  std::vector<FalseAlarm> alarms;
  for (const CheckResult& check : baseline.checks) {
    for (const CaseResult& one : check.cases) {
      if (!is_false_alarm(one, baseline.target.kind)) continue;
      alarms.push_back({check.id, one.id, one.status, one.reason, one.sentence});
    }
  }
  return alarms;
}

std::map<std::string, Detection> detections_of(const Report& baseline, const Report& with_fault) {
  std::map<std::string, Detection> detections;
  for (const CheckResult& check : with_fault.checks) {
    std::unordered_map<std::string, const CaseResult*> before;
    if (const CheckResult* clean = find_check(baseline, check.id)) {
      for (const CaseResult& one : clean->cases) before[one.id] = &one;
    }
    Detection detection;
    for (const CaseResult& one : check.cases) {
      if (!is_red(one.status)) continue;
      const auto clean = before.find(one.id);
      if (clean != before.end() && clean->second->status == one.status && clean->second->reason == one.reason) continue;
      if (detection.red++ > 0) continue;
      detection.example_case = one.id;
      detection.reason = one.reason;
    }
    if (detection.red > 0) detections[check.id] = detection;
  }
  return detections;
}

std::vector<std::string> undetected_faults(const DetectionMatrix& matrix) {
  std::vector<std::string> names;
  for (const FaultRow& row : matrix.faults) {
    if (row.detected_by.empty()) names.push_back(row.name);
  }
  return names;
}

std::vector<std::string> weak_checks(const DetectionMatrix& matrix) {
  std::vector<std::string> names;
  for (const std::string& check : matrix.checks) {
    if (faults_seen_by(matrix, check) < kFaultsPerCheck) names.push_back(check);
  }
  return names;
}

bool self_test_ok(const DetectionMatrix& matrix) {
  const bool all_seen = matrix.checks_were_named || undetected_faults(matrix).empty();
  return matrix.complete && !matrix.checks.empty() && matrix.false_alarms.empty() && weak_checks(matrix).empty() &&
         all_seen;
}

std::string matrix_text(const DetectionMatrix& matrix) {
  constexpr std::size_t kShownAlarms = 12;
  std::size_t width = 12;
  for (const FaultRow& row : matrix.faults) width = std::max(width, row.name.size());
  std::string text = fmt::format("{:<{}}", "fault", width);
  for (const std::string& check : matrix.checks) text += fmt::format("  {:>8}", check);
  text += "\n";
  const auto column = [](const std::string& check) { return std::max<std::size_t>(check.size(), 8); };
  for (const FaultRow& row : matrix.faults) {
    text += fmt::format("{:<{}}", row.name, width);
    for (const std::string& check : matrix.checks) {
      const auto seen = row.detected_by.find(check);
      const std::string cell = seen == row.detected_by.end() ? "·" : fmt::format("● {}", seen->second.red);
      text += fmt::format("  {:>{}}", cell, column(check));
    }
    text += row.error.empty() ? "\n" : fmt::format("  {}\n", row.error);
  }
  text += fmt::format("{:<{}}", "faults seen", width);
  for (const std::string& check : matrix.checks) {
    text += fmt::format("  {:>{}}", fmt::format("{} of {}", faults_seen_by(matrix, check), matrix.faults.size()),
                        column(check));
  }
  text += "\n\n● N: N cases turn red with the fault planted; ·: none does\n";

  for (std::size_t i = 0; i < std::min(matrix.false_alarms.size(), kShownAlarms); ++i) {
    const FalseAlarm& alarm = matrix.false_alarms[i];
    text += fmt::format("false alarm  {}/{}  {} {}: {}\n", alarm.check, alarm.the_case, name_of(alarm.status),
                        alarm.reason, alarm.sentence);
  }
  if (matrix.false_alarms.size() > kShownAlarms) {
    text +=
        fmt::format("... and {} more false alarms: --json FILE holds all\n", matrix.false_alarms.size() - kShownAlarms);
  }
  const std::vector<std::string> weak = weak_checks(matrix);
  if (!weak.empty()) {
    text +=
        fmt::format("weak checks, fewer than {} faults turn them red: {}\n", kFaultsPerCheck, fmt::join(weak, ", "));
  }
  const std::vector<std::string> unseen = undetected_faults(matrix);
  if (!unseen.empty()) text += fmt::format("faults that no check sees: {}\n", fmt::join(unseen, ", "));
  text += fmt::format("{} faults, {} checks, {} false alarms: {}\n", matrix.faults.size(), matrix.checks.size(),
                      matrix.false_alarms.size(), self_test_ok(matrix) ? "ok" : "not ok");
  return text;
}

}  // namespace lt_audit
