// A merge as the document of docs/merge.schema.json.
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "compare/merge_formats.h"
#include "report/json_fields.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

std::string compact(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json text_or_nothing(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

double hundredths(double value) { return std::isfinite(value) ? std::round(value * 100) / 100 : value; }

ordered_json names_of(const Merged& merged, const std::vector<std::size_t>& nodes) {
  ordered_json names = ordered_json::array();
  for (const std::size_t node : nodes) names.push_back(merged.nodes[node].name);
  return names;
}

ordered_json node_to_json(const Merged& merged, std::size_t at, bool differs) {
  const MergedNode& node = merged.nodes[at];
  ordered_json json;
  json["name"] = node.name;
  json["file"] = node.file;
  json["kind"] = node.kind == PlatformKind::gpu ? "gpu" : "simulator";
  json["device"] = node.device;
  json["fault"] = text_or_nothing(node.fault);
  json["started"] = text_or_nothing(node.started);
  json["complete"] = node.complete;
  json["incomplete_reason"] = text_or_nothing(node.incomplete_reason);
  json["set_aside"] = text_or_nothing(node.set_aside);
  json["summary"] = {{"pass", node.summary.pass}, {"warn", node.summary.warn},   {"fail", node.summary.fail},
                     {"skip", node.summary.skip}, {"error", node.summary.error}, {"total", node.summary.total}};
  json["missing_cases"] = node.missing_cases;
  json["differs"] = differs;
  constexpr std::size_t kMostCases = 20;
  json["differences"] = differences_of(merged, at, kMostCases);
  return json;
}

ordered_json property_to_json(const Merged& merged, const MergedProperty& property) {
  ordered_json json;
  json["name"] = property.name;
  json["majority"] = property.has_majority() ? ordered_json(property.values[0].text) : ordered_json();
  json["values"] = ordered_json::array();
  for (const MergedProperty::Value& value : property.values) {
    json["values"].push_back({{"value", value.text}, {"nodes", names_of(merged, value.nodes)}});
  }
  return json;
}

ordered_json finding_to_json(const Merged& merged, const MergedFinding& finding) {
  ordered_json json;
  json["id"] = finding.id;
  json["check"] = finding.check;
  json["status"] = std::string(name_of(finding.status));
  json["title"] = finding.title;
  json["remedy"] = text_or_nothing(finding.remedy);
  json["example"] = finding.example;
  json["nodes"] = names_of(merged, finding.nodes);
  json["without"] = names_of(merged, finding.without);
  json["not_run"] = names_of(merged, finding.not_run);
  return json;
}

ordered_json differing_to_json(const Merged& merged, const DifferingCase& one) {
  ordered_json json;
  json["check"] = one.check;
  json["case"] = one.id;
  json["problem"] = one.problem;
  json["majority"] = one.has_majority();
  json["ends"] = ordered_json::array();
  for (const DifferingCase::End& end : one.ends) {
    json["ends"].push_back({{"status", std::string(name_of(end.status))},
                            {"outcome", std::string(name_of(end.outcome))},
                            {"nodes", names_of(merged, end.nodes)}});
  }
  return json;
}

ordered_json group_to_json(const Merged& merged, const SpeedGroup& group) {
  return {{"gpu", group.gpu},
          {"nodes", names_of(merged, group.nodes)},
          {"not_compared", text_or_nothing(group.not_compared)},
          {"timed_cases", group.timed_cases}};
}

ordered_json speed_to_json(const Merged& merged, const NodeSpeed& speed) {
  return {{"node", merged.nodes[speed.node].name},
          {"timed", speed.timed},
          {"slower", speed.slower},
          {"faster", speed.faster},
          {"median_ratio", number_to_json(std::round(speed.median_ratio * 1000) / 1000)},
          {"differs", speed.differs}};
}

ordered_json outlier_to_json(const Merged& merged, const SpeedOutlier& outlier) {
  return {{"node", merged.nodes[outlier.node].name},
          {"check", outlier.check},
          {"case", outlier.id},
          {"us", number_to_json(hundredths(outlier.us))},
          {"median_us", number_to_json(hundredths(outlier.median_us))},
          {"score", number_to_json(hundredths(outlier.score))}};
}

/// One element a line, so that no tree of the whole is needed and grep is useful.
template <class Elements, class ToJson>
void write_array(const char* indent, const char* name, const Elements& elements, const ToJson& to_json,
                 std::ostream& out) {
  out << indent << '"' << name << "\": [";
  const char* separator = "\n";
  for (const auto& element : elements) {
    out << separator << indent << "  " << compact(to_json(element));
    separator = ",\n";
  }
  if (!elements.empty()) out << '\n' << indent;
  out << ']';
}

}  // namespace

void write_merge_json(const Merged& merged, std::string_view tool_version, int exit_code, std::ostream& out) {
  const auto field = [&out](const char* name, const ordered_json& value) {
    out << "  \"" << name << "\": " << compact(value) << ",\n";
  };
  const auto of = [&merged](const auto& to_json) {
    return [&merged, to_json](const auto& element) { return to_json(merged, element); };
  };
  const std::vector<bool> differing = merged.differing_nodes();
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < merged.nodes.size(); ++i) numbers.push_back(i);

  out << "{\n";
  field("schema", "lt-audit-merge");
  field("schema_version", std::string(kMergeSchemaVersion));
  field("tool", {{"name", "lt-audit"}, {"version", std::string(tool_version)}});
  field("exit_code", exit_code);
  field("summary", merge_summary(merged));
  field("warnings", merged.warnings);
  const auto node_of = [&](std::size_t at) { return node_to_json(merged, at, differing[at]); };
  write_array("  ", "nodes", numbers, node_of, out);
  out << ",\n";
  write_array("  ", "properties", merged.properties, of(property_to_json), out);
  out << ",\n";
  write_array("  ", "findings", merged.findings, of(finding_to_json), out);
  out << ",\n  \"results\": {\n    \"compared_cases\": " << merged.compared_cases << ",\n";
  write_array("    ", "differing", merged.differing, of(differing_to_json), out);
  out << "\n  },\n  \"speed\": {\n    \"outlier_score\": " << kOutlierScore
      << ",\n    \"least_deviation\": " << kLeastDeviation << ",\n";
  write_array("    ", "groups", merged.speed_groups, of(group_to_json), out);
  out << ",\n";
  write_array("    ", "nodes", merged.speeds, of(speed_to_json), out);
  out << ",\n";
  write_array("    ", "outliers", merged.outliers, of(outlier_to_json), out);
  out << "\n  }\n}\n";
}

}  // namespace lt_audit
