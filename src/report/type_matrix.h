// Which combinations of types a check tried and what came of each: the model behind the matrix of letters and the
// picture. Built from the problem texts, so it works for every check whose cases differ in types.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// Names of the types that a row stands for.
struct TypeRow {
  std::string compute;
  std::string scale;
  std::string a;
  std::string b;
  friend bool operator==(const TypeRow&, const TypeRow&) = default;
};

/// The cases of one cell by side: A as it is, A transposed.
struct TypeCell {
  /// The worst one; null where nothing was tried.
  std::array<const CaseResult*, 2> worst = {nullptr, nullptr};
  std::array<std::size_t, 2> count = {0, 0};

  void add(const CaseResult& result, bool transposed);
};

struct TypeMatrix {
  /// In order of first appearance. A column is "C/D", or one name where both are the same.
  std::vector<TypeRow> rows;
  std::vector<std::string> columns;
  /// By row and column.
  std::map<std::pair<std::size_t, std::size_t>, TypeCell> cells;
  /// Rows where something was accepted or did not pass.
  std::vector<bool> worth_showing;

  /// Columns that hold anything but an expected refusal in the rows worth showing.
  std::vector<std::size_t> columns_worth_showing() const;
};

/// Nothing when types are not what the cases of the check differ in.
std::optional<TypeMatrix> type_matrix_of(const CheckResult& check);

/// The problem of a case; nothing for a case without one, or with the text of a newer version.
std::optional<MatmulProblem> problem_of(const CaseResult& result);

}  // namespace lt_audit
