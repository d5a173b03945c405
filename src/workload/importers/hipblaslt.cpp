// The logs of hipBLASLt: the command lines of its benchmark (HIPBLASLT_LOG_MASK=32) and its trace (mask 2).
#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "workload/importer.h"
#include "workload/importers/enumerators.h"

namespace lt_audit {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 48;
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 30;
constexpr std::size_t kMostPairs = 96;
constexpr std::size_t kLongestValue = 512;
constexpr std::string_view kBench = "hipblaslt-bench ";
constexpr std::string_view kLogger = "[HIPBLASLT]";
constexpr std::string_view kMatmulTrace = "[Trace][rocblaslt_matmul]";

/// Printable ASCII, so that a report can hold it.
std::string plain(std::string_view text) {
  std::string result(text);
  for (auto& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

/// "bf16_r", whose start is the word of problem texts, "f8_r" and "bf8_fnuz_r"; or NVIDIA's spelling.
std::optional<cudaDataType_t> type_from(std::string_view text) {
  if (text == "f8_r" || text == "f8_fnuz_r") return CUDA_R_8F_E4M3;
  if (text == "bf8_r" || text == "bf8_fnuz_r") return CUDA_R_8F_E5M2;
  return text.ends_with("_r") ? find_named(matrix_types(), text.substr(0, text.size() - 2)) : data_type_from(text);
}

/// Compute types as the benchmark and the trace spell them, where NVIDIA's spelling is another.
struct ComputeWord {
  std::string_view word;
  cublasComputeType_t type;
};
constexpr std::array<ComputeWord, 9> kComputeWords{{{"f32_r", CUBLAS_COMPUTE_32F},
                                                    {"xf32_r", CUBLAS_COMPUTE_32F_FAST_TF32},
                                                    {"f32_f16_r", CUBLAS_COMPUTE_32F_FAST_16F},
                                                    {"f32_bf16_r", CUBLAS_COMPUTE_32F_FAST_16BF},
                                                    {"f64_r", CUBLAS_COMPUTE_64F},
                                                    {"i32_r", CUBLAS_COMPUTE_32I},
                                                    {"COMPUTE_32XF", CUBLAS_COMPUTE_32F_FAST_TF32},
                                                    {"COMPUTE_32F_16F", CUBLAS_COMPUTE_32F_FAST_16F},
                                                    {"COMPUTE_32F_16BF", CUBLAS_COMPUTE_32F_FAST_16BF}}};

std::optional<cublasComputeType_t> compute_from(std::string_view text) {
  if (text.starts_with("c_")) text.remove_prefix(2);
  for (const auto& [word, type] : kComputeWords) {
    if (word == text) return type;
  }
  return compute_type_from(text);
}

std::optional<std::uint64_t> address_from(std::string_view text) {
  return text == "(nil)" ? 0 : number_from_text(text, 16);
}

/// The options of a command line or the pairs of a trace, and the call that they become. What was read is gone.
struct Line {
  std::map<std::string, std::string, std::less<>> pairs;
  ImportedCall call;
  /// The first thing that is wrong with it.
  std::string fault;

  void fail(const std::string& reason) {
    if (fault.empty()) fault = reason;
  }

  void add(std::string_view key, std::string_view value) {
    if (pairs.size() == kMostPairs || key.size() + value.size() > kLongestValue) return fail("the line is too long");
    const auto [place, added] = pairs.emplace(key, value);
    if (!added) fail(plain(place->first) + " stands twice");
  }

  std::optional<std::string> text(std::string_view key) {
    const auto found = pairs.find(key);
    return found == pairs.end() ? std::nullopt : std::optional(pairs.extract(found).mapped());
  }

  /// `parse` turns the text into an optional value; nothing for a key that does not stand there.
  template <class Parse>
  auto value(std::string_view key, Parse parse) -> decltype(parse(key)) {
    const auto given = text(key);
    if (!given) return std::nullopt;
    const auto parsed = parse(*given);
    if (!parsed) fail(std::string(key) + " cannot be read");
    return parsed;
  }

  std::optional<std::int64_t> number(std::string_view key, std::int64_t largest = kLargest) {
    return value(key, [&](std::string_view digits) -> std::optional<std::int64_t> {
      const auto parsed = number_from_text(digits);
      if (!parsed || *parsed > static_cast<std::uint64_t>(largest)) return std::nullopt;
      return static_cast<std::int64_t>(*parsed);
    });
  }

  template <class Value>
  Value needed(std::string_view key, std::optional<Value> given, Value placeholder) {
    if (!given) fail(std::string(key) + " is missing");
    return given.value_or(placeholder);
  }
  std::int64_t needed_number(std::string_view key) { return needed(key, number(key), std::int64_t{0}); }

  void assume(std::string_view word) {
    auto& words = call.assumed;
    if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
  }
  void keep(std::string_view key, std::string_view value) {
    call.kept.push_back(plain(std::string(key) + "=" + std::string(value)));
  }
};

/// alpha or beta. A problem holds multiples of 0.25 from -64 to 64, so that products stay exact.
double read_factor(Line& line, std::string_view key, double usual) {
  const auto given = line.text(key);
  if (!given) line.assume(key);
  if (!given) return usual;
  double value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error != std::errc() || end != given->data() + given->size()) line.fail(std::string(key) + " cannot be read");
  const bool held = value >= -64 && value <= 64 && value * 4 == static_cast<double>(static_cast<int>(value * 4));
  if (held) return value + 0.0;  // -0 is 0.
  line.assume(key);
  line.keep(key, *given);
  return value >= 0.75 ? 1 : 0.5;
}

/// A type, and what of its word a cudaDataType_t does not say.
std::optional<cudaDataType_t> read_type(Line& line, std::string_view key) {
  const auto found = line.pairs.find(key);
  // AMD's FP8, whose exponent bias and NaN are others: cuBLAS has no such type.
  const bool fnuz = found != line.pairs.end() && found->second.find("fnuz") != std::string::npos;
  if (fnuz) line.keep(key, found->second);
  return line.value(key, type_from);
}

using Four = std::array<std::optional<std::int64_t>, 4>;

/// Leading dimensions and batch strides of A, B, C and D, where they are not the usual ones.
void store_places(Line& line, const Four& lds, const Four& strides) {
  auto& p = line.call.problem;
  std::array rows{p.m, p.k, p.m, p.m};
  std::array cols{p.k, p.n, p.n, p.n};
  if (p.transa != CUBLAS_OP_N) std::swap(rows[0], cols[0]);
  if (p.transb != CUBLAS_OP_N) std::swap(rows[1], cols[1]);
  const std::array member_ld{&p.lda, &p.ldb, &p.ldc, &p.ldd};
  const std::array member_stride{&p.stride_a, &p.stride_b, &p.stride_c, &p.stride_d};
  for (std::size_t i = 0; i < lds.size(); ++i) {
    const std::string name(1, "ABCD"[i]);
    const auto ld = lds[i].value_or(rows[i]);
    if (ld < rows[i]) line.fail("the leading dimension of " + name + " is smaller than its rows");
    if (cols[i] > 0 && ld > kLargest / cols[i]) line.fail(name + " is larger than any memory");
    if (!line.fault.empty()) return;
    if (ld != rows[i]) *member_ld[i] = ld;
    if (p.batch_count <= 1) continue;
    if (!strides[i]) line.assume("batch strides");
    const auto stride = strides[i].value_or(ld * cols[i]);
    if (stride > kLargest / p.batch_count) line.fail(name + " is larger than any memory");
    if (strides[i] == 0 && name == "D") line.fail("stride_d is 0, so the products overwrite each other");
    if (stride != ld * cols[i]) *member_stride[i] = stride;
  }
}

/// Options that say how the benchmark measures, not what.
constexpr std::string_view kMeasuring =
    " api_method algo_method requested_solution iters i cold_iters j verify v initialization rotating device "
    "use_gpu_timer print_kernel_info function f flush any_stride log_function_name ";

/// "-m 1024 --lda 1024 --bias_vector --alpha -1": names without their dashes; a flag has an empty value.
void read_options(Line& line, std::string_view text) {
  std::string_view option;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const bool negative = word.size() > 1 && std::string_view("0123456789.").find(word[1]) != std::string_view::npos;
    if (word.starts_with('-') && !negative) {
      if (!option.empty()) line.add(option, "");
      option = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    } else if (!word.empty() && !option.empty()) {
      line.add(option, word);
      option = {};
    }
  }
  if (!option.empty()) line.add(option, "");
}

/// The epilogue by its name in problem texts, as hipBLASLt makes options of it.
void read_bench_epilogue(Line& line) {
  const auto flag = [&](std::string_view key) { return line.text(key).value_or("0") != "0"; };
  const bool bias = flag("bias_vector"), gradient = flag("gradient"), aux = flag("use_e");
  const auto source = line.text("bias_source").value_or("d");
  auto activation = line.text("activation_type").value_or("none");
  const bool known = activation == "relu" || activation == "gelu";
  if (!known && activation != "none") line.keep("activation_type", activation);
  if (!known) activation.clear();
  std::string name = bias && activation.empty() ? "bias" : activation.empty() ? "default" : activation;
  if (gradient && !activation.empty()) {
    name = "d" + activation + (bias ? "_bgrad" : "");
  } else if (gradient && bias && (source == "a" || source == "b")) {
    name = "bgrad" + source;
  } else if (!activation.empty()) {
    name += std::string(aux ? "_aux" : "") + (bias ? "_bias" : "");
  } else if (gradient || aux) {
    line.keep(gradient ? "gradient" : "use_e", "1");
  }
  auto& p = line.call.problem;
  p.epilogue = epilogue_from(name).value_or(CUBLASLT_EPILOGUE_DEFAULT);
  const auto type = line.text("bias_type").value_or("default");
  if (bias && type != "default" && type_from(type) != bias_type(p)) line.keep("bias_type", type);
}

void read_bench_types(Line& line) {
  auto& p = line.call.problem;
  const auto precision = line.value("precision", type_from);
  const auto all = precision ? precision : line.value("r", type_from);
  const auto a = read_type(line, "a_type");
  const auto b = read_type(line, "b_type");
  const auto c = read_type(line, "c_type");
  const auto d = read_type(line, "d_type");
  p.type_a = line.needed("a_type", a ? a : all, CUDA_R_32F);
  p.type_b = line.needed("b_type", b ? b : all, CUDA_R_32F);
  p.type_d = line.needed("d_type", d ? d : all, CUDA_R_32F);
  p.type_c = c ? *c : all.value_or(p.type_d);
  const auto compute = line.value("compute_type", compute_from);
  const auto scale = line.value("scale_type", type_from);
  if ((!c && !all) || !compute || !scale) line.assume("types");
  p.compute_type = compute.value_or(uniform_problem(p.type_a, 1, 1, 1).compute_type);
  p.scale_type = scale.value_or(default_scale_type(p.compute_type));
}

/// A command line of hipblaslt-bench.
void read_bench(Line& line, std::string_view text) {
  read_options(line, text);
  auto& p = line.call.problem;
  p.m = line.needed_number("m");
  p.n = line.needed_number("n");
  p.k = line.needed_number("k");
  p.transa = line.value("transA", operation_from).value_or(CUBLAS_OP_N);
  p.transb = line.value("transB", operation_from).value_or(CUBLAS_OP_N);
  p.batch_count = static_cast<std::int32_t>(line.number("batch_count", kLargestBatch).value_or(1));
  store_places(line, {line.number("lda"), line.number("ldb"), line.number("ldc"), line.number("ldd")},
               {line.number("stride_a"), line.number("stride_b"), line.number("stride_c"), line.number("stride_d")});
  read_bench_types(line);
  read_bench_epilogue(line);
  p.alpha = read_factor(line, "alpha", 1);
  p.beta = read_factor(line, "beta", 0);
  line.assume("alignment");
  const auto workspace = line.number("workspace");
  if (!workspace) line.assume("workspace");
  p.workspace_bytes = workspace.value_or(p.workspace_bytes);
  if (const auto solution = line.text("solution_index")) line.call.algorithm = "solution_index=" + plain(*solution);
  for (const auto& [key, value] : line.pairs) {
    const bool measuring = kMeasuring.find(" " + key + " ") != std::string_view::npos;
    if (!measuring) line.keep(key, value.empty() ? "1" : value);
  }
}

/// "A=0x7f Adesc=[type=R_32F rows=2400] alpha=1": the pairs in brackets become "Adesc.type".
void read_pairs(Line& line, std::string_view text, const std::string& prefix) {
  while (line.fault.empty() && !text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      text.remove_prefix(std::min(word.size() + 1, text.size()));
      continue;
    }
    const auto key = prefix + std::string(word.substr(0, equals));
    text.remove_prefix(equals + 1);
    const bool group = text.starts_with('[');
    const auto end = text.find(group ? ']' : ' ');
    if (group && end == std::string_view::npos) return line.fail("a bracket is not closed");
    const auto value = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (group && key == "algo") {
      line.call.algorithm = plain(value.substr(1, kLongestValue));
    } else if (group) {
      read_pairs(line, value.substr(1), key + ".");
    } else {
      line.add(key, value);
    }
  }
}

