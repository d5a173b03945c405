// TOML to a tree. The only file that includes toml++.
#include <stdexcept>

// toml++ 3.3 asserts what a file can break (a line "[[" alone), and without assertions goes on regardless: here they
// are errors in every build. The name comes from toml++, which takes the definition only where NDEBUG is unset.
#undef NDEBUG
namespace {
constexpr void require_of_toml(bool holds) {
  if (!holds) throw std::logic_error("an assertion of toml++");
}
}  // namespace
#define TOML_ASSERT(expr) require_of_toml(static_cast<bool>(expr))
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// Deeper nesting is no waiver, and the parser is recursive.
#define TOML_MAX_NESTED_VALUES 32

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>
#include <utility>

#include "gate/waiver_parts.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse(std::size_t line, const std::string& what) {
  throw AuditError(ErrorKind::usage, line == 0 ? what : fmt::format("line {}: {}", line, what));
}

std::size_t line_of(const toml::source_region& region) { return region.begin.line; }

std::string two_digits(unsigned value) { return fmt::format("{:02}", value); }

ordered_json tree_of(const toml::node& node, int depth);

ordered_json tree_of_table(const toml::table& table, int depth) {
  ordered_json tree = ordered_json::object();
  for (const auto& [key, value] : table) tree[std::string(key.str())] = tree_of(value, depth + 1);
  return tree;
}

ordered_json tree_of_array(const toml::array& array, int depth) {
  ordered_json tree = ordered_json::array();
  for (const auto& value : array) tree.push_back(tree_of(value, depth + 1));
  return tree;
}

ordered_json tree_of(const toml::node& node, int depth) {
  if (depth > kWaiverDepth) refuse(line_of(node.source()), "is nested too deeply for a waiver");
  if (const auto* table = node.as_table()) return tree_of_table(*table, depth);
  if (const auto* array = node.as_array()) return tree_of_array(*array, depth);
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return std::int64_t{integer->get()};
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  if (const auto* date = node.as_date()) {
    const auto& day = date->get();
    return fmt::format("{:04}-{}-{}", unsigned{day.year}, two_digits(day.month), two_digits(day.day));
  }
  refuse(line_of(node.source()), "a time stands here; the date of a waiver is a day, such as 2027-01-31");
}

/// toml++ 3.3 (Debian 12) has no limit for the parts of a dotted key (a.a.a...), and each is a table inside a table,
/// destroyed recursively.
class DottedKeyGuard {
 public:
  void check(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '\n') ++line_;
      if (closing_.empty()) {
        at += begin_quote(text, at);
        if (closing_.empty()) count(c);
      } else if (c == '\\' && closing_.front() == '"') {
        if (at + 1 < text.size() && text[at + 1] == '\n') ++line_;
        ++at;
      } else if (c == '\n' && closing_.size() == 1) {
        closing_ = {};
      } else if (text.substr(at, closing_.size()) == closing_) {
        at += closing_.size() - 1;
        closing_ = {};
      }
    }
  }

 private:
  /// Characters of the opening quote beyond its first.
  std::size_t begin_quote(std::string_view text, std::size_t at) {
    if (in_comment_) {
      in_comment_ = text[at] != '\n';
      return 0;
    }
    in_comment_ = text[at] == '#';
    if (text[at] != '"' && text[at] != '\'') return 0;
    const std::string_view triple = text[at] == '"' ? "\"\"\"" : "'''";
    closing_ = text.substr(at, 3) == triple ? triple : triple.substr(0, 1);
    return closing_.size() - 1;
  }

  void count(char c) {
    if (in_comment_) return;
    if (c == '.' && ++dots_ > kWaiverDepth) refuse(line_, "a key has too many parts for a waiver");
    if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots_ = 0;
  }

  std::size_t line_ = 1;
  int dots_ = 0;
  bool in_comment_ = false;
  std::string_view closing_;
};

EntryLines lines_of(const toml::node& node) {
  EntryLines lines;
  lines.line = line_of(node.source());
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) lines.keys[std::string(key.str())] = line_of(value.source());
  }
  return lines;
}

}  // namespace

WaiverTree waiver_tree_from_toml(std::string_view text) {
  DottedKeyGuard().check(text);
  try {
    const toml::table table = toml::parse(text);
    WaiverTree tree;
    tree.root = tree_of_table(table, 0);
    if (const auto* array = table["waiver"].as_array()) {
      for (const auto& entry : *array) tree.entries.push_back(lines_of(entry));
    }
    return tree;
  } catch (const std::logic_error&) {
    refuse(0, "is not valid TOML: a table or key breaks off in the middle");
  } catch (const toml::parse_error& error) {
    refuse(line_of(error.source()), fmt::format("is not valid TOML: {}", error.description()));
  }
}

}  // namespace lt_audit
