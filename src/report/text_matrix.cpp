// The support matrix: which combinations of types were accepted, one letter for each case.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/type_matrix.h"
#include "report/utf8.h"

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

std::string label_of(const TypeRow& row) {
  return fmt::format("{:<20}  {} x {}", row.compute + " / " + row.scale, row.a, row.b);
}

std::string cell_text(const TypeMatrix& matrix, std::size_t row, std::size_t column) {
  const auto found = matrix.cells.find({row, column});
  std::string text;
  for (std::size_t side = 0; side < 2; ++side) {
    const CaseResult* result = found == matrix.cells.end() ? nullptr : found->second.worst[side];
    text += result == nullptr ? ' ' : letter_of(result->outcome);
  }
  return text;
}

void write_block(const TypeMatrix& matrix, const std::vector<std::size_t>& columns, std::size_t row_width,
                 std::ostream& out) {
  std::string head = "  " + padded(fmt::format("{:<20}  A x B, C/D:", "compute / scale"), row_width);
  for (const std::size_t column : columns) head += "  " + padded(matrix.columns[column], 2);
  out << head << '\n';
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    if (!matrix.worth_showing[row]) continue;
    std::string line = "  " + padded(label_of(matrix.rows[row]), row_width);
    for (const std::size_t column : columns) {
      line += "  " + padded(cell_text(matrix, row, column), std::max<std::size_t>(2, matrix.columns[column].size()));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string legend_of(const TypeMatrix& matrix) {
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

}  // namespace

void write_type_matrix(const CheckResult& check, const TextOptions& options, std::ostream& out) {
  const std::optional<TypeMatrix> found = type_matrix_of(check);
  if (!found) return;
  const TypeMatrix& matrix = *found;
  std::size_t row_width = 33;
  for (const TypeRow& row : matrix.rows) row_width = std::max(row_width, text_width(label_of(row)));
  const auto width = static_cast<std::size_t>(std::max(options.columns, 40));
  std::vector<std::size_t> block;
  std::size_t used = row_width + 2;
  for (const std::size_t column : matrix.columns_worth_showing()) {
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
