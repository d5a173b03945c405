// Problem text: one table of keys, read and written by the same entries.
#include "workload/problem_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "lt_audit/error.h"
#include "workload/problem_values.h"

namespace lt_audit {
namespace {

[[noreturn]] void bad_value(std::string_view key, std::string_view value, const std::string& allowed) {
  throw AuditError(ErrorKind::usage,
                   fmt::format("problem text: '{}' is no value for '{}'; use {}", value, key, allowed));
}

/// One key: how it is written (nothing = at its default) and how it is read.
struct Field {
  std::string_view key;
  std::function<std::optional<std::string>(const MatmulProblem&)> write;
  std::function<void(MatmulProblem&, std::string_view)> read;
  /// The value that is in force, written or not.
  std::function<std::string(const MatmulProblem&)> in_force;
};

std::int64_t parse_integer(std::string_view key, std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    bad_value(key, text, fmt::format("a whole number from {} to {}", low, high));
  }
  return value;
}

constexpr std::int64_t kLargest = std::int64_t{1} << 48;

std::int64_t parse_bytes(std::string_view key, std::string_view text) {
  std::int64_t unit = 1;
  std::string_view digits = text;
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kUnits{
      {{"KiB", 1LL << 10}, {"MiB", 1LL << 20}, {"GiB", 1LL << 30}}};
  for (const auto& [suffix, factor] : kUnits) {
    if (text.ends_with(suffix)) {
      unit = factor;
      digits.remove_suffix(suffix.size());
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value > kLargest / unit) {
    bad_value(key, text, "bytes, or a number with KiB, MiB or GiB such as 32MiB");
  }
  return value * unit;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes != 0 && bytes % (1LL << 30) == 0) return fmt::format("{}GiB", bytes >> 30);
  if (bytes != 0 && bytes % (1LL << 20) == 0) return fmt::format("{}MiB", bytes >> 20);
  if (bytes != 0 && bytes % (1LL << 10) == 0) return fmt::format("{}KiB", bytes >> 10);
  return fmt::format("{}", bytes);
}

template <class Enum>
Enum parse_name(std::string_view key, std::string_view text, std::span<const Named<Enum>> table) {
  if (const auto value = find_named(table, text)) return *value;
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  const auto near = nearest_word(text, names);
  bad_value(key, text,
            fmt::format("{}{}", near.empty() ? "" : fmt::format("'{}', or one of ", near), fmt::join(names, " ")));
}

Field integer_field(std::string_view key, std::int64_t MatmulProblem::*member, std::int64_t fallback, std::int64_t low,
                    std::int64_t high = kLargest) {
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (p.*member == fallback) return std::nullopt;
            return fmt::format("{}", p.*member);
          },
          [=](MatmulProblem& p, std::string_view text) { p.*member = parse_integer(key, text, low, high); },
          [=](const MatmulProblem& p) { return fmt::to_string(p.*member); }};
}

/// A leading dimension or stride: its default follows from the rest of the problem.
Field derived_field(std::string_view key, std::int64_t MatmulProblem::*member, std::int64_t fallback,
                    std::int64_t (*in_force)(const MatmulProblem&)) {
  Field field = integer_field(key, member, fallback, 0);
  field.in_force = [=](const MatmulProblem& p) {
    return fmt::to_string(p.*member == fallback ? in_force(p) : p.*member);
  };
  return field;
}

Field alignment_field(std::string_view key, std::uint32_t MatmulProblem::*member) {
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (p.*member == 256) return std::nullopt;
            return fmt::format("{}", p.*member);
          },
          [=](MatmulProblem& p, std::string_view text) {
            const auto value = parse_integer(key, text, 1, 1 << 20);
            if ((value & (value - 1)) != 0) bad_value(key, text, "a power of two");
            p.*member = static_cast<std::uint32_t>(value);
          },
          [=](const MatmulProblem& p) { return fmt::to_string(p.*member); }};
}

template <class Enum>
Field name_field(std::string_view key, Enum MatmulProblem::*member, std::span<const Named<Enum>> table,
                 std::function<std::optional<Enum>(const MatmulProblem&)> fallback) {
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (p.*member == fallback(p)) return std::nullopt;
            return name_of(p.*member);
          },
          [=](MatmulProblem& p, std::string_view text) { p.*member = parse_name<Enum>(key, text, table); },
          [=](const MatmulProblem& p) { return std::string(name_of(p.*member)); }};
}

