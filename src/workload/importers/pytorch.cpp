// What PyTorch writes when cublasLtMatmul refuses a call (aten/src/ATen/cuda/CUDABlas.cpp, 2022 to 2026): one line with
// names and values, in cuBLAS order. Wordings differ by function and year, so values are found by name.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "workload/importer.h"
#include "workload/importers/enumerators.h"

namespace lt_audit {
namespace {

constexpr std::string_view kMatmul = "when calling cublasLtMatmul with transpose_mat1";
/// Where the wording must begin, and how much after it is read.
constexpr std::size_t kClaimBytes = 4096;
constexpr std::size_t kFieldBytes = 8192;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 48;
/// PyTorch's default for calls of cublasLtMatmul before it grew to 32 MiB on sm_90.
constexpr std::int64_t kWorkspaceBytes = 1 << 20;

constexpr std::array<std::string_view, 16> kNames{
    "transpose_mat1", "transpose_mat2", "m",           "n",        "k",   "mat1_ld",
    "mat2_ld",        "result_ld",      "lda",         "ldb",      "ldc", "abcType",
    "abType",         "cType",          "computeType", "scaleType"};

/// Names and values; both point into the line or into kNames.
using Fields = std::map<std::string_view, std::string_view>;

/// Which function of PyTorch wrote the line.
enum class Family { gemm_and_bias, bgemm, int8_gemm, scaled_gemm };

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The macros print the call as it stands in the source: argument names, no values.
bool names_a_call_without_sizes(std::string_view head) {
  for (const std::string_view wording :
       {"when calling `cublasLtMatmulAlgoGetHeuristic(", "when calling `cublasGemmEx(",
        "when calling `::cublasLtMatmulDescSetAttribute(", "when calling `cublasLtMatmulDescSetAttribute("}) {
    if (head.find(wording) != std::string_view::npos) return true;
  }
  const auto calling = head.find("when calling");
  return calling != std::string_view::npos &&
         head.find("cublasGemmStridedBatchedEx(", calling) != std::string_view::npos;
}

/// What stands behind a value without a blank: nothing, or a mark that ends the message ("0.", "0\"}", "0\\n").
bool ends_the_message(std::string_view rest) {
  constexpr std::string_view kMarks = ".,;\"'`)]}\r";
  if (rest.front() == '\\') return true;
  return kMarks.find(rest.front()) != std::string_view::npos && (rest.size() == 1 || !is_word(rest[1]));
}

std::string_view next_token(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto token = text.substr(0, text.find(' '));
  text.remove_prefix(token.size());
  return token;
}

/// Reads "name value name value ..."; the reason when that fails, else nothing.
std::string read_fields(std::string_view text, Fields& fields) {
  for (auto token = next_token(text); !token.empty(); token = next_token(text)) {
    // A debug build of 2022 appends the shapes of the tensors; m, n and k say the same.
    if (token == "result_shape") break;
    const auto* const name = std::find(kNames.begin(), kNames.end(), token);
    if (name == kNames.end()) continue;
    auto value = next_token(text);
    const auto* const rest = std::find_if_not(value.begin(), value.end(), is_word);
    const auto length = static_cast<std::size_t>(rest - value.begin());
    const bool last = length < value.size();
    if (length == 0 || (last && !ends_the_message(value.substr(length)))) {
      return std::string(*name) + " has no readable value";
    }
    if (!fields.emplace(*name, value.substr(0, length)).second) return std::string(*name) + " stands twice";
    if (last) break;
  }
  return {};
}

/// "NOT_SUPPORTED" of "... CUBLAS_STATUS_NOT_SUPPORTED when calling"; empty when there is none.
std::string_view status_before(std::string_view text) {
  constexpr std::string_view kPrefix = "CUBLAS_STATUS_";
  const auto start = text.rfind(kPrefix);
  if (start == std::string_view::npos || !text.ends_with(' ')) return {};
  text.remove_prefix(start + kPrefix.size());
  text.remove_suffix(1);
  const bool name = std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
  return name ? text : std::string_view{};
}

/// One line on its way to a call. Each step returns the reason why the line is damaged, or nothing.
class Reading {
 public:
  std::string read(std::string_view line, std::size_t start) {
    auto reason = read_fields(line.substr(start, kFieldBytes), fields_);
    if (reason.empty()) reason = find_family(line.substr(0, start));
    if (reason.empty()) reason = read_types();
    if (reason.empty()) reason = read_sizes();
    if (reason.empty()) complete(line.substr(0, start));
    return reason;
  }
  const ImportedCall& call() const { return call_; }

 private:
  std::string_view value_of(std::string_view name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() ? std::string_view{} : found->second;
  }
  bool has(std::string_view name) const { return fields_.count(name) != 0; }

  std::string find_family(std::string_view before) {
    const bool blas_names = has("lda") || has("ldb") || has("ldc");
    if (blas_names && (has("mat1_ld") || has("mat2_ld") || has("result_ld"))) {
      return "both lda and mat1_ld names stand in the line";
    }
    if (has("abcType") && (has("abType") || has("cType"))) return "both abcType and abType or cType stand in the line";
    const bool fused = before.find("gemm_and_bias error") != std::string_view::npos;
    const bool types = has("abcType") || has("abType") || has("cType");
    // Only scaled_gemm has always printed letters; a digit without types is a line that was cut.
    const auto letter = value_of("transpose_mat1");
    const bool digit = letter == "0" || letter == "1";
    if (blas_names || before.find("bgemm_internal_cublaslt error") != std::string_view::npos) {
      family_ = Family::bgemm;
    } else if (!types && !digit && !fused) {
      family_ = Family::scaled_gemm;
    } else if (!fused && has("cType") && data_type_from(value_of("abType")) == CUDA_R_8I) {
      family_ = Family::int8_gemm;
    }
    return {};
  }

