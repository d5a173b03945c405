// Pictures of a check: matrix of types, and pairs of times. The maps of alignment and workspace are in html_maps.cpp.
#include "report/html_pictures.h"

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "report/html_maps.h"
#include "report/html_observation.h"
#include "report/type_matrix.h"

namespace lt_audit {
namespace {

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    return std::nullopt;
  }
  return value;
}

/// Two columns, N and T, for each pair of C and D.
Picture picture_of(const CheckResult& check, const TypeMatrix& matrix) {
  Picture picture;
  picture.title = "Which types are accepted";
  picture.note =
      "Rows: compute type, scale type, A x B. Columns: D, or C/D where they differ; N: A as it is, T: A transposed.";
  for (const TypeRow& row : matrix.rows) {
    picture.rows.push_back(row.compute + " / " + row.scale + "  " + row.a + " x " + row.b);
  }
  picture.quiet_columns.assign(2 * matrix.columns.size(), true);
  for (const std::size_t column : matrix.columns_worth_showing()) {
    picture.quiet_columns[2 * column] = picture.quiet_columns[2 * column + 1] = false;
  }
  for (const std::string& column : matrix.columns) {
    picture.groups.emplace_back(column, 2);
    picture.columns.emplace_back("N");
    picture.columns.emplace_back("T");
  }
  for (const bool worth : matrix.worth_showing) picture.quiet_rows.push_back(!worth);
  for (const auto& [place, cell] : matrix.cells) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (cell.worst[side] == nullptr) continue;
      PictureCell one;
      one.row = place.first;
      one.column = 2 * place.second + side;
      one.the_case = static_cast<std::size_t>(cell.worst[side] - check.cases.data());
      one.count = cell.count[side];
      picture.cells.push_back(std::move(one));
    }
  }
  return picture;
}

}  // namespace

std::vector<Picture> pictures_of(const CheckResult& check) {
  std::vector<Picture> pictures;
  if (check.id == "alignment") {
    pictures = alignment_maps(check);
  } else if (const auto matrix = type_matrix_of(check)) {
    pictures.push_back(picture_of(check, *matrix));
  }
  if (auto map = workspace_map(check); !map.cells.empty()) pictures.push_back(std::move(map));
  return pictures;
}

std::vector<TimedPair> timed_pairs_of(const CheckResult& check) {
  std::vector<TimedPair> pairs;
  for (std::size_t i = 0; i < check.cases.size(); ++i) {
    const CaseResult& result = check.cases[i];
    // A run has thousands of cases, and few are timed.
    if (result.observation.find("\"cublaslt_us\"") == std::string::npos) continue;
    const auto facts = facts_of(result.observation);
    const auto cublas = number_of(value_of(facts, "cublas_us"));
    const auto cublaslt = number_of(value_of(facts, "cublaslt_us"));
    if (!cublas || !cublaslt || *cublas <= 0 || *cublaslt <= 0) continue;
    const std::string kind = value_of(result.parameters, "class");
    const std::string shape = value_of(result.parameters, "shape");
    TimedPair pair;
    pair.the_case = i;
    pair.label = kind.empty() ? result.id : kind + " " + shape;
    pair.cublas_us = *cublas;
    pair.cublaslt_us = *cublaslt;
    pair.spread = number_of(value_of(facts, "spread")).value_or(0);
    pair.speed = value_of(facts, "speed");
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace lt_audit
