// The scenarios of check "in-place", its cases, and what the steps share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../scenario_check.h"
#include "lt_audit/prepared_matmul.h"

namespace lt_audit::in_place {

/// Parameter of the overlaps: which input D overlaps, "a", "b" or "c", and how many bytes behind D it begins.
inline constexpr const char* kInput = "input";
inline constexpr const char* kShift = "shift_bytes";
/// Parameter of the split-K cases: CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK.
inline constexpr const char* kMask = "reduction_mask";
/// Parameters of the calls without a C layout: which function, and what it gets in place of the layout.
inline constexpr const char* kCall = "call";
inline constexpr const char* kLayout = "layout";

/// Fact: what is wrong, a defect of in_place.cpp; and its figures, a clause.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact: which algorithm and which content the last call had.
inline constexpr const char* kDetail = "detail";

std::span<const Scenario> scenarios();
const Scenario& scenario_named(std::string_view id);

std::vector<Case> cases(const Target& target, Depth depth);
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// Keeps the first defect of an observation.
void set_defect(Observation& observation, const char* defect, std::string detail);

std::size_t bytes_of_span(const MatrixShape& shape);
/// Device memory to the host and back; the stream is the matmul's and is waited for.
std::vector<std::byte> fetch(Session& session, const PreparedMatmul& matmul, const void* from, std::size_t bytes);
void send(Session& session, const PreparedMatmul& matmul, void* to, const std::vector<std::byte>& bytes);
/// Calls `visit` with offset and length in bytes of each contiguous line of elements of the matrix.
void for_each_line(const MatrixShape& shape, const std::function<void(std::size_t, std::size_t)>& visit);

/// Waits for the stream of the matmul. False, and the end of the observation set, when its context is lost.
bool synchronize(Session& session, const PreparedMatmul& matmul, Observation& observation);

/// One call on freshly filled memory, recorded and waited for. What a refused call left behind is looked at; true when
/// it was accepted and memory may be verified.
bool call_on(Session& session, PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, const CallOperands& operands,
             Observation& observation);

/// An algorithm of the heuristic and what was read of it.
struct Chosen {
  cublasLtMatmulAlgo_t algo{};
  HeuristicResult read;
};
/// Describes the problem and asks for its algorithms, both recorded; those that may be run, at most `most`.
std::vector<Chosen> algorithms_of(Session& session, PreparedMatmul& matmul, int most, Observation& observation);
/// One algorithm after the other while `run` says that it was right. The stages left are those of the last.
void for_each_algorithm(const std::vector<Chosen>& algorithms, Observation& observation,
                        const std::function<bool(const Chosen&)>& run);

// in_place_calls.cpp
Observation by_engine(Session& session, const Case& the_case);
Observation every_algorithm(Session& session, const Case& the_case);
Observation one_layout(Session& session, const Case& the_case);
Observation null_c(Session& session, const Case& the_case);
Observation null_c_with_beta(Session& session, const Case& the_case);
Observation null_layout(Session& session, const Case& the_case);
// in_place_contents.cpp
Observation unread_c(Session& session, const Case& the_case);
Observation unread_c_by_all(Session& session, const Case& the_case);
Observation alpha_zero(Session& session, const Case& the_case);
// in_place_overlaps.cpp
Observation overlap(Session& session, const Case& the_case);
Observation shared_inputs(Session& session, const Case& the_case);
Observation c_in_a_unread(Session& session, const Case& the_case);

}  // namespace lt_audit::in_place
