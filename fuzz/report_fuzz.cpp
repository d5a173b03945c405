// Any bytes as a report: refused with a usage error, or a report that text, JSON and the gate can take.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "gate/gate.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace {

/// No control character but line ends reaches a terminal.
void require_printable(const std::string& text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) std::abort();
  }
}

void use(const lt_audit::Report& report) {
  std::ostringstream text;
  lt_audit::TextOptions options;
  options.verbose = true;
  lt_audit::write_text(report, options, text);
  require_printable(text.str());
  std::ostringstream json;
  lt_audit::write_json(report, json);
  // What was written is read again, and is the same to a gate: no finding is new or gone.
  const lt_audit::Report again = lt_audit::report_from_text(json.str());
  lt_audit::GateOptions gate;
  gate.fail_on = lt_audit::FailOn::warn;
  const auto result = lt_audit::decide(again, &report, {}, gate);
  if (result.counts.closing != 0 || result.counts.gone != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    use(lt_audit::report_from_text(std::string(reinterpret_cast<const char*>(data), size)));
  } catch (const lt_audit::AuditError& error) {
    if (error.kind() != lt_audit::ErrorKind::usage) std::abort();
  }
  return 0;
}
