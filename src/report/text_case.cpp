// One check with all its cases, and one case with everything that was seen of it.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/error.h"
#include "report/formats.h"
#include "report/observation_json.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

constexpr std::size_t kLabelWidth = 13;

template <class Element>
const Element& find_by_id(const std::vector<Element>& elements, std::string_view id, std::string_view what) {
  std::vector<std::string> ids;
  for (const Element& element : elements) {
    if (element.id == id) return element;
    ids.push_back(element.id);
  }
  const std::string nearest = nearest_word(id, ids);
  const std::string hint =
      nearest.empty() ? "lt-audit show REPORT lists what it has" : "did you mean '" + nearest + "'?";
  throw AuditError(ErrorKind::usage, fmt::format("the report has no {} '{}'; {}", what, id, hint));
}

void write_heuristic(const Observation& observation, std::ostream& out) {
  if (observation.heuristic.empty()) return;
  const auto number = [](int value) { return value < 0 ? std::string("-") : std::to_string(value); };
  out << fmt::format("  {}{:>2}  {:<14}  {:>5}  {:>5}  {:>6}  {:>7}  {:>11}  {:>6}\n", padded("heuristic", kLabelWidth),
                     "#", "state", "algo", "tile", "stages", "split_k", "workspace", "waves");
  for (std::size_t i = 0; i < observation.heuristic.size(); ++i) {
    const HeuristicResult& result = observation.heuristic[i];
    out << fmt::format("  {}{:>2}  {:<14}  {:>5}  {:>5}  {:>6}  {:>7}  {:>11}  {:>6.2f}\n", padded("", kLabelWidth), i,
                       printable(result.state), number(result.algo_id), number(result.tile), number(result.stages),
                       number(result.split_k), result.workspace_bytes, result.waves);
  }
}

/// What the verification saw, in sentences.
std::string verification_text(const Verification& seen) {
  const bool random = seen.method == "freivalds";
  std::string text =
      fmt::format("{} {}: {} wrong, {} unwritten; {} expected results are not zero.", counted(seen.compared, "element"),
                  random ? "checked with random vectors (Freivalds)" : "compared one by one", seen.wrong,
                  seen.unwritten, seen.expected_nonzero);
  if (seen.first_row >= 0) {
    text += fmt::format(" First wrong element: row {}, column {}, batch {}: expected {}, found {}.", seen.first_row,
                        seen.first_col, seen.first_batch, seen.first_expected, seen.first_actual);
  }
  const auto beside = [&text](std::uint64_t compared, std::uint64_t wrong, std::string_view what) {
    if (compared != 0) text += fmt::format(" {} of {} compared: {} wrong.", counted(compared, "element"), what, wrong);
  };
  beside(seen.aux_compared, seen.aux_wrong, "aux");
  beside(seen.gradient_compared, seen.gradient_wrong, "the bias gradient");
  if (seen.amax_expected) {
    text += fmt::format(" Amax: expected {}, found {}.", *seen.amax_expected, seen.amax_actual.value_or(0));
  }
  const auto bytes = [&text](std::uint64_t count, std::string_view where) {
    if (count != 0) text += fmt::format(" {} changed {}.", counted(count, "byte"), where);
  };
  bytes(seen.bytes_before_d, "in front of D");
  bytes(seen.bytes_behind_d,
        fmt::format("behind D, the last of them {} past its end", counted(seen.reach_behind_d, "byte")));
  bytes(seen.padding_bytes_changed, "in the padding of D");
  bytes(seen.a_bytes_changed, "in A");
  bytes(seen.b_bytes_changed, "in B");
  bytes(seen.c_bytes_changed, "in C");
  bytes(seen.bias_bytes_changed, "in the bias");
  bytes(seen.aux_bytes_changed, "in aux");
  bytes(seen.scale_bytes_changed, "in the scale factors");
  bytes(seen.workspace_guard_bytes_changed, "around the workspace");
  if (seen.bytes_outside_d() == 0 && seen.input_bytes_changed() == 0) {
    text += " Nothing outside D changed, the inputs neither.";
  }
  return text;
}

