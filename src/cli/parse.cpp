// Command line -> arguments. CLI11 is included in parse*.cpp only.
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "cli/parse_options.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0  everything asked for ran and nothing reached the threshold\n"
    "  1  findings at or over the threshold (run, gate: --fail-on), or a gate misses what its baseline ran\n"
    "  2  wrong usage or bad input file\n"
    "  3  could not audit: no GPU, no library, nothing ran, error cases, interrupted, report not written; gate: a\n"
    "     report or baseline that cannot be relied upon (incomplete, error cases, simulator, planted fault, too old)";

void add_target(CLI::App& app, WorkerOptions& worker) {
  const Choices<TargetChoice> choices = {
      {"gpu", TargetChoice::gpu}, {"simulator", TargetChoice::simulator}, {"auto", TargetChoice::automatic}};
  add_choice(
      app, "--target", worker.target, choices,
      "What is audited (default gpu); simulator: a model of a faultless library, no GPU needed; auto: the simulator "
      "if no GPU can be used, said in the first line");
}

void add_libraries(CLI::App& app, LibraryPaths& libraries) {
  app.add_option("--cublaslt", libraries.cublaslt, "The libcublasLt to audit (default: the one the loader finds)")
      ->type_name("PATH");
  app.add_option("--cublas", libraries.cublas, "The libcublas to compare with")->type_name("PATH");
}

void add_compare(CLI::App& app, LibraryPaths& compare) {
  CLI::Option* option =
      app.add_option("--compare", compare.cublaslt,
                     "Audit this libcublasLt too, case by case in turn with the first, and say what it changes; its "
                     "report goes to FILE with .compare before its extension");
  option->type_name("PATH");
  app.add_option("--compare-cublas", compare.cublas,
                 "The libcublas that goes with it (default: the one beside it, else the one the loader finds)")
      ->needs(option)
      ->type_name("PATH");
}

template <class Target>
void add_seed(CLI::App& app, Target& seed) {
  app.add_option_function<std::uint64_t>(
         "--seed", [&seed](std::uint64_t value) { seed = value; },
         "Every input of the audit is derived from it (default 1)")
      ->check(CLI::Validator(
          [](const std::string& word) {
            return not_a_number<std::uint64_t>(word, "a whole number from 0 to 2^64 - 1");
          },
          ""))
      ->type_name("N");
}

template <class Target>
void add_device(CLI::App& app, Target& device) {
  app.add_option_function<int>(
         "--device", [&device](int value) { device = value; }, "CUDA device number (default 0)")
      ->check(CLI::Validator([](const std::string& word) { return not_a_number<int>(word, "a device number"); }, ""))
      ->type_name("N");
}

void add_seconds(CLI::App& app, const std::string& name, double& seconds, const char* what) {
  const auto check = [](const std::string& word) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool number = error == std::errc() && end == word.data() + word.size();
    // Not written as `value <= 0`: that would let a NaN pass.
    if (number && value > 0 && value <= 86400) return "";
    return fmt::format("'{}' is not a number of seconds above 0 and up to 86400", word);
  };
  app.add_option(name, seconds, fmt::format("{} (default {})", what, seconds))
      ->check(CLI::Validator(check, ""))
      ->type_name("S");
}

void add_timeout(CLI::App& app, double& seconds) {
  add_seconds(app, "--timeout", seconds, "Seconds that one case may take");
}

template <class Target>
void add_fault(CLI::App& app, Target& fault, const std::string& help) {
  app.add_option_function<std::string>(
         "--inject", [&fault](const std::string& name) { fault = name; }, help)
      ->type_name("FAULT");
}

void add_checks(CLI::App& app, Selection& selection) {
  app.add_option("CHECK", selection.checks, "Names or globs of checks (default: all)")->type_name("");
}

void add_depth(CLI::App& app, Selection& selection) {
  const Choices<Depth> choices = {{"quick", Depth::quick}, {"default", Depth::normal}, {"full", Depth::full}};
  add_choice(app, "--depth", selection.depth, choices, "How many cases (default default)");
}

