// Decoding of UTF-8, after the table of well-formed byte sequences (Unicode 15, table 3-7).
#include "report/utf8.h"

#include <algorithm>

namespace lt_audit {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xC0U) == 0x80U;
}

/// Bytes of the well-formed sequence at `at`; 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !is_continuation(text, at + 1)) return 0;
  if (first < 0xE0) return 2;
  const unsigned second = byte_at(text, at + 1);
  if (!is_continuation(text, at + 2)) return 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  const bool out_of_range = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return out_of_range || !is_continuation(text, at + 3) ? 0 : 4;
}

unsigned code_point(std::string_view text, std::size_t at, std::size_t length) {
  if (length == 1) return byte_at(text, at);
  unsigned value = byte_at(text, at) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) value = (value << 6U) | (byte_at(text, at + i) & 0x3FU);
  return value;
}

bool is_control(unsigned point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x200E || point == 0x200F;
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    result += length == 0 ? kReplacement : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string printable(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const unsigned point = length == 0 ? 0xFFFD : code_point(text, at, length);
    if (point == '\n' || point == '\t' || point == '\r') {
      result += ' ';
    } else if (!is_control(point)) {
      result += length == 0 ? kReplacement : text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size(); ++at) width += is_continuation(text, at) ? 0 : 1;
  return width;
}

std::string_view text_prefix(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (is_continuation(text, at)) continue;
    if (seen++ == width) break;
  }
  return text.substr(0, at);
}

}  // namespace lt_audit
