// JSON to Report, from a file that may be truncated, edited, huge or no report at all. Cases are turned into values
// while the file is parsed and leave the tree at once: a tree of a whole report would take ten times the file's size.
// Those that stand as write_json writes them are not even parsed (report/json_cases.h).
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/formats.h"
#include "report/json_cases.h"
#include "report/json_parts.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;
using OrderedFields = Fields<ordered_json>;

constexpr std::size_t kMaxBytes = 1UL << 30;
constexpr int kMaxDepth = 64;

[[noreturn]] void refuse(const std::string& problem) { throw AuditError(ErrorKind::usage, problem); }

/// The whole file. Reads until the end instead of asking for the size: the path may be a pipe.
std::string read_file(const std::string& path) {
  const auto close = [](std::FILE* file) { static_cast<void>(std::fclose(file)); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  constexpr std::size_t kBlock = 1UL << 20;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    const std::size_t got = std::fread(text.data() + before, 1, kBlock, file.get());
    text.resize(before + got);
    if (std::ferror(file.get()) != 0) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    // Looked at early, so that an endless or binary file is not read to its end first.
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '{') {
      refuse("is not a report of lt-audit: it does not begin with '{'; give the file that lt-audit run --json wrote");
    }
    if (text.size() > kMaxBytes) refuse("is larger than 1 GiB, which no report is; give the file that lt-audit wrote");
    if (got < kBlock) break;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    refuse("is empty: the audit that should have written it did not start or its disk was full; run it again");
  }
  return text;
}

void check_schema_version(const ordered_json& json) {
  if (!json.is_string()) refuse("field schema_version must be a string such as \"1.0.0\"");
  const auto& version = json.get_ref<const std::string&>();
  const std::string_view known = kReportSchemaVersion;
  const std::string major(known.substr(0, known.find('.')));
  if (version.substr(0, version.find('.')) == major) return;
  refuse(fmt::format(
      "has report schema {}, and this lt-audit reads {}.x: use the lt-audit that wrote it (its version is in "
      "the field tool.version), or run the audit again",
      version, major));
}

template <class Enum>
Enum required_name(const OrderedFields& fields, std::string_view key,
                   std::optional<Enum> (*from_name)(std::string_view)) {
  const std::string name = fields.required_text(key);
  const std::optional<Enum> value = from_name(name);
  if (!value) {
    throw_field(JsonPath{&fields.path(), key},
                fmt::format("has an unknown value '{}' (written by a newer lt-audit?)", name));
  }
  return *value;
}

CaseResult case_from_json(const ordered_json& json, const JsonPath& path) {
  const OrderedFields fields(json, path);
  CaseResult result;
  result.id = fields.required_text("id");
  result.problem = fields.text("problem");
  result.expectation = required_name(fields, "expectation", expectation_from);
  result.rule = fields.text("rule");
  result.outcome = required_name(fields, "outcome", outcome_from);
  result.status = required_name(fields, "status", status_from);
  result.reason = fields.text("reason");
  result.sentence = fields.text("message");
  fields.text_map("parameters", result.parameters);
  if (const ordered_json* observation = fields.find("observation")) {
    // Only to find wrong fields here, where the file is known, and not when the case is shown.
    static_cast<void>(read_observation(*observation, JsonPath{&fields.path(), "observation"}));
    result.observation = observation->dump();
  }
  return result;
}

/// What the parser reads: the document, without what the scanner of the cases has read already.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return at_ == end_; }
  char current() const { return *at_; }
  void next() {
    if (++at_ == end_ && resume_ != nullptr) {
      at_ = std::exchange(resume_, nullptr);
      end_ = text_.data() + text_.size();
    }
  }

  /// Lets the scanner read the cases that follow; the parser goes on where the scanner could not.
  void scan(CasesFollow after, std::vector<CaseResult>& cases) {
    if (resume_ != nullptr) return;
    const auto here = static_cast<std::size_t>(at_ - text_.data());
    const std::size_t there = scan_cases(text_, here, after, cases);
    if (there == std::string_view::npos) return;
    // What the parser needs in front of the rest of the array.
    std::string_view front = after == CasesFollow::key ? ":[" : ",";
    if (after == CasesFollow::another_case && text_[there] == ']') front = "";
    skipped_ += there - here - front.size();
    at_ = text_.data() + there;
    if (front.empty()) return;
    resume_ = std::exchange(at_, front.data());
    end_ = front.data() + front.size();
  }

  /// Bytes that the parser did not see, to be added to what it takes for its place.
  std::size_t skipped() const { return skipped_; }

 private:
  std::string_view text_;
  const char* at_;
  const char* end_;
  const char* resume_ = nullptr;
  std::size_t skipped_ = 0;
};

