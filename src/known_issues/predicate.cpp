// Recursive descent over the text of a condition; what comes out is a tree of functions.
#include "known_issues/predicate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "known_issues/problem_fields.h"
#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

using Number = std::function<std::optional<double>(const MatmulProblem&, const AlgorithmFacts&)>;

constexpr std::array<std::string_view, 2> kAlgorithmWords{"algo_id", "split_k"};

/// Two-character operators stand before their first characters.
constexpr std::array<std::string_view, 15> kOperators{"||", "&&", "==", "!=", "<=", ">=", "<", ">",
                                                      "+",  "-",  "*",  "/",  "%",  "(",  ")"};

/// Bytes of an element, or of what a compute type sums in.
double bytes_of_field(std::string_view key, const MatmulProblem& p) {
  if (key == "a") return static_cast<double>(bytes_of(p.type_a));
  if (key == "b") return static_cast<double>(bytes_of(p.type_b));
  if (key == "c") return static_cast<double>(bytes_of(p.type_c));
  if (key == "d") return static_cast<double>(bytes_of(p.type_d));
  switch (p.compute_type) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return 2;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return 8;
    default:
      return 4;
  }
}

double span_of_field(std::string_view key, const MatmulProblem& p) {
  if (key == "a") return static_cast<double>(shape_a(p).span());
  if (key == "b") return static_cast<double>(shape_b(p).span());
  if (key == "c") return static_cast<double>(shape_c(p).span());
  return static_cast<double>(shape_d(p).span());
}

/// Nothing for a division by zero: no condition speaks of one.
std::optional<double> calculated(std::string_view op, double left, double right) {
  if (op == "+") return left + right;
  if (op == "-") return left - right;
  if (op == "*") return left * right;
  if (right == 0) return std::nullopt;
  return op == "/" ? std::trunc(left / right) : std::fmod(left, right);
}

bool compared(std::string_view op, double left, double right) {
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  return left >= right;
}

/// The number of a word such as f16 for a key such as a; nothing when the key has no such value.
std::optional<double> value_of_word(const ProblemField& field, const std::string& word) {
  const std::string type = field.key == "a" ? word : "f16";
  const std::string pair = field.key == "a" ? "" : fmt::format(",{}={}", field.key, word);
  try {
    return field.value(problem_from_text(fmt::format("m=1,n=1,k=1,a={}{}", type, pair)));
  } catch (const AuditError&) {
    return std::nullopt;
  }
}

}  // namespace

class PredicateParser {
 public:
  explicit PredicateParser(std::string_view text) : text_(text), rest_(text) { advance(); }

  Predicate::Condition parse() {
    auto condition = any();
    if (!token_.empty()) fail(fmt::format("'{}' is too much", token_));
    return condition;
  }

 private:
  using Condition = Predicate::Condition;

  /// A side of a comparison; `field` when it is one key alone.
  struct Side {
    Number number;
    const ProblemField* field = nullptr;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw AuditError(ErrorKind::usage, fmt::format("condition '{}': {}", text_, what));
  }

