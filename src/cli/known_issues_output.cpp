#include "cli/known_issues_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/formats.h"
#include "report/text_layout.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

using Json = nlohmann::ordered_json;

/// Problems shown for an issue; the JSON document has all.
constexpr std::size_t kShownProblems = 5;
/// "may apply  KI-061  " and the lines below it.
constexpr std::size_t kWordWidth = 11;
constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kHeadWidth = 10;

std::string_view sureness(const IssueMatch& match) { return match.applies() ? "applies" : "may apply"; }

std::string conditions_of(const KnownIssue& issue) {
  std::vector<std::string> texts;
  for (const auto& predicate : issue.problem) {
    const bool alternatives = issue.problem.size() > 1 && predicate.text().find("||") != std::string::npos;
    texts.push_back(alternatives ? "(" + predicate.text() + ")" : predicate.text());
  }
  return fmt::format("{}", fmt::join(texts, " && "));
}

std::string range_text(const VersionRange& range) {
  if (range.from && range.before) return fmt::format("{} to before {}", range.from->text(), range.before->text());
  if (range.from) return fmt::format("{} and later", range.from->text());
  if (range.before) return fmt::format("before {}, the first one is not known", range.before->text());
  return "not known";
}

std::string ranges_text(const KnownIssue& issue) {
  std::vector<std::string> texts;
  for (const auto& range : issue.affected) texts.push_back(range_text(range));
  return fmt::format("{}{}", fmt::join(texts, "; "), issue.open ? "; no release note lists a fix" : "");
}

std::string place_text(const IssuePlace& place) {
  return fmt::format("cuBLASLt {}, compute capability {}", place.version.text(),
                     compute_capability_text(place.compute_capability));
}

std::string touched_text(const TouchedProblem& touched, bool row_applies) {
  const auto& problem = touched.problem;
  std::vector<std::string> notes;
  if (problem.calls > 0) notes.push_back(counted(problem.calls, "call"));
  if (problem.first.line > 0) notes.push_back(fmt::format("{}:{}", problem.first.file, problem.first.line));
  if (row_applies && !touched.match.applies()) notes.emplace_back("may apply");
  const auto text = to_text(problem.problem);
  return notes.empty() ? text : fmt::format("{}: {}", fmt::join(notes, ", "), text);
}

void write_row(const IssueRow& row, std::size_t width, std::ostream& out) {
  const auto& issue = *row.match.issue;
  write_labelled(fmt::format("{:<{}}{}", sureness(row.match), kWordWidth, issue.id), issue.summary, 0,
                 kWordWidth + kLabelWidth, width, out);
  const auto line = [&](std::string_view label, const std::string& text) {
    write_labelled(label, text, kWordWidth, kLabelWidth, width, out);
  };
  line("for", conditions_of(issue));
  line("unsure", fmt::format("{}", fmt::join(row.match.doubts, "; ")));
  if (row.match.fixed_in) line("fixed in", row.match.fixed_in->text());
  line("remedy", issue.workaround);
  for (std::size_t i = 0; i < std::min(row.touched.size(), kShownProblems); ++i)
    line(i == 0 ? "touches" : "", touched_text(row.touched[i], row.match.applies()));
  if (row.touched.size() > kShownProblems)
    line("", fmt::format("and {}: --json FILE has all", counted(row.touched.size() - kShownProblems, "more problem")));
}

Json issue_to_json(const KnownIssue& issue) {
  Json json{{"id", issue.id}, {"summary", issue.summary}, {"vendor_ids", issue.vendor_ids}};
  json["affected"] = Json::array();
  for (const auto& range : issue.affected) {
    json["affected"].push_back({{"from", range.from ? Json(range.from->text()) : Json()},
                                {"before", range.before ? Json(range.before->text()) : Json()}});
  }
  json["open"] = issue.open;
  json["compute_capability"] = issue.capabilities.all ? Json() : Json(issue.capabilities.text);
  json["problem"] = Json::array();
  for (const auto& predicate : issue.problem) json["problem"].push_back(predicate.text());
  json["condition"] = issue.condition.empty() ? Json() : Json(issue.condition);
  json["symptom"] = {{"kind", name_of(issue.symptom)}, {"text", issue.symptom_text}};
  json["workaround"] = issue.workaround.empty() ? Json() : Json(issue.workaround);
  json["witness"] = Json::array();
  for (const auto& problem : issue.witness) json["witness"].push_back(to_text(problem));
  json["confirmed_by"] = issue.confirmed_by_vendor ? "vendor" : "community";
  json["notes"] = issue.notes;
  json["source"] = issue.source;
  return json;
}

Json document() { return {{"schema", "lt-audit-known-issues"}, {"schema_version", "1.0.0"}}; }

void add_match(const IssueMatch& match, Json& json) {
  json["match"] = sureness(match);
  json["unsure"] = match.doubts;
  json["fixed_in"] = match.fixed_in ? Json(match.fixed_in->text()) : Json();
}

}  // namespace

