// Markdown for a comment on a pull request or a step summary, as GitHub and GitLab render it.
#include <fmt/format.h>

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/escape.h"
#include "report/formats.h"
#include "report/report_view.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

/// GitHub refuses a comment of more characters; counted in bytes, which are never fewer.
constexpr std::size_t kMostBytes = 65536;
/// For the sentence that says what was left out.
constexpr std::size_t kReserve = 400;
constexpr std::size_t kMostDetails = 10;
/// One field of a hostile report must not take the place of all findings.
constexpr std::size_t kFieldWidth = 1200;
constexpr std::size_t kCommandWidth = 2000;

/// Takes whole blocks until one does not fit; then nothing any more, so that the order stays.
class Comment {
 public:
  explicit Comment(std::ostream& out) : out_(out) {}

  bool add(const std::string& block) {
    full_ = full_ || written_ + block.size() > kMostBytes - kReserve;
    if (full_) return false;
    out_ << block;
    written_ += block.size();
    return true;
  }
  bool full() const { return full_; }

 private:
  std::ostream& out_;
  std::size_t written_ = 0;
  bool full_ = false;
};

std::string prose(std::string_view text, std::size_t width = kFieldWidth) {
  return markdown_text(fitted(printable(text), width));
}

/// A command is whole or not there: a part of it must not be run.
std::string command(std::string_view text) {
  const std::string clean = printable(text);
  return text_width(clean) > kCommandWidth ? "(too long: see the report)" : markdown_code(clean);
}

std::string title_of(const ReportView& views) {
  const Report& report = views.report();
  const Summary summary = summary_of(report);
  std::string title = "## lt-audit: ";
  if (views.annotations().gate) title += fmt::format("gate {}, ", gate_word(*views.annotations().gate));
  if (!audit_gap(report).empty()) title += "no whole audit, ";
  title += fmt::format("{} fail, {} warn", summary.fail, summary.warn);
  if (summary.error > 0) title += fmt::format(", {} error", summary.error);
  return title + fmt::format(" of {}\n\n", counted(summary.total, "case"));
}

std::string head_of(const Report& report) {
  std::ostringstream alarm;
  write_alarm(report, alarm);
  std::string text;
  for (const std::string& loud : {alarm.str(), audit_gap(report)}) {
    if (!loud.empty())
      text += fmt::format("> **{}**\n\n", prose(loud.back() == '\n' ? loud.substr(0, loud.size() - 1) : loud));
  }
  text += prose(headline(report)) + "\n\n";
  for (const std::string& warning : report.environment.warnings) text += fmt::format("- note: {}\n", prose(warning));
  return report.environment.warnings.empty() ? text : text + "\n";
}

std::string entry_of(const GateEntry& entry) {
  std::string text = fmt::format("- **{}**: {}\n", prose(entry.code), prose(entry.title));
  for (std::size_t i = 0; i < std::min(entry.details.size(), kMostDetails); ++i) {
    text += fmt::format("  - {}\n", prose(entry.details[i]));
  }
  if (entry.details.size() > kMostDetails)
    text += fmt::format("  - and {} more\n", entry.details.size() - kMostDetails);
  // A command is copied, an edit is read.
  const bool is_command = entry.next.rfind("lt-audit ", 0) == 0;
  if (!entry.next.empty()) text += fmt::format("  - next: {}\n", is_command ? command(entry.next) : prose(entry.next));
  return text;
}

void add_gate(const GateDecision& gate, Comment& comment) {
  comment.add(fmt::format("### Gate {}\n\n", gate_word(gate)));
  for (const GateEntry& reason : gate.reasons) comment.add(entry_of(reason));
  if (!gate.remarks.empty()) comment.add("\nRemarks:\n\n");
  for (const GateEntry& remark : gate.remarks) comment.add(entry_of(remark));
  comment.add("\n");
}

