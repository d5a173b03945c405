// The CSV files of PyTorch's TunableOp: tuned results (tunableop_results0.csv) and products that were recorded to be
// tuned (tunableop_untuned0.csv).
#include <algorithm>
#include <array>

#include "workload/importer.h"
#include "workload/importers/enumerators.h"

namespace lt_audit {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 48;
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 30;
/// The name of an operation is shorter.
constexpr std::size_t kLongestName = 160;
/// The workspace that PyTorch gives cublasLtMatmul when it is not told otherwise.
constexpr std::int64_t kWorkspaceBytes = std::int64_t{1} << 20;
constexpr std::string_view kOperation = "TunableOp_";

bool strip_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// What stands before the separator; it and the separator are taken off the text.
std::string_view next_part(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

/// Printable ASCII, so that a report can hold it.
std::string plain(std::string_view text) {
  std::string result(text.substr(0, kLongestName));
  for (auto& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

/// PyTorch's word for a type.
struct TypeWord {
  std::string_view word;
  cudaDataType_t type;
  cublasComputeType_t compute_type = CUBLAS_COMPUTE_32F;
  /// AMD's FP8, whose exponent bias and NaN are others: cuBLAS has no such type.
  bool fnuz = false;
};
constexpr std::array<TypeWord, 13> kTypeWords{{
    {"Float8_e4m3fnuz", CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F, true},
    {"Float8_e5m2fnuz", CUDA_R_8F_E5M2, CUBLAS_COMPUTE_32F, true},
    {"Float8_e4m3fn", CUDA_R_8F_E4M3},
    {"Float8_e5m2", CUDA_R_8F_E5M2},
    {"BFloat16", CUDA_R_16BF},
    {"Half", CUDA_R_16F},
    {"float", CUDA_R_32F},
    {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {"double", CUDA_R_64F, CUBLAS_COMPUTE_64F},
    // Types of a bias are spelled so.
    {"Float", CUDA_R_32F},
    {"Double", CUDA_R_64F, CUBLAS_COMPUTE_64F},
    {"c10::complex<float>", CUDA_C_32F},
    {"c10::complex<double>", CUDA_C_64F, CUBLAS_COMPUTE_64F},
}};

const TypeWord* type_word(std::string_view word) {
  const auto named = [&](const TypeWord& entry) { return entry.word == word; };
  const auto* const found = std::find_if(kTypeWords.begin(), kTypeWords.end(), named);
  return found == kTypeWords.end() ? nullptr : found;
}

/// Takes "BFloat16_" off the front; words have underscores of their own.
const TypeWord* next_type_word(std::string_view& text) {
  for (const auto& entry : kTypeWords) {
    auto rest = text;
    if (strip_prefix(rest, entry.word) && strip_prefix(rest, "_")) {
      text = rest;
      return &entry;
    }
  }
  return nullptr;
}

/// One row on its way to a call.
struct Row {
  ImportedCall call;
  bool scaled = false;
  bool batched = false;
  /// The first thing that is wrong with it.
  std::string fault;

  void fail(const std::string& reason) {
    if (fault.empty()) fault = reason;
  }

  std::int64_t number(std::string_view name, std::string_view text, std::int64_t largest = kLargest) {
    const auto parsed = number_from_text(text);
    const auto limit = static_cast<std::uint64_t>(largest);
    if (!parsed) fail(std::string(name) + (text.empty() ? " is missing" : " cannot be read"));
    if (parsed && *parsed > limit) fail(std::string(name) + " is too large");
    return static_cast<std::int64_t>(std::min(parsed.value_or(0), limit));
  }
};

void set_type(Row& row, std::string_view key, const TypeWord& word, cudaDataType_t& type) {
  type = word.type;
  if (word.fnuz) row.call.kept.push_back(std::string(key) + "=" + std::string(word.word));
}

/// "NN" or "tn": how A and B lie.
void read_layout(Row& row, std::string_view layout) {
  auto& p = row.call.problem;
  const auto a = operation_from(layout.substr(0, 1));
  const auto b = layout.size() == 2 ? operation_from(layout.substr(1)) : std::nullopt;
  const auto letter = [](char c) { return std::string_view("NTCntc").find(c) != std::string_view::npos; };
  if (!a || !b || !std::all_of(layout.begin(), layout.end(), letter)) return row.fail("the layout cannot be read");
  p.transa = *a;
  p.transb = *b;
}

/// "GemmAndBiasTunableOp_BFloat16_TN", "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN".
void read_operation(Row& row, std::string_view name) {
  auto& p = row.call.problem;
  const auto operation = name.find(kOperation);
  if (operation == std::string_view::npos) return row.fail("the operation is unknown");
  const auto types = operation + kOperation.size();
  row.call.api = plain(name.substr(0, types - 1));
  row.scaled = row.call.api == "ScaledGemmTunableOp";
  row.batched = row.call.api == "GemmStridedBatchedTunableOp";
  const bool biased = row.call.api == "GemmAndBiasTunableOp";
  if (!row.scaled && !row.batched && !biased && row.call.api != "GemmTunableOp") {
    return row.fail("the operation is unknown");
  }
  name.remove_prefix(types);
  const auto* a = next_type_word(name);
  const auto* b = row.scaled ? next_type_word(name) : a;
  const auto* d = row.scaled ? next_type_word(name) : a;
  if (a == nullptr || b == nullptr || d == nullptr) return row.fail("a type is missing or unknown");
  set_type(row, "a_type", *a, p.type_a);
  set_type(row, "b_type", *b, p.type_b);
  set_type(row, "d_type", *d, p.type_d);
  p.type_c = p.type_d;
  p.compute_type = a->compute_type;
  p.scale_type = default_scale_type(p.compute_type, p.type_a);
  if (biased) {
    p.epilogue = CUBLASLT_EPILOGUE_BIAS;
    // An activation may follow, and the name is the same.
    row.call.assumed.emplace_back("epilogue");
  }
  read_layout(row, name);
}

/// 0 for the smallest leading dimension.
std::int64_t leading_dimension(Row& row, std::string_view name, std::string_view text, std::int64_t rows) {
  const auto ld = row.number(name, text);
  if (ld < rows) row.fail(std::string(name) + " is smaller than the rows of its matrix");
  return ld == rows ? 0 : ld;
}

/// "rw_1_bias_None": scales for each row, and the type of the bias.
void read_scaling(Row& row, std::string_view text) {
  auto& p = row.call.problem;
  const auto rowwise = next_part(text, '_');
  if (rowwise != "0" && rowwise != "1") return row.fail("rw is neither 0 nor 1");
  if (rowwise == "1") row.call.kept.emplace_back("rowwise=1");
  if (!strip_prefix(text, "bias_")) return row.fail("bias is missing");
  if (text == "None") return;
  const auto* const word = type_word(text);
  if (word == nullptr) return row.fail("the type of the bias is unknown");
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  if (word->type != bias_type(p)) row.call.kept.push_back("bias_type=" + std::string(word->word));
}

/// The largest matrix of the problem must fit some memory, which also keeps later products of sizes in 64 bits.
void check_sizes(Row& row) {
  const auto& p = row.call.problem;
  const auto rows_and_ld = [](std::int64_t rows, std::int64_t ld) { return ld == 0 ? rows : ld; };
  const bool plain_a = p.transa == CUBLAS_OP_N;
  const bool plain_b = p.transb == CUBLAS_OP_N;
  const std::array<std::pair<std::int64_t, std::int64_t>, 3> sizes{
      {{rows_and_ld(plain_a ? p.m : p.k, p.lda), plain_a ? p.k : p.m},
       {rows_and_ld(plain_b ? p.k : p.n, p.ldb), plain_b ? p.n : p.k},
       {rows_and_ld(p.m, p.ldc), p.n}}};
  for (const auto& [ld, cols] : sizes) {
    const auto batch = std::max<std::int64_t>(p.batch_count, 1);
    if (cols > 0 && ld > kLargest / batch / cols) row.fail("a matrix is larger than any memory");
  }
}

/// "tn_128_128_64_B_96_ld_64_64_128_rw_1_bias_None", sizes as cuBLAS takes them.
void read_sizes(Row& row, std::string_view text) {
  auto& p = row.call.problem;
  const MatmulProblem named = p;
  read_layout(row, next_part(text, '_'));
  if (p.transa != named.transa || p.transb != named.transb) row.fail("the two layouts differ");
  p.m = row.number("m", next_part(text, '_'));
  p.n = row.number("n", next_part(text, '_'));
  p.k = row.number("k", next_part(text, '_'));
  const bool batched = strip_prefix(text, "B_");
  if (batched) p.batch_count = static_cast<std::int32_t>(row.number("B", next_part(text, '_'), kLargestBatch));
  if (batched != row.batched) row.fail(batched ? "B does not belong here" : "B is missing");
  if (strip_prefix(text, "ld_")) {
    p.lda = leading_dimension(row, "lda", next_part(text, '_'), p.transa == CUBLAS_OP_N ? p.m : p.k);
    p.ldb = leading_dimension(row, "ldb", next_part(text, '_'), p.transb == CUBLAS_OP_N ? p.k : p.n);
    p.ldc = p.ldd = leading_dimension(row, "ldc", next_part(text, '_'), p.m);
  }
  if (strip_prefix(text, "rw_")) {
    read_scaling(row, text);
  } else if (!text.empty()) {
    row.fail("the sizes end in something unknown");
  }
  check_sizes(row);
}

/// Newer versions keep results for any size: "tn_4096_*_1024".
bool is_wildcard(std::string_view sizes) {
  return sizes.find("_*_") != std::string_view::npos || sizes.ends_with("_*");
}

class TunableOpImporter final : public LineImporter {
 public:
  std::string_view format() const override { return "tunableop"; }

  bool claims(std::string_view line) const override {
    if (line.starts_with("Validator,")) return true;
    if (!line.starts_with("Gemm") && !line.starts_with("ScaledGemm")) return false;
    line = line.substr(0, kLongestName);
    return line.substr(0, line.find(',')).find(kOperation) != std::string_view::npos;
  }

  void take(std::string_view line, std::uint64_t number, CallSink& sink) override {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("Validator,")) return;
    const auto operation = next_part(line, ',');
    const auto sizes = next_part(line, ',');
    if (is_wildcard(sizes)) return;
    Row row;
    row.call.algorithm = plain(next_part(line, ','));
    row.call.problem.workspace_bytes = kWorkspaceBytes;
    row.call.assumed = {"alpha", "beta", "alignment", "workspace"};
    if (operation.size() > kLongestName) row.fail("the name of the operation is too long");
    if (sizes.empty()) row.fail("the sizes are missing");
    if (row.fault.empty()) read_operation(row, operation);
    if (row.fault.empty()) read_sizes(row, sizes);
    if (row.batched) row.call.assumed.emplace_back("batch strides");
    if (!row.fault.empty()) return sink.damaged(number, row.fault);
    sink.call(row.call, number);
  }
};

}  // namespace

std::unique_ptr<LineImporter> make_tunableop_importer() { return std::make_unique<TunableOpImporter>(); }

}  // namespace lt_audit