void declare_run(CLI::App& app, RunArguments& run) {
  add_checks(app, run.selection);
  app.add_option("--exclude", run.selection.exclude, "Leave out the checks that match (repeatable)")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  add_depth(app, run.selection);
  app.add_option("--problem", run.selection.problems,
                 "Audit this problem, such as m=128,n=64,k=96,a=f16 (repeatable); without CHECK only the problems run")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  app.add_option("--workload", run.workload,
                 "Audit the products of an application: a workload of lt-audit import, or its logs (repeatable)")
      ->allow_extra_args(false)
      ->excludes("--problem")
      ->type_name("FILE");
  const auto store_device = [&run](const std::string& word) {
    run.all_devices = word == "all";
    run.worker.device = run.all_devices ? 0 : std::stoi(word);
  };
  const auto check_device = [](const std::string& word) {
    return word == "all" ? std::string() : not_a_number<int>(word, "a device number or 'all'");
  };
  app.add_option_function<std::string>("--device", store_device,
                                       "CUDA device number (default 0), or all: one audit per device; the report of "
                                       "device N > 0 goes to FILE with .N "
                                       "before its extension, and the worst exit code counts")
      ->check(CLI::Validator(check_device, ""))
      ->type_name("N|all");
  add_target(app, run.worker);
  add_libraries(app, run.worker.libraries);
  add_compare(app, run.compare);
  app.add_option("--json", run.json,
                 "The report (default lt-audit.json); - is standard output, the text then goes to stderr")
      ->type_name("FILE");
  add_fail_on(app, run.fail_on);
  add_gate_files(app, run.gate);
  add_outputs(app, run.outputs);
  add_timeout(app, run.worker.timeout_s);
  add_seed(app, run.worker.seed);
  add_fault(app, run.worker.fault, "Plant a defect (lt-audit list --faults)");
  app.add_flag("--trace", run.worker.trace, "Every API call of the cases on stderr");
  app.add_flag("--dry-run", run.dry_run, "List what would run; with -v every case");
  app.add_flag("--profile", run.profile, "Where the time went, on stderr and in the report");
  app.add_flag("--redact", run.redact, "Leave host name, user and directories out of report and text");
  add_when(app, "--progress", run.progress, "Progress on stderr");
  add_when(app, "--color", run.color, "Coloured status words");
  add_verbosity(app, run.quiet, run.verbose);
}

void declare_list(CLI::App& app, ListArguments& list) {
  CLI::Option* checks =
      app.add_option("CHECK", list.selection.checks, "Names or globs of checks (default: all)")->type_name("");
  CLI::Option* cases =
      app.add_flag("--cases", list.cases, "Every case with its problem, for an sm_90 simulator or --target");
  list.worker.target = TargetChoice::simulator;
  add_target(app, list.worker);
  add_depth(app, list.selection);
  app.get_option("--target")
      ->needs(cases)
      ->description(
          "Whose facts decide about the cases (default simulator); auto: the simulator if no GPU can be used");
  app.get_option("--depth")->needs(cases);
  app.add_flag("--faults", list.faults, "The defects that --inject can plant")->excludes(cases)->excludes(checks);
  app.add_flag("--json", list.json, "As JSON");
}

void declare_env(CLI::App& app, EnvArguments& env) {
  add_target(app, env.worker);
  add_libraries(app, env.worker.libraries);
  app.add_flag("--json", env.json, "As JSON");
}

void declare_self_test(CLI::App& app, SelfTestArguments& self_test) {
  add_checks(app, self_test.selection);
  self_test.selection.depth = Depth::quick;
  self_test.worker.timeout_s = 2;
  self_test.worker.target = TargetChoice::simulator;
  const Choices<TargetChoice> targets = {{"gpu", TargetChoice::gpu}, {"simulator", TargetChoice::simulator}};
  add_choice(app, "--target", self_test.worker.target, targets,
             "Where the faults are planted (default simulator); on a gpu its own findings are no false alarms");
  add_device(app, self_test.worker.device);
  add_libraries(app, self_test.worker.libraries);
  add_timeout(app, self_test.worker.timeout_s);
  add_seed(app, self_test.worker.seed);
  app.add_option("--json", self_test.json, "The matrix as JSON; - is standard output, the text then goes to stderr")
      ->type_name("FILE");
  add_when(app, "--progress", self_test.progress, "Progress on stderr");
}

/// X... and --problem TEXT..., at least one of them.
void add_calls(CLI::App& app, CallArguments& calls, const std::string& what) {
  app.add_option("X", calls.what,
                 what +
                     "a problem text; an error or log line, or - or a file with one; REPORT:CHECK/CASE, or "
                     "REPORT:CASE if no other check has that case; several are gone through one after the other")
      ->type_name("");
  app.add_option("--problem", calls.problems, "A problem text, after the X (repeatable)")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  app.parse_complete_callback([&calls] {
    if (calls.what.empty() && calls.problems.empty()) throw CLI::RequiredError("X or --problem TEXT");
  });
}

