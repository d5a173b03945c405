// The data of the HTML page: what its script shows beyond the summary and the findings.
#pragma once

#include <cstddef>
#include <iosfwd>

#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// What stays out of the page, so that it can say so. The rule knows the report alone: the same report gives the same
/// page.
struct PageLimits {
  /// Up to this many bytes all observations are embedded whole.
  std::size_t all_whole_bytes = std::size_t{1} << 20;
  /// Beyond, those of cases that are not pass are whole, worst first, up to this many bytes; others are shortened.
  std::size_t whole_bytes = std::size_t{4} << 20;
  /// A longer observation is never whole.
  std::size_t longest_bytes = std::size_t{64} << 10;
};

struct LeftOut {
  /// Cases whose observation is shortened, by status.
  std::size_t pass = 0;
  std::size_t others = 0;
};

/// Writes two <script> elements that run nothing: "lt-data" (JSON) and "lt-observations" (one JSON text a line).
LeftOut write_page_data(const Report& report, const Annotations& annotations, const PageLimits& limits,
                        std::ostream& out);

}  // namespace lt_audit
