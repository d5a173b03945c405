// The logger of cuBLAS (CUBLAS_LOGINFO_DBG=1): blocks of lines, one block for each call of the library. Its products
// are those before a migration, so each becomes the cublasLtMatmul that would replace it.
#include <algorithm>
#include <array>
#include <map>

#include "workload/importer.h"
#include "workload/importers/enumerators.h"

namespace lt_audit {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 48;
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 30;
constexpr std::size_t kMostFields = 64;
constexpr std::size_t kLongestField = 256;
constexpr std::size_t kMostHandles = 4096;

bool strip_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool strip_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// Printable ASCII, so that a report can hold it.
std::string plain(std::string_view text) {
  std::string result(text);
  for (auto& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

/// "POINTER (IN HEX:0x0x7f48)", "POINTER (IN HEX:0x(nil)) (defaultStream)".
std::optional<std::uint64_t> pointer_from(std::string_view text) {
  if (!strip_prefix(text, "POINTER (IN HEX:")) return std::nullopt;
  strip_prefix(text, "0x");
  if (text.starts_with("(nil))")) return 0;
  const auto close = text.find(')');
  return close == std::string_view::npos ? std::nullopt : number_from_text(text.substr(0, close), 16);
}

enum class Batching { none, strided, pointer_arrays };

/// A product of cuBLAS by the name of its function.
struct Product {
  /// Blank for the cublasGemmEx family, whose fields name all types.
  char letter = ' ';
  cudaDataType_t type = CUDA_R_32F;
  cublasComputeType_t compute_type = CUBLAS_COMPUTE_32F;
  /// Has Atype, Btype and Ctype.
  bool extended = false;
  Batching batching = Batching::none;
};
constexpr std::array<Product, 5> kTyped{{{'S', CUDA_R_32F, CUBLAS_COMPUTE_32F},
                                         {'D', CUDA_R_64F, CUBLAS_COMPUTE_64F},
                                         {'H', CUDA_R_16F, CUBLAS_COMPUTE_16F},
                                         {'C', CUDA_C_32F, CUBLAS_COMPUTE_32F},
                                         {'Z', CUDA_C_64F, CUBLAS_COMPUTE_64F}}};

/// "cublasGemmEx", "cublasSgemm_v2_64", "cublasHgemmStridedBatched"; nothing for what cublasLtMatmul cannot replace.
std::optional<Product> product_from(std::string_view name) {
  strip_suffix(name, "_64");
  strip_suffix(name, "_v2");
  if (!strip_prefix(name, "cublas") || name.empty()) return std::nullopt;
  Product product;
  if (!strip_prefix(name, "Gemm")) {
    const auto letter = [&](const Product& typed) { return typed.letter == name.front(); };
    const auto typed = std::find_if(kTyped.begin(), kTyped.end(), letter);
    if (typed == kTyped.end() || !name.substr(1).starts_with("gemm")) return std::nullopt;
    product = *typed;
    name.remove_prefix(5);
  }
  product.extended = strip_suffix(name, "Ex");
  if (name == "StridedBatched") product.batching = Batching::strided;
  if (name == "Batched") product.batching = Batching::pointer_arrays;
  if (!name.empty() && product.batching == Batching::none) return std::nullopt;
  // Of the typed ones, cublasSgemmEx and cublasCgemmEx alone have the fields of types.
  const bool typed_ex = product.extended && name.empty() && (product.letter == 'S' || product.letter == 'C');
  const bool exists = product.extended == (product.letter == ' ') || typed_ex;
  return exists ? std::optional(product) : std::nullopt;
}

/// What a block has said so far. What is missing or unreadable becomes its fault; fields that were read are gone.
struct Block {
  std::uint64_t line = 0;
  std::string function;
  std::map<std::string, std::string, std::less<>> fields;
  /// The process by its number; empty without its line.
  std::string process;
  std::optional<std::uint64_t> stream;
  std::optional<std::string> math_mode;
  /// The first thing that is wrong with it.
  std::string fault;

  void fail(const std::string& reason) {
    if (fault.empty()) fault = reason;
  }

  std::optional<std::string> text(std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::nullopt : std::optional(fields.extract(found).mapped());
  }

  /// `parse` turns the text into an optional value.
  template <class Parse>
  auto value(std::string_view name, Parse parse) {
    const auto given = text(name);
    const auto parsed = parse(given ? std::string_view(*given) : std::string_view{});
    if (!parsed) fail(std::string(name) + (given ? " cannot be read" : " is missing"));
    return parsed;
  }

  std::int64_t number(std::string_view name, std::int64_t largest = kLargest) {
    const auto parsed = value(name, [](std::string_view digits) { return number_from_text(digits); });
    const auto limit = static_cast<std::uint64_t>(largest);
    if (parsed && *parsed > limit) fail(std::string(name) + " is too large");
    return static_cast<std::int64_t>(std::min(parsed.value_or(0), limit));
  }
};

/// Leading dimension and batch stride of one matrix into the members of the problem that hold them.
void read_place(Block& block, const std::string& matrix, std::int64_t rows, std::int64_t cols, const Product& product,
                std::int64_t batch, std::int64_t& member_ld, std::int64_t& member_stride) {
  const std::int64_t ld = block.number(matrix == "A" ? "lda" : matrix == "B" ? "ldb" : "ldc");
  const std::int64_t given = product.batching == Batching::strided ? block.number("stride" + matrix) : -1;
  if (ld < rows) block.fail("the leading dimension of " + matrix + " is smaller than its rows");
  if (cols > 0 && ld > kLargest / cols) block.fail(matrix + " is larger than any memory");
  if (!block.fault.empty()) return;
  const std::int64_t stride = given < 0 ? ld * cols : given;
  if (batch > 1 && stride > kLargest / batch) block.fail(matrix + " is larger than any memory");
  // cuBLAS rules out results that overlap.
  if (matrix == "C" && batch > 1 && given == 0) block.fail("strideC is 0, so the products overwrite each other");
  if (ld != rows) member_ld = ld;
  if (batch > 1 && stride != ld * cols) member_stride = stride;
}

void read_sizes(Block& block, const Product& product, MatmulProblem& p) {
  p.transa = block.value("transa", operation_from).value_or(CUBLAS_OP_N);
  p.transb = block.value("transb", operation_from).value_or(CUBLAS_OP_N);
  p.m = block.number("m");
  p.n = block.number("n");
  p.k = block.number("k");
  if (product.batching != Batching::none) {
    p.batch_count = static_cast<std::int32_t>(block.number("batchCount", kLargestBatch));
  }
  const auto [rows_a, cols_a] = p.transa == CUBLAS_OP_N ? std::pair(p.m, p.k) : std::pair(p.k, p.m);
  const auto [rows_b, cols_b] = p.transb == CUBLAS_OP_N ? std::pair(p.k, p.n) : std::pair(p.n, p.k);
  read_place(block, "A", rows_a, cols_a, product, p.batch_count, p.lda, p.stride_a);
  read_place(block, "B", rows_b, cols_b, product, p.batch_count, p.ldb, p.stride_b);
  read_place(block, "C", p.m, p.n, product, p.batch_count, p.ldc, p.stride_c);
  p.ldd = p.ldc;
  p.stride_d = p.stride_c;
  p.in_place = true;
}

/// A compute type, or the data type that stood in its place before CUDA 11 (cublas_api.h 13.1.0,
/// cublasMigrateComputeType).
std::optional<cublasComputeType_t> compute_or_data_type_from(std::string_view text) {
  if (const auto compute = compute_type_from(text)) return compute;
  switch (data_type_from(text).value_or(CUDA_R_16BF)) {
    case CUDA_R_32F:
    case CUDA_C_32F:
      return CUBLAS_COMPUTE_32F;
    case CUDA_R_64F:
    case CUDA_C_64F:
      return CUBLAS_COMPUTE_64F;
    case CUDA_R_16F:
      return CUBLAS_COMPUTE_16F;
    case CUDA_R_32I:
      return CUBLAS_COMPUTE_32I;
    default:
      return std::nullopt;
  }
}

/// What a math mode makes of a compute type (cublas_api.h 13.1.0, lines 171-193).
struct MathMode {
  std::string_view name;
  cublasComputeType_t from;
  cublasComputeType_t to;
  /// For products of single precision alone.
  bool single = false;
};
constexpr std::array<MathMode, 8> kMathModes{{
    {"CUBLAS_TENSOR_OP_MATH", CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_16F, true},
    {"CUBLAS_TF32_TENSOR_OP_MATH", CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, true},
    {"CUBLAS_FP32_EMULATED_BF16X9_MATH", CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, true},
    {"CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH", CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT},
    {"CUBLAS_PEDANTIC_MATH", CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC},
    {"CUBLAS_PEDANTIC_MATH", CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC},
    {"CUBLAS_PEDANTIC_MATH", CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC},
    {"CUBLAS_PEDANTIC_MATH", CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC},
}};

/// False for a mode that no compute type stands for.
bool apply_math_mode(std::string_view name, MatmulProblem& p) {
  const auto single = [](cudaDataType_t type) { return type == CUDA_R_32F || type == CUDA_C_32F; };
  const auto compute = p.compute_type;
  bool known = name == "CUBLAS_DEFAULT_MATH";
  for (const auto& mode : kMathModes) {
    if (mode.name != name) continue;
    known = true;
    if (mode.from == compute && (!mode.single || (single(p.type_a) && single(p.type_b)))) p.compute_type = mode.to;
  }
  return known;
}

/// The words of "CUBLAS_DEFAULT_MATH | CUBLAS_MATH_..." one after the other.
void read_math_mode(std::string_view modes, ImportedCall& call) {
  while (!modes.empty()) {
    const auto bar = modes.find('|');
    auto mode = modes.substr(0, bar);
    modes.remove_prefix(bar == std::string_view::npos ? modes.size() : bar + 1);
    while (strip_prefix(mode, " ") || strip_suffix(mode, " ")) continue;
    const auto name = mode.substr(0, mode.find('('));
    if (!mode.empty() && !apply_math_mode(name, call.problem)) call.kept.push_back("MathMode=" + plain(mode));
  }
}

void read_types(Block& block, const Product& product, ImportedCall& call) {
  auto& p = call.problem;
  p.type_a = p.type_b = p.type_c = product.type;
  p.compute_type = product.compute_type;
  if (product.extended) {
    p.type_a = block.value("Atype", data_type_from).value_or(product.type);
    p.type_b = block.value("Btype", data_type_from).value_or(product.type);
    p.type_c = block.value("Ctype", data_type_from).value_or(product.type);
  }
  p.type_d = p.type_c;
  if (product.letter == ' ') {
    p.compute_type = block.value("computeType", compute_or_data_type_from).value_or(product.compute_type);
  }
  if (!block.math_mode) call.assumed.emplace_back("types");
  read_math_mode(block.math_mode.value_or(""), call);
  p.scale_type = default_scale_type(p.compute_type, p.type_c);
}

void read_addresses(Block& block, const Product& product, ImportedCall& call) {
  auto& p = call.problem;
  if (product.batching == Batching::pointer_arrays) {
    // A, B and C are arrays of addresses here: where the matrices lie is not logged.
    call.kept.emplace_back("batch=pointer array");
    call.assumed.insert(call.assumed.end(), {"alignment", "batch strides"});
    return;
  }
  const auto read = [&](std::string_view name, std::int64_t& offset, std::uint32_t& alignment) {
    const auto address = block.value(name, pointer_from).value_or(0);
    offset = address == 0 ? 0 : offset_of_address(address);
    if (offset != 0) alignment = static_cast<std::uint32_t>(offset);
  };
  read("A", p.a_offset, p.a_alignment);
  read("B", p.b_offset, p.b_alignment);
  read("C", p.c_offset, p.c_alignment);
  p.d_offset = p.c_offset;
  p.d_alignment = p.c_alignment;
  call.assumed.emplace_back("declared alignment");
}

class CublasLogImporter final : public LineImporter {
 public:
  std::string_view format() const override { return "cublas-log"; }
  bool claims(std::string_view line) const override { return line.starts_with("I! cuBLAS") || line.starts_with("i!"); }

  void take(std::string_view line, std::uint64_t number, CallSink& sink) override {
    strip_suffix(line, "\r");
    if (line.starts_with("I!")) {
      close(sink);
      open(line, number);
    } else if (!block_) {
      // Once for all lines of a block that has lost its first one.
      if (!orphaned_) sink.damaged(number, "the first line of this call, \"I! cuBLAS\", is missing");
      orphaned_ = true;
    } else if (strip_prefix(line, "i!  ")) {
      read_field(line);
    } else if (strip_prefix(line, "i!Process=")) {
      read_process(line);
    } else if (line.starts_with("i! COMPILED WITH")) {
      close(sink);
    }
  }

  void finish(CallSink& sink) override {
    close(sink);
    orphaned_ = false;
    workspaces_.clear();
  }

 private:
  void open(std::string_view line, std::uint64_t number) {
    orphaned_ = false;
    block_.emplace();
    block_->line = number;
    constexpr std::string_view kStatus = " function cublasStatus_t ";
    const auto name = line.find(kStatus);
    const auto end = name == std::string_view::npos ? name : line.find('(', name);
    if (end == std::string_view::npos || end - name == kStatus.size() || end - name > kLongestField) {
      return block_->fail("the name of the function is missing");
    }
    block_->function = line.substr(name + kStatus.size(), end - name - kStatus.size());
  }

  void read_field(std::string_view text) {
    constexpr std::string_view kType = ": type=";
    constexpr std::string_view kValue = "; val=";
    const auto type = text.find(kType);
    const auto value = type == std::string_view::npos ? type : text.find(kValue, type);
    if (value == std::string_view::npos || text.size() > kLongestField || block_->fields.size() == kMostFields) {
      return block_->fail("a line of a field cannot be read");
    }
    const auto [place, added] = block_->fields.emplace(text.substr(0, type), text.substr(value + kValue.size()));
    // Lines of two threads, mixed.
    if (!added) block_->fail(plain(place->first) + " stands twice");
  }

  /// "582; Thread=1; GPU=0; Handle=POINTER (IN HEX:0x..); StreamId=POINTER (IN HEX:0x..); MathMode=CUBLAS_DEFAULT_MATH"
  void read_process(std::string_view text) {
    if (text.size() > 2 * kLongestField) return block_->fail("the line of the process cannot be read");
    block_->process = text.substr(0, text.find(';'));
    while (!text.empty()) {
      const auto semicolon = text.find(';');
      auto item = text.substr(0, semicolon);
      text.remove_prefix(semicolon == std::string_view::npos ? text.size() : semicolon + 1);
      strip_prefix(item, " ");
      if (strip_prefix(item, "StreamId=")) {
        block_->stream = pointer_from(item);
        if (!block_->stream) block_->fail("StreamId cannot be read");
      } else if (strip_prefix(item, "MathMode=")) {
        block_->math_mode = item;
      }
    }
  }

  void close(CallSink& sink) {
    if (!block_) return;
    const std::string_view function = block_->function;
    if (const auto product = product_from(function)) {
      import_product(*product, sink);
    } else if (function == "cublasSetWorkspace_v2") {
      import_workspace();
    } else if (function.find("gemm") != function.npos || function.find("Gemm") != function.npos) {
      block_->fail("this product is not one that cublasLtMatmul can replace");
    } else if (!function.empty()) {
      block_->fault.clear();  // No product, so nothing is lost.
    }
    if (!block_->fault.empty()) sink.damaged(block_->line, block_->fault);
    block_.reset();
  }

  void import_product(const Product& product, CallSink& sink) {
    ImportedCall call;
    call.api = block_->function;
    call.stream = block_->stream;
    call.assumed = {"alpha", "beta", "pointer mode"};
    read_sizes(*block_, product, call.problem);
    read_types(*block_, product, call);
    read_addresses(*block_, product, call);
    // The two defaults, CUBLAS_GEMM_DEFAULT and CUBLAS_GEMM_DEFAULT_TENSOR_OP, are left to a heuristic here too.
    const auto algo = block_->text("algo").value_or("-1");
    const bool usual = algo == "-1" || algo == "99" || algo.starts_with("CUBLAS_GEMM_DEFAULT") ||
                       algo.starts_with("CUBLAS_GEMM_DFALT");
    if (!usual) call.kept.push_back("algo=" + plain(algo));
    const auto handle = pointer_from(block_->text("handle").value_or("")).value_or(0);
    const auto workspace = workspaces_.find({block_->process, handle});
    if (workspace == workspaces_.end()) call.assumed.emplace_back("workspace");
    if (workspace != workspaces_.end()) call.problem.workspace_bytes = workspace->second;
    // Without it the compute type is unknown.
    if (block_->process.empty()) block_->fail("the line of the process is missing");
    for (const auto& [name, value] : block_->fields) {
      if (!value.starts_with("POINTER")) call.kept.push_back(plain(name + "=" + value));
    }
    if (block_->fault.empty()) sink.call(call, block_->line);
  }

  void import_workspace() {
    const auto handle = block_->value("handle", pointer_from);
    const auto bytes = block_->number("workspaceSizeInBytes");
    if (!block_->fault.empty()) return;
    if (workspaces_.size() == kMostHandles) workspaces_.erase(workspaces_.begin());
    workspaces_[{block_->process, *handle}] = bytes;
  }

  std::optional<Block> block_;
  bool orphaned_ = false;
  /// By process and handle.
  std::map<std::pair<std::string, std::uint64_t>, std::int64_t> workspaces_;
};

}  // namespace

std::unique_ptr<LineImporter> make_cublas_log_importer() { return std::make_unique<CublasLogImporter>(); }

}  // namespace lt_audit
