// From data/known-issues.json (data/known-issues.schema.json) to values. Strict: what is not understood is an error,
// for a condition that is overlooked would make an issue match where it is not.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "known_issues/known_issue.h"
#include "lt_audit/error.h"
#include "report/json_fields.h"
#include "workload/problem_text.h"

namespace lt_audit {

namespace embedded {
extern const std::string_view data_known_issues;
}  // namespace embedded

namespace {

using nlohmann::json;
using Object = Fields<json>;

constexpr std::string_view kSchema = "lt-audit/known-issues/2";

template <class Enum>
struct Word {
  Enum value;
  std::string_view name;
};

constexpr std::array<Word<Concern>, 3> kConcerns{
    {{Concern::problem, "problem"}, {Concern::use, "use"}, {Concern::other, "other"}}};
constexpr std::array<Word<SourcesSay>, 3> kAnswers{
    {{SourcesSay::yes, "yes"}, {SourcesSay::maybe, "maybe"}, {SourcesSay::no, "no"}}};
constexpr std::array<Word<SymptomKind>, 10> kSymptoms{{
    {SymptomKind::wrong_result, "wrong_result"},
    {SymptomKind::out_of_bounds, "out_of_bounds"},
    {SymptomKind::illegal_access, "illegal_access"},
    {SymptomKind::refused, "refused"},
    {SymptomKind::hang, "hang"},
    {SymptomKind::crash, "crash"},
    {SymptomKind::slow, "slow"},
    {SymptomKind::accepted_though_invalid, "accepted_though_invalid"},
    {SymptomKind::leak, "leak"},
    {SymptomKind::other, "other"},
}};

template <class Enum, std::size_t Count>
std::string_view word_of(const std::array<Word<Enum>, Count>& words, Enum value) {
  const auto* const found =
      std::find_if(words.begin(), words.end(), [value](const Word<Enum>& word) { return word.value == value; });
  return found == words.end() ? std::string_view("unknown") : found->name;
}

std::string hint(const std::string& word, const std::vector<std::string>& words) {
  const auto near = nearest_word(word, words);
  return near.empty() ? fmt::format("; use one of {}", fmt::join(words, ", "))
                      : fmt::format("; did you mean '{}'?", near);
}

template <class Enum, std::size_t Count>
Enum value_of(const std::array<Word<Enum>, Count>& words, const std::string& name, const JsonPath& path) {
  std::vector<std::string> names;
  for (const auto& word : words) {
    if (word.name == name) return word.value;
    names.emplace_back(word.name);
  }
  throw_field(path, fmt::format("is '{}'{}", name, hint(name, names)));
}

void require_known_keys(const json& object, const JsonPath& path, std::initializer_list<const char*> keys) {
  if (!object.is_object()) throw_field(path, "must be an object");
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw_field(JsonPath{&path, key}, fmt::format("is not known{}", hint(key, known)));
  }
}

/// What `read` throws, with the place in the file.
template <class Read>
auto at(const JsonPath& path, const Read& read) {
  try {
    return read();
  } catch (const AuditError& error) {
    throw_field(path, fmt::format("cannot be read: {}", error.what()));
  }
}

std::optional<LibraryVersion> bound_from(const Object& range, std::string_view key) {
  if (range.find(key) == nullptr) return std::nullopt;
  const auto text = range.text(key);
  return at(JsonPath{&range.path(), key}, [&] { return exact_version_from(text); });
}

VersionRange range_from(const json& element, const JsonPath& path) {
  require_known_keys(element, path, {"from", "before"});
  const Object range(element, path);
  VersionRange result{bound_from(range, "from"), bound_from(range, "before")};
  if (result.from && result.before && *result.from >= *result.before)
    throw_field(path, "ends before it begins: from must be below before");
  return result;
}

CapabilitySet::Entry capability_from(const std::string& text, const JsonPath& path) {
  const auto point = text.find('.');
  CapabilitySet::Entry entry;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(point, text.size()), entry.major);
  const auto minor = point == std::string::npos ? std::string() : text.substr(point + 1);
  const bool digit = minor.size() == 1 && std::isdigit(static_cast<unsigned char>(minor.front())) != 0;
  if (error != std::errc() || end != text.data() + point || (minor != "x" && !digit))
    throw_field(path, fmt::format("is '{}' and must be a compute capability such as 9.0 or 10.x", text));
  if (digit) entry.minor = minor.front() - '0';
  return entry;
}

