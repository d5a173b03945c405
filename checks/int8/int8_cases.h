// The cases of check "int8" and the words that its files share.
#pragma once

#include <vector>

#include "lt_audit/check.h"

namespace lt_audit::int8 {

/// Parameter: what an application can change about the case, the first part of its reason codes.
inline constexpr const char* kSubject = "subject";
/// Parameter: how the case is run, one of the words below; absent for one run of the engine.
inline constexpr const char* kSteps = "steps";
/// Values planted element by element: sums at the edge of 32 bits, and what INT8 must round and saturate.
inline constexpr const char* kPlanted = "planted";
/// Parameter of kPlanted: how many results of the heuristic are asked for; absent for all.
inline constexpr const char* kRequested = "requested";
/// Parameter of kPlanted: alpha in place of the problem's, which knows quarters alone.
inline constexpr const char* kAlpha = "alpha";
/// Every result of the heuristic, with the engine's exact inputs.
inline constexpr const char* kAllResults = "all-results";
/// The time without algorithm and workspace beside that of the first result with a workspace.
inline constexpr const char* kNullTime = "null-time";
/// The problem at many sizes, one after the other.
inline constexpr const char* kSizes = "sizes";
/// Parameter of kSizes: "few" or "many".
inline constexpr const char* kHowMany = "how_many";
/// Orders that MatmulProblem cannot say, laid out by the check.
inline constexpr const char* kImmaOrder = "imma-order";
/// Parameter of kImmaOrder: the order of B, as the header spells it.
inline constexpr const char* kOrder = "order_b";

/// Facts: what is wrong in a case whose inputs are planted, and a clause with figures.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact of kPlanted: what a sum outside of 32 bits becomes: "wraps", "saturates", "mixed" or "other".
inline constexpr const char* kOverflow = "overflow";
/// Fact of kPlanted: to which side INT8 rounds a half: "even", "other" or "both".
inline constexpr const char* kTies = "ties";
/// Fact of kPlanted, INT8 into FP32: "once" when the sum is rounded once, "on the way" when FP32 sums would explain it.
inline constexpr const char* kRounded = "rounded";
/// Facts: how many results of the heuristic were run, and their split-K numbers.
inline constexpr const char* kResults = "results";
inline constexpr const char* kSplitK = "split_k";

/// Facts of kNullTime, microseconds on the GPU.
inline constexpr const char* kFirstUs = "first_result_us";
inline constexpr const char* kNullUs = "null_algorithm_us";
/// Facts of kSizes: how many sizes are accepted and right and how many refused, and some of the latter.
inline constexpr const char* kAccepted = "accepted";
inline constexpr const char* kRefused = "refused";
inline constexpr const char* kRefusedSizes = "refused_sizes";

std::vector<Case> cases(const Target& target, Depth depth);
/// Planted values with the application's own layout and scalars, and all algorithms; nothing for other products.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// Runs a case.
Observation observe(Session& session, const Case& the_case);

}  // namespace lt_audit::int8
