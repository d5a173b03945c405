// What lt-audit doctor shows: text for the terminal, JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/search.h"
#include "lt_audit/target.h"

namespace lt_audit {

/// Version of the JSON form (docs/doctor.schema.json). Major: a reader of the old form breaks. Minor: fields added.
inline constexpr std::string_view kDoctorSchemaVersion = "2.0.0";

/// A diagnosis, and what the call was in the report that it came from.
struct Diagnosed {
  Diagnosis diagnosis;
  /// REPORT:CHECK/CASE of a case that is a sequence of calls: the diagnosed one is its product alone. Else empty.
  std::string sequence;
};

/// A call that could not be run.
struct NotDiagnosed {
  /// As it was given.
  std::string call;
  std::string reason;
};

/// Everything that one command found.
struct DiagnosisDocument {
  Target target;
  std::vector<Diagnosed> diagnoses;
  std::vector<NotDiagnosed> not_diagnosed;
};

/// The call, what came of it, and each set of changes with what it costs, or what makes it faster; lines of at most
/// `columns`.
void write_diagnosis(const Diagnosed& diagnosed, const Target& target, int columns, std::ostream& out);

/// The same as a document of the schema "lt-audit-doctor". Times are microseconds on the GPU and absent on the
/// simulator; memory is in bytes against the given call.
std::string document_json(const DiagnosisDocument& document);

}  // namespace lt_audit
