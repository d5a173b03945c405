// The cases of check "heuristic-validity" and the words that its files share.
#pragma once

#include <string_view>
#include <vector>

#include "lt_audit/check.h"

namespace lt_audit::heuristic_validity {

/// Parameter that says what a case does with the results of the query.
inline constexpr std::string_view kKind = "kind";
/// Kinds: run every returned algorithm; one returned algorithm used again elsewhere; a call that must be refused.
inline constexpr std::string_view kEveryAlgorithm = "every-algorithm";
inline constexpr std::string_view kRestored = "restored";
inline constexpr std::string_view kOtherProcess = "other-process";
inline constexpr std::string_view kOtherStreams = "other-streams";
inline constexpr std::string_view kOtherBuffers = "other-buffers";
inline constexpr std::string_view kNullAlgorithm = "null-algorithm";
inline constexpr std::string_view kNoneRequested = "none-requested";
inline constexpr std::string_view kWorkspaceWithheld = "workspace-withheld";
inline constexpr std::string_view kUnusedResults = "unused-results";

/// Parameter: results asked of the heuristic.
inline constexpr std::string_view kRequested = "requested";

std::vector<Case> cases(const Target& target, Depth depth);

/// Every algorithm that the heuristic returns for this problem.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// The kind of a case, kEveryAlgorithm when it names none.
std::string_view kind_of(const Case& the_case);

/// Runs a case as its kind says (heuristic_steps.cpp).
Observation observe(Session& session, const Case& the_case);

/// Fact that names what is wrong with the list of results itself, before any of it ran: the reason code of the verdict.
inline constexpr const char* kDefect = "defect";
/// Fact with the measured values behind the defect, a clause.
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact that names the algorithm that the verification is about.
inline constexpr const char* kAlgorithm = "algorithm";

}  // namespace lt_audit::heuristic_validity
