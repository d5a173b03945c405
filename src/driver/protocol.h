// What parent and worker say to each other: one JSON object per line, requests on fd 3 of the worker, responses on its
// fd 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "driver/audit.h"
#include "lt_audit/error.h"
#include "lt_audit/observation.h"
#include "matmul/engine.h"

namespace lt_audit {

inline constexpr int kRequestFd = 3;
inline constexpr int kResponseFd = 4;

/// First request: come up like this.
struct StartRequest {
  WorkerOptions worker;
  Selection selection;
  EngineOptions engine;
};

/// Run one case. `check` and `index` count in the plan, which both sides make alike; `id` is the proof that they did.
struct CaseRequest {
  std::uint64_t sequence = 0;
  std::size_t check = 0;
  std::size_t index = 0;
  std::string id;
};

using Request = std::variant<StartRequest, CaseRequest>;

/// Libraries are loaded and the context stands.
struct ReadyResponse {
  Target target;
  /// Why the simulator was taken although the choice was automatic; empty otherwise.
  std::string no_gpu;
  double library_s = 0;
  double context_s = 0;
};

/// Engine and plan are made: the next request is a case, and its time counts.
struct WarmResponse {
  double seconds = 0;
};

/// The worker cannot come up.
struct FailedResponse {
  ErrorKind kind = ErrorKind::cannot_run;
  std::string message;
};

struct ResultResponse {
  std::uint64_t sequence = 0;
  Observation observation;
  /// The context is gone, or a kernel in it hangs; the worker answers nothing more and exits.
  bool lost = false;
};

/// Last response of a worker that was asked to end.
struct ByeResponse {
  MatmulEngine::Profile profile;
};

using Response = std::variant<ReadyResponse, WarmResponse, FailedResponse, ResultResponse, ByeResponse>;

/// The line cannot be what the other side wrote.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line with its line feed. Text that is not UTF-8 is repaired, never refused.
std::string encode(const Request& request);
std::string encode(const Response& response);

/// The inverse. Throw ProtocolError for anything else.
Request decode_request(std::string_view line);
Response decode_response(std::string_view line);

/// Cuts a byte stream into lines.
class LineBuffer {
 public:
  /// A longer line is no response: the parent's memory must not depend on a broken worker.
  static constexpr std::size_t kMaxLine = 64U << 20;

  void append(const char* data, std::size_t size) { bytes_.append(data, size); }
  /// The next complete line without its line feed. Throws ProtocolError for one longer than kMaxLine.
  std::optional<std::string> next();

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
  /// Up to here no line feed was found, so that a long line is not searched again with each piece.
  std::size_t searched_ = 0;
};

}  // namespace lt_audit
