// Many reports into one. What is kept of a report: its head, and eight bytes for each case.
#include "compare/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "compare/merge_parts.h"
#include "report/identity.h"
#include "report/text_layout.h"

namespace lt_audit {
namespace {

constexpr std::int32_t kNoCause = -1;

/// A case on a node.
struct Cell {
  std::int32_t cause = kNoCause;
  Status status = Status::skip;
  Outcome outcome = Outcome::not_run;
  /// Not skipped either, which says nothing about the library.
  bool ran = false;
};

struct Cause {
  std::string check;
  std::string id;
  std::string title;
  std::string remedy;
};

struct Node {
  MergedNode facts;
  std::string host;
  std::vector<std::pair<const char*, std::string>> properties;
  std::string gpu;
  std::vector<Cell> cells;
  std::vector<MeasuredTime> times;
};

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

std::string library_text(const LibraryFacts& library) {
  if (!library.loaded()) return "not loaded";
  constexpr std::size_t kDigits = 12;
  if (library.build_id.empty()) return library.version();
  return fmt::format("{} (build {})", library.version(), library.build_id.substr(0, kDigits));
}

std::string gpu_text(const DeviceFacts& facts) {
  if (facts.name.empty()) return "unknown";
  // That of the simulator says so itself.
  if (facts.name.find("(sm_") != std::string::npos) return facts.name;
  return fmt::format("{} (sm_{})", facts.name, facts.compute_capability());
}

Node node_of(const std::string& file, const Report& report) {
  Node node;
  node.facts.file = file;
  node.facts.complete = report.complete;
  node.facts.incomplete_reason = report.incomplete_reason;
  node.facts.kind = report.target.kind;
  node.facts.fault = report.fault;
  node.facts.device = report.target.device;
  node.facts.started = report.started;
  node.facts.summary = summary_of(report);
  node.host = report.environment.host;
  node.gpu = gpu_text(report.target.device_facts);
  node.properties = {{"tool", or_unknown(report.tool_version)},
                     {"depth", or_unknown(report.depth)},
                     {"seed", fmt::to_string(report.seed)},
                     {"gpu", node.gpu},
                     {"driver", or_unknown(report.target.driver_text)},
                     {"cublaslt", library_text(report.target.cublaslt)},
                     {"cublas", library_text(report.target.cublas)}};
  return node;
}

/// The n-th try at a name; what is tried later is longer.
std::string candidate(const Node& node, int attempt) {
  const std::filesystem::path path(node.facts.file);
  if (attempt == 0 && !node.host.empty()) return node.host;
  if (attempt == 1 && !node.host.empty()) return fmt::format("{}:{}", node.host, node.facts.device);
  return attempt <= 2 ? path.stem().string() : path.string();
}

void give_names(std::vector<Node>& nodes) {
  constexpr int kAttempts = 4;
  for (Node& node : nodes) node.facts.name = candidate(node, 0);
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    std::unordered_map<std::string, std::size_t> count;
    for (const Node& node : nodes) ++count[node.facts.name];
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (count[nodes[i].facts.name] == 1) continue;
      const std::string name = candidate(nodes[i], std::min(attempt, kAttempts - 1));
      nodes[i].facts.name = attempt < kAttempts ? name : fmt::format("{}#{}", name, i + 1);
    }
  }
}

/// What a report is worth: real ones before those of the simulator, and those before ones with a planted fault.
int rank_of(const MergedNode& node) {
  return (node.fault.empty() ? 0 : 2) + (node.kind == PlatformKind::simulator ? 1 : 0);
}

void set_aside(std::vector<Node>& nodes) {
  int best = 3;
  for (const Node& node : nodes) best = std::min(best, rank_of(node.facts));
  for (Node& node : nodes) {
    MergedNode& facts = node.facts;
    if (rank_of(facts) == best) continue;
    facts.set_aside =
        !facts.fault.empty() ? fmt::format("fault {} was planted", facts.fault) : "it is of the simulator";
  }
}

