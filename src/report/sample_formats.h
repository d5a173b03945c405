// What the tests of the formats share beyond the sample report: what a gate knows, and a report made to do harm.
#pragma once

#include <string>

#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// For the sample report: a baseline that knows one failing case, a waiver for the warning, a closed gate with a
/// remark.
Annotations sample_annotations();

/// Control characters, markup of every format, workflow commands, mentions, broken UTF-8.
std::string hostile_text();
/// The sample report with that text in every field that may hold it, and one text of a megabyte.
Report hostile_report();
/// The same in every text of a gate and a waiver.
Annotations hostile_annotations();

/// `cases` failing and as many passing cases of one check, with one finding for each ten.
Report large_report(std::size_t cases);

/// The sample report as one of a workload: a product called in line 12 of "logs/app 1.log".
Report workload_report();

}  // namespace lt_audit