/// What is not said is not set; the library then takes `fallback`, or nothing.
template <class Enum>
Field optional_name_field(std::string_view key, std::optional<Enum> MatmulProblem::*member,
                          std::span<const Named<Enum>> table, Enum (*fallback)(const MatmulProblem&) = nullptr) {
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (!(p.*member)) return std::nullopt;
            return name_of(*(p.*member));
          },
          [=](MatmulProblem& p, std::string_view text) { p.*member = parse_name<Enum>(key, text, table); },
          [=](const MatmulProblem& p) {
            if (p.*member) return std::string(name_of(*(p.*member)));
            return fallback == nullptr ? std::string() : std::string(name_of(fallback(p)));
          }};
}

Field flag_field(std::string_view key, bool MatmulProblem::*member) {
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (!(p.*member)) return std::nullopt;
            return "1";
          },
          [=](MatmulProblem& p, std::string_view text) { p.*member = parse_integer(key, text, 0, 1) == 1; },
          [=](const MatmulProblem& p) { return std::string(p.*member ? "1" : "0"); }};
}

Field number_field(std::string_view key, double MatmulProblem::*member, double fallback) {
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (p.*member == fallback) return std::nullopt;
            return fmt::format("{}", p.*member);
          },
          [=](MatmulProblem& p, std::string_view text) {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            // Inputs are exact integers: only factors that keep products exact can be verified bit by bit.
            const double quarters = value * 4;
            if (error != std::errc() || end != text.data() + text.size() || !(value >= -64 && value <= 64) ||
                quarters != static_cast<double>(static_cast<int>(quarters))) {
              bad_value(key, text, "a multiple of 0.25 from -64 to 64");
            }
            p.*member = value;
          },
          [=](const MatmulProblem& p) { return fmt::format("{}", p.*member); }};
}

cublasComputeType_t compute_of(cudaDataType_t type) { return uniform_problem(type, 1, 1, 1).compute_type; }

/// alpha and beta are complex where the matrices are (cuBLAS 13.2 documentation, cublasLtMatmul, supported types).
cudaDataType_t scale_of(const MatmulProblem& p) { return default_scale_type(p.compute_type, p.type_a); }

/// A is planar where the documentation lists its type in planes alone, and the others are where A is.
std::int64_t plane_of_a(const MatmulProblem& p) { return uniform_problem(p.type_a, 1, 1, 1).plane_a; }
std::int64_t plane_as_a(const MatmulProblem& p) { return p.plane_a == 0 ? 0 : kPackedPlane; }

constexpr std::string_view kPacked = "packed";

Field plane_field(std::string_view key, std::int64_t MatmulProblem::*member,
                  std::int64_t (*fallback)(const MatmulProblem&)) {
  const auto text_of = [=](const MatmulProblem& p) {
    return p.*member == kPackedPlane ? std::string(kPacked) : fmt::to_string(p.*member);
  };
  return {key,
          [=](const MatmulProblem& p) -> std::optional<std::string> {
            if (p.*member == fallback(p)) return std::nullopt;
            return text_of(p);
          },
          [=](MatmulProblem& p, std::string_view text) {
            p.*member = text == kPacked ? kPackedPlane : parse_integer(key, text, 0, kLargest);
          },
          text_of};
}

constexpr std::size_t kHexDigits = 16;

std::optional<std::string> write_algo(const MatmulProblem& p) {
  if (p.algo == AlgoChoice::null) return "null";
  if (p.algo == AlgoChoice::given) {
    std::string text = "0x";
    for (const auto word : p.algo_words) text += fmt::format("{:016x}", word);
    return text;
  }
  if (p.algo_index == 0) return std::nullopt;
  return fmt::format("{}", p.algo_index);
}

