// The variables that change what cuBLASLt, cuBLAS and CUDA do, for whoever warns of them or judges them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lt_audit {

/// One variable.
struct VariableRule {
  std::string_view name;
  /// The value that changes nothing; empty when every value changes something.
  std::string_view harmless;
  /// What it does, the rest of a sentence that starts with "NAME=VALUE is set: ".
  std::string_view effect;
  std::string_view remedy;
  /// Document and section; that none has it, when the name was only seen in the library.
  std::string_view source;
};

/// All of them, sorted by name.
std::span<const VariableRule> variable_rules();

/// True when the variable is set, and not to its harmless value.
bool changes_something(const VariableRule& rule, const std::map<std::string, std::string>& variables);

}  // namespace lt_audit
