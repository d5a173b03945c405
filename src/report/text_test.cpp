// What a person sees, compared line by line with texts written by hand.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "report/formats.h"
#include "report/sample_report.h"
#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

TextOptions options_of(int columns) {
  TextOptions options;
  options.columns = columns;
  options.report_path = "lt-audit.json";
  return options;
}

std::string text_of(const Report& report, const TextOptions& options) {
  std::ostringstream out;
  write_text(report, options, out);
  return out.str();
}

std::string case_text(const Report& report, const std::string& check, const std::string& id) {
  std::ostringstream out;
  write_case_text(report, check, id, options_of(100), out);
  return out.str();
}

std::string check_text(const Report& report, const std::string& check, int columns = 100) {
  std::ostringstream out;
  write_check_text(report, check, options_of(columns), out);
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Without warnings of the environment, as in the picture of a usual run.
Report plain_report() {
  Report report = sample_report();
  report.environment.warnings.clear();
  return report;
}

TEST(WriteText, LooksAsDrawn) {
  const std::string expected =
      R"(lt-audit 0.1.0 · NVIDIA H200 (sm_90, 132 SMs) · driver 580.159.04 · cuBLASLt 13.1.0

  alignment        4 cases   1 pass   1 warn            1 skip   1 error                       0.6 s
  compute-type     5 cases   3 pass            2 fail                                          1.1 s
  two-gpu          skip: needs two GPUs, one is there

fail  compute-type  FP32 inputs into a narrower D are accepted and written as FP32           2 cases
      measured  cublasLtMatmul returns SUCCESS and writes 131072 bytes behind D (FP32 x FP32 ->
                FP16, 32F_FAST_TF32, 256x256x256; heuristic and AlgoCheck accept too)
      expected  refused: the combination is in no documented table; cublasGemmEx refuses it
      remedy    keep C and D in FP32 under the FAST compute types, or convert in a second kernel
      again     lt-audit replay 'm=256,n=256,k=256,a=f32,d=f16,compute=32f_fast_tf32'
warn  alignment     A pointer below 16 bytes is refused only by matmul                        1 case
      measured  the heuristic returns 8 results, cublasLtMatmul returns NOT_SUPPORTED
      expected  a heuristic that was told the alignment returns only results that run
      rule      cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES
      remedy    declare the smallest alignment that the application can have
      again     lt-audit replay 'm=64,n=64,k=64,a=f16,a_offset=2'

9 cases: 4 pass, 1 warn, 2 fail, 1 skip, 1 error · 2.9 s · report lt-audit.json · exit 1
)";
  EXPECT_EQ(text_of(plain_report(), options_of(100)), expected);
}

TEST(WriteText, ACleanRunIsOneLineForEachCheckAndTheLastLine) {
  Report report = plain_report();
  report.checks = {CheckResult{
      "ld", Status::pass, "", 0.04, {sample_case("a", "m=1,n=1,k=1,a=f32", Status::pass, Outcome::correct)}}};
  report.findings.clear();
  report.exit_code = 0;
  EXPECT_EQ(lines_of(text_of(report, options_of(80))).size(), 5U);
  EXPECT_TRUE(contains(text_of(report, options_of(80)), "1 case: 1 pass, 0 warn, 0 fail, 0 error · 2.9 s"));
}

