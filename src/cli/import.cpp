// lt-audit import.
#include "workload/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <ostream>

#include "cli/commands.h"
#include "cli/report_file.h"
#include "report/formats.h"
#include "report/utf8.h"
#include "workload/problem_text.h"
#include "workload/workload_json.h"

namespace lt_audit {
namespace {

constexpr std::size_t kShownProblems = 12;
constexpr std::size_t kShownDamaged = 5;

void write_summary(const ImportResult& result, std::ostream& out) {
  for (const auto& file : result.files) {
    std::vector<std::string> formats;
    for (const auto& [format, lines] : file.claimed) formats.push_back(fmt::format("{} {}", lines, format));
    out << printable(fmt::format("{}: {} lines ({}), {} calls{}", file.name, file.lines, fmt::join(formats, ", "),
                                 file.calls, file.damaged == 0 ? "" : fmt::format(", {} damaged", file.damaged)))
        << '\n';
  }
  const auto& workload = result.workload;
  for (std::size_t i = 0; i < std::min(workload.damaged.size(), kShownDamaged); ++i) {
    const auto& line = workload.damaged[i];
    out << printable(fmt::format("damaged  {}:{}: {}", line.place.file, line.place.line, line.reason)) << '\n';
  }
  if (workload.damaged_lines > kShownDamaged) {
    out << fmt::format("... and {} more damaged lines\n", workload.damaged_lines - kShownDamaged);
  }
  out << fmt::format("\n{:>8}  {}\n", "calls", "problem");
  for (std::size_t i = 0; i < std::min(workload.problems.size(), kShownProblems); ++i) {
    const auto& problem = workload.problems[i];
    const auto calls = problem.calls > 0 ? fmt::to_string(problem.calls) : std::string("query");
    out << fmt::format("{:>8}  {}\n", calls, printable(to_text(problem.problem)));
  }
  if (workload.problems.size() > kShownProblems) {
    out << fmt::format("          ... and {} more\n", workload.problems.size() - kShownProblems);
  }
}

std::uint64_t calls_of(const Workload& workload) {
  std::uint64_t calls = 0;
  for (const auto& problem : workload.problems) calls += problem.calls;
  return calls;
}

}  // namespace

ExitCode execute(const ImportArguments& arguments, Context& context) {
  const bool to_stdout = arguments.output == "-";
  const ImportResult result = import_files(arguments.files, std::cin);
  std::ostream& text = to_stdout ? context.err : context.out;
  write_summary(result, text);
  const auto write = [&result](std::ostream& out) { write_workload(result.workload, LT_AUDIT_VERSION, out); };
  if (to_stdout) {
    write(context.out);
  } else {
    write_file_atomically(arguments.output, write);
  }
  text << fmt::format(
      "\n{} calls, {} distinct problems{} · workload {}\n", calls_of(result.workload), result.workload.problems.size(),
      result.workload.damaged_lines == 0 ? "" : fmt::format(", {} damaged lines", result.workload.damaged_lines),
      to_stdout ? "on standard output" : printable(arguments.output));
  return ExitCode::ok;
}

}  // namespace lt_audit
