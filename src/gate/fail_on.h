// The threshold that run and gate share.
#pragma once

namespace lt_audit {

/// The least status that makes the exit code 1.
enum class FailOn { fail, warn, none };

}  // namespace lt_audit
