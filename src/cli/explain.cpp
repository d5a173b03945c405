// lt-audit explain.
#include <fmt/format.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/page_layout.h"
#include "cli/terminal.h"
#include "lt_audit/check.h"
#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {

ExitCode execute(const ExplainArguments& arguments, Context& context) {
  if (arguments.check.empty()) return execute(ListArguments{}, context);
  std::vector<std::string> ids;
  for (const auto& check : registered_checks()) {
    ids.emplace_back(check->info().id);
    if (check->info().id != arguments.check) continue;
    const std::string page =
        page_for_width(page_of(check->info().id), static_cast<std::size_t>(columns_of(context.out)));
    context.out << page << (page.empty() || page.back() != '\n' ? "\n" : "");
    return ExitCode::ok;
  }
  const std::string nearest = nearest_word(arguments.check, ids);
  throw AuditError(ErrorKind::usage, fmt::format("unknown check '{}'{}; lt-audit list shows all", arguments.check,
                                                 nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

}  // namespace lt_audit
