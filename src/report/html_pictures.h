// What the pictures of the HTML page show, as values: which cases stand where. The page draws them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/report.h"

namespace lt_audit {

struct PictureCell {
  std::size_t row = 0;
  std::size_t column = 0;
  /// Position of the case within its check: the worst one of those that fall here.
  std::size_t the_case = 0;
  std::size_t count = 1;
  /// For a picture of times: microseconds; empty = not timed.
  std::string text;
  /// How far above the fastest of the row: 0 (within 5 %) .. 4 (more than twice); -1 = no time.
  int level = -1;
  /// Says where something changes along the row: "a", "b", ... for each algorithm; empty = as before.
  std::string mark;
  /// One sentence for the tooltip; empty = the case's own.
  std::string detail;
};

/// A grid of cells: coloured by the outcome of the case, or by time.
struct Picture {
  std::string title;
  std::string note;
  bool times = false;
  std::vector<std::string> rows;
  /// Headings over the columns with how many columns each one spans; may be empty.
  std::vector<std::pair<std::string, std::size_t>> groups;
  std::vector<std::string> columns;
  /// Rows and columns that hold expected refusals alone; shown when asked for.
  std::vector<bool> quiet_rows;
  std::vector<bool> quiet_columns;
  std::vector<PictureCell> cells;
};

/// The pictures of a check: the matrix of types, the alignment map of the check "alignment", the limits of cases whose
/// scenario is "steps". May be empty.
std::vector<Picture> pictures_of(const CheckResult& check);

/// One product that ran through both libraries.
struct TimedPair {
  std::size_t the_case = 0;
  std::string label;
  /// Best time of each, and how far the median lies above it (the larger of both; 0.05 = 5 %).
  double cublas_us = 0;
  double cublaslt_us = 0;
  double spread = 0;
  /// "within noise", "cuBLASLt faster", "cuBLAS faster".
  std::string speed;
};

/// From the facts "cublas_us", "cublaslt_us", "spread" and "speed"; empty for a check that times nothing.
std::vector<TimedPair> timed_pairs_of(const CheckResult& check);

}  // namespace lt_audit
