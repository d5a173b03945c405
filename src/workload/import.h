// Logs of applications to a workload.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lt_audit {

/// What became of one file.
struct ImportedFile {
  std::string name;
  std::uint64_t lines = 0;
  /// Lines by the format that claimed them.
  std::map<std::string, std::uint64_t, std::less<>> claimed;
  std::uint64_t calls = 0;
  std::uint64_t damaged = 0;
};

struct ImportResult {
  Workload workload;
  std::vector<ImportedFile> files;
};

/// Reads files one after the other, each once; "-" is standard input, and a gzip file is recognised by its content.
/// Memory is bounded by the number of distinct problems. Throws AuditError (usage) for a file that cannot be read, or
/// of which nothing was understood.
ImportResult import_files(const std::vector<std::string>& names, std::istream& standard_input);

/// The same for text in memory (a pasted line), under the name "(text)"; nothing understood is an empty workload.
ImportResult import_text(std::string_view text);

}  // namespace lt_audit
