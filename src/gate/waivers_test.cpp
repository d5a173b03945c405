// Waiver files: what is understood in both syntaxes, and what is said about what is not.
#include "gate/waivers.h"

#include <gtest/gtest.h>

#include <string>

#include "gate/glob.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

const std::string kWhy = "reason = \"known\"\nexpires = \"2027-01-31\"\n";

std::vector<Waiver> toml(const std::string& text) { return waivers_from_text(text, "w.toml", WaiverFormat::toml); }
std::vector<Waiver> json(const std::string& text) { return waivers_from_text(text, "w.json", WaiverFormat::json); }

/// The message about one TOML entry that has a reason and a date.
std::string refusal(const std::string& keys) {
  return error_of([&] { toml("[[waiver]]\n" + keys + "\n" + kWhy); }, ErrorKind::usage);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Waivers, EveryKeyIsReadFromToml) {
  const auto waivers = toml(R"(
[[waiver]]
check = "compute-type"
cause = "must-refuse-*"
case = "32f_fast_*"
problem = { a = "f32", compute = "32f_fast_tf32", m = 64, workspace = 1048576, amax_d = true, alpha = 2.5 }
platform = "gpu"
gpu = "NVIDIA H200*"
compute_capability = 9.0
cublaslt = ">=13.0, <13.8"
reason = """
  in two
lines """
expires = 2027-01-31
link = "https://example.org/issues/12"
)");
  ASSERT_EQ(waivers.size(), 1U);
  const Waiver& waiver = waivers.front();
  EXPECT_EQ(waiver.place(), "w.toml:2");
  EXPECT_EQ(waiver.check, "compute-type");
  EXPECT_EQ(waiver.cause, "must-refuse-*");
  EXPECT_EQ(waiver.the_case, "32f_fast_*");
  const std::vector<std::pair<std::string, std::string>> problem{{"a", "f32"},    {"compute", "32f_fast_tf32"},
                                                                 {"m", "64"},     {"workspace", "1MiB"},
                                                                 {"amax_d", "1"}, {"alpha", "2.5"}};
  EXPECT_TRUE(std::is_permutation(waiver.problem.begin(), waiver.problem.end(), problem.begin(), problem.end()));
  EXPECT_EQ(waiver.platform, "gpu");
  EXPECT_EQ(waiver.gpu, "NVIDIA H200*");
  EXPECT_EQ(waiver.compute_capability, 90);
  ASSERT_EQ(waiver.cublaslt.size(), 2U);
  EXPECT_EQ(waiver.reason, "in two\nlines");
  EXPECT_EQ(waiver.expires(), "2027-01-31");
  EXPECT_EQ(waiver.link, "https://example.org/issues/12");
}

TEST(Waivers, JsonSaysTheSame) {
  const auto waivers = json(R"({"waiver": [{"check": "alignment", "problem": "m=64,a=f16,workspace=1024KiB",
      "compute_capability": "sm_90", "reason": "known", "expires": "2027-01-31"}]})");
  ASSERT_EQ(waivers.size(), 1U);
  EXPECT_EQ(waivers.front().place(), "w.json, waiver 1");
  EXPECT_EQ(waivers.front().problem.size(), 3U);
  EXPECT_EQ(waivers.front().problem.back().second, "1MiB");
  EXPECT_EQ(waivers.front().compute_capability, 90);
}

TEST(Waivers, TheIdOfAFindingIsACause) {
  const auto waivers = toml("[[waiver]]\ncause = \"compute-type.must-refuse-correct\"\n" + kWhy);
  EXPECT_EQ(waivers.front().cause_check, "compute-type");
  EXPECT_EQ(waivers.front().cause, "must-refuse-correct");
}

TEST(Waivers, AnUnknownKeyIsAnErrorWithTheNearestKeyEntryAndLine) {
  const std::string message = refusal("check = \"alignment\"\nplatfrom = \"gpu\"");
  EXPECT_TRUE(contains(message, "w.toml: waiver 1 (line 3): unknown key 'platfrom'; did you mean 'platform'?"))
      << message;
  EXPECT_TRUE(contains(refusal("problem = { wrkspace = 3 }"), "nearest: 'workspace'"));
  EXPECT_TRUE(contains(refusal("problem = \"m=64,wrkspace=3\""), "nearest: 'workspace'"));
  EXPECT_TRUE(contains(refusal("problem = { compute = \"32f_fast_tf23\" }"), "'32f_fast_tf32'"));
  const std::string top = error_of([] { toml("[[waivers]]\ncheck = \"x\"\n"); }, ErrorKind::usage);
  EXPECT_TRUE(contains(top, "unknown key 'waivers'")) << top;
}

