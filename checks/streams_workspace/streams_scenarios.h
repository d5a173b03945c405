// The scenarios of check "streams-workspace" and the steps that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../scenario_check.h"
#include "lt_audit/check.h"
#include "lt_audit/owners.h"
#include "lt_audit/prepared_matmul.h"
#include "lt_audit/session.h"

namespace lt_audit::streams_workspace {

/// All scenarios, in the order of the page.
std::span<const Scenario> scenarios();
const Scenario& scenario_named(std::string_view id);

/// Parameters of a case.
/// Kinds of streams, one for each product, separated by blanks: non-blocking, blocking, high, low (priorities), legacy
/// (cudaStreamLegacy), null, per-thread; "same" is the first one again.
inline constexpr const char* kStreams = "streams";
inline constexpr const char* kWorkspace = "workspace";    ///< own, shared, unneeded (shared by algorithms without need)
inline constexpr const char* kOrder = "order";            ///< none, stream (one for all), events, legacy
inline constexpr const char* kHandles = "handles";        ///< one, each
inline constexpr const char* kNeighbour = "neighbour";    ///< copy (cudaMemcpyAsync), kernel (programmatic launch)
inline constexpr const char* kRounds = "rounds";          ///< at most so many for each algorithm
inline constexpr const char* kAlgorithms = "algorithms";  ///< first, some (up to three of different kinds), all

/// Fact: what is wrong beside the numbers, a defect of streams_workspace.cpp; and its figures, a clause.
inline constexpr const char* kDefect = "defect";
inline constexpr const char* kDefectDetail = "defect_detail";
/// Fact: which algorithm, and how many rounds of how many were wrong, a clause.
inline constexpr const char* kDetail = "detail";

/// The parameter's value, empty when the case has none.
std::string parameter(const Case& the_case, const char* name);
std::vector<std::string> words_of(const std::string& text);
void set_defect(Observation& observation, const char* defect, std::string detail);

/// A stream of one of the kinds; the special ones are owned by nobody.
struct StreamOfKind {
  Stream owner;
  cudaStream_t stream = nullptr;
};
StreamOfKind make_stream(const CudaApi& cuda, const std::string& kind);
Event make_event(const CudaApi& cuda);
LtHandle make_handle(const Platform& platform);
DeviceMemory make_memory(const CudaApi& cuda, std::size_t bytes);

/// Bytes of A, B, C and D, by which large products are run less often.
std::int64_t operand_bytes(const MatmulProblem& problem);
/// Rounds of a case: what it asks for, fewer for a large product, and one on the simulator, where all are alike.
int rounds_of(const Session& session, const Case& the_case);

/// An algorithm and what the query said of it.
struct Chosen {
  cublasLtMatmulAlgo_t algo{};
  HeuristicResult read;

  /// "algo 66, tile 18, stages 36, split-K 4, asking for 49168 bytes".
  std::string text() const;
};
enum class Need { any, some, none };
/// The algorithms of a query that need a workspace, or none, best first, as many as the case says. Throws NotRun when
/// there is none.
std::vector<Chosen> choose(Session& session, const Case& the_case, PreparedMatmul& matmul, Need need,
                           Observation& observation);

/// Leaves out what has counters alone in its workspace: two kernels that wait for one counter may wait forever. NotRun
/// when nothing is left.
void keep_out_of_hangs(std::vector<Chosen>& chosen, const MatmulProblem& problem);

/// Waits for everything. False, and the end of the observation set, when the context is lost.
bool synchronize(Session& session, Observation& observation);

/// Verifies, and keeps the first verification that is not right, else the last one. True when this one is right.
bool verify_into(Observation& observation, PreparedMatmul& matmul, const MatmulProblem& expected);

/// What D holds after so many calls that each add a product to it; the problem itself when they do not add.
MatmulProblem after_calls(const MatmulProblem& problem, int calls);
/// How often the product may be called in a row with a D that tells whether all calls were right. Twice on the
/// simulator, where all calls are alike.
int calls_in_a_row(const Session& session, const MatmulProblem& problem, int wanted);

// streams_together.cpp: products on several streams at once.
Observation together(Session& session, const Case& the_case);
// streams_threads.cpp: each in a thread of its own, on the stream of its thread.
Observation in_threads(Session& session, const Case& the_case);
// streams_order.cpp: what comes before a matmul in its stream, and after it.
Observation inputs_in_order(Session& session, const Case& the_case);
Observation inputs_across_streams(Session& session, const Case& the_case);
Observation no_order_between_streams(Session& session, const Case& the_case);
Observation scalars_in_order(Session& session, const Case& the_case);
Observation workspace_in_order(Session& session, const Case& the_case);

}  // namespace lt_audit::streams_workspace