std::string cublas_text(const CublasObservation& cublas) {
  if (cublas.call.empty())
    return cublas.not_expressible.empty() ? "not called" : "not called: " + cublas.not_expressible;
  std::string text = fmt::format("{}: {}.", cublas.call, cublas.status);
  if (cublas.verification) text += " " + verification_text(*cublas.verification);
  return text;
}

std::string times_text(const CaseTimes& times) {
  std::string text = fmt::format("whole case {:.1f} us", times.host_us);
  // A sequence of steps is timed as a whole.
  if (times.heuristic_us > 0) text += fmt::format(", heuristic {:.1f} us", times.heuristic_us);
  if (times.matmul_call_us > 0) text += fmt::format(", matmul call {:.1f} us", times.matmul_call_us);
  if (times.matmul_gpu_us) text += fmt::format(", matmul on GPU {:.1f} us", *times.matmul_gpu_us);
  if (times.verify_gpu_us) text += fmt::format(", verification on GPU {:.1f} us", *times.verify_gpu_us);
  return text;
}

std::string end_text(const Observation& observation) {
  switch (observation.end) {
    case ProcessEnd::survived:
      return {};
    case ProcessEnd::crashed:
      return "the worker process died: " + observation.end_detail;
    case ProcessEnd::timed_out:
      return "the worker process was ended after its time limit: " + observation.end_detail;
    case ProcessEnd::context_lost:
      return "the CUDA context was lost: " + observation.end_detail;
  }
  return {};
}

void write_stages(const Observation& observation, std::ostream& out) {
  std::size_t name_width = 0;
  std::size_t call_width = 0;
  for (const Stage& stage : observation.stages) {
    name_width = std::max(name_width, text_width(printable(stage.name)));
    call_width = std::max(call_width, text_width(printable(stage.call)));
  }
  std::string_view label = "stages";
  for (const Stage& stage : observation.stages) {
    out << fmt::format("  {}{}  {}  {}\n", padded(label, kLabelWidth), padded(printable(stage.name), name_width),
                       padded(printable(stage.call), call_width), printable(stage.status));
    label = "";
  }
}

void write_observation(const Observation& observation, std::size_t width, std::ostream& out) {
  const auto field = [&](std::string_view label, const std::string& text) {
    write_labelled(label, text, 2, kLabelWidth, width, out);
  };
  write_stages(observation, out);
  write_heuristic(observation, out);
  if (observation.verification) field("result", verification_text(*observation.verification));
  if (observation.cublas) field("cuBLAS", cublas_text(*observation.cublas));
  std::string_view label = "log";
  for (const LogLine& line : observation.log) {
    field(label, fmt::format("[{}] {}: {}", line.level, line.function, line.text));
    label = "";
  }
  field("end", end_text(observation));
  field("not run", observation.not_run);
  field("audit error", observation.audit_error);
  label = "facts";
  for (const auto& [key, value] : observation.facts) {
    field(label, fmt::format("{} = {}", key, value));
    label = "";
  }
  if (observation.times != CaseTimes{}) field("times", times_text(observation.times));
}

Observation observation_of(const CaseResult& result) {
  const auto json = nlohmann::json::parse(result.observation, nullptr, false);
  if (json.is_discarded()) {
    throw AuditError(ErrorKind::usage,
                     fmt::format("the observation of case '{}' is not valid JSON: the report is damaged; "
                                 "run the audit again",
                                 result.id));
  }
  return observation_from_json(json);
}

/// The command that runs the case again. The finding's is complete (target, libraries, fault) for its first case; the
/// report's place brings the scenario along, which a problem text cannot.
std::string repro_of(const Report& report, std::string_view check_id, const CaseResult& result,
                     const TextOptions& options) {
  for (const Finding& finding : report.findings) {
    if (finding.check == check_id && !finding.cases.empty() && finding.cases.front() == result.id) return finding.repro;
  }
  if (!options.report_path.empty()) {
    return fmt::format("lt-audit replay '{}:{}/{}'", options.report_path, check_id, result.id);
  }
  return result.problem.empty() ? std::string() : fmt::format("lt-audit replay '{}'", result.problem);
}

