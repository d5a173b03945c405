// Parts of the HTML page that are written in full, for readers without JavaScript and for print.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "lt_audit/report.h"
#include "report/annotations.h"

namespace lt_audit {

/// Shape and word of a status.
std::string status_badge(Status status);

/// What must be said before any result: a gate's decision, no GPU, a planted fault, an audit that did not end.
void write_html_banners(const Report& report, const Annotations& annotations, std::ostream& out);
/// What was audited, where and when, and the counts.
void write_html_summary(const Report& report, std::ostream& out);
/// Findings as the text output orders them; those of skipped cases folded at the end.
void write_html_findings(const Report& report, const Annotations& annotations, std::ostream& out);
/// One row for each check, then a section for each with room for its pictures.
void write_html_checks(const Report& report, std::ostream& out);

/// 9,985: thousands apart.
std::string grouped(std::uint64_t number);

}  // namespace lt_audit
