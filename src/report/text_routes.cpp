// The routing table: which library each kind of product belongs to. Made from the facts "route" and "route_reason" of
// the observations and the parameters "class" and "shape", so it works for every check that sets them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lt_audit/error.h"
#include "report/observation_json.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostBriefRows = 12;
constexpr std::size_t kRouteWidth = 8;
constexpr std::size_t kRatioWidth = 12;

/// Products of one class that go the same way for the same reason.
struct Row {
  std::string route;
  std::string kind;
  std::string reason;
  std::vector<std::string> shapes;
  /// Time of cuBLASLt over that of cuBLAS; absent where nothing was timed.
  std::optional<double> least, most;

  void add(const std::string& shape, const std::string& ratio) {
    shapes.push_back(shape);
    if (ratio.empty()) return;
    const double value = std::strtod(ratio.c_str(), nullptr);
    least = std::min(least.value_or(value), value);
    most = std::max(most.value_or(value), value);
  }
};

std::string value_of(const std::map<std::string, std::string>& values, const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

/// The facts of a case with a route; nothing for another case. A run has thousands of cases, and few have one.
std::optional<std::map<std::string, std::string>> facts_with_route(const CaseResult& result) {
  if (result.observation.find("\"route\"") == std::string::npos) return std::nullopt;
  try {
    auto facts = observation_from_json(nlohmann::json::parse(result.observation)).facts;
    return facts.count("route") > 0 ? std::optional(std::move(facts)) : std::nullopt;
  } catch (const nlohmann::json::exception&) {
    // A damaged observation is reported where the case is shown; the table does without it.
    return std::nullopt;
  } catch (const AuditError&) {
    return std::nullopt;
  }
}

/// What an application has to act on comes first.
std::size_t rank_of(std::string_view route) {
  constexpr std::array<std::string_view, 4> kOrder{"neither", "cublas", "cublaslt", "either"};
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), route) - kOrder.begin());
}

std::vector<Row> rows_of(const CheckResult& check) {
  std::vector<Row> rows;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  for (const CaseResult& result : check.cases) {
    const auto facts = facts_with_route(result);
    if (!facts) continue;
    Row row{
        value_of(*facts, "route"), value_of(result.parameters, "class"), value_of(*facts, "route_reason"), {}, {}, {}};
    const auto [place, is_new] = places.emplace(std::tuple(row.kind, row.route, row.reason), rows.size());
    if (is_new) rows.push_back(std::move(row));
    const auto shape = value_of(result.parameters, "shape");
    rows[place->second].add(shape.empty() ? result.id : shape, value_of(*facts, "time_ratio"));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& left, const Row& right) { return rank_of(left.route) < rank_of(right.route); });
  return rows;
}

/// What asks for nothing in one row for each reason: a run shows what asks for something.
std::vector<Row> in_brief(std::vector<Row> rows) {
  std::vector<Row> brief;
  std::map<std::string, std::vector<Row>> same;
  std::vector<std::string> reasons;
  for (Row& row : rows) {
    if (row.route != "either") {
      brief.push_back(std::move(row));
      continue;
    }
    if (same.count(row.reason) == 0) reasons.push_back(row.reason);
    same[row.reason].push_back(std::move(row));
  }
  for (const auto& reason : reasons) {
    const auto& merged = same[reason];
    if (merged.size() == 1) {
      brief.push_back(merged.front());
      continue;
    }
    Row all{"either", "", reason, {}, {}, {}};
    std::size_t count = 0;
    for (const Row& row : merged) {
      count += row.shapes.size();
      if (row.least) all.least = std::min(all.least.value_or(*row.least), *row.least);
      if (row.most) all.most = std::max(all.most.value_or(*row.most), *row.most);
    }
    all.kind = fmt::format("{} of {} classes", counted(count, "product"), merged.size());
    brief.push_back(std::move(all));
  }
  return brief;
}

std::string ratio_text(const Row& row) {
  if (!row.least) return {};
  const auto least = fmt::format("{:.2f}", *row.least);
  const auto most = fmt::format("{:.2f}", *row.most);
  return least == most ? least : least + "-" + most;
}

std::string products_text(const Row& row) {
  std::string text = row.kind + (row.shapes.empty() ? "" : ":");
  for (const auto& shape : row.shapes) text += fmt::format("{} {}", &shape == &row.shapes.front() ? "" : ",", shape);
  return text;
}

}  // namespace

void write_route_table(const CheckResult& check, const TextOptions& options, bool brief, std::ostream& out) {
  const auto all = rows_of(check);
  const auto rows = brief ? in_brief(all) : all;
  if (rows.empty()) return;
  const auto width = paragraph_width(options);
  std::size_t reason_width = 3;
  for (const Row& row : rows) reason_width = std::max(reason_width, text_width(printable(row.reason)));
  const bool timed = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.least.has_value(); });
  const std::size_t used = 2 + kRouteWidth + 2 + 2 + reason_width + (timed ? 2 + kRatioWidth : 0);
  const std::size_t products_width = width > used + 24 ? width - used : 24;
  const auto line = [&](std::string_view route, std::string_view products, std::string_view reason,
                        std::string_view ratio) {
    std::string text = "  " + padded(route, kRouteWidth) + "  " + padded(products, products_width) + "  " +
                       padded(reason, reason_width) + (timed ? "  " + right_aligned(ratio, kRatioWidth) : "");
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  };
  line("route", "products", "why", "Lt : cuBLAS");
  const std::size_t shown = brief ? std::min(rows.size(), kMostBriefRows) : rows.size();
  for (std::size_t i = 0; i < shown; ++i) {
    auto products = wrapped(products_text(rows[i]), products_width);
    if (products.empty()) products.emplace_back();
    line(printable(rows[i].route), products.front(), printable(rows[i].reason), ratio_text(rows[i]));
    for (std::size_t j = 1; j < products.size(); ++j) line("", products[j], "", "");
  }
  if (shown < all.size()) {
    out << fmt::format("  {} rows in all: lt-audit show {} {}\n", all.size(),
                       options.report_path.empty() ? "REPORT" : printable(options.report_path), printable(check.id));
  }
  out << '\n';
}

}  // namespace lt_audit
