// What makes two cases of two reports the same. Ids and wordings may change between versions of the tool; check,
// problem and cause do not.
#pragma once

#include <string>
#include <string_view>

#include "lt_audit/report.h"

namespace lt_audit {

/// Check and canonical problem: the same experiment in another report. Several cases of a check may share it (the same
/// problem in several scenarios); compare how many there are.
std::string case_identity(std::string_view check, const CaseResult& result);

/// Check, canonical problem and cause (the reason code): the same finding in another report.
std::string finding_identity(std::string_view check, const CaseResult& result);

/// 32 hex digits of an identity (two 64-bit FNV-1a sums), the same on every machine and in every version: for SARIF
/// fingerprints and for whoever keeps findings in a database.
std::string fingerprint(std::string_view identity);

}  // namespace lt_audit