/// The four groups such as "Adesc=[type=R_32F rows=2400 cols=128 ld=2400 batch_count=2 batch_stride=307200]".
void read_trace_layouts(Line& line) {
  auto& p = line.call.problem;
  const std::array types{&p.type_a, &p.type_b, &p.type_c, &p.type_d};
  std::array<std::int64_t, 4> rows{};
  std::array<std::int64_t, 4> cols{};
  std::array<std::int64_t, 4> batches{};
  Four lds;
  Four strides;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto group = std::string(1, "ABCD"[i]) + "desc.";
    *types[i] = line.needed(group + "type", read_type(line, group + "type"), CUDA_R_32F);
    rows[i] = line.needed_number(group + "rows");
    cols[i] = line.needed_number(group + "cols");
    lds[i] = line.needed_number(group + "ld");
    batches[i] = line.number(group + "batch_count", kLargestBatch).value_or(1);
    strides[i] = line.number(group + "batch_stride");
  }
  if (p.transa != CUBLAS_OP_N) std::swap(rows[0], cols[0]);
  if (p.transb != CUBLAS_OP_N) std::swap(rows[1], cols[1]);
  p.m = rows[3];
  p.n = cols[3];
  p.k = cols[0];
  const bool sizes_agree = rows[0] == p.m && rows[1] == p.k && cols[1] == p.n && rows[2] == p.m && cols[2] == p.n;
  if (!sizes_agree) line.fail("the sizes of the matrices contradict each other");
  if (std::count(batches.begin(), batches.end(), batches[0]) != 4) line.fail("the batch counts differ");
  p.batch_count = static_cast<std::int32_t>(batches[0]);
  store_places(line, lds, strides);
}

