#include "gate/glob.h"

#include <cstddef>

namespace lt_audit {

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t at_pattern = 0;
  std::size_t at_text = 0;
  // The last star and how much it has eaten: only that one is ever tried again.
  std::size_t star = std::string_view::npos;
  std::size_t eaten = 0;
  while (at_text < text.size()) {
    if (at_pattern < pattern.size() && pattern[at_pattern] == '*') {
      star = at_pattern++;
      eaten = at_text;
    } else if (at_pattern < pattern.size() && (pattern[at_pattern] == '?' || pattern[at_pattern] == text[at_text])) {
      ++at_pattern;
      ++at_text;
    } else if (star != std::string_view::npos) {
      at_pattern = star + 1;
      at_text = ++eaten;
    } else {
      return false;
    }
  }
  while (at_pattern < pattern.size() && pattern[at_pattern] == '*') ++at_pattern;
  return at_pattern == pattern.size();
}

}  // namespace lt_audit