CapabilitySet capabilities_from(const Object& issue) {
  CapabilitySet set;
  const auto* value = issue.find("compute_capability");
  const JsonPath path{&issue.path(), "compute_capability"};
  if (value == nullptr) return set;
  require_known_keys(*value, path, {"in", "min"});
  const Object fields(*value, path);
  set.all = false;
  std::vector<std::string> names;
  fields.texts("in", names);
  for (const auto& name : names) {
    // A GPU without a number yet: no compute capability is that one.
    if (name != "rubin") set.in.push_back(capability_from(name, JsonPath{&path, "in"}));
  }
  set.text = fmt::format("{}", fmt::join(names, ", "));
  if (fields.find("min") == nullptr) {
    if (names.empty()) throw_field(path, "must have in or min");
    return set;
  }
  const auto least = capability_from(fields.text("min"), JsonPath{&path, "min"});
  if (!names.empty() || !least.minor) throw_field(path, "must have in, or a min such as 8.0");
  set.least = least.major * 10 + *least.minor;
  set.text = fields.text("min") + " and later";
  return set;
}

void read_witness(const Object& fields, KnownIssue& issue) {
  fields.each("witness", [&](const json& element, const JsonPath& path) {
    if (!element.is_string()) throw_field(path, "must be a problem text");
    issue.witness.push_back(at(path, [&] { return problem_from_text(element.get<std::string>()); }));
  });
  issue.no_witness = fields.text("no_witness");
  if (issue.witness.empty() == issue.no_witness.empty())
    throw_field(fields.path(), "must have witness, or no_witness with the reason");
}

KnownIssue issue_from(const json& element, const JsonPath& path) {
  require_known_keys(element, path,
                     {"id",      "vendor_ids", "summary",     "affected",           "open",         "concerns",
                      "api",     "problem",    "condition",   "compute_capability", "symptom",      "workaround",
                      "witness", "no_witness", "sources_say", "demonstrable_on",    "confirmed_by", "seen_in",
                      "notes",   "source"});
  const Object fields(element, path);
  KnownIssue issue;
  issue.id = fields.required_text("id");
  fields.texts("vendor_ids", issue.vendor_ids);
  issue.summary = fields.required_text("summary");
  fields.each("affected",
              [&](const json& range, const JsonPath& place) { issue.affected.push_back(range_from(range, place)); });
  if (issue.affected.empty()) throw_field(JsonPath{&path, "affected"}, "must have a range of versions");
  issue.open = fields.boolean("open");
  issue.capabilities = capabilities_from(fields);
  issue.concern = value_of(kConcerns, fields.required_text("concerns"), JsonPath{&path, "concerns"});
  fields.texts("api", issue.api);
  fields.each("problem", [&](const json& text, const JsonPath& place) {
    if (!text.is_string()) throw_field(place, "must be a condition as text");
    issue.problem.push_back(at(place, [&] { return Predicate(text.get<std::string>()); }));
  });
  issue.condition = fields.text("condition");
  if (issue.concern != Concern::problem && (!issue.problem.empty() || issue.condition.empty()))
    throw_field(path, "concerns no problem: then condition says what, and problem is empty");
  const auto* symptom = fields.find("symptom");
  if (symptom == nullptr) throw_field(JsonPath{&path, "symptom"}, "is missing");
  const JsonPath symptom_path{&path, "symptom"};
  require_known_keys(*symptom, symptom_path, {"kind", "text"});
  const Object symptom_fields(*symptom, symptom_path);
  issue.symptom = value_of(kSymptoms, symptom_fields.required_text("kind"), JsonPath{&symptom_path, "kind"});
  issue.symptom_text = symptom_fields.required_text("text");
  issue.workaround = fields.text("workaround");
  read_witness(fields, issue);
  std::map<std::string, std::string> answers;
  fields.text_map("sources_say", answers);
  for (const auto& [place, answer] : answers)
    issue.sources_say[place] = value_of(kAnswers, answer, JsonPath{&path, "sources_say"});
  fields.texts("demonstrable_on", issue.demonstrable_on);
  const auto confirmed_by = fields.required_text("confirmed_by");
  issue.confirmed_by_vendor = confirmed_by == "vendor";
  if (!issue.confirmed_by_vendor && confirmed_by != "community")
    throw_field(JsonPath{&path, "confirmed_by"}, "must be vendor or community");
  fields.texts("seen_in", issue.seen_in);
  issue.notes = fields.text("notes");
  fields.texts("source", issue.source);
  if (issue.source.empty()) throw_field(JsonPath{&path, "source"}, "must name a source");
  return issue;
}