KnownIssuesView known_issues_view(const IssuePlace& place, const std::vector<WorkloadProblem>& problems) {
  KnownIssuesView view;
  view.place = place;
  view.problems = problems.size();
  for (auto& match : match_issues(place)) {
    if (problems.empty()) {
      view.rows.push_back({std::move(match), {}});
      continue;
    }
    if (match.issue->concern != Concern::problem) {
      ++view.beside_problems;
      continue;
    }
    IssueRow row;
    for (const auto& one : problems) {
      if (auto touches = match_issue(*match.issue, place, one.problem))
        row.touched.push_back({one, std::move(*touches)});
    }
    if (row.touched.empty()) continue;
    std::stable_partition(row.touched.begin(), row.touched.end(),
                          [](const TouchedProblem& touched) { return touched.match.applies(); });
    row.match = row.touched.front().match;
    view.rows.push_back(std::move(row));
  }
  std::stable_partition(view.rows.begin(), view.rows.end(), [](const IssueRow& row) { return row.match.applies(); });
  return view;
}

void write_known_issues(const KnownIssuesView& view, int columns, std::ostream& out) {
  TextOptions options;
  options.columns = columns;
  const std::size_t width = paragraph_width(options);
  write_labelled("on", place_text(view.place) + (view.origin.empty() ? "" : fmt::format(" ({})", view.origin)), 0,
                 kHeadWidth, width, out);
  const auto certain =
      std::count_if(view.rows.begin(), view.rows.end(), [](const IssueRow& row) { return row.match.applies(); });
  const auto about =
      view.problems == 0 ? std::string("by version and GPU") : "for " + counted(view.problems, "problem");
  write_labelled(
      "issues",
      fmt::format("{} of {} known: {} {}, {} may apply ({})", view.rows.size(), known_issues().size(), certain,
                  certain == 1 ? "applies" : "apply", view.rows.size() - static_cast<std::size_t>(certain), about),
      0, kHeadWidth, width, out);
  for (const auto& row : view.rows) {
    out << '\n';
    write_row(row, width, out);
  }
  out << '\n';
  if (view.beside_problems > 0) {
    write_labelled("besides",
                   fmt::format("{} of this version and GPU {} not about single products: leave out --workload and "
                               "--problem to see {}",
                               counted(view.beside_problems, "issue"), view.beside_problems == 1 ? "is" : "are",
                               view.beside_problems == 1 ? "it" : "them"),
                   0, kHeadWidth, width, out);
  }
  write_labelled(
      "see",
      "lt-audit known-issues ID shows one whole, with its sources; lt-audit run known-issues runs what can be "
      "run",
      0, kHeadWidth, width, out);
}

void write_known_issue(const KnownIssue& issue, int columns, std::ostream& out) {
  TextOptions options;
  options.columns = columns;
  const std::size_t width = paragraph_width(options);
  const auto line = [&](std::string_view label, const std::string& text) {
    write_labelled(label, text, 0, kWordWidth + 1, width, out);
  };
  const auto joined = [](const auto& texts) { return fmt::format("{}", fmt::join(texts, ", ")); };
  line(issue.id, issue.summary);
  line("versions", ranges_text(issue));
  line("GPUs", issue.capabilities.all ? "all" : "compute capability " + issue.capabilities.text);
  line("functions", joined(issue.api));
  line("for", conditions_of(issue));
  line("depends", issue.condition);
  line("shows", fmt::format("{} ({})", issue.symptom_text, name_of(issue.symptom)));
  line("remedy", issue.workaround);
  for (const auto& [place, answer] : issue.sources_say)
    line("sources", fmt::format("in {}: {}", place, name_of(answer)));
  line("seen in", joined(issue.seen_in));
  line("notes", issue.notes);
  line("numbers", joined(issue.vendor_ids));
  line("confirmed", issue.confirmed_by_vendor ? "by NVIDIA" : "by users alone");
  line("source", joined(issue.source));
  for (const auto& problem : issue.witness) line("run", fmt::format("lt-audit replay '{}'", to_text(problem)));
  if (!issue.no_witness.empty()) line("run", "no run of lt-audit can show it: " + issue.no_witness);
}

std::string known_issues_json(const KnownIssuesView& view) {
  Json json = document();
  json["cublaslt"] = view.place.version.text();
  json["compute_capability"] = compute_capability_text(view.place.compute_capability);
  json["origin"] = valid_utf8(view.origin);
  json["known"] = known_issues().size();
  json["problems"] = view.problems;
  json["beside_problems"] = view.beside_problems;
  json["issues"] = Json::array();
  for (const auto& row : view.rows) {
    Json entry = issue_to_json(*row.match.issue);
    add_match(row.match, entry);
    entry["touches"] = Json::array();
    for (const auto& touched : row.touched) {
      Json problem{
          {"problem", to_text(touched.problem.problem)},
          {"calls", touched.problem.calls},
          {"source", {{"file", valid_utf8(touched.problem.first.file)}, {"line", touched.problem.first.line}}}};
      add_match(touched.match, problem);
      entry["touches"].push_back(std::move(problem));
    }
    json["issues"].push_back(std::move(entry));
  }
  return json.dump(2);
}

std::string known_issue_json(const KnownIssue& issue) {
  Json json = document();
  json["issues"] = Json::array({issue_to_json(issue)});
  return json.dump(2);
}

}  // namespace lt_audit
