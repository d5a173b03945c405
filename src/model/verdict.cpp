// From observation to status: the one place that decides what an outcome means.
#include "lt_audit/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace lt_audit {
namespace {

template <class Enum>
struct Word {
  Enum value;
  std::string_view name;
};

constexpr std::array<Word<Expectation>, 3> kExpectations{{{Expectation::must_work, "must_work"},
                                                          {Expectation::must_refuse, "must_refuse"},
                                                          {Expectation::may_refuse, "may_refuse"}}};

constexpr std::array<Word<Outcome>, 17> kOutcomes{{
    {Outcome::correct, "correct"},
    {Outcome::unproven, "unproven"},
    {Outcome::refused, "refused"},
    {Outcome::late_refusal, "late_refusal"},
    {Outcome::wrong_result, "wrong_result"},
    {Outcome::unwritten, "unwritten"},
    {Outcome::out_of_bounds, "out_of_bounds"},
    {Outcome::input_changed, "input_changed"},
    {Outcome::not_captured, "not_captured"},
    {Outcome::stale, "stale"},
    {Outcome::nondeterministic, "nondeterministic"},
    {Outcome::context_lost, "context_lost"},
    {Outcome::crashed, "crashed"},
    {Outcome::timed_out, "timed_out"},
    {Outcome::slower, "slower"},
    {Outcome::not_run, "not_run"},
    {Outcome::audit_error, "audit_error"},
}};

constexpr std::array<Word<Status>, 5> kStatuses{{{Status::pass, "pass"},
                                                 {Status::warn, "warn"},
                                                 {Status::fail, "fail"},
                                                 {Status::skip, "skip"},
                                                 {Status::error, "error"}}};

template <class Enum, std::size_t Count>
std::string_view word_of(const std::array<Word<Enum>, Count>& table, Enum value) {
  const auto* entry = std::find_if(table.begin(), table.end(), [&](const auto& word) { return word.value == value; });
  return entry == table.end() ? std::string_view("unknown") : entry->name;
}

template <class Enum, std::size_t Count>
std::optional<Enum> value_of(const std::array<Word<Enum>, Count>& table, std::string_view name) {
  for (const auto& word : table) {
    if (word.name == name) return word.value;
  }
  return std::nullopt;
}

Outcome outcome_of_verification(const Verification& v) {
  if (v.bytes_outside_d() > 0) return Outcome::out_of_bounds;
  if (v.input_bytes_changed() > 0) return Outcome::input_changed;
  if (v.unwritten > 0) return Outcome::unwritten;
  if (v.wrong > 0 || !v.beside_d_right()) return Outcome::wrong_result;
  // Fewer than one expected result in eight not zero: a matmul that writes zeros would nearly pass.
  if (v.expected_nonzero * 8 < v.compared || v.compared == 0) return Outcome::unproven;
  return Outcome::correct;
}

std::string describe_verification(const Verification& v) {
  std::string text;
  const auto add = [&](std::string part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (v.bytes_behind_d > 0) {
    add(fmt::format("{} bytes behind D are overwritten (up to {} bytes past its end)", v.bytes_behind_d,
                    v.reach_behind_d));
  }
  if (v.bytes_before_d > 0) add(fmt::format("{} bytes in front of D are overwritten", v.bytes_before_d));
  if (v.padding_bytes_changed > 0) {
    add(fmt::format("{} bytes of the padding between D's columns are overwritten", v.padding_bytes_changed));
  }
  if (v.workspace_guard_bytes_changed > 0) {
    add(fmt::format("{} bytes outside the workspace are overwritten", v.workspace_guard_bytes_changed));
  }
  const std::array<std::pair<const char*, std::uint64_t>, 6> inputs{{{"A", v.a_bytes_changed},
                                                                     {"B", v.b_bytes_changed},
                                                                     {"C", v.c_bytes_changed},
                                                                     {"the bias", v.bias_bytes_changed},
                                                                     {"aux", v.aux_bytes_changed},
                                                                     {"the scale factors", v.scale_bytes_changed}}};
  for (const auto& [name, bytes] : inputs) {
    if (bytes > 0) add(fmt::format("{} bytes of {} are changed", bytes, name));
  }
  if (v.wrong > 0) {
    add(fmt::format("{} of {} elements of D are wrong", v.wrong, v.compared));
    if (v.unwritten > 0) text += fmt::format(" ({} never written)", v.unwritten);
    if (v.first_row >= 0) {
      text += fmt::format("; the first at row {}, column {}{}: expected {}, found {}", v.first_row, v.first_col,
                          v.first_batch > 0 ? fmt::format(", batch {}", v.first_batch) : "", v.first_expected,
                          v.first_actual);
    }
  }
  if (v.aux_wrong > 0) add(fmt::format("{} of {} elements of aux are wrong", v.aux_wrong, v.aux_compared));
  if (v.gradient_wrong > 0) {
    add(fmt::format("{} of {} elements of the bias gradient are wrong", v.gradient_wrong, v.gradient_compared));
  }
  if (v.amax_actual != v.amax_expected) {
    add(fmt::format("amax is {} and should be {}", v.amax_actual.value_or(0), v.amax_expected.value_or(0)));
  }
  if (text.empty()) {
    text = v.method == "freivalds" ? fmt::format("all {} rows of D pass Freivalds' check", v.compared)
                                   : fmt::format("all {} elements of D are right", v.compared);
  }
  return text;
}

}  // namespace

std::string_view name_of(Expectation expectation) { return word_of(kExpectations, expectation); }
std::string_view name_of(Outcome outcome) { return word_of(kOutcomes, outcome); }
std::string_view name_of(Status status) { return word_of(kStatuses, status); }
std::optional<Expectation> expectation_from(std::string_view name) { return value_of(kExpectations, name); }
std::optional<Outcome> outcome_from(std::string_view name) { return value_of(kOutcomes, name); }
std::optional<Status> status_from(std::string_view name) { return value_of(kStatuses, name); }

Outcome outcome_of(const Observation& o) {
  switch (o.end) {
    case ProcessEnd::crashed:
      return Outcome::crashed;
    case ProcessEnd::timed_out:
      return Outcome::timed_out;
    case ProcessEnd::context_lost:
      return Outcome::context_lost;
    case ProcessEnd::survived:
      break;
  }
  if (!o.audit_error.empty()) return Outcome::audit_error;
  if (!o.not_run.empty()) return Outcome::not_run;
  const Stage* matmul = o.stage("matmul");
  const Outcome numbers = o.verification ? outcome_of_verification(*o.verification) : Outcome::unproven;
  // A refused call must have touched nothing, so its memory is looked at too.
  if (numbers == Outcome::out_of_bounds || numbers == Outcome::input_changed) return numbers;
  if (matmul == nullptr) return Outcome::refused;
  // Without a query (algo NULL) matmul is the first stage that can refuse.
  if (!matmul->ok()) return o.stage("heuristic") != nullptr ? Outcome::late_refusal : Outcome::refused;
  if (numbers != Outcome::correct) return numbers;
  if (o.facts.count(kSlowCallFact) > 0) return Outcome::slower;
  return Outcome::correct;
}

Status status_of(Expectation expectation, Outcome outcome) {
  switch (outcome) {
    case Outcome::correct:
      // must_refuse: misuse silently tolerated; may_refuse: an undocumented combination that happens to work.
      return expectation == Expectation::must_work ? Status::pass : Status::warn;
    case Outcome::refused:
      return expectation == Expectation::must_work ? Status::fail : Status::pass;
    case Outcome::late_refusal:
      // The heuristic accepted: a trap, and a broken promise where the contract says that the call works.
      return expectation == Expectation::must_work ? Status::fail : Status::warn;
    case Outcome::slower:
    case Outcome::unproven:
      return Status::warn;
    case Outcome::not_run:
      return Status::skip;
    case Outcome::audit_error:
      return Status::error;
    default:
      return Status::fail;
  }
}

Status worse(Status left, Status right) {
  static constexpr std::array<Status, 5> kOrder{Status::pass, Status::skip, Status::warn, Status::error, Status::fail};
  const auto rank = [](Status status) { return std::find(kOrder.begin(), kOrder.end(), status) - kOrder.begin(); };
  return rank(left) >= rank(right) ? left : right;
}

std::string describe(const Observation& o) {
  switch (o.end) {
    case ProcessEnd::crashed:
      return fmt::format("the process that made the call died with {}", o.end_detail);
    case ProcessEnd::timed_out:
      return fmt::format("the call did not return within {}", o.end_detail);
    case ProcessEnd::context_lost:
      return fmt::format("the call left the CUDA context unusable: {}", o.end_detail);
    case ProcessEnd::survived:
      break;
  }
  if (!o.audit_error.empty()) return o.audit_error;
  if (!o.not_run.empty()) return o.not_run;
  const auto failed = std::find_if(o.stages.begin(), o.stages.end(), [](const Stage& stage) { return !stage.ok(); });
  std::string text;
  if (failed != o.stages.end()) {
    const bool late = failed->name == "matmul" && o.stage("heuristic") != nullptr;
    text = fmt::format("{} returns {}{}", failed->call, failed->status, late ? " although the heuristic accepts" : "");
  } else if (o.stage("matmul") == nullptr) {
    text = "cublasLtMatmulAlgoGetHeuristic returns SUCCESS with no usable result";
  } else {
    text = "cublasLtMatmul returns SUCCESS";
  }
  const auto* matmul = o.stage("matmul");
  if (o.verification && ((matmul != nullptr && matmul->ok()) || outcome_of(o) == Outcome::out_of_bounds ||
                         outcome_of(o) == Outcome::input_changed)) {
    text += "; " + describe_verification(*o.verification);
  }
  if (outcome_of(o) == Outcome::unproven)
    text += "; the comparison proves nothing, since nearly all expected results are 0";
  if (outcome_of(o) == Outcome::slower) text += fmt::format("; the call takes {} ms", o.facts.at(kSlowCallFact));
  return text;
}

Verdict judge_by_table(Expectation expectation, const Observation& observation) {
  Verdict verdict;
  verdict.outcome = outcome_of(observation);
  verdict.status = status_of(expectation, verdict.outcome);
  if (verdict.status == Status::pass) return verdict;
  verdict.reason = fmt::format("{}-{}", name_of(expectation), name_of(verdict.outcome));
  // How a process ended says the same whatever was expected.
  if (verdict.outcome == Outcome::crashed || verdict.outcome == Outcome::timed_out ||
      verdict.outcome == Outcome::context_lost || verdict.outcome == Outcome::not_run ||
      verdict.outcome == Outcome::audit_error) {
    verdict.reason = name_of(verdict.outcome);
  }
  std::replace(verdict.reason.begin(), verdict.reason.end(), '_', '-');
  verdict.sentence = describe(observation);
  return verdict;
}

}  // namespace lt_audit
