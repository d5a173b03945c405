// A page of a check (Markdown of 100 columns) for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lt_audit {

/// The page as it is when it fits; otherwise paragraphs, list items and table cells set anew in `columns`. Headings,
/// fenced and indented code stay as they are.
std::string page_for_width(std::string_view page, std::size_t columns);

}  // namespace lt_audit
