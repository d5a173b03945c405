// Command line -> arguments, for the subcommands that read reports, and the options that choose further formats.
#include "cli/parse_options.h"

namespace lt_audit {
namespace {

/// A variable that is not set must not turn a format off unnoticed.
std::string empty_name(const std::string& path) { return path.empty() ? "the file name is empty" : ""; }

}  // namespace

void add_outputs(CLI::App& app, OutputArguments& outputs) {
  const auto add = [&app](const char* name, std::string& path, const char* help) {
    app.add_option(name, path, help)->check(CLI::Validator(empty_name, ""))->type_name("FILE");
  };
  add("--junit", outputs.junit, "Also as JUnit XML; - is standard output, the text then goes to stderr");
  add("--sarif", outputs.sarif, "Also as SARIF 2.1.0, likewise");
  add("--markdown", outputs.markdown, "Also as Markdown, as a pull request comment takes it, likewise");
  add("--html", outputs.html, "Also as one HTML page that needs no network, likewise");
  add_when(app, "--github", outputs.github, "Annotations and step summary of GitHub Actions");
  app.get_option("--github")
      ->description("Annotations and step summary of GitHub Actions (default auto: where GITHUB_ACTIONS is true)");
}

void declare_diff(CLI::App& app, DiffArguments& diff) {
  app.add_option("OLD", diff.before, "The JSON report of before")->type_name("")->required();
  app.add_option("NEW", diff.after, "The one that is held against it")->type_name("")->required();
  app.add_option("--json", diff.json, "Also as JSON (docs/diff.schema.json); - is standard output")->type_name("FILE");
  add_fail_on(app, diff.fail_on);
  app.get_option("--fail-on")
      ->description("The least status of a finding that OLD does not have that makes the exit code 1 (default none)");
  add_when(app, "--color", diff.color, "Coloured status words");
  add_outputs(app, diff.outputs);
  app.get_option("--markdown")->description("Also as Markdown, as a pull request comment takes it, likewise");
  for (const char* name : {"--junit", "--sarif", "--html"}) {
    CLI::Option* option = app.get_option(name);
    option->description("Of NEW, with OLD as its baseline. " + option->get_description());
  }
  CLI::Option* quiet = app.add_flag("-q,--quiet", diff.quiet, "Notes and findings alone");
  app.add_flag("-v,--verbose", diff.verbose, "Every entry")->excludes(quiet);
}

void add_gate_files(CLI::App& app, GateFileArguments& files) {
  app.add_option("--baseline", files.baseline,
                 "An earlier report: only findings that it does not have count, and what it ran must have run")
      ->type_name("FILE");
  app.add_option("--waivers", files.waivers, "Findings that are accepted for a time, TOML or JSON (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void declare_show(CLI::App& app, ShowArguments& show) {
  app.add_option("REPORT", show.report, "A JSON report; REPORT:CHECK/CASE is accepted too")->type_name("")->required();
  app.add_option("CHECK", show.check, "One check with all its cases, or CHECK/CASE")->type_name("");
  app.add_option("CASE", show.the_case, "One case with its whole observation")->type_name("");
  add_when(app, "--color", show.color, "Coloured status words");
  app.add_option("--json", show.json, "The report written again; - is standard output, the text then goes to stderr")
      ->check(CLI::Validator(empty_name, ""))
      ->type_name("FILE");
  add_outputs(app, show.outputs);
  app.add_flag("--redact", show.redact, "Leave host name, user and directories out of text and files");
  add_verbosity(app, show.quiet, show.verbose);
}

void declare_gate(CLI::App& app, GateArguments& gate) {
  app.add_option("REPORT", gate.report, "A JSON report of lt-audit run")->type_name("")->required();
  add_gate_files(app, gate.files);
  add_fail_on(app, gate.fail_on);
  const auto days = [](const std::string& word) -> std::string {
    constexpr int kMost = 36500;
    const std::string problem = not_a_number<int>(word, "a whole number of days from 0 to 36500");
    return problem.empty() && std::stoi(word) > kMost ? fmt::format("'{}' is more than {} days", word, kMost) : problem;
  };
  app.add_option_function<int>(
         "--max-age", [&gate](int value) { gate.max_age_days = value; },
         "A report that is older closes the gate; so does one of the future or without a time")
      ->check(CLI::Validator(days, ""))
      ->type_name("DAYS");
  app.add_flag("--allow-simulator", gate.allow_simulator, "A report of the simulator need not close the gate");
  app.add_option("--require", gate.require, "Checks that must be there and have run, names or globs")
      ->type_name("CHECK");
  app.add_option("--json", gate.json, "The decision as JSON; - is standard output, the text then goes to stderr")
      ->type_name("FILE");
  add_outputs(app, gate.outputs);
  add_when(app, "--color", gate.color, "Coloured words");
  CLI::Option* quiet = app.add_flag("-q,--quiet", gate.quiet, "The decision and what closed the gate alone");
  app.add_flag("-v,--verbose", gate.verbose, "Every case and every waiver")->excludes(quiet);
}

void declare_merge(CLI::App& app, MergeArguments& merge) {
  app.add_option("REPORT", merge.reports, "JSON reports, one for each machine and GPU")->type_name("")->required();
  app.add_option("--json", merge.json, "Also as JSON; - is standard output, the text then goes to stderr")
      ->type_name("FILE");
  app.add_option("--markdown", merge.markdown, "Also as Markdown, likewise")->type_name("FILE");
  const Choices<FailOn> choices = {{"fail", FailOn::fail}, {"warn", FailOn::warn}, {"none", FailOn::none}};
  add_choice(
      app, "--fail-on", merge.fail_on, choices,
      "The least status of a finding that makes the exit code 1 (default fail); nodes that differ make it 1 too, "
      "except with none");
  add_when(app, "--color", merge.color, "Coloured status words");
  CLI::Option* quiet = app.add_flag("-q,--quiet", merge.quiet, "Differences and findings alone");
  app.add_flag("-v,--verbose", merge.verbose, "Every node, case and finding")->excludes(quiet);
}

}  // namespace lt_audit