void declare_replay(CLI::App& app, ReplayArguments& replay) {
  add_calls(app, replay.calls, "What to run again: ");
  const Choices<TargetChoice> targets = {
      {"gpu", TargetChoice::gpu}, {"simulator", TargetChoice::simulator}, {"auto", TargetChoice::automatic}};
  add_choice(app, "--target", replay.target, targets,
             "What runs it (default: as in the report, else gpu); auto: the simulator if no GPU can be used");
  add_device(app, replay.device);
  add_libraries(app, replay.libraries);
  add_fault(app, replay.fault, "Plant a defect (default: as in the report); none: plant nothing");
  add_seed(app, replay.seed);
  app.get_option("--seed")->description("Every input is derived from it (default: as in the report, else 1)");
  app.get_option("--device")->description("CUDA device number (default: as in the report, else 0)");
  add_timeout(app, replay.timeout_s);
  app.add_option("--json", replay.json,
                 "Also write a report; - is standard output, the text then goes to stderr; of several calls the second "
                 "one's goes to FILE with .1 before its extension, and so on")
      ->type_name("FILE");
  add_when(app, "--color", replay.color, "Coloured status words");
}

void declare_doctor(CLI::App& app, DoctorArguments& doctor) {
  add_calls(app, doctor.calls, "The call that fails or could be faster: ");
  add_seconds(app, "--budget", doctor.budget_s, "Seconds for each call after which no further change is tried");
  add_target(app, doctor.worker);
  add_device(app, doctor.worker.device);
  add_libraries(app, doctor.worker.libraries);
  // A changed call may hang; the budget is not to be spent on it.
  doctor.worker.timeout_s = 5;
  add_timeout(app, doctor.worker.timeout_s);
  add_seed(app, doctor.worker.seed);
  add_fault(app, doctor.worker.fault, "Plant a defect (lt-audit list --faults)");
  app.add_option("--json", doctor.json, "All diagnoses as JSON; - is standard output, the text then goes to stderr")
      ->type_name("FILE");
}

void declare_import(CLI::App& app, ImportArguments& import) {
  app.add_option("FILE", import.files,
                 "Logs of applications, plain or gzip: cuBLASLt log, cuBLAS log, TunableOp CSV, PyTorch error lines, "
                 "hipblaslt-bench lines, HLO text; the format is recognised, - is standard input")
      ->type_name("")
      ->required();
  app.add_option("-o,--output", import.output, "The workload (default workload.json); - is standard output")
      ->type_name("FILE");
}

void declare_known_issues(CLI::App& app, KnownIssuesArguments& known) {
  CLI::Option* id = app.add_option("ID", known.id, "One issue whole, such as KI-061 (default: those that match)");
  id->type_name("");
  const auto add = [&app, id](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->excludes(id);
  };
  add("--cublaslt-version", known.version,
      "Version of cuBLASLt, such as 13.1.0 (default: of the library that would be audited); not that of CUDA")
      ->type_name("V");
  add("--cc", known.compute_capability, "Compute capability, such as 9.0 (default: of the GPU that would be audited)")
      ->type_name("X.Y");
  CLI::Option* workload =
      add("--workload", known.workload,
          "Only issues that touch the products of an application: a workload of lt-audit import, or its logs "
          "(repeatable)")
          ->allow_extra_args(false)
          ->type_name("FILE");
  add("--problem", known.problems, "Only issues that touch this problem, such as m=128,n=64,k=96,a=f16 (repeatable)")
      ->allow_extra_args(false)
      ->excludes(workload)
      ->type_name("TEXT");
  add_target(app, known.worker);
  app.get_option("--target")
      ->description(
          "Whose version and GPU count where they are not given (default gpu); auto: the simulator's if no GPU "
          "can be used");
  add_device(app, known.worker.device);
  app.add_option("--cublaslt", known.worker.libraries.cublaslt,
                 "The libcublasLt that would be audited (default: the one the loader finds)")
      ->type_name("PATH");
  app.add_option("--json", known.json, "The issues as JSON; - is standard output, the text then goes to stderr")
      ->type_name("FILE");
}

/// CLI11 2.1 does not wrap: line feeds where the text would leave 100 columns.
void wrap_descriptions(CLI::App& app) {
  constexpr std::size_t kWidth = 66;
  for (CLI::Option* option : app.get_options()) {
    std::string text = option->get_description();
    std::size_t begin = 0;
    while (text.size() - begin > kWidth) {
      const std::size_t blank = text.rfind(' ', begin + kWidth);
      if (blank == std::string::npos || blank <= begin) break;
      text[blank] = '\n';
      begin = blank + 1;
    }
    option->description(text);
  }
}

