// Any bytes as lines of XLA's HLO: no crash, no exception, and no call whose sizes are out of bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/importers/recorded_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto importer = lt_audit::make_xla_importer();
  lt_audit::RecordedCalls recorded;
  recorded.feed(*importer, text);
  constexpr std::int64_t kLargest = std::int64_t{1} << 48;
  for (const auto& [line, call] : recorded.calls) {
    const auto& p = call.problem;
    for (const auto value : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.ldd, p.workspace_bytes}) {
      if (value < 0 || value > kLargest) std::abort();
    }
    for (const auto& matrix :
         {lt_audit::shape_a(p), lt_audit::shape_b(p), lt_audit::shape_c(p), lt_audit::shape_d(p)}) {
      const bool row = matrix.order == CUBLASLT_ORDER_ROW;
      if (matrix.ld < (row ? matrix.cols : matrix.rows) || matrix.span() < 0) std::abort();
    }
  }
  return 0;
}
