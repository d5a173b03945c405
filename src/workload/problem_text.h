// One line for a problem: m=128,n=2048,k=2400,ta=t,a=f16,compute=32f,ldb=25272,epilogue=bias,b_offset=8,workspace=1MiB
// (design, section 5). text -> problem -> text is the identity for canonical texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/matmul_problem.h"

namespace lt_audit {

/// The canonical text: fixed key order, defaults left out. m, n, k and a always stand in it.
std::string to_text(const MatmulProblem& problem);

/// Reads a problem text; keys in any order, sizes with KiB, MiB, GiB. Throws AuditError (usage) that names the key or
/// value, the nearest valid key, and the allowed values.
MatmulProblem problem_from_text(std::string_view text);

/// The nearest candidate within a third of the word's length in edits; empty if none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lt_audit
