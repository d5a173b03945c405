// Findings against a baseline, as multisets of identities.
#include "report/baseline.h"

#include <cstdint>
#include <string>
#include <unordered_map>

#include "report/identity.h"

namespace lt_audit {

void mark_new_findings(const Report& baseline, const Report& report, Annotations& annotations) {
  std::unordered_map<std::string, std::uint64_t> known;
  for (const CheckResult& check : baseline.checks) {
    for (const CaseResult& one : check.cases) {
      if (one.status != Status::pass) ++known[finding_identity(check.id, one)];
    }
  }
  annotations.has_baseline = true;
  for (const CheckResult& check : report.checks) {
    for (const CaseResult& one : check.cases) {
      if (one.status == Status::pass) continue;
      const auto found = known.find(finding_identity(check.id, one));
      const bool is_known = found != known.end() && found->second > 0;
      if (is_known) --found->second;
      const auto note = annotations.notes.try_emplace(check.id + "/" + one.id, CaseNote{false, {}}).first;
      // Two cases of one id, which only a damaged report has, are new when one of them is.
      note->second.is_new = note->second.is_new || !is_known;
    }
  }
}

}  // namespace lt_audit
