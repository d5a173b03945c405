// Summary, banners and checks of the HTML page.
#include "report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>
#include <vector>

#include "report/html_text.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostDetails = 50;

using Counter = std::uint64_t Summary::*;
constexpr std::array<std::pair<Counter, Status>, 5> kCounters = {{{&Summary::fail, Status::fail},
                                                                  {&Summary::error, Status::error},
                                                                  {&Summary::warn, Status::warn},
                                                                  {&Summary::skip, Status::skip},
                                                                  {&Summary::pass, Status::pass}}};

/// A row of facts; nothing for one that is not known.
void write_fact(std::string_view name, std::string_view value, std::ostream& out) {
  if (value.empty()) return;
  out << "<div><dt>" << name << "</dt><dd>" << html_escaped(value) << "</dd></div>\n";
}

void write_banner(std::string_view kind, std::string_view title, std::string_view text, std::ostream& out) {
  out << "<div class=\"banner " << kind << "\"><strong>" << title << "</strong> " << html_escaped(text) << "</div>\n";
}

void write_entries(std::string_view title, const std::vector<GateEntry>& entries, std::ostream& out) {
  if (entries.empty()) return;
  out << "<h3>" << title << "</h3>\n<ul class=\"gate-entries\">\n";
  for (const GateEntry& entry : entries) {
    out << "<li><span class=\"code\">" << html_escaped(entry.code) << "</span> " << html_escaped(entry.title);
    if (!entry.details.empty()) {
      out << "<details><summary>" << counted(entry.details.size(), "detail") << "</summary><ul>";
      const std::size_t shown = std::min(entry.details.size(), kMostDetails);
      for (std::size_t i = 0; i < shown; ++i) out << "<li>" << html_escaped(entry.details[i]) << "</li>\n";
      if (shown < entry.details.size()) out << "<li>and " << entry.details.size() - shown << " more</li>\n";
      out << "</ul></details>";
    }
    if (!entry.next.empty()) out << "<p class=\"next\">Next: " << html_escaped(entry.next) << "</p>";
    out << "</li>\n";
  }
  out << "</ul>\n";
}

void write_gate(const GateDecision& gate, std::ostream& out) {
  out << "<section class=\"gate " << (gate.open ? "open" : "closed") << "\" aria-label=\"Gate\">\n<h2>"
      << status_badge(gate.open ? Status::pass : Status::fail) << " The gate is " << (gate.open ? "open" : "closed")
      << "</h2>\n";
  write_entries("What closes it", gate.reasons, out);
  write_entries("Remarks", gate.remarks, out);
  out << "</section>\n";
}

std::string library_text(const LibraryFacts& library) {
  if (!library.loaded()) return {};
  std::string text = library.version();
  if (!library.path.empty()) text += " · " + library.path;
  if (!library.build_id.empty()) text += " · build " + library.build_id;
  return text;
}

/// 13000 is CUDA 13.0.
std::string cuda_version(int number) {
  return number == 0 ? std::string() : fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string device_text(const Target& target) {
  const DeviceFacts& facts = target.device_facts;
  if (facts.name.empty()) return {};
  std::string text = fmt::format("{} · sm_{} · {} SMs", facts.name, facts.compute_capability(), facts.multiprocessors);
  if (facts.memory_bytes != 0) {
    text += fmt::format(" · {:.1f} GiB", static_cast<double>(facts.memory_bytes) / (1024.0 * 1024.0 * 1024.0));
  }
  if (target.device_count > 1) text += fmt::format(" · device {} of {}", target.device, target.device_count);
  return text;
}

std::string command_of(const Report& report) {
  std::string command = "lt-audit";
  for (const std::string& argument : report.arguments) command += " " + argument;
  return command;
}

void write_counts(const Summary& summary, std::ostream& out) {
  out << "<ul class=\"counts\" aria-label=\"Cases by status\">\n";
  for (const auto& [counter, status] : kCounters) {
    const std::uint64_t count = summary.*counter;
    out << "<li class=\"" << name_of(status) << (count == 0 ? " none" : "") << "\"><span class=\"number\">"
        << grouped(count) << "</span> " << status_badge(status) << "</li>\n";
  }
  out << "<li class=\"total\"><span class=\"number\">" << grouped(summary.total) << "</span> cases</li>\n</ul>\n";
}

/// Shares of the statuses; a share that is not nothing stays visible.
void write_shares(const Summary& summary, std::ostream& out) {
  if (summary.total == 0) return;
  constexpr double kWidth = 1000;
  constexpr double kLeast = 4;
  out << "<svg class=\"shares\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">";
  double at = 0;
  for (const auto& [counter, status] : kCounters) {
    const std::uint64_t count = summary.*counter;
    if (count == 0) continue;
    const double share = kWidth * static_cast<double>(count) / static_cast<double>(summary.total);
    const double width = status == Status::pass ? std::max(0.0, kWidth - at) : std::max(share, kLeast);
    out << fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"10\"/>", name_of(status), at,
                       width);
    at += width;
  }
  out << "</svg>\n";
}

void write_check_row(const CheckResult& check, std::size_t index, std::ostream& out) {
  const Summary summary = summary_of(check);
  out << "<tr><th scope=\"row\"><a href=\"#check-" << index << "\">" << html_escaped(check.id) << "</a></th><td>"
      << status_badge(check.status) << "</td>";
  for (const auto& [counter, status] : kCounters) {
    const std::uint64_t count = summary.*counter;
    out << "<td class=\"number" << (count == 0 ? " none" : "") << "\">" << grouped(count) << "</td>";
  }
  out << "<td class=\"number\">" << grouped(summary.total) << "</td><td class=\"number\">"
      << seconds_text(check.elapsed_s) << "</td></tr>\n";
}

