// Every scenario with its rule, its remedy and the claim that it settles.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "streams_scenarios.h"

namespace lt_audit::streams_workspace {
namespace {

using enum Expectation;

constexpr std::string_view kSharing =
    "kernels rely on the workspace being intact until the call has ended, so that calls which share one have to be "
    "serialised (cuBLAS 13.2 documentation, cublasSetWorkspace, section 2.4.8)";
constexpr std::string_view kOwn =
    "cublasLtMatmul uses the workspace that each call hands it (cublasLt.h 13.1.0, lines 1011-1026), the library is "
    "thread safe, and a workspace for each stream gives the same bits at every run (cuBLAS 13.2 documentation, Thread "
    "Safety and Results Reproducibility)";
constexpr std::string_view kUnneeded =
    "workspaceSize of a result is what its algorithm requires (cublasLt.h 13.1.0, lines 2229-2231); that one which "
    "requires none leaves the given workspace alone is documented nowhere";
constexpr std::string_view kStreamOrder =
    "cublasLtMatmul runs in the given stream (cublasLt.h 13.1.0, lines 1011-1026), and the work of a stream runs in "
    "the order of its calls (CUDA Programming Guide, Streams)";
constexpr std::string_view kEventOrder =
    "work behind cudaStreamWaitEvent waits for what the event was recorded behind (cuda_runtime_api.h 13.0, "
    "cudaStreamWaitEvent), and the legacy stream is ordered with blocking streams (CUDA Programming Guide, Default "
    "Stream)";
constexpr std::string_view kNoOrder =
    "nothing orders the work of two streams without an event (CUDA Programming Guide, Streams)";
constexpr std::string_view kScalarOrder =
    "scalars in device memory are read when the stream reaches the call, and may be changed by what follows it (cuBLAS "
    "13.2 documentation, Scalar Parameters, section 2.1.5)";
constexpr std::string_view kProgrammatic =
    "a kernel under programmatic dependent launch may start early, and waits for the work in front of it before it "
    "touches memory (CUDA Programming Guide, Programmatic Dependent Launch and Synchronization)";

constexpr std::string_view kOneEach =
    "give each stream a workspace of its own, or order the calls by events, or exclude algorithms that need one with "
    "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 0";
constexpr std::string_view kReport = "call cudaStreamSynchronize between, and report it to NVIDIA with the repro line";
constexpr std::string_view kReportBits =
    "set CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK to CUBLASLT_REDUCTION_SCHEME_NONE, which leaves split-K out, and "
    "report it to NVIDIA with the repro line";
constexpr std::string_view kPlainLaunch =
    "put an event or a plain kernel launch between the matmul and its neighbour, as NVIDIA advises for KI-072, and "
    "report it to NVIDIA with the repro line";
constexpr std::string_view kOneByOne =
    "unset CUDA_LAUNCH_BLOCKING and compare again: where streams run one after the other, the other cases of this "
    "check prove nothing";

/// What scenarios of one group share.
struct Group {
  const char* name;
  const char* title;
  Expectation expectation;
  std::string_view rule;
  std::string_view remedy;
  Observation (*run)(Session&, const Case&);
  const char* claims = "";
};

using Parameters = std::map<std::string, std::string>;

class Table {
 public:
  void add(const Group& group, std::string id, Parameters parameters) {
    rows_.push_back({std::move(id), group.name, group.title, group.expectation, std::string(group.rule),
                     std::string(group.remedy), group.run, Nature::plain, group.claims, std::move(parameters)});
  }
  std::vector<Scenario> take() { return std::move(rows_); }

