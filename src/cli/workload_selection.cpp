#include "cli/workload_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "lt_audit/error.h"
#include "workload/import.h"
#include "workload/problem_text.h"
#include "workload/workload_json.h"

namespace lt_audit {
namespace {

/// As much as shows what a file is.
constexpr std::size_t kStart = 4096;

/// The text of a workload file; nothing for a log.
std::string workload_text(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::string start(kStart, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (!looks_like_workload(start)) return {};
  std::ostringstream rest;
  rest << start << file.rdbuf();
  return rest.str();
}

}  // namespace

Workload load_workload(const std::vector<std::string>& files) {
  if (files.size() == 1 && files.front() != "-") {
    if (const auto text = workload_text(files.front()); !text.empty()) {
      try {
        return read_workload(text);
      } catch (const AuditError& error) {
        throw AuditError(error.kind(), fmt::format("{}: {}", files.front(), error.what()));
      }
    }
  }
  return import_files(files, std::cin).workload;
}

void select_workload(const Workload& workload, Selection& selection) {
  if (workload.problems.empty())
    throw AuditError(ErrorKind::usage, "the workload has no problem: import a log with calls");
  for (const auto& one : workload.problems) {
    selection.problems.push_back(to_text(one.problem));
    std::map<std::string, std::string> notes{{"calls", fmt::to_string(one.calls)},
                                             {"source", fmt::format("{}:{}", one.first.file, one.first.line)},
                                             {"api", one.api}};
    if (!one.assumed.empty()) notes["assumed"] = fmt::format("{}", fmt::join(one.assumed, ", "));
    if (one.lone_queries > 0) notes["lone_queries"] = fmt::to_string(one.lone_queries);
    std::vector<std::string> kept;
    for (const auto& [entry, count] : one.kept) kept.push_back(entry);
    if (!kept.empty()) notes["not_modelled"] = fmt::format("{}", fmt::join(kept, " "));
    selection.problem_notes.push_back(std::move(notes));
  }
}

}  // namespace lt_audit
