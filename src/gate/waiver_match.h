// Which waiver covers which case of a report, and which waivers have had their day.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gate/waivers.h"
#include "lt_audit/report.h"

namespace lt_audit {

enum class WaiverState {
  used,        ///< covers cases
  expired,     ///< matches cases, but its last day is over: covers nothing
  not_needed,  ///< what it matches passes now
  unused,      ///< matches nothing in the report
  elsewhere,   ///< of another platform, GPU or version, or its cases did not run here
};
std::string_view name_of(WaiverState state);

struct WaiverUse {
  WaiverState state = WaiverState::unused;
  /// Cases that fail or warn and that it matches.
  std::uint64_t cases = 0;
};

/// The waivers of one case, by position; kNone = none.
struct CaseCover {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  /// The first that is in force.
  std::size_t waiver = kNone;
  /// The first that has expired, where none is in force.
  std::size_t expired = kNone;
};

struct WaiverMatches {
  /// As the waivers.
  std::vector<WaiverUse> uses;
  /// As the checks and cases of the report.
  std::vector<std::vector<CaseCover>> covers;
};

/// Only cases that fail or warn are covered: an error is no finding but work that the audit could not do. `today` in
/// UTC.
WaiverMatches match_waivers(const Report& report, std::span<const Waiver> waivers, std::chrono::sys_days today);

}  // namespace lt_audit