/// KI before CR, each by number; nothing for another form.
std::optional<std::tuple<int, int>> order_of(std::string_view id) {
  const bool vendor = id.starts_with("KI-");
  if ((!vendor && !id.starts_with("CR-")) || (vendor && id.size() != 6)) return std::nullopt;
  int number = 0;
  const auto digits = id.substr(3);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 1) return std::nullopt;
  return std::tuple(vendor ? 0 : 1, number);
}

void require_order(const std::vector<KnownIssue>& issues) {
  for (std::size_t i = 0; i < issues.size(); ++i) {
    const auto order = order_of(issues[i].id);
    if (!order) throw AuditError(ErrorKind::usage, fmt::format("'{}' is no id: write KI-nnn or CR-n", issues[i].id));
    if (i > 0 && order <= order_of(issues[i - 1].id))
      throw AuditError(ErrorKind::usage, fmt::format("'{}' stands behind '{}': ids are unique and sorted, KI before CR",
                                                     issues[i].id, issues[i - 1].id));
  }
}

}  // namespace

std::string_view name_of(SymptomKind kind) { return word_of(kSymptoms, kind); }
std::string_view name_of(SourcesSay answer) { return word_of(kAnswers, answer); }

bool CapabilitySet::contains(int compute_capability) const {
  if (all) return true;
  if (least != 0) return compute_capability >= least;
  return std::any_of(in.begin(), in.end(), [&](const Entry& entry) {
    return entry.major == compute_capability / 10 &&
           entry.minor.value_or(compute_capability % 10) == compute_capability % 10;
  });
}

std::vector<KnownIssue> read_known_issues(std::string_view text) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    throw AuditError(ErrorKind::usage, fmt::format("is not valid JSON at byte {}", error.byte));
  }
  require_known_keys(document, {}, {"schema", "issues"});
  const Object fields(document, {});
  if (fields.text("schema") != kSchema)
    throw_field(JsonPath{nullptr, "schema"}, fmt::format("must be \"{}\"", kSchema));
  std::vector<KnownIssue> issues;
  fields.each("issues",
              [&](const json& element, const JsonPath& path) { issues.push_back(issue_from(element, path)); });
  require_order(issues);
  return issues;
}

std::span<const KnownIssue> known_issues() {
  static const std::vector<KnownIssue> kIssues = read_known_issues(embedded::data_known_issues);
  return kIssues;
}

const KnownIssue* find_known_issue(std::string_view id) {
  std::string wanted(id);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& issue : known_issues()) {
    if (issue.id == wanted) return &issue;
  }
  return nullptr;
}

}  // namespace lt_audit
