// A decision for machines: docs/gate.schema.json.
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/arguments.h"
#include "cli/gate_output.h"
#include "report/identity.h"

namespace lt_audit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "lt-audit-gate";
/// Major: a reader of the old form breaks; minor: something was added.
constexpr const char* kSchemaVersion = "1.0.0";

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json report_to_json(const Report& report, const std::string& path) {
  const Summary summary = summary_of(report);
  const Target& target = report.target;
  const bool simulator = target.kind == PlatformKind::simulator;
  return {{"path", text_or_null(path)},
          {"started", text_or_null(report.started)},
          {"tool_version", text_or_null(report.tool_version)},
          {"target", simulator ? "simulator" : "gpu"},
          {"gpu", text_or_null(target.device_facts.name)},
          {"cublaslt", text_or_null(target.cublaslt.version())},
          {"depth", text_or_null(report.depth)},
          {"complete", report.complete},
          {"summary",
           {{"pass", summary.pass},
            {"warn", summary.warn},
            {"fail", summary.fail},
            {"skip", summary.skip},
            {"error", summary.error},
            {"total", summary.total}}}};
}

Json entries_to_json(const std::vector<GateEntry>& entries) {
  Json array = Json::array();
  for (const GateEntry& entry : entries) {
    array.push_back({{"code", entry.code},
                     {"title", entry.title},
                     {"unreliable", entry.unreliable},
                     {"details", entry.details},
                     {"next", text_or_null(entry.next)}});
  }
  return array;
}

Json waivers_to_json(const GateView& view) {
  Json array = Json::array();
  for (std::size_t i = 0; i < view.files.waivers.size(); ++i) {
    const Waiver& waiver = view.files.waivers[i];
    const WaiverUse& use = view.result.waivers[i];
    array.push_back({{"file", waiver.file},
                     {"entry", waiver.entry},
                     {"line", waiver.line == 0 ? Json(nullptr) : Json(waiver.line)},
                     {"state", name_of(use.state)},
                     {"cases", use.cases},
                     {"reason", waiver.reason},
                     {"expires", waiver.expires()},
                     {"link", text_or_null(waiver.link)}});
  }
  return array;
}

Json case_to_json(const CheckResult& check, const CaseResult& result, const Annotations& annotations) {
  const CaseNote note = annotations.note_of(check.id, result.id);
  Json waiver = nullptr;
  if (note.waiver) {
    waiver = {
        {"reason", note.waiver->reason}, {"expires", note.waiver->expires}, {"link", text_or_null(note.waiver->link)}};
  }
  return {{"check", check.id},           {"case", result.id},
          {"problem", result.problem},   {"status", name_of(result.status)},
          {"reason", result.reason},     {"new", note.is_new},
          {"waiver", std::move(waiver)}, {"fingerprint", fingerprint(finding_identity(check.id, result))}};
}

}  // namespace

void write_gate_json(const GateView& view, std::ostream& out) {
  const GateDecision& decision = view.result.decision();
  const GateCounts& counts = view.result.counts;
  Json json{{"schema", kSchema},
            {"schema_version", kSchemaVersion},
            {"tool", {{"name", "lt-audit"}, {"version", tool_version()}}},
            {"open", decision.open},
            {"exit_code", view.result.exit_code},
            {"report", report_to_json(view.report, view.report_path)},
            {"baseline", view.files.baseline ? report_to_json(*view.files.baseline, view.files.baseline_path) : Json()},
            {"counts",
             {{"closing", counts.closing},
              {"missing", counts.missing},
              {"known", counts.known},
              {"waived", counts.waived},
              {"below_threshold", counts.below},
              {"gone", counts.gone}}},
            {"reasons", entries_to_json(decision.reasons)},
            {"remarks", entries_to_json(decision.remarks)},
            {"waivers", waivers_to_json(view)}};
  Json cases = Json::array();
  for (const CheckResult& check : view.report.checks) {
    for (const CaseResult& result : check.cases) {
      if (result.status == Status::fail || result.status == Status::warn)
        cases.push_back(case_to_json(check, result, view.result.annotations));
    }
  }
  json["cases"] = std::move(cases);
  out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace lt_audit