TEST(Waivers, ReasonAndDateAreRequired) {
  const auto message = [](const std::string& keys) {
    return error_of([&] { toml("[[waiver]]\ncheck = \"a\"\n" + keys); }, ErrorKind::usage);
  };
  EXPECT_TRUE(contains(message("expires = 2027-01-31"), "'reason' is missing"));
  EXPECT_TRUE(contains(message("reason = \"r\""), "'expires' is missing"));
  EXPECT_TRUE(contains(message("reason = \" \"\nexpires = 2027-01-31"), "'reason' is empty"));
  for (const char* day : {"2027-02-30", "31.01.2027", "2027-1-3", "never", "2027-01-31T00:00:00Z", "+027-01-31"}) {
    EXPECT_TRUE(contains(message("reason = \"r\"\nexpires = \"" + std::string(day) + "\""), "must be a day such as"))
        << day;
  }
  EXPECT_TRUE(contains(message("reason = \"r\"\nexpires = 2027-01-31T00:00:00Z"), "is a day, such as"));
}

TEST(Waivers, AnEntryThatWouldWaiveEverythingIsRefused) {
  EXPECT_TRUE(contains(refusal("platform = \"gpu\""), "would waive every finding"));
  EXPECT_TRUE(contains(refusal("check = \"*\"\ncause = \"*.*\""), "would waive every finding"));
  EXPECT_TRUE(contains(refusal("problem = {}"), "'problem' must be a table"));
}

TEST(Waivers, WrongValuesAreNamedWithTheirKey) {
  EXPECT_TRUE(contains(refusal("check = 3"), "'check' must be a text"));
  EXPECT_TRUE(contains(refusal("check = \"\""), "'check' is empty"));
  EXPECT_TRUE(contains(refusal("check = \"a\"\nplatform = \"gpus\""), "did you mean 'gpu'?"));
  EXPECT_TRUE(contains(refusal("check = \"a\"\ncublaslt = \">=13\""), "'cublaslt' cannot be read"));
  EXPECT_TRUE(contains(refusal("check = \"a\"\ncublaslt = \"13.1,,\""), "'cublaslt' cannot be read"));
  EXPECT_TRUE(contains(refusal("check = \"a\"\ncompute_capability = \"new\""), "'compute_capability' cannot be read"));
  EXPECT_TRUE(contains(refusal("check = \"a\"\nlink = \"javascript:alert(1)\""), "must begin with http"));
  EXPECT_TRUE(contains(refusal("check = \"a\"\nlink = \"http://x y\""), "must begin with http"));
  EXPECT_TRUE(contains(refusal("problem = { m = [1] }"), "must be a text or a number"));
}

TEST(Waivers, BrokenFilesAreRefusedWithTheirPlace) {
  EXPECT_TRUE(
      contains(error_of([] { toml("[[waiver]]\ncheck = \n"); }, ErrorKind::usage), "w.toml: line 2: is not valid"));
  EXPECT_TRUE(
      contains(error_of([] { json("{\"waiver\": ["); }, ErrorKind::usage), "w.json: is not valid JSON at byte"));
  EXPECT_EQ(
      toml("[[waiver]]\ncheck = \"a\"\nexpires = 2027-01-31\nreason = \"\"\"a \\\n  \u0384\u00e9\"\"\"\n")[0].reason,
      "a \u0384\u00e9");
  for (const char* text : {"x = 33\u0384", "[[\n[[waiver]]\n", "[\n", "[[=", "[ .a]"})
    EXPECT_TRUE(contains(error_of([&] { toml(text); }, ErrorKind::usage), "not valid TOML")) << text;
  EXPECT_TRUE(contains(error_of([] { json("[]"); }, ErrorKind::usage), "must be an object"));
  EXPECT_TRUE(contains(error_of([] { toml("waiver = 3"); }, ErrorKind::usage), "must be an array"));
  EXPECT_TRUE(contains(error_of([] { toml("waiver = [3]"); }, ErrorKind::usage), "must be a table"));
  const std::string twice = R"({"waiver": [{"check": "a", "check": "b", "reason": "r", "expires": "2027-01-31"}]})";
  EXPECT_TRUE(contains(error_of([&] { json(twice); }, ErrorKind::usage), "'check' stands twice"));
  EXPECT_TRUE(toml("").empty());
  EXPECT_TRUE(json("{}").empty());
}

