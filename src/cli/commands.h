// The subcommands as functions: parsed arguments in, streams out, exit code back. They throw AuditError; run_cli maps
// it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/cli.h"

namespace lt_audit {

/// What every command gets.
struct Context {
  /// As typed, without the program name; goes into the report.
  const std::vector<std::string>& arguments;
  std::ostream& out;
  std::ostream& err;
};

ExitCode execute(const RunArguments& arguments, Context& context);
ExitCode execute(const ListArguments& arguments, Context& context);
ExitCode execute(const ExplainArguments& arguments, Context& context);
ExitCode execute(const ShowArguments& arguments, Context& context);
ExitCode execute(const DiffArguments& arguments, Context& context);
ExitCode execute(const GateArguments& arguments, Context& context);
ExitCode execute(const EnvArguments& arguments, Context& context);
ExitCode execute(const SelfTestArguments& arguments, Context& context);
ExitCode execute(const ReplayArguments& arguments, Context& context);
ExitCode execute(const DoctorArguments& arguments, Context& context);
ExitCode execute(const ImportArguments& arguments, Context& context);
ExitCode execute(const KnownIssuesArguments& arguments, Context& context);
ExitCode execute(const MergeArguments& arguments, Context& context);

}  // namespace lt_audit