/// The first argument that nothing took, with the nearest command or option.
std::string describe_extra(const CLI::App& root) {
  const std::vector<CLI::App*> chosen = root.get_subcommands();
  const CLI::App& app = chosen.empty() ? root : *chosen.front();
  const std::vector<std::string> extras = root.remaining(true);
  const std::string extra = extras.empty() ? "" : extras.front().substr(0, extras.front().find('='));
  std::vector<std::string> candidates;
  if (!extra.empty() && extra.front() == '-') {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) candidates.push_back("--" + name);
    }
    return fmt::format("unknown option '{}'{}", extra, suggestion(extra, candidates));
  }
  if (!chosen.empty()) return fmt::format("unexpected argument '{}'", extra);
  for (const CLI::App* command : root.get_subcommands({})) candidates.push_back(command->get_name());
  return fmt::format("unknown command '{}'{}", extra, suggestion(extra, candidates));
}

[[noreturn]] void usage(const CLI::App& root, const std::string& message) {
  const std::vector<CLI::App*> chosen = root.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name() + " ";
  throw AuditError(ErrorKind::usage, fmt::format("{}{}see lt-audit {}--help", message,
                                                 message.empty() || message.back() == '?' ? " " : "; ", command));
}

/// The root with one subcommand per entry; `chosen` is the entry that was parsed.
class Parser {
 public:
  Parser() {
    app_.set_version_flag("--version", fmt::format("lt-audit {}", tool_version()));
    app_.footer(kExitCodes);
    // At most one: `explain list` asks for a check named list, it is no second command.
    app_.require_subcommand(0, 1);
    app_.get_formatter()->column_width(34);
  }

  template <class Kind>
  void add(const std::string& name, const std::string& summary, void (*declare)(CLI::App&, Kind&)) {
    CLI::App* command = app_.add_subcommand(name, summary);
    command->footer(kExitCodes);
    // Shared: Kind must outlive the parse, and the callback hands it over.
    const auto values = std::make_shared<Kind>();
    declare(*command, *values);
    wrap_descriptions(*command);
    command->final_callback([this, values] { result_ = *values; });
  }

  Arguments parse(std::vector<std::string> arguments) {
    // CLI11 takes a vector from its end.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app_.parse(reversed);
    } catch (const CLI::CallForHelp&) {
      return Information{app_.help()};
    } catch (const CLI::CallForVersion& version) {
      return Information{std::string(version.what()) + "\n"};
    } catch (const CLI::ExtrasError&) {
      usage(app_, describe_extra(app_));
    } catch (const CLI::ParseError& error) {
      usage(app_, error.what());
    }
    if (app_.get_subcommands().empty()) {
      std::vector<std::string> names;
      for (const CLI::App* command : app_.get_subcommands({})) names.push_back(command->get_name());
      usage(app_, fmt::format("no command given: one of {}", fmt::join(names, ", ")));
    }
    return result_;
  }

 private:
  CLI::App app_{"Audits what cuBLASLt really does with matrix products on a GPU", "lt-audit"};
  Arguments result_;
};

}  // namespace

std::string_view tool_version() { return LT_AUDIT_VERSION; }

Arguments parse_arguments(const std::vector<std::string>& arguments) {
  Parser parser;
  parser.add<RunArguments>("run", "Audit: run the checks and write a report", declare_run);
  parser.add<ListArguments>("list", "The checks, their cases, the faults that can be planted", declare_list);
  parser.add<ExplainArguments>(
      "explain", "The page of a check: why, rule and source, cases, remedies",
      [](CLI::App& app, ExplainArguments& explain) {
        app.add_option("CHECK", explain.check, "The check (default: list them)")->type_name("");
      });
  parser.add<ShowArguments>("show", "Look at a report again: findings, one check, one case", declare_show);
  parser.add<DiffArguments>("diff", "What changed between two reports: another library, driver or GPU", declare_diff);
  parser.add<GateArguments>("gate", "Whether a build may go on: a report against a baseline and waivers; needs no GPU",
                            declare_gate);
  parser.add<EnvArguments>("env", "What would be audited: GPUs, driver, libraries, variables, conflicts", declare_env);
  parser.add<SelfTestArguments>(
      "self-test", "Every check against every planted fault: 0 if each check sees 3 of them and each fault is seen",
      declare_self_test);
  parser.add<ReplayArguments>("replay", "One call after the other again, every API call shown", declare_replay);
  parser.add<DoctorArguments>(
      "doctor", "The fewest changes that make a refused or wrong call work, or a working one faster", declare_doctor);
  parser.add<ImportArguments>("import", "Logs of an application to a workload file", declare_import);
  parser.add<KnownIssuesArguments>(
      "known-issues", "The known issues of a version and a GPU, and which products they touch; needs no GPU",
      declare_known_issues);
  parser.add<MergeArguments>("merge", "The reports of many machines into one: who has which finding, who differs",
                             declare_merge);
  return parser.parse(arguments);
}

}  // namespace lt_audit
