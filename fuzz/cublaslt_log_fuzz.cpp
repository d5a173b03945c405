// Any bytes as a cuBLASLt log. What the importer remembers of earlier lines must not change what a line is: each line
// alone counts as it does within the whole.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/importers/recorded_calls.h"

namespace {

struct Counts {
  std::uint64_t calls = 0;
  std::uint64_t damaged = 0;
};

Counts counts_of(std::string_view text) {
  lt_audit::RecordedCalls recorded;
  const auto importer = lt_audit::make_cublaslt_log_importer();
  recorded.feed(*importer, text);
  Counts counts{0, recorded.damages.size()};
  for (std::size_t i = 0; i < recorded.calls.size(); ++i) {
    if (!recorded.calls[i].second.lone_query) counts.calls += recorded.counts[i];
  }
  return counts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = counts_of(text);
  Counts lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = counts_of(text.substr(0, end));
    lines.calls += line.calls;
    lines.damaged += line.damaged;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (lines.calls != whole.calls || lines.damaged != whole.damaged) std::abort();
  return 0;
}
