// Inputs that are planted element by element, since the engine's exact inputs stay far from what 32 bits and INT8 hold,
// and what D must be of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"

namespace lt_audit::int8 {

/// What is planted in every row of the product: a sum, the element of C and the bias. Odd columns have the negative of
/// sum and C.
struct PlantedRow {
  std::int64_t sum = 0;
  std::int64_t c = 0;
  double bias = 0;
};

/// The rows for a problem, to be repeated over m.
std::vector<PlantedRow> planted_rows(const MatmulProblem& problem);

/// The memory of an operand with the rows in it.
std::vector<std::byte> planted_a(const MatmulProblem& problem, const std::vector<PlantedRow>& rows);
std::vector<std::byte> planted_b(const MatmulProblem& problem);
std::vector<std::byte> planted_c(const MatmulProblem& problem, const std::vector<PlantedRow>& rows);
std::vector<std::byte> planted_bias(const MatmulProblem& problem, const std::vector<PlantedRow>& rows);

/// Compares D with what the rows make of it; sets the facts. `who` names the algorithm in the detail.
void compare_planted(const MatmulProblem& problem, const std::vector<PlantedRow>& rows, const std::vector<std::byte>& d,
                     const std::string& who, Observation& observation);

}  // namespace lt_audit::int8
