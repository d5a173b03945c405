// The heat map of alignments. Columns are what differs between the cases, rows what they share.
#include "report/html_maps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/types.h"
#include "report/type_matrix.h"

namespace lt_audit {
namespace {

/// The preference's default, and the most that a pointer's alignment matters for.
constexpr std::int64_t kMostBytes = 256;

/// Where a case stands: which map, which group of columns in it, which column.
struct Place {
  enum Map { declared, undeclared, leading, other } map = other;
  std::string moved;
  /// Orders the groups.
  int rank = 0;
  std::int64_t bytes = 0;
};

/// The power of two that `value` is a multiple of, at most 256; 0 for 0.
std::int64_t alignment_of(std::int64_t value) {
  if (value == 0) return 0;
  return std::min(value & -value, kMostBytes);
}

/// Members of a problem that belong to one matrix.
struct Operand {
  const char* letter;
  std::int64_t MatmulProblem::*offset;
  std::uint32_t MatmulProblem::*declared;
  std::int64_t MatmulProblem::*ld;
  std::int64_t MatmulProblem::*stride;
  cudaDataType_t MatmulProblem::*type;
};
using P = MatmulProblem;
constexpr std::array kOperands = {Operand{"A", &P::a_offset, &P::a_alignment, &P::lda, &P::stride_a, &P::type_a},
                                  Operand{"B", &P::b_offset, &P::b_alignment, &P::ldb, &P::stride_b, &P::type_b},
                                  Operand{"C", &P::c_offset, &P::c_alignment, &P::ldc, &P::stride_c, &P::type_c},
                                  Operand{"D", &P::d_offset, &P::d_alignment, &P::ldd, &P::stride_d, &P::type_d}};

/// Pointers of the matrices that are moved.
std::optional<Place> place_of_pointers(const MatmulProblem& problem) {
  Place place;
  int moved = 0;
  bool truthful = true;
  for (std::size_t i = 0; i < kOperands.size(); ++i) {
    const std::int64_t bytes = alignment_of(problem.*kOperands[i].offset);
    if (bytes == 0) continue;
    truthful = truthful && static_cast<std::int64_t>(problem.*kOperands[i].declared) <= bytes;
    place.bytes = moved == 0 ? bytes : std::min(place.bytes, bytes);
    place.moved = kOperands[i].letter;
    place.rank = static_cast<int>(i);
    ++moved;
  }
  if (moved == 0) return std::nullopt;
  if (moved > 1) place.moved = "several", place.rank = 4;
  place.map = truthful ? Place::declared : Place::undeclared;
  return place;
}

std::optional<Place> place_of_the_rest(const MatmulProblem& problem) {
  const std::array<std::pair<const char*, std::int64_t>, 3> pointers = {
      {{"bias", problem.bias_offset}, {"aux", problem.aux_offset}, {"workspace", problem.workspace_offset}}};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i].second == 0) continue;
    return Place{Place::other, pointers[i].first, 20 + static_cast<int>(i), alignment_of(pointers[i].second)};
  }
  for (std::size_t i = 0; i < kOperands.size(); ++i) {
    const Operand& operand = kOperands[i];
    const auto size = static_cast<std::int64_t>(bytes_of(problem.*operand.type));
    const int rank = static_cast<int>(i);
    if (problem.*operand.ld != 0) {
      return Place{Place::leading, std::string("ld of ") + operand.letter, rank,
                   alignment_of(problem.*operand.ld * size)};
    }
    if (problem.*operand.stride >= 0) {
      return Place{Place::other, std::string("stride of ") + operand.letter, 10 + rank,
                   alignment_of(problem.*operand.stride * size)};
    }
  }
  return std::nullopt;
}

/// "f16 nn", "e4m3 -> bf16 tn".
std::string form_of(const MatmulProblem& problem) {
  const std::string a = name_of(problem.type_a);
  const std::string b = name_of(problem.type_b);
  const std::string d = name_of(problem.type_d);
  std::string form = a == b ? a : a + " x " + b;
  if (d != a) form += " -> " + d;
  form += problem.transa == CUBLAS_OP_N ? " n" : " t";
  return form + (problem.transb == CUBLAS_OP_N ? "n" : "t");
}

/// A map while it is collected: columns are sorted at the end.
struct Collected {
  std::vector<std::string> rows;
  /// By rank, what is moved, and bytes.
  std::map<std::tuple<int, std::string, std::int64_t>, std::map<std::size_t, PictureCell>> columns;

  void add(const CheckResult& check, std::size_t index, const std::string& form, const Place& place) {
    const auto known = std::find(rows.begin(), rows.end(), form);
    const auto row = static_cast<std::size_t>(known - rows.begin());
    if (known == rows.end()) rows.push_back(form);
    const auto [cell, is_new] = columns[{place.rank, place.moved, place.bytes}].try_emplace(row);
    if (is_new) {
      cell->second.row = row;
      cell->second.the_case = index;
      return;
    }
    ++cell->second.count;
    const Status held = check.cases[cell->second.the_case].status;
    const Status status = check.cases[index].status;
    if (held != status && worse(held, status) == status) cell->second.the_case = index;
  }

  Picture picture(std::string title, std::string note) const {
    Picture picture;
    picture.title = std::move(title);
    picture.note = std::move(note);
    picture.rows = rows;
    picture.quiet_rows.assign(rows.size(), false);
    for (const auto& [key, cells] : columns) {
      const auto& [rank, moved, bytes] = key;
      if (picture.groups.empty() || picture.groups.back().first != moved) picture.groups.emplace_back(moved, 0);
      ++picture.groups.back().second;
      for (const auto& [row, cell] : cells) {
        picture.cells.push_back(cell);
        picture.cells.back().column = picture.columns.size();
      }
      picture.columns.push_back(std::to_string(bytes));
    }
    picture.quiet_columns.assign(picture.columns.size(), false);
    return picture;
  }
};

}  // namespace

std::vector<Picture> alignment_maps(const CheckResult& check) {
  std::array<Collected, 4> maps;
  for (std::size_t i = 0; i < check.cases.size(); ++i) {
    const auto problem = problem_of(check.cases[i]);
    if (!problem) continue;
    auto place = place_of_pointers(*problem);
    if (!place) place = place_of_the_rest(*problem);
    if (place) maps.at(static_cast<std::size_t>(place->map)).add(check, i, form_of(*problem), *place);
  }
  const std::string columns =
      " Columns: what is moved, and the power of two, in bytes, that it is still a multiple of.";
  std::vector<Picture> pictures;
  const auto take = [&](Place::Map map, const char* title, const std::string& note) {
    const Collected& collected = maps.at(static_cast<std::size_t>(map));
    if (!collected.rows.empty()) pictures.push_back(collected.picture(title, note + columns));
  };
  take(Place::declared, "Pointers whose alignment is declared to the heuristic", "Rows: types and transposition.");
  take(Place::undeclared, "Pointers that are aligned less than declared",
       "The preference says more than holds, most often its default of 256 bytes.");
  take(Place::leading, "Leading dimensions", "Rows: types and transposition.");
  take(Place::other, "Batch strides, bias and workspace", "A stride of 0 is one matrix for all batches.");
  return pictures;
}

}  // namespace lt_audit
