// The command line as a function: arguments in, streams out, exit code back.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace lt_audit {

/// Exit codes of every subcommand (design, section 6); the output format never changes them.
enum class ExitCode {
  ok = 0,         ///< everything asked for ran and nothing reached the threshold
  findings = 1,   ///< findings at or over --fail-on
  usage = 2,      ///< wrong usage or bad input file
  cannot_run = 3  ///< no GPU, no library, nothing ran, error cases, interrupted
};

/// Runs one command. `arguments` without the program name. Never throws and never calls exit.
ExitCode run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace lt_audit
