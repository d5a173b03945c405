// The JSON document: what is written can be read, validated and written again; what is no report is refused with its
// name.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "report/formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

using nlohmann::json;

std::string json_of(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

/// The message of read_json for a file with this content, without the path.
std::string read_error(const std::string& content) {
  const TemporaryDirectory directory;
  const std::string path = directory.file_with("report.json", content);
  const std::string error = error_of([&] { read_json(path); }, ErrorKind::usage);
  const std::string front = "report " + path + ": ";
  EXPECT_EQ(error.substr(0, front.size()), front) << "every message names the file";
  return error.size() > front.size() ? error.substr(front.size()) : error;
}

/// The sample as a tree with one field replaced: "/checks/0/status".
std::string with_field(const std::string& pointer, const json& value) {
  auto tree = nlohmann::ordered_json::parse(json_of(sample_report()));
  tree[nlohmann::ordered_json::json_pointer(pointer)] = value;
  return tree.dump();
}

Report read_text(const std::string& content) {
  const TemporaryDirectory directory;
  return read_json(directory.file_with("report.json", content));
}

TEST(ReportJson, RoundTripIsIdenticalByteForByte) {
  const std::string written = json_of(sample_report());
  EXPECT_EQ(json_of(read_text(written)), written);
}

TEST(ReportJson, EmptyReportMakesTheRoundTrip) {
  const std::string written = json_of(Report{});
  EXPECT_EQ(json_of(read_text(written)), written);
}

TEST(ReportJson, KeysStandInTheDocumentedOrder) {
  const auto tree = nlohmann::ordered_json::parse(json_of(sample_report()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : tree.items()) keys.push_back(key);
  const std::vector<std::string> expected = {
      "schema_version", "tool",  "complete", "incomplete_reason", "exit_code", "started", "elapsed_s", "depth",
      "seed",           "fault", "target",   "environment",       "summary",   "checks",  "findings",  "profile"};
  EXPECT_EQ(keys, expected);
}

TEST(ReportJson, AbsentFactsAreNull) {
  const json tree = json::parse(json_of(Report{}));
  EXPECT_TRUE(tree["fault"].is_null());
  EXPECT_TRUE(tree["incomplete_reason"].is_null());
  EXPECT_TRUE(tree["target"]["compute_capability"].is_null());
  EXPECT_TRUE(tree["environment"]["cublas"].is_null());
}

TEST(ReportJson, CountsSumAndEveryNonPassHasAReason) {
  const json tree = json::parse(json_of(sample_report()));
  json sums = {{"pass", 0}, {"warn", 0}, {"fail", 0}, {"skip", 0}, {"error", 0}, {"total", 0}};
  for (const json& check : tree["checks"]) {
    EXPECT_EQ(check["summary"]["total"], check["cases"].size());
    for (const auto& [key, value] : check["summary"].items()) sums[key] = sums[key].get<int>() + value.get<int>();
    for (const json& one : check["cases"]) {
      EXPECT_EQ(one["status"] == "pass", one["reason"].is_null()) << one["id"];
      EXPECT_EQ(one["status"] == "pass", one["message"].is_null()) << one["id"];
    }
  }
  EXPECT_EQ(sums, tree["summary"]);
  EXPECT_EQ(sums["total"], 9);
}

TEST(ReportJson, ARefusedCaseIsOneShortLine) {
  std::istringstream lines(json_of(sample_report()));
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"id\":\"f32.f64.n\"") == std::string::npos) continue;
    ++found;
    EXPECT_LT(line.size(), 500U);
    EXPECT_NE(line.find("\"observation\":{"), std::string::npos);
  }
  EXPECT_EQ(found, 1U);
}

TEST(ReportJson, TextsThatAreNoUtf8AreReplaced) {
  Report report = sample_report();
  report.environment.variables["CUDA_X\xFF"] = "\xC3(";
  report.checks[0].cases[1].sentence = "log says \xFE";
  report.findings[0].title = "\x80";
  std::string text;
  ASSERT_NO_THROW(text = json_of(report));
  EXPECT_TRUE(json::accept(text));
  EXPECT_EQ(json_of(read_text(text)), text);
}

TEST(ReportJson, AnObservationThatIsNoObjectDoesNotBreakTheDocument) {
  Report report = sample_report();
  report.checks[0].cases[0].observation = "";
  report.checks[0].cases[1].observation = "oops";
  EXPECT_TRUE(json::accept(json_of(report)));
}

