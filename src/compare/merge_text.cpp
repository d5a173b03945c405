// A merge for people: the sentences about a node, the text for a terminal and Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <utility>

#include "compare/merge_formats.h"
#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostNodes = 10;
constexpr std::size_t kMostFindings = 20;
constexpr std::size_t kMostCases = 3;
constexpr std::size_t kMostNames = 6;

bool holds(const std::vector<std::size_t>& nodes, std::size_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// The words of the report for a property.
std::string_view label_of(std::string_view property) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kLabels = {{{"tool", "lt-audit"},
                                                                                     {"depth", "depth"},
                                                                                     {"seed", "seed"},
                                                                                     {"gpu", "GPU"},
                                                                                     {"driver", "driver"},
                                                                                     {"cublaslt", "cuBLASLt"},
                                                                                     {"cublas", "cuBLAS"}}};
  for (const auto& [name, label] : kLabels) {
    if (name == property) return label;
  }
  return property;
}

std::string names_of(const Merged& merged, const std::vector<std::size_t>& nodes, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), most); ++i) {
    if (i > 0) text += ", ";
    text += printable(merged.nodes[nodes[i]].name);
  }
  if (nodes.size() > most) text += fmt::format(" and {} more", nodes.size() - most);
  return text;
}

std::string end_text(const DifferingCase::End& end) {
  return fmt::format("{} ({})", name_of(end.status), name_of(end.outcome));
}

/// Status words by count, worst first: "3 fail, 15 warn".
std::string counts_of(const Merged& merged) {
  std::string text;
  for (const Status status : {Status::fail, Status::error, Status::warn}) {
    const auto count = std::count_if(merged.findings.begin(), merged.findings.end(),
                                     [status](const MergedFinding& finding) { return finding.status == status; });
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(status));
  }
  return text;
}

void add_properties(const Merged& merged, std::size_t node, std::vector<std::string>& sentences) {
  for (const MergedProperty& property : merged.properties) {
    for (std::size_t i = property.has_majority() ? 1 : 0; i < property.values.size(); ++i) {
      const MergedProperty::Value& value = property.values[i];
      if (!holds(value.nodes, node)) continue;
      const MergedProperty::Value& other = property.values[i == 0 ? 1 : 0];
      sentences.push_back(fmt::format("{} {}, where {} {} {}", label_of(property.name), printable(value.text),
                                      counted(other.nodes.size(), "node"), other.nodes.size() == 1 ? "has" : "have",
                                      printable(other.text)));
    }
  }
}

void add_cases(const Merged& merged, std::size_t node, std::size_t most, std::vector<std::string>& sentences) {
  std::size_t count = 0;
  std::vector<std::string> named;
  for (const DifferingCase& one : merged.differing) {
    for (std::size_t i = one.has_majority() ? 1 : 0; i < one.ends.size(); ++i) {
      if (!holds(one.ends[i].nodes, node)) continue;
      ++count;
      if (named.size() >= most) continue;
      const DifferingCase::End& other = one.ends[i == 0 ? 1 : 0];
      named.push_back(fmt::format("{}/{}: {}, on {} {}", printable(one.check), printable(one.id), end_text(one.ends[i]),
                                  counted(other.nodes.size(), "node"), end_text(other)));
    }
  }
  if (count == 0) return;
  std::string text =
      fmt::format("{} of {} end{} differently: ", counted(count, "case"), merged.compared_cases, count == 1 ? "s" : "");
  for (std::size_t i = 0; i < named.size(); ++i) text += (i > 0 ? "; " : "") + named[i];
  if (count > named.size()) text += fmt::format("; and {} more", count - named.size());
  sentences.push_back(std::move(text));
}

void add_speed(const Merged& merged, std::size_t node, std::size_t most, std::vector<std::string>& sentences) {
  for (const NodeSpeed& speed : merged.speeds) {
    if (speed.node != node || !speed.differs) continue;
    const bool slower = speed.slower >= speed.faster;
    std::string text = fmt::format(
        "{} in {} of {} timed cases; over all of them its time is {:.2f} times the nodes' median",
        slower ? "slower" : "faster", slower ? speed.slower : speed.faster, speed.timed, speed.median_ratio);
    std::size_t named = 0;
    for (const SpeedOutlier& outlier : merged.outliers) {
      if (outlier.node != node || (outlier.us > outlier.median_us) != slower || named++ >= most) continue;
      text += fmt::format("{}{}/{}: {:.2f} us, median {:.2f} us", named == 1 ? ": " : "; ", printable(outlier.check),
                          printable(outlier.id), outlier.us, outlier.median_us);
    }
    sentences.push_back(std::move(text));
  }
}

