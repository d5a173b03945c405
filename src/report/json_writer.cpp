// Report to JSON. Streamed: each case is one line that is formatted and forgotten, so that the memory needed does not
// grow with the report. One line per case also keeps diffs and grep useful.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "lt_audit/types.h"
#include "report/formats.h"
#include "report/json_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

std::string compact(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Two more blanks per level than dump(2) gives, for values that stand inside the document.
std::string indented(const ordered_json& json, std::size_t level) {
  const std::string text = json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    result += c;
    // Line ends inside of strings are escaped, so these are the dump's own.
    if (c == '\n') result.append(2 * level, ' ');
  }
  return result;
}

ordered_json texts_to_json(const std::vector<std::string>& texts) {
  ordered_json json = ordered_json::array();
  for (const std::string& text : texts) json.push_back(valid_utf8(text));
  return json;
}

ordered_json map_to_json(const std::map<std::string, std::string>& map) {
  ordered_json json = ordered_json::object();
  for (const auto& [key, value] : map) json[valid_utf8(key)] = valid_utf8(value);
  return json;
}

ordered_json summary_to_json(const Summary& summary) {
  return {{"pass", summary.pass}, {"warn", summary.warn},   {"fail", summary.fail},
          {"skip", summary.skip}, {"error", summary.error}, {"total", summary.total}};
}

/// The version of the headers that this program was compiled with, "13.1.0".
std::string compiled_against() { return fmt::format("{}.{}.{}", CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH); }

ordered_json library_of_report(const LibraryFacts& library, const Environment& environment) {
  ordered_json json = library_to_json(library);
  if (json.is_null()) return json;
  json["compiled_against"] =
      environment.compiled_against.empty() ? compiled_against() : valid_utf8(environment.compiled_against);
  return json;
}

ordered_json environment_to_json(const Report& report) {
  const Target& target = report.target;
  const Environment& environment = report.environment;
  const auto version = [](int number) { return number == 0 ? ordered_json() : ordered_json(number); };
  ordered_json json;
  json["driver"] = text_or_null(target.driver_text);
  json["driver_api_version"] = version(target.driver_version);
  json["cuda_runtime_version"] = version(target.runtime_version);
  json["host"] = text_or_null(environment.host);
  json["user"] = text_or_null(environment.user);
  json["os"] = text_or_null(environment.os);
  json["cublaslt"] = library_of_report(target.cublaslt, environment);
  json["cublas"] = library_of_report(target.cublas, environment);
  json["variables"] = map_to_json(environment.variables);
  json["warnings"] = texts_to_json(environment.warnings);
  return json;
}

std::string case_line(const CaseResult& result) {
  ordered_json json;
  json["id"] = valid_utf8(result.id);
  json["problem"] = valid_utf8(result.problem);
  json["expectation"] = std::string(name_of(result.expectation));
  json["rule"] = text_or_null(result.rule);
  json["outcome"] = std::string(name_of(result.outcome));
  json["status"] = std::string(name_of(result.status));
  json["reason"] = text_or_null(result.reason);
  json["message"] = text_or_null(result.sentence);
  json["parameters"] = map_to_json(result.parameters);
  std::string line = compact(json);
  line.pop_back();
  line += ",\"observation\":";
  // Compact JSON already. Parsing it again would double the time of a checkpoint; what is certainly no object is
  // dropped, so that the document stays readable.
  const std::string& text = result.observation;
  const bool object = text.size() >= 2 && text.front() == '{' && text.back() == '}';
  line += object ? text : "null";
  line += '}';
  return line;
}

void write_check(const CheckResult& check, std::ostream& out) {
  const auto field = [&out](std::string_view name, const ordered_json& value) {
    out << "      \"" << name << "\": " << compact(value) << ",\n";
  };
  out << "    {\n";
  field("id", valid_utf8(check.id));
  field("status", std::string(name_of(check.status)));
  field("skip_reason", text_or_null(check.skip_reason));
  field("elapsed_s", number_to_json(rounded(check.elapsed_s)));
  field("summary", summary_to_json(summary_of(check)));
  out << "      \"cases\": [";
  std::string_view separator = "\n        ";
  for (const CaseResult& result : check.cases) {
    out << separator << case_line(result);
    separator = ",\n        ";
  }
  out << (check.cases.empty() ? "]\n    }" : "\n      ]\n    }");
}

ordered_json finding_to_json(const Finding& finding) {
  ordered_json json;
  json["id"] = valid_utf8(finding.id);
  json["check"] = valid_utf8(finding.check);
  json["status"] = std::string(name_of(finding.status));
  json["title"] = valid_utf8(finding.title);
  json["count"] = finding.count;
  json["measured"] = text_or_null(finding.measured);
  json["expected"] = text_or_null(finding.expected);
  json["rule"] = text_or_null(finding.rule);
  json["remedy"] = text_or_null(finding.remedy);
  json["repro"] = text_or_null(finding.repro);
  json["cases"] = texts_to_json(finding.cases);
  return json;
}

/// Everything in front of the checks.
void write_head(const Report& report, std::ostream& out) {
  const auto field = [&out](std::string_view name, const ordered_json& value) {
    out << "  \"" << name << "\": " << indented(value, 1) << ",\n";
  };
  field("schema_version", std::string(kReportSchemaVersion));
  field("tool", {{"name", "lt-audit"},
                 {"version", valid_utf8(report.tool_version)},
                 {"arguments", texts_to_json(report.arguments)}});
  field("complete", report.complete);
  field("incomplete_reason", text_or_null(report.incomplete_reason));
  field("exit_code", report.exit_code);
  field("started", text_or_null(report.started));
  field("elapsed_s", number_to_json(rounded(report.elapsed_s)));
  field("depth", text_or_null(report.depth));
  field("seed", report.seed);
  field("fault", text_or_null(report.fault));
  field("target", device_to_json(report.target));
  field("environment", environment_to_json(report));
  field("summary", summary_to_json(summary_of(report)));
}

/// An array of objects, one line each when `one_line`.
template <class Element, class ToJson>
void write_array(std::string_view name, const std::vector<Element>& elements, bool one_line, const ToJson& to_json,
                 std::ostream& out) {
  out << "  \"" << name << "\": [";
  std::string_view separator = "\n    ";
  for (const Element& element : elements) {
    out << separator << (one_line ? compact(to_json(element)) : indented(to_json(element), 2));
    separator = ",\n    ";
  }
  out << (elements.empty() ? "]" : "\n  ]");
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  out << "{\n";
  write_head(report, out);
  out << "  \"checks\": [";
  std::string_view separator = "\n";
  for (const CheckResult& check : report.checks) {
    out << separator;
    write_check(check, out);
    separator = ",\n";
  }
  out << (report.checks.empty() ? "],\n" : "\n  ],\n");
  write_array("findings", report.findings, false, finding_to_json, out);
  out << ",\n";
  const auto entry_to_json = [](const ProfileEntry& entry) -> ordered_json {
    return {{"phase", valid_utf8(entry.phase)},
            {"seconds", number_to_json(rounded(entry.seconds))},
            {"count", entry.count}};
  };
  write_array("profile", report.profile, true, entry_to_json, out);
  out << "\n}\n";
}

}  // namespace lt_audit