void add_checks(const Report& report, Comment& comment) {
  comment.add(
      "| check | cases | pass | warn | fail | skip | error | time |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const auto number = [](std::uint64_t count) { return count == 0 ? std::string() : fmt::to_string(count); };
  for (const CheckResult& check : report.checks) {
    const Summary summary = summary_of(check);
    std::string row = fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", prose(check.id), summary.total,
                                  number(summary.pass), number(summary.warn), number(summary.fail),
                                  number(summary.skip), number(summary.error), seconds_text(check.elapsed_s));
    if (check.cases.empty()) {
      row = fmt::format("| {} | {}: {} | | | | | | |\n", prose(check.id), name_of(check.status),
                        prose(check.skip_reason.empty() ? "no cases" : check.skip_reason));
    }
    comment.add(row);
  }
  comment.add("\n");
}

/// "24 cases", with what of them is known or waived.
std::string count_text(const FindingTally& tally) {
  const std::uint64_t all = tally.open + tally.known + tally.waived;
  std::string text = counted(all, "case");
  if (tally.open == all) return text;
  text += fmt::format(", {} of them new and not waived", tally.open);
  return text;
}

std::string finding_of(const Finding& finding, const FindingTally& tally) {
  std::string text = fmt::format("<details><summary><b>{}</b> {}: {} ({})</summary>\n\n", name_of(finding.status),
                                 prose(finding.check), prose(finding.title), count_text(tally));
  const auto field = [&text](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", label, prose(value));
  };
  field("measured", finding.measured);
  field("expected", finding.expected);
  field("rule", finding.rule);
  field("remedy", finding.remedy);
  if (!finding.repro.empty()) text += fmt::format("- again: {}\n", command(finding.repro));
  if (tally.first != nullptr) {
    if (const auto place = workload_place(*tally.first)) {
      text += fmt::format("- called: {}\n",
                          markdown_code(fitted(fmt::format("{}:{}", place->file, place->line), kFieldWidth)));
    }
  }
  return text + "\n</details>\n\n";
}

/// Waived and known findings: one line each.
std::string line_of(const Finding& finding, std::uint64_t cases, const std::string& why) {
  return fmt::format("- {} {}: {} ({}){}\n", name_of(finding.status), prose(finding.check), prose(finding.title),
                     counted(cases, "case"), why.empty() ? "" : ", " + prose(why));
}

/// Findings with an open case, worst first, then what is waived, then what the baseline has. How many did not fit.
std::size_t add_findings(const ReportView& views, Comment& comment) {
  const auto findings = sorted_findings(views.report(), false);
  std::size_t left_out = 0;
  bool any = false;
  for (const Finding* finding : findings) {
    const FindingTally& tally = views.tally(*finding);
    if (tally.open == 0) continue;
    if (!any) comment.add("### Findings\n\n");
    any = true;
    if (!comment.add(finding_of(*finding, tally))) ++left_out;
  }
  if (!any) comment.add(findings.empty() ? "No findings.\n\n" : "No new findings.\n\n");
  const auto section = [&](const char* heading, auto count, auto why) {
    bool begun = false;
    for (const Finding* finding : findings) {
      const FindingTally& tally = views.tally(*finding);
      if (count(tally) == 0) continue;
      if (!begun) comment.add(heading);
      begun = true;
      if (!comment.add(line_of(*finding, count(tally), why(tally)))) ++left_out;
    }
    if (begun) comment.add("\n");
  };
  section(
      "### Waived\n\n", [](const FindingTally& tally) { return tally.waived; },
      [](const FindingTally& tally) { return tally.waiver ? waiver_text(*tally.waiver) : std::string(); });
  section(
      "### Known from the baseline\n\n", [](const FindingTally& tally) { return tally.known; },
      [](const FindingTally&) { return std::string(); });
  return left_out;
}

}  // namespace

void write_markdown(const Report& report, const Annotations& annotations, std::ostream& out) {
  const ReportView views(report, annotations);
  Comment comment(out);
  comment.add(title_of(views));
  comment.add(head_of(report));
  if (annotations.gate) add_gate(*annotations.gate, comment);
  add_checks(report, comment);
  const std::size_t left_out = add_findings(views, comment);
  if (comment.full()) {
    out << fmt::format(
        "\n**Something is left out here** ({}): a comment on GitHub takes {} characters. `lt-audit show` shows the "
        "whole "
        "report.\n",
        left_out == 0 ? "rows above the findings" : counted(left_out, "finding"), kMostBytes);
  }
}

}  // namespace lt_audit
