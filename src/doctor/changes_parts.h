// The changes that changes_for collects, by what they are about.
#pragma once

#include <vector>

#include "doctor/changes.h"

namespace lt_audit {

using Changes = std::vector<Change>;

/// Epilogues with less in them.
void add_epilogue(const MatmulProblem& problem, Changes& changes);
/// Pointer, type, leading dimension and stride of bias and aux.
void add_beside(const MatmulProblem& problem, Changes& changes);
/// Scale modes and pointers, amax, fast accumulation, SM count target.
void add_scales(const MatmulProblem& problem, Changes& changes);

}  // namespace lt_audit
