// Observations and targets survive the way through JSON, and wrong JSON is named by its field.
#include "report/observation_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/sample_report.h"

namespace lt_audit {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string read_error(const std::string& text) {
  return error_of([&] { observation_from_json(json::parse(text)); }, ErrorKind::usage);
}

TEST(ObservationJson, EveryFieldSurvivesTheRoundTrip) {
  const Observation before = full_observation();
  const std::string text = observation_to_json(before).dump();
  const Observation after = observation_from_json(json::parse(text));
  EXPECT_EQ(after.stages, before.stages);
  ASSERT_EQ(after.heuristic.size(), 2U);
  EXPECT_EQ(after.heuristic[0].algo_id, 66);
  EXPECT_EQ(after.heuristic[1], before.heuristic[1]);
  EXPECT_DOUBLE_EQ(after.heuristic[0].waves, 0.242) << "three decimals";
  ASSERT_TRUE(after.verification);
  EXPECT_TRUE(std::isnan(after.verification->first_actual));
  Verification seen = *after.verification;
  Verification expected = *before.verification;
  seen.first_actual = expected.first_actual = 0;
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(after.cublas, before.cublas);
  EXPECT_EQ(after.log, before.log);
  EXPECT_EQ(after.end, ProcessEnd::crashed);
  EXPECT_EQ(after.end_detail, "SIGSEGV");
  EXPECT_EQ(after.not_run, before.not_run);
  EXPECT_EQ(after.audit_error, before.audit_error);
  EXPECT_EQ(after.facts, before.facts);
  EXPECT_EQ(after.times, before.times);
  EXPECT_EQ(observation_to_json(after).dump(), text);
}

TEST(ObservationJson, LeavesOutWhatSaysNothing) {
  EXPECT_EQ(observation_to_json(Observation{}).dump(), "{}");
  Observation observation;
  observation.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "NOT_SUPPORTED"}};
  EXPECT_EQ(observation_to_json(observation).dump(),
            R"({"stages":[{"name":"heuristic","call":"cublasLtMatmulAlgoGetHeuristic","status":"NOT_SUPPORTED"}]})");
}

TEST(ObservationJson, KeepsAllEndsOfTheProcess) {
  for (const ProcessEnd end :
       {ProcessEnd::survived, ProcessEnd::crashed, ProcessEnd::timed_out, ProcessEnd::context_lost}) {
    Observation observation;
    observation.end = end;
    EXPECT_EQ(observation_from_json(json::parse(observation_to_json(observation).dump())).end, end);
  }
}

TEST(ObservationJson, WritesInfinitiesAsText) {
  Observation observation;
  observation.verification.emplace();
  observation.verification->first_row = 0;
  observation.verification->first_expected = std::numeric_limits<double>::infinity();
  observation.verification->first_actual = -std::numeric_limits<double>::infinity();
  const ordered_json written = observation_to_json(observation);
  EXPECT_EQ(written["verification"]["first_wrong"]["expected"], "inf");
  EXPECT_EQ(written["verification"]["first_wrong"]["actual"], "-inf");
  const Observation read = observation_from_json(json::parse(written.dump()));
  EXPECT_EQ(read.verification, observation.verification);
}

TEST(ObservationJson, ReplacesBytesOfTheLibrarysLogThatAreNoUtf8) {
  Observation observation;
  observation.log = {{1, "f\xFF", "text \xC3"}};
  observation.facts = {{"key\xFE", "\x80"}};
  std::string text;
  ASSERT_NO_THROW(text = observation_to_json(observation).dump());
  EXPECT_NE(text.find("text \xEF\xBF\xBD"), std::string::npos);
}

TEST(ObservationJson, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(read_error("[]"), "field observation must be an object, not array");
  EXPECT_EQ(read_error(R"({"stages":{}})"), "field observation.stages must be an array, not object");
  EXPECT_EQ(read_error(R"({"stages":[{},{"status":1}]})"),
            "field observation.stages[1].status must be a string, not number");
  EXPECT_EQ(read_error(R"({"heuristic":[{"algo_id":99999999999}]})"),
            "field observation.heuristic[0].algo_id is out of range: 99999999999");
  EXPECT_EQ(read_error(R"({"verification":{"wrong":-1}})"), "field observation.verification.wrong is out of range: -1");
  EXPECT_EQ(read_error(R"({"verification":{"wrong":1.5}})"),
            "field observation.verification.wrong must be an integer, not number");
  EXPECT_EQ(read_error(R"({"end":"melted"})"), "field observation.end has an unknown value: 'melted'");
  EXPECT_EQ(read_error(R"({"times":{"host_us":"soon"}})"),
            "field observation.times.host_us must be a number, not string");
  EXPECT_EQ(read_error(R"({"facts":{"a":1}})"), "field observation.facts.a must be a string");
  EXPECT_EQ(read_error(R"({"cublas":{"verification":7}})"),
            "field observation.cublas.verification must be an object, not number");
}

TEST(TargetJson, SurvivesTheRoundTrip) {
  const Target before = sample_report().target;
  const std::string text = target_to_json(before).dump();
  const Target after = target_from_json(json::parse(text));
  EXPECT_EQ(target_to_json(after).dump(), text);
  EXPECT_EQ(after.device_facts.compute_capability(), 90);
  EXPECT_EQ(after.cublaslt.number(), 130100);
  EXPECT_EQ(after.cublaslt.path, before.cublaslt.path);
  EXPECT_EQ(after.driver_text, "580.159.04");
  EXPECT_EQ(after.runtime_version, 13000);
}

TEST(TargetJson, AMissingLibraryStaysMissing) {
  Target target;
  target.kind = PlatformKind::simulator;
  const Target read = target_from_json(json::parse(target_to_json(target).dump()));
  EXPECT_FALSE(read.cublas.loaded());
  EXPECT_EQ(read.kind, PlatformKind::simulator);
}

TEST(TargetJson, NamesTheFieldThatIsWrong) {
  const auto error = [](const std::string& text) {
    return error_of([&] { target_from_json(json::parse(text)); }, ErrorKind::usage);
  };
  EXPECT_EQ(error("{}"), "field target.kind is missing");
  EXPECT_EQ(error(R"({"kind":"toaster"})"), "field target.kind must be 'gpu' or 'simulator', not 'toaster'");
  EXPECT_EQ(error(R"({"kind":"gpu","cublaslt":{"version":"thirteen"}})"),
            "field target.cublaslt.version must be a version such as '13.1.0', not 'thirteen'");
}

}  // namespace
}  // namespace lt_audit
