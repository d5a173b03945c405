// The scenarios of check "workspace" and what their steps share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../scenario_check.h"
#include "lt_audit/prepared_matmul.h"

namespace lt_audit::workspace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Parameter of the steps: workspace limits in bytes, ascending, separated by blanks.
inline constexpr const char* kLimits = "limits";

/// Fact: what is wrong, a defect of workspace.cpp; and its figures, a clause.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact: which algorithm and which workspace the last call had.
inline constexpr const char* kDetail = "detail";

std::span<const Scenario> scenarios();
const Scenario& scenario_named(std::string_view id);

/// Bytes of A, B, C and D, by which large products are run less often.
std::int64_t operand_bytes(const MatmulProblem& problem);

/// "0 bytes", "64 KiB", "49168 bytes".
std::string bytes_text(std::uint64_t bytes);

/// Keeps the first defect of an observation.
void set_defect(Observation& observation, const char* defect, std::string detail);

/// An algorithm and what the query said of it.
struct Chosen {
  cublasLtMatmulAlgo_t algo{};
  HeuristicResult read;

  /// "algo 66, tile 18, stages 36, split-K 4, asking for 49168 bytes".
  std::string text() const;
};
bool same_algorithm(const cublasLtMatmulAlgo_t& left, const cublasLtMatmulAlgo_t& right);

/// The workspace that a call is handed.
struct Part {
  void* begin = nullptr;
  std::size_t bytes = 0;
};

/// Waits for the stream of the matmul. False, and the end of the observation set, when its context is lost.
bool synchronize(Session& session, const PreparedMatmul& matmul, Observation& observation);

/// One call with this workspace on freshly filled memory, verified; what the call changes in the rest of the problem's
/// workspace counts as changed outside of it. True when the call is accepted and right. A null algorithm is the
/// library's own choice.
bool run_verified(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, const Part& part,
                  Observation& observation);

// workspace_limits.cpp
Observation steps(Session& session, const Case& the_case);
Observation implicit_algorithm(Session& session, const Case& the_case);
// workspace_repeats.cpp
Observation repeat(Session& session, const Case& the_case);
// workspace_calls.cpp
Observation exact(Session& session, const Case& the_case);
Observation larger(Session& session, const Case& the_case);
Observation too_small(Session& session, const Case& the_case);
Observation null_needed(Session& session, const Case& the_case);
Observation null_unneeded(Session& session, const Case& the_case);
Observation null_sized(Session& session, const Case& the_case);
Observation unaligned_needed(Session& session, const Case& the_case);
Observation unaligned_unneeded(Session& session, const Case& the_case);

}  // namespace lt_audit::workspace
