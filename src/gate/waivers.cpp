// The meaning of a waiver file. Strict: what is not understood is an error, for a condition that is overlooked would
// waive more than its author meant.
#include "gate/waivers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tuple>

#include "gate/waiver_parts.h"
#include "lt_audit/error.h"
#include "workload/problem_text.h"
#include "workload/problem_values.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;
using Relation = VersionCondition::Relation;

constexpr std::size_t kMaxBytes = 8UL << 20;
constexpr std::size_t kMaxEntries = 10000;
/// Of a reason or a link; patterns and values are shorter.
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxPattern = 1024;

const std::vector<std::string>& entry_keys() {
  static const std::vector<std::string> kKeys{
      "check",    "cause",  "problem", "case", "platform", "gpu", "compute_capability",
      "cublaslt", "reason", "expires", "link"};
  return kKeys;
}

std::string nearest_of(std::string_view word, const std::vector<std::string>& words) {
  const auto near = nearest_word(word, words);
  return near.empty() ? fmt::format("; use one of {}", fmt::join(words, ", "))
                      : fmt::format("; did you mean '{}'?", near);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// "2027-01-31"; nothing when it is no day of the calendar.
std::optional<std::chrono::sys_days> day_from(std::string_view text) {
  const auto number = [text](std::size_t at, std::size_t size) {
    int value = -1;
    const auto* begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + size, value);
    return error == std::errc() && end == begin + size ? value : -1;
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const int year = number(0, 4);
  const int month = number(5, 2);
  const int day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

VersionCondition condition_from(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations{{{">=", Relation::greater_or_equal},
                                                                             {"<=", Relation::less_or_equal},
                                                                             {"==", Relation::equal},
                                                                             {">", Relation::greater},
                                                                             {"<", Relation::less},
                                                                             {"=", Relation::equal}}};
  VersionCondition condition;
  std::string rest = trimmed(text);
  for (const auto& [sign, relation] : kRelations) {
    if (!rest.starts_with(sign)) continue;
    condition.relation = relation;
    rest = trimmed(std::string_view(rest).substr(sign.size()));
    break;
  }
  condition.version = version_from(rest);
  condition.parts = std::count(rest.begin(), rest.end(), '.') == 1 ? 2 : 3;
  return condition;
}

/// One entry of the array "waiver".
class EntryReader {
 public:
  EntryReader(const std::string& file, std::size_t number, const ordered_json& table, const EntryLines& lines)
      : file_(file), number_(number), table_(table), lines_(lines) {}

  Waiver read() {
    if (!table_.is_object()) fail("", "must be a table");
    for (const auto& [key, value] : table_.items()) {
      const auto& keys = entry_keys();
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        fail(key, fmt::format("unknown key '{}'{}", key, nearest_of(key, keys)));
    }
    Waiver waiver;
    waiver.file = file_;
    waiver.entry = number_;
    waiver.line = lines_.line;
    read_what(waiver);
    read_where(waiver);
    read_why(waiver);
    return waiver;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    const auto found = lines_.keys.find(key);
    const std::size_t line = found == lines_.keys.end() ? lines_.line : found->second;
    throw AuditError(ErrorKind::usage, line == 0 ? fmt::format("waiver {}: {}", number_, what)
                                                 : fmt::format("waiver {} (line {}): {}", number_, line, what));
  }

  /// What `read` throws, with the place.
  template <class Read>
  auto at(const std::string& key, const Read& read) const {
    try {
      return read();
    } catch (const AuditError& error) {
      fail(key, fmt::format("'{}' cannot be read: {}", key, error.what()));
    }
  }

  std::string text(const std::string& key, std::size_t most) const {
    const auto found = table_.find(key);
    if (found == table_.end()) return {};
    if (!found->is_string()) fail(key, fmt::format("'{}' must be a text, not {}", key, found->type_name()));
    const auto& value = found->get_ref<const std::string&>();
    if (value.size() > most) fail(key, fmt::format("'{}' is longer than {} bytes", key, most));
    std::string result = trimmed(value);
    if (result.empty()) fail(key, fmt::format("'{}' is empty; leave it out or say something", key));
    return result;
  }

  std::string pattern(const std::string& key) const { return text(key, kMaxPattern); }

  void read_what(Waiver& waiver) const {
    waiver.check = pattern("check");
    waiver.cause = pattern("cause");
    waiver.the_case = pattern("case");
    // No reason code and no name of a check has a dot: this is the id of a finding.
    if (const auto dot = waiver.cause.find('.'); dot != std::string::npos) {
      waiver.cause_check = waiver.cause.substr(0, dot);
      waiver.cause.erase(0, dot + 1);
      if (waiver.cause.empty() || waiver.cause_check.empty())
        fail("cause", "'cause' must be a reason code, or the id of a finding, CHECK.REASON");
    }
    read_problem(waiver);
    const auto says_nothing = [](const std::string& glob) { return glob.find_first_not_of('*') == std::string::npos; };
    if (waiver.problem.empty() && says_nothing(waiver.check) && says_nothing(waiver.cause) &&
        says_nothing(waiver.cause_check) && says_nothing(waiver.the_case)) {
      fail("", "would waive every finding: say which one with check, cause, case or problem");
    }
  }

  void read_problem(Waiver& waiver) const {
    const auto found = table_.find("problem");
    if (found == table_.end()) return;
    if (found->is_string()) {
      const auto given = pattern("problem");
      for (auto& entry : at("problem", [&] { return partial_problem(given); })) waiver.problem.push_back(entry);
      return;
    }
    if (!found->is_object() || found->empty()) {
      fail("problem", "'problem' must be a table such as { a = \"f32\", m = 64 } or a text such as \"a=f32,m=64\"");
    }
    for (const auto& [key, value] : found->items()) {
      waiver.problem.emplace_back(
          key, at("problem", [&, name = key, given = value_text(key, value)] { return canonical_value(name, given); }));
    }
  }

  std::string value_text(const std::string& key, const ordered_json& value) const {
    std::string result;
    if (value.is_string()) result = trimmed(value.get_ref<const std::string&>());
    if (value.is_boolean()) result = value.get<bool>() ? "1" : "0";
    if (value.is_number_unsigned()) result = fmt::to_string(value.get<std::uint64_t>());
    if (value.is_number_integer() && !value.is_number_unsigned()) result = fmt::to_string(value.get<std::int64_t>());
    if (value.is_number_float()) result = fmt::format("{}", value.get<double>());
    if (result.empty() || result.size() > kMaxPattern)
      fail("problem", fmt::format("the value of '{}' in 'problem' must be a text or a number", key));
    return result;
  }

  void read_where(Waiver& waiver) const {
    waiver.platform = pattern("platform");
    const std::vector<std::string> platforms{"gpu", "simulator"};
    if (!waiver.platform.empty() && std::find(platforms.begin(), platforms.end(), waiver.platform) == platforms.end()) {
      fail("platform", fmt::format("'platform' is '{}'{}", waiver.platform, nearest_of(waiver.platform, platforms)));
    }
    waiver.gpu = pattern("gpu");
    if (const auto found = table_.find("compute_capability"); found != table_.end()) {
      const auto given = found->is_number() ? found->dump() : pattern("compute_capability");
      waiver.compute_capability = at("compute_capability", [&] { return compute_capability_from(given); });
    }
    auto range = pattern("cublaslt");
    for (std::string_view rest = range; !rest.empty();) {
      const auto comma = rest.find(',');
      const auto part = rest.substr(0, comma);
      waiver.cublaslt.push_back(at("cublaslt", [&] { return condition_from(part); }));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }

  void read_why(Waiver& waiver) const {
    for (const char* key : {"reason", "expires"}) {
      if (table_.find(key) == table_.end()) {
        fail("", fmt::format("'{}' is missing: each waiver says why it is there and when it ends (expires = "
                             "\"2027-01-31\")",
                             key));
      }
    }
    waiver.reason = text("reason", kMaxText);
    const auto given = pattern("expires");
    const auto day = day_from(given);
    if (!day) fail("expires", fmt::format("'expires' is '{}' and must be a day such as 2027-01-31", given));
    waiver.last_day = *day;
    waiver.link = text("link", kMaxText);
    if (waiver.link.empty()) return;
    const bool known = waiver.link.starts_with("https://") || waiver.link.starts_with("http://");
    const bool plain = std::all_of(waiver.link.begin(), waiver.link.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!known || !plain) fail("link", "'link' must begin with http:// or https:// and hold no blank");
  }

  const std::string& file_;
  std::size_t number_;
  const ordered_json& table_;
  const EntryLines& lines_;
};

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw AuditError(ErrorKind::usage, fmt::format("waivers {}: {}", file, what));
}

std::string read_file(const std::string& path) {
  const auto close = [](std::FILE* file) { static_cast<void>(std::fclose(file)); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) refuse(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  // One byte more than allowed: the path may be a pipe, which has no size.
  std::string text(kMaxBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (text.size() > kMaxBytes) refuse(path, "is larger than 8 MiB, which no waiver file is");
  return text;
}

WaiverFormat format_of(const std::string& path, std::string_view text) {
  if (path.ends_with(".toml")) return WaiverFormat::toml;
  if (path.ends_with(".json")) return WaiverFormat::json;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? WaiverFormat::json : WaiverFormat::toml;
}

std::vector<Waiver> waivers_from_tree(const WaiverTree& tree, const std::string& file) {
  if (!tree.root.is_object()) throw AuditError(ErrorKind::usage, "must be an object with the array \"waiver\"");
  for (const auto& [key, value] : tree.root.items()) {
    if (key == "waiver") continue;
    throw AuditError(ErrorKind::usage, fmt::format("unknown key '{}'; the file holds {} and nothing else", key,
                                                   "[[waiver]] entries (JSON: an array \"waiver\")"));
  }
  std::vector<Waiver> waivers;
  const auto found = tree.root.find("waiver");
  if (found == tree.root.end()) return waivers;
  if (!found->is_array())
    throw AuditError(ErrorKind::usage, "'waiver' must be an array: write [[waiver]] above each entry");
  if (found->size() > kMaxEntries)
    throw AuditError(ErrorKind::usage, fmt::format("has more than {} waivers", kMaxEntries));
  const EntryLines no_lines;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const EntryLines& lines = i < tree.entries.size() ? tree.entries[i] : no_lines;
    waivers.push_back(EntryReader(file, i + 1, (*found)[i], lines).read());
  }
  return waivers;
}

}  // namespace

bool VersionCondition::holds(const LibraryVersion& other) const {
  const auto order = std::tuple(other.major, other.minor, parts < 3 ? 0 : other.patch) <=>
                     std::tuple(version.major, version.minor, parts < 3 ? 0 : version.patch);
  switch (relation) {
    case Relation::equal:
      return std::is_eq(order);
    case Relation::less:
      return std::is_lt(order);
    case Relation::less_or_equal:
      return std::is_lteq(order);
    case Relation::greater:
      return std::is_gt(order);
    case Relation::greater_or_equal:
      return std::is_gteq(order);
  }
  return false;
}

std::string Waiver::expires() const {
  const std::chrono::year_month_day date(last_day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string Waiver::place() const {
  return line > 0 ? fmt::format("{}:{}", file, line) : fmt::format("{}, waiver {}", file, entry);
}

std::vector<Waiver> waivers_from_text(std::string_view text, const std::string& file, WaiverFormat format) {
  try {
    return waivers_from_tree(format == WaiverFormat::toml ? waiver_tree_from_toml(text) : waiver_tree_from_json(text),
                             file);
  } catch (const AuditError& error) {
    refuse(file, error.what());
  }
}

std::vector<Waiver> read_waivers(const std::string& path) {
  const std::string text = read_file(path);
  return waivers_from_text(text, path, format_of(path, text));
}

}  // namespace lt_audit
