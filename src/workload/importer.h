// What reads one format of log, line by line, and where it puts what it understood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// One call as a log tells it.
struct ImportedCall {
  /// Distinct calls differ in anything but offsets, declared alignments and the algorithm.
  MatmulProblem problem;
  std::string api;
  /// A heuristic query that no matmul followed.
  bool lone_query = false;
  std::optional<std::uint64_t> stream;
  std::string algorithm;
  /// What the source does not say: "alpha", "beta", "types", "alignment", "declared alignment", "workspace",
  /// "epilogue", "batch", "batch strides", "pointer mode".
  std::vector<std::string> assumed;
  /// What the source says and MatmulProblem does not hold, "key=value". Calls that differ in it are distinct.
  std::vector<std::string> kept;
};

/// The id of a call that could not be taken.
inline constexpr std::size_t kNoCall = ~std::size_t{0};

/// Where importers put calls. Ids of distinct calls stay valid for the whole import.
class CallSink {
 public:
  CallSink() = default;
  CallSink(const CallSink&) = delete;
  CallSink& operator=(const CallSink&) = delete;
  virtual ~CallSink() = default;

  /// A call; its id, or kNoCall for one that no problem text can hold (counted as damaged).
  virtual std::size_t call(const ImportedCall& call, std::uint64_t line) = 0;
  /// The call with this id (kNoCall: one more damaged line) once more, on this stream: for an importer that knows a
  /// line again without reading it.
  virtual void again(std::size_t id, std::optional<std::uint64_t> stream) = 0;
  /// A line of this format that cannot be read, and why: "m is missing".
  virtual void damaged(std::uint64_t line, const std::string& reason) = 0;
};

/// Reads the lines of one format in one file. A line that several formats share goes to the first that claims it.
class LineImporter {
 public:
  LineImporter() = default;
  LineImporter(const LineImporter&) = delete;
  LineImporter& operator=(const LineImporter&) = delete;
  virtual ~LineImporter() = default;

  /// kebab-case: "cublaslt-log".
  virtual std::string_view format() const = 0;
  /// True for a line of this format, damaged or not; a look at its start, since it is asked for every line.
  virtual bool claims(std::string_view line) const = 0;
  /// A claimed line, without its line feed. Lines that carry no call (a handle was made) are read and forgotten.
  virtual void take(std::string_view line, std::uint64_t number, CallSink& sink) = 0;
  /// End of the file: what is still open is damaged or a lone query.
  virtual void finish(CallSink& /*sink*/) {}
};

/// Offset for a MatmulProblem that says how an address is aligned, and nothing else of it: 0 for 256 bytes and more,
/// the largest power of two that divides it below that.
std::int64_t offset_of_address(std::uint64_t address);

// One of each format (src/workload/importers).
std::unique_ptr<LineImporter> make_cublaslt_log_importer();
std::unique_ptr<LineImporter> make_cublas_log_importer();
std::unique_ptr<LineImporter> make_tunableop_importer();
std::unique_ptr<LineImporter> make_hipblaslt_importer();
std::unique_ptr<LineImporter> make_pytorch_importer();
std::unique_ptr<LineImporter> make_xla_importer();

}  // namespace lt_audit
