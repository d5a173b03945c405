// The library's own logger, line by line, for the case that is running.
#pragma once

#include <functional>
#include <vector>

#include "lt_audit/observation.h"
#include "lt_audit/platform.h"

namespace lt_audit {

/// Switches the logger of the platform's library on and collects what it says. The library's callback carries no user
/// pointer, so there is one collector per process.
class LogCapture {
 public:
  /// `live` also gets each line as it comes (--trace); may be empty.
  LogCapture(const LtApi& lt, std::function<void(const LogLine&)> live);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  void clear();
  /// Reasons and hints since clear: what explains a refusal. Trace and API lines repeat what the observation has.
  std::vector<LogLine> take();

 private:
  const LtApi& lt_;
};

}  // namespace lt_audit