void read_trace_addresses(Line& line) {
  auto& p = line.call.problem;
  const auto read = [&](std::string_view key, std::int64_t& offset, std::uint32_t& alignment) {
    const auto address = line.value(key, address_from);
    if (!address) line.assume("alignment");
    offset = address.value_or(0) == 0 ? 0 : offset_of_address(*address);
    if (offset != 0) alignment = static_cast<std::uint32_t>(offset);
    return address.value_or(0);
  };
  read("A", p.a_offset, p.a_alignment);
  read("B", p.b_offset, p.b_alignment);
  const auto c = read("C", p.c_offset, p.c_alignment);
  const auto d = read("D", p.d_offset, p.d_alignment);
  p.in_place = c == d && d != 0;
  line.assume("declared alignment");
  const auto bias = line.value("computeDesc.biasPointer", address_from).value_or(0);
  if (has_bias(p.epilogue) && bias != 0) p.bias_offset = offset_of_address(bias);
}

/// What follows "[Trace][rocblaslt_matmul]".
void read_trace(Line& line, std::string_view text) {
  read_pairs(line, text, "");
  auto& p = line.call.problem;
  p.transa = line.value("computeDesc.transA", operation_from).value_or(CUBLAS_OP_N);
  p.transb = line.value("computeDesc.transB", operation_from).value_or(CUBLAS_OP_N);
  p.compute_type = line.needed("computeType", line.value("computeDesc.computeType", compute_from), CUBLAS_COMPUTE_32F);
  p.scale_type = line.needed("scaleType", line.value("computeDesc.scaleType", type_from), CUDA_R_32F);
  // BGRADA is spelled "EPILOGUE_DGELU_BGRADA" (rocblaslt_epilogue_to_string, 2024).
  const auto epilogue = [](std::string_view name) {
    const bool odd = name == "EPILOGUE_DGELU_BGRADA" || name == "EPILOGUE_DGELU_BGRADB";
    return epilogue_from(odd ? name.substr(name.size() - 6) : name);
  };
  p.epilogue = line.value("computeDesc.epilogue", epilogue).value_or(CUBLASLT_EPILOGUE_DEFAULT);
  read_trace_layouts(line);
  read_trace_addresses(line);
  const auto bias = line.text("computeDesc.biasType");
  if (bias && has_bias(p.epilogue) && type_from(*bias) != bias_type(p)) line.keep("biasType", *bias);
  p.alpha = read_factor(line, "alpha", 1);
  p.beta = read_factor(line, "beta", 0);
  const auto workspace = line.number("workSpaceSizeInBytes");
  if (!workspace) line.assume("workspace");
  p.workspace_bytes = workspace.value_or(p.workspace_bytes);
  line.call.stream = line.value("stream", address_from);
  for (const auto& [key, value] : line.pairs) {
    const bool pointer = value.starts_with("0x") || value.starts_with("0X") || value == "(nil)" || key == "workSpace";
    if (!pointer) line.keep(key, value);
  }
}

class HipblasltImporter final : public LineImporter {
 public:
  std::string_view format() const override { return "hipblaslt"; }

  bool claims(std::string_view line) const override {
    return line.substr(0, 200).find(kBench) != std::string_view::npos ||
           line.substr(0, 96).find(kLogger) != std::string_view::npos;
  }

  void take(std::string_view line, std::uint64_t number, CallSink& sink) override {
    if (line.ends_with('\r')) line.remove_suffix(1);
    Line read;
    read.call.api = "hipblasLtMatmul";
    const auto bench = line.substr(0, 200).find(kBench);
    const auto trace = line.substr(0, 200).find(kMatmulTrace);
    if (bench != std::string_view::npos) {
      read_bench(read, line.substr(bench + kBench.size()));
    } else if (trace != std::string_view::npos) {
      read_trace(read, line.substr(trace + kMatmulTrace.size()));
    } else {
      return;  // The logger on something else.
    }
    if (!read.fault.empty()) return sink.damaged(number, read.fault);
    sink.call(read.call, number);
  }
};

}  // namespace

std::unique_ptr<LineImporter> make_hipblaslt_importer() { return std::make_unique<HipblasltImporter>(); }

}  // namespace lt_audit
