// A workload: the matrix products of an application, each once, with how often and where it was called. What `lt-audit
// import` makes of logs and `lt-audit run --workload` audits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// A place in a file, lines from 1.
struct SourceLine {
  std::string file;
  std::uint64_t line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// One distinct product of an application.
struct WorkloadProblem {
  /// Offsets are those of the pointers seen first.
  MatmulProblem problem;
  /// The function that was called, as the log spells it: "cublasLtMatmul", "cublasLtTSTMatmul", "cublasGemmEx".
  std::string api;
  /// How often; 0 for a heuristic query that no matmul followed.
  std::uint64_t calls = 0;
  /// Heuristic queries that no matmul followed: refused, as far as a log can say.
  std::uint64_t lone_queries = 0;
  /// Different streams; 0 when the source does not say.
  std::uint64_t streams = 0;
  SourceLine first;
  /// The algorithm that the application used first, as the log spells it; empty when unknown.
  std::string algorithm;
  /// What the source did not say and was taken to be usual: "alpha", "declared alignment", "types". Sorted.
  std::vector<std::string> assumed;
  /// What the source said and MatmulProblem does not hold: "aScaleMode=OUTER_VEC_32F" and how often.
  std::map<std::string, std::uint64_t> kept;
  friend bool operator==(const WorkloadProblem&, const WorkloadProblem&) = default;
};

/// A line that is of a known format and could not be read.
struct DamagedLine {
  SourceLine place;
  std::string reason;
  friend bool operator==(const DamagedLine&, const DamagedLine&) = default;
};

struct Workload {
  /// By calls, most first; then in order of first occurrence.
  std::vector<WorkloadProblem> problems;
  /// The first of them; `damaged_lines` counts all.
  std::vector<DamagedLine> damaged;
  std::uint64_t damaged_lines = 0;
  friend bool operator==(const Workload&, const Workload&) = default;
};

}  // namespace lt_audit
