// The calls that a pasted line may stand for: what its format does not say, tried with the values that are plausible.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/pasted_call.h"
#include "lt_audit/observation.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// The status of the stage that decided: matmul's, or what refused before it; "not run" or "unknown" without one.
std::string deciding_status(const Observation& observation);

/// One call that the line may stand for, and what it takes for granted.
struct CallVariant {
  std::string what;
  MatmulProblem problem;
};

/// At most 24, the most plausible first: the call as it was read, then one thing at a time that the line leaves open
/// and that decides (epilogue, types, workspace limit, alignment of each pointer, told to the heuristic or not). The
/// call alone when the line says it all.
std::vector<CallVariant> variants_of(const PastedCall& pasted);

/// What came of one variant.
struct VariantResult {
  std::string status;
  Outcome outcome = Outcome::correct;
};

/// The results of an audit of the variants' problems, in order.
std::vector<VariantResult> results_of(const Report& report);

/// The first that fails with the status that the line reports, or that fails at all when it reports none; nothing when
/// no variant does.
std::optional<std::size_t> first_that_fails(const PastedCall& pasted, const std::vector<VariantResult>& results);

/// A table: each variant, the status it got, and whether that is the one that the line reports; below it the problem
/// text of the first that fails.
void write_variants(const PastedCall& pasted, const std::vector<CallVariant>& variants,
                    const std::vector<VariantResult>& results, std::ostream& out);

}  // namespace lt_audit
