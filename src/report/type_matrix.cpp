// The model of the support matrix.
#include "report/type_matrix.h"

#include <algorithm>

#include "lt_audit/error.h"
#include "lt_audit/types.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

template <class Label>
std::size_t index_of(std::vector<Label>& labels, const Label& label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return static_cast<std::size_t>(found - labels.begin());
  labels.push_back(label);
  return labels.size() - 1;
}

/// False for a check that varies something else with each combination of types: a sign would stand for the worst of
/// cases that have little in common.
bool is_about_types(const CheckResult& check, const TypeMatrix& matrix) {
  constexpr std::size_t kMostCasesOfASign = 4;
  std::size_t signs = 0;
  for (const auto& [place, cell] : matrix.cells) {
    signs += static_cast<std::size_t>(std::count_if(cell.worst.begin(), cell.worst.end(),
                                                    [](const CaseResult* result) { return result != nullptr; }));
  }
  return check.cases.size() <= kMostCasesOfASign * signs;
}

}  // namespace

void TypeCell::add(const CaseResult& result, bool transposed) {
  const std::size_t side = transposed ? 1 : 0;
  ++count[side];
  const CaseResult*& held = worst[side];
  const bool first = held == nullptr;
  if (first || (held->status != result.status && worse(held->status, result.status) == result.status) ||
      (held->status == result.status && held->outcome == Outcome::correct)) {
    held = &result;
  }
}

std::vector<std::size_t> TypeMatrix::columns_worth_showing() const {
  std::vector<std::size_t> shown;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const bool any = std::any_of(cells.begin(), cells.end(), [&](const auto& entry) {
      if (entry.first.second != column || !worth_showing[entry.first.first]) return false;
      const auto& worst = entry.second.worst;
      return std::any_of(worst.begin(), worst.end(), [](const CaseResult* result) {
        return result != nullptr && (result->outcome != Outcome::refused || result->status != Status::pass);
      });
    });
    if (any) shown.push_back(column);
  }
  return shown;
}

std::optional<MatmulProblem> problem_of(const CaseResult& result) {
  try {
    return problem_from_text(result.problem);
  } catch (const AuditError&) {
    return std::nullopt;
  }
}

std::optional<TypeMatrix> type_matrix_of(const CheckResult& check) {
  TypeMatrix matrix;
  for (const CaseResult& result : check.cases) {
    const std::optional<MatmulProblem> problem = problem_of(result);
    if (!problem) continue;
    const std::string c = name_of(problem->type_c);
    const std::string d = name_of(problem->type_d);
    const TypeRow label{name_of(problem->compute_type), name_of(problem->scale_type), name_of(problem->type_a),
                        name_of(problem->type_b)};
    const std::size_t row = index_of(matrix.rows, label);
    const std::size_t column = index_of(matrix.columns, c == d ? d : c + "/" + d);
    matrix.cells[{row, column}].add(result, problem->transa != CUBLAS_OP_N);
    matrix.worth_showing.resize(matrix.rows.size(), false);
    const bool turned_away = result.outcome == Outcome::refused || result.outcome == Outcome::not_run;
    if (!turned_away || result.status != Status::pass) matrix.worth_showing[row] = true;
  }
  // With one place for each row the list of cases says the same.
  if (matrix.rows.size() < 2 || matrix.cells.size() <= matrix.rows.size()) return std::nullopt;
  if (!is_about_types(check, matrix)) return std::nullopt;
  return matrix;
}

}  // namespace lt_audit
