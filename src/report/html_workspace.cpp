// The heat map of workspace limits: what each limit costs, and where the algorithm changes.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "report/html_maps.h"
#include "report/html_observation.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostLimits = 64;

/// As the check writes a limit in its facts.
std::string limit_text(std::uint64_t bytes) {
  if (bytes > 0 && bytes % (1U << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes > 0 && bytes % (1U << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

/// Parameter "limits": numbers between blanks.
std::vector<std::uint64_t> limits_of(const CaseResult& result) {
  std::vector<std::uint64_t> limits;
  const auto found = result.parameters.find("limits");
  if (found == result.parameters.end()) return limits;
  const char* at = found->second.data();
  const char* end = at + found->second.size();
  while (at < end && limits.size() < kMostLimits) {
    std::uint64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return {};
    limits.push_back(value);
    at = next < end ? next + 1 : end;
  }
  return limits;
}

/// "0 bytes: 14.6, 64 KiB: 7.6" by limit.
std::map<std::string, std::string, std::less<>> times_of(const std::map<std::string, std::string>& facts) {
  std::map<std::string, std::string, std::less<>> times;
  const auto found = facts.find("times_us");
  if (found == facts.end()) return times;
  std::string_view text = found->second;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(", "));
    const std::size_t colon = entry.find(": ");
    if (colon != std::string_view::npos) times.emplace(entry.substr(0, colon), entry.substr(colon + 2));
    text.remove_prefix(std::min(text.size(), entry.size() + 2));
  }
  return times;
}

/// Facts "step.NN", "from 64 KiB: SUCCESS, algo 66, ...", by limit.
std::map<std::string, std::string, std::less<>> steps_of(const std::map<std::string, std::string>& facts) {
  constexpr std::string_view kFrom = "from ";
  std::map<std::string, std::string, std::less<>> steps;
  for (const auto& [name, text] : facts) {
    const std::size_t colon = text.find(": ");
    if (name.rfind("step.", 0) != 0 || text.rfind(kFrom, 0) != 0 || colon == std::string::npos) continue;
    steps.emplace(text.substr(kFrom.size(), colon - kFrom.size()), text.substr(colon + 2));
  }
  return steps;
}

double microseconds(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

int level_of(double time, double fastest) {
  if (time <= 0 || fastest <= 0) return -1;
  const double ratio = time / fastest;
  int level = 0;
  for (const double bound : {1.05, 1.25, 1.5, 2.0}) level += ratio > bound ? 1 : 0;
  return level;
}

/// What identifies the algorithm in the text of a step: all before the bits.
std::string algorithm_of(const std::string& step) { return step.substr(0, step.find(", bits ")); }

/// The cells of one case, left to right.
class Row {
 public:
  Row(const CaseResult& result, std::size_t index, std::size_t row) : index_(index), row_(row) {
    const auto facts = facts_of(result.observation);
    times_ = times_of(facts);
    steps_ = steps_of(facts);
    for (const auto& [limit, text] : times_) {
      const double time = microseconds(text);
      if (time > 0 && (fastest_ == 0 || time < fastest_)) fastest_ = time;
    }
  }

  bool empty() const { return steps_.empty(); }

  PictureCell cell(std::uint64_t limit, std::size_t column) {
    PictureCell cell;
    cell.row = row_;
    cell.column = column;
    cell.the_case = index_;
    const std::string name = limit_text(limit);
    if (const auto step = steps_.find(name); step != steps_.end()) {
      step_ = step->second;
      if (step_.rfind("SUCCESS", 0) == 0) cell.mark = mark_of(algorithm_of(step_));
    }
    if (const auto time = times_.find(name); time != times_.end()) {
      cell.text = time->second;
      cell.level = level_of(microseconds(time->second), fastest_);
    }
    if (step_.rfind("SUCCESS", 0) != 0) cell.text = "–";
    cell.detail = "limit " + name + ": " + step_;
    if (cell.level >= 0) cell.detail += fmt::format("; here {} us, the fastest {:.1f} us", cell.text, fastest_);
    return cell;
  }

 private:
  std::string mark_of(const std::string& algorithm) {
    const auto found = std::find(algorithms_.begin(), algorithms_.end(), algorithm);
    const auto place = static_cast<std::size_t>(found - algorithms_.begin());
    if (found == algorithms_.end()) algorithms_.push_back(algorithm);
    return std::string(1, static_cast<char>('a' + place % 26));
  }

  std::size_t index_;
  std::size_t row_;
  std::map<std::string, std::string, std::less<>> times_;
  std::map<std::string, std::string, std::less<>> steps_;
  double fastest_ = 0;
  std::string step_;
  std::vector<std::string> algorithms_;
};

}  // namespace

Picture workspace_map(const CheckResult& check) {
  Picture picture;
  picture.title = "What a workspace limit costs";
  picture.note =
      "Rows: cases. Columns: the limit in the preference. A cell has the time in microseconds (the further from the "
      "fastest of its row, the stronger its colour) and, where the algorithm changes, a letter for it; – is refused.";
  picture.times = true;
  std::set<std::uint64_t> limits;
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < check.cases.size(); ++i) {
    const auto scenario = check.cases[i].parameters.find("scenario");
    if (scenario == check.cases[i].parameters.end() || scenario->second.rfind("steps", 0) != 0) continue;
    for (const std::uint64_t limit : limits_of(check.cases[i])) limits.insert(limit);
    cases.push_back(i);
  }
  for (const std::uint64_t limit : limits) picture.columns.push_back(limit_text(limit));
  for (const std::size_t i : cases) {
    Row row(check.cases[i], i, picture.rows.size());
    if (row.empty()) continue;
    picture.rows.push_back(check.cases[i].id);
    for (const std::uint64_t limit : limits_of(check.cases[i])) {
      const auto column = static_cast<std::size_t>(std::distance(limits.begin(), limits.find(limit)));
      picture.cells.push_back(row.cell(limit, column));
    }
  }
  picture.quiet_rows.assign(picture.rows.size(), false);
  picture.quiet_columns.assign(picture.columns.size(), false);
  return picture;
}

}  // namespace lt_audit