 private:
  std::vector<Scenario> rows_;
};

Parameters lanes(const char* streams, const char* workspace, const char* rounds, const char* order = "none",
                 const char* handles = "one") {
  return {{kStreams, streams}, {kWorkspace, workspace}, {kRounds, rounds},
          {kOrder, order},     {kHandles, handles},     {kAlgorithms, "some"}};
}
Parameters with_algorithms(Parameters parameters, const char* which) {
  parameters[kAlgorithms] = which;
  return parameters;
}

void add_shared(Table& table) {
  const char* const two = "non-blocking non-blocking";
  Group shared{"shared",  "One workspace used on two streams at once", may_refuse, kSharing, kOneEach, together,
               "C5=fails"};
  table.add(shared, "shared.two-streams", lanes(two, "shared", "20"));
  table.add(shared, "shared.two-streams.long", with_algorithms(lanes(two, "shared", "200"), "all"));
  table.add(shared, "shared.two-handles", lanes(two, "shared", "20", "none", "each"));
  table.add(shared, "shared.priorities", lanes("high low", "shared", "20"));
  table.add(shared, "shared.per-thread", lanes("per-thread non-blocking", "shared", "20"));
  shared.run = in_threads;
  table.add(shared, "shared.two-threads",
            with_algorithms({{kWorkspace, "shared"}, {kStreams, "per-thread"}, {kRounds, "20"}}, "some"));
  shared.run = together;
  // One that needs no workspace has nothing to mix up.
  shared.claims = "";
  table.add(shared, "shared.first-algorithm", with_algorithms(lanes(two, "shared", "20"), "first"));
  const Group unneeded{"unneeded", "One workspace on two streams at once, with algorithms that need none",
                       may_refuse, kUnneeded,
                       kOneEach,   together};
  table.add(unneeded, "unneeded.two-streams", lanes(two, "unneeded", "5"));
  const Group ordered{"ordered", "One workspace used by one call after the other", must_work, kSharing, kReport,
                      together};
  table.add(ordered, "ordered.one-stream", lanes("non-blocking same", "shared", "8", "stream"));
  table.add(ordered, "ordered.events", lanes(two, "shared", "8", "events"));
  table.add(ordered, "ordered.legacy", lanes("blocking blocking", "shared", "5", "legacy"));
}

void add_own(Table& table) {
  const char* const two = "non-blocking non-blocking";
  Group own{"own", "Streams with workspaces of their own", must_work, kOwn, kReportBits, together, "C4=fails"};
  table.add(own, "own.two-streams", lanes(two, "own", "8"));
  table.add(own, "own.two-streams.long", with_algorithms(lanes(two, "own", "100"), "all"));
  table.add(own, "own.two-handles", lanes(two, "own", "5", "none", "each"));
  table.add(own, "own.eight-streams",
            lanes("non-blocking non-blocking non-blocking non-blocking non-blocking non-blocking non-blocking "
                  "non-blocking",
                  "own", "3"));
  table.add(own, "own.priorities", lanes("high low", "own", "5"));
  table.add(own, "own.blocking", lanes("blocking non-blocking", "own", "5"));
  table.add(own, "own.per-thread", lanes("per-thread non-blocking", "own", "5"));
  table.add(own, "own.legacy", lanes("legacy non-blocking", "own", "5"));
  table.add(own, "own.null", lanes("null blocking", "own", "5"));
  table.add(own, "own.first-algorithm", with_algorithms(lanes(two, "own", "10"), "first"));
  own.run = in_threads;
  table.add(own, "own.two-threads",
            with_algorithms({{kWorkspace, "own"}, {kStreams, "per-thread"}, {kRounds, "5"}}, "some"));
}

void add_order(Table& table) {
  const Group inputs{"inputs",  "An input that is written right before a matmul, and overwritten right after it",
                     must_work, kStreamOrder,
                     kReport,   inputs_in_order};
  for (const char* kind : {"non-blocking", "blocking", "high", "low", "legacy", "null", "per-thread"}) {
    table.add(inputs, std::string("inputs.") + kind,
              {{kStreams, kind}, {kNeighbour, "copy"}, {kRounds, "2"}, {kAlgorithms, "some"}});
  }
  const Group across{"across",  "An input that another stream writes in an order with the matmul",
                     must_work, kEventOrder,
                     kReport,   inputs_across_streams};
  const auto written = [](const char* streams, const char* order) {
    return with_algorithms({{kStreams, streams}, {kNeighbour, "copy"}, {kRounds, "2"}, {kOrder, order}}, "some");
  };
  table.add(across, "across.events", written("non-blocking non-blocking", "events"));
  table.add(across, "across.events.priorities", written("low high", "events"));
  table.add(across, "across.events.per-thread", written("non-blocking per-thread", "events"));
  table.add(across, "across.legacy-first", written("legacy blocking", "legacy"));
  table.add(across, "across.legacy-last", written("blocking legacy", "legacy"));
  table.add(across, "across.per-thread", written("null per-thread", "legacy"));
  const Group control{"control",  "A matmul beside another stream that nothing orders it with",
                      may_refuse, kNoOrder,
                      kOneByOne,  no_order_between_streams};
  table.add(control, "control.no-event",
            with_algorithms({{kStreams, "non-blocking non-blocking"}, {kNeighbour, "copy"}, {kRounds, "1"}}, "first"));
  const Group scalars{"scalars", "alpha in device memory that is changed right before a matmul, and right after it",
                      must_work, kScalarOrder,
                      kReport,   scalars_in_order};
  table.add(scalars, "scalars.copy",
            with_algorithms({{kStreams, "non-blocking"}, {kNeighbour, "copy"}, {kRounds, "2"}}, "some"));
  const Group chain{"chain",   "Matmuls in one stream that each add to the same D with the same workspace",
                    must_work, kStreamOrder,
                    kReport,   workspace_in_order};
  table.add(chain, "chain", with_algorithms({{kStreams, "non-blocking"}, {kRounds, "8"}}, "some"));
}

void add_programmatic(Table& table) {
  const auto kernel = [](const char* rounds) {
    return with_algorithms({{kStreams, "non-blocking"}, {kNeighbour, "kernel"}, {kRounds, rounds}}, "some");
  };
  const Group inputs{
      "pdl-inputs", "An input that a kernel under programmatic launch writes right before a matmul, and right after",
      must_work,    kProgrammatic,
      kPlainLaunch, inputs_in_order};
  table.add(inputs, "pdl.inputs", kernel("4"));
  const Group scalars{
      "pdl-scalars", "alpha that a kernel under programmatic launch writes right before a matmul, and right after",
      must_work,     kProgrammatic,
      kPlainLaunch,  scalars_in_order};
  table.add(scalars, "pdl.scalars", kernel("4"));
  const Group workspace{
      "pdl-workspace", "A workspace that a kernel under programmatic launch overwrites between two matmuls",
      must_work,       kProgrammatic,
      kPlainLaunch,    workspace_in_order};
  table.add(workspace, "pdl.workspace", kernel("4"));
  table.add(inputs, "pdl.inputs.long", with_algorithms(kernel("100"), "all"));
  table.add(scalars, "pdl.scalars.long", with_algorithms(kernel("100"), "all"));
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const auto all = [] {
    Table table;
    add_shared(table);
    add_own(table);
    add_order(table);
    add_programmatic(table);
    return table.take();
  }();
  return all;
}

const Scenario& scenario_named(std::string_view id) {
  const auto all = scenarios();
  return *std::find_if(all.begin(), all.end(), [id](const Scenario& scenario) { return scenario.id == id; });
}

}  // namespace lt_audit::streams_workspace
