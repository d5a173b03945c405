// Every scenario with its rule, its remedy and the claims that it settles.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph_scenarios.h"

namespace lt_audit::graph_capture {
namespace {

using enum Expectation;

constexpr std::string_view kCaptured =
    "cuBLAS routines can be captured; kernels and the addresses they work on are fixed at capture and memory is read "
    "at each replay (cuBLAS 13.2 documentation, CUDA Graphs Support; CUDA Programming Guide, Stream Capture)";
constexpr std::string_view kHostStructs =
    "descriptors, layouts, preferences and algorithms are host objects that are read during the call (cublasLt.h "
    "13.1.0, lines 117-145): a graph keeps what was set at its capture";
constexpr std::string_view kHostScalars =
    "with CUBLASLT_POINTER_MODE_HOST the values of alpha and beta are captured (cuBLAS 13.2 documentation, CUDA Graphs "
    "Support)";
constexpr std::string_view kDeviceScalars =
    "with device pointer modes alpha and beta are read when the graph runs (cuBLAS 13.2 documentation, CUDA Graphs "
    "Support)";
constexpr std::string_view kCallInside =
    "no document restricts the call during capture; what synchronises the device, or allocates outside of relaxed "
    "mode, invalidates a capture (CUDA Programming Guide, Stream Capture, Prohibited and Unhandled Operations)";
constexpr std::string_view kLegacy =
    "the legacy stream may not be used while a blocking stream of the same context captures (CUDA Programming Guide, "
    "Stream Capture, Prohibited and Unhandled Operations; driver_types.h 13.0, cudaErrorStreamCaptureImplicit)";
constexpr std::string_view kOtherStream =
    "work on a stream that does not capture is not captured (CUDA Programming Guide, Stream Capture); a non-blocking "
    "stream has no implicit dependence on the legacy stream";
constexpr std::string_view kUpdate =
    "cudaGraphExecUpdate takes the parameters of a graph of the same topology, or refuses (CUDA Programming Guide, "
    "Whole Graph Update)";
constexpr std::string_view kWorkspaceAlignment =
    "the workspace is aligned to 256 bytes (cuBLAS 13.2 documentation, cublasLtMatmul; enforced since 12.9.1)";

constexpr std::string_view kRecapture =
    "capture again after each change, compare one replay with an eager call, and report it to NVIDIA with the repro "
    "line";
constexpr std::string_view kKeepAlive = "keep descriptors, layouts and handle alive as long as the graph";
constexpr std::string_view kBeforeCapture =
    "make handles, ask the heuristic and run each product once before the capture begins";
constexpr std::string_view kPassTheStream =
    "pass the capturing stream to cublasLtMatmul; count the nodes of the graph after the capture";
constexpr std::string_view kCheckStatus =
    "check the status of each call inside a capture, and throw the graph away when one was refused";

/// Title, rule and so on of scenarios that differ in their parameters alone.
struct Group {
  const char* name;
  const char* title;
  Expectation expectation;
  std::string_view rule;
  std::string_view remedy;
  Observation (*run)(Session&, const Case&);
};

using Parameters = std::map<std::string, std::string>;

class Table {
 public:
  void add(const Group& group, std::string id, Parameters parameters = {}, const char* claims = "",
           Nature nature = Nature::plain) {
    rows_.push_back({std::move(id), group.name, group.title, group.expectation, std::string(group.rule),
                     std::string(group.remedy), group.run, nature, claims, std::move(parameters)});
  }
  std::vector<Scenario> take() { return std::move(rows_); }

