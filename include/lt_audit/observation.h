// What happened when a case was run, stage by stage, as data. No opinion: verdicts are made from it by Check::judge.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lt_audit {

/// One API step of a case with the status it returned.
struct Stage {
  /// create, set_attribute, heuristic, algo_check, matmul, synchronize, or a check's own word.
  std::string name;
  /// The call, as the header spells it: "cublasLtMatmulAlgoGetHeuristic".
  std::string call;
  /// "SUCCESS", "NOT_SUPPORTED", "cudaErrorMisalignedAddress", ...
  std::string status;

  bool ok() const { return status == "SUCCESS" || status == "cudaSuccess"; }
  friend bool operator==(const Stage&, const Stage&) = default;
};

/// One result of cublasLtMatmulAlgoGetHeuristic.
struct HeuristicResult {
  std::string state;
  /// CUBLASLT_ALGO_CONFIG_ID, tile, stages and split-K number of the result; -1 when the library did not say.
  int algo_id = -1;
  int tile = -1;
  int stages = -1;
  int split_k = -1;
  std::uint64_t workspace_bytes = 0;
  double waves = 0;
  friend bool operator==(const HeuristicResult&, const HeuristicResult&) = default;
};

/// What the audit's kernels found after the call. Counts are in elements unless they say bytes.
struct Verification {
  /// "elements" (every element compared) or "freivalds".
  std::string method;
  std::uint64_t compared = 0;
  /// Elements of D that are not what they must be.
  std::uint64_t wrong = 0;
  /// Elements of D that still hold the poison; they are also counted in `wrong`.
  std::uint64_t unwritten = 0;
  /// Expected results that are not zero: few of them prove nothing.
  std::uint64_t expected_nonzero = 0;
  /// First wrong element in column order: row, column, batch; -1 when there is none.
  std::int64_t first_row = -1;
  std::int64_t first_col = -1;
  std::int64_t first_batch = -1;
  double first_expected = 0;
  double first_actual = 0;
  /// Bytes changed outside D's elements.
  std::uint64_t bytes_before_d = 0;
  std::uint64_t bytes_behind_d = 0;
  /// One past the last changed byte behind D, counted from D's end.
  std::uint64_t reach_behind_d = 0;
  std::uint64_t padding_bytes_changed = 0;
  /// Bytes changed in A, B, C, bias, aux (their guard zones included) and in the guard zones of the workspace.
  std::uint64_t a_bytes_changed = 0;
  std::uint64_t b_bytes_changed = 0;
  std::uint64_t c_bytes_changed = 0;
  std::uint64_t bias_bytes_changed = 0;
  std::uint64_t aux_bytes_changed = 0;
  /// Of all tables of scale factors.
  std::uint64_t scale_bytes_changed = 0;
  std::uint64_t workspace_guard_bytes_changed = 0;
  /// What the epilogue writes beside D: elements of aux (bits of a mask) and of the bias gradient.
  std::uint64_t aux_compared = 0;
  std::uint64_t aux_wrong = 0;
  std::uint64_t gradient_compared = 0;
  std::uint64_t gradient_wrong = 0;
  /// The largest magnitude of D before its scale, where it is asked for.
  std::optional<double> amax_expected;
  std::optional<double> amax_actual;

  /// Everything that the call must write holds what it must, and something was compared.
  bool all_right() const { return wrong == 0 && compared > 0 && beside_d_right(); }
  bool beside_d_right() const { return aux_wrong == 0 && gradient_wrong == 0 && amax_actual == amax_expected; }

  std::uint64_t input_bytes_changed() const {
    return a_bytes_changed + b_bytes_changed + c_bytes_changed + bias_bytes_changed + aux_bytes_changed +
           scale_bytes_changed;
  }
  std::uint64_t bytes_outside_d() const {
    return bytes_before_d + bytes_behind_d + padding_bytes_changed + workspace_guard_bytes_changed;
  }
  /// Nothing changed that the call may not write: neither an input nor a byte outside D's elements.
  bool nothing_else_written() const { return bytes_outside_d() == 0 && input_bytes_changed() == 0; }
  friend bool operator==(const Verification&, const Verification&) = default;
};

/// One line of the library's own logger.
struct LogLine {
  int level = 0;
  std::string function;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

/// The same product through cuBLAS (cublasGemmEx or cublasGemmStridedBatchedEx).
struct CublasObservation {
  /// "cublasGemmEx", "cublasGemmStridedBatchedEx", or empty when cuBLAS cannot express the problem.
  std::string call;
  std::string status;
  /// Why there is no call: "epilogue bias has no cuBLAS form".
  std::string not_expressible;
  std::optional<Verification> verification;
  friend bool operator==(const CublasObservation&, const CublasObservation&) = default;
};

/// How the worker that ran the case ended, when that is a result.
enum class ProcessEnd { survived, crashed, timed_out, context_lost };

/// Fact of a call that took far longer than its size explains, twice in a row: milliseconds of the faster one.
inline constexpr const char* kSlowCallFact = "slow_call_ms";

/// Times of one case. GPU times come from events and are absent where none was taken.
struct CaseTimes {
  double host_us = 0;
  double heuristic_us = 0;
  double matmul_call_us = 0;
  std::optional<double> matmul_gpu_us;
  /// What the audit's kernels took after it: inspection of all memory and comparison of D.
  std::optional<double> verify_gpu_us;
  friend bool operator==(const CaseTimes&, const CaseTimes&) = default;
};

/// Everything seen of one case.
struct Observation {
  std::vector<Stage> stages;
  /// Results of the heuristic, best first; empty when it returned none.
  std::vector<HeuristicResult> heuristic;
  std::optional<Verification> verification;
  std::optional<CublasObservation> cublas;
  std::vector<LogLine> log;
  ProcessEnd end = ProcessEnd::survived;
  /// For crashed: "SIGSEGV" or "exit code 3"; for context_lost: the CUDA error; for timed_out: the limit.
  std::string end_detail;
  /// Reason why the case was not run although it applies: "needs 12.0 GiB of GPU memory, 3.1 GiB are free".
  std::string not_run;
  /// The audit itself broke on this case: message of the exception.
  std::string audit_error;
  /// A check's own facts, numbers as text.
  std::map<std::string, std::string> facts;
  CaseTimes times;

  /// The last stage with this name, or null.
  const Stage* stage(const std::string& name) const;
  /// The fact with this name, or empty.
  std::string fact(const std::string& name) const;
};

}  // namespace lt_audit
