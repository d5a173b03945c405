// Padding, wrapping and the colours of the status words.
#include "report/text_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "report/utf8.h"

namespace lt_audit {
namespace {

/// A foreign text without a blank could be a megabyte long.
constexpr std::size_t kLongestText = 4000;

std::string_view color_of(Status status) {
  switch (status) {
    case Status::pass:
      return "\x1b[32m";
    case Status::warn:
      return "\x1b[33m";
    case Status::fail:
      return "\x1b[31m";
    case Status::error:
      return "\x1b[35m";
    case Status::skip:
      return "";
  }
  return "";
}

std::size_t missing(std::string_view text, std::size_t width) {
  const std::size_t used = text_width(text);
  return used < width ? width - used : 0;
}

}  // namespace

std::size_t paragraph_width(const TextOptions& options) {
  return static_cast<std::size_t>(std::clamp(options.columns, 40, 120));
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(missing(text, width), ' ');
}

std::string right_aligned(std::string_view text, std::size_t width) {
  return std::string(missing(text, width), ' ') + std::string(text);
}

std::string fitted(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  return width == 0 ? std::string() : std::string(text_prefix(text, width - 1)) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  const std::string clean = fitted(printable(text), kLongestText);
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t end = std::min(clean.find(' ', at), clean.size());
    const std::string word = clean.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && text_width(line) + 1 + text_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

void write_labelled(std::string_view label, std::string_view text, std::size_t indent, std::size_t label_width,
                    std::size_t columns, std::ostream& out) {
  const std::size_t hanging = indent + label_width;
  std::string front = std::string(indent, ' ') + padded(label, label_width);
  for (const std::string& line : wrapped(text, columns > hanging + 20 ? columns - hanging : 20)) {
    out << front << line << '\n';
    front.assign(hanging, ' ');
  }
}

std::string colored(std::string_view word, Status status, bool color) {
  const std::string_view code = color ? color_of(status) : "";
  return code.empty() ? std::string(word) : fmt::format("{}{}\x1b[0m", code, word);
}

std::string status_word(Status status, bool color, std::size_t width) {
  const std::string_view word = name_of(status);
  return colored(word, status, color) + std::string(missing(word, width), ' ');
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string seconds_text(double seconds) { return fmt::format("{:.1f} s", seconds); }

}  // namespace lt_audit