/// A number of the heuristic's list, null, or the 64 bytes of a stored algorithm.
void read_algo(MatmulProblem& p, std::string_view text) {
  p.algo = text == "null" ? AlgoChoice::null : AlgoChoice::heuristic;
  if (text.starts_with("0x")) {
    p.algo = AlgoChoice::given;
    const auto digits = text.substr(2);
    bool whole = digits.size() == kHexDigits * p.algo_words.size();
    for (std::size_t i = 0; whole && i < p.algo_words.size(); ++i) {
      const auto* begin = digits.data() + i * kHexDigits;
      const auto [end, error] = std::from_chars(begin, begin + kHexDigits, p.algo_words[i], 16);
      whole = error == std::errc() && end == begin + kHexDigits;
    }
    if (!whole) bad_value("algo", text, "0x and the 128 hexadecimal digits of a stored algorithm");
  } else if (text != "null") {
    p.algo_index = static_cast<int>(parse_integer("algo", text, 0, 255));
  }
}

/// Fields in canonical order. Types stand before what defaults to them.
std::vector<Field> make_fields() {
  using P = MatmulProblem;
  std::vector<Field> fields;
  for (const auto& [key, member] :
       std::array<std::pair<std::string_view, std::int64_t P::*>, 3>{{{"m", &P::m}, {"n", &P::n}, {"k", &P::k}}}) {
    fields.push_back(integer_field(key, member, -1, 0));
  }
  const auto no_trans = [](const P&) { return CUBLAS_OP_N; };
  fields.push_back(name_field<cublasOperation_t>("ta", &P::transa, operations(), no_trans));
  fields.push_back(name_field<cublasOperation_t>("tb", &P::transb, operations(), no_trans));
  fields.push_back(name_field<cudaDataType_t>("a", &P::type_a, matrix_types(), [](const P&) { return std::nullopt; }));
  fields.push_back(name_field<cudaDataType_t>("b", &P::type_b, matrix_types(), [](const P& p) { return p.type_a; }));
  fields.push_back(name_field<cudaDataType_t>("d", &P::type_d, matrix_types(), [](const P& p) { return p.type_a; }));
  fields.push_back(name_field<cudaDataType_t>("c", &P::type_c, matrix_types(), [](const P& p) { return p.type_d; }));
  fields.push_back(name_field<cublasComputeType_t>("compute", &P::compute_type, compute_types(),
                                                   [](const P& p) { return compute_of(p.type_a); }));
  fields.push_back(
      name_field<cudaDataType_t>("scale", &P::scale_type, scale_types(), [](const P& p) { return scale_of(p); }));
  fields.push_back(derived_field("lda", &P::lda, 0, [](const P& p) { return shape_a(p).ld; }));
  fields.push_back(derived_field("ldb", &P::ldb, 0, [](const P& p) { return shape_b(p).ld; }));
  fields.push_back(derived_field("ldc", &P::ldc, 0, [](const P& p) { return shape_c(p).ld; }));
  fields.push_back(derived_field("ldd", &P::ldd, 0, [](const P& p) { return shape_d(p).ld; }));
  const auto col = [](const P&) { return CUBLASLT_ORDER_COL; };
  for (const auto& [key, member] : std::array<std::pair<std::string_view, cublasLtOrder_t P::*>, 4>{
           {{"order_a", &P::order_a}, {"order_b", &P::order_b}, {"order_c", &P::order_c}, {"order_d", &P::order_d}}}) {
    fields.push_back(name_field<cublasLtOrder_t>(key, member, orders(), col));
  }
  fields.push_back(plane_field("plane_a", &P::plane_a, plane_of_a));
  fields.push_back(plane_field("plane_b", &P::plane_b, plane_as_a));
  fields.push_back(plane_field("plane_c", &P::plane_c, plane_as_a));
  fields.push_back(plane_field("plane_d", &P::plane_d, plane_as_a));
  fields.push_back({"batch",
                    [](const P& p) -> std::optional<std::string> {
                      if (p.batch_count == 1) return std::nullopt;
                      return fmt::format("{}", p.batch_count);
                    },
                    [](P& p, std::string_view text) {
                      p.batch_count = static_cast<std::int32_t>(parse_integer("batch", text, 0, 1 << 30));
                    },
                    [](const P& p) { return fmt::to_string(p.batch_count); }});
  fields.push_back(derived_field("stride_a", &P::stride_a, -1, [](const P& p) { return shape_a(p).batch_stride; }));
  fields.push_back(derived_field("stride_b", &P::stride_b, -1, [](const P& p) { return shape_b(p).batch_stride; }));
  fields.push_back(derived_field("stride_c", &P::stride_c, -1, [](const P& p) { return shape_c(p).batch_stride; }));
  fields.push_back(derived_field("stride_d", &P::stride_d, -1, [](const P& p) { return shape_d(p).batch_stride; }));
  return fields;
}

