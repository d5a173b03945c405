#include "workload/workload_builder.h"

#include <algorithm>

#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// The first of them explain; the others are counted.
constexpr std::size_t kMostDamagedLines = 20;
/// An application with more streams is as good as one with this many.
constexpr std::size_t kMostStreams = 1024;

/// Where the operands lie and what was declared of it does not make another product.
MatmulProblem without_addresses(MatmulProblem problem) {
  problem.a_offset = problem.b_offset = problem.c_offset = problem.d_offset = 0;
  problem.bias_offset = problem.aux_offset = problem.workspace_offset = 0;
  problem.scale_a_offset = problem.scale_b_offset = 0;
  problem.a_alignment = problem.b_alignment = problem.c_alignment = problem.d_alignment = 256;
  return problem;
}

std::string key_of(const ImportedCall& call) {
  std::string key = to_text(without_addresses(call.problem)) + '\n' + call.api;
  auto kept = call.kept;
  std::sort(kept.begin(), kept.end());
  for (const auto& entry : kept) key += '\n' + entry;
  return key;
}

/// Empty when the problem has a text that reads back as the same problem.
std::string why_no_text(const MatmulProblem& problem) {
  try {
    if (problem_from_text(to_text(problem)) == problem) return {};
    return "the call has no problem text";
  } catch (const AuditError& error) {
    return error.what();
  }
}

}  // namespace

std::size_t WorkloadBuilder::call(const ImportedCall& call, std::uint64_t line) {
  const auto [position, is_new] = ids_.try_emplace(key_of(call), workload_.problems.size());
  const std::size_t id = position->second;
  if (is_new) {
    if (const auto reason = why_no_text(call.problem); !reason.empty()) {
      // Counted as damaged every time it comes.
      ids_.erase(position);
      damaged(line, reason);
      return kNoCall;
    }
    WorkloadProblem added;
    added.problem = call.problem;
    added.api = call.api;
    added.first = {file_, line};
    added.algorithm = call.algorithm;
    added.assumed = call.assumed;
    std::sort(added.assumed.begin(), added.assumed.end());
    added.assumed.erase(std::unique(added.assumed.begin(), added.assumed.end()), added.assumed.end());
    workload_.problems.push_back(std::move(added));
    streams_.emplace_back();
  }
  auto& problem = workload_.problems[id];
  for (const auto& entry : call.kept) ++problem.kept[entry];
  if (call.lone_query) {
    ++problem.lone_queries;
  } else {
    ++problem.calls;
    ++calls_;
    count_stream(id, call.stream);
  }
  return id;
}

void WorkloadBuilder::again(std::size_t id, std::optional<std::uint64_t> stream) {
  if (id >= workload_.problems.size()) {
    // The first of its kind was reported with its line.
    ++workload_.damaged_lines;
    return;
  }
  auto& problem = workload_.problems[id];
  ++problem.calls;
  ++calls_;
  for (auto& [entry, count] : problem.kept) ++count;
  count_stream(id, stream);
}

void WorkloadBuilder::count_stream(std::size_t id, std::optional<std::uint64_t> stream) {
  if (stream && streams_[id].size() < kMostStreams) streams_[id].insert(*stream);
}

void WorkloadBuilder::damaged(std::uint64_t line, const std::string& reason) {
  ++workload_.damaged_lines;
  if (workload_.damaged.size() < kMostDamagedLines) workload_.damaged.push_back({{file_, line}, reason});
}

Workload WorkloadBuilder::take() {
  for (std::size_t i = 0; i < streams_.size(); ++i) workload_.problems[i].streams = streams_[i].size();
  std::stable_sort(workload_.problems.begin(), workload_.problems.end(),
                   [](const WorkloadProblem& left, const WorkloadProblem& right) { return left.calls > right.calls; });
  ids_.clear();
  streams_.clear();
  calls_ = 0;
  return std::exchange(workload_, {});
}

}  // namespace lt_audit
