// Every scenario with its rule, its remedy and the claim that it settles.
#include <string>
#include <string_view>
#include <vector>

#include "lifetime_scenarios.h"

namespace lt_audit::handle_lifetime {
namespace {

using enum Expectation;

constexpr std::string_view kThreadSafe =
    "the library is thread safe, also when several threads use one handle (cuBLAS 13.2 documentation, Thread Safety)";
constexpr std::string_view kNoContext =
    "a cuBLASLt handle is not tied to a CUDA context (cuBLAS 13.2 documentation, cublasLtHandle_t), although the text "
    "of cublasLtCreate ties it to the device that is current";
constexpr std::string_view kDestroy =
    "cublasLtDestroy releases the handle and returns SUCCESS, NOT_INITIALIZED or INVALID_VALUE (cuBLAS 13.2 "
    "documentation, cublasLtDestroy); use afterwards is misuse";
constexpr std::string_view kDevice =
    "one handle for each device, and that device is current at each call (cuBLAS 13.2 documentation, cublasLtCreate)";
constexpr std::string_view kStreamContext =
    "a stream belongs to the context that was current at its creation (cuda.h 13.0, cuStreamCreate); what happens "
    "to a call of another context is not documented";
constexpr std::string_view kReset =
    "cudaDeviceReset destroys all allocations, streams and modules of the device (cuda_runtime_api.h 13.0, "
    "cudaDeviceReset); what becomes of a handle is not documented";
constexpr std::string_view kNoStream =
    "a handle has no stream: cublasLtMatmul takes it at each call (cublasLt.h 13.1.0, lines 1011-1026)";

constexpr std::string_view kOneHandle = "make one handle per device and thread at start, and destroy it at the end";
constexpr std::string_view kOwnTheHandle =
    "give the handle one owner that clears its pointer after cublasLtDestroy: the library does not notice the misuse";
constexpr std::string_view kHandlePerContext = "make one handle in each context, and destroy it there";
constexpr std::string_view kHandlePerDevice = "make one handle per device, and call cudaSetDevice before each use";
constexpr std::string_view kHandlePerThread = "make one handle per thread, and report it to NVIDIA with the repro line";
constexpr std::string_view kOwnStreams =
    "use only streams that were made in the context, and on the device, of the call";

/// A row of the table; a scenario of this check is a group of its own.
struct Row {
  const char* id;
  const char* title;
  Expectation expectation;
  std::string_view rule;
  std::string_view remedy;
  Observation (*run)(Session&, const Case&);
  Nature nature = Nature::plain;
  const char* claims = "";
};

std::vector<Scenario> make_scenarios() {
  const std::vector<Row> rows{
      Row{"create-destroy", "Creating and destroying handles", must_work, kDestroy, kOneHandle, create_and_destroy},
      Row{"create-use-destroy", "A new handle for each product", must_work, kDestroy, kOneHandle,
          create_use_and_destroy},
      Row{"many-handles", "64 handles at once", must_work,
          "any number of handles may exist (cuBLAS 13.2 documentation, cublasLtCreate)", kOneHandle, many_handles},
      Row{"one-of-two-destroyed", "A handle after another one was destroyed", must_work, kDestroy, kOneHandle,
          one_of_two_destroyed},
      Row{"cublas-handle", "A cublasHandle_t cast to a cuBLASLt handle", must_work,
          "a cublasHandle_t contains a cuBLASLt handle and may be cast to one (cuBLAS 13.2 documentation, "
          "cublasLtHandle_t)",
          "make a cuBLASLt handle of its own", cublas_handle},
      Row{"two-streams", "One handle on two streams without synchronisation", must_work, kNoStream,
          "synchronise the streams before the handle changes over, or make one handle per stream", two_streams,
          Nature::plain, "C9=fails C4=fails"},
      Row{"threads-one-handle", "16 threads with one handle", must_work, kThreadSafe, kHandlePerThread,
          threads_on_one_handle},
      Row{"threads-own-handles", "16 threads with handles of their own", must_work, kThreadSafe, kHandlePerThread,
          threads_with_own_handles},
      Row{"handed-between-threads", "A handle made, used and destroyed by three threads", must_work, kThreadSafe,
          kHandlePerThread, handed_between_threads},
      Row{"destroyed-beside-threads", "A handle in use while others are destroyed", must_work, kThreadSafe, kOneHandle,
          destroyed_beside_threads},
      Row{"used-in-other-context", "A handle used in another context", must_work, kNoContext, kHandlePerContext,
          used_in_other_context, Nature::disputed},
      Row{"destroyed-in-other-context", "A handle destroyed in another context", must_work, kNoContext,
          kHandlePerContext, destroyed_in_other_context, Nature::disputed, "C8=status:INVALID_VALUE"},
      Row{"created-in-other-context", "A handle made in another context", must_work, kNoContext, kHandlePerContext,
          created_in_other_context, Nature::disputed},
      Row{"used-after-its-context", "A handle used after its context was destroyed", may_refuse, kNoContext,
          kHandlePerContext, used_after_its_context},
      Row{"result-in-other-context", "A heuristic result used in another context", must_work,
          "a result depends on descriptors, device and library version, and on no context (cublasLt.h 13.1.0, "
          "lines 108-115 and 2270-2279)",
          "query again in each context", result_in_other_context, Nature::disputed},
      Row{"used-stream-of-other-context", "A stream that was used in another context", may_refuse, kStreamContext,
          kOwnStreams, used_stream_of_other_context, Nature::plain, "C23=refused"},
      Row{"unused-stream-of-other-context", "A stream that was made, and not used, in another context", may_refuse,
          kStreamContext, kOwnStreams, unused_stream_of_other_context},
      Row{"null-pointers", "Creating into a null pointer, destroying a null handle", must_refuse,
          "INVALID_VALUE (cuBLAS 13.2 documentation, cublasLtCreate and cublasLtDestroy)", kOwnTheHandle,
          null_pointers},
      Row{"null-handle", "A null handle", must_refuse,
          "NOT_INITIALIZED without a handle (cuBLAS 13.2 documentation, cublasLtMatmul)", kOwnTheHandle, null_handle},
      Row{"destroyed-twice", "A handle destroyed twice", must_refuse, kDestroy, kOwnTheHandle, destroyed_twice,
          Nature::isolated},
      Row{"used-after-destroy", "A handle used after it was destroyed", must_refuse, kDestroy, kOwnTheHandle,
          used_after_destroy, Nature::isolated},
      Row{"used-after-destroy-elsewhere", "A handle used after another thread destroyed it", must_refuse, kDestroy,
          kOwnTheHandle, used_after_destroy_elsewhere, Nature::isolated},
      Row{"used-after-device-reset", "A handle used after the device was reset", may_refuse, kReset,
          "destroy handles before cudaDeviceReset, and make new ones after it", used_after_device_reset,
          Nature::isolated},
      Row{"handle-of-other-device", "A handle of another device", must_refuse, kDevice, kHandlePerDevice,
          handle_of_other_device, Nature::plain, "C10=works"},
      Row{"stream-of-other-device", "A stream of another device", must_refuse,
          "a kernel launch into a stream of another device fails (CUDA Programming Guide, Multi-Device System)",
          kOwnStreams, stream_of_other_device},
      Row{"handle-per-device", "A handle for each device", must_work, kDevice, kHandlePerDevice, handle_per_device},
      Row{"devices-in-threads", "Two devices in two threads", must_work, kDevice, kHandlePerDevice, devices_in_threads},
  };
  std::vector<Scenario> made;
  for (const auto& row : rows) {
    made.push_back({row.id,
                    row.id,
                    row.title,
                    row.expectation,
                    std::string(row.rule),
                    std::string(row.remedy),
                    row.run,
                    row.nature,
                    row.claims,
                    {}});
  }
  return made;
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const auto all = make_scenarios();
  return all;
}

}  // namespace lt_audit::handle_lifetime