TEST(ReadJson, AcceptsUnknownFieldsAndNewerMinorVersions) {
  auto tree = nlohmann::ordered_json::parse(json_of(sample_report()));
  tree["schema_version"] = "1.7.2";
  tree["novelty"] = {{"cases", {{{"id", 1}}}}};
  tree["checks"][0]["novelty"] = {{{"cases", {{{"x", 1}}}}}};
  tree["checks"][0]["cases"][0]["novelty"] = nullptr;
  tree["checks"][0]["cases"][0]["observation"]["times"] = {{"novel_us", 4}};
  const Report report = read_text(tree.dump());
  EXPECT_EQ(report.checks.size(), 3U);
  EXPECT_EQ(report.checks[0].cases.size(), 4U);
}

TEST(ReadJson, ReadsAReportWithSortedKeys) {
  const std::string sorted = json::parse(json_of(sample_report())).dump(1);
  ASSERT_LT(sorted.find("\"checks\""), sorted.find("\"schema_version\""));
  const Report report = read_text(sorted);
  ASSERT_EQ(report.checks.size(), 3U);
  EXPECT_EQ(report.checks[0].cases.size(), 4U);
  EXPECT_EQ(report.checks[1].cases[2].outcome, Outcome::out_of_bounds);
}

TEST(ReadJson, KeepsCasesWithTheirChecks) {
  const Report report = read_text(json_of(sample_report()));
  EXPECT_EQ(report.checks[0].cases[1].id, "f16.a.off2");
  EXPECT_EQ(report.checks[0].cases[1].parameters.at("declared"), "256");
  EXPECT_EQ(report.checks[1].cases.size(), 5U);
  EXPECT_TRUE(report.checks[2].cases.empty());
  EXPECT_EQ(report.checks[2].skip_reason, "needs two GPUs, one is there");
  EXPECT_EQ(report.findings[1].cases, sample_report().findings[1].cases);
  EXPECT_EQ(report.environment.user, "alice");
}

TEST(ReadJson, SaysThatAFileWasCutOffWhereverItEnds) {
  const std::string whole = json_of(sample_report());
  for (std::size_t length = 1; length + 3 < whole.size(); length += 97) {
    const std::string error = read_error(whole.substr(0, length));
    EXPECT_NE(error.find("ends in the middle"), std::string::npos) << length << ": " << error;
  }
}

TEST(ReadJson, RefusesWhatIsNoReport) {
  EXPECT_NE(read_error("").find("is empty"), std::string::npos);
  EXPECT_NE(read_error(" \n").find("is empty"), std::string::npos);
  EXPECT_NE(read_error("\x7f"
                       "ELF\x02")
                .find("does not begin with '{'"),
            std::string::npos);
  EXPECT_NE(read_error(std::string(100, '\0')).find("does not begin with '{'"), std::string::npos);
  EXPECT_NE(read_error("[1]").find("does not begin with '{'"), std::string::npos);
  EXPECT_NE(read_error("{}").find("no schema_version"), std::string::npos);
  EXPECT_NE(read_error("{\"a\":1} rest").find("not valid JSON at byte"), std::string::npos);
  EXPECT_NE(read_error("{\"a\":\"\xFF\"}").find("not valid JSON at byte"), std::string::npos);
  EXPECT_NE(read_error("{\"a\":1e999}").find("is not valid JSON"), std::string::npos);
}

TEST(ReadJson, RefusesHugeDepth) {
  const std::size_t depth = 1000000;
  const std::string deep =
      "{\"schema_version\":\"1.0.0\",\"x\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  EXPECT_NE(read_error(deep).find("nested deeper than 64"), std::string::npos);
}

TEST(ReadJson, NamesTheVersionItCannotRead) {
  const std::string error = read_error(with_field("/schema_version", "2.0.1"));
  EXPECT_NE(error.find("report schema 2.0.1, and this lt-audit reads 1.x"), std::string::npos) << error;
  EXPECT_NE(read_error(with_field("/schema_version", 1)).find("schema_version must be a string"), std::string::npos);
  // Another version may give every field another meaning: it is named first.
  EXPECT_NE(read_error(R"({"schema_version":"10.0.0","checks":[{"cases":[{"id":5}]}]})").find("schema 10.0.0"),
            std::string::npos);
}

TEST(ReadJson, NamesMissingFilesAndDirectories) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("absent.json");
  EXPECT_EQ(error_of([&] { read_json(path); }, ErrorKind::usage),
            "report " + path + ": cannot be opened: No such file or directory");
  EXPECT_NE(error_of([&] { read_json(directory.path().string()); }, ErrorKind::usage).find("Is a directory"),
            std::string::npos);
}

struct WrongField {
  const char* pointer;
  json value;
  const char* error;
};

