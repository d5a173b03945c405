// Any bytes as a waiver file in both syntaxes: refused with a usage error, or waivers that a report can be held
// against.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gate/gate.h"
#include "lt_audit/error.h"

namespace {

lt_audit::Report small_report() {
  lt_audit::Report report;
  report.complete = true;
  report.target.device_facts.name = "NVIDIA H200";
  report.target.cublaslt.major = 13;
  lt_audit::CaseResult result;
  result.id = "f16.a";
  result.problem = "m=64,n=64,k=64,a=f16";
  result.status = lt_audit::Status::fail;
  result.reason = "late";
  report.checks.push_back({"alignment", lt_audit::Status::fail, "", 0, {result}});
  return report;
}

void read(std::string_view text, lt_audit::WaiverFormat format) {
  static const lt_audit::Report kReport = small_report();
  try {
    const auto waivers = lt_audit::waivers_from_text(text, "w", format);
    for (const auto& waiver : waivers) {
      const bool says_something =
          !waiver.check.empty() || !waiver.cause.empty() || !waiver.the_case.empty() || !waiver.problem.empty();
      if (!says_something || waiver.reason.empty() || waiver.expires().size() != 10) std::abort();
    }
    const auto result = lt_audit::decide(kReport, nullptr, waivers, {});
    if (result.counts.waived + result.counts.closing != 1 || result.waivers.size() != waivers.size()) std::abort();
  } catch (const lt_audit::AuditError& error) {
    if (error.kind() != lt_audit::ErrorKind::usage) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text, lt_audit::WaiverFormat::toml);
  read(text, lt_audit::WaiverFormat::json);
  return 0;
}
