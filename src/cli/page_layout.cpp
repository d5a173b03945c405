#include "cli/page_layout.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

std::vector<std::string> lines_of(std::string_view page) {
  std::vector<std::string> lines;
  while (!page.empty()) {
    const auto end = page.find('\n');
    lines.emplace_back(page.substr(0, end));
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
  }
  return lines;
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

using Row = std::vector<std::string>;

Row cells_of(std::string_view line) {
  Row cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const auto end = line.find('|');
    if (end == std::string_view::npos) break;
    cells.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  return cells;
}

bool is_rule(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("-:") == std::string::npos;
  });
}

/// Rows with what continues them (a row without a first cell) joined on; the rule under the head is left out.
std::vector<Row> rows_of(const std::vector<std::string>& lines) {
  std::vector<Row> rows;
  for (const auto& line : lines) {
    const Row row = cells_of(line);
    if (row.empty() || is_rule(row)) continue;
    if (rows.empty() || !row.front().empty() || row.size() > rows.back().size()) {
      rows.push_back(row);
      continue;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty()) rows.back()[i] += (rows.back()[i].empty() ? "" : " ") + row[i];
    }
  }
  return rows;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 1;
  for (const auto& word : wrapped(text, 1)) longest = std::max(longest, text_width(word));
  return longest;
}

/// As wide as the longest cells; then the widest column that its words allow is narrowed until the table fits.
std::vector<std::size_t> widths_of(const std::vector<Row>& rows, std::size_t columns) {
  std::vector<std::size_t> widths;
  std::vector<std::size_t> least;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 1);
    least.resize(widths.size(), 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row[i]));
      least[i] = std::max(least[i], longest_word(row[i]));
    }
  }
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), 1 + 3 * widths.size()); };
  while (total() > columns) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

void write_row(const Row& row, const std::vector<std::size_t>& widths, std::string& out) {
  std::vector<std::vector<std::string>> cells(widths.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells[i] = wrapped(row[i], widths[i]);
    height = std::max(height, cells[i].size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    out += '|';
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += ' ' + padded(line < cells[i].size() ? cells[i][line] : "", widths[i]) + " |";
    }
    out += '\n';
  }
}

void write_table(const std::vector<std::string>& lines, std::size_t columns, std::string& out) {
  const auto rows = rows_of(lines);
  const auto widths = widths_of(rows, columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    write_row(rows[i], widths, out);
    if (i != 0) continue;
    out += '|';
    for (const auto width : widths) out += ' ' + std::string(width, '-') + " |";
    out += '\n';
  }
}

/// A paragraph or list item: joined, and broken anew under the place where its text begins.
void write_paragraph(const std::vector<std::string>& lines, std::size_t columns, std::string& out) {
  const bool item = lines.front().starts_with("- ");
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : " ") + trimmed(line);
  if (item) text.erase(0, 2);
  const std::size_t indent = item ? 2 : 0;
  std::string lead = item ? "- " : "";
  for (const auto& line : wrapped(text, columns - indent)) {
    out += lead + line + '\n';
    lead.assign(indent, ' ');
  }
}

}  // namespace

std::string page_for_width(std::string_view page, std::size_t columns) {
  const auto lines = lines_of(page);
  const bool fits =
      std::all_of(lines.begin(), lines.end(), [columns](const auto& line) { return text_width(line) <= columns; });
  if (fits) return std::string(page);
  std::string out;
  bool fenced = false;
  for (std::size_t i = 0; i < lines.size();) {
    const auto& line = lines[i];
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    if (fence || fenced || line.empty() || line.starts_with('#') || line.starts_with("    ")) {
      out += line + '\n';
      ++i;
      continue;
    }
    const bool table = line.starts_with('|');
    std::vector<std::string> block{line};
    for (++i; i < lines.size() && !lines[i].empty(); ++i) {
      const bool other = lines[i].starts_with('|') != table || lines[i].starts_with("- ") ||
                         lines[i].starts_with('#') || lines[i].starts_with("```");
      if (other) break;
      block.push_back(lines[i]);
    }
    table ? write_table(block, columns, out) : write_paragraph(block, columns, out);
  }
  return out;
}

}  // namespace lt_audit
