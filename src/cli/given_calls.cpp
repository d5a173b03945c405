#include "cli/given_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "cli/terminal.h"
#include "driver/interrupts.h"
#include "lt_audit/error.h"
#include "report/text_layout.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

GivenCall read_call(const std::string& what, std::istream& standard_input) {
  GivenCall call{what, find_pasted_call(what, standard_input), std::nullopt};
  if (call.pasted) return call;
  if (what == "-")
    throw AuditError(
        ErrorKind::usage,
        "no call stands on standard input: give an error line or a log line, as lt-audit import reads them");
  if (names_a_report(what)) {
    call.reported = read_reported_case(what);
  } else {
    static_cast<void>(problem_from_text(what));
  }
  return call;
}

}  // namespace

std::vector<GivenCall> read_calls(const CallArguments& arguments, std::istream& standard_input) {
  if (std::count(arguments.what.begin(), arguments.what.end(), "-") > 1)
    throw AuditError(ErrorKind::usage, "standard input is given twice: it can be read once, so give - once");
  std::vector<GivenCall> calls;
  for (const auto& what : arguments.what) calls.push_back(read_call(what, standard_input));
  for (const auto& problem : arguments.problems) {
    static_cast<void>(problem_from_text(problem));
    calls.push_back({problem, std::nullopt, std::nullopt});
  }
  return calls;
}

Turns in_turn(const std::vector<GivenCall>& calls, std::ostream& text, std::ostream& err,
              const std::function<ExitCode(const GivenCall&)>& run) {
  if (calls.size() == 1) return {run(calls.front()), {}};
  // Each audit listens for itself; between two of them nobody would, and the next one would start.
  const Interrupts interrupts;
  Turns turns;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string number = fmt::format("{}call {} of {}: ", i == 0 ? "" : "\n", i + 1, calls.size());
    const auto columns = static_cast<std::size_t>(columns_of(text));
    text << number << fitted(printable(calls[i].text), columns - std::min(columns - 10, number.size())) << '\n';
    text.flush();
    try {
      turns.code = std::max(turns.code, run(calls[i]));
    } catch (const AuditError& error) {
      turns.code = std::max(turns.code, error.kind() == ErrorKind::usage ? ExitCode::usage : ExitCode::cannot_run);
      turns.failed.push_back({calls[i].text, error.what()});
      err << fmt::format("lt-audit: call {}: {}\n", i + 1, error.what());
    }
    if (interrupts.received().empty()) continue;
    err << fmt::format("lt-audit: {}: {} of {} calls were not run\n", interrupts.received(), calls.size() - i - 1,
                       calls.size());
    turns.code = std::max(turns.code, ExitCode::cannot_run);
    break;
  }
  return turns;
}

}  // namespace lt_audit
