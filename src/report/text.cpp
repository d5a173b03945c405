// The text output of a run: what is audited, one row for each check, the findings, the last line.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostFindings = 12;
constexpr std::size_t kFindingIndent = 6;
constexpr std::size_t kLabelWidth = 10;
constexpr std::string_view kBetween = " · ";

using Counter = std::uint64_t Summary::*;
constexpr std::array<std::pair<Counter, std::string_view>, 5> kCounters = {{{&Summary::pass, "pass"},
                                                                            {&Summary::warn, "warn"},
                                                                            {&Summary::fail, "fail"},
                                                                            {&Summary::skip, "skip"},
                                                                            {&Summary::error, "error"}}};

std::size_t digits(std::uint64_t number) { return std::to_string(number).size(); }

/// Widths of the columns of the table of checks.
struct RowLayout {
  std::size_t name = 14;
  std::size_t cases = 1;
  /// Digits of each counter's column; 0 = the column is left out.
  std::array<std::size_t, kCounters.size()> counters = {1, 1, 1, 1, 1};
  std::size_t edge = 0;

  std::size_t width() const {
    std::size_t sum = 2 + name + 3 + cases + 6;
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (counters[i] != 0) sum += 3 + counters[i] + 1 + kCounters[i].second.size();
    }
    return sum;
  }
};

RowLayout layout_of(std::span<const CheckResult> checks, const TextOptions& options) {
  constexpr std::size_t kSecondsWidth = 9;
  RowLayout layout;
  std::array<bool, kCounters.size()> used = {};
  for (const CheckResult& check : checks) {
    const Summary summary = summary_of(check);
    layout.name = std::max(layout.name, text_width(printable(check.id)));
    layout.cases = std::max(layout.cases, digits(summary.total));
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      const std::uint64_t count = summary.*kCounters[i].first;
      layout.counters[i] = std::max(layout.counters[i], digits(count));
      used[i] = used[i] || count != 0;
    }
  }
  layout.edge = std::min<std::size_t>(paragraph_width(options), 100);
  // Columns that no check needs go first when the terminal is narrow.
  for (std::size_t i = kCounters.size(); i-- > 0 && layout.width() + kSecondsWidth > layout.edge;) {
    if (!used[i]) layout.counters[i] = 0;
  }
  return layout;
}

std::string check_row(const CheckResult& check, const RowLayout& layout) {
  const Summary summary = summary_of(check);
  std::string row =
      fmt::format("  {}   {} {}", padded(printable(check.id), layout.name),
                  right_aligned(std::to_string(summary.total), layout.cases), summary.total == 1 ? "case " : "cases");
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    const auto& [counter, word] = kCounters[i];
    if (layout.counters[i] == 0) continue;
    const std::size_t width = layout.counters[i] + 1 + word.size();
    const std::uint64_t count = summary.*counter;
    row += "   " + padded(count == 0 ? "" : right_aligned(fmt::format("{} {}", count, word), width), width);
  }
  const std::string seconds = seconds_text(check.elapsed_s);
  const std::size_t used = text_width(row);
  const std::size_t room = layout.edge > used + 2 ? layout.edge - used : 2 + seconds.size();
  return row + right_aligned(seconds, room);
}

std::string counts_text(const Summary& summary) {
  std::string text = fmt::format("{}: {} pass, {} warn, {} fail", counted(summary.total, "case"), summary.pass,
                                 summary.warn, summary.fail);
  if (summary.skip != 0) text += fmt::format(", {} skip", summary.skip);
  return text + fmt::format(", {} error", summary.error);
}

void write_last_line(const Report& report, const TextOptions& options, std::ostream& out) {
  if (!report.complete) {
    write_labelled("INCOMPLETE:",
                   report.incomplete_reason.empty() ? "the audit did not come to its end" : report.incomplete_reason, 0,
                   12, paragraph_width(options), out);
  }
  out << counts_text(summary_of(report)) << kBetween << seconds_text(report.elapsed_s);
  if (!options.report_path.empty()) out << kBetween << "report " << printable(options.report_path);
  out << kBetween << "exit " << report.exit_code << '\n';
}

void write_findings(const Report& report, const TextOptions& options, std::ostream& out) {
  const std::vector<const Finding*> findings = sorted_findings(report, options.verbose);
  std::size_t check_width = 0;
  for (const Finding* finding : findings) check_width = std::max(check_width, text_width(printable(finding->check)));
  const std::size_t shown = options.verbose ? findings.size() : std::min(findings.size(), kMostFindings);
  for (std::size_t i = 0; i < shown; ++i) write_finding(*findings[i], check_width, options, out);
  if (shown < findings.size()) {
    const std::string where =
        options.report_path.empty() ? "run with -v" : "lt-audit show " + printable(options.report_path);
    out << fmt::format("... and {}: {}\n", counted(findings.size() - shown, "more finding"), where);
  }
  if (!findings.empty()) out << '\n';
}

}  // namespace

