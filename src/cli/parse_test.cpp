// Arguments: what is understood, and what is said about what is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "cli/arguments.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;

template <class Kind>
Kind parsed(const Words& words) {
  return std::get<Kind>(parse_arguments(words));
}

/// The message of the usage error that the arguments lead to; empty when they are accepted.
std::string refusal(const Words& words) {
  try {
    static_cast<void>(parse_arguments(words));
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Parse, AComparisonNamesTheOtherLibraries) {
  const auto run = parsed<RunArguments>({"run", "--compare", "lt.so", "--compare-cublas", "blas.so"});
  EXPECT_EQ(run.compare.cublaslt, "lt.so");
  EXPECT_EQ(run.compare.cublas, "blas.so");
  EXPECT_TRUE(run.worker.libraries.cublaslt.empty());
  EXPECT_TRUE(contains(refusal({"run", "--compare-cublas", "blas.so"}), "--compare"));
}

TEST(Parse, RunWithoutOptionsAuditsTheGpuAndWritesLtAuditJson) {
  const auto run = parsed<RunArguments>({"run"});
  EXPECT_EQ(run.worker.target, TargetChoice::gpu);
  EXPECT_EQ(run.json, "lt-audit.json");
  EXPECT_EQ(run.fail_on, FailOn::fail);
  EXPECT_EQ(run.selection.depth, Depth::normal);
  EXPECT_EQ(run.worker.seed, 1U);
  EXPECT_FALSE(run.all_devices);
  EXPECT_TRUE(run.selection.checks.empty());
}

TEST(Parse, GateTakesEveryOption) {
  const auto gate = parsed<GateArguments>({"gate",
                                           "r.json",
                                           "--baseline",
                                           "b.json",
                                           "--waivers",
                                           "w.toml",
                                           "--waivers",
                                           "x.json",
                                           "--fail-on",
                                           "warn",
                                           "--max-age",
                                           "7",
                                           "--allow-simulator",
                                           "--require",
                                           "alignment",
                                           "work*",
                                           "--json",
                                           "-",
                                           "--sarif",
                                           "s",
                                           "-q"});
  EXPECT_EQ(gate.report, "r.json");
  EXPECT_EQ(gate.files.baseline, "b.json");
  EXPECT_EQ(gate.files.waivers, (Words{"w.toml", "x.json"}));
  EXPECT_EQ(gate.fail_on, FailOn::warn);
  EXPECT_EQ(gate.max_age_days, 7);
  EXPECT_TRUE(gate.allow_simulator);
  EXPECT_EQ(gate.require, (Words{"alignment", "work*"}));
  EXPECT_EQ(gate.json, "-");
  EXPECT_EQ(gate.outputs.sarif, "s");
  EXPECT_TRUE(gate.quiet);
  const auto run = parsed<RunArguments>({"run", "--baseline", "b.json", "--waivers", "w.toml", "alignment"});
  EXPECT_EQ(run.gate.baseline, "b.json");
  EXPECT_EQ(run.gate.waivers, Words{"w.toml"});
  EXPECT_EQ(run.selection.checks, Words{"alignment"});
  EXPECT_FALSE(parsed<RunArguments>({"run"}).gate.any());
}

TEST(Parse, GateRefusesWhatItCannotMean) {
  EXPECT_TRUE(contains(refusal({"gate"}), "REPORT"));
  EXPECT_TRUE(contains(refusal({"gate", "r", "--max-age", "-1"}), "'-1' is not a whole number of days"));
  EXPECT_TRUE(contains(refusal({"gate", "r", "--max-age", "40000"}), "more than 36500 days"));
  EXPECT_TRUE(contains(refusal({"gate", "r", "--waiver", "w"}), "did you mean '--waivers'?"));
  EXPECT_NE(refusal({"gate", "r", "-q", "-v"}), "");
}

TEST(Parse, TheSimulatorIsOnlyTakenWhenAskedFor) {
  EXPECT_EQ(parsed<EnvArguments>({"env"}).worker.target, TargetChoice::gpu);
  EXPECT_EQ(parsed<RunArguments>({"run", "--target", "auto"}).worker.target, TargetChoice::automatic);
}

TEST(Parse, RunTakesEveryOption) {
  const auto run = parsed<RunArguments>({"run",       "align*",       "--exclude", "x",          "--exclude",
                                         "y",         "compute-type", "--depth",   "full",       "--target",
                                         "simulator", "--problem",    "m=1,a=f16", "--cublaslt", "/l/lt",
                                         "--cublas",  "/l/blas",      "--json",    "-",          "--fail-on",
                                         "warn",      "--timeout",    "1.5",       "--seed",     "18446744073709551615",
                                         "--inject",  "crash",        "--trace",   "--dry-run",  "--profile",
                                         "--redact",  "--progress",   "never",     "--color",    "always",
                                         "-v",        "--device",     "3"});
  EXPECT_EQ(run.selection.checks, (Words{"align*", "compute-type"}));
  EXPECT_EQ(run.selection.exclude, (Words{"x", "y"}));
  EXPECT_EQ(run.selection.problems, (Words{"m=1,a=f16"}));
  EXPECT_EQ(run.selection.depth, Depth::full);
  EXPECT_EQ(run.worker.target, TargetChoice::simulator);
  EXPECT_EQ(run.worker.libraries.cublaslt, "/l/lt");
  EXPECT_EQ(run.worker.libraries.cublas, "/l/blas");
  EXPECT_EQ(run.worker.device, 3);
  EXPECT_EQ(run.worker.seed, 18446744073709551615U);
  EXPECT_DOUBLE_EQ(run.worker.timeout_s, 1.5);
  EXPECT_EQ(run.worker.fault, "crash");
  EXPECT_TRUE(run.worker.trace && run.dry_run && run.profile && run.redact && run.verbose);
  EXPECT_EQ(run.json, "-");
  EXPECT_EQ(run.fail_on, FailOn::warn);
  EXPECT_EQ(run.progress, When::never);
  EXPECT_EQ(run.color, When::always);
}

TEST(Parse, DeviceAllMeansEveryDevice) {
  EXPECT_TRUE(parsed<RunArguments>({"run", "--device", "all"}).all_devices);
  EXPECT_TRUE(contains(refusal({"run", "--device", "-1"}), "'all'"));
  EXPECT_TRUE(contains(refusal({"run", "--device", "99999999999"}), "99999999999"));
}

TEST(Parse, ReplayLeavesWhatIsNotGivenToTheReport) {
  const auto plain = parsed<ReplayArguments>({"replay", "r.json:alignment/x"});
  EXPECT_EQ(plain.calls.what, Words{"r.json:alignment/x"});
  EXPECT_FALSE(plain.target || plain.device || plain.seed || plain.fault);
  const auto given = parsed<ReplayArguments>(
      {"replay", "m=1", "--target", "auto", "--device", "2", "--seed", "7", "--inject", "none"});
  EXPECT_EQ(given.target, TargetChoice::automatic);
  EXPECT_EQ(given.device, 2);
  EXPECT_EQ(given.seed, 7U);
  EXPECT_EQ(given.fault, "none");
}

TEST(Parse, ReplayAndDoctorTakeSeveralCalls) {
  const Words words = {"a=1", "--problem", "b=2", "r.json:x", "--problem", "c=3", "--target", "simulator"};
  Words replay = {"replay"};
  replay.insert(replay.end(), words.begin(), words.end());
  Words doctor = {"doctor"};
  doctor.insert(doctor.end(), words.begin(), words.end());
  for (const auto& calls : {parsed<ReplayArguments>(replay).calls, parsed<DoctorArguments>(doctor).calls}) {
    EXPECT_EQ(calls.what, (Words{"a=1", "r.json:x"}));
    EXPECT_EQ(calls.problems, (Words{"b=2", "c=3"}));
  }
  EXPECT_TRUE(parsed<DoctorArguments>({"doctor", "--problem", "b=2"}).calls.what.empty());
  EXPECT_TRUE(contains(refusal({"doctor", "--json", "d.json"}), "--problem TEXT"));
}

TEST(Parse, SelfTestDefaultsToTheSimulatorQuickAndTwoSeconds) {
  const auto self_test = parsed<SelfTestArguments>({"self-test"});
  EXPECT_EQ(self_test.worker.target, TargetChoice::simulator);
  EXPECT_EQ(self_test.selection.depth, Depth::quick);
  EXPECT_DOUBLE_EQ(self_test.worker.timeout_s, 2);
}

TEST(Parse, KnownIssuesTakesAPlaceAndProblemsOrOneId) {
  const auto known = parsed<KnownIssuesArguments>({"known-issues", "--cublaslt-version", "13.1.0", "--cc", "9.0",
                                                   "--problem", "m=1", "--problem", "m=2", "--json", "-"});
  EXPECT_EQ(known.version, "13.1.0");
  EXPECT_EQ(known.compute_capability, "9.0");
  EXPECT_EQ(known.problems, (Words{"m=1", "m=2"}));
  EXPECT_EQ(known.json, "-");
  EXPECT_EQ(known.worker.target, TargetChoice::gpu);
  EXPECT_EQ(parsed<KnownIssuesArguments>({"known-issues", "KI-061"}).id, "KI-061");
  EXPECT_TRUE(contains(refusal({"known-issues", "KI-061", "--cc", "9.0"}), "--help"));
  EXPECT_TRUE(contains(refusal({"known-issues", "--workload", "f", "--problem", "m=1"}), "--help"));
  EXPECT_TRUE(contains(refusal({"known-isues"}), "'known-issues'"));
}

TEST(Parse, ACommandNameBehindACommandIsAnArgument) {
  EXPECT_EQ(parsed<ExplainArguments>({"explain", "list"}).check, "list");
}

TEST(Parse, MistakesNameTheNearestWord) {
  EXPECT_TRUE(contains(refusal({"rnu"}), "'run'"));
  EXPECT_TRUE(contains(refusal({"run", "--jsno", "x"}), "'--json'"));
  EXPECT_TRUE(contains(refusal({"run", "--dept=full"}), "'--depth'"));
  EXPECT_TRUE(contains(refusal({"run", "--depth", "qick"}), "'quick'"));
  EXPECT_TRUE(contains(refusal({"run", "--target", "simulater"}), "'simulator'"));
}

TEST(Parse, EveryRefusalSaysWhereTheHelpIs) {
  for (const Words& words : std::vector<Words>{{},
                                               {"rnu"},
                                               {"show"},
                                               {"run", "-q", "-v"},
                                               {"run", "--json"},
                                               {"run", "--seed", "-1"},
                                               {"run", "--seed", "1x"},
                                               {"run", "--timeout", "nan"},
                                               {"run", "--timeout", "0"},
                                               {"run", "--timeout", "1e99"},
                                               {"run", "--fail-on", "never"},
                                               {"list", "--depth", "quick"},
                                               {"list", "alignment", "--faults"},
                                               {"env", "surplus"},
                                               {"replay"},
                                               {"doctor"},
                                               {"--bogus"}}) {
    const std::string message = refusal(words);
    EXPECT_TRUE(contains(message, "--help")) << testing::PrintToString(words) << ": " << message;
  }
}

TEST(Parse, HelpOfEveryCommandNamesTheExitCodes) {
  for (const char* command :
       {"", "run", "list", "explain", "show", "env", "self-test", "replay", "doctor", "known-issues"}) {
    Words words = {command, "--help"};
    if (words.front().empty()) words.erase(words.begin());
    const std::string text = parsed<Information>(words).text;
    EXPECT_TRUE(contains(text, "Exit codes:")) << command;
    EXPECT_TRUE(contains(text, command)) << command;
  }
}

TEST(Parse, HelpOfOptionsFitsInto100Columns) {
  const std::string text = parsed<Information>({"run", "--help"}).text;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    // The footer's exit codes are one line each, whatever their length.
    if (text.compare(begin, 10, "Exit codes") == 0) break;
    EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Parse, VersionIsNameAndNumber) {
  EXPECT_EQ(parsed<Information>({"--version"}).text, "lt-audit " + std::string(tool_version()) + "\n");
}

}  // namespace
}  // namespace lt_audit
