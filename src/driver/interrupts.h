// SIGINT and SIGTERM as something that poll() can wait for.
#pragma once

#include <string>

namespace lt_audit {

/// While one exists, SIGINT and SIGTERM set a flag and make fd() readable, and SIGPIPE is ignored (a dead worker's pipe
/// is an error code, not the end of the audit). Several may exist at once, in several threads: all see the same signal.
/// The last one puts the former handlers back.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable once a signal came; never read it.
  int fd() const;
  /// "SIGINT" or "SIGTERM"; empty while none came.
  std::string received() const;
};

}  // namespace lt_audit