/// What goes with an epilogue, and the scale factors.
void add_beside_fields(std::vector<Field>& fields) {
  using P = MatmulProblem;
  fields.push_back(optional_name_field<cudaDataType_t>("bias_type", &P::type_bias, matrix_types(), bias_type));
  fields.push_back(integer_field("stride_bias", &P::stride_bias, 0, 0));
  fields.push_back(optional_name_field<cudaDataType_t>("aux_type", &P::type_aux, matrix_types(), aux_type));
  // Of a mask in bits, as the problem has them, and not in the bytes of its shape.
  fields.push_back(derived_field("ldaux", &P::ldaux, 0, [](const P& p) {
    if (!has_aux(p.epilogue)) return p.ldaux;
    return shape_aux(p).ld * (has_aux_mask(p.epilogue) ? 8 : 1);
  }));
  fields.push_back(derived_field("stride_aux", &P::stride_aux, -1, [](const P& p) {
    if (!has_aux(p.epilogue)) return p.stride_aux;
    return shape_aux(p).batch_stride * (has_aux_mask(p.epilogue) ? 8 : 1);
  }));
  for (const auto& [key, member] :
       std::array<std::pair<std::string_view, std::optional<cublasLtMatmulMatrixScale_t> P::*>, 4>{
           {{"scale_a", &P::scale_a}, {"scale_b", &P::scale_b}, {"scale_c", &P::scale_c}, {"scale_d", &P::scale_d}}}) {
    fields.push_back(optional_name_field<cublasLtMatmulMatrixScale_t>(key, member, scale_modes()));
  }
  fields.push_back(flag_field("amax_d", &P::amax_d));
  fields.push_back(flag_field("fast_accum", &P::fast_accum));
  fields.push_back(integer_field("sm_count_target", &P::sm_count_target, 0, 0, 1 << 20));
}

void add_call_fields(std::vector<Field>& fields) {
  using P = MatmulProblem;
  fields.push_back(name_field<cublasLtEpilogue_t>("epilogue", &P::epilogue, epilogues(),
                                                  [](const P&) { return CUBLASLT_EPILOGUE_DEFAULT; }));
  add_beside_fields(fields);
  fields.push_back(number_field("alpha", &P::alpha, 1));
  fields.push_back(number_field("beta", &P::beta, 0));
  fields.push_back(number_field("alpha_imaginary", &P::alpha_imaginary, 0));
  fields.push_back(number_field("beta_imaginary", &P::beta_imaginary, 0));
  fields.push_back(name_field<cublasLtPointerMode_t>("pointer_mode", &P::pointer_mode, pointer_modes(),
                                                     [](const P&) { return CUBLASLT_POINTER_MODE_HOST; }));
  fields.push_back(flag_field("in_place", &P::in_place));
  for (const auto& [key, member] :
       std::array<std::pair<std::string_view, std::int64_t P::*>, 9>{{{"a_offset", &P::a_offset},
                                                                      {"b_offset", &P::b_offset},
                                                                      {"c_offset", &P::c_offset},
                                                                      {"d_offset", &P::d_offset},
                                                                      {"bias_offset", &P::bias_offset},
                                                                      {"aux_offset", &P::aux_offset},
                                                                      {"scale_a_offset", &P::scale_a_offset},
                                                                      {"scale_b_offset", &P::scale_b_offset},
                                                                      {"workspace_offset", &P::workspace_offset}}}) {
    fields.push_back(integer_field(key, member, 0, 0, 255));
  }
  for (const auto& [key, member] :
       std::array<std::pair<std::string_view, std::uint32_t P::*>, 4>{{{"a_alignment", &P::a_alignment},
                                                                       {"b_alignment", &P::b_alignment},
                                                                       {"c_alignment", &P::c_alignment},
                                                                       {"d_alignment", &P::d_alignment}}}) {
    fields.push_back(alignment_field(key, member));
  }
  fields.push_back({"workspace",
                    [](const P& p) -> std::optional<std::string> {
                      if (p.workspace_bytes == P{}.workspace_bytes) return std::nullopt;
                      return bytes_text(p.workspace_bytes);
                    },
                    [](P& p, std::string_view text) { p.workspace_bytes = parse_bytes("workspace", text); },
                    [](const P& p) { return bytes_text(p.workspace_bytes); }});
  fields.push_back({"algo", write_algo, read_algo, [](const P& p) { return write_algo(p).value_or("0"); }});
}

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = [] {
    auto list = make_fields();
    add_call_fields(list);
    return list;
  }();
  return kFields;
}