TEST(Waivers, DeepNestingIsRefusedInBothSyntaxes) {
  const std::string brackets(100000, '[');
  EXPECT_NE(error_of([&] { toml("x = " + brackets); }, ErrorKind::usage), "");
  EXPECT_TRUE(contains(error_of([&] { json("{\"x\": " + brackets); }, ErrorKind::usage), "nested too deeply"));
  std::string dotted = "a";
  for (int i = 0; i < 1000000; ++i) dotted += ".a";
  for (const std::string& text : {dotted + " = 1\n", "[" + dotted + "]\n", "x = { " + dotted + " = 1 }\n",
                                  "y = '''\n\"'''\n" + dotted + " = 1\n"}) {
    EXPECT_TRUE(contains(error_of([&] { toml(text); }, ErrorKind::usage), "too many parts")) << text.substr(0, 20);
  }
  // Points inside of texts and comments are no nesting.
  const std::string points(1000, '.');
  EXPECT_EQ(
      toml("# " + points + "\n[[waiver]]\ncheck = \"a\"\nreason = '" + points + "'\nexpires = 2027-01-31\n").size(),
      1U);
}

TEST(Waivers, TooManyTooLongAndTooLargeAreRefused) {
  std::string many;
  for (int i = 0; i < 10001; ++i) many += "[[waiver]]\ncheck = \"a\"\n" + kWhy;
  EXPECT_TRUE(contains(error_of([&] { toml(many); }, ErrorKind::usage), "more than 10000 waivers"));
  EXPECT_TRUE(contains(refusal("check = \"" + std::string(2000, 'a') + "\""), "longer than 1024 bytes"));
  const TemporaryDirectory directory;
  const auto path = directory.file_with("large.toml", "#" + std::string(9U << 20U, ' '));
  EXPECT_TRUE(contains(error_of([&] { read_waivers(path); }, ErrorKind::usage), "larger than 8 MiB"));
}

TEST(Waivers, TheSyntaxFollowsFromTheExtensionOrTheFirstCharacter) {
  const TemporaryDirectory directory;
  const std::string text = "[[waiver]]\ncheck = \"a\"\n" + kWhy;
  const std::string object = R"( {"waiver": [{"check": "a", "reason": "r", "expires": "2027-01-31"}]})";
  EXPECT_EQ(read_waivers(directory.file_with("w.toml", text)).size(), 1U);
  EXPECT_EQ(read_waivers(directory.file_with("w.json", object)).size(), 1U);
  EXPECT_EQ(read_waivers(directory.file_with("waivers", text)).size(), 1U);
  EXPECT_EQ(read_waivers(directory.file_with("waivers2", object)).size(), 1U);
  EXPECT_NE(error_of([&] { read_waivers(directory.file_with("x.toml", object)); }, ErrorKind::usage), "");
  EXPECT_TRUE(contains(error_of([&] { read_waivers(directory.file("none")); }, ErrorKind::usage), "cannot be opened"));
  EXPECT_TRUE(contains(error_of([&] { read_waivers(directory.path()); }, ErrorKind::usage), "cannot be read"));
}

TEST(Waivers, AVersionIsComparedInThePartsThatAreWritten) {
  const auto holds = [](const std::string& range, const LibraryVersion& version) {
    const auto waivers = toml("[[waiver]]\ncheck = \"a\"\ncublaslt = \"" + range + "\"\n" + kWhy);
    const auto& conditions = waivers.front().cublaslt;
    return std::all_of(conditions.begin(), conditions.end(), [&](const auto& one) { return one.holds(version); });
  };
  EXPECT_TRUE(holds(">=13.0, <13.8", {13, 1, 0}));
  EXPECT_FALSE(holds(">=13.0, <13.8", {13, 8, 0}));
  EXPECT_FALSE(holds(">=13.0, <13.8", {12, 9, 9}));
  EXPECT_TRUE(holds("<=13.1", {13, 1, 2}));
  EXPECT_FALSE(holds("<=13.1.0", {13, 1, 2}));
  EXPECT_FALSE(holds(">13.1", {13, 1, 2}));
  EXPECT_TRUE(holds("13.1", {13, 1, 2}));
  EXPECT_FALSE(holds("==13.1.0", {13, 1, 2}));
  EXPECT_TRUE(holds("130100", {13, 1, 0}));
}

TEST(Glob, KnowsStarAndQuestionMarkAndStaysFast) {
  EXPECT_TRUE(glob_matches("must-*-correct", "must-refuse-correct"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a?c*", "abc"));
  EXPECT_TRUE(glob_matches("*.x/*", "a.x/b/c"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("[ab]", "a"));
  std::string stars;
  for (int i = 0; i < 300; ++i) stars += "*a";
  EXPECT_FALSE(glob_matches(stars + "b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace lt_audit
