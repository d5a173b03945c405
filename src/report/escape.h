// Text of others in the formats that machines and browsers read. Every function takes any bytes: what is no UTF-8, and
// characters that control a terminal or the direction of writing, are replaced or dropped first (report/utf8.h).
#pragma once

#include <string>
#include <string_view>

namespace lt_audit {

/// For the content of an XML 1.0 element and for an attribute in double quotes. Characters that XML forbids become
/// U+FFFD or are dropped; line ends become blanks.
std::string xml_text(std::string_view text);

/// Prose in Markdown, in a table too, and in HTML within Markdown: shows the text and nothing else. No markup, no link,
/// no mention of a person, no reference to an issue comes of it.
std::string markdown_text(std::string_view text);

/// A code span, for what a reader copies: problems and commands. Empty for an empty text. Not for table cells.
std::string markdown_code(std::string_view text);

/// A file name as a URI: "/a b" is file:///a%20b, "a b" stays relative. A name that leaves the directory with ".."
/// loses its directories. Empty for an empty name.
std::string file_uri(std::string_view name);

/// Message and property value of a workflow command of GitHub Actions.
std::string workflow_message(std::string_view text);
std::string workflow_property(std::string_view text);

/// Lines for the log of GitHub Actions that hold no workflow command: "::" at the start of a line and "##[" anywhere
/// get a blank in between. Line ends and colours stay.
std::string without_workflow_commands(std::string_view lines);

}  // namespace lt_audit