/// The values that most nodes have, for the first line.
std::string headline_of(const Merged& merged) {
  std::string text = fmt::format("lt-audit merge · {}", counted(merged.nodes.size(), "report"));
  for (const MergedProperty& property : merged.properties) {
    if (property.name == "seed" || property.name == "cublas" || property.name == "depth" || !property.has_majority())
      continue;
    const std::string_view label = property.name == "gpu" ? "" : label_of(property.name);
    text += fmt::format(" · {}{}{}", label, label.empty() ? "" : " ", printable(property.values[0].text));
  }
  return text;
}

void write_nodes(const Merged& merged, const TextOptions& options, std::ostream& out) {
  const std::size_t columns = paragraph_width(options);
  const std::vector<bool> differing = merged.differing_nodes();
  std::size_t width = 0;
  std::size_t all = 0;
  for (std::size_t i = 0; i < differing.size(); ++i) {
    if (!differing[i]) continue;
    ++all;
    width = std::max(width, text_width(printable(merged.nodes[i].name)));
  }
  width = std::min<std::size_t>(width, 30) + 2;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < differing.size() && (options.verbose || shown < kMostNodes); ++i) {
    if (!differing[i]) continue;
    ++shown;
    std::string name = printable(merged.nodes[i].name);
    for (const std::string& sentence :
         differences_of(merged, i, options.verbose ? merged.differing.size() : kMostCases)) {
      write_labelled(std::exchange(name, ""), sentence, 2, width, columns, out);
    }
  }
  if (all > shown) out << fmt::format("  ... and {} more: -v names them\n", counted(all - shown, "node"));
  if (all > 0) out << '\n';
}

void write_finding_rows(const Merged& merged, const TextOptions& options, std::ostream& out) {
  constexpr std::size_t kIndent = 6;
  const std::size_t columns = paragraph_width(options);
  const std::size_t shown = options.verbose ? merged.findings.size() : std::min(merged.findings.size(), kMostFindings);
  std::size_t width = 0;
  for (const MergedFinding& finding : merged.findings) width = std::max(width, text_width(printable(finding.check)));
  width = std::min<std::size_t>(width, 24) + 2;
  for (std::size_t i = 0; i < shown; ++i) {
    const MergedFinding& finding = merged.findings[i];
    const std::string where =
        fmt::format("{} of {}", finding.nodes.size(), counted(finding.nodes.size() + finding.without.size(), "node"));
    const std::size_t taken = kIndent + width + text_width(where) + 2;
    const std::size_t room = columns > taken + 20 ? columns - taken : 20;
    const std::string title = fitted(printable(finding.title), room);
    out << status_word(finding.status, options.color, kIndent) << padded(printable(finding.check), width)
        << padded(title, room) << "  " << where << '\n';
    const auto row = [&](const char* label, const std::vector<std::size_t>& nodes) {
      if (nodes.empty()) return;
      const std::size_t most = options.verbose ? nodes.size() : kMostNames;
      write_labelled(label, names_of(merged, nodes, most), kIndent, 12, columns, out);
    };
    if (finding.nodes.size() <= finding.without.size()) {
      row("only on", finding.nodes);
    } else {
      row("not on", finding.without);
    }
    row("not run on", finding.not_run);
    if (options.verbose && title != printable(finding.title))
      write_labelled("title", finding.title, kIndent, 12, columns, out);
    if (options.verbose && !finding.remedy.empty()) write_labelled("remedy", finding.remedy, kIndent, 12, columns, out);
  }
  if (shown < merged.findings.size()) {
    out << fmt::format("... and {}: -v shows them\n", counted(merged.findings.size() - shown, "more finding"));
  }
  if (!merged.findings.empty()) out << '\n';
}

