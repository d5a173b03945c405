// Counts over reports and the versions of libraries as text.
#include "lt_audit/report.h"

#include <fmt/format.h>

namespace lt_audit {

std::string LibraryFacts::version() const {
  if (!loaded()) return {};
  return fmt::format("{}.{}.{}", major, minor, patch);
}

void Summary::add(Status status) {
  ++total;
  switch (status) {
    case Status::pass:
      ++pass;
      break;
    case Status::warn:
      ++warn;
      break;
    case Status::fail:
      ++fail;
      break;
    case Status::skip:
      ++skip;
      break;
    case Status::error:
      ++error;
      break;
  }
}

Summary summary_of(const CheckResult& check) {
  Summary summary;
  for (const auto& result : check.cases) summary.add(result.status);
  return summary;
}

Summary summary_of(const Report& report) {
  Summary summary;
  for (const auto& check : report.checks) {
    for (const auto& result : check.cases) summary.add(result.status);
  }
  return summary;
}

}  // namespace lt_audit
