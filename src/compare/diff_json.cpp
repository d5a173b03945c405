// The comparison as a document of the schema "lt-audit-diff", streamed: a line for each case.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "compare/diff_output.h"
#include "compare/diff_words.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

ordered_json text_json(std::string_view text) { return valid_utf8(text); }
ordered_json text_or_null_json(const std::string& text) { return text.empty() ? ordered_json() : text_json(text); }
double three_decimals(double value) { return std::round(value * 1000) / 1000; }

ordered_json side_json(const ReportSide& side, const std::string& path) {
  ordered_json json;
  json["path"] = text_json(path);
  json["tool_version"] = text_json(side.tool_version);
  json["started"] = text_json(side.started);
  json["target"] = side.target;
  json["gpu"] = text_or_null_json(side.gpu);
  json["driver"] = text_or_null_json(side.driver);
  json["cublaslt"] = text_or_null_json(side.cublaslt);
  json["cases"] = side.cases;
  json["complete"] = side.complete;
  return json;
}

ordered_json counts_json(const CheckDiff& counts) {
  ordered_json json;
  json["matched"] = counts.matched;
  json["unchanged"] = counts.unchanged;
  json["only_old"] = counts.only_before;
  json["only_new"] = counts.only_after;
  for (const ChangeKind kind : all_change_kinds()) json[std::string(name_of(kind))] = counts.count(kind);
  ordered_json& numbers = json["numbers"] = ordered_json::object();
  for (std::size_t i = 0; i < kNumbersVerdicts; ++i) {
    numbers[std::string(name_of(static_cast<NumbersVerdict>(i)))] = counts.numbers.at(i);
  }
  json["timed"] = counts.timed;
  return json;
}

ordered_json check_json(const CheckDiff& check) {
  ordered_json json;
  json["id"] = text_json(check.id);
  json["in"] = name_of(check.presence);
  json["counts"] = counts_json(check);
  return json;
}

ordered_json algorithm_json(const HeuristicResult& result) {
  return {{"algo_id", result.algo_id},
          {"tile", result.tile},
          {"stages", result.stages},
          {"split_k", result.split_k},
          {"workspace_bytes", result.workspace_bytes}};
}

ordered_json times_json(const TimeComparison& times) {
  return {{"library", times.library},
          {"old_us", three_decimals(times.before_us)},
          {"new_us", three_decimals(times.after_us)},
          {"ratio", three_decimals(times.ratio())},
          {"old_spread", three_decimals(times.before_spread)},
          {"new_spread", three_decimals(times.after_spread)},
          {"verdict", name_of(times.verdict)}};
}

ordered_json judgement_json(Outcome outcome, Status status, const std::string& reason) {
  return {{"outcome", name_of(outcome)}, {"status", name_of(status)}, {"reason", text_or_null_json(reason)}};
}

ordered_json change_json(const CaseChange& change) {
  ordered_json json;
  json["check"] = text_json(change.check);
  json["id"] = text_json(change.id);
  if (!change.id_before.empty()) json["old_id"] = text_json(change.id_before);
  json["problem"] = text_json(change.problem);
  ordered_json& kinds = json["kinds"] = ordered_json::array();
  for (const ChangeKind kind : change.kinds) kinds.push_back(name_of(kind));
  json["old"] = judgement_json(change.outcome_before, change.status_before, change.reason_before);
  json["new"] = judgement_json(change.outcome_after, change.status_after, change.reason_after);
  json["message"] = text_or_null_json(change.message);
  json["numbers"] = name_of(change.numbers);
  json["cublas_bits_differ"] = change.cublas_bits_differ;
  if (change.algorithm_before && change.algorithm_after) {
    json["old"]["algorithm"] = algorithm_json(*change.algorithm_before);
    json["new"]["algorithm"] = algorithm_json(*change.algorithm_after);
  }
  json["old"]["results"] = change.results_before;
  json["new"]["results"] = change.results_after;
  ordered_json& times = json["times"] = ordered_json::array();
  for (const TimeComparison& one : change.times) times.push_back(times_json(one));
  return json;
}

ordered_json lone_json(const LoneCase& one) {
  return {{"check", text_json(one.check)},
          {"id", text_json(one.id)},
          {"problem", text_json(one.problem)},
          {"status", name_of(one.status)}};
}

ordered_json finding_json(const FindingDiff& finding) {
  ordered_json json;
  json["change"] = name_of(finding.change);
  json["id"] = text_json(finding.id);
  json["check"] = text_json(finding.check);
  json["status"] = name_of(finding.status);
  json["title"] = text_json(finding.title);
  json["old_count"] = finding.count_before;
  json["new_count"] = finding.count_after;
  json["cases_added"] = finding.cases_added;
  json["cases_removed"] = finding.cases_removed;
  json["repro"] = text_or_null_json(finding.repro);
  return json;
}

/// Fields of the root, one after the other.
class Document {
 public:
  explicit Document(std::ostream& out) : out_(out) { out_ << '{'; }

  void field(std::string_view key, const ordered_json& value) { out_ << head(key) << value.dump(); }

  template <class List, class ToJson>
  void list(std::string_view key, const List& values, const ToJson& to_json) {
    out_ << head(key) << '[';
    const char* between = "\n    ";
    for (const auto& value : values) {
      out_ << between << to_json(value).dump();
      between = ",\n    ";
    }
    out_ << (values.empty() ? "]" : "\n  ]");
  }

  void end() { out_ << "\n}\n"; }

 private:
  std::string head(std::string_view key) {
    return fmt::format("{}\n  \"{}\": ", std::exchange(is_first_, false) ? "" : ",", key);
  }

  std::ostream& out_;
  bool is_first_ = true;
};

}  // namespace

void write_diff_json(const ReportDiff& diff, const DiffOptions& options, std::ostream& out) {
  Document document(out);
  document.field("schema", "lt-audit-diff");
  document.field("schema_version", kDiffSchemaVersion);
  document.field("old", side_json(diff.before, options.before_path));
  document.field("new", side_json(diff.after, options.after_path));
  document.list("warnings", diff.warnings, text_json);
  document.list("environment", diff.environment, [](const EnvironmentDifference& one) {
    return ordered_json{
        {"what", text_json(one.what)}, {"old", text_or_null_json(one.before)}, {"new", text_or_null_json(one.after)}};
  });
  document.field("numbers_not_compared", text_or_null_json(diff.why_no_numbers));
  document.field("times_not_compared", text_or_null_json(diff.why_no_times));
  document.field("time_threshold", diff.time_threshold);
  document.field("total", counts_json(diff.total()));
  document.list("checks", diff.checks, check_json);
  document.list("changes", diff.changes, change_json);
  document.list("only_old", diff.only_before, lone_json);
  document.list("only_new", diff.only_after, lone_json);
  document.list("findings", diff.findings, finding_json);
  document.field("findings_unchanged", diff.findings_unchanged);
  document.end();
}

}  // namespace lt_audit
