// What lt-audit doctor shows: text for the terminal, JSON for programs.
#pragma once

#include <iosfwd>
#include <string>

#include "doctor/search.h"
#include "lt_audit/target.h"

namespace lt_audit {

/// The call, what came of it, and each set of changes with what it costs; lines of at most `columns`.
void write_diagnosis(const Diagnosis& diagnosis, const Target& target, int columns, std::ostream& out);

/// The same as a document of the schema "lt-audit-doctor", version 1.0.0. Times are microseconds of one warm call on
/// the GPU and absent on the simulator; memory is in bytes against the given call.
std::string diagnosis_json(const Diagnosis& diagnosis, const Target& target);

}  // namespace lt_audit
