// The products of an application, one line each, most called first: what the audit says of it in one word.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "report/text_layout.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kShown = 20;
constexpr std::size_t kVerdictWidth = 11;

std::string parameter(const CaseResult& result, const char* name) {
  const auto found = result.parameters.find(name);
  return found == result.parameters.end() ? std::string() : found->second;
}

/// One product with all that the checks said of it.
struct Product {
  const CaseResult* call = nullptr;
  std::vector<const CaseResult*> cases;
};

bool is_wrong(Outcome outcome) {
  switch (outcome) {
    case Outcome::wrong_result:
    case Outcome::unwritten:
    case Outcome::out_of_bounds:
    case Outcome::input_changed:
    case Outcome::not_captured:
    case Outcome::stale:
    case Outcome::nondeterministic:
    case Outcome::context_lost:
    case Outcome::crashed:
    case Outcome::timed_out:
      return true;
    default:
      return false;
  }
}

/// ok, refused, wrong, risky (a trap, or another way to make the call fails), slower (than its size explains, or than
/// the same product elsewhere), partly (the log says more than was audited), not audited.
std::string_view verdict_of(const Product& product) {
  const auto any = [&product](const auto& is) {
    return std::any_of(product.cases.begin(), product.cases.end(), [&](const CaseResult* one) { return is(*one); });
  };
  if (any([](const CaseResult& one) { return one.status == Status::fail && is_wrong(one.outcome); })) return "wrong";
  if (product.call->status == Status::skip || product.call->status == Status::error) return "not audited";
  if (product.call->outcome == Outcome::refused || product.call->outcome == Outcome::late_refusal) return "refused";
  if (product.call->outcome == Outcome::slower) return "slower";
  const auto noted = [](const CaseResult& one) { return one.status != Status::pass && one.status != Status::skip; };
  if (any([&](const CaseResult& one) { return noted(one) && one.outcome != Outcome::slower; })) return "risky";
  if (any(noted)) return "slower";
  // What the log says and the problem cannot hold was not audited: an ok would flatter.
  return parameter(*product.call, "not_modelled").empty() ? "ok" : "partly";
}

/// In the order of the case of the call itself, which is that of the workload.
std::vector<Product> products_of(const Report& report) {
  std::vector<Product> products;
  std::map<std::string, std::size_t> places;
  for (const bool calls : {true, false}) {
    for (const CheckResult& check : report.checks) {
      for (const CaseResult& result : check.cases) {
        const auto number = parameter(result, "problem");
        if (number.empty() || parameter(result, "calls").empty() || (result.id == number) != calls) continue;
        if (calls) places.emplace(number, products.size()), products.push_back({&result, {}});
        const auto place = places.find(number);
        if (place != places.end()) products[place->second].cases.push_back(&result);
      }
    }
  }
  return products;
}

}  // namespace

void write_workload_table(const Report& report, const TextOptions& options, std::ostream& out) {
  const auto products = products_of(report);
  if (products.empty()) return;
  std::size_t calls_width = 5;
  for (const auto& product : products) calls_width = std::max(calls_width, parameter(*product.call, "calls").size());
  const auto columns = static_cast<std::size_t>(std::max(options.columns, 40));
  const std::size_t indent = 2 + calls_width + 2 + kVerdictWidth + 2;
  out << "  " << right_aligned("calls", calls_width) << "  " << padded("verdict", kVerdictWidth) << "  problem\n";
  std::map<std::string_view, std::size_t> counts;
  const std::size_t shown = options.verbose ? products.size() : std::min(products.size(), kShown);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const auto verdict = verdict_of(products[i]);
    ++counts[verdict];
    if (i >= shown) continue;
    const CaseResult& call = *products[i].call;
    out << "  " << right_aligned(printable(parameter(call, "calls")), calls_width) << "  "
        << padded(verdict, kVerdictWidth) << "  "
        << fitted(printable(call.problem), columns > indent + 20 ? columns - indent : 20) << '\n';
    // Where it comes from matters where something is to be done.
    if (verdict == "ok") continue;
    auto where = parameter(call, "source");
    if (verdict == "partly") where += " without " + parameter(call, "not_modelled");
    out << std::string(indent, ' ') << fitted(printable(where), columns > indent ? columns - indent : 20) << '\n';
  }
  if (shown < products.size())
    out << fmt::format("  ... and {}: -v shows all\n", counted(products.size() - shown, "more problem"));
  std::string summary;
  for (const auto& [verdict, count] : counts)
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, verdict);
  out << fmt::format("  {} of the workload: {}\n\n", counted(products.size(), "problem"), summary);
}

}  // namespace lt_audit
