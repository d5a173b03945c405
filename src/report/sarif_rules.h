// The rules of a SARIF log: one for each check, and one for each cause of a check.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "report/report_view.h"

namespace lt_audit {

/// "alignment/must-work-late-refusal": a rule below that of its check (SARIF 2.1.0, 3.5.4, hierarchical strings); of a
/// case without a reason the check's own.
std::string sarif_rule_id(const CaseView& view);

/// Text of the report in a SARIF message: printable, of bounded length, and no link (3.11.6).
std::string sarif_text(std::string_view text);

class SarifRules {
 public:
  explicit SarifRules(const Report& report);

  /// The rule of a case, added when it is not there yet; index within the rules.
  std::size_t index_of(const CaseView& view);
  /// The reportingDescriptor objects, in order.
  const nlohmann::ordered_json& descriptors() const { return descriptors_; }

 private:
  nlohmann::ordered_json descriptors_ = nlohmann::ordered_json::array();
  std::unordered_map<std::string, std::size_t> indexes_;
};

}  // namespace lt_audit
