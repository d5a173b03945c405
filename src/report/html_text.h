// Text that goes into the HTML page. Every field of a report is foreign: nothing reaches the page past these functions.
#pragma once

#include <string>
#include <string_view>

namespace lt_audit {

/// For element content and for attribute values in double quotes: printable() with & < > " ' escaped. Past 4000
/// characters the rest is an ellipsis.
std::string html_escaped(std::string_view text);

/// Appends the text as a JSON string that may stand inside <script>: valid UTF-8, no '<', '>' or '&' (so no end tag and
/// no comment), no U+2028 or U+2029. Control characters are left out, line ends become blanks, as in printable(); past
/// 4000 characters the rest is an ellipsis.
void append_script_text(std::string& out, std::string_view text);

/// Compact JSON from elsewhere on one line of a <script>: the same characters escaped, which only strings may hold; raw
/// line ends become blanks. The text need not be valid JSON: what is not stays one line.
void append_script_line(std::string& out, std::string_view json);

/// Whether a link of a report may become a link of the page: http or https, printable ASCII without blanks and quotes.
bool is_web_link(std::string_view link);

}  // namespace lt_audit
