// The cases of check "fp8-scaling" and the words that its files share.
#pragma once

#include <vector>

#include "lt_audit/check.h"

namespace lt_audit::fp8_scaling {

/// Parameter: what an application can change about the case, the first part of its reason codes.
inline constexpr const char* kSubject = "subject";
/// Parameter: how the case is run, one of the words below; absent for one run of the engine.
inline constexpr const char* kSteps = "steps";
inline constexpr const char* kLayout = "layout";
inline constexpr const char* kMoved = "moved-pointer";
inline constexpr const char* kNull = "null-pointer";
inline constexpr const char* kHost = "host-pointer";
inline constexpr const char* kZero = "zero-factor";
inline constexpr const char* kAccumulation = "accumulation";
inline constexpr const char* kOrder = "order";
inline constexpr const char* kBlockScaled = "block-scaled";
inline constexpr const char* kAuxScale = "aux-scale";
/// Parameters of sequences: which scale or amax pointer ("a", "b", "c", "d", "amax"; several in a row), how far it lies
/// behind a 256-byte boundary, and the memory it is in ("pageable", "pinned").
inline constexpr const char* kOperand = "operand";
inline constexpr const char* kOffset = "offset";
inline constexpr const char* kMemory = "memory";

/// Facts: what is wrong in a case that a sequence judges itself, and a clause with figures.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact of kLayout: the layouts of the table that give the right D, in words.
inline constexpr const char* kLayoutsRight = "layouts_right";
/// Facts of kAccumulation: of the small terms beside a large one, how many the sum has lost.
inline constexpr const char* kLostPrecise = "lost_terms";
inline constexpr const char* kLostFast = "lost_terms_fast_accum";
/// Fact of kOrder: in which order the factors were multiplied, "(a*sum)*b", "(a*b)*sum", ...
inline constexpr const char* kScaleOrder = "scale_order";

std::vector<Case> cases(const Target& target, Depth depth);
/// What the application's own scale factors do; nothing for products without FP8.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// Runs a case.
Observation observe(Session& session, const Case& the_case);

}  // namespace lt_audit::fp8_scaling