 private:
  std::vector<Scenario> rows_;
};

constexpr std::array kModes{"global", "thread-local", "relaxed"};

void add_replays(Table& table) {
  const Group replayed{"replay", "A captured matmul", must_work, kCaptured, kRecapture, replay};
  table.add(replayed, "replay", {{kMode, "global"}});
  table.add(replayed, "replay.thread-local", {{kMode, "thread-local"}});
  table.add(replayed, "replay.relaxed", {{kMode, "relaxed"}});
  const Group workspace{
      "workspace", "A captured matmul whose workspace changes between replays",  must_work,
      kCaptured,   "give each graph a workspace of its own, and leave it alone", replay_with_workspace};
  table.add(workspace, "workspace");
  const Group many{"many-replays", "Ten replays in a row", must_work, kCaptured, kRecapture, replay_many_times};
  table.add(many, "many-replays");
  const Group parallel{
      "parallel-replays", "Two graphs with workspaces of their own on two streams", must_work,
      kCaptured,          "give each graph operands and a workspace of its own",    replay_in_parallel};
  table.add(parallel, "parallel-replays");
  const Group two{"two-products", "Two matmuls in one capture", must_work, kCaptured, kRecapture, two_products};
  table.add(two, "two-products");
  const Group device{"device-scalars", "alpha in device memory, changed between replays", must_work,
                     kDeviceScalars,   "capture again when alpha or beta changes",        device_scalars};
  table.add(device, "device-scalars");
  const Group update{"exec-update",
                     "An executable graph after cudaGraphExecUpdate",
                     must_work,
                     kUpdate,
                     "instantiate the new graph instead of updating the executable",
                     exec_update};
  table.add(update, "exec-update.alpha", {{kSubject, "alpha"}});
  table.add(update, "exec-update.operands", {{kSubject, "operands"}});
}

void add_descriptors(Table& table) {
  const Group between{"changed-between", "A descriptor that is changed between two captures",
                      must_work,         kHostStructs,
                      kRecapture,        changed_between};
  for (const char* subject : {"epilogue", "bias-pointer", "compute-type", "scale-pointer"}) {
    // Another compute type does not show in the numbers, so it settles nothing.
    const bool shows = std::string_view(subject) != "compute-type";
    table.add(between, fmt::format("changed-between.{}", subject), {{kSubject, subject}}, shows ? "C13=stale" : "");
  }
  const Group alpha_between{"alpha-between", "alpha in host memory, changed between two captures",
                            must_work,       kHostScalars,
                            kRecapture,      changed_between};
  table.add(alpha_between, "changed-between.alpha", {{kSubject, "alpha"}});
  const Group after{"changed-after", "A descriptor that is changed after the capture",
                    must_work,       kHostStructs,
                    kRecapture,      changed_after};
  for (const char* subject : {"epilogue", "bias-pointer", "compute-type", "scale-pointer", "layout", "preference"}) {
    table.add(after, fmt::format("changed-after.{}", subject), {{kSubject, subject}});
  }
  const Group alpha_after{"alpha-after", "alpha in host memory, changed after the capture",   must_work,
                          kHostScalars,  "use a device pointer mode for scalars that change", changed_after};
  table.add(alpha_after, "changed-after.alpha", {{kSubject, "alpha"}});
  const Group scale{"scale-content",
                    "An FP8 scale factor in device memory, changed between replays",
                    must_work,
                    kCaptured,
                    "capture again when a scale factor changes",
                    scale_content};
  table.add(scale, "scale-content", {}, "C15=stale");
  const Group destroyed{"destroyed", "A graph whose descriptors or handle are destroyed before it runs",
                        must_work,   kHostStructs,
                        kKeepAlive,  destroyed_before_replay};
  for (const char* subject : {"descriptor", "layouts", "preference", "handle", "graph", "stream", "everything"}) {
    table.add(destroyed, fmt::format("destroyed.{}", subject), {{kSubject, subject}}, "C14=fails");
  }
}

void add_calls(Table& table) {
  struct Call {
    const char* subject;
    const char* title;
    Expectation expectation;
    const char* claims;
    Nature nature = Nature::plain;
  };
  constexpr std::array kCalls{
      Call{"heuristic", "A heuristic query inside a capture", must_work, "C18=fails"},
      Call{"algo-check", "AlgoCheck inside a capture", must_work, ""},
      Call{"descriptor", "A descriptor made inside a capture", must_work, ""},
      Call{"null-algorithm", "A matmul without an algorithm inside a capture", must_work, ""},
      Call{"create-handle", "cublasLtCreate inside a capture", may_refuse, "C18=fails"},
      Call{"destroy-handle", "cublasLtDestroy inside a capture", may_refuse, ""},
      Call{"create-cublas", "cublasCreate inside a capture", may_refuse, "C18=fails"},
      Call{"first-use", "The first matmul of a process, inside a capture", must_work, "C18=fails", Nature::isolated},
  };
  for (const auto& call : kCalls) {
    const Group group{call.subject, call.title, call.expectation, kCallInside, kBeforeCapture, called_in_capture};
    for (const char* mode : kModes) {
      table.add(group, fmt::format("inside.{}.{}", call.subject, mode), {{kSubject, call.subject}, {kMode, mode}},
                call.claims, call.nature);
    }
  }
  const Group refused{"refused-inside", "A matmul that is refused inside a capture",
                      must_refuse,      kWorkspaceAlignment,
                      kCheckStatus,     refused_in_capture};
  table.add(refused, "refused-inside.alone", {{kSubject, "alone"}});
  table.add(refused, "refused-inside.followed", {{kSubject, "followed"}});
}

void add_streams(Table& table) {
  for (const char* mode : kModes) {
    for (const std::string capturing : {"blocking", "non-blocking"}) {
      for (const std::string on : {"same", "legacy", "per-thread", "blocking", "non-blocking"}) {
        const bool forbidden = on == "legacy" && capturing == "blocking";
        const Group group{on == "same" ? "capturing-stream" : (forbidden ? "legacy-stream" : "other-stream"),
                          on == "same" ? "A matmul on the capturing stream"
                          : forbidden  ? "A matmul on the legacy stream beside a blocking capture"
                                       : "A matmul on another stream than the capturing one",
                          on == "same" ? must_work : (forbidden ? must_refuse : may_refuse),
                          on == "same" ? kCaptured : (forbidden ? kLegacy : kOtherStream),
                          kPassTheStream,
                          on_stream};
        table.add(group, fmt::format("stream.{}.{}.{}", mode, capturing, on),
                  {{kMode, mode}, {kCapturing, capturing}, {kOn, on}}, on == "legacy" ? "C17=refused" : "");
      }
    }
  }
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const auto all = [] {
    Table table;
    add_replays(table);
    add_descriptors(table);
    add_calls(table);
    add_streams(table);
    return table.take();
  }();
  return all;
}

}  // namespace lt_audit::graph_capture
