// JUnit XML in the form that the Jenkins xUnit plugin, GitLab and pytest agree on: its schema is checked in
// tests/formats_test.py.
#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>

#include "report/escape.h"
#include "report/formats.h"
#include "report/report_view.h"
#include "report/text_layout.h"

namespace lt_audit {
namespace {

struct Counts {
  std::uint64_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(Standing standing) {
    ++tests;
    failures += standing == Standing::fail ? 1 : 0;
    errors += standing == Standing::error ? 1 : 0;
    skipped += standing == Standing::skip || standing == Standing::waived ? 1 : 0;
  }
  void add(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
  }
};

Counts counts_of(const ReportView& views, const CheckResult& check) {
  Counts counts;
  for (const CaseResult& result : check.cases) counts.add(views.view(check, result).standing);
  // The one test case that says why there is none.
  if (check.cases.empty()) counts.add(Standing::skip);
  return counts;
}

/// Suite of what concerns no case: why the report cannot be relied upon.
Counts counts_of_gap(const Report& report) {
  Counts counts;
  if (!audit_gap(report).empty()) counts.add(Standing::error);
  return counts;
}

Counts counts_of_gate(const Annotations& annotations) {
  Counts counts;
  if (!annotations.gate) return counts;
  for (std::size_t i = 0; i < annotations.gate->reasons.size(); ++i) counts.add(Standing::fail);
  if (counts.tests == 0) counts.add(Standing::pass);
  return counts;
}

void line(std::string& text, std::string_view label, std::string_view value) {
  if (!value.empty()) text += fmt::format("{:<9} {}\n", label, xml_text(value));
}

/// What a person needs to know about the case, one labelled line each; escaped.
std::string details_of(const ReportView& views, const CaseView& view) {
  const CaseResult& result = *view.result;
  const Finding* finding = view.finding;
  std::string text;
  if (finding != nullptr) line(text, "finding", finding->title);
  line(text, "problem", result.problem);
  line(text, "measured", result.sentence);
  if (finding != nullptr) line(text, "expected", finding->expected);
  line(text, "rule", !result.rule.empty() || finding == nullptr ? result.rule : finding->rule);
  if (finding != nullptr) line(text, "remedy", finding->remedy);
  line(text, "again", views.again(view));
  if (const auto place = workload_place(result)) line(text, "called", fmt::format("{}:{}", place->file, place->line));
  return text;
}

void write_outcome(std::string_view element, std::string_view type, std::string_view message, std::string_view details,
                   std::ostream& out) {
  out << fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element, xml_text(type), xml_text(message),
                     details);
}

void write_output(std::string_view escaped, std::ostream& out) {
  out << "      <system-out>" << escaped << "</system-out>\n";
}

/// What stands inside of a test case that is not a plain pass.
void write_standing(const ReportView& views, const CaseView& view, std::ostream& out) {
  const CaseResult& result = *view.result;
  switch (view.standing) {
    case Standing::pass:
      break;
    case Standing::skip:
      write_outcome("skipped", result.reason, result.sentence, "", out);
      break;
    case Standing::warn:
      // JUnit knows no warning: a pass that says so.
      write_output("warn: " + xml_text(result.reason) + "\n" + details_of(views, view), out);
      break;
    case Standing::known:
      write_output(fmt::format("known in the baseline: {} {}\n", name_of(result.status), xml_text(result.reason)) +
                       details_of(views, view),
                   out);
      break;
    case Standing::fail:
      write_outcome("failure", result.reason, result.sentence, details_of(views, view), out);
      break;
    case Standing::error:
      write_outcome("error", result.reason, result.sentence, details_of(views, view), out);
      break;
    case Standing::waived:
      write_outcome("skipped", result.reason, waiver_text(*view.note.waiver), "", out);
      write_output(details_of(views, view), out);
      break;
  }
}

void write_case(const ReportView& views, const CaseView& view, std::ostream& out) {
  const CaseResult& result = *view.result;
  const auto seconds = case_seconds(result);
  out << fmt::format("    <testcase classname=\"lt-audit.{}\" name=\"{}\"{}", xml_text(view.check->id),
                     xml_text(result.id), seconds ? fmt::format(" time=\"{:.6f}\"", *seconds) : "");
  if (view.standing == Standing::pass) {
    out << "/>\n";
    return;
  }
  out << ">\n";
  write_standing(views, view, out);
  out << "    </testcase>\n";
}

/// Opens a suite; every one says what was audited, since consumers show suites one by one.
void write_suite_head(const Report& report, std::string_view name, const Counts& counts, double seconds,
                      std::ostream& out) {
  out << fmt::format(
      "  <testsuite name=\"lt-audit.{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
      xml_text(name), counts.tests, counts.failures, counts.errors, counts.skipped, seconds > 0 ? seconds : 0.0);
  if (is_utc_time(report.started)) out << fmt::format(" timestamp=\"{}\"", report.started);
  if (!report.environment.host.empty()) out << fmt::format(" hostname=\"{}\"", xml_text(report.environment.host));
  out << ">\n    <properties>\n";
  for (const auto& [fact, text] : audit_facts(report)) {
    out << fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", fact, xml_text(text));
  }
  out << "    </properties>\n";
}

void write_check(const ReportView& views, const CheckResult& check, const Counts& counts, std::ostream& out) {
  write_suite_head(views.report(), check.id, counts, check.elapsed_s, out);
  for (const CaseResult& result : check.cases) write_case(views, views.view(check, result), out);
  if (check.cases.empty()) {
    out << fmt::format("    <testcase classname=\"lt-audit.{}\" name=\"no case\">\n", xml_text(check.id));
    write_outcome("skipped", "no-case", check.skip_reason.empty() ? "the check has no case here" : check.skip_reason,
                  "", out);
    out << "    </testcase>\n";
  }
  out << "  </testsuite>\n";
}

void write_gap(const Report& report, const Counts& counts, std::ostream& out) {
  if (counts.tests == 0) return;
  write_suite_head(report, "audit", counts, 0, out);
  out << "    <testcase classname=\"lt-audit.audit\" name=\"complete\">\n";
  write_outcome("error", report.complete ? "nothing-audited" : "incomplete", audit_gap(report), "", out);
  out << "    </testcase>\n  </testsuite>\n";
}

std::string entry_text(const GateEntry& entry) {
  std::string text;
  for (const std::string& detail : entry.details) text += xml_text(detail) + "\n";
  line(text, "next", entry.next);
  return text;
}

/// One failing test case for what closed the gate, also where that is a case that fails in its own suite: a gate that
/// is closed is red in every consumer.
void write_gate(const Report& report, const GateDecision& gate, const Counts& counts, std::ostream& out) {
  write_suite_head(report, "gate", counts, 0, out);
  if (gate.reasons.empty()) out << "    <testcase classname=\"lt-audit.gate\" name=\"open\"/>\n";
  std::size_t number = 0;
  for (const GateEntry& reason : gate.reasons) {
    out << fmt::format("    <testcase classname=\"lt-audit.gate\" name=\"{}. {}\">\n", ++number, xml_text(reason.code));
    write_outcome("failure", reason.code, reason.title, entry_text(reason), out);
    out << "    </testcase>\n";
  }
  if (!gate.remarks.empty()) {
    out << "    <system-out>";
    for (const GateEntry& remark : gate.remarks) {
      out << xml_text(remark.code) << ": " << xml_text(remark.title) << '\n' << entry_text(remark);
    }
    out << "</system-out>\n";
  }
  out << "  </testsuite>\n";
}

}  // namespace

void write_junit(const Report& report, const Annotations& annotations, std::ostream& out) {
  const ReportView views(report, annotations);
  const Counts gap = counts_of_gap(report);
  const Counts gate = counts_of_gate(annotations);
  Counts all = gap;
  all.add(gate);
  std::vector<Counts> of_checks;
  for (const CheckResult& check : report.checks) {
    of_checks.push_back(counts_of(views, check));
    all.add(of_checks.back());
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format("<testsuites name=\"lt-audit\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n",
                     all.tests, all.failures, all.errors, report.elapsed_s > 0 ? report.elapsed_s : 0.0);
  write_gap(report, gap, out);
  if (annotations.gate) write_gate(report, *annotations.gate, gate, out);
  for (std::size_t i = 0; i < report.checks.size(); ++i) write_check(views, report.checks[i], of_checks[i], out);
  out << "</testsuites>\n";
}

}  // namespace lt_audit
