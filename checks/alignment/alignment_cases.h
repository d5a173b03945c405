// The cases of check "alignment" (alignment_cases.cpp), apart from its judgement (alignment.cpp).
#pragma once

#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {

/// Ordered, deterministic, ids unique; deeper depths contain the shallower ones.
std::vector<Case> alignment_cases(const ContractScope& scope, Depth depth);

}  // namespace lt_audit