  std::string read_type(std::string_view name, cudaDataType_t& type) const {
    if (!has(name)) return std::string(name) + " is missing";
    const auto found = data_type_from(value_of(name));
    if (!found) return std::string(name) + " is the number of no data type";
    type = *found;
    return {};
  }

  std::string read_types() {
    auto& p = call_.problem;
    std::string reason;
    if (family_ == Family::scaled_gemm) {
      p.type_a = CUDA_R_8F_E4M3;
      p.type_c = CUDA_R_16BF;
    } else if (has("abType") || has("cType")) {
      reason = read_type("abType", p.type_a);
      if (reason.empty()) reason = read_type("cType", p.type_c);
    } else {
      reason = read_type("abcType", p.type_a);
      p.type_c = p.type_a;
    }
    p.type_b = p.type_a;
    p.type_d = p.type_c;
    if (reason.empty()) reason = read_type("scaleType", p.scale_type);
    if (!reason.empty()) return reason;
    if (!has("computeType")) return "computeType is missing";
    const auto compute = compute_type_from(value_of("computeType"));
    if (!compute) return "computeType is the number of no compute type";
    p.compute_type = *compute;
    return {};
  }

  std::string read_operation(std::string_view name, cublasOperation_t& operation) const {
    if (!has(name)) return std::string(name) + " is missing";
    const auto found = operation_from(value_of(name));
    if (!found) return std::string(name) + " is neither 0, 1, n, t nor c";
    operation = *found;
    return {};
  }

  std::string read_size(std::string_view name, std::int64_t& size) const {
    if (!has(name)) return std::string(name) + " is missing";
    const auto found = number_from_text(value_of(name));
    if (!found || *found > kLargest) return std::string(name) + " is no whole number up to 2^48";
    size = static_cast<std::int64_t>(*found);
    return {};
  }

  /// A leading dimension over `rows` of memory; the smallest legal one stays 0.
  std::string read_leading(std::string_view name, std::int64_t rows, std::int64_t& ld) const {
    auto reason = read_size(name, ld);
    if (reason.empty() && ld < rows) reason = std::string(name) + " is smaller than the matrix has rows";
    if (ld == rows) ld = 0;
    return reason;
  }

  std::string read_sizes() {
    auto& p = call_.problem;
    auto reason = read_operation("transpose_mat1", p.transa);
    if (reason.empty()) reason = read_operation("transpose_mat2", p.transb);
    if (reason.empty()) reason = read_size("m", p.m);
    if (reason.empty()) reason = read_size("n", p.n);
    if (reason.empty()) reason = read_size("k", p.k);
    const bool blas_names = has("lda") || has("ldb") || has("ldc");
    const auto rows_a = p.transa == CUBLAS_OP_N ? p.m : p.k;
    const auto rows_b = p.transb == CUBLAS_OP_N ? p.k : p.n;
    if (reason.empty()) reason = read_leading(blas_names ? "lda" : "mat1_ld", rows_a, p.lda);
    if (reason.empty()) reason = read_leading(blas_names ? "ldb" : "mat2_ld", rows_b, p.ldb);
    if (reason.empty()) reason = read_leading(blas_names ? "ldc" : "result_ld", p.m, p.ldc);
    p.ldd = p.ldc;
    return reason;
  }

  /// What the wording tells, and what it leaves open.
  void complete(std::string_view before) {
    auto& p = call_.problem;
    call_.api = "cublasLtMatmul";
    call_.assumed = {"alpha", "beta", "alignment", "declared alignment", "workspace"};
    p.workspace_bytes = kWorkspaceBytes;
    // All but scaled_gemm hand the result as C and as D, with one layout.
    p.in_place = family_ != Family::scaled_gemm;
    if (family_ == Family::gemm_and_bias) p.epilogue = CUBLASLT_EPILOGUE_BIAS;
    if (family_ == Family::gemm_and_bias || family_ == Family::scaled_gemm) call_.assumed.emplace_back("epilogue");
    if (family_ == Family::scaled_gemm) call_.assumed.emplace_back("types");
    if (family_ == Family::bgemm) call_.assumed.insert(call_.assumed.end(), {"batch", "batch strides"});
    const auto status = status_before(before);
    if (!status.empty()) call_.kept.push_back("status=" + std::string(status));
  }

  Fields fields_;
  Family family_ = Family::gemm_and_bias;
  ImportedCall call_;
};

class PytorchImporter : public LineImporter {
 public:
  std::string_view format() const override { return "pytorch"; }

  bool claims(std::string_view line) const override {
    const auto head = line.substr(0, kClaimBytes);
    return head.find(kMatmul) != std::string_view::npos || names_a_call_without_sizes(head);
  }

  void take(std::string_view line, std::uint64_t number, CallSink& sink) override {
    const auto start = line.substr(0, kClaimBytes).find(kMatmul);
    if (start == std::string_view::npos) {
      sink.damaged(
          number, "the line names no m, n, k: switch the cuBLASLt logger on (CUBLASLT_LOG_MASK=63) and import its log");
      return;
    }
    Reading reading;
    const auto reason = reading.read(line, start);
    if (reason.empty()) {
      sink.call(reading.call(), number);
    } else {
      sink.damaged(number, reason);
    }
  }
};

}  // namespace

std::unique_ptr<LineImporter> make_pytorch_importer() { return std::make_unique<PytorchImporter>(); }

}  // namespace lt_audit
