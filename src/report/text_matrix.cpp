// The support matrix: which combinations of types were accepted, one letter for each case. Built from the problem
// texts, so it works for every check whose cases differ in types.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "lt_audit/types.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Sign and word of an outcome.
constexpr std::array<std::pair<Outcome, char>, 17> kLetters = {{{Outcome::correct, '+'},
                                                                {Outcome::unproven, '~'},
                                                                {Outcome::refused, '.'},
                                                                {Outcome::late_refusal, 'L'},
                                                                {Outcome::wrong_result, 'W'},
                                                                {Outcome::unwritten, 'U'},
                                                                {Outcome::out_of_bounds, 'O'},
                                                                {Outcome::input_changed, 'I'},
                                                                {Outcome::not_captured, 'G'},
                                                                {Outcome::stale, 'S'},
                                                                {Outcome::nondeterministic, 'N'},
                                                                {Outcome::context_lost, 'C'},
                                                                {Outcome::crashed, 'X'},
                                                                {Outcome::timed_out, 'H'},
                                                                {Outcome::slower, 'P'},
                                                                {Outcome::not_run, '-'},
                                                                {Outcome::audit_error, 'E'}}};

char letter_of(Outcome outcome) {
  const auto* found =
      std::find_if(kLetters.begin(), kLetters.end(), [&](const auto& entry) { return entry.first == outcome; });
  return found == kLetters.end() ? '?' : found->second;
}

/// What one cell holds for A as it is and for A transposed: the worst case of each.
struct Cell {
  std::array<const CaseResult*, 2> worst = {nullptr, nullptr};

  void add(const CaseResult& result, bool transposed) {
    const CaseResult*& held = worst[transposed ? 1 : 0];
    const bool first = held == nullptr;
    if (first || (held->status != result.status && worse(held->status, result.status) == result.status) ||
        (held->status == result.status && held->outcome == Outcome::correct)) {
      held = &result;
    }
  }
};

struct Matrix {
  /// In order of first appearance.
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::size_t, std::size_t>, Cell> cells;
  /// Rows where something was accepted or did not pass.
  std::vector<bool> worth_showing;
};

std::size_t index_of(std::vector<std::string>& labels, const std::string& label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return static_cast<std::size_t>(found - labels.begin());
  labels.push_back(label);
  return labels.size() - 1;
}

std::optional<MatmulProblem> problem_of(const CaseResult& result) {
  try {
    return problem_from_text(result.problem);
  } catch (const AuditError&) {
    // A case without a problem, or a text of a newer version: it has no place in the matrix.
    return std::nullopt;
  }
}

Matrix matrix_of(const CheckResult& check) {
  Matrix matrix;
  for (const CaseResult& result : check.cases) {
    const std::optional<MatmulProblem> problem = problem_of(result);
    if (!problem) continue;
    const std::string c = name_of(problem->type_c);
    const std::string d = name_of(problem->type_d);
    const std::size_t row =
        index_of(matrix.rows,
                 fmt::format("{:<20}  {} x {}", name_of(problem->compute_type) + " / " + name_of(problem->scale_type),
                             name_of(problem->type_a), name_of(problem->type_b)));
    const std::size_t column = index_of(matrix.columns, c == d ? d : c + "/" + d);
    matrix.cells[{row, column}].add(result, problem->transa != CUBLAS_OP_N);
    matrix.worth_showing.resize(matrix.rows.size(), false);
    const bool turned_away = result.outcome == Outcome::refused || result.outcome == Outcome::not_run;
    if (!turned_away || result.status != Status::pass) matrix.worth_showing[row] = true;
  }
  return matrix;
}

std::string cell_text(const Matrix& matrix, std::size_t row, std::size_t column) {
  const auto found = matrix.cells.find({row, column});
  std::string text;
  for (std::size_t side = 0; side < 2; ++side) {
    const CaseResult* result = found == matrix.cells.end() ? nullptr : found->second.worst[side];
    text += result == nullptr ? ' ' : letter_of(result->outcome);
  }
  return text;
}

