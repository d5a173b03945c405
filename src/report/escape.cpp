// Escaping for XML, Markdown, URIs and workflow commands.
#include "report/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
/// Shows nothing and parts a word, so that GitHub sees no mention, reference or address in it.
constexpr std::string_view kApart = "&#8203;";

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string percent_encoded(std::string_view text, std::string_view kept) {
  std::string result;
  for (const char c : text) {
    if (is_alphanumeric(c) || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

/// `text` with every `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool ends_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  const auto equal = [](char left, char right) { return left == right || left == right + ('a' - 'A'); };
  return std::equal(word.begin(), word.end(), text.end() - static_cast<std::ptrdiff_t>(word.size()),
                    [&](char upper, char c) { return c == upper || equal(c, upper); });
}

/// What follows turns into a link or a mention unless it is parted: "@name", "#12", "GH-12", "http://", "www.".
bool must_part_after(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  switch (text[at]) {
    case '@':
    case '#':
      return true;
    case '-':
      return ends_with_word(before, "GH");
    case '.':
      return ends_with_word(before, "WWW");
    case ':':
      return text.substr(at, 3) == "://";
    default:
      return false;
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  const std::string clean = printable(text);
  std::string result;
  result.reserve(clean.size() + clean.size() / 8);
  for (std::size_t at = 0; at < clean.size(); ++at) {
    switch (clean[at]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        // Also ends "]]>", which must not stand in content.
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default: {
        // U+FFFE and U+FFFF are UTF-8 and no characters of XML.
        const std::string_view three = std::string_view(clean).substr(at, 3);
        if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
          result += kReplacement;
          at += 2;
        } else {
          result += clean[at];
        }
      }
    }
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  const std::string clean = printable(text);
  std::string result;
  result.reserve(clean.size() + clean.size() / 4);
  const auto is_word = [&clean](std::size_t at) { return at < clean.size() && is_alphanumeric(clean[at]); };
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const char c = clean[at];
    // An entity never opens or closes anything (CommonMark 0.31, 2.5), and an underscore inside of a word does not
    // either (6.2). What means something at the start of a line alone is left: the formats put a word in front.
    const bool inside_word = c == '_' && at > 0 && is_word(at - 1) && is_word(at + 1);
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (!inside_word && std::string_view("\\`*_[]#|~@$\"").find(c) != std::string_view::npos) {
      result += fmt::format("&#{};", static_cast<int>(c));
    } else {
      result += c;
    }
    if (must_part_after(clean, at)) result += kApart;
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  const std::string clean = printable(text);
  if (clean.empty()) return {};
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : clean) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  // One blank on both sides is taken away again; without it a backtick at the end would join the fence.
  const bool pad = clean.front() == '`' || clean.back() == '`' || clean.front() == ' ' || clean.back() == ' ';
  const std::string_view blank = pad ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", fence, blank, clean);
}

std::string file_uri(std::string_view name) {
  constexpr std::string_view kKept = "-._~/";
  const std::string clean = printable(name);
  if (clean.empty()) return {};
  if (clean.front() == '/') return "file://" + percent_encoded(clean, kKept);
  const std::filesystem::path path = std::filesystem::path(clean).lexically_normal();
  const bool leaves = path.begin() != path.end() && *path.begin() == "..";
  return percent_encoded(leaves ? path.filename().string() : path.string(), kKept);
}

std::string workflow_message(std::string_view text) {
  // printable() leaves no line end; "%" is the only character left to escape.
  return replaced(printable(text), "%", "%25");
}

std::string workflow_property(std::string_view text) {
  return replaced(replaced(workflow_message(text), ":", "%3A"), ",", "%2C");
}

std::string without_workflow_commands(std::string_view lines) {
  std::string result;
  result.reserve(lines.size());
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    std::string_view line = lines.substr(0, end);
    // The runner looks behind leading white space.
    const std::size_t first = line.find_first_not_of(" \t\r\v\f");
    if (first != std::string_view::npos && line.substr(first, 2) == "::") {
      result += line.substr(0, first);
      result += ": ";
      line.remove_prefix(first + 1);
    }
    result += replaced(std::string(line), "##[", "## [");
    lines.remove_prefix(end);
  }
  return result;
}

}  // namespace lt_audit
