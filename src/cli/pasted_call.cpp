#include "cli/pasted_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lt_audit/error.h"
#include "workload/import.h"
#include "workload/workload_json.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::string_view kStatusKey = "status=";

std::string text_of(const std::string& what, std::istream& standard_input) {
  if (what == "-") return {std::istreambuf_iterator<char>(standard_input), {}};
  std::error_code error;
  if (!std::filesystem::is_regular_file(what, error) || std::filesystem::file_size(what, error) > kMostBytes)
    return what;
  std::ifstream file(what, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto first = text.find_first_not_of(" \t\r\n");
  // A report, or a workload: not a line.
  return first != std::string::npos && text[first] == '{' ? what : text;
}

}  // namespace

std::optional<PastedCall> find_pasted_call(const std::string& what, std::istream& standard_input) {
  const auto result = import_text(text_of(what, standard_input));
  if (result.workload.problems.empty()) {
    if (result.workload.damaged.empty()) return std::nullopt;
    throw AuditError(ErrorKind::usage,
                     fmt::format("the call cannot be read from this line: {}", result.workload.damaged.front().reason));
  }
  // The first in the text, not the most called one.
  const auto& problems = result.workload.problems;
  PastedCall pasted{*std::min_element(problems.begin(), problems.end(),
                                      [](const WorkloadProblem& left, const WorkloadProblem& right) {
                                        return left.first.line < right.first.line;
                                      }),
                    {}};
  for (const auto& [entry, count] : pasted.call.kept) {
    if (entry.starts_with(kStatusKey)) pasted.status = entry.substr(kStatusKey.size());
  }
  return pasted;
}

}  // namespace lt_audit
