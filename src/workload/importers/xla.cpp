// XLA's optimized HLO: custom calls of cuBLAS and cublasLt, with the shapes in the instruction and the rest in its
// backend_config. A dump has each call once, however often the program runs it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/importer.h"
#include "workload/importers/enumerators.h"
#include "workload/importers/xla_hlo.h"

namespace lt_audit {
namespace {

using Json = nlohmann::json;
using hlo::Dimensions;
using hlo::Matrix;
using hlo::Shape;

constexpr std::size_t kConfigBytes = 65536;
constexpr std::string_view kNoShapes =
    "the line names no operand shapes, so k is not known: dump the HLO with --xla_dump_hlo_as_text and "
    "--xla_dump_hlo_as_long_text, which prints them";

/// "BIAS_GELU_AUX" is GELU_AUX_BIAS to cublasLt.
std::optional<cublasLtEpilogue_t> xla_epilogue(std::string_view name) {
  constexpr std::string_view kBias = "BIAS_";
  if (!name.starts_with(kBias)) return epilogue_from(name);
  return epilogue_from(std::string(name.substr(kBias.size())) + "_BIAS");
}

/// The JSON of backend_config; no object when there is none. Old versions print it as one escaped string.
Json config_from(std::string_view attributes) {
  constexpr std::string_view kKey = "backend_config=";
  const auto at = attributes.find(kKey);
  if (at == std::string_view::npos) return nullptr;
  auto text = attributes.substr(at + kKey.size(), kConfigBytes);
  std::string unescaped;
  if (text.starts_with('"')) {
    for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      unescaped += text[i];
    }
    text = unescaped;
  }
  const auto object = text.starts_with('{') ? hlo::bracketed(text) : std::nullopt;
  if (!object) return nullptr;
  return Json::parse(object->data() - 1, object->data() + object->size() + 1, nullptr, false);
}

/// A member; null when it is not there.
const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

/// XLA prints 64-bit numbers as strings.
std::optional<std::int64_t> whole_number(const Json& value) {
  std::optional<std::uint64_t> number;
  if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
  if (value.is_string()) number = number_from_text(value.get_ref<const std::string&>());
  if (!number || *number > static_cast<std::uint64_t>(hlo::kLargest)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// An enumerator of XLA: capitals, digits and underscores; empty for anything else.
std::string word(const Json& value) {
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  const bool plain = text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
                       return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
                     });
  return plain ? text : std::string{};
}

/// Different dimensions below the rank; none when the list is missing.
std::optional<Dimensions> dimensions_of(const Json& list, std::size_t rank) {
  Dimensions dims;
  if (list.is_null()) return dims;
  if (!list.is_array()) return std::nullopt;
  for (const auto& item : list) {
    const auto dim = whole_number(item);
    if (!dim || *dim >= static_cast<std::int64_t>(rank)) return std::nullopt;
    if (std::find(dims.begin(), dims.end(), *dim) != dims.end()) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

/// The dimensions of an operand by what a product does with them.
struct Roles {
  Dimensions batch;
  Dimensions contracting;
  Dimensions free;
};

std::optional<Roles> roles_of(const Json& numbers, const char* batch, const char* contracting, std::size_t rank) {
  const auto batches = dimensions_of(member(numbers, batch), rank);
  const auto contracted = dimensions_of(member(numbers, contracting), rank);
  if (!batches || !contracted || contracted->empty()) return std::nullopt;
  Roles roles{*batches, *contracted, {}};
  for (std::size_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<std::int64_t>(i);
    const auto count =
        std::count(batches->begin(), batches->end(), dim) + std::count(contracted->begin(), contracted->end(), dim);
    if (count > 1) return std::nullopt;
    if (count == 0) roles.free.push_back(dim);
  }
  return roles;
}

/// A factor that the problem text can hold exactly.
bool is_exact_factor(double value) {
  return value >= -64 && value <= 64 && value * 4 == static_cast<double>(static_cast<int>(value * 4));
}

/// One line on its way to a call. Each step returns the reason why the line is damaged, or nothing.
class Reading {
 public:
  explicit Reading(hlo::Instruction instruction) : instruction_(std::move(instruction)) {}

  std::string read() {
    auto reason = read_target();
    if (reason.empty()) reason = read_shapes();
    if (reason.empty()) reason = read_config();
    if (reason.empty()) reason = read_factors();
    if (reason.empty()) reason = read_matrices();
    if (reason.empty()) reason = read_compute_type();
    if (reason.empty()) read_rest();
    return reason;
  }
  const ImportedCall& call() const { return call_; }

 private:
  void assume(const char* what) { call_.assumed.emplace_back(what); }
  void keep(const std::string& key, const std::string& value) { call_.kept.push_back(key + "=" + value); }

  std::string read_target() {
    for (const std::string_view target : {"gemm", "lt$matmul", "lt$matmul$f8"}) {
      if (instruction_.target == target) call_.api = "__cublas$" + std::string(target);
    }
    call_.assumed = {"alignment", "declared alignment"};
    return call_.api.empty() ? "the target is none of __cublas$gemm, __cublas$lt$matmul and __cublas$lt$matmul$f8" : "";
  }

  std::string read_shapes() {
    const auto& operands = instruction_.operands;
    if (operands.size() < 2 || instruction_.results.empty())
      return "two operands and a result do not stand in the line";
    for (std::size_t i = 0; i < 2; ++i) {
      if (operands[i].find('[') == std::string_view::npos) return std::string(kNoShapes);
    }
    const auto lhs = hlo::shape_from(operands[0]);
    const auto rhs = hlo::shape_from(operands[1]);
    const auto out = hlo::shape_from(instruction_.results[0]);
    if (!lhs || !rhs || !out) return "a shape or its layout is not readable";
    lhs_ = *lhs;
    rhs_ = *rhs;
    out_ = *out;
    if (lhs_.minor_to_major.empty() || rhs_.minor_to_major.empty() || out_.minor_to_major.empty()) {
      return "a shape names no layout";
    }
    auto& p = call_.problem;
    const bool known =
        hlo::read_type(lhs_, p.type_a) && hlo::read_type(rhs_, p.type_b) && hlo::read_type(out_, p.type_d);
    return known ? "" : "a type of the line is none of cublasLt";
  }

  std::string read_config() {
    root_ = config_from(instruction_.attributes);
    if (!root_.is_object()) return "backend_config is missing or not readable";
    // Before 2024 the product's configuration was the whole of it.
    const auto& nested = member(root_, "gemm_backend_config");
    config_ = nested.is_object() ? &nested : &root_;
    const auto& name = member(*config_, "epilogue");
    if (name.is_null()) assume("epilogue");
    const auto epilogue = name.is_null() ? std::optional(CUBLASLT_EPILOGUE_DEFAULT) : xla_epilogue(word(name));
    if (!epilogue) return "the epilogue is none of cublasLt";
    call_.problem.epilogue = *epilogue;
    return {};
  }

  /// Factors that are no multiples of 0.25 are replaced, and kept as they stand.
  void read_factor(const char* key, const char* what, double replacement, double& factor) {
    const auto& value = member(*config_, key);
    if (value.is_number() && is_exact_factor(value.get<double>())) {
      factor = value.get<double>();
      return;
    }
    assume(what);
    if (value.is_null()) return;
    factor = replacement;
    if (value.is_number()) keep(key, value.dump());
  }

  std::string read_factors() {
    read_factor("alpha_real", "alpha", 1, call_.problem.alpha);
    read_factor("beta", "beta", 0.5, call_.problem.beta);
    if (call_.problem.beta == 0) return {};
    const auto& operands = instruction_.operands;
    const auto c = operands.size() < 3 ? std::nullopt : hlo::shape_from(operands[2]);
    if (!c) return "beta is not 0 and no shape of C stands in the line";
    c_ = *c;
    return {};
  }

  std::string read_matrices() {
    const auto& numbers = member(*config_, "dot_dimension_numbers");
    const auto l = roles_of(numbers, "lhs_batch_dimensions", "lhs_contracting_dimensions", lhs_.dims.size());
    const auto r = roles_of(numbers, "rhs_batch_dimensions", "rhs_contracting_dimensions", rhs_.dims.size());
    if (!l || !r) return "dot_dimension_numbers do not fit the operands";
    Roles o;
    // The result has batches, rows of the left operand, columns of the right one.
    const auto batches = std::max(l->batch.size(), r->batch.size());
    if (out_.dims.size() != batches + l->free.size() + r->free.size()) return "the ranks do not fit together";
    for (std::size_t i = 0; i < out_.dims.size(); ++i) {
      auto& group = i < batches ? o.batch : i < batches + l->free.size() ? o.free : o.contracting;
      group.push_back(static_cast<std::int64_t>(i));
    }
    const auto lhs = hlo::matrix_from(lhs_, l->batch, l->free, l->contracting);
    const auto rhs = hlo::matrix_from(rhs_, r->batch, r->contracting, r->free);
    const auto out = hlo::matrix_from(out_, o.batch, o.free, o.contracting);
    auto c = out;
    if (c_) c = c_->dims == out_.dims ? hlo::matrix_from(*c_, o.batch, o.free, o.contracting) : std::nullopt;
    if (!lhs || !rhs || !out || !c) return "the dimensions of a matrix do not lie next to each other in memory";
    const auto fits = [&](const Matrix& m) { return m.batch == out->batch || m.batch == 1; };
    if (lhs->cols != rhs->rows || lhs->rows != out->rows || rhs->cols != out->cols || !fits(*lhs) || !fits(*rhs)) {
      return "the sizes do not fit together";
    }
    // cuBLAS writes column-major: a row-major D is written as its transpose, op(B) times op(A).
    if (out->column_major) {
      fill(*lhs, *rhs, *c, *out);
    } else {
      fill(rhs->transposed(), lhs->transposed(), c->transposed(), out->transposed());
      std::swap(call_.problem.type_a, call_.problem.type_b);
    }
    return read_c_type();
  }

  /// XLA describes a row-major operand to cublasLt with ORDER_ROW; OP_T of the same memory is what cuBLAS documents.
  void fill(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
    auto& p = call_.problem;
    p.m = d.rows;
    p.n = d.cols;
    p.k = a.cols;
    p.batch_count = static_cast<std::int32_t>(d.batch);
    p.transa = a.column_major ? CUBLAS_OP_N : CUBLAS_OP_T;
    p.transb = b.column_major ? CUBLAS_OP_N : CUBLAS_OP_T;
    p.order_c = c.column_major ? CUBLASLT_ORDER_COL : CUBLASLT_ORDER_ROW;
    hlo::place(a, p.batch_count, p.lda, p.stride_a);
    hlo::place(b, p.batch_count, p.ldb, p.stride_b);
    hlo::place(c, p.batch_count, p.ldc, p.stride_c);
    hlo::place(d, p.batch_count, p.ldd, p.stride_d);
  }

  std::string read_c_type() {
    auto& p = call_.problem;
    p.type_c = p.type_d;
    if (c_ && !hlo::read_type(*c_, p.type_c)) return "the type of C is none of cublasLt";
    if (!c_ && is_fp8(p.type_d)) {
      // cublasLt wants a 16-bit C beside an FP8 D, read or not.
      p.type_c = CUDA_R_16BF;
      assume("types");
    }
    // Without a C, XLA hands D as C (EmitCublasLtMatmulThunk); __cublas$gemm always writes over C.
    const bool lt = call_.api != "__cublas$gemm";
    constexpr std::string_view kAliasing = "output_to_operand_aliasing=";
    const auto at = instruction_.attributes.find(kAliasing);
    const auto pairs = at == std::string_view::npos
                           ? std::nullopt
                           : hlo::bracketed(instruction_.attributes.substr(at + kAliasing.size(), kConfigBytes));
    const bool aliased = pairs && pairs->find("(2, {})") != std::string_view::npos;
    p.in_place = (!lt || !c_ || aliased) && p.type_c == p.type_d && p.order_c == p.order_d;
    return {};
  }

  std::string read_compute_type() {
    auto& p = call_.problem;
    const auto& precision = member(*config_, "precision_config");
    const auto algorithm = word(member(precision, "algorithm"));
    const bool open = algorithm.empty() || algorithm == "ALG_UNSET";
    if (!open) keep("algorithm", algorithm);
    std::string precisions;
    bool usual = true;
    bool highest = false;
    for (const auto& item : member(precision, "operand_precision")) {
      const auto name = word(item);
      precisions += (precisions.empty() ? "" : ",") + name;
      usual = usual && name == "DEFAULT";
      highest = highest || name == "HIGHEST";
      if (name.empty() || precisions.size() > 64) return "operand_precision is not readable";
    }
    if (!usual) keep("operand_precision", precisions);
    p.compute_type = CUBLAS_COMPUTE_32F;
    p.scale_type = CUDA_R_32F;
    if (p.type_d == CUDA_R_8I) return "cublasLt has no compute type for an s8 result of XLA";
    if (p.type_d == CUDA_R_64F || p.type_d == CUDA_C_64F) p.compute_type = CUBLAS_COMPUTE_64F;
    if (p.type_d == CUDA_R_32I) p.compute_type = CUBLAS_COMPUTE_32I;
    const bool single = p.type_d == CUDA_R_32F || p.type_d == CUDA_C_32F;
    if (single && algorithm == "ALG_DOT_TF32_TF32_F32") p.compute_type = CUBLAS_COMPUTE_32F_FAST_TF32;
    // Below HIGHEST a switch of the process decides between FP32 and TF32.
    if (single && p.type_a == p.type_d && open && !highest) assume("types");
    if (p.compute_type != CUBLAS_COMPUTE_32F) p.scale_type = p.type_d;
    if (p.type_d == CUDA_C_32F) p.scale_type = CUDA_C_32F;
    return {};
  }

  void read_rest() {
    auto& p = call_.problem;
    const auto shape = hlo::shape_from(instruction_.results.back());
    const auto tuned = whole_number(member(*config_, "autotune_workspace_size"));
    // An s8 D does not come here.
    if (shape && shape->element == "s8" && shape->dims.size() == 1) {
      p.workspace_bytes = shape->dims[0];
    } else if (tuned) {
      p.workspace_bytes = *tuned;
    } else {
      assume("workspace");
    }
    const auto& selected = member(*config_, "selected_algorithm");
    if (const auto index = whole_number(selected)) call_.algorithm = "selected_algorithm=" + std::to_string(*index);
    if (selected.is_string() && selected.get_ref<const std::string&>() == "-1") {
      call_.algorithm = "selected_algorithm=-1";
    }
    for (const char* key : {"damax_output", "grad_x", "grad_y"}) {
      if (member(*config_, key) == Json(true)) keep(key, "true");
    }
    for (const char* key : {"alpha_imag", "scale_mode"}) {
      const auto& value = member(*config_, key);
      if (value.is_number() && value.get<double>() != 0) keep(key, value.dump());
    }
    // Scales stand between C and the bias.
    const auto others = 2 + (c_ ? 1U : 0U) + (has_bias(p.epilogue) ? 1U : 0U);
    const auto count = instruction_.operands.size();
    if (call_.api == "__cublas$lt$matmul$f8" && count > others) keep("scale_operands", std::to_string(count - others));
  }

  hlo::Instruction instruction_;
  Shape lhs_;
  Shape rhs_;
  Shape out_;
  std::optional<Shape> c_;
  Json root_;
  const Json* config_ = nullptr;
  ImportedCall call_;
};

class XlaImporter : public LineImporter {
 public:
  std::string_view format() const override { return "xla"; }

  bool claims(std::string_view line) const override {
    return line.substr(0, hlo::kInstructionBytes).find(hlo::kTarget) != std::string_view::npos;
  }

  void take(std::string_view line, std::uint64_t number, CallSink& sink) override {
    auto instruction = hlo::instruction_from(line);
    if (!instruction) {
      sink.damaged(number, "no 'name = shape custom-call(operands)' stands before the target");
      return;
    }
    // A solver of cuBLAS, no product.
    if (instruction->target == "triangularSolve") return;
    Reading reading(std::move(*instruction));
    const auto reason = reading.read();
    if (reason.empty()) {
      sink.call(reading.call(), number);
    } else {
      sink.damaged(number, reason);
    }
  }
};

}  // namespace

std::unique_ptr<LineImporter> make_xla_importer() { return std::make_unique<XlaImporter>(); }

}  // namespace lt_audit
