// The cases of check "batched" and the words that its files share.
#pragma once

#include <vector>

#include "lt_audit/check.h"

namespace lt_audit::batched {

/// Parameter: what an application can change about the case, the first part of its reason codes.
inline constexpr const char* kSubject = "subject";
/// Parameter: how the case is run, one of the words below; absent for one run of the engine.
inline constexpr const char* kSteps = "steps";

/// Layouts with batch counts that differ: parameter "counts" has those of A, B, C and D, "1 3 3 3".
inline constexpr const char* kUnequalCounts = "unequal-counts";
inline constexpr const char* kCounts = "counts";

/// One or more operands lie a long way apart: parameters "far" ("a", "abc") and "far_stride", in elements, or "reverse"
/// for the packed stride with the opposite sign.
inline constexpr const char* kFar = "far";
inline constexpr const char* kFarStride = "far_stride";
inline constexpr const char* kReverse = "reverse";

/// The matrices of one operand share memory: parameters "shared" ("a", "b" or "d") and "shared_stride", in elements.
inline constexpr const char* kShared = "shared-memory";
inline constexpr const char* kSharedOperand = "shared";
inline constexpr const char* kSharedStride = "shared_stride";

/// Arrays of pointers: parameters "arrays" (the layouts in pointer mode, "abcd") and "members" ("in-order" or
/// "backwards").
inline constexpr const char* kPointers = "pointers";
inline constexpr const char* kArrays = "arrays";
inline constexpr const char* kMembers = "members";
inline constexpr const char* kBackwards = "backwards";

/// Facts: what a sequence found wrong itself, and a clause with figures.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact: what the algorithm's capability attribute says of the batch mode.
inline constexpr const char* kCapability = "capability";

std::vector<Case> cases(const Target& target, Depth depth);
/// An application's batch through arrays of pointers, and with one matrix where an operand is shared.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// Runs a case that has the parameter kSteps.
Observation run_steps(Session& session, const Case& the_case);

}  // namespace lt_audit::batched
