// lt-audit show.
#include <ostream>

#include "cli/commands.h"
#include "cli/report_place.h"
#include "cli/terminal.h"
#include "report/formats.h"

namespace lt_audit {

ExitCode execute(const ShowArguments& arguments, Context& context) {
  ReportPlace place = split_place(arguments.report);
  if (place.rest.empty()) place.rest = arguments.check;
  if (!arguments.the_case.empty()) place.rest += "/" + arguments.the_case;
  const Report report = read_json(place.report);

  TextOptions options;
  options.color = use_color(arguments.color, context.out);
  options.columns = columns_of(context.out);
  options.quiet = arguments.quiet;
  options.verbose = arguments.verbose;
  options.report_path = place.report;
  if (place.rest.empty()) {
    write_text(report, options, context.out);
    return ExitCode::ok;
  }
  const CasePlace found = find_place(report, place.rest);
  if (found.the_case.empty()) {
    write_check_text(report, found.check, options, context.out);
  } else {
    write_case_text(report, found.check, found.the_case, options, context.out);
  }
  return ExitCode::ok;
}

}  // namespace lt_audit
