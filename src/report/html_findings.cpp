// Findings of the HTML page, with what a baseline and waivers say of them.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "report/html_parts.h"
#include "report/html_text.h"
#include "report/text_layout.h"
#include "report/text_parts.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostIds = 20;
constexpr std::size_t kMostWaivers = 5;

/// What the notes of a finding's cases say together.
struct Notes {
  std::size_t fresh = 0;
  std::size_t known = 0;
  std::size_t waived = 0;
  /// Different ones, in order of appearance.
  std::vector<AppliedWaiver> waivers;
};

Notes notes_of(const Finding& finding, const Annotations& annotations) {
  Notes notes;
  for (const std::string& id : finding.cases) {
    const CaseNote note = annotations.note_of(finding.check, id);
    ++(note.is_new ? notes.fresh : notes.known);
    if (!note.waiver) continue;
    ++notes.waived;
    const AppliedWaiver& waiver = *note.waiver;
    const bool seen = std::any_of(notes.waivers.begin(), notes.waivers.end(), [&](const AppliedWaiver& other) {
      return other.reason == waiver.reason && other.expires == waiver.expires && other.link == waiver.link;
    });
    if (!seen && notes.waivers.size() < kMostWaivers) notes.waivers.push_back(waiver);
  }
  return notes;
}

std::string badge(std::string_view kind, std::size_t count, std::size_t all) {
  if (count == 0) return {};
  const std::string amount = count == all ? std::string() : fmt::format("{} ", count);
  return fmt::format(" <span class=\"badge {0}\">{1}{0}</span>", kind, amount);
}

std::string waiver_text(const AppliedWaiver& waiver) {
  std::string text = html_escaped(waiver.reason) + ", until " + html_escaped(waiver.expires);
  if (waiver.link.empty()) return text;
  const std::string link = html_escaped(waiver.link);
  if (!is_web_link(waiver.link)) return text + " (" + link + ")";
  return text + " (<a href=\"" + link + "\" rel=\"noopener noreferrer\">" + link + "</a>)";
}

void write_field(std::string_view name, std::string_view text, std::ostream& out) {
  if (!text.empty()) out << "<div><dt>" << name << "</dt><dd>" << html_escaped(text) << "</dd></div>\n";
}

void write_cases(const Finding& finding, std::ostream& out) {
  if (finding.cases.empty()) return;
  out << "<details class=\"ids\"><summary>" << counted(finding.cases.size(), "case") << "</summary><p>";
  const std::size_t shown = std::min(finding.cases.size(), kMostIds);
  for (std::size_t i = 0; i < shown; ++i) {
    out << (i == 0 ? "<code>" : ", <code>") << html_escaped(finding.cases[i]) << "</code>";
  }
  if (shown < finding.cases.size()) out << fmt::format(" and {} more", finding.cases.size() - shown);
  out << "</p></details>\n";
}

void write_finding(const Finding& finding, std::size_t place, const Annotations& annotations, std::ostream& out) {
  const Notes notes = notes_of(finding, annotations);
  const bool all_waived = notes.waived != 0 && notes.waived == finding.cases.size();
  out << "<article class=\"finding " << name_of(finding.status) << (all_waived ? " waived" : "") << "\" id=\"finding-"
      << place << "\">\n<header>" << status_badge(finding.status) << "<h3>" << html_escaped(finding.title)
      << "</h3><span class=\"about\">" << html_escaped(finding.check);
  if (annotations.has_baseline) {
    out << badge("new", notes.fresh, finding.cases.size()) << badge("known", notes.known, finding.cases.size());
  }
  out << badge("waived", notes.waived, finding.cases.size()) << "</span></header>\n<dl>\n";
  write_field("measured", finding.measured, out);
  write_field("expected", finding.expected, out);
  write_field("rule", finding.rule, out);
  write_field("remedy", finding.remedy, out);
  for (const AppliedWaiver& waiver : notes.waivers) {
    out << "<div><dt>waived</dt><dd>" << waiver_text(waiver) << "</dd></div>\n";
  }
  if (!finding.repro.empty()) {
    out << "<div><dt>again</dt><dd class=\"command\"><code>" << html_escaped(finding.repro)
        << "</code><button type=\"button\" class=\"quiet copy\" hidden>Copy</button></dd></div>\n";
  }
  out << "</dl>\n<div class=\"finding-foot\">";
  write_cases(finding, out);
  out << "<button type=\"button\" class=\"quiet show-finding\" data-finding=\"" << html_escaped(finding.id)
      << "\" hidden>Show in the table</button></div>\n</article>\n";
}

std::string_view no_findings_text(const Report& report) {
  if (summary_of(report).total == 0) return "Nothing ran.";
  return report.complete ? "None: every case that ran is as documented." : "None, but the audit is not complete.";
}

}  // namespace

void write_html_findings(const Report& report, const Annotations& annotations, std::ostream& out) {
  const std::vector<const Finding*> findings = sorted_findings(report, true);
  const auto skips = static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [](const Finding* finding) { return finding->status == Status::skip; }));
  out << "<h2 id=\"findings-title\">Findings <span class=\"muted\">" << findings.size() - skips << "</span></h2>\n";
  if (findings.size() == skips) out << "<p>" << no_findings_text(report) << "</p>\n";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i]->status != Status::skip) write_finding(*findings[i], i, annotations, out);
  }
  if (skips == 0) return;
  out << "<details class=\"skips\"><summary>What was skipped, and why (" << skips << ")</summary>\n";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i]->status == Status::skip) write_finding(*findings[i], i, annotations, out);
  }
  out << "</details>\n";
}

}  // namespace lt_audit