/// Findings of a check, by their place in the order of the page.
void write_links(const CheckResult& check, const std::vector<const Finding*>& findings, std::ostream& out) {
  std::string_view start = "<ul class=\"check-findings\">\n";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i]->check != check.id || findings[i]->status == Status::skip) continue;
    out << start << "<li>" << status_badge(findings[i]->status) << " <a href=\"#finding-" << i << "\">"
        << html_escaped(findings[i]->title) << "</a> <span class=\"muted\">" << grouped(findings[i]->count)
        << "</span></li>\n";
    start = "";
  }
  if (start.empty()) out << "</ul>\n";
}

void write_check_section(const CheckResult& check, std::size_t index, const std::vector<const Finding*>& findings,
                         std::ostream& out) {
  out << "<section class=\"check\" id=\"check-" << index << "\" aria-labelledby=\"check-title-" << index << "\">\n"
      << "<h3 id=\"check-title-" << index << "\">" << html_escaped(check.id) << ' ' << status_badge(check.status)
      << "</h3>\n";
  if (!check.skip_reason.empty()) out << "<p>Not run: " << html_escaped(check.skip_reason) << "</p>\n";
  write_links(check, findings, out);
  if (!check.cases.empty()) {
    out << "<p class=\"check-line\">" << grouped(check.cases.size()) << (check.cases.size() == 1 ? " case" : " cases")
        << " <button type=\"button\" class=\"quiet show-cases\" data-check=\"" << index
        << "\" hidden>Show in the table</button></p>\n<div class=\"pictures\" data-check=\"" << index << "\"></div>\n";
  }
  out << "</section>\n";
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string status_badge(Status status) {
  const std::string_view name = name_of(status);
  return fmt::format(
      "<span class=\"status {0}\"><svg class=\"glyph\" aria-hidden=\"true\"><use href=\"#g-{0}\"/></svg>{0}</span>",
      name);
}

void write_html_banners(const Report& report, const Annotations& annotations, std::ostream& out) {
  if (report.target.kind == PlatformKind::simulator) {
    write_banner("loud", "SIMULATOR", "No GPU was audited: a model of a faultless cuBLASLt answered.", out);
  }
  if (!report.fault.empty()) {
    write_banner("loud", "FAULT PLANTED", report.fault + ": what follows says nothing about this library.", out);
  }
  if (!report.complete) {
    write_banner("loud", "INCOMPLETE",
                 report.incomplete_reason.empty() ? "The audit did not come to its end." : report.incomplete_reason,
                 out);
  }
  if (annotations.gate) write_gate(*annotations.gate, out);
}

void write_html_summary(const Report& report, std::ostream& out) {
  const Target& target = report.target;
  const Environment& environment = report.environment;
  const std::string library = target.cublaslt.loaded() ? "cuBLASLt " + target.cublaslt.version() : "cuBLASLt";
  const std::string device = target.kind == PlatformKind::simulator ? "simulator" : target.device_facts.name;
  out << "<h1 id=\"summary-title\">" << html_escaped(library) << " on "
      << html_escaped(device.empty() ? "no GPU" : device) << "</h1>\n";
  const Summary summary = summary_of(report);
  write_counts(summary, out);
  write_shares(summary, out);
  if (!environment.warnings.empty()) {
    out << "<ul class=\"warnings\" aria-label=\"Warnings about the environment\">\n";
    for (const std::string& warning : environment.warnings) {
      out << "<li>" << status_badge(Status::warn) << ' ' << html_escaped(warning) << "</li>\n";
    }
    out << "</ul>\n";
  }
  out << "<dl class=\"facts\">\n";
  write_fact("GPU", device_text(target), out);
  write_fact("cuBLASLt", library_text(target.cublaslt), out);
  write_fact("cuBLAS", library_text(target.cublas), out);
  write_fact("Driver", target.driver_text, out);
  write_fact("CUDA", cuda_version(target.runtime_version), out);
  write_fact("System", environment.os, out);
  write_fact("Host", environment.host, out);
  write_fact("Started", report.started, out);
  write_fact("Took", seconds_text(report.elapsed_s), out);
  write_fact("Depth", fmt::format("{}, seed {}", report.depth, report.seed), out);
  write_fact("Complete", report.complete ? "yes: everything that was asked for ran" : "NO", out);
  write_fact("Exit code", std::to_string(report.exit_code), out);
  write_fact("Command", command_of(report), out);
  write_fact("Tool", "lt-audit " + report.tool_version, out);
  out << "</dl>\n";
}

void write_html_checks(const Report& report, std::ostream& out) {
  out << "<h2 id=\"checks-title\">Checks</h2>\n<div class=\"table-frame\"><table class=\"check-table\">\n<thead><tr>"
         "<th scope=\"col\">Check</th><th scope=\"col\">Status</th>";
  for (const auto& [counter, status] : kCounters) {
    out << "<th scope=\"col\" class=\"number\">" << name_of(status) << "</th>";
  }
  out << "<th scope=\"col\" class=\"number\">cases</th><th scope=\"col\" "
         "class=\"number\">time</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < report.checks.size(); ++i) write_check_row(report.checks[i], i, out);
  out << "</tbody></table></div>\n<noscript><p class=\"needs-script\">The pictures of the checks need "
         "JavaScript.</p></noscript>\n";
  const std::vector<const Finding*> findings = sorted_findings(report, true);
  for (std::size_t i = 0; i < report.checks.size(); ++i) write_check_section(report.checks[i], i, findings, out);
}

}  // namespace lt_audit
