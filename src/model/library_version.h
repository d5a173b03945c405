// What a known issue or a waiver is matched against: the version of cuBLASLt and the compute capability, as a user may
// write them.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "lt_audit/target.h"

namespace lt_audit {

/// major.minor.patch of cuBLASLt; not that of the CUDA toolkit, whose minor differs.
struct LibraryVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::string text() const;
  // clang-tidy 14 takes the 0 that a defaulted comparison compares with for a null pointer.
  friend auto operator<=>(const LibraryVersion&, const LibraryVersion&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Exactly "13.1.0", as the data has it. Throws AuditError (usage).
LibraryVersion exact_version_from(std::string_view text);

/// "13.1.0", "13.1", "13.1.0.3" (the build counts for nothing) or what cublasLtGetVersion returns: "130100", and
/// "11502" for 11.5.2. Throws AuditError (usage).
LibraryVersion version_from(std::string_view text);

/// "9.0", "90", "sm_90" or "sm_90a" to 90. Throws AuditError (usage).
int compute_capability_from(std::string_view text);

/// 90 to "9.0".
std::string compute_capability_text(int compute_capability);

/// Where a call runs.
struct IssuePlace {
  LibraryVersion version;
  /// 90 for sm_90.
  int compute_capability = 0;
  /// "13.1.0/sm_90".
  std::string text() const;
};

/// The place of a target. Facts that it does not have are those of lt_audit::scope_of, so that cases and promises are
/// of one place.
IssuePlace place_of(const Target& target);

}  // namespace lt_audit