/// Foreign text in Markdown: nothing in it becomes markup, a link, a mention or a row of a table.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    constexpr std::string_view kMarkup = "\\`*_[]#|~";
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '@') {
      result += "&#64;";
    } else {
      if (kMarkup.find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> differences_of(const Merged& merged, std::size_t node, std::size_t most) {
  std::vector<std::string> sentences;
  add_properties(merged, node, sentences);
  add_cases(merged, node, most, sentences);
  if (const std::uint64_t missing = merged.nodes[node].missing_cases; missing > 0) {
    sentences.push_back(fmt::format("{} that most nodes ran did not run here", counted(missing, "case")));
  }
  add_speed(merged, node, most, sentences);
  return sentences;
}

std::string merge_summary(const Merged& merged) {
  const std::vector<bool> differing = merged.differing_nodes();
  const auto differ = static_cast<std::size_t>(std::count(differing.begin(), differing.end(), true));
  const std::size_t compared = merged.compared_nodes();
  std::string text = fmt::format("{}: {} agree, {} differ{}", counted(compared, "node"), compared - differ, differ,
                                 differ == 1 ? "s" : "");
  if (merged.nodes.size() > compared) text += fmt::format(", {} set aside", merged.nodes.size() - compared);
  const std::string counts = counts_of(merged);
  return text + fmt::format("; {}{}", counted(merged.findings.size(), "finding"),
                            counts.empty() ? "" : fmt::format(" ({})", counts));
}

std::vector<std::string> speed_remarks(const Merged& merged) {
  std::vector<std::string> remarks;
  for (const SpeedGroup& group : merged.speed_groups) {
    if (!group.not_compared.empty()) {
      remarks.push_back(fmt::format("speed is not compared among {} with {}: {}", counted(group.nodes.size(), "node"),
                                    printable(group.gpu), group.not_compared));
      continue;
    }
    std::size_t outliers = 0;
    for (const NodeSpeed& speed : merged.speeds) outliers += speed.differs && holds(group.nodes, speed.node) ? 1 : 0;
    std::size_t times = 0;
    for (const SpeedOutlier& outlier : merged.outliers) times += holds(group.nodes, outlier.node) ? 1 : 0;
    remarks.push_back(fmt::format("speed: {} of {} with {}; {} {}, {} in all", counted(group.timed_cases, "timed case"),
                                  counted(group.nodes.size(), "node"), printable(group.gpu), counted(outliers, "node"),
                                  outliers == 1 ? "differs" : "differ", counted(times, "outlier")));
  }
  return remarks;
}

void write_merge_text(const Merged& merged, const TextOptions& options, int exit_code, std::ostream& out) {
  for (const std::string& warning : merged.warnings) {
    write_labelled("!!", warning, 0, 4, paragraph_width(options), out);
  }
  if (!options.quiet) {
    write_labelled("", headline_of(merged), 0, 0, paragraph_width(options), out);
    for (const std::string& remark : speed_remarks(merged)) {
      write_labelled("", remark, 0, 0, paragraph_width(options), out);
    }
    out << '\n';
  }
  write_nodes(merged, options, out);
  write_finding_rows(merged, options, out);
  out << merge_summary(merged) << " · exit " << exit_code << '\n';
}

void write_merge_markdown(const Merged& merged, int exit_code, std::ostream& out) {
  out << fmt::format("### lt-audit merge: {}\n\n", merge_summary(merged));
  for (const std::string& warning : merged.warnings) out << fmt::format("> **{}**\n>\n", escaped(warning));
  if (!merged.warnings.empty()) out << '\n';
  const std::vector<bool> differing = merged.differing_nodes();
  if (std::find(differing.begin(), differing.end(), true) != differing.end()) {
    out << "| node | differs in |\n| --- | --- |\n";
    std::size_t shown = 0;
    for (std::size_t i = 0; i < differing.size(); ++i) {
      if (!differing[i] || ++shown > kMostNodes) continue;
      std::string cell;
      for (const std::string& sentence : differences_of(merged, i, kMostCases)) {
        cell += (cell.empty() ? "" : "<br>") + escaped(sentence);
      }
      out << fmt::format("| {} | {} |\n", escaped(merged.nodes[i].name), cell);
    }
    if (shown > kMostNodes) out << fmt::format("\nand {} more\n", counted(shown - kMostNodes, "node"));
    out << '\n';
  }
  if (!merged.findings.empty())
    out << "| status | check | finding | nodes | not on |\n| --- | --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < std::min(merged.findings.size(), kMostFindings); ++i) {
    const MergedFinding& finding = merged.findings[i];
    out << fmt::format("| {} | {} | {} | {} of {} | {} |\n", name_of(finding.status), escaped(finding.check),
                       escaped(finding.title), finding.nodes.size(), finding.nodes.size() + finding.without.size(),
                       escaped(names_of(merged, finding.without, kMostNames)));
  }
  if (merged.findings.size() > kMostFindings) {
    out << fmt::format("\nand {}\n", counted(merged.findings.size() - kMostFindings, "more finding"));
  }
  out << '\n';
  for (const std::string& remark : speed_remarks(merged)) out << escaped(remark) << "\n\n";
  out << fmt::format("exit code {}\n", exit_code);
}

}  // namespace lt_audit
