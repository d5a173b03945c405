// The contract in parts: each looks at one side of a problem and says which rule it breaks, if any.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "lt_audit/contract.h"

namespace lt_audit {

inline Promise refuses(Expectation expectation, RefusedBy by, cublasStatus_t status, std::string rule_id,
                       std::string rule) {
  return {expectation, by, status, std::move(rule_id), std::move(rule)};
}

/// The first of them that a library refuses by; else the first that only leaves open whether the call works.
std::optional<Promise> first_that_refuses(std::initializer_list<std::optional<Promise>> refusals);

/// Batch count, and matrices of D that share memory.
std::optional<Promise> refuse_batch(const MatmulProblem& problem, const ContractScope& scope);

/// Epilogue against types, order, aux and bias.
std::optional<Promise> refuse_epilogue(const MatmulProblem& problem);

/// Scale factors against types, each other and the GPU; amax.
std::optional<Promise> refuse_scales(const MatmulProblem& problem, const ContractScope& scope);

}  // namespace lt_audit
