// Building blocks of the command line that several subcommands share. Included where CLI11 is: in src/cli/parse*.cpp
// only.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "workload/problem_text.h"

namespace lt_audit {

/// "; did you mean 'X'?" or nothing.
inline std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

template <class Value>
std::vector<std::string> names_of(const Choices<Value>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return names;
}

/// An option whose value is one of a few words.
template <class Value, class Target>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Target& target, const Choices<Value>& choices,
                        const std::string& help) {
  const std::vector<std::string> names = names_of(choices);
  const auto known = [names](const std::string& word) -> std::string {
    for (const std::string& name : names) {
      if (name == word) return "";
    }
    const std::string nearest = suggestion(word, names);
    return fmt::format("unknown value '{}'{}{} allowed: {}", word, nearest, nearest.empty() ? ";" : "",
                       fmt::join(names, ", "));
  };
  const auto store = [&target, choices](const std::string& word) {
    for (const auto& choice : choices) {
      if (choice.first == word) target = choice.second;
    }
  };
  return app.add_option_function<std::string>(flag, store, help)
      ->check(CLI::Validator(known, ""))
      ->type_name(fmt::format("{}", fmt::join(names, "|")));
}

/// Digits alone: a number that CLI11 would round or wrap is refused.
template <class Number>
std::string not_a_number(const std::string& word, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && value >= Number{}) return "";
  return fmt::format("'{}' is not {}", word, what);
}

inline void add_when(CLI::App& app, const std::string& flag, When& when, const std::string& help) {
  const Choices<When> choices = {{"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
  add_choice(app, flag, when, choices, help + " (default auto: on a terminal)");
}

inline void add_verbosity(CLI::App& app, bool& quiet, bool& verbose) {
  CLI::Option* option = app.add_flag("-q,--quiet", quiet, "Findings alone");
  app.add_flag("-v,--verbose", verbose, "Every case")->excludes(option);
}

/// --fail-on: the least status that makes the exit code 1.
inline void add_fail_on(CLI::App& app, FailOn& fail_on) {
  const Choices<FailOn> choices = {{"fail", FailOn::fail}, {"warn", FailOn::warn}, {"none", FailOn::none}};
  add_choice(app, "--fail-on", fail_on, choices, "The least status that makes the exit code 1 (default fail)");
}

/// --junit, --sarif, --markdown, --html FILE and --github.
void add_outputs(CLI::App& app, OutputArguments& outputs);

/// --baseline and --waivers: what a report is held against.
void add_gate_files(CLI::App& app, GateFileArguments& files);

/// The subcommands that read reports and need no GPU (parse_reports.cpp).
void declare_show(CLI::App& app, ShowArguments& show);
void declare_diff(CLI::App& app, DiffArguments& diff);
void declare_gate(CLI::App& app, GateArguments& gate);
void declare_merge(CLI::App& app, MergeArguments& merge);

}  // namespace lt_audit
