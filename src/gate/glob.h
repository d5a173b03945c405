// Globs of untrusted files: `*` and `?` alone, in time of pattern times text. fnmatch takes exponential time for a
// pattern with many stars.
#pragma once

#include <string_view>

namespace lt_audit {

/// Whether the whole text matches. `*` stands for any characters, also none and also a slash; `?` for one byte.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace lt_audit