/// The source as the parser wants it. Copies share the place.
class SourceIterator {
 public:
  // Names that the standard library prescribes.
  // NOLINTBEGIN(readability-identifier-naming)
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;
  // NOLINTEND(readability-identifier-naming)

  /// Without a source: the end.
  explicit SourceIterator(Source* source = nullptr) : source_(source) {}
  char operator*() const { return source_->current(); }
  SourceIterator& operator++() {
    source_->next();
    return *this;
  }
  SourceIterator operator++(int) {
    source_->next();
    return *this;
  }
  /// With the end alone.
  bool operator==(const SourceIterator& /*end*/) const { return source_->at_end(); }

 private:
  Source* source_;
};

/// Turns the document into a tree without its cases, which are collected on the way.
class DocumentParser {
 public:
  explicit DocumentParser(std::string_view text) : text_(text), source_(text) {}

  ordered_json parse() {
    try {
      return ordered_json::parse(SourceIterator(&source_), SourceIterator(),
                                 [this](int depth, ordered_json::parse_event_t event, ordered_json& value) {
                                   return keep(depth, event, value);
                                 });
    } catch (const ordered_json::parse_error& error) {
      const std::size_t byte = error.byte + source_.skipped();
      if (byte >= text_.size()) {
        refuse(
            fmt::format("ends in the middle, after {} bytes: it was cut off while it was written or copied; copy it "
                        "again or run the audit again",
                        text_.size()));
      }
      refuse(fmt::format(
          "is not valid JSON at byte {}: it was changed or damaged; copy it again or run the audit again", byte));
    } catch (const ordered_json::exception& error) {
      refuse(fmt::format("is not valid JSON: {}", error.what()));
    }
  }

  /// The cases of check number `check` that the tree does not hold any more.
  std::vector<CaseResult> take_cases(std::size_t check) {
    return check < cases_.size() ? std::move(cases_[check]) : std::vector<CaseResult>();
  }

 private:
  /// Depths of the document: 0 the root, 1 its arrays, 2 a check, 3 its array of cases, 4 a case.
  bool keep(int depth, ordered_json::parse_event_t event, const ordered_json& value) {
    using Event = ordered_json::parse_event_t;
    if (depth > kMaxDepth) refuse(fmt::format("is nested deeper than {} levels, which no report is", kMaxDepth));
    if (event == Event::key && depth == 1) root_key_ = value.get_ref<const std::string&>();
    if (event == Event::key && depth == 3) check_key_ = value.get_ref<const std::string&>();
    if (event == Event::value && depth == 1 && root_key_ == "schema_version") {
      check_schema_version(value);
      version_known_ = true;
    }
    if (root_key_ != "checks") return true;
    if (event == Event::object_start && depth == 2) {
      cases_.emplace_back();
      check_key_.clear();
    }
    // Before the version is known (somebody sorted the keys) a case stays in the tree and is read later.
    if (check_key_ != "cases" || cases_.empty() || !version_known_) return true;
    const JsonPath check_path{nullptr, "checks", static_cast<std::int64_t>(cases_.size()) - 1};
    std::vector<CaseResult>& cases = cases_.back();
    if (event == Event::key && depth == 3) source_.scan(CasesFollow::key, cases);
    const JsonPath case_path{&check_path, "cases", static_cast<std::int64_t>(cases.size())};
    // Reported here, where the position is known: what precedes it has left the tree.
    if (event == Event::object_start && depth == 3) {
      throw_field(JsonPath{&check_path, "cases"}, "must be an array, not object");
    }
    if (event == Event::value && depth == 4) {
      throw_field(case_path, std::string("must be an object, not ") + value.type_name());
    }
    if (event != Event::object_end || depth != 4) return true;
    cases.push_back(case_from_json(value, case_path));
    source_.scan(CasesFollow::another_case, cases);
    return false;
  }

  std::string_view text_;
  Source source_;
  std::string root_key_;
  std::string check_key_;
  bool version_known_ = false;
  std::vector<std::vector<CaseResult>> cases_;
};

