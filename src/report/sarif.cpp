// SARIF 2.1.0 (OASIS standard with errata 01). Section numbers are those of its text. One result is one line, written
// and forgotten, so that memory does not grow with the log.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/escape.h"
#include "report/formats.h"
#include "report/identity.h"
#include "report/report_view.h"
#include "report/sarif_rules.h"
#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

/// GitHub refuses a run with more results, and shows 5,000 of them (docs.github.com, "SARIF support for code
/// scanning").
constexpr std::size_t kMostResults = 25000;
constexpr std::size_t kMostNotifications = 1000;
/// Code scanning wants a place in a file for each result: where no file called the product, the report stands for one.
constexpr const char* kReportName = "lt-audit.json";

std::string compact(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Results in the order in which a reader needs them, since viewers show the first ones.
std::vector<CaseView> results_of(const ReportView& views) {
  std::vector<CaseView> results;
  for (const Standing standing : {Standing::fail, Standing::warn, Standing::known, Standing::waived}) {
    for (const CheckResult& check : views.report().checks) {
      for (const CaseResult& result : check.cases) {
        if (result.status != Status::fail && result.status != Status::warn) continue;
        CaseView view = views.view(check, result);
        if (view.standing == standing) results.push_back(std::move(view));
      }
    }
  }
  return results;
}

ordered_json location_of(const CaseView& view) {
  const auto place = workload_place(*view.result);
  ordered_json physical;
  physical["artifactLocation"]["uri"] = place ? file_uri(place->file) : kReportName;
  physical["region"]["startLine"] = place ? place->line : 1;
  ordered_json logical;
  logical["name"] = printable(view.result->id);
  logical["fullyQualifiedName"] = printable(view.check->id + "/" + view.result->id);
  logical["kind"] = "case";
  return {{"physicalLocation", std::move(physical)}, {"logicalLocations", ordered_json::array({std::move(logical)})}};
}

ordered_json suppressions_of(const CaseView& view) {
  ordered_json list = ordered_json::array();
  if (view.note.waiver) {
    list.push_back(
        {{"kind", "external"}, {"status", "accepted"}, {"justification", sarif_text(waiver_text(*view.note.waiver))}});
  }
  return list;
}

/// What all results of a log have in common.
struct LogState {
  SarifRules& rules;
  /// 3.27.23: on all results or on none.
  bool any_waived = false;
  bool has_baseline = false;
  /// How often an identity was seen: cases of one problem and cause are told apart by their number.
  std::unordered_map<std::string, std::size_t> seen;
};

ordered_json result_of(const ReportView& views, const CaseView& view, LogState& state) {
  const CaseResult& result = *view.result;
  const std::string print = fingerprint(finding_identity(view.check->id, result));
  ordered_json json;
  json["ruleId"] = sarif_rule_id(view);
  json["ruleIndex"] = state.rules.index_of(view);
  json["kind"] = "fail";
  json["level"] = result.status == Status::warn ? "warning" : "error";
  json["message"]["text"] = sarif_text(result.sentence.empty() ? result.reason + " in " + result.id : result.sentence);
  json["locations"] = ordered_json::array({location_of(view)});
  // GitHub tells alerts apart by primaryLocationLineHash, which it would otherwise make from the line of the file.
  json["partialFingerprints"] = {{"ltAuditFinding/v1", print},
                                 {"primaryLocationLineHash", fmt::format("{}:{}", print, ++state.seen[print])}};
  if (state.any_waived) json["suppressions"] = suppressions_of(view);
  if (state.has_baseline) json["baselineState"] = view.note.is_new ? "new" : "unchanged";
  ordered_json properties;
  properties["problem"] = sarif_text(result.problem);
  properties["outcome"] = std::string(name_of(result.outcome));
  properties["expectation"] = std::string(name_of(result.expectation));
  if (!result.rule.empty()) properties["rule"] = sarif_text(result.rule);
  if (const std::string again = views.again(view); !again.empty()) properties["again"] = sarif_text(again);
  json["properties"] = std::move(properties);
  return json;
}

ordered_json notification(const char* level, const std::string& id, const std::string& text) {
  return {{"level", level}, {"descriptor", {{"id", printable(id)}}}, {"message", {{"text", sarif_text(text)}}}};
}

/// 3.20.21: what the audit could not do, what closed the gate, what was left out.
ordered_json notifications_of(const ReportView& views, std::size_t results) {
  const Report& report = views.report();
  ordered_json list = ordered_json::array();
  if (const std::string gap = audit_gap(report); !gap.empty()) list.push_back(notification("error", "incomplete", gap));
  if (report.target.kind == PlatformKind::simulator) {
    list.push_back(
        notification("warning", "simulator", "no GPU was audited: a model of a faultless cuBLASLt answered"));
  }
  if (!report.fault.empty()) list.push_back(notification("warning", "fault", "a fault was planted: " + report.fault));
  if (views.annotations().gate) {
    for (const GateEntry& reason : views.annotations().gate->reasons) {
      list.push_back(notification("error", "gate/" + reason.code, reason.title));
    }
  }
  for (const std::string& warning : report.environment.warnings)
    list.push_back(notification("note", "environment", warning));
  if (results > kMostResults) {
    list.push_back(notification("warning", "left-out",
                                fmt::format("{} of {} results are left out: a run takes {}. The JSON report has all.",
                                            results - kMostResults, results, kMostResults)));
  }
  std::size_t errors = 0;
  for (const CheckResult& check : report.checks) {
    for (const CaseResult& result : check.cases) {
      if (result.status != Status::error || ++errors > kMostNotifications) continue;
      ordered_json entry = notification("error", "case-error", result.sentence);
      entry["associatedRule"]["id"] = printable(check.id);
      entry["locations"] = ordered_json::array({location_of({&check, &result, nullptr, {}, Standing::error})});
      list.push_back(std::move(entry));
    }
  }
  if (errors > kMostNotifications) {
    list.push_back(notification("error", "left-out",
                                fmt::format("{} more cases could not be audited", errors - kMostNotifications)));
  }
  return list;
}

std::string command_line(const Report& report) {
  std::string line = "lt-audit";
  for (const std::string& argument : report.arguments) {
    const std::string word = printable(argument);
    const bool plain = !word.empty() && word.find_first_of(" '\"\\$`!*?[]{}()<>|&;#~") == std::string::npos;
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    line += plain ? " " + word : " '" + quoted + "'";
  }
  return line;
}

ordered_json invocation_of(const ReportView& views, std::size_t results) {
  const Report& report = views.report();
  ordered_json json;
  json["commandLine"] = command_line(report);
  json["arguments"] = ordered_json::array();
  for (const std::string& argument : report.arguments) json["arguments"].push_back(printable(argument));
  if (is_utc_time(report.started)) json["startTimeUtc"] = report.started;
  json["exitCode"] = report.exit_code;
  // Cases in error make exit code 3: the audit did not do what it was asked to.
  json["executionSuccessful"] = audit_gap(report).empty() && summary_of(report).error == 0;
  json["toolExecutionNotifications"] = notifications_of(views, results);
  return json;
}

/// 3.17.3. Its last part tells runs apart, what stands before is the category of code scanning: the same for every
/// version of the library, so that alerts of the old version are closed by the new one.
std::string automation_id(const Report& report) {
  const bool simulator = report.target.kind == PlatformKind::simulator;
  std::string gpu = simulator ? "simulator" : printable(report.target.device_facts.name);
  std::replace_if(
      gpu.begin(), gpu.end(), [](char c) { return c == ' ' || c == '/'; }, '-');
  return fmt::format("lt-audit/{}/{}", gpu.empty() ? "gpu" : gpu, printable(report.started));
}

ordered_json properties_of(const Report& report) {
  const Summary summary = summary_of(report);
  ordered_json json;
  for (const auto& [fact, text] : audit_facts(report)) json[fact] = printable(text);
  json["cases"] = {{"pass", summary.pass}, {"warn", summary.warn},   {"fail", summary.fail},
                   {"skip", summary.skip}, {"error", summary.error}, {"total", summary.total}};
  return json;
}

void write_rules(const Report& report, const SarifRules& rules, std::ostream& out) {
  const std::string version = printable(report.tool_version);
  out << "      \"tool\": {\n        \"driver\": {\n          \"name\": \"lt-audit\",\n";
  if (!version.empty()) out << "          \"version\": " << compact(version) << ",\n";
  out << "          \"rules\": [";
  const char* separator = "\n            ";
  for (const auto& rule : rules.descriptors()) {
    out << separator << compact(rule);
    separator = ",\n            ";
  }
  out << (rules.descriptors().empty() ? "]" : "\n          ]") << "\n        }\n      },\n";
}

}  // namespace

void write_sarif(const Report& report, const Annotations& annotations, std::ostream& out) {
  const ReportView views(report, annotations);
  std::vector<CaseView> results = results_of(views);
  const std::size_t all = results.size();
  SarifRules rules(report);
  LogState state{rules, false, annotations.has_baseline, {}};
  if (results.size() > kMostResults) results.resize(kMostResults);
  for (const CaseView& view : results) {
    static_cast<void>(rules.index_of(view));
    state.any_waived = state.any_waived || view.note.waiver.has_value();
  }
  out << "{\n  \"$schema\": "
         "\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\n"
         "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n";
  write_rules(report, rules, out);
  out << "      \"automationDetails\": " << compact({{"id", automation_id(report)}}) << ",\n";
  out << "      \"invocations\": [" << compact(invocation_of(views, all)) << "],\n";
  out << "      \"properties\": " << compact(properties_of(report)) << ",\n";
  out << "      \"results\": [";
  const char* separator = "\n        ";
  for (const CaseView& view : results) {
    out << separator << compact(result_of(views, view, state));
    separator = ",\n        ";
  }
  out << (results.empty() ? "]" : "\n      ]") << "\n    }\n  ]\n}\n";
}

}  // namespace lt_audit
