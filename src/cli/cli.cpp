// run_cli: parse, run the command, map errors to exit codes.
#include "cli/cli.h"

#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <variant>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "lt_audit/error.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

ExitCode run_command(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  const Arguments arguments = parse_arguments(words);
  Context context{words, out, err};
  return std::visit(
      [&](const auto& parsed) {
        if constexpr (std::is_same_v<std::decay_t<decltype(parsed)>, Information>) {
          out << parsed.text;
          return ExitCode::ok;
        } else {
          return execute(parsed, context);
        }
      },
      arguments);
}

/// Messages quote files of others: their control characters must not steer the terminal. Line ends are our own.
std::string printable_lines(std::string_view text) {
  std::string result;
  while (true) {
    const auto end = text.find('\n');
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

ExitCode run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  // A reader that stops reading must not end an audit whose report is still to be written.
  std::signal(SIGPIPE, SIG_IGN);
  ExitCode code = ExitCode::cannot_run;
  try {
    code = run_command(arguments, out, err);
  } catch (const AuditError& error) {
    code = error.kind() == ErrorKind::usage ? ExitCode::usage : ExitCode::cannot_run;
    err << fmt::format("lt-audit: {}\n", printable_lines(error.what()));
  } catch (const std::exception& error) {
    err << fmt::format("lt-audit: internal error: {}; please report it with the command line\n", error.what());
  }
  out.flush();
  if (!out && code != ExitCode::cannot_run && !(out.rdbuf() == std::cout.rdbuf() && stdout_reader_is_gone())) {
    err << "lt-audit: standard output could not be written (disk full?); what it should hold is lost\n";
    code = ExitCode::cannot_run;
  }
  err.flush();
  return code;
}

}  // namespace lt_audit
