// A decision for people.
#include "cli/gate_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <sstream>
#include <string_view>

#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kLabelWidth = 8;
constexpr std::string_view kBetween = " · ";

/// How much of the entries is shown.
struct Share {
  std::size_t entries = 0;
  std::size_t details = 0;
};

std::string counts_text(const GateView& view) {
  const GateCounts& counts = view.result.counts;
  std::vector<std::pair<std::uint64_t, std::string_view>> parts{
      {counts.closing, view.files.baseline ? "new" : "not accepted"},
      {counts.missing, "missing"},
      {counts.known, "known"},
      {counts.waived, "waived"}};
  std::string text = counted(summary_of(view.report).total, "case");
  std::string_view before = ": ";
  for (const auto& [count, word] : parts) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", before, count, word);
    before = ", ";
  }
  return text;
}

/// "NVIDIA H200, cuBLASLt 13.1.0, 2026-11-30T04:16:43Z, lt-audit.json"
std::string origin_text(const GateView& view) {
  const Report& report = view.report;
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  add(report.target.device_facts.name);
  if (report.target.cublaslt.loaded()) add("cuBLASLt " + report.target.cublaslt.version());
  add(report.started);
  add(view.report_path);
  return text;
}

void write_decision(const GateView& view, const TextOptions& options, std::ostream& out) {
  const bool open = view.result.decision().open;
  out << (open ? colored("GATE OPEN", Status::pass, options.color)
               : colored("GATE CLOSED", Status::fail, options.color));
  // An open gate must not look as if a GPU had answered.
  if (view.report.target.kind == PlatformKind::simulator) out << kBetween << "SIMULATOR";
  out << kBetween << counts_text(view) << kBetween << "exit " << view.result.exit_code << '\n';
  if (!options.quiet) write_labelled("of", origin_text(view), 0, kLabelWidth, paragraph_width(options), out);
}

/// Commands stay whole: one that was wrapped cannot be copied.
void write_next(const std::string& next, const TextOptions& options, std::ostream& out) {
  if (next.empty()) return;
  if (next.find("lt-audit ") != std::string::npos || next.starts_with("cp ")) {
    out << padded("  next", kLabelWidth) << printable(next) << '\n';
  } else {
    write_labelled("  next", next, 0, kLabelWidth, paragraph_width(options), out);
  }
}

void write_details(const GateEntry& entry, std::size_t most, const TextOptions& options, std::ostream& out) {
  const std::size_t room = paragraph_width(options) - kLabelWidth - 2;
  for (std::size_t i = 0; i < std::min(most, entry.details.size()); ++i) {
    if (options.verbose) {
      write_labelled("", entry.details[i], 0, kLabelWidth + 2, paragraph_width(options), out);
    } else {
      out << std::string(kLabelWidth + 2, ' ') << fitted(printable(entry.details[i]), room) << '\n';
    }
  }
  if (most > 0 && entry.details.size() > most)
    out << std::string(kLabelWidth + 2, ' ') << fmt::format("and {} more: -v shows all\n", entry.details.size() - most);
}

constexpr std::string_view kClosed = "closed";

void write_entry(std::string_view label, const GateEntry& entry, std::size_t details, const TextOptions& options,
                 std::ostream& out) {
  std::ostringstream title;
  write_labelled(label, entry.title, 0, kLabelWidth, paragraph_width(options), title);
  // Coloured afterwards: the codes have no width.
  out << colored(label, Status::fail, options.color && label == kClosed) << title.str().substr(label.size());
  write_details(entry, details, options, out);
  write_next(entry.next, options, out);
}

/// Few reasons leave room for cases.
Share share_of_reasons(std::size_t reasons, const TextOptions& options) {
  constexpr std::size_t kMost = 6;
  constexpr std::size_t kFew = 2;
  if (options.verbose) return {reasons, std::string::npos};
  return {std::min(reasons, kMost), reasons <= kFew ? std::size_t{3} : std::size_t{1}};
}

/// What a remark is about in brief: its cases are counts that -v has, its waivers are edits to be made.
std::size_t details_of_remark(const GateEntry& entry, const TextOptions& options) {
  constexpr std::array<std::string_view, 3> kCountsAlone{"known", "gone", "waived"};
  if (options.verbose) return std::string::npos;
  if (entry.code == "environment") return 5;
  if (entry.code == "waiver-elsewhere") return 0;
  return std::find(kCountsAlone.begin(), kCountsAlone.end(), entry.code) == kCountsAlone.end() ? 2 : 0;
}

/// "and 15 more reasons (14 new-finding, 1 case-missing): -v shows all"
std::string rest_text(const std::vector<GateEntry>& reasons, std::size_t shown) {
  std::map<std::string_view, std::size_t> codes;
  for (std::size_t i = shown; i < reasons.size(); ++i) ++codes[reasons[i].code];
  std::vector<std::string> texts;
  for (const auto& [code, count] : codes) texts.push_back(fmt::format("{} {}", count, code));
  return fmt::format("and {} ({}): -v shows all", counted(reasons.size() - shown, "more reason"),
                     fmt::join(texts, ", "));
}

}  // namespace

void write_gate_text(const GateView& view, const TextOptions& options, std::ostream& out) {
  const GateDecision& decision = view.result.decision();
  write_decision(view, options, out);
  const Share share = share_of_reasons(decision.reasons.size(), options);
  if (!decision.reasons.empty()) out << '\n';
  for (std::size_t i = 0; i < share.entries; ++i) {
    write_entry(kClosed, decision.reasons[i], options.quiet ? 0 : share.details, options, out);
  }
  if (share.entries < decision.reasons.size())
    write_labelled("", rest_text(decision.reasons, share.entries), 0, kLabelWidth, paragraph_width(options), out);
  if (options.quiet || decision.remarks.empty()) return;
  out << '\n';
  for (const GateEntry& entry : decision.remarks)
    write_entry("note", entry, details_of_remark(entry, options), options, out);
}

}  // namespace lt_audit
