// hipBLASLt's logs from an untrusted file: whatever the bytes, no crash, and sizes whose spans fit 64 bits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/importers/recorded_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lt_audit::RecordedCalls recorded;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  recorded.feed(*lt_audit::make_hipblaslt_importer(), text);
  for (const auto& [line, call] : recorded.calls) {
    // UndefinedBehaviorSanitizer reports the overflow of a span.
    for (const auto& shape :
         {shape_a(call.problem), shape_b(call.problem), shape_c(call.problem), shape_d(call.problem)}) {
      if (shape.rows < 0 || shape.cols < 0 || shape.ld < shape.rows || shape.span() < 0) std::abort();
    }
    if (line == 0 || call.api.empty()) std::abort();
  }
  return 0;
}