/// Test names must not hold addresses, which differ from run to run.
void PrintTo(const WrongField& wrong, std::ostream* out) { *out << wrong.pointer << " = " << wrong.value.dump(); }

class ReadJsonWrongField : public ::testing::TestWithParam<WrongField> {};

TEST_P(ReadJsonWrongField, IsNamedByItsPath) {
  const WrongField& wrong = GetParam();
  const std::string error = read_error(with_field(wrong.pointer, wrong.value));
  EXPECT_EQ(error.substr(0, std::string(wrong.error).size()), wrong.error);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ReadJsonWrongField,
    ::testing::Values(
        WrongField{"/tool", 1, "field tool must be an object, not number"},
        WrongField{"/tool/arguments", "run", "field tool.arguments must be an array, not string"},
        WrongField{"/tool/arguments/1", 5, "field tool.arguments[1] must be a string, not number"},
        WrongField{"/complete", "yes", "field complete must be true or false, not string"},
        WrongField{"/exit_code", 1.5, "field exit_code must be an integer, not number"},
        WrongField{"/exit_code", 3000000000, "field exit_code is out of range: 3000000000"},
        WrongField{"/seed", -1, "field seed is out of range: -1"},
        WrongField{"/elapsed_s", "long", "field elapsed_s must be a number, not string"},
        WrongField{"/target", nullptr, "field target is missing"},
        WrongField{"/target/kind", "fpga", "field target.kind must be 'gpu' or 'simulator', not 'fpga'"},
        WrongField{"/target/compute_capability", "x", "field target.compute_capability must be a version"},
        WrongField{"/environment/cublaslt", true, "field environment.cublaslt must be an object, not boolean"},
        WrongField{"/environment/variables/LD_LIBRARY_PATH", 1,
                   "field environment.variables.LD_LIBRARY_PATH must be a string"},
        WrongField{"/checks", json::object(), "field checks must be an array, not object"},
        WrongField{"/checks/1", 3, "field checks[1] must be an object, not number"},
        WrongField{"/checks/1/id", nullptr, "field checks[1].id is missing"},
        WrongField{"/checks/1/status", "great", "field checks[1].status has an unknown value 'great'"},
        WrongField{"/checks/1/cases", 3, "field checks[1].cases must be an array, not number"},
        WrongField{"/checks/1/cases", json::object({{"a", json::object()}}),
                   "field checks[1].cases must be an array, not object"},
        WrongField{"/checks/1/cases/2", 3, "field checks[1].cases[2] must be an object, not number"},
        WrongField{"/checks/1/cases/2/outcome", "eaten",
                   "field checks[1].cases[2].outcome has an unknown value 'eaten'"},
        WrongField{"/checks/1/cases/2/message", 1, "field checks[1].cases[2].message must be a string, not number"},
        WrongField{"/checks/1/cases/2/observation", "x", "field checks[1].cases[2].observation must be an object"},
        WrongField{"/checks/0/cases/1/observation/stages/0/call", 1,
                   "field checks[0].cases[1].observation.stages[0].call must be a string, not number"},
        WrongField{"/findings/0/count", "2", "field findings[0].count must be an integer, not string"},
        WrongField{"/findings/0/cases/0", nullptr, "field findings[0].cases[0] must be a string, not null"},
        WrongField{"/profile/0/seconds", json::array(), "field profile[0].seconds must be a number, not array"}));

/// Runs scripts/validate_report.py on a text and returns its exit status.
int validate(const std::string& content) {
  const TemporaryDirectory directory;
  const std::string path = directory.file_with("report.json", content);
  const std::string command = "python3 " LT_AUDIT_SOURCE_DIR "/scripts/validate_report.py " + path + " >/dev/null 2>&1";
  return std::system(command.c_str());
}

TEST(ReportSchema, AcceptsWhatIsWrittenAndNothingElse) {
  if (std::system("python3 -c 'import jsonschema' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3 with jsonschema";
  EXPECT_EQ(validate(json_of(sample_report())), 0);
  EXPECT_EQ(validate(json_of(Report{})), 0);
  EXPECT_NE(validate(with_field("/checks/0/status", "great")), 0);
  EXPECT_NE(validate(with_field("/undocumented", 1)), 0);
  EXPECT_NE(validate(with_field("/checks/0/cases/1/observation/undocumented", 1)), 0);
  EXPECT_NE(validate(with_field("/checks/0/cases/1/reason", nullptr)), 0) << "a non-pass without a reason";
  EXPECT_NE(validate("{}"), 0);
}

}  // namespace
}  // namespace lt_audit
