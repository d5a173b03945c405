// What a comparison reads of an observation, taken from its JSON text without a tree of it: a report has tens of
// thousands, and in nearly all of them nothing changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lt_audit/observation.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// Views into the observation of a case, which must outlive them.
struct Measures {
  /// The first result of the heuristic as JSON text; empty when there is none.
  std::string_view first_result;
  std::uint64_t results = 0;
  /// Elements of D were compared.
  bool numbers_verified = false;
  /// Facts (lt_audit/measured_facts.h); empty when absent.
  std::string_view d_bits, cublas_d_bits;
  std::optional<double> lt_us, cublas_us, spread;
};

Measures measures_of(const CaseResult& result);

/// The result of the heuristic in this text; nothing for a text that is none.
std::optional<HeuristicResult> heuristic_result(std::string_view json);

/// The same observation with what measures_of reads alone.
std::string without_the_rest(const CaseResult& result);

}  // namespace lt_audit
