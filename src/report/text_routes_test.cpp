// The routing table of a run and of a check, and what a slower product is called in the table of a workload.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report/formats.h"
#include "report/observation_json.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

CaseResult routed(const std::string& kind, const std::string& shape, const std::string& route,
                  const std::string& reason, const std::string& ratio = {}) {
  CaseResult result = sample_case(kind + "." + shape, "m=4,n=4,k=4,a=f16", Status::pass, Outcome::correct);
  result.parameters = {{"class", kind}, {"shape", shape}};
  Observation observation;
  observation.facts = {{"route", route}, {"route_reason", reason}};
  if (!ratio.empty()) observation.facts["time_ratio"] = ratio;
  result.observation = observation_to_json(observation).dump();
  return result;
}

Report report_with(std::vector<CaseResult> cases) {
  Report report = sample_report();
  report.environment.warnings.clear();
  report.findings.clear();
  report.checks = {CheckResult{"parity", Status::pass, "", 0.1, std::move(cases)}};
  return report;
}

std::string text_of(const Report& report, bool verbose = false) {
  TextOptions options;
  options.columns = 100;
  options.verbose = verbose;
  options.report_path = "lt-audit.json";
  std::ostringstream out;
  write_text(report, options, out);
  return out.str();
}

std::string check_text(const Report& report) {
  TextOptions options;
  options.columns = 100;
  std::ostringstream out;
  write_check_text(report, "parity", options, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(WriteRouteTable, OneRowForEachClassRouteAndReasonWorstFirst) {
  const Report report = report_with({routed("f16", "square", "either", "times within noise", "0.98"),
                                     routed("f16", "odd", "either", "times within noise", "1.04"),
                                     routed("f16", "gemv", "cublas", "cuBLAS is faster", "1.50"),
                                     routed("i8", "square", "cublas", "cuBLASLt refuses it")});
  const std::string expected =
      "  route     products                                               why                   Lt : cuBLAS\n"
      "  cublas    f16: gemv                                              cuBLAS is faster             1.50\n"
      "  cublas    i8: square                                             cuBLASLt refuses it\n"
      "  either    f16: square, odd                                       times within noise      0.98-1.04\n\n";
  EXPECT_TRUE(contains(text_of(report), expected)) << text_of(report);
  EXPECT_TRUE(contains(check_text(report), expected)) << check_text(report);
}

TEST(WriteRouteTable, HasNoColumnOfTimesWhereNothingWasTimed) {
  const std::string text = text_of(report_with({routed("f16", "square", "either", "not timed")}));
  EXPECT_TRUE(contains(text, "why\n")) << text;
  EXPECT_FALSE(contains(text, "Lt : cuBLAS")) << text;
}

TEST(WriteRouteTable, ARunPutsWhatMayGoEitherWayInOneRowAndACheckShowsItAll) {
  const Report report = report_with({routed("f16", "square", "either", "within noise", "0.98"),
                                     routed("f16", "odd", "either", "within noise", "0.97"),
                                     routed("f32", "odd", "either", "within noise", "1.03"),
                                     routed("i8", "odd", "cublas", "cuBLAS is faster", "1.50")});
  const std::string text = text_of(report);
  EXPECT_TRUE(contains(text, "either    3 products of 2 classes ")) << text;
  EXPECT_TRUE(contains(text, "0.97-1.03\n  3 rows in all: lt-audit show lt-audit.json parity\n")) << text;
  EXPECT_FALSE(contains(text, "f32: odd"));
  EXPECT_TRUE(contains(text_of(report, true), "f32: odd"));
  EXPECT_TRUE(contains(check_text(report), "f32: odd"));
  EXPECT_FALSE(contains(check_text(report), "rows in all"));
}

TEST(WriteRouteTable, ARunShowsAScreenful) {
  std::vector<CaseResult> cases;
  for (int i = 0; i < 20; ++i) cases.push_back(routed("t" + std::to_string(i), "square", "cublas", "it refuses"));
  const std::string text = text_of(report_with(cases));
  EXPECT_TRUE(contains(text, "t11: square"));
  EXPECT_FALSE(contains(text, "t12: square"));
  EXPECT_TRUE(contains(text, "20 rows in all")) << text;
}

TEST(WriteRouteTable, NothingWithoutRoutesAndNoFailureForADamagedOne) {
  Report report = report_with({sample_case("a", "m=1,n=1,k=1,a=f32", Status::pass, Outcome::correct)});
  EXPECT_FALSE(contains(text_of(report), "products"));
  report.checks[0].cases[0].observation = "{\"route\"";
  EXPECT_FALSE(contains(text_of(report), "products"));
}

/// A product of a workload: its own case passes, and `beside` is what another check says of it.
std::string workload_verdict(const std::vector<std::pair<Status, Outcome>>& beside) {
  const auto of_problem = [](const std::string& id, Status status, Outcome outcome) {
    CaseResult result = sample_case(id, "m=4,n=4,k=4,a=f16", status, outcome);
    result.parameters = {{"problem", "problem-1"}, {"calls", "3"}, {"source", "app.log:7"}};
    return result;
  };
  std::vector<CaseResult> cases;
  for (const auto& [status, outcome] : beside) {
    cases.push_back(of_problem("problem-1.other" + std::to_string(cases.size()), status, outcome));
  }
  Report report = report_with(std::move(cases));
  report.checks.push_back(
      {"problem", Status::pass, "", 0.1, {of_problem("problem-1", Status::pass, Outcome::correct)}});
  const std::string text = text_of(report);
  const auto at = text.find("1 problem of the workload: 1 ");
  return at == std::string::npos ? text : text.substr(at + 29, text.find('\n', at) - at - 29);
}

TEST(WriteWorkloadTable, AProductThatIsOnlySlowerIsCalledSlower) {
  EXPECT_EQ(workload_verdict({{Status::pass, Outcome::correct}}), "ok");
  EXPECT_EQ(workload_verdict({{Status::pass, Outcome::correct}, {Status::warn, Outcome::slower}}), "slower");
  EXPECT_EQ(workload_verdict({{Status::warn, Outcome::slower}, {Status::warn, Outcome::late_refusal}}), "risky");
  EXPECT_EQ(workload_verdict({{Status::warn, Outcome::slower}, {Status::fail, Outcome::wrong_result}}), "wrong");
}

}  // namespace
}  // namespace lt_audit