std::vector<std::string> warnings_of(const std::vector<Node>& nodes) {
  std::vector<std::string> warnings;
  std::size_t simulated = 0;
  std::size_t compared = 0;
  for (const Node& node : nodes) {
    const MergedNode& facts = node.facts;
    compared += facts.set_aside.empty() ? 1 : 0;
    simulated += facts.set_aside.empty() && facts.kind == PlatformKind::simulator ? 1 : 0;
  }
  if (simulated > 0 && simulated == compared) {
    warnings.emplace_back("SIMULATOR: no GPU was audited; a model of a faultless cuBLASLt answered");
  }
  for (const Node& node : nodes) {
    const MergedNode& facts = node.facts;
    if (!facts.set_aside.empty()) {
      warnings.push_back(fmt::format("{} is SET ASIDE: {}", facts.name, facts.set_aside));
    } else if (!facts.fault.empty()) {
      warnings.push_back(
          fmt::format("FAULT PLANTED: {} on {}; this says nothing about the library", facts.fault, facts.name));
    }
    if (!facts.complete) {
      warnings.push_back(
          fmt::format("{} is INCOMPLETE: {}", facts.name,
                      facts.incomplete_reason.empty() ? "the audit did not come to its end" : facts.incomplete_reason));
    }
    if (facts.summary.error > 0) {
      warnings.push_back(
          fmt::format("{}: {} could not be audited (status error)", facts.name, counted(facts.summary.error, "case")));
    }
  }
  return warnings;
}

/// Most nodes first.
template <class Value>
void sort_by_nodes(std::vector<Value>& values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const Value& left, const Value& right) { return left.nodes.size() > right.nodes.size(); });
}

}  // namespace

struct Merger::State {
  std::vector<Node> nodes;
  std::vector<MergedCase> cases;
  std::vector<Cause> causes;
  std::unordered_map<std::string, std::uint32_t> case_places;
  std::unordered_map<std::string, std::int32_t> cause_places;

  std::uint32_t place_of(const std::string& check, const CaseResult& result);
  std::int32_t cause_of(const std::string& check, const CaseResult& result);
  const Cell& cell(std::size_t node, std::size_t the_case) const;
  std::vector<std::size_t> compared() const;
  void merge_properties(Merged& merged) const;
  void merge_results(Merged& merged) const;
  void merge_findings(Merged& merged) const;
};

std::uint32_t Merger::State::place_of(const std::string& check, const CaseResult& result) {
  // With the id, since several scenarios share a problem, and with the problem, since what an id names may depend on
  // the GPU.
  const auto [place, is_new] = case_places.try_emplace(case_identity(check, result) + '\n' + result.id,
                                                       static_cast<std::uint32_t>(cases.size()));
  if (is_new) cases.push_back({check, result.id, result.problem});
  return place->second;
}

std::int32_t Merger::State::cause_of(const std::string& check, const CaseResult& result) {
  if (result.status == Status::pass || result.status == Status::skip) return kNoCause;
  const std::string id = check + "." + result.reason;
  const auto [place, is_new] = cause_places.try_emplace(id, static_cast<std::int32_t>(causes.size()));
  if (is_new) causes.push_back({check, id, {}, {}});
  return place->second;
}

const Cell& Merger::State::cell(std::size_t node, std::size_t the_case) const {
  static const Cell kAbsent;
  const std::vector<Cell>& cells = nodes[node].cells;
  return the_case < cells.size() ? cells[the_case] : kAbsent;
}

std::vector<std::size_t> Merger::State::compared() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].facts.set_aside.empty()) result.push_back(i);
  }
  return result;
}

void Merger::State::merge_properties(Merged& merged) const {
  const std::vector<std::size_t> all = compared();
  for (std::size_t i = 0; !all.empty() && i < nodes[all[0]].properties.size(); ++i) {
    std::map<std::string, std::vector<std::size_t>> by_value;
    for (const std::size_t node : all) by_value[nodes[node].properties[i].second].push_back(node);
    MergedProperty property;
    property.name = nodes[all[0]].properties[i].first;
    for (auto& [text, with] : by_value) property.values.push_back({text, std::move(with)});
    sort_by_nodes(property.values);
    merged.properties.push_back(std::move(property));
  }
}

void Merger::State::merge_results(Merged& merged) const {
  const std::vector<std::size_t> all = compared();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::map<std::pair<Status, Outcome>, std::vector<std::size_t>> by_end;
    std::size_t ran = 0;
    for (const std::size_t node : all) {
      const Cell& one = cell(node, i);
      if (!one.ran) continue;
      ++ran;
      by_end[{one.status, one.outcome}].push_back(node);
    }
    for (const std::size_t node : all) {
      if (2 * ran > all.size() && !cell(node, i).ran) ++merged.nodes[node].missing_cases;
    }
    if (ran > 1) ++merged.compared_cases;
    if (by_end.size() < 2) continue;
    DifferingCase differing{cases[i].check, cases[i].id, cases[i].problem, {}};
    for (auto& [end, with] : by_end) differing.ends.push_back({end.first, end.second, std::move(with)});
    sort_by_nodes(differing.ends);
    merged.differing.push_back(std::move(differing));
  }
}

