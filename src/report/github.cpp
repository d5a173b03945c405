// Workflow commands of GitHub Actions (docs.github.com, "Workflow commands for GitHub Actions"): a step keeps at most
// 10 errors, 10 warnings and 10 notices.
#include <fmt/format.h>

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "report/escape.h"
#include "report/formats.h"
#include "report/report_view.h"
#include "report/text_layout.h"
#include "report/text_parts.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostOfAKind = 10;
/// A title is one line in a narrow column.
constexpr std::size_t kTitleWidth = 160;
constexpr std::size_t kFieldWidth = 1000;

struct Annotation {
  bool error = false;
  std::string title;
  std::optional<WorkloadPlace> place;
  /// Lines, not yet escaped.
  std::vector<std::string> lines;
};

std::string command_of(const Annotation& annotation) {
  std::string text = annotation.error ? "::error " : "::warning ";
  text += "title=" + workflow_property(fitted(annotation.title, kTitleWidth));
  if (annotation.place) {
    text += ",file=" + workflow_property(annotation.place->file) + fmt::format(",line={}", annotation.place->line);
  }
  text += "::";
  for (std::size_t i = 0; i < annotation.lines.size(); ++i) {
    text += (i == 0 ? "" : "%0A") + workflow_message(annotation.lines[i]);
  }
  return text + "\n";
}

void add_line(Annotation& annotation, std::string_view label, const std::string& text) {
  if (!text.empty()) annotation.lines.push_back(fmt::format("{}: {}", label, fitted(text, kFieldWidth)));
}

Annotation of_finding(const Finding& finding, const FindingTally& tally) {
  Annotation annotation;
  annotation.error = finding.status != Status::warn;
  annotation.title = fmt::format("lt-audit {}: {}", finding.check, finding.title);
  if (tally.first != nullptr) annotation.place = workload_place(*tally.first);
  annotation.lines.push_back(fmt::format("{}, {}", name_of(finding.status), counted(tally.open, "case")));
  add_line(annotation, "measured", finding.measured);
  add_line(annotation, "expected", finding.expected);
  add_line(annotation, "remedy", finding.remedy);
  add_line(annotation, "again", finding.repro);
  return annotation;
}

std::vector<Annotation> annotations_of(const ReportView& views) {
  std::vector<Annotation> list;
  std::ostringstream alarm;
  write_alarm(views.report(), alarm);
  if (!alarm.str().empty()) list.push_back({false, "lt-audit: not an audit of this GPU", std::nullopt, {alarm.str()}});
  if (const std::string gap = audit_gap(views.report()); !gap.empty()) {
    list.push_back({true, "lt-audit: no whole audit", std::nullopt, {gap}});
  }
  if (views.annotations().gate) {
    for (const GateEntry& reason : views.annotations().gate->reasons) {
      Annotation annotation{true, "lt-audit gate: " + reason.code, std::nullopt, {fitted(reason.title, kFieldWidth)}};
      add_line(annotation, "next", reason.next);
      list.push_back(std::move(annotation));
    }
  }
  for (const Finding* finding : sorted_findings(views.report(), false)) {
    const FindingTally& tally = views.tally(*finding);
    if (tally.open > 0) list.push_back(of_finding(*finding, tally));
  }
  return list;
}

}  // namespace

void write_github_annotations(const Report& report, const Annotations& annotations, std::ostream& out) {
  const ReportView views(report, annotations);
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Annotation& annotation : annotations_of(views)) {
    std::size_t& of_kind = annotation.error ? errors : warnings;
    if (++of_kind <= kMostOfAKind) out << command_of(annotation);
  }
  std::string more;
  const auto add_beyond = [&more](std::size_t number, const char* kind) {
    if (number <= kMostOfAKind) return;
    more += (more.empty() ? "" : " and ") + counted(number - kMostOfAKind, kind);
  };
  add_beyond(errors, "error");
  add_beyond(warnings, "warning");
  if (more.empty()) return;
  out << fmt::format(
      "::notice title=lt-audit::Not annotated: {} more, since GitHub shows {} of a kind for a step. The report has "
      "all.\n",
      more, kMostOfAKind);
}

}  // namespace lt_audit
