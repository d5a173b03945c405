// A report without what names people, machines and their directories, for a public bug report.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "report/formats.h"

namespace lt_audit {
namespace {

constexpr std::string_view kHost = "[host]";
constexpr std::string_view kUser = "[user]";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// A path begins only where a word or another path cannot go on: "f16/bf16" and "a / b" are none.
bool may_precede_path(char c) { return !is_word(c) && c != '/' && c != '.' && c != '~' && c != ')'; }

bool ends_path(char c) { return std::string_view(" \t\r\n\"'`:;,()[]{}<>|=&").find(c) != std::string_view::npos; }

/// Every occurrence of `word` that is not part of a longer word.
void replace_word(std::string& text, const std::string& word, std::string_view replacement) {
  if (word.empty()) return;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (alone) text.replace(at, word.size(), replacement);
    at += alone ? replacement.size() : 1;
  }
}

/// Length of the path at `at`; inside quotes a path may hold blanks.
std::size_t path_length(std::string_view text, std::size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  if (before == '\'' || before == '"') {
    const std::size_t quote = text.find(before, at);
    if (quote != std::string_view::npos) return quote - at;
  }
  std::size_t end = at;
  while (end < text.size() && !ends_path(text[end])) ++end;
  return end - at;
}

std::string_view file_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

/// "https://..." is no path, "file:///..." is one.
bool is_web_address(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto ends_with = [before](std::string_view scheme) {
    return before.size() >= scheme.size() && before.substr(before.size() - scheme.size()) == scheme;
  };
  return text.substr(at, 2) == "//" && (ends_with("http:") || ends_with("https:"));
}

class Redactor {
 public:
  explicit Redactor(const Environment& environment) : host_(environment.host), user_(environment.user) {
    // A machine "gpu01.example.org" is also called "gpu01".
    short_host_ = host_.substr(0, host_.find('.'));
  }

  void text(std::string& value) const {
    std::string result;
    for (std::size_t at = 0; at < value.size();) {
      const bool starts = value[at] == '/' || value.compare(at, 2, "~/") == 0;
      if (!starts || (at > 0 && !may_precede_path(value[at - 1]))) {
        result += value[at++];
        continue;
      }
      const std::size_t length = std::max<std::size_t>(path_length(value, at), 1);
      const std::string_view path = std::string_view(value).substr(at, length);
      result += is_web_address(value, at) || path.size() == 1 ? path : file_name(path);
      at += length;
    }
    names(result);
    value = std::move(result);
  }

  /// One argument or one library path: blanks belong to it.
  void path(std::string& value) const {
    const std::size_t equals = value.rfind("--", 0) == 0 ? value.find('=') : std::string::npos;
    const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
    const std::string_view rest = std::string_view(value).substr(begin);
    if (!rest.empty() && rest.front() == '/') value = value.substr(0, begin) + std::string(file_name(rest));
    text(value);
  }

  /// LD_LIBRARY_PATH and its kin: a list of paths.
  void path_list(std::string& value) const {
    std::string result;
    for (std::size_t at = 0; at <= value.size();) {
      const std::size_t colon = std::min(value.find(':', at), value.size());
      std::string item = value.substr(at, colon - at);
      path(item);
      result += item;
      if (colon < value.size()) result += ':';
      at = colon + 1;
    }
    value = std::move(result);
  }

  /// Every string value of a JSON text. Most observations hold nothing to redact and are not parsed.
  void json(std::string& value) const {
    const bool suspect = value.find('/') != std::string::npos || contains(value, host_) ||
                         contains(value, short_host_) || contains(value, user_);
    if (!suspect) return;
    auto tree = nlohmann::ordered_json::parse(value, nullptr, false);
    if (tree.is_discarded()) {
      // Not readable, so nothing can be promised about it.
      value = "{}";
      return;
    }
    if (tree.is_structured()) visit(tree);
    value = tree.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

 private:
  static bool contains(const std::string& text, const std::string& word) {
    return !word.empty() && text.find(word) != std::string::npos;
  }

  void names(std::string& value) const {
    replace_word(value, host_, kHost);
    replace_word(value, short_host_, kHost);
    replace_word(value, user_, kUser);
  }

  void visit(nlohmann::ordered_json& tree) const {
    for (auto& element : tree) {
      if (element.is_string()) {
        text(element.get_ref<std::string&>());
      } else if (element.is_structured()) {
        // A number would iterate over itself.
        visit(element);
      }
    }
  }

  std::string host_;
  std::string short_host_;
  std::string user_;
};

void redact_case(const Redactor& redactor, CaseResult& result) {
  redactor.text(result.rule);
  redactor.text(result.sentence);
  for (auto& [key, value] : result.parameters) redactor.text(value);
  redactor.json(result.observation);
}

}  // namespace

Report redacted(Report report) {
  const Redactor redactor(report.environment);
  for (std::string& argument : report.arguments) redactor.path(argument);
  redactor.text(report.incomplete_reason);
  redactor.path(report.target.cublaslt.path);
  redactor.path(report.target.cublas.path);
  for (auto& [name, value] : report.environment.variables) redactor.path_list(value);
  for (std::string& warning : report.environment.warnings) redactor.text(warning);
  for (CheckResult& check : report.checks) {
    redactor.text(check.skip_reason);
    for (CaseResult& result : check.cases) redact_case(redactor, result);
  }
  for (Finding& finding : report.findings) {
    for (std::string* text :
         {&finding.title, &finding.measured, &finding.expected, &finding.rule, &finding.remedy, &finding.repro}) {
      redactor.text(*text);
    }
  }
  redactor.text(report.environment.os);
  report.environment.host.clear();
  report.environment.user.clear();
  return report;
}

}  // namespace lt_audit
