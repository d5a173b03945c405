// The rules of a SARIF log.
#include "report/sarif_rules.h"

#include <fmt/format.h>

#include "report/escape.h"
#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

/// Far more than any message of a check; what is longer was made to be.
constexpr std::size_t kMostText = 4000;

ordered_json text_object(std::string_view text) { return {{"text", sarif_text(text)}}; }

ordered_json check_rule(const CheckResult& check) {
  const std::string id = printable(check.id);
  ordered_json rule;
  rule["id"] = id;
  rule["shortDescription"] = text_object(fmt::format("Check {} of lt-audit", id));
  rule["fullDescription"] = text_object(fmt::format("Everything that the check {} finds", id));
  rule["help"] =
      text_object(fmt::format("lt-audit explain {} says what the check looks at, by which rules, and what "
                              "to change.",
                              id));
  rule["properties"] = {{"tags", {"cublaslt"}}};
  return rule;
}

/// The parts that explain a cause, as label and text.
std::vector<std::pair<std::string_view, std::string>> help_of(const Finding& finding) {
  std::vector<std::pair<std::string_view, std::string>> parts;
  const auto add = [&parts](std::string_view label, const std::string& text) {
    if (!text.empty()) parts.emplace_back(label, fitted(printable(text), kMostText));
  };
  add("measured", finding.measured);
  add("expected", finding.expected);
  add("rule", finding.rule);
  add("remedy", finding.remedy);
  add("again", finding.repro);
  return parts;
}

ordered_json help_object(const Finding& finding) {
  std::string text;
  std::string markdown;
  for (const auto& [label, part] : help_of(finding)) {
    text += fmt::format("{}: {}\n", label, part);
    markdown += fmt::format("- **{}**: {}\n", label, label == "again" ? markdown_code(part) : markdown_text(part));
  }
  if (text.empty()) text = markdown = "No more is known.";
  return {{"text", text}, {"markdown", markdown}};
}

ordered_json cause_rule(const std::string& id, const CaseView& view) {
  const bool warn = view.result->status == Status::warn;
  ordered_json rule;
  rule["id"] = id;
  if (view.finding != nullptr) {
    const Finding& finding = *view.finding;
    rule["shortDescription"] = text_object(finding.title.empty() ? id : finding.title);
    rule["fullDescription"] = text_object(finding.expected.empty() ? finding.title : "Expected: " + finding.expected);
    rule["help"] = help_object(finding);
  } else {
    rule["shortDescription"] = text_object(id);
  }
  rule["defaultConfiguration"] = {{"level", warn ? "warning" : "error"}};
  rule["properties"] = {
      {"tags", {"cublaslt"}}, {"precision", "very-high"}, {"problem.severity", warn ? "warning" : "error"}};
  return rule;
}

}  // namespace

std::string sarif_text(std::string_view text) {
  std::string result = fitted(printable(text), kMostText);
  // "[text](place)" is a link in a message. Nothing that lt-audit says needs one.
  for (std::size_t at = result.find("]("); at != std::string::npos; at = result.find("](", at))
    result.insert(at + 1, " ");
  return result;
}

std::string sarif_rule_id(const CaseView& view) {
  const std::string check = printable(view.check->id);
  return view.result->reason.empty() ? check : check + "/" + printable(view.result->reason);
}

SarifRules::SarifRules(const Report& report) {
  for (const CheckResult& check : report.checks) {
    if (indexes_.emplace(printable(check.id), descriptors_.size()).second) descriptors_.push_back(check_rule(check));
  }
}

std::size_t SarifRules::index_of(const CaseView& view) {
  const std::string id = sarif_rule_id(view);
  const auto [place, added] = indexes_.emplace(id, descriptors_.size());
  if (added) descriptors_.push_back(cause_rule(id, view));
  return place->second;
}

}  // namespace lt_audit
