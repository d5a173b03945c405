// The HTML page: what is on it, that no field leaves its place, and what a large report leaves out. How it looks and
// behaves in a browser is in tests/html.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats.h"
#include "report/html_data.h"
#include "report/html_maps.h"
#include "report/html_observation.h"
#include "report/html_pictures.h"
#include "report/html_text.h"
#include "report/observation_json.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

constexpr const char* kEvil = "</script><script>alert(1)</script>\"><img src=x onerror='alert(2)'>\x1b[31m\xff<!--";

std::string page_of(const Report& report, const Annotations& annotations = {}) {
  std::ostringstream out;
  write_html(report, annotations, out);
  return out.str();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// What stands between the tags of a <script> with this id.
std::string script_of(const std::string& page, const std::string& id) {
  const std::size_t start = page.find('>', page.find("id=\"" + id + "\"")) + 1;
  return page.substr(start, page.find("</script>", start) - start);
}

nlohmann::json data_of(const std::string& page) { return nlohmann::json::parse(script_of(page, "lt-data")); }

/// The observations of a page as written for `limits`, one a line.
std::vector<std::string> observations_of(const Report& report, const PageLimits& limits, LeftOut& left_out) {
  std::ostringstream out;
  left_out = write_page_data(report, {}, limits, out);
  std::istringstream text(script_of(out.str(), "lt-observations"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// The sample with every text replaced.
Report evil_report() {
  Report report = sample_report();
  for (std::string* text :
       {&report.tool_version, &report.started, &report.depth, &report.fault, &report.incomplete_reason,
        &report.target.device_facts.name, &report.target.driver_text, &report.target.cublaslt.path,
        &report.target.cublaslt.build_id, &report.environment.host, &report.environment.os}) {
    *text = kEvil;
  }
  report.complete = false;
  report.arguments = {kEvil};
  report.environment.warnings = {kEvil};
  for (CheckResult& check : report.checks) {
    check.id += kEvil;
    check.skip_reason = kEvil;
    for (CaseResult& result : check.cases) {
      for (std::string* text : {&result.id, &result.problem, &result.rule, &result.reason, &result.sentence})
        *text = kEvil;
      result.parameters = {{kEvil, kEvil}};
      Observation observation = full_observation();
      observation.log = {{1, kEvil, kEvil}};
      observation.facts = {{kEvil, kEvil}};
      result.observation =
          observation_to_json(observation).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    }
  }
  for (Finding& finding : report.findings) {
    for (std::string* text : {&finding.id, &finding.check, &finding.title, &finding.measured, &finding.expected,
                              &finding.rule, &finding.remedy, &finding.repro}) {
      *text = kEvil;
    }
    finding.cases = {kEvil};
  }
  return report;
}

TEST(HtmlTextTest, ContentAndAttributesAreEscaped) {
  EXPECT_EQ(html_escaped("<a href=\"x\" on='y'>&amp;"), "&lt;a href=&quot;x&quot; on=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(html_escaped("\x1b[31mred\x07\nline"), "[31mred line");
  EXPECT_EQ(html_escaped("\xff\xe2\x80\xae"), "\xEF\xBF\xBD") << "invalid UTF-8 is replaced, an override left out";
}

TEST(HtmlTextTest, LongTextsEndInAnEllipsis) {
  const std::string text = html_escaped(std::string(5'000'000, 'x'));
  EXPECT_LT(text.size(), 4100U);
  EXPECT_TRUE(contains(text, "x…"));
  EXPECT_EQ(html_escaped(std::string(4000, 'x')), std::string(4000, 'x'));
}

TEST(HtmlTextTest, ScriptTextsAreJsonWithoutTags) {
  std::string text;
  append_script_text(text, "</script>\"\\&\xE2\x80\xA8\xE2\x80\xA9<!--é");
  EXPECT_EQ(text, R"("\u003c/script\u003e\"\\\u0026\u2028\u2029\u003c!--é")");
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(HtmlTextTest, ScriptLinesStayOneLine) {
  std::string text;
  append_script_line(text, "{\"a\":\"</script>\"}\n\xE2\x80\xA8\xFF");
  EXPECT_EQ(text, "{\"a\":\"\\u003c/script\\u003e\"} \\u2028\xEF\xBF\xBD");
}

TEST(HtmlTextTest, OnlyWebLinksBecomeLinks) {
  EXPECT_TRUE(is_web_link("https://example.org/issues/1?a=b&c=d#e"));
  EXPECT_TRUE(is_web_link("HTTP://example.org"));
  for (const char* link : {"javascript:alert(1)", "data:text/html,x", "//example.org", "https://", "https://a b",
                           " https://a", "https://a\"onclick=", "https://a\n", "file:///etc/passwd", ""}) {
    EXPECT_FALSE(is_web_link(link)) << link;
  }
}

TEST(HtmlTest, SummaryAndFindingsAreWrittenInFull) {
  const std::string page = page_of(sample_report());
  for (const char* part : {"cuBLASLt 13.1.0 on NVIDIA H200", "580.159.04", "2026-11-29T20:16:22Z", "device 0 of 2",
                           "may replace functions", "FP32 inputs into a narrower D", "keep C and D in FP32",
                           "lt-audit replay &#39;m=256,n=256,k=256,a=f32,d=f16", "needs two GPUs, one is there",
                           "<noscript>", "build 0123abcd"}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
  EXPECT_LT(page.find("FP32 inputs into a narrower D"), page.find("refused only by matmul")) << "fail before warn";
  EXPECT_FALSE(contains(page, "class=\"banner"));
  EXPECT_FALSE(contains(page, "{{")) << "every part of the template is filled";
}

TEST(HtmlTest, SimulatorFaultAndIncompleteAreLoud) {
  Report report = sample_report();
  report.target.kind = PlatformKind::simulator;
  report.fault = "short-write";
  report.complete = false;
  report.incomplete_reason = "interrupted by SIGINT";
  const std::string page = page_of(report);
  for (const char* part : {"SIMULATOR", "FAULT PLANTED", "short-write", "INCOMPLETE", "interrupted by SIGINT"}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
}

TEST(HtmlTest, PageOfAnAuditThatSawNothingClaimsNothing) {
  Report report;
  report.complete = true;
  EXPECT_TRUE(contains(page_of(report), "Nothing ran."));
  report = sample_report();
  report.findings.clear();
  EXPECT_TRUE(contains(page_of(report), "None"));
}

TEST(HtmlTest, GateStandsOnTop) {
  Annotations annotations;
  annotations.gate =
      GateDecision{false, {{"new-finding", "2 new findings", {"alignment/f16.a.off2: late"}, "fix it"}}, {}};
  const std::string page = page_of(sample_report(), annotations);
  EXPECT_LT(page.find("The gate is closed"), page.find("<h1"));
  for (const char* part : {"new-finding", "2 new findings", "alignment/f16.a.off2: late", "Next: fix it"}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
  annotations.gate = GateDecision{};
  EXPECT_TRUE(contains(page_of(sample_report(), annotations), "The gate is open"));
}

TEST(HtmlTest, LongListsOfTheGateAreCut) {
  Annotations annotations;
  GateEntry entry{"case-missing", "cases are missing", std::vector<std::string>(20'000, "alignment/x"), ""};
  annotations.gate = GateDecision{false, {entry}, {}};
  const std::string page = page_of(sample_report(), annotations);
  EXPECT_TRUE(contains(page, "and 19950 more"));
  EXPECT_EQ(count_of(page, "alignment/x"), 50U);
}

TEST(HtmlTest, BaselineAndWaiversMarkFindingsAndCases) {
  Annotations annotations;
  annotations.has_baseline = true;
  annotations.notes["compute-type/f32.f16.n"] = CaseNote{false, {}};
  annotations.notes["compute-type/f32.f16.t"] =
      CaseNote{true, AppliedWaiver{"known to <NVIDIA>", "2027-01-31", "https://example.org/7"}};
  annotations.notes["alignment/f16.a.off2"] =
      CaseNote{false, AppliedWaiver{"later", "2027-02-01", "javascript:alert(1)"}};
  const std::string page = page_of(sample_report(), annotations);
  for (const char* part : {"1 new", "1 known", "1 waived", "known to &lt;NVIDIA&gt;, until 2027-01-31",
                           "<a href=\"https://example.org/7\" rel=\"noopener noreferrer\">"}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
  EXPECT_FALSE(contains(page, "href=\"javascript"));
  const auto data = data_of(page);
  EXPECT_EQ(data["checks"][1]["isNew"], nlohmann::json({0, 0, 0, 1, 0}));
  EXPECT_EQ(data["checks"][1]["waiver"][2], 0);
  EXPECT_EQ(data["waivers"][data["checks"][1]["waiver"][3].get<std::size_t>()][1], "2027-01-31");
  EXPECT_EQ(data["waivers"][data["checks"][0]["waiver"][1].get<std::size_t>()][2], "")
      << "no link from a waiver's script";
}

TEST(HtmlTest, NoFieldLeavesItsPlace) {
  Annotations annotations;
  annotations.has_baseline = true;
  GateEntry entry{kEvil, kEvil, {kEvil}, kEvil};
  annotations.gate = GateDecision{false, {entry}, {entry}};
  annotations.notes[std::string(kEvil) + "/" + kEvil] = CaseNote{true, AppliedWaiver{kEvil, kEvil, kEvil}};
  const std::string plain = page_of(sample_report());
  const std::string page = page_of(evil_report(), annotations);
  for (const char* part : {"<script", "</script", "<!--", "<style"})
    EXPECT_EQ(count_of(page, part), count_of(plain, part)) << part;
  for (const char* part : {"<img", "\x1b", "\xff"}) EXPECT_FALSE(contains(page, part)) << part;
  EXPECT_TRUE(contains(page, "&lt;/script&gt;&lt;script&gt;alert(1)"));
  const auto data = data_of(page);
  EXPECT_TRUE(contains(data["checks"][0]["ids"][0].get<std::string>(), "<script>alert(1)"));
  std::istringstream lines(script_of(page, "lt-observations"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "") << "number 0 is no observation";
  while (std::getline(lines, line)) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

TEST(HtmlTest, PolicyAllowsTheBuiltInPartsAlone) {
  const std::string page = page_of(sample_report());
  EXPECT_TRUE(
      contains(page, "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-"));
  EXPECT_FALSE(contains(page, "unsafe-inline"));
  EXPECT_EQ(count_of(page, "'sha256-"), count_of(page, "<script>") + 1) << "one for each script, one for the style";
  EXPECT_FALSE(contains(page, " style=\"")) << "the policy forbids style attributes";
  EXPECT_FALSE(contains(page, "src=\"http"));
}

TEST(HtmlDataTest, CasesAreColumnsWithSharedTexts) {
  const auto data = data_of(page_of(sample_report()));
  const auto& check = data["checks"][0];
  EXPECT_EQ(check["ids"], nlohmann::json({"f16.a.off0", "f16.a.off2", "f16.huge", "f16.broken"}));
  EXPECT_EQ(check["status"], nlohmann::json({0, 1, 3, 4}));
  EXPECT_EQ(data["texts"][check["rule"][1].get<std::size_t>()],
            "alignment of A is as declared (cublasLt.h 13.1.0, line 2100)");
  EXPECT_EQ(data["parameters"][check["parameters"][1].get<std::size_t>()],
            nlohmann::json::parse(R"([["declared","256"]])"));
  EXPECT_EQ(data["checks"][1]["observation"][0], check["observation"][0]) << "the same observation stands once";
}

TEST(HtmlDataTest, SmallReportsAreEmbeddedWhole) {
  LeftOut left_out;
  const auto lines = observations_of(sample_report(), PageLimits{}, left_out);
  EXPECT_EQ(left_out.pass + left_out.others, 0U);
  for (const std::string& line : lines) EXPECT_FALSE(contains(line, "shortened"));
  EXPECT_TRUE(contains(page_of(sample_report()), "every observation of the report whole"));
}

TEST(HtmlDataTest, LargeReportsKeepTheWorstWhole) {
  Report report = sample_report();
  const std::size_t of_a_failure = report.checks[1].cases[2].observation.size();
  LeftOut left_out;
  const auto lines = observations_of(report, PageLimits{1, 2 * of_a_failure, 1 << 16}, left_out);
  EXPECT_EQ(left_out.pass, 4U);
  EXPECT_EQ(left_out.others, 3U) << "warn, skip and error no longer fit";
  const auto shortened =
      std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return contains(line, "shortened"); });
  EXPECT_EQ(shortened, 3) << "texts that are the same once shortened stand once";
}

TEST(HtmlDataTest, LongObservationsAreNeverWhole) {
  LeftOut left_out;
  observations_of(sample_report(), PageLimits{1 << 20, 1 << 20, 400}, left_out);
  EXPECT_EQ(left_out.others, 1U);
  EXPECT_EQ(left_out.pass, 0U);
}

TEST(HtmlObservationTest, ShortenedKeepsWhatDecided) {
  Observation observation = full_observation();
  const std::string text = observation_to_json(observation).dump();
  const auto kept = nlohmann::json::parse(shortened_observation(text));
  EXPECT_EQ(kept["shortened"], true);
  ASSERT_EQ(kept["stages"].size(), 1U);
  EXPECT_EQ(kept["stages"][0]["status"], "NOT_SUPPORTED");
  EXPECT_EQ(kept["log"], nlohmann::json::parse(text)["log"]);
  EXPECT_EQ(kept["facts"], nlohmann::json::parse(text)["facts"]);
  for (const char* left_out : {"heuristic", "verification", "times", "cublas"}) EXPECT_FALSE(kept.contains(left_out));
}

TEST(HtmlObservationTest, ShortenedTakesTheLastStageWhenAllSucceed) {
  const auto kept = nlohmann::json::parse(shortened_observation(
      R"({"stages":[{"name":"a","status":"SUCCESS"},{"name":"b","status":"cudaSuccess"}],"times":{"host_us":1.5}})"));
  EXPECT_EQ(kept["stages"], nlohmann::json::parse(R"([{"name":"b","status":"cudaSuccess"}])"));
}

TEST(HtmlObservationTest, HugeMembersAreLeftOut) {
  const std::string text = R"({"log":[{"text":")" + std::string(10'000, 'x') + R"("}],"not_run":"why"})";
  EXPECT_EQ(shortened_observation(text), R"({"shortened":true,"not_run":"why"})");
}

TEST(HtmlObservationTest, DamagedTextsBringNothing) {
  for (const char* text :
       {"", "{", "[]", "null", "{\"facts\"", "{\"facts\":{\"a\":}}", "{\"facts\":[1,2]}", "{]]]]]", "{\"a\\"}) {
    EXPECT_TRUE(facts_of(text).empty()) << text;
    (void)shortened_observation(text);
  }
  EXPECT_EQ(facts_of(R"({"facts":{"a":"b","c":1}})"), (std::map<std::string, std::string>{{"a", "b"}}));
}

CaseResult case_with_facts(const std::string& id, const std::map<std::string, std::string>& parameters,
                           const std::map<std::string, std::string>& facts) {
  CaseResult result = sample_case(id, "m=64,n=64,k=64,a=f16", Status::pass, Outcome::correct);
  result.parameters = parameters;
  Observation observation;
  observation.facts = facts;
  result.observation = observation_to_json(observation).dump();
  return result;
}

TEST(HtmlPicturesTest, TypeMatrixPlacesTheWorstCaseOfEachSide) {
  const auto pictures = pictures_of(sample_report().checks[1]);
  ASSERT_EQ(pictures.size(), 1U);
  const Picture& picture = pictures[0];
  EXPECT_EQ(picture.rows, (std::vector<std::string>{"32f / f32  f32 x f32", "32f_fast_tf32 / f32  f32 x f32"}));
  EXPECT_EQ(picture.groups.size(), 3U);
  EXPECT_EQ(picture.columns.size(), 6U);
  EXPECT_EQ(picture.quiet_columns, (std::vector<bool>{false, false, false, false, true, true}))
      << "f64 is refused alone";
  ASSERT_EQ(picture.cells.size(), 5U);
  EXPECT_EQ(picture.cells[3].row, 1U);
  EXPECT_EQ(picture.cells[3].the_case, 2U);
}

TEST(HtmlPicturesTest, AlignmentMapsTellDeclaredFromUndeclared) {
  CheckResult check{"alignment", Status::warn, "", 0, {}};
  const auto add = [&check](const std::string& problem, Status status) {
    check.cases.push_back(sample_case("c" + std::to_string(check.cases.size()), problem, status, Outcome::correct));
  };
  const std::string base = "m=96,n=80,k=64,a=f16";
  add(base, Status::pass);
  add(base + ",a_offset=8,a_alignment=8", Status::pass);
  add(base + ",a_offset=8", Status::pass);
  add(base + ",a_offset=8,a_alignment=16", Status::warn);
  add(base + ",ta=t,a_offset=2,b_offset=64", Status::warn);
  add(base + ",lda=97", Status::pass);
  add(base + ",batch=2,stride_b=0", Status::pass);
  add("no problem at all", Status::pass);
  const auto maps = alignment_maps(check);
  ASSERT_EQ(maps.size(), 4U);
  EXPECT_EQ(maps[0].columns, (std::vector<std::string>{"8"}));
  EXPECT_EQ(maps[1].rows, (std::vector<std::string>{"f16 nn", "f16 tn"}));
  ASSERT_EQ(maps[1].cells.size(), 2U);
  EXPECT_EQ(maps[1].cells[0].count, 2U);
  EXPECT_EQ(maps[1].cells[0].the_case, 3U) << "the worst of them";
  EXPECT_EQ(maps[1].groups[1].first, "several");
  EXPECT_EQ(maps[1].columns[1], "2");
  EXPECT_EQ(maps[2].groups[0].first, "ld of A");
  EXPECT_EQ(maps[2].columns[0], "2") << "97 elements of two bytes";
  EXPECT_EQ(maps[3].groups[0].first, "stride of B");
  EXPECT_EQ(maps[3].columns[0], "0");
}

TEST(HtmlPicturesTest, WorkspaceMapHasTimesStepsAndRefusals) {
  CheckResult check{"workspace", Status::pass, "", 0, {}};
  check.cases.push_back(case_with_facts("f16.steps", {{"scenario", "steps"}, {"limits", "0 65536 1048576"}},
                                        {{"step.01", "from 0 bytes: NOT_SUPPORTED"},
                                         {"step.02", "from 64 KiB: SUCCESS, algo 66, tile 10, bits 01, 14.6 us"},
                                         {"step.03", "from 1 MiB: SUCCESS, algo 66, tile 11, bits 02, 7.0 us"},
                                         {"times_us", "64 KiB: 14.6, 1 MiB: 7.0"}}));
  check.cases.push_back(case_with_facts("f16.repeat", {{"scenario", "repeat"}}, {{"runs", "10"}}));
  check.cases.push_back(case_with_facts("f16.odd", {{"scenario", "steps"}, {"limits", "many"}}, {{"step.01", "what"}}));
  const Picture map = workspace_map(check);
  EXPECT_EQ(map.columns, (std::vector<std::string>{"0 bytes", "64 KiB", "1 MiB"}));
  EXPECT_EQ(map.rows, (std::vector<std::string>{"f16.steps"}));
  ASSERT_EQ(map.cells.size(), 3U);
  EXPECT_EQ(map.cells[0].text, "–");
  EXPECT_EQ(map.cells[0].level, -1);
  EXPECT_EQ(map.cells[1].text, "14.6");
  EXPECT_EQ(map.cells[1].level, 4);
  EXPECT_EQ(map.cells[1].mark, "a");
  EXPECT_EQ(map.cells[2].level, 0);
  EXPECT_EQ(map.cells[2].mark, "b");
}

TEST(HtmlPicturesTest, TimedPairsNeedBothTimes) {
  CheckResult check{"cublas-parity", Status::pass, "", 0, {}};
  check.cases.push_back(case_with_facts("none", {}, {}));
  check.cases.push_back(
      case_with_facts("pair", {{"class", "f16 nn"}, {"shape", "gemv"}},
                      {{"cublas_us", "10.5"}, {"cublaslt_us", "21"}, {"spread", "0.05"}, {"speed", "cuBLAS faster"}}));
  check.cases.push_back(case_with_facts("broken", {}, {{"cublas_us", "nan"}, {"cublaslt_us", "1e999"}}));
  check.cases.push_back(case_with_facts("zero", {}, {{"cublas_us", "0"}, {"cublaslt_us", "1"}}));
  const auto pairs = timed_pairs_of(check);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].the_case, 1U);
  EXPECT_EQ(pairs[0].label, "f16 nn gemv");
  EXPECT_DOUBLE_EQ(pairs[0].cublaslt_us, 21);
  EXPECT_DOUBLE_EQ(pairs[0].spread, 0.05);
}

}  // namespace
}  // namespace lt_audit