/// Columns that hold anything in the rows that are shown.
std::vector<std::size_t> columns_worth_showing(const Matrix& matrix) {
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
    const bool any = std::any_of(matrix.cells.begin(), matrix.cells.end(), [&](const auto& entry) {
      if (entry.first.second != column || !matrix.worth_showing[entry.first.first]) return false;
      const auto& worst = entry.second.worst;
      return std::any_of(worst.begin(), worst.end(), [](const CaseResult* result) {
        return result != nullptr && (result->outcome != Outcome::refused || result->status != Status::pass);
      });
    });
    if (any) columns.push_back(column);
  }
  return columns;
}

void write_block(const Matrix& matrix, const std::vector<std::size_t>& columns, std::size_t row_width,
                 std::ostream& out) {
  std::string head = "  " + padded(fmt::format("{:<20}  A x B, C/D:", "compute / scale"), row_width);
  for (const std::size_t column : columns) head += "  " + padded(matrix.columns[column], 2);
  out << head << '\n';
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    if (!matrix.worth_showing[row]) continue;
    std::string line = "  " + padded(matrix.rows[row], row_width);
    for (const std::size_t column : columns) {
      line += "  " + padded(cell_text(matrix, row, column), std::max<std::size_t>(2, matrix.columns[column].size()));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string legend_of(const Matrix& matrix) {
  std::string legend = "two signs: A as it is (N), A transposed (T);";
  for (const auto& [outcome, letter] : kLetters) {
    const bool used = std::any_of(matrix.cells.begin(), matrix.cells.end(), [wanted = outcome](const auto& entry) {
      const auto& worst = entry.second.worst;
      return std::any_of(worst.begin(), worst.end(),
                         [wanted](const CaseResult* result) { return result != nullptr && result->outcome == wanted; });
    });
    if (used) legend += fmt::format(" {} {},", letter, name_of(outcome));
  }
  return legend + " blank not tried; rows and columns where all is refused as expected are left out";
}

/// False for a check that varies something else with each combination of types: a sign would stand for the worst of
/// cases that have little in common.
bool is_about_types(const CheckResult& check, const Matrix& matrix) {
  constexpr std::size_t kMostCasesOfASign = 4;
  std::size_t signs = 0;
  for (const auto& [place, cell] : matrix.cells) {
    signs += static_cast<std::size_t>(std::count_if(cell.worst.begin(), cell.worst.end(),
                                                    [](const CaseResult* result) { return result != nullptr; }));
  }
  return check.cases.size() <= kMostCasesOfASign * signs;
}

}  // namespace

void write_type_matrix(const CheckResult& check, const TextOptions& options, std::ostream& out) {
  const Matrix matrix = matrix_of(check);
  // With one place for each row the list of cases says the same.
  if (matrix.rows.size() < 2 || matrix.cells.size() <= matrix.rows.size()) return;
  if (!is_about_types(check, matrix)) return;
  std::size_t row_width = 33;
  for (const std::string& row : matrix.rows) row_width = std::max(row_width, text_width(row));
  const auto width = static_cast<std::size_t>(std::max(options.columns, 40));
  std::vector<std::size_t> block;
  std::size_t used = row_width + 2;
  for (const std::size_t column : columns_worth_showing(matrix)) {
    const std::size_t needed = 2 + std::max<std::size_t>(2, matrix.columns[column].size());
    if (!block.empty() && used + needed > width) {
      write_block(matrix, block, row_width, out);
      out << '\n';
      block.clear();
      used = row_width + 2;
    }
    block.push_back(column);
    used += needed;
  }
  if (block.empty()) return;
  write_block(matrix, block, row_width, out);
  write_labelled("", legend_of(matrix), 2, 0, paragraph_width(options), out);
  out << '\n';
}

}  // namespace lt_audit
