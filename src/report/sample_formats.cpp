// Annotations and hostile reports for the tests of the formats.
#include "report/sample_formats.h"

#include <fmt/format.h>

#include "report/sample_report.h"

namespace lt_audit {

Annotations sample_annotations() {
  Annotations annotations;
  annotations.has_baseline = true;
  annotations.notes["compute-type/f32.f16.t"] = CaseNote{false, std::nullopt};
  annotations.notes["alignment/f16.a.off2"] = CaseNote{
      true, AppliedWaiver{"the application promises less from March on", "2027-01-31", "https://example.org/7"}};
  GateDecision gate;
  gate.open = false;
  gate.reasons = {
      {"new-finding", "1 new finding", {"compute-type/f32.f16.n: 131072 bytes behind D"}, "lt-audit show r.json"},
      {"case-missing", "2 cases of the baseline are missing", {"alignment/x", "alignment/y"}, ""}};
  gate.remarks = {{"waiver-stale", "a waiver matches nothing any more", {}, "remove entry 3"}};
  annotations.gate = gate;
  return annotations;
}

std::string hostile_text() {
  std::string text = "]]> <script>alert('x')</script> \x1b[31mred\x1b[0m \x01";
  text += '\0';
  return text +
         "\x7f\xC2\x9B\"quoted\" & `code` ``two`` | pipe *bold* __under__ [link](https://evil.example) ![image](x) "
         "@everyone #1 GH-12 www.evil.example\n::error::injected\n  ::stop-commands::x\r\n##[error]old\t{0} </details> "
         "\xFF\xFE \xEF\xBF\xBF \xE2\x80\xAE"
         "desrever ../../etc/passwd %0A $HOME $(id) '; rm -rf /";
}

Report hostile_report() {
  const std::string evil = hostile_text();
  Report report = sample_report();
  report.tool_version = evil;
  report.arguments = {evil, std::string(1UL << 20, 'x')};
  report.started = evil;
  report.fault = evil;
  report.complete = false;
  report.incomplete_reason = evil;
  report.target.device_facts.name = evil;
  report.target.driver_text = evil;
  report.environment.host = evil;
  report.environment.warnings = {evil};
  for (CheckResult& check : report.checks) {
    check.id += evil;
    check.skip_reason = evil;
    for (CaseResult& result : check.cases) {
      result.id += evil;
      result.problem = evil;
      result.rule = evil;
      result.parameters = {{"source", "../../" + evil + ":3"}, {"calls", evil}};
      if (result.status == Status::pass) continue;
      result.reason = evil;
      result.sentence = evil;
    }
  }
  for (Finding& finding : report.findings) {
    finding.check += evil;
    for (std::string& one : finding.cases) one += evil;
    for (std::string* text : {&finding.id, &finding.title, &finding.measured, &finding.expected, &finding.rule,
                              &finding.remedy, &finding.repro}) {
      *text = evil;
    }
  }
  report.findings.front().title = std::string(1UL << 20, '`') + evil;
  return report;
}

Annotations hostile_annotations() {
  const std::string evil = hostile_text();
  Annotations annotations;
  annotations.notes["alignment" + evil + "/f16.a.off2" + evil] = CaseNote{true, AppliedWaiver{evil, evil, evil}};
  annotations.gate = GateDecision{false, {{evil, evil, {evil, evil}, evil}}, {{evil, evil, {evil}, evil}}};
  return annotations;
}

Report large_report(std::size_t cases) {
  Report report = sample_report();
  report.findings.clear();
  CheckResult check{"alignment", Status::fail, "", 1, {}};
  for (std::size_t i = 0; i < cases; ++i) {
    const std::string problem = fmt::format("m={},n=64,k=64", i + 1);
    check.cases.push_back(sample_case(fmt::format("pass{}", i), problem, Status::pass, Outcome::correct));
    check.cases.push_back(sample_case(fmt::format("fail{}", i), problem, Status::fail, Outcome::wrong_result));
    check.cases.back().reason = fmt::format("cause-{}", i / 10);
    if (i % 10 == 0) {
      Finding finding;
      finding.check = "alignment";
      finding.status = Status::fail;
      finding.id = "alignment." + check.cases.back().reason;
      finding.title = fmt::format("cause {} of many, with a title of usual length", i / 10);
      finding.measured = check.cases.back().sentence;
      finding.expected = "the right numbers";
      finding.remedy = "another library";
      report.findings.push_back(finding);
    }
    report.findings.back().cases.push_back(fmt::format("fail{}", i));
    ++report.findings.back().count;
  }
  report.checks = {check};
  return report;
}

Report workload_report() {
  Report report = sample_report();
  for (CheckResult& check : report.checks) {
    for (CaseResult& result : check.cases) {
      result.parameters = {{"problem", "1"}, {"calls", "96"}, {"source", "logs/app 1.log:12"}};
    }
  }
  return report;
}

}  // namespace lt_audit