void read_environment(const OrderedFields& root, Report& report) {
  const ordered_json* json = root.find("environment");
  if (json == nullptr) return;
  const OrderedFields fields(*json, JsonPath{&root.path(), "environment"});
  report.target.driver_text = fields.text("driver");
  report.target.driver_version = fields.integer<int>("driver_api_version");
  report.target.runtime_version = fields.integer<int>("cuda_runtime_version");
  report.target.cublaslt = read_library(fields, "cublaslt");
  report.target.cublas = read_library(fields, "cublas");
  report.environment.host = fields.text("host");
  report.environment.user = fields.text("user");
  report.environment.os = fields.text("os");
  for (const std::string_view key : {"cublaslt", "cublas"}) {
    const ordered_json* library = fields.find(key);
    if (library == nullptr || !report.environment.compiled_against.empty()) continue;
    report.environment.compiled_against =
        OrderedFields(*library, JsonPath{&fields.path(), key}).text("compiled_against");
  }
  fields.text_map("variables", report.environment.variables);
  fields.texts("warnings", report.environment.warnings);
}

Finding finding_from_json(const ordered_json& json, const JsonPath& path) {
  const OrderedFields fields(json, path);
  Finding finding;
  finding.id = fields.required_text("id");
  finding.check = fields.required_text("check");
  finding.status = required_name(fields, "status", status_from);
  finding.title = fields.text("title");
  finding.count = fields.integer<std::uint64_t>("count");
  finding.measured = fields.text("measured");
  finding.expected = fields.text("expected");
  finding.rule = fields.text("rule");
  finding.remedy = fields.text("remedy");
  finding.repro = fields.text("repro");
  fields.texts("cases", finding.cases);
  return finding;
}

CheckResult check_from_json(const ordered_json& json, const JsonPath& path, std::vector<CaseResult> cases) {
  const OrderedFields fields(json, path);
  CheckResult check;
  check.id = fields.required_text("id");
  check.status = required_name(fields, "status", status_from);
  check.skip_reason = fields.text("skip_reason");
  check.elapsed_s = fields.number("elapsed_s");
  check.cases = std::move(cases);
  fields.each("cases", [&check](const ordered_json& element, const JsonPath& at) {
    check.cases.push_back(case_from_json(element, at));
  });
  return check;
}

void read_head(const OrderedFields& root, Report& report) {
  if (const ordered_json* tool = root.find("tool")) {
    const OrderedFields fields(*tool, JsonPath{&root.path(), "tool"});
    report.tool_version = fields.text("version");
    fields.texts("arguments", report.arguments);
  }
  report.complete = root.boolean("complete");
  report.incomplete_reason = root.text("incomplete_reason");
  report.exit_code = root.integer<int>("exit_code");
  report.started = root.text("started");
  report.elapsed_s = root.number("elapsed_s");
  report.depth = root.text("depth");
  report.seed = root.integer<std::uint64_t>("seed");
  report.fault = root.text("fault");
  const ordered_json* target = root.find("target");
  if (target == nullptr) throw_field(JsonPath{&root.path(), "target"}, "is missing");
  read_device(OrderedFields(*target, JsonPath{&root.path(), "target"}), report.target);
}

}  // namespace

Report report_from_text(const std::string& text) {
  DocumentParser parser(text);
  const ordered_json json = parser.parse();
  const OrderedFields root(json, JsonPath{});
  const ordered_json* version = root.find("schema_version");
  if (version == nullptr) {
    refuse("is JSON but no report of lt-audit: it has no schema_version; give the file that lt-audit run --json wrote");
  }
  check_schema_version(*version);
  Report report;
  read_head(root, report);
  read_environment(root, report);
  root.each("checks", [&](const ordered_json& element, const JsonPath& at) {
    report.checks.push_back(check_from_json(element, at, parser.take_cases(static_cast<std::size_t>(at.index))));
  });
  root.each("findings", [&](const ordered_json& element, const JsonPath& at) {
    report.findings.push_back(finding_from_json(element, at));
  });
  root.each("profile", [&](const ordered_json& element, const JsonPath& at) {
    const OrderedFields fields(element, at);
    report.profile.push_back({fields.text("phase"), fields.number("seconds"), fields.integer<std::uint64_t>("count")});
  });
  return report;
}

Report read_json(const std::string& path) {
  try {
    return report_from_text(read_file(path));
  } catch (const AuditError& error) {
    throw AuditError(error.kind(), fmt::format("report {}: {}", path, error.what()));
  }
}

}  // namespace lt_audit