void Merger::State::merge_findings(Merged& merged) const {
  const std::vector<std::size_t> all = compared();
  struct Seen {
    std::vector<bool> have;
    std::vector<bool> ran;
    Status status = Status::pass;
    std::string example;
  };
  std::vector<Seen> seen(causes.size(), Seen{std::vector<bool>(nodes.size()), std::vector<bool>(nodes.size()), {}, {}});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const std::size_t node : all) {
      const Cell& one = cell(node, i);
      if (one.cause == kNoCause) continue;
      Seen& cause = seen[static_cast<std::size_t>(one.cause)];
      cause.have[node] = true;
      cause.status = worse(cause.status, one.status);
      if (cause.example.empty()) cause.example = cases[i].check + "/" + cases[i].id;
      for (const std::size_t other : all) cause.ran[other] = cause.ran[other] || cell(other, i).ran;
    }
  }
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (seen[i].example.empty()) continue;
    const Cause& cause = causes[i];
    MergedFinding finding{cause.id, cause.check, seen[i].status, cause.title, cause.remedy, seen[i].example, {},
                          {},       {}};
    if (finding.title.empty()) finding.title = cause.id;
    for (const std::size_t node : all) {
      (seen[i].have[node] ? finding.nodes : seen[i].ran[node] ? finding.without : finding.not_run).push_back(node);
    }
    merged.findings.push_back(std::move(finding));
  }
  std::stable_sort(merged.findings.begin(), merged.findings.end(),
                   [](const MergedFinding& left, const MergedFinding& right) {
                     if (left.status != right.status) return worse(left.status, right.status) == left.status;
                     return left.nodes.size() > right.nodes.size();
                   });
}

Merger::Merger() : state_(std::make_unique<State>()) {}
Merger::~Merger() = default;

void Merger::add(const std::string& file, const Report& report) {
  Node node = node_of(file, report);
  node.cells.resize(state_->cases.size());
  for (const CheckResult& check : report.checks) {
    for (const CaseResult& result : check.cases) {
      const std::uint32_t place = state_->place_of(check.id, result);
      if (place >= node.cells.size()) node.cells.resize(place + 1);
      node.cells[place] = {state_->cause_of(check.id, result), result.status, result.outcome,
                           result.status != Status::skip};
      MeasuredTime time;
      if (!measured_time(result, time)) continue;
      time.the_case = place;
      node.times.push_back(time);
    }
  }
  for (const Finding& finding : report.findings) {
    const auto found = state_->cause_places.find(finding.id);
    if (found == state_->cause_places.end()) continue;
    Cause& cause = state_->causes[static_cast<std::size_t>(found->second)];
    if (cause.title.empty()) cause.title = finding.title;
    if (cause.remedy.empty()) cause.remedy = finding.remedy;
  }
  node.cells.shrink_to_fit();
  state_->nodes.push_back(std::move(node));
}

Merged Merger::merged() const {
  State state = *state_;
  give_names(state.nodes);
  set_aside(state.nodes);
  Merged merged;
  std::vector<std::vector<MeasuredTime>> times;
  std::vector<std::string> gpus;
  for (const Node& node : state.nodes) {
    merged.nodes.push_back(node.facts);
    times.push_back(node.times);
    gpus.push_back(node.facts.set_aside.empty() ? node.gpu : std::string());
  }
  merged.warnings = warnings_of(state.nodes);
  state.merge_properties(merged);
  state.merge_results(merged);
  state.merge_findings(merged);
  compare_speeds(times, gpus, state.cases, merged);
  return merged;
}

std::size_t Merged::compared_nodes() const {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const MergedNode& node) { return node.set_aside.empty(); }));
}

std::vector<bool> Merged::differing_nodes() const {
  std::vector<bool> marked(nodes.size());
  const auto mark = [&marked](const auto& values, bool has_majority) {
    for (std::size_t i = has_majority ? 1 : 0; i < values.size(); ++i) {
      for (const std::size_t node : values[i].nodes) marked[node] = true;
    }
  };
  for (const MergedProperty& property : properties) mark(property.values, property.has_majority());
  for (const DifferingCase& one : differing) mark(one.ends, one.has_majority());
  for (std::size_t i = 0; i < nodes.size(); ++i) marked[i] = marked[i] || nodes[i].missing_cases > 0;
  for (const NodeSpeed& speed : speeds) marked[speed.node] = marked[speed.node] || speed.differs;
  return marked;
}

bool Merged::all_usable() const {
  return std::all_of(nodes.begin(), nodes.end(), [](const MergedNode& node) {
    return node.set_aside.empty() && node.complete && node.summary.error == 0;
  });
}

Merged merge_reports(std::span<const NamedReport> reports) {
  Merger merger;
  for (const NamedReport& report : reports) merger.add(report.file, report.report);
  return merger.merged();
}

}  // namespace lt_audit
