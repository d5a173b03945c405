// A walk over an observation's JSON text, which was parsed when the report was read and is compact. A text that is not
// gives fewer fields and no error.
#include "compare/measures.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "lt_audit/error.h"
#include "lt_audit/measured_facts.h"
#include "report/observation_json.h"

namespace lt_audit {
namespace {

/// One past the quotation mark that ends the string that begins at `begin`; the text's size when none does.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t at = text.find('"', begin + 1); at != std::string_view::npos; at = text.find('"', at + 1)) {
    std::size_t backslashes = 0;
    while (text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at + 1;
  }
  return text.size();
}

/// One past the value that begins at `begin`: brackets with all that they hold, a string, or what stands before the
/// next comma or bracket.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size();) {
    const char c = text[at];
    const bool closes = c == '}' || c == ']';
    if (depth == 0 && (c == ',' || closes)) return at;
    if (c == '{' || c == '[') ++depth;
    if (closes) --depth;
    at = c == '"' ? end_of_string(text, at) : at + 1;
    if (closes && depth == 0) return at;
  }
  return text.size();
}

/// Calls `visit(key, value)` for each field of a compact object, with the values' own text.
template <class Visit>
void each_field(std::string_view object, const Visit& visit) {
  for (std::size_t at = 1; at < object.size() && object[at] == '"';) {
    const std::size_t key_end = end_of_string(object, at);
    if (key_end >= object.size()) return;
    const std::size_t end = end_of_value(object, key_end + 1);
    visit(object.substr(at + 1, key_end - at - 2), object.substr(key_end + 1, end - key_end - 1));
    at = end + 1;
  }
}

/// Calls `visit(value)` for each element of a compact array.
template <class Visit>
void each_element(std::string_view array, const Visit& visit) {
  for (std::size_t at = 1; at + 1 < array.size();) {
    const std::size_t end = end_of_value(array, at);
    visit(array.substr(at, end - at));
    at = end + 1;
  }
}

/// A string without its quotation marks; empty for one with escapes, which digests and numbers do not have.
std::string_view plain_text(std::string_view value) {
  const bool is_plain = value.size() >= 2 && value.front() == '"' && value.find('\\') == std::string_view::npos;
  return is_plain ? value.substr(1, value.size() - 2) : std::string_view();
}

std::optional<double> number_in(std::string_view text) {
  if (text.empty() || text.size() > 40) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  constexpr double kLargest = 1e15;
  if (*end != '\0' || !(value >= 0) || value > kLargest) return std::nullopt;
  return value;
}

bool compared_numbers(std::string_view verification) {
  bool compared = false;
  bool is_memory = false;
  each_field(verification, [&](std::string_view key, std::string_view value) {
    if (key == "compared") compared = value != "0";
    if (key == "method") is_memory = plain_text(value) == "memory";
  });
  return compared && !is_memory;
}

void read_facts(std::string_view facts, Measures& measures) {
  each_field(facts, [&](std::string_view key, std::string_view value) {
    if (key == kDBitsFact) measures.d_bits = plain_text(value);
    if (key == kCublasDBitsFact) measures.cublas_d_bits = plain_text(value);
    if (key == kLtUsFact) measures.lt_us = number_in(plain_text(value));
    if (key == kCublasUsFact) measures.cublas_us = number_in(plain_text(value));
    if (key == kSpreadFact) measures.spread = number_in(plain_text(value));
  });
}

bool is_read_fact(std::string_view name) {
  return name == kDBitsFact || name == kCublasDBitsFact || name == kLtUsFact || name == kCublasUsFact ||
         name == kSpreadFact;
}

}  // namespace

Measures measures_of(const CaseResult& result) {
  Measures measures;
  each_field(result.observation, [&measures](std::string_view key, std::string_view value) {
    if (key == "heuristic") {
      each_element(value, [&measures](std::string_view element) {
        if (measures.results++ == 0) measures.first_result = element;
      });
    }
    if (key == "verification") measures.numbers_verified = compared_numbers(value);
    if (key == "facts") read_facts(value, measures);
  });
  return measures;
}

std::optional<HeuristicResult> heuristic_result(std::string_view json) {
  // Through the reader of observations, so that one place knows the fields.
  const auto parsed = nlohmann::json::parse(fmt::format(R"({{"heuristic":[{}]}})", json), nullptr, false);
  if (parsed.is_discarded()) return std::nullopt;
  try {
    auto results = observation_from_json(parsed).heuristic;
    return results.empty() ? std::nullopt : std::optional(results.front());
  } catch (const AuditError&) {
    return std::nullopt;
  }
}

std::string without_the_rest(const CaseResult& result) {
  std::string kept;
  const auto keep = [&kept](std::string_view key, std::string_view value) {
    kept += fmt::format(R"({}"{}":{})", kept.empty() ? "{" : ",", key, value);
  };
  each_field(result.observation, [&keep](std::string_view key, std::string_view value) {
    if (key == "verification") keep(key, value);
    if (key == "heuristic") {
      // Of the further results their number is enough.
      std::string results;
      each_element(value, [&results](std::string_view element) {
        results += results.empty() ? fmt::format("[{}", element) : std::string(",{}");
      });
      if (!results.empty()) keep(key, results + "]");
    }
    if (key == "facts") {
      std::string facts;
      each_field(value, [&facts](std::string_view name, std::string_view text) {
        if (is_read_fact(name)) facts += fmt::format(R"({}"{}":{})", facts.empty() ? "{" : ",", name, text);
      });
      if (!facts.empty()) keep(key, facts + "}");
    }
  });
  return kept.empty() ? "{}" : kept + "}";
}

}  // namespace lt_audit
