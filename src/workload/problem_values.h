// Single values of a problem, for whoever asks about some keys of it and not about the whole (problem_text.cpp, whose
// table of keys is the only one).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// The keys of the problem text, in canonical order.
std::vector<std::string> problem_keys();

/// What holds for the key, spelled as the problem text does: what the text leaves out has its default, leading
/// dimensions and strides are those in memory. Empty for what is not set and has no default (a scale mode). Throws
/// AuditError (usage) for a key that does not exist.
std::string value_in_force(const MatmulProblem& problem, std::string_view key);

/// A value as a user writes it in the spelling of value_in_force: "33554432" of workspace is "32MiB". Throws AuditError
/// (usage) like problem_from_text.
std::string canonical_value(std::string_view key, std::string_view value);

/// Some keys of a problem, "a=f32,m=64", with their canonical values. Throws AuditError (usage) like problem_from_text.
std::map<std::string, std::string, std::less<>> partial_problem(std::string_view text);

}  // namespace lt_audit
