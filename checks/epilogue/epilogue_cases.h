// The cases of check "epilogue" and the words that its files share.
#pragma once

#include <vector>

#include "lt_audit/check.h"

namespace lt_audit::epilogue {

/// Parameter: what an application can change about the case, the first part of its reason codes.
inline constexpr const char* kSubject = "subject";
/// Parameter: how the case is run, one of the words below; absent for one run of the engine.
inline constexpr const char* kSteps = "steps";
inline constexpr const char* kSpecialValues = "special-values";
inline constexpr const char* kBiasRounding = "bias-rounding";
inline constexpr const char* kUnusedPointer = "unused-pointer";
/// Parameter of kUnusedPointer: "bias" or "aux".
inline constexpr const char* kPointer = "pointer";

/// Facts: what is wrong in a case whose inputs are planted, and a clause with figures.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact of kBiasRounding: numbers of the heuristic's results that round before the bias is added.
inline constexpr const char* kRoundedFirst = "rounded_first";
/// Fact of kSpecialValues: what an activation makes of -0, "-0", "0" or "both".
inline constexpr const char* kNegativeZero = "negative_zero";

std::vector<Case> cases(const Target& target, Depth depth);
/// Special values through the application's own epilogue, and where its product rounds; nothing for other products.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// Runs a case.
Observation observe(Session& session, const Case& the_case);

}  // namespace lt_audit::epilogue