/// The field of a key. Throws with the nearest key when there is none.
const Field& field_of(std::string_view key) {
  const auto& list = fields();
  const auto found = std::find_if(list.begin(), list.end(), [key](const Field& field) { return field.key == key; });
  if (found != list.end()) return *found;
  const auto keys = problem_keys();
  const auto near = nearest_word(key, keys);
  throw AuditError(ErrorKind::usage,
                   fmt::format("problem text: there is no key '{}'{}; the keys are {}", key,
                               near.empty() ? "" : fmt::format(" (nearest: '{}')", near), fmt::join(keys, " ")));
}

/// Splits into key -> value; names the first thing that is not `key=value` or stands twice.
std::map<std::string, std::string, std::less<>> split(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw AuditError(ErrorKind::usage,
                       fmt::format("problem text: '{}' is not key=value; write for example m=256,n=256,"
                                   "k=256,a=f16",
                                   item));
    }
    const std::string key(item.substr(0, equals));
    static_cast<void>(field_of(key));
    if (!values.emplace(key, item.substr(equals + 1)).second) {
      throw AuditError(ErrorKind::usage, fmt::format("problem text: '{}' stands twice; keep one", key));
    }
  }
  return values;
}

}  // namespace

std::string to_text(const MatmulProblem& problem) {
  std::string text;
  for (const auto& field : fields()) {
    if (const auto value = field.write(problem)) {
      if (!text.empty()) text += ',';
      text += fmt::format("{}={}", field.key, *value);
    }
  }
  return text;
}

MatmulProblem problem_from_text(std::string_view text) {
  const auto values = split(text);
  for (const std::string_view key : {"m", "n", "k", "a"}) {
    if (values.find(key) == values.end()) {
      throw AuditError(ErrorKind::usage,
                       fmt::format("problem text: '{}' is missing; m, n, k and the type a are needed, for "
                                   "example m=256,n=256,k=256,a=f16",
                                   key));
    }
  }
  MatmulProblem problem;
  for (const auto& field : fields()) {
    const auto found = values.find(field.key);
    if (found != values.end()) {
      field.read(problem, found->second);
      continue;
    }
    // What is not said follows from what was: types in canonical order.
    if (field.key == "b") problem.type_b = problem.type_a;
    if (field.key == "d") problem.type_d = problem.type_a;
    if (field.key == "c") problem.type_c = problem.type_d;
    if (field.key == "compute") problem.compute_type = compute_of(problem.type_a);
    if (field.key == "scale") problem.scale_type = scale_of(problem);
    if (field.key == "plane_a") problem.plane_a = plane_of_a(problem);
    if (field.key == "plane_b") problem.plane_b = plane_as_a(problem);
    if (field.key == "plane_c") problem.plane_c = plane_as_a(problem);
    if (field.key == "plane_d") problem.plane_d = plane_as_a(problem);
  }
  return problem;
}

std::vector<std::string> problem_keys() {
  std::vector<std::string> keys;
  for (const auto& field : fields()) keys.emplace_back(field.key);
  return keys;
}

std::string value_in_force(const MatmulProblem& problem, std::string_view key) {
  return field_of(key).in_force(problem);
}

std::string canonical_value(std::string_view key, std::string_view value) {
  const Field& field = field_of(key);
  MatmulProblem problem;
  field.read(problem, value);
  // A default that follows from the rest of a problem cannot be told without one; as a number it is never written.
  return field.write(problem).value_or(field.in_force(problem));
}

std::map<std::string, std::string, std::less<>> partial_problem(std::string_view text) {
  auto values = split(text);
  for (auto& [key, value] : values) value = canonical_value(key, value);
  return values;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  // Levenshtein distance, one row at a time.
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i + 1);
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t substituted = diagonal + (word[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace lt_audit
