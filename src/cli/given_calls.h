// The calls that replay and doctor are given: X... and --problem TEXT..., read before the first of them runs.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/pasted_call.h"
#include "cli/report_place.h"

namespace lt_audit {

/// One call as the user gave it: a pasted line, a case of a report, or else a problem text.
struct GivenCall {
  std::string text;
  std::optional<PastedCall> pasted;
  std::optional<ReportedCase> reported;
};

/// Throws AuditError (usage) for one that cannot be read, and when standard input is asked for twice.
std::vector<GivenCall> read_calls(const CallArguments& arguments, std::istream& standard_input);

/// A call that could not be run, and why.
struct FailedCall {
  std::string text;
  std::string reason;
};

struct Turns {
  /// The worst exit code.
  ExitCode code = ExitCode::ok;
  std::vector<FailedCall> failed;
};

/// Runs each call. Of several, each has a heading on `text`, one that cannot be run says so on `err` and keeps none of
/// the others from running, and SIGINT or SIGTERM ends them all. A single one throws what `run` throws.
Turns in_turn(const std::vector<GivenCall>& calls, std::ostream& text, std::ostream& err,
              const std::function<ExitCode(const GivenCall&)>& run);

}  // namespace lt_audit
