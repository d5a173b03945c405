// UTF-8 for what comes from outside: library logs, environment variables and files of others are not trusted to be
// valid, and what is printed must not steer a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lt_audit {

/// The text with every byte that is no valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// valid_utf8 without control characters (C0, DEL, C1 and the bidirectional overrides); tabs and line ends become
/// blanks.
std::string printable(std::string_view text);

/// Code points of a valid UTF-8 text: the columns that it takes, for texts without wide or combining characters.
std::size_t text_width(std::string_view text);

/// The first `width` code points, never a part of one.
std::string_view text_prefix(std::string_view text, std::size_t width);

}  // namespace lt_audit
