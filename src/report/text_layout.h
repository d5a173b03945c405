// Lines of text fitted to a terminal: padding, wrapping, numbers with their words. Widths are code points.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/verdict.h"
#include "report/formats.h"

namespace lt_audit {

/// The width that paragraphs are set in: what was asked for, but never too narrow for a word nor too wide to be read.
std::size_t paragraph_width(const TextOptions& options);

std::string padded(std::string_view text, std::size_t width);
std::string right_aligned(std::string_view text, std::size_t width);
/// Cut to `width` with an ellipsis when it is longer.
std::string fitted(std::string_view text, std::size_t width);

/// Printable lines of at most `width`, broken at blanks. A longer word stays whole, so that a path can be copied.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// "LABEL     text", the label padded to `label_width` and set in by `indent`, the lines of the text one below the
/// other. Writes nothing for an empty text.
void write_labelled(std::string_view label, std::string_view text, std::size_t indent, std::size_t label_width,
                    std::size_t columns, std::ostream& out);

/// The word in the colour of a status when asked for: the only place where colour comes from.
std::string colored(std::string_view word, Status status, bool color);

/// The status word padded to `width`.
std::string status_word(Status status, bool color, std::size_t width = 0);

/// "1 case", "24 cases".
std::string counted(std::uint64_t count, std::string_view noun);
/// "0.6 s".
std::string seconds_text(double seconds);

}  // namespace lt_audit
