// Facts of the machine and of the user's environment that may explain a result.
#pragma once

#include <string>
#include <vector>

#include "lt_audit/report.h"
#include "lt_audit/target.h"

namespace lt_audit {

/// Host, user, system and the variables that CUDA and cuBLAS read. Calls no CUDA.
Environment read_environment();

/// Sentences about what may mislead the reader of a report: libraries of different versions, variables that change what
/// the library does or how the process runs.
std::vector<std::string> environment_warnings(const Environment& environment, const Target& target);

}  // namespace lt_audit
