// What several formats ask about a report.
#include "report/report_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "report/text_layout.h"

namespace lt_audit {
namespace {

std::string place_of(std::string_view check, std::string_view the_case) {
  return fmt::format("{}/{}", check, the_case);
}

Standing standing_of(Status status, const CaseNote& note, bool has_baseline) {
  switch (status) {
    case Status::pass:
      return Standing::pass;
    case Status::skip:
      return Standing::skip;
    case Status::error:
      return Standing::error;
    case Status::warn:
    case Status::fail:
      break;
  }
  if (note.waiver) return Standing::waived;
  if (has_baseline && !note.is_new) return Standing::known;
  return status == Status::warn ? Standing::warn : Standing::fail;
}

bool is_safe_in_quotes(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\'' || (c >= 0 && c < ' ') || c == 0x7F; });
}

void count(FindingTally& tally, const CaseView& view) {
  const bool had_open = tally.open > 0;
  switch (view.standing) {
    case Standing::known:
      ++tally.known;
      break;
    case Standing::waived:
      ++tally.waived;
      if (!tally.waiver) tally.waiver = view.note.waiver;
      break;
    default:
      ++tally.open;
  }
  if (tally.first == nullptr || (!had_open && tally.open > 0)) tally.first = view.result;
}

}  // namespace

ReportView::ReportView(const Report& report, const Annotations& annotations)
    : report_(report), annotations_(annotations) {
  for (const Finding& finding : report.findings) {
    for (const std::string& one : finding.cases) findings_.emplace(place_of(finding.check, one), &finding);
    tallies_[&finding] = {};
  }
  for (const CheckResult& check : report.checks) {
    for (const CaseResult& result : check.cases) {
      if (result.status == Status::pass) continue;
      const CaseView seen = view(check, result);
      if (seen.finding == nullptr) continue;
      count(tallies_[seen.finding], seen);
      if (!seen.finding->cases.empty() && seen.finding->cases.front() == result.id) {
        first_cases_.emplace(seen.finding, &result);
      }
    }
  }
  // Of a report that does not hold the cases nothing is waived or known.
  for (auto& [finding, tally] : tallies_) {
    if (tally.first == nullptr) tally.open = finding->count;
  }
}

CaseView ReportView::view(const CheckResult& check, const CaseResult& result) const {
  CaseView view;
  view.check = &check;
  view.result = &result;
  if (result.status == Status::pass) return view;
  const auto found = findings_.find(place_of(check.id, result.id));
  if (found != findings_.end()) view.finding = found->second;
  view.note = annotations_.note_of(check.id, result.id);
  view.standing = standing_of(result.status, view.note, annotations_.has_baseline);
  return view;
}

const FindingTally& ReportView::tally(const Finding& finding) const { return tallies_.at(&finding); }

std::string ReportView::again(const CaseView& view) const {
  if (view.finding == nullptr) return {};
  const std::string& command = view.finding->repro;
  const auto first = first_cases_.find(view.finding);
  if (first == first_cases_.end() || first->second == view.result) return command;
  // What is put in comes from the report: it must stay within the quotes that the command has around it.
  const auto with = [&command](const std::string& from, const std::string& to) -> std::string {
    const std::size_t at = from.empty() ? std::string::npos : command.find("'" + from + "'");
    if (at == std::string::npos || !is_safe_in_quotes(to)) return {};
    return std::string(command).replace(at + 1, from.size(), to);
  };
  const std::string problem = with(first->second->problem, view.result->problem);
  if (!problem.empty()) return problem;
  const std::string before = ":" + place_of(view.check->id, first->second->id);
  const std::size_t at = command.find(before);
  const std::string after = ":" + place_of(view.check->id, view.result->id);
  const bool plain = after.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:") ==
                     std::string::npos;
  if (at == std::string::npos || !plain) return command;
  return std::string(command).replace(at, before.size(), after);
}

std::optional<WorkloadPlace> workload_place(const CaseResult& result) {
  const auto source = result.parameters.find("source");
  if (source == result.parameters.end()) return std::nullopt;
  const std::string& text = source->second;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  WorkloadPlace place;
  place.file = text.substr(0, colon);
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, place.line);
  constexpr std::uint64_t kMostLines = 0x7FFFFFFF;
  if (error != std::errc() || last != end || place.line == 0 || place.line > kMostLines) return std::nullopt;
  if (place.file == "-" || place.file == "(standard input)") return std::nullopt;
  return place;
}

std::optional<double> case_seconds(const CaseResult& result) {
  // Not parsed: a tree of every observation would cost more than the whole format. A quote inside of a text is escaped,
  // so the key cannot be found there.
  constexpr std::string_view kKey = "\"host_us\":";
  const std::string_view text = result.observation;
  std::size_t at = text.rfind(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find_first_not_of(' ', at + kKey.size());
  if (at == std::string_view::npos) return std::nullopt;
  double microseconds = 0;
  const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), microseconds);
  if (parsed.ec != std::errc() || !std::isfinite(microseconds) || microseconds < 0) return std::nullopt;
  return microseconds / 1e6;
}

std::string audit_gap(const Report& report) {
  if (!report.complete) {
    return fmt::format("the audit is not complete: {}",
                       report.incomplete_reason.empty() ? "no reason is known" : report.incomplete_reason);
  }
  const Summary summary = summary_of(report);
  if (summary.pass + summary.warn + summary.fail + summary.error > 0) return {};
  return summary.total > 0 ? fmt::format("nothing was audited: all {} were skipped", counted(summary.total, "case"))
                           : "nothing was audited: the report has no case";
}

std::vector<std::pair<std::string, std::string>> audit_facts(const Report& report) {
  const bool simulator = report.target.kind == PlatformKind::simulator;
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&facts](const char* name, std::string text) {
    if (!text.empty()) facts.emplace_back(name, std::move(text));
  };
  add("lt-audit", report.tool_version);
  add("target", simulator ? "simulator: no GPU was audited" : "gpu");
  add("fault", report.fault.empty() ? "" : report.fault + " was planted: this says nothing about the library");
  add("gpu", report.target.device_facts.name);
  if (report.target.device_facts.compute_major != 0) {
    add("compute-capability",
        fmt::format("{}.{}", report.target.device_facts.compute_major, report.target.device_facts.compute_minor));
  }
  add("driver", report.target.driver_text);
  add("cublaslt", report.target.cublaslt.version());
  add("cublas", report.target.cublas.version());
  add("started", report.started);
  add("depth", report.depth);
  add("seed", fmt::to_string(report.seed));
  add("complete", report.complete ? "true" : "false");
  add("exit-code", fmt::to_string(report.exit_code));
  return facts;
}

std::string waiver_text(const AppliedWaiver& waiver) {
  return fmt::format("waived until {}: {}{}", waiver.expires, waiver.reason,
                     waiver.link.empty() ? "" : fmt::format(" ({})", waiver.link));
}

bool is_utc_time(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  return std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(),
                    [](char c, char form) { return form == 'd' ? c >= '0' && c <= '9' : c == form; });
}

std::string gate_word(const GateDecision& gate) {
  return gate.open ? "open" : fmt::format("closed: {}", counted(gate.reasons.size(), "reason"));
}

}  // namespace lt_audit
