// Waivers: which findings are known and accepted, why, and until when. TOML or JSON, docs/guide/gate.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/library_version.h"

namespace lt_audit {

/// ">=13.0": as many parts of the version are compared as are written, so that "<=13.1" holds for 13.1.2.
struct VersionCondition {
  enum class Relation { equal, less, less_or_equal, greater, greater_or_equal };
  Relation relation = Relation::equal;
  LibraryVersion version;
  /// 2 for "13.1", 3 for "13.1.0".
  int parts = 3;

  bool holds(const LibraryVersion& other) const;
};

/// One entry. An empty pattern stands for anything; at least one of check, cause, case and problem says something.
struct Waiver {
  std::string file;
  /// From 1, in the order of the file.
  std::size_t entry = 0;
  /// Where the entry begins; 0 in JSON.
  std::size_t line = 0;

  /// Globs. A cause is a reason code; one that was written as the id of a finding, CHECK.REASON, has its check beside
  /// it.
  std::string check;
  std::string cause;
  std::string cause_check;
  std::string the_case;
  /// Keys of the problem text with their canonical values.
  std::vector<std::pair<std::string, std::string>> problem;

  /// "gpu", "simulator" or empty.
  std::string platform;
  /// Glob of the device's name.
  std::string gpu;
  /// 90 for sm_90; 0 = any.
  int compute_capability = 0;
  /// All must hold.
  std::vector<VersionCondition> cublaslt;

  std::string reason;
  /// Last day that it holds, UTC.
  std::chrono::sys_days last_day{};
  /// http or https, or empty.
  std::string link;

  /// "2027-01-31".
  std::string expires() const;
  /// "waivers.toml:12" or "waivers.json, waiver 3".
  std::string place() const;
};

enum class WaiverFormat { toml, json };

/// Reads one file: TOML or JSON by its extension, else by its first character. At most 8 MiB, 10,000 entries, depth 32.
/// Throws AuditError (usage) that names file, entry and line, and the nearest key where one is not known.
std::vector<Waiver> read_waivers(const std::string& path);

/// The same of a text; `file` is its name in messages.
std::vector<Waiver> waivers_from_text(std::string_view text, const std::string& file, WaiverFormat format);

}  // namespace lt_audit