void write_group(const CheckResult& check, Status status, const TextOptions& options, std::ostream& out) {
  std::vector<const CaseResult*> cases;
  std::size_t id_width = 0;
  std::size_t outcome_width = 0;
  for (const CaseResult& result : check.cases) {
    if (result.status != status) continue;
    cases.push_back(&result);
    id_width = std::max(id_width, text_width(printable(result.id)));
    outcome_width = std::max(outcome_width, name_of(result.outcome).size());
  }
  if (cases.empty()) return;
  const auto columns = static_cast<std::size_t>(std::max(options.columns, 40));
  id_width = std::min(id_width, columns / 2);
  const std::size_t used = 2 + id_width + 2 + outcome_width + 2;
  out << status_word(status, options.color, 6) << counted(cases.size(), "case") << '\n';
  for (const CaseResult* result : cases) {
    const std::string line = fmt::format("  {}  {}  {}", padded(printable(result->id), id_width),
                                         padded(name_of(result->outcome), outcome_width),
                                         fitted(printable(result->problem), columns > used + 10 ? columns - used : 10));
    out << line << '\n';
  }
  out << '\n';
}

}  // namespace

void write_check_text(const Report& report, std::string_view check_id, const TextOptions& options, std::ostream& out) {
  const CheckResult& check = find_by_id(report.checks, check_id, "check");
  write_alarm(report, out);
  out << headline(report) << "\n\n";
  TextOptions row_options = options;
  row_options.verbose = false;
  write_check_rows({&check, 1}, row_options, out);
  out << '\n';
  write_type_matrix(check, options, out);
  write_route_table(check, options, false, out);
  bool any = false;
  for (const Finding* finding : sorted_findings(report, true)) {
    if (finding->check != check.id) continue;
    write_finding(*finding, text_width(printable(finding->check)), options, out);
    any = true;
  }
  if (any) out << '\n';
  constexpr std::array<Status, 5> kOrder = {Status::fail, Status::error, Status::warn, Status::skip, Status::pass};
  for (const Status status : kOrder) write_group(check, status, options, out);
  out << fmt::format("one case with all that was seen of it: lt-audit show {} {} CASE\n",
                     options.report_path.empty() ? "REPORT" : printable(options.report_path), printable(check.id));
}

void write_case_text(const Report& report, std::string_view check_id, std::string_view case_id,
                     const TextOptions& options, std::ostream& out) {
  const CheckResult& check = find_by_id(report.checks, check_id, "check");
  const CaseResult& result = find_by_id(check.cases, case_id, fmt::format("case of the check '{}' called", check_id));
  const Observation observation = observation_of(result);
  const std::size_t width = paragraph_width(options);
  const auto field = [&](std::string_view label, const std::string& text) {
    write_labelled(label, text, 2, kLabelWidth, width, out);
  };
  write_alarm(report, out);
  out << headline(report) << "\n\n";
  out << status_word(result.status, options.color, 6) << printable(check.id) << "  " << printable(result.id) << '\n';
  field("problem", result.problem);
  field("expectation", std::string(name_of(result.expectation)));
  field("rule", result.rule);
  std::string_view label = "parameters";
  for (const auto& [key, value] : result.parameters) {
    field(label, fmt::format("{} = {}", key, value));
    label = "";
  }
  write_observation(observation, width, out);
  field("outcome", std::string(name_of(result.outcome)));
  field("verdict", result.reason.empty()
                       ? std::string(name_of(result.status))
                       : fmt::format("{} ({}): {}", name_of(result.status), result.reason, result.sentence));
  const std::string repro = repro_of(report, check.id, result, options);
  if (!repro.empty()) out << "  " << padded("again", kLabelWidth) << printable(repro) << '\n';
}

}  // namespace lt_audit
