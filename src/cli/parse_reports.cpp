// Command line -> arguments, for the subcommands that read reports, and the options that choose further formats.
#include "cli/parse_options.h"

namespace lt_audit {

void add_outputs(CLI::App& app, OutputArguments& outputs) {
  const auto add = [&app](const char* name, std::string& path, const char* help) {
    app.add_option(name, path, help)->type_name("FILE");
  };
  add("--junit", outputs.junit, "Also as JUnit XML; - is standard output, the text then goes to stderr");
  add("--sarif", outputs.sarif, "Also as SARIF 2.1.0, likewise");
  add("--markdown", outputs.markdown, "Also as Markdown, as a pull request comment takes it, likewise");
  add("--html", outputs.html, "Also as one HTML page that needs no network, likewise");
  add_when(app, "--github", outputs.github, "Annotations and step summary of GitHub Actions");
  app.get_option("--github")
      ->description("Annotations and step summary of GitHub Actions (default auto: where GITHUB_ACTIONS is true)");
}

void declare_show(CLI::App& app, ShowArguments& show) {
  app.add_option("REPORT", show.report, "A JSON report; REPORT:CHECK/CASE is accepted too")->type_name("")->required();
  app.add_option("CHECK", show.check, "One check with all its cases, or CHECK/CASE")->type_name("");
  app.add_option("CASE", show.the_case, "One case with its whole observation")->type_name("");
  add_when(app, "--color", show.color, "Coloured status words");
  add_outputs(app, show.outputs);
  add_verbosity(app, show.quiet, show.verbose);
}

}  // namespace lt_audit
