// SARIF: rules, results, places, identities, and what is left out. Validity is checked in tests/formats_test.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "report/formats.h"
#include "report/identity.h"
#include "report/sample_formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

using nlohmann::json;

/// The one run of the log.
json run_of(const Report& report, const Annotations& annotations = {}) {
  std::ostringstream out;
  write_sarif(report, annotations, out);
  const json log = json::parse(out.str());
  EXPECT_EQ(log.at("version"), "2.1.0");
  EXPECT_EQ(log.at("runs").size(), 1U);
  return log.at("runs").at(0);
}

const json& rules_of(const json& run) { return run.at("tool").at("driver").at("rules"); }

std::set<std::string> rule_ids(const json& run) {
  std::set<std::string> ids;
  for (const json& rule : rules_of(run)) ids.insert(rule.at("id").get<std::string>());
  EXPECT_EQ(ids.size(), rules_of(run).size());
  return ids;
}

std::set<std::string> notification_ids(const json& run) {
  std::set<std::string> ids;
  for (const json& one : run.at("invocations").at(0).at("toolExecutionNotifications")) {
    ids.insert(one.at("descriptor").at("id").get<std::string>());
  }
  return ids;
}

TEST(Sarif, HasARuleForEveryCheckAndEveryCause) {
  EXPECT_EQ(rule_ids(run_of(sample_report())),
            (std::set<std::string>{"alignment", "compute-type", "two-gpu", "alignment/may-refuse-late_refusal",
                                   "compute-type/may-refuse-out_of_bounds"}));
}

TEST(Sarif, HasAResultForEachWarningAndFailureWorstFirst) {
  const json run = run_of(sample_report());
  const json& results = run.at("results");
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results.at(0).at("level"), "error");
  EXPECT_EQ(results.at(2).at("level"), "warning");
  for (const json& result : results) {
    EXPECT_EQ(rules_of(run).at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
    EXPECT_FALSE(result.contains("suppressions"));
    EXPECT_FALSE(result.contains("baselineState"));
  }
  EXPECT_EQ(results.at(0).at("properties").at("problem"), sample_report().checks[1].cases[2].problem);
  EXPECT_EQ(run.at("properties").at("cases").at("skip"), 1);
}

TEST(Sarif, FingerprintsComeFromCheckProblemAndCause) {
  const Report report = sample_report();
  const json prints = run_of(report).at("results").at(0).at("partialFingerprints");
  const std::string expected = fingerprint(finding_identity("compute-type", report.checks[1].cases[2]));
  EXPECT_EQ(prints.at("ltAuditFinding/v1"), expected);
  EXPECT_EQ(prints.at("primaryLocationLineHash"), expected + ":1");
}

TEST(Sarif, CasesOfOneIdentityAreToldApart) {
  Report report = sample_report();
  report.checks[1].cases[3].problem = report.checks[1].cases[2].problem;
  const json results = run_of(report).at("results");
  const auto hash = [&results](std::size_t i) {
    return results.at(i).at("partialFingerprints").at("primaryLocationLineHash").get<std::string>();
  };
  EXPECT_EQ(hash(0).back(), '1');
  EXPECT_EQ(hash(1), hash(0).substr(0, hash(0).size() - 1) + "2");
}

TEST(Sarif, CasesOfAWorkloadPointToTheLineThatCalledThem) {
  const json place = run_of(workload_report()).at("results").at(0).at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "logs/app%201.log");
  EXPECT_EQ(place.at("region").at("startLine"), 12);
  const json other = run_of(sample_report()).at("results").at(0).at("locations").at(0);
  EXPECT_EQ(other.at("physicalLocation").at("artifactLocation").at("uri"), "lt-audit.json");
  EXPECT_EQ(other.at("logicalLocations").at(0).at("fullyQualifiedName"), "compute-type/f32.f16.n");
}

TEST(Sarif, WaiversSuppressAndTheBaselineTellsNewFromUnchanged) {
  const json results = run_of(sample_report(), sample_annotations()).at("results");
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results.at(0).at("baselineState"), "new");
  EXPECT_EQ(results.at(0).at("suppressions"), json::array());
  EXPECT_EQ(results.at(1).at("baselineState"), "unchanged");
  const json& suppression = results.at(2).at("suppressions").at(0);
  EXPECT_EQ(suppression.at("kind"), "external");
  EXPECT_EQ(suppression.at("status"), "accepted");
  EXPECT_EQ(suppression.at("justification"),
            "waived until 2027-01-31: the application promises less from March on (https://example.org/7)");
}

TEST(Sarif, WhatIsNoFindingIsANotification) {
  Report report = sample_report();
  report.target.kind = PlatformKind::simulator;
  report.complete = false;
  const json run = run_of(report, sample_annotations());
  EXPECT_EQ(notification_ids(run), (std::set<std::string>{"incomplete", "simulator", "gate/new-finding",
                                                          "gate/case-missing", "environment", "case-error"}));
  EXPECT_EQ(run.at("invocations").at(0).at("executionSuccessful"), false);
  EXPECT_EQ(run.at("automationDetails").at("id"), "lt-audit/simulator/2026-11-29T20:16:22Z");
}

TEST(Sarif, ARunWithoutErrorsIsSuccessfulWhateverItFound) {
  Report report = sample_report();
  report.checks[0].cases.pop_back();
  const json invocation = run_of(report).at("invocations").at(0);
  EXPECT_EQ(invocation.at("executionSuccessful"), true);
  EXPECT_EQ(invocation.at("exitCode"), 1);
  EXPECT_EQ(invocation.at("startTimeUtc"), "2026-11-29T20:16:22Z");
}

TEST(Sarif, LeavesOutWhatARunCannotHoldAndSaysSo) {
  Report report = sample_report();
  std::vector<CaseResult>& cases = report.checks[1].cases;
  cases.assign(25001, cases[2]);
  std::ostringstream out;
  write_sarif(report, {}, out);
  // Not parsed: that would take a sanitizer half a minute.
  const std::string text = out.str();
  std::size_t results = 0;
  for (std::size_t at = text.find("{\"ruleId\":"); at != std::string::npos; at = text.find("{\"ruleId\":", at + 1))
    ++results;
  EXPECT_EQ(results, 25000U);
  EXPECT_NE(text.find("2 of 25002 results are left out"), std::string::npos);
}

TEST(Sarif, ARedactedReportHasNoDirectories) {
  std::ostringstream out;
  write_sarif(redacted(sample_report()), {}, out);
  EXPECT_EQ(out.str().find("alice"), std::string::npos);
  EXPECT_EQ(out.str().find("/home"), std::string::npos);
}

TEST(Sarif, HostileTextIsNoLinkAndNoControlCharacter) {
  std::ostringstream out;
  write_sarif(hostile_report(), hostile_annotations(), out);
  const json run = json::parse(out.str()).at("runs").at(0);
  for (const json& result : run.at("results")) {
    EXPECT_EQ(result.at("message").at("text").get<std::string>().find("[link]("), std::string::npos);
  }
  EXPECT_EQ(out.str().find("\\u001b"), std::string::npos);
  EXPECT_EQ(run.at("results")
                .at(0)
                .at("locations")
                .at(0)
                .at("physicalLocation")
                .at("artifactLocation")
                .at("uri")
                .get<std::string>()
                .find(".."),
            std::string::npos);
  EXPECT_LT(out.str().size(), 4U << 20U);
}

}  // namespace
}  // namespace lt_audit
