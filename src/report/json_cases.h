// The cases of a report in the form that write_json gives them, read without a tree: nearly all of a report is cases.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lt_audit/report.h"

namespace lt_audit {

/// What stands in front of the cases that follow.
enum class CasesFollow { key, another_case };

/// Appends to `cases` those that follow in an array of cases. `text` is the document, `at` the place behind the key
/// "cases", where the colon and the array follow, or behind another case of the array. Returns the place from which on
/// somebody else must read: the first element that is anything else than write_json writes (an unknown field, a blank,
/// an escape of four digits, a mistake), or the closing bracket. Returns npos where nothing was read. Never throws for
/// a wrong text: what it does not know, it leaves.
std::size_t scan_cases(std::string_view text, std::size_t at, CasesFollow after, std::vector<CaseResult>& cases);

}  // namespace lt_audit
