// Any bytes as lines of PyTorch's messages: no crash, no exception, and every claimed line is a call or damaged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/importers/recorded_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto importer = lt_audit::make_pytorch_importer();
  lt_audit::RecordedCalls recorded;
  recorded.feed(*importer, text);
  std::size_t claimed = 0;
  for (auto rest = text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    claimed += importer->claims(line) ? 1 : 0;
    rest.remove_prefix(line.size() == rest.size() ? rest.size() : line.size() + 1);
  }
  if (recorded.calls.size() + recorded.damages.size() != claimed) std::abort();
  return 0;
}
