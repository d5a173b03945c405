#include "workload/workload_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "lt_audit/contract.h"
#include "lt_audit/error.h"
#include "report/json_fields.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;
using OrderedFields = Fields<ordered_json>;

/// Deeper nesting is no workload, and recursion follows it.
constexpr int kMaxDepth = 16;

ordered_json source_to_json(const SourceLine& place) { return {{"file", place.file}, {"line", place.line}}; }

SourceLine source_from(const OrderedFields& fields, std::string_view key) {
  SourceLine place;
  if (const auto* json = fields.find(key)) {
    const OrderedFields source(*json, JsonPath{&fields.path(), key});
    place = {source.text("file"), source.integer<std::uint64_t>("line")};
  }
  return place;
}

/// The largest power of two, at most 256, that the pointers seen first were aligned to.
ordered_json alignment_to_json(const MatmulProblem& p) {
  return {{"a", alignment_of_offset(p.a_offset)},
          {"b", alignment_of_offset(p.b_offset)},
          {"c", alignment_of_offset(p.c_offset)},
          {"d", alignment_of_offset(p.d_offset)}};
}

ordered_json problem_to_json(const WorkloadProblem& problem) {
  ordered_json json{{"problem", to_text(problem.problem)},
                    {"api", problem.api},
                    {"calls", problem.calls},
                    {"lone_queries", problem.lone_queries},
                    {"streams", problem.streams},
                    {"source", source_to_json(problem.first)},
                    {"alignment", alignment_to_json(problem.problem)},
                    {"algorithm", problem.algorithm},
                    {"assumed", problem.assumed}};
  ordered_json kept = ordered_json::object();
  for (const auto& [entry, count] : problem.kept) kept[entry] = count;
  json["kept"] = std::move(kept);
  return json;
}

WorkloadProblem problem_from(const OrderedFields& fields) {
  WorkloadProblem problem;
  const auto text = fields.required_text("problem");
  try {
    problem.problem = problem_from_text(text);
  } catch (const AuditError& error) {
    throw_field(JsonPath{&fields.path(), "problem"}, fmt::format("cannot be read: {}", error.what()));
  }
  problem.api = fields.text("api");
  problem.calls = fields.integer<std::uint64_t>("calls");
  problem.lone_queries = fields.integer<std::uint64_t>("lone_queries");
  problem.streams = fields.integer<std::uint64_t>("streams");
  problem.first = source_from(fields, "source");
  problem.algorithm = fields.text("algorithm");
  fields.texts("assumed", problem.assumed);
  if (const auto* kept = fields.find("kept")) {
    const JsonPath path{&fields.path(), "kept"};
    if (!kept->is_object()) throw_field(path, "must be an object of counts");
    for (const auto& [entry, count] : kept->items()) {
      if (!count.is_number_unsigned()) throw_field(JsonPath{&path, entry}, "must be a count");
      problem.kept[entry] = count.get<std::uint64_t>();
    }
  }
  return problem;
}

void require_schema(const OrderedFields& fields) {
  if (fields.text("schema") != kWorkloadSchema) {
    throw AuditError(ErrorKind::usage,
                     fmt::format("is no workload of lt-audit: field schema is not \"{}\"; give a file that lt-audit "
                                 "import wrote, or a log",
                                 kWorkloadSchema));
  }
  const auto version = fields.required_text("schema_version");
  const auto major = kWorkloadSchemaVersion.substr(0, kWorkloadSchemaVersion.find('.'));
  if (version.substr(0, version.find('.')) == major) return;
  throw AuditError(ErrorKind::usage, fmt::format("has workload schema {}, and this lt-audit reads {}.x: import the log "
                                                 "again",
                                                 version, major));
}

ordered_json parse(std::string_view text) {
  const auto too_deep = [](int depth, ordered_json::parse_event_t, ordered_json&) {
    if (depth > kMaxDepth) throw AuditError(ErrorKind::usage, "is nested too deeply for a workload");
    return true;
  };
  try {
    return ordered_json::parse(text, too_deep);
  } catch (const ordered_json::parse_error& error) {
    throw AuditError(ErrorKind::usage, fmt::format("is not valid JSON at byte {}: import the log again", error.byte));
  }
}

}  // namespace

void write_workload(const Workload& workload, std::string_view tool_version, std::ostream& out) {
  ordered_json json{{"schema", kWorkloadSchema},
                    {"schema_version", kWorkloadSchemaVersion},
                    {"tool", {{"name", "lt-audit"}, {"version", tool_version}}},
                    {"damaged_lines", workload.damaged_lines}};
  ordered_json problems = ordered_json::array();
  for (const auto& problem : workload.problems) problems.push_back(problem_to_json(problem));
  json["problems"] = std::move(problems);
  ordered_json damaged = ordered_json::array();
  for (const auto& line : workload.damaged) {
    auto entry = source_to_json(line.place);
    entry["reason"] = line.reason;
    damaged.push_back(std::move(entry));
  }
  json["damaged"] = std::move(damaged);
  out << json.dump(1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

Workload read_workload(std::string_view text) {
  const auto json = parse(text);
  const OrderedFields fields(json, {});
  require_schema(fields);
  Workload workload;
  workload.damaged_lines = fields.integer<std::uint64_t>("damaged_lines");
  fields.each("problems", [&](const ordered_json& element, const JsonPath& path) {
    workload.problems.push_back(problem_from(OrderedFields(element, path)));
  });
  fields.each("damaged", [&](const ordered_json& element, const JsonPath& path) {
    const OrderedFields line(element, path);
    workload.damaged.push_back({{line.text("file"), line.integer<std::uint64_t>("line")}, line.text("reason")});
  });
  return workload;
}

bool looks_like_workload(std::string_view start) {
  const auto first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == '{' &&
         start.find(kWorkloadSchema) != std::string_view::npos;
}

}  // namespace lt_audit
