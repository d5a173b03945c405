// The cases of check "cublas-parity" and the words that its files share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/measured_facts.h"
#include "lt_audit/prepared_matmul.h"

namespace lt_audit::cublas_parity {

/// Parameters: what kind of products a case stands for, in the routing table one row with all shapes of one route.
inline constexpr const char* kClass = "class";
inline constexpr const char* kShape = "shape";
/// Parameter: how the product is put to cuBLAS; absent for cublasGemmEx with the defaults of a handle.
inline constexpr const char* kForm = "cublas";
inline constexpr std::string_view kByType = "by-type";
inline constexpr std::string_view kByTypeTf32 = "by-type-tf32";
inline constexpr std::string_view kOwnWorkspace = "own-workspace";
/// Id of the case that reads the modes of a new handle.
inline constexpr std::string_view kDefaults = "defaults";

/// Facts. Times are the best of several, in microseconds of GPU time for one product.
inline constexpr const char* kAlgorithm = "algorithm";
inline constexpr const char* kBits = "bits";
inline constexpr const char* kCublasUs = kCublasUsFact;
inline constexpr const char* kLtUs = kLtUsFact;
/// Time of cuBLASLt over that of cuBLAS.
inline constexpr const char* kRatio = "time_ratio";
/// A ratio above it is reported; below it, it is a row of the routing table and no more.
inline constexpr double kReportedRatio = 1.25;
/// How far the median of the times lies above the best, the larger of both libraries: 0.02 is two per cent.
inline constexpr const char* kSpread = kSpreadFact;
/// One of the three verdicts on speed below, or kNotTimed.
inline constexpr const char* kSpeed = "speed";
inline constexpr std::string_view kLtFaster = "cuBLASLt faster";
inline constexpr std::string_view kCublasFaster = "cuBLAS faster";
inline constexpr std::string_view kWithinNoise = "within noise";
inline constexpr std::string_view kNotTimed = "not timed";
/// A result of the heuristic that is right and faster than the first one, a clause with figures.
inline constexpr const char* kFasterResult = "faster_result";
/// "cublas", "cublaslt", "either", or "neither" when no library gives the product; and why, without figures.
inline constexpr const char* kRoute = "route";
inline constexpr const char* kRouteReason = "route_reason";
/// Of the defaults: modes that are not the documented ones, a clause.
inline constexpr const char* kChanged = "changed";

std::vector<Case> cases(const Target& target, Depth depth);
/// The comparison for one product of an application; none when cuBLAS cannot express it.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

CublasForm form_of(const Case& the_case);

/// True when cuBLAS took the product and everything that it left behind is right.
bool cublas_is_right(const Observation& observation);
/// What cuBLAS did, as if it were the matmul: the same reading of a verification as for cublasLtMatmul.
Observation cublas_as_matmul(const CublasObservation& cublas);
/// What cuBLAS left behind in one word, `refused` when it took nothing.
Outcome outcome_of_cublas(const Observation& observation);
/// True when cuBLASLt took the product and nothing wrong was seen.
bool lt_is_right(const Observation& observation);

/// Runs a case (parity_steps.cpp).
Observation observe(Session& session, const Case& the_case);

/// Where the product belongs, from what was seen: the facts kRoute and kRouteReason.
void set_route(Observation& observation);

}  // namespace lt_audit::cublas_parity
