// A condition over one product, in the words of the problem text: "batch > 1", "a in (e4m3, e5m2)",
// "k % split_k != 0". What the data of the known issues says about problems.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// What is known of the algorithm of a call; before the call nothing is.
struct AlgorithmFacts {
  std::optional<int> algo_id;
  std::optional<int> split_k;
};

/// Keys of the problem text (leading dimensions and strides as they are in force, types and modes by their names),
/// algo_id and split_k; `bytes(a)` is the size of an element or of what the compute type sums in, `span(a)` the
/// elements from a matrix's first to its last. Operators: || && == != < <= > >= in + - * / %; parentheses group
/// conditions.
class Predicate {
 public:
  /// Throws AuditError (usage) that names the text and the word, with the nearest key or value.
  explicit Predicate(std::string_view text);

  const std::string& text() const { return text_; }

  /// Nothing when it depends on facts of the algorithm that are not known.
  std::optional<bool> holds(const MatmulProblem& problem, const AlgorithmFacts& algorithm) const;

 private:
  using Condition = std::function<std::optional<bool>(const MatmulProblem&, const AlgorithmFacts&)>;
  friend class PredicateParser;

  std::string text_;
  Condition condition_;
};

/// The words that a predicate may use for a problem; each is a key of the problem text.
std::vector<std::string> predicate_keys();

}  // namespace lt_audit
