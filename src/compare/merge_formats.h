// A merge as text, Markdown and JSON. Every sentence that more than one of them has is made here.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "compare/merge.h"
#include "report/formats.h"

namespace lt_audit {

/// Version of docs/merge.schema.json; what its parts mean is said at kReportSchemaVersion.
inline constexpr std::string_view kMergeSchemaVersion = "1.0.0";

/// In what the node differs from the others, one sentence each; empty for one that agrees. Of the cases that end
/// differently and of the outliers only the first `most` are named, the others counted.
std::vector<std::string> differences_of(const Merged& merged, std::size_t node, std::size_t most);

/// "16 nodes: 15 agree, 1 differs; 18 findings (3 fail, 15 warn)".
std::string merge_summary(const Merged& merged);

/// Whether and where times were compared, one sentence for each GPU model.
std::vector<std::string> speed_remarks(const Merged& merged);

/// One screen: what must be said first, nodes that differ, findings, one last line. `verbose` leaves nothing out,
/// `quiet` what is no problem.
void write_merge_text(const Merged& merged, const TextOptions& options, int exit_code, std::ostream& out);

/// The same for a pull request or a wiki; every foreign text is escaped.
void write_merge_markdown(const Merged& merged, int exit_code, std::ostream& out);

/// The document of docs/merge.schema.json, one finding, case and outlier a line.
void write_merge_json(const Merged& merged, std::string_view tool_version, int exit_code, std::ostream& out);

}  // namespace lt_audit