TEST(WriteText, FitsTheColumnsExceptForCommands) {
  for (const int columns : {80, 100, 160}) {
    for (const std::string& line : lines_of(text_of(sample_report(), options_of(columns)))) {
      if (contains(line, "again ") || contains(line, "lt-audit 0.1.0") || contains(line, "exit 1")) continue;
      EXPECT_LE(text_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST(WriteText, NarrowTerminalsLoseOnlyEmptyColumns) {
  Report report = plain_report();
  report.checks.erase(report.checks.begin());
  const std::string text = text_of(report, options_of(60));
  EXPECT_TRUE(contains(text, "  compute-type     5 cases   3 pass   2 fail           1.1 s\n")) << text;
}

TEST(WriteText, WarningsFollowTheFirstLine) {
  const std::vector<std::string> lines = lines_of(text_of(sample_report(), options_of(80)));
  EXPECT_EQ(lines[1], "note  LD_PRELOAD names '/home/alice/my shim.so', which may replace functions of");
  EXPECT_EQ(lines[2], "      cuBLASLt on gpu01");
}

TEST(WriteText, TheSimulatorIsNamedFirstAndLoudlyEvenWhenQuiet) {
  Report report = plain_report();
  report.target.kind = PlatformKind::simulator;
  TextOptions options = options_of(100);
  for (const bool quiet : {false, true}) {
    options.quiet = quiet;
    EXPECT_EQ(lines_of(text_of(report, options))[0],
              "SIMULATOR: no GPU was audited; a model of a faultless cuBLASLt 13.1.0 answered");
  }
  report.fault = "wrong-element";
  EXPECT_EQ(lines_of(text_of(report, options))[0],
            "SIMULATOR: no GPU was audited; a model of a faultless cuBLASLt 13.1.0 answered with the fault "
            "wrong-element planted");
}

TEST(WriteText, APlantedFaultOnAGpuIsNamedFirst) {
  Report report = plain_report();
  report.fault = "short-write";
  EXPECT_EQ(lines_of(text_of(report, options_of(100)))[0].substr(0, 26), "FAULT PLANTED: short-write");
}

TEST(WriteText, AnIncompleteAuditSaysSo) {
  Report report = plain_report();
  report.complete = false;
  report.incomplete_reason = "interrupted by SIGINT after 812 of 1290 cases";
  EXPECT_TRUE(
      contains(text_of(report, options_of(100)), "\nINCOMPLETE: interrupted by SIGINT after 812 of 1290 cases\n"));
  EXPECT_FALSE(contains(text_of(plain_report(), options_of(100)), "INCOMPLETE"));
}

TEST(WriteText, QuietIsFindingsAndTheLastLine) {
  TextOptions options = options_of(100);
  options.quiet = true;
  const std::vector<std::string> lines = lines_of(text_of(sample_report(), options));
  EXPECT_EQ(lines.front().substr(0, 18), "fail  compute-type");
  EXPECT_EQ(lines.back().substr(0, 8), "9 cases:");
}

TEST(WriteText, VerboseShowsEveryCaseBelowItsCheck) {
  TextOptions options = options_of(80);
  options.verbose = true;
  const std::string text = text_of(plain_report(), options);
  EXPECT_TRUE(contains(text, "    pass   f16.a.off0  m=64,n=64,k=64,a=f16\n")) << text;
  EXPECT_TRUE(contains(text, "    error  f16.broken  the case f16.broken ended as audit_error\n")) << text;
}

TEST(WriteText, PastAScreenfulTheRestIsOneLine) {
  Report report = plain_report();
  const Finding finding = report.findings[0];
  report.findings.assign(17, finding);
  const std::string text = text_of(report, options_of(100));
  EXPECT_TRUE(contains(text, "... and 5 more findings: lt-audit show lt-audit.json\n"));
  report.findings.assign(13, finding);
  EXPECT_TRUE(contains(text_of(report, options_of(100)), "... and 1 more finding: lt-audit show lt-audit.json\n"));
  report.findings.assign(12, finding);
  EXPECT_FALSE(contains(text_of(report, options_of(100)), "more finding"));
}

TEST(WriteText, FindingsStandInOrderOfSeverityThenOfCount) {
  Report report = plain_report();
  Finding finding = report.findings[0];
  report.findings.clear();
  const auto add = [&](Status status, std::uint64_t count, const std::string& title) {
    finding.status = status;
    finding.count = count;
    finding.title = title;
    report.findings.push_back(finding);
  };
  add(Status::warn, 90, "title-w90");
  add(Status::skip, 99, "title-skip");
  add(Status::fail, 1, "title-f1");
  add(Status::error, 5, "title-e5");
  add(Status::fail, 8, "title-f8");
  const std::string text = text_of(report, options_of(100));
  const std::vector<std::string> order = {"title-f8", "title-f1", "title-e5", "title-w90"};
  for (std::size_t i = 1; i < order.size(); ++i) EXPECT_LT(text.find(order[i - 1]), text.find(order[i])) << order[i];
  EXPECT_FALSE(contains(text, "title-skip")) << "skipped cases are counted, not shown as problems";
}

TEST(WriteText, ColourMarksOnlyTheStatusWord) {
  TextOptions options = options_of(100);
  options.color = true;
  std::string text = text_of(plain_report(), options);
  EXPECT_TRUE(contains(text, "\x1b[31mfail\x1b[0m  compute-type  FP32"));
  EXPECT_TRUE(contains(text, "\x1b[33mwarn\x1b[0m  alignment"));
  for (const std::string code : {"\x1b[31m", "\x1b[33m", "\x1b[0m"}) {
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code)) text.erase(at, code.size());
  }
  EXPECT_EQ(text, text_of(plain_report(), options_of(100))) << "colour changes no layout";
}

TEST(WriteText, ForeignTextCannotSteerTheTerminal) {
  Report report = sample_report();
  const std::string evil = "x\x1b]0;evil\x07\r\n\x1b[2Jy";
  report.tool_version = report.target.device_facts.name = report.target.driver_text = report.fault = evil;
  report.environment.warnings = {evil};
  report.incomplete_reason = evil;
  report.complete = false;
  for (CheckResult& check : report.checks) check.skip_reason = check.id = evil;
  for (CaseResult& one : report.checks[0].cases) one.id = one.problem = one.sentence = one.rule = one.reason = evil;
  for (Finding& finding : report.findings) {
    finding.check = finding.title = finding.measured = finding.expected = finding.rule = finding.remedy =
        finding.repro = evil;
  }
  report.checks[0].cases[0].parameters[evil] = evil;
  report.checks[0].cases[0].observation =
      R"({"stages":[{"name":"\u001b[1m","call":"\u001b[1m","status":"\u001b[1m"}],"log":[{"level":1,"function":"\u001b[1m","text":"\u001b[1m"}],)"
      R"("facts":{"\u001b[1m":"\u001b[1m"},"cublas":{"call":"\u001b[1m"},"heuristic":[{"state":"\u001b[1m"}],"audit_error":"\u001b[1m"})";
  TextOptions options = options_of(100);
  options.verbose = true;
  options.report_path = evil;
  std::ostringstream out;
  write_text(report, options, out);
  write_check_text(report, evil, options, out);
  write_case_text(report, evil, evil, options, out);
  EXPECT_FALSE(contains(out.str(), "\x1b"));
  EXPECT_FALSE(contains(out.str(), "\x07"));
  EXPECT_FALSE(contains(out.str(), "\r"));
}

TEST(WriteCheckText, ShowsTheMatrixOfTypes) {
  const std::string text = check_text(sample_report(), "compute-type");
  EXPECT_TRUE(contains(text,
                       "  compute / scale       A x B, C/D:  f32  f16\n"
                       "  32f / f32             f32 x f32    ++\n"
                       "  32f_fast_tf32 / f32   f32 x f32         OO\n"))
      << text;
  EXPECT_TRUE(contains(text, "+ correct, . refused, O out_of_bounds, blank not"));
  EXPECT_FALSE(contains(text, "f64  ")) << "a column where all is refused as expected is left out";
}

TEST(WriteCheckText, HasNoMatrixWhereTypesDoNotDiffer) {
  EXPECT_FALSE(contains(check_text(sample_report(), "alignment"), "A x B"));
}

TEST(WriteCheckText, HasNoMatrixWhereTypesAreTheLesserPart) {
  Report report = sample_report();
  for (CheckResult& check : report.checks) {
    if (check.id != "compute-type") continue;
    // The same types again and again, in other sequences of calls.
    const auto once = check.cases;
    for (int i = 0; i < 4; ++i) check.cases.insert(check.cases.end(), once.begin(), once.end());
  }
  EXPECT_FALSE(contains(check_text(report, "compute-type"), "A x B"));
}

TEST(WriteCheckText, GroupsCasesWorstFirst) {
  const std::string text = check_text(sample_report(), "alignment");
  EXPECT_TRUE(contains(text, "error 1 case\n  f16.broken  audit_error  m=64,n=64,k=64,a=f16,b_offset=2\n")) << text;
  EXPECT_LT(text.find("error 1 case\n"), text.find("warn  1 case\n"));
  EXPECT_LT(text.find("warn  1 case\n"), text.find("pass  1 case\n"));
  EXPECT_TRUE(contains(text, "lt-audit show lt-audit.json alignment CASE"));
}

TEST(WriteCheckText, NamesTheNearestCheck) {
  const Report report = sample_report();
  EXPECT_EQ(error_of([&] { check_text(report, "algnment"); }, ErrorKind::usage),
            "the report has no check 'algnment'; did you mean 'alignment'?");
  EXPECT_TRUE(contains(error_of([&] { check_text(report, "zzz"); }, ErrorKind::usage), "lt-audit show REPORT lists"));
}

TEST(WriteCaseText, ShowsEverythingThatWasSeen) {
  const std::string text = case_text(sample_report(), "alignment", "f16.a.off2");
  for (const std::string part : {"warn  alignment  f16.a.off2\n",
                                 "  problem      m=64,n=64,k=64,a=f16,a_offset=2\n",
                                 "  expectation  may_refuse\n",
                                 "  rule         alignment of A is as declared",
                                 "  parameters   declared = 256\n",
                                 "  stages       create     cublasLtMatmulDescCreate        SUCCESS\n",
                                 "               matmul     cublasLtMatmul                  NOT_SUPPORTED\n",
                                 "65536 elements compared one by one: 12 wrong,",
                                 "row 3, column 4, batch 0: expected -17",
                                 "found nan",
                                 "131072 bytes\n",
                                 "changed behind D, the last",
                                 "65536 elements of aux compared: 10 wrong.",
                                 "Amax: expected 96, found 95.5.",
                                 "cublasGemmEx: NOT_SUPPORTED.",
                                 "  log          [1] cublasLtMatmul: K must be divisible by 16. Got 24.",
                                 "died: SIGSEGV",
                                 "replays = 3",
                                 "matmul on GPU 4.5 us",
                                 "  outcome      late_refusal\n",
                                 "  verdict      warn (may-refuse-late_refusal): the case",
                                 "  again        lt-audit replay 'm=64,n=64,k=64,a=f16,a_offset=2'\n"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\nin\n" << text;
  }
}

TEST(WriteCaseText, TheCommandRunsThisCaseAgain) {
  EXPECT_TRUE(contains(case_text(sample_report(), "compute-type", "f32.f16.t"),
                       "  again        lt-audit replay 'lt-audit.json:compute-type/f32.f16.t'\n"));
  std::ostringstream out;
  write_case_text(sample_report(), "compute-type", "f32.f16.t", TextOptions{}, out);
  EXPECT_TRUE(
      contains(out.str(), "again        lt-audit replay 'm=256,n=256,k=256,a=f32,ta=t,d=f16,compute=32f_fast_tf32'\n"));
}

TEST(WriteCaseText, NamesTheNearestCase) {
  EXPECT_EQ(error_of([] { case_text(sample_report(), "alignment", "f16.a.off3"); }, ErrorKind::usage).substr(0, 63),
            "the report has no case of the check 'alignment' called 'f16.a.o");
}

TEST(WriteCaseText, RefusesADamagedObservation) {
  Report report = sample_report();
  report.checks[0].cases[0].observation = "{";
  EXPECT_TRUE(contains(error_of([&] { case_text(report, "alignment", "f16.a.off0"); }, ErrorKind::usage), "damaged"));
}

TEST(Wrapped, BreaksAtBlanksAndKeepsLongWordsWhole) {
  EXPECT_EQ(wrapped("one two  three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("a muchlongerword b", 5), (std::vector<std::string>{"a", "muchlongerword", "b"}));
  EXPECT_EQ(wrapped("äöü äöü", 7).size(), 1U);
  EXPECT_TRUE(wrapped(" ", 7).empty());
}

}  // namespace
}  // namespace lt_audit
