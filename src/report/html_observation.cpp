// Parts of an observation by position in its text: parsing tens of thousands of them into trees would take most of the
// time that a page needs. Whoever reads a part must still expect that it is no JSON.
#include "report/html_observation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace lt_audit {
namespace {

constexpr std::size_t kMostBytesOfMember = 8 << 10;

using Members = std::vector<std::pair<std::string_view, std::string_view>>;

/// One past the value that begins at `at`: past the comma or bracket that ends it, when it is at the outermost level.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth-- == 0) return at;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return at;
}

/// Elements between the brackets of an array or object: one text each.
std::vector<std::string_view> elements_of(std::string_view text) {
  std::vector<std::string_view> elements;
  if (text.size() < 3) return elements;
  for (std::size_t at = 1; at < text.size() - 1;) {
    const std::size_t end = std::min(end_of_value(text, at), text.size() - 1);
    elements.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return elements;
}

/// The members of a compact object by name (with its quotes); those of unusual form are left out.
Members members_of(std::string_view text) {
  Members members;
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return members;
  for (const std::string_view element : elements_of(text)) {
    const std::size_t colon = element.find("\":");
    if (element.empty() || element.front() != '"' || colon == std::string_view::npos) continue;
    members.emplace_back(element.substr(0, colon + 1), element.substr(colon + 2));
  }
  return members;
}

bool succeeded(std::string_view stage) {
  return stage.find("\"status\":\"SUCCESS\"") != std::string_view::npos ||
         stage.find("\"status\":\"cudaSuccess\"") != std::string_view::npos;
}

/// The stage that decided.
std::string_view deciding_stage(std::string_view stages) {
  std::string_view last;
  for (const std::string_view stage : elements_of(stages)) {
    last = stage;
    if (!succeeded(stage)) break;
  }
  return last;
}

}  // namespace

std::string shortened_observation(std::string_view observation) {
  if (observation.size() < 2 || observation.front() != '{') return {};
  std::string result = "{\"shortened\":true";
  for (const auto& [name, value] : members_of(observation)) {
    if (value.size() > kMostBytesOfMember) continue;
    if (name == "\"stages\"") {
      result.append(",\"stages\":[").append(deciding_stage(value)).append("]");
    } else if (name == "\"log\"" || name == "\"end\"" || name == "\"end_detail\"" || name == "\"not_run\"" ||
               name == "\"audit_error\"" || name == "\"facts\"") {
      result.append(",").append(name).append(":").append(value);
    }
  }
  return result + "}";
}

std::map<std::string, std::string> facts_of(std::string_view observation) {
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : members_of(observation)) {
    if (name != "\"facts\"") continue;
    const auto json = nlohmann::json::parse(value, nullptr, false);
    if (!json.is_object()) continue;
    for (const auto& [key, text] : json.items()) {
      if (text.is_string()) facts.emplace(key, text.get<std::string>());
    }
  }
  return facts;
}

}  // namespace lt_audit