  void advance() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    std::size_t size = 0;
    while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 || rest_[size] == '_'))
      ++size;
    if (size == 0) {
      for (const auto op : kOperators) {
        if (size == 0 && rest_.starts_with(op)) size = op.size();
      }
      if (size == 0 && rest_.starts_with(",")) size = 1;
      if (size == 0 && !rest_.empty()) fail(fmt::format("'{}' is no operator", rest_.front()));
    }
    token_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  bool accept(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}' is expected and not '{}'", token, token_));
  }

  Condition any() {
    auto left = all();
    while (accept("||")) {
      left = [a = std::move(left), b = all()](const auto& p, const auto& facts) -> std::optional<bool> {
        const auto first = a(p, facts);
        const auto second = b(p, facts);
        if (first.value_or(false) || second.value_or(false)) return true;
        return first && second ? std::optional(false) : std::nullopt;
      };
    }
    return left;
  }

  Condition all() {
    auto left = comparison();
    while (accept("&&")) {
      left = [a = std::move(left), b = comparison()](const auto& p, const auto& facts) -> std::optional<bool> {
        const auto first = a(p, facts);
        const auto second = b(p, facts);
        if (!first.value_or(true) || !second.value_or(true)) return false;
        return first && second ? std::optional(true) : std::nullopt;
      };
    }
    return left;
  }

  Condition comparison() {
    if (accept("(")) {
      auto condition = any();
      expect(")");
      return condition;
    }
    const Side left = sum(nullptr);
    if (accept("in")) return one_of(left);
    const std::string op(token_);
    if (op != "==" && op != "!=" && op != "<" && op != "<=" && op != ">" && op != ">=")
      fail(fmt::format("a comparison is expected and not '{}'", op));
    advance();
    const Side right = sum(left.field);
    return [op, left, right](const auto& p, const auto& facts) -> std::optional<bool> {
      const auto first = left.number(p, facts);
      const auto second = right.number(p, facts);
      if (!first || !second) return std::nullopt;
      return compared(op, *first, *second);
    };
  }

  Condition one_of(const Side& left) {
    std::vector<Side> values;
    expect("(");
    do {
      values.push_back(sum(left.field));
    } while (accept(","));
    expect(")");
    return [left, values](const auto& p, const auto& facts) -> std::optional<bool> {
      const auto wanted = left.number(p, facts);
      if (!wanted) return std::nullopt;
      for (const auto& value : values) {
        if (value.number(p, facts) == wanted) return true;
      }
      return false;
    };
  }

  Side binary(Side left, const std::string& op, Side right) {
    return {[op, a = std::move(left.number), b = std::move(right.number)](const auto& p,
                                                                          const auto& facts) -> std::optional<double> {
      const auto first = a(p, facts);
      const auto second = b(p, facts);
      if (!first || !second) return std::nullopt;
      return calculated(op, *first, *second);
    }};
  }

  /// `compared_with`: the key on the other side, whose words may stand here.
  Side sum(const ProblemField* compared_with) {
    Side left = product(compared_with);
    while (token_ == "+" || token_ == "-") {
      const std::string op(token_);
      advance();
      left = binary(std::move(left), op, product(nullptr));
    }
    return left;
  }

  Side product(const ProblemField* compared_with) {
    Side left = operand(compared_with);
    while (token_ == "*" || token_ == "/" || token_ == "%") {
      const std::string op(token_);
      advance();
      left = binary(std::move(left), op, operand(nullptr));
    }
    return left;
  }

  Side operand(const ProblemField* compared_with) {
    const std::string word(token_);
    if (word.empty()) fail("it ends too early");
    if (compared_with != nullptr && compared_with->named) return named_operand(word, *compared_with);
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) return number_operand(word);
    advance();
    if (word == "bytes" || word == "span") return function_operand(word);
    if (word == "algo_id" || word == "split_k") {
      return {[id = word == "algo_id"](const auto&, const AlgorithmFacts& facts) -> std::optional<double> {
        const auto& fact = id ? facts.algo_id : facts.split_k;
        return fact ? std::optional<double>(*fact) : std::nullopt;
      }};
    }
    return field_operand(word);
  }

  /// A word that is a value of the key on the other side, such as c beside ta, or else another key, such as b beside a.
  Side named_operand(const std::string& word, const ProblemField& other) {
    advance();
    if (const auto value = value_of_word(other, word))
      return {[value](const auto&, const auto&) -> std::optional<double> { return value; }};
    const auto* field = find_problem_field(word);
    if (field == nullptr || !field->named) {
      // What the problem text says of the value has the nearest one.
      try {
        static_cast<void>(
            problem_from_text(fmt::format("m=1,n=1,k=1,{}{}={}", other.key == "a" ? "" : "a=f16,", other.key, word)));
      } catch (const AuditError& error) {
        fail(error.what());
      }
    }
    return field_operand(word);
  }

  Side number_operand(const std::string& word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) fail(fmt::format("'{}' is no number", word));
    advance();
    return {[value](const auto&, const auto&) -> std::optional<double> { return value; }};
  }

  Side function_operand(const std::string& function) {
    expect("(");
    const std::string key(token_);
    const bool of_matrix = key == "a" || key == "b" || key == "c" || key == "d";
    if (!of_matrix && !(function == "bytes" && key == "compute"))
      fail(fmt::format("{}() takes a, b, c or d{} and not '{}'", function, function == "bytes" ? " or compute" : "",
                       key));
    advance();
    expect(")");
    const auto value = function == "bytes" ? bytes_of_field : span_of_field;
    return {[value, key](const MatmulProblem& p, const auto&) -> std::optional<double> { return value(key, p); }};
  }

  Side field_operand(const std::string& key) {
    const auto* field = find_problem_field(key);
    if (field == nullptr) {
      auto words = predicate_keys();
      words.insert(words.end(), kAlgorithmWords.begin(), kAlgorithmWords.end());
      const auto near = nearest_word(key, words);
      fail(fmt::format("there is no key '{}'{}; the keys are {}", key,
                       near.empty() ? "" : fmt::format(" (nearest: '{}')", near), fmt::join(words, " ")));
    }
    return {[field](const MatmulProblem& p, const auto&) -> std::optional<double> { return field->value(p); }, field};
  }

  const std::string_view text_;
  std::string_view rest_;
  std::string_view token_;
};

Predicate::Predicate(std::string_view text) : text_(text), condition_(PredicateParser(text).parse()) {}

std::optional<bool> Predicate::holds(const MatmulProblem& problem, const AlgorithmFacts& algorithm) const {
  return condition_(problem, algorithm);
}

std::vector<std::string> predicate_keys() {
  std::vector<std::string> keys;
  for (const auto& field : problem_fields()) keys.emplace_back(field.key);
  return keys;
}

}  // namespace lt_audit
