// Escaping for the HTML page.
#include "report/html_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "report/utf8.h"

namespace lt_audit {
namespace {

/// A foreign text could be a megabyte long; the JSON report has it whole.
constexpr std::size_t kLongestText = 4000;

std::string shortened(std::string_view text) {
  // Four bytes a character at most: what is longer in bytes may still be short enough.
  std::string clean = printable(text.substr(0, 16 * kLongestText));
  if (clean.size() <= kLongestText && text.size() <= 16 * kLongestText) return clean;
  const std::string_view prefix = text_prefix(clean, kLongestText);
  if (prefix.size() == clean.size() && text.size() <= 16 * kLongestText) return clean;
  return std::string(prefix) + "…";
}

/// The escape that keeps a character out of a <script>; empty for one that may stay.
std::string_view script_escape(char c) {
  switch (c) {
    case '<':
      return "\\u003c";
    case '>':
      return "\\u003e";
    case '&':
      return "\\u0026";
    default:
      return {};
  }
}

/// U+2028 and U+2029, which are E2 80 A8 and E2 80 A9.
bool is_line_separator(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "\xE2\x80" && at + 2 < text.size() && (text[at + 2] == '\xA8' || text[at + 2] == '\xA9');
}

}  // namespace

std::string html_escaped(std::string_view text) {
  const std::string clean = shortened(text);
  std::string result;
  result.reserve(clean.size() + 16);
  for (const char c : clean) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

void append_script_text(std::string& out, std::string_view text) {
  const std::string clean = shortened(text);
  out += '"';
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const char c = clean[at];
    const std::string_view escape = script_escape(c);
    if (!escape.empty()) {
      out += escape;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_line_separator(clean, at)) {
      out += clean[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_script_line(std::string& out, std::string_view json) {
  const std::string clean = valid_utf8(json);
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const char c = clean[at];
    const std::string_view escape = script_escape(c);
    if (!escape.empty()) {
      out += escape;
    } else if (c == '\n' || c == '\r' || c == '\0') {
      out += ' ';
    } else if (is_line_separator(clean, at)) {
      out += clean[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      out += c;
    }
  }
}

bool is_web_link(std::string_view link) {
  constexpr std::array<std::string_view, 2> kSchemes = {"http://", "https://"};
  std::string lower(link);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool known = std::any_of(kSchemes.begin(), kSchemes.end(), [&](std::string_view scheme) {
    return lower.size() > scheme.size() && lower.compare(0, scheme.size(), scheme) == 0;
  });
  return known && std::all_of(link.begin(), link.end(), [](char c) {
           return c > 0x20 && c < 0x7F && c != '"' && c != '\'' && c != '<' && c != '>' && c != '`' && c != '\\';
         });
}

}  // namespace lt_audit