void write_alarm(const Report& report, std::ostream& out) {
  const std::string version = report.target.cublaslt.loaded() ? " " + report.target.cublaslt.version() : "";
  const std::string fault = printable(report.fault);
  if (report.target.kind == PlatformKind::simulator) {
    out << "SIMULATOR: no GPU was audited; a model of a faultless cuBLASLt" << version << " answered";
    if (!fault.empty()) out << " with the fault " << fault << " planted";
    out << '\n';
  } else if (!fault.empty()) {
    out << "FAULT PLANTED: " << fault << "; what follows says nothing about this library\n";
  }
}

std::string headline(const Report& report) {
  const DeviceFacts& facts = report.target.device_facts;
  std::string line = "lt-audit " + printable(report.tool_version);
  if (!facts.name.empty()) {
    line += fmt::format("{}{} (sm_{}, {} SMs)", kBetween, printable(facts.name), facts.compute_capability(),
                        facts.multiprocessors);
  }
  if (!report.target.driver_text.empty())
    line += fmt::format("{}driver {}", kBetween, printable(report.target.driver_text));
  if (report.target.cublaslt.loaded()) line += fmt::format("{}cuBLASLt {}", kBetween, report.target.cublaslt.version());
  return line;
}

void write_case_line(const CaseResult& result, std::size_t id_width, const TextOptions& options, std::ostream& out) {
  constexpr std::size_t kIndent = 4;
  constexpr std::size_t kStatusWidth = 7;
  const std::string id = padded(printable(result.id), id_width);
  const std::string text = printable(result.sentence.empty() ? result.problem : result.sentence);
  const auto columns = static_cast<std::size_t>(std::max(options.columns, 40));
  const std::size_t used = kIndent + kStatusWidth + text_width(id) + 2;
  out << std::string(kIndent, ' ') << status_word(result.status, options.color, kStatusWidth) << id << "  "
      << fitted(text, columns > used + 10 ? columns - used : 10) << '\n';
}

void write_check_rows(std::span<const CheckResult> checks, const TextOptions& options, std::ostream& out) {
  const RowLayout layout = layout_of(checks, options);
  for (const CheckResult& check : checks) {
    if (check.cases.empty()) {
      const std::string reason = check.skip_reason.empty() ? "no cases" : check.skip_reason;
      write_labelled(printable(check.id), fmt::format("{}: {}", name_of(check.status), reason), 2, layout.name + 3,
                     paragraph_width(options), out);
      continue;
    }
    out << check_row(check, layout) << '\n';
    if (!options.verbose) continue;
    std::size_t id_width = 0;
    for (const CaseResult& result : check.cases) id_width = std::max(id_width, text_width(printable(result.id)));
    for (const CaseResult& result : check.cases)
      write_case_line(result, std::min<std::size_t>(id_width, 40), options, out);
  }
}

std::vector<const Finding*> sorted_findings(const Report& report, bool with_skips) {
  std::vector<const Finding*> findings;
  for (const Finding& finding : report.findings) {
    // A case that does not fit here is no problem of the library: the skip column says how many there were.
    if (with_skips || finding.status != Status::skip) findings.push_back(&finding);
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding* left, const Finding* right) {
    if (left->status != right->status) return worse(left->status, right->status) == left->status;
    return left->count > right->count;
  });
  return findings;
}

void write_finding(const Finding& finding, std::size_t check_width, const TextOptions& options, std::ostream& out) {
  const std::size_t width = paragraph_width(options);
  const std::string count = counted(finding.count, "case");
  const std::string check = padded(printable(finding.check), check_width) + "  ";
  const std::size_t hanging = kFindingIndent + text_width(check);
  const std::size_t taken = hanging + 2 + text_width(count);
  const std::vector<std::string> title = wrapped(finding.title, width > taken + 20 ? width - taken : 20);
  const std::string first = title.empty() ? "" : title.front();
  out << status_word(finding.status, options.color, kFindingIndent) << check << first;
  const std::size_t used = hanging + text_width(first);
  out << right_aligned(count, width > used + text_width(count) ? width - used : text_width(count) + 2) << '\n';
  for (std::size_t i = 1; i < title.size(); ++i) out << std::string(hanging, ' ') << title[i] << '\n';
  const auto field = [&](std::string_view label, const std::string& text) {
    write_labelled(label, text, kFindingIndent, kLabelWidth, width, out);
  };
  field("measured", finding.measured);
  field("expected", finding.expected);
  field("rule", finding.rule);
  field("remedy", finding.remedy);
  if (!finding.repro.empty()) {
    // Never broken: a command that was wrapped cannot be copied.
    out << std::string(kFindingIndent, ' ') << padded("again", kLabelWidth) << printable(finding.repro) << '\n';
  }
}

void write_text(const Report& report, const TextOptions& options, std::ostream& out) {
  write_alarm(report, out);
  if (!options.quiet) {
    out << headline(report) << '\n';
    for (const std::string& warning : report.environment.warnings) {
      write_labelled("note", warning, 0, kFindingIndent, paragraph_width(options), out);
    }
    out << '\n';
    write_check_rows(report.checks, options, out);
    if (!report.checks.empty()) out << '\n';
    for (const CheckResult& check : report.checks) write_route_table(check, options, !options.verbose, out);
    write_workload_table(report, options, out);
  }
  write_findings(report, options, out);
  write_last_line(report, options, out);
}

}  // namespace lt_audit
