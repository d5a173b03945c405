// Many reports into one: what is common, what differs, and what is not believed.
#include "compare/merge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/observation_json.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

/// A report of the sample's checks on a machine of this name.
NamedReport report_of(const std::string& host) {
  NamedReport named{host + ".json", sample_report()};
  named.report.environment.host = host;
  // Its case in error would make every merge an unusable one.
  named.report.checks[0].cases.pop_back();
  named.report.checks[0].cases[1].reason = "must-work-late-refusal";
  return named;
}

std::vector<NamedReport> reports_of(std::size_t count) {
  std::vector<NamedReport> reports;
  for (std::size_t i = 0; i < count; ++i) reports.push_back(report_of("gpu0" + std::to_string(i)));
  return reports;
}

/// A case of cublas-parity with its time and the spread of its repetitions.
CaseResult timed_case(const std::string& id, double us, double spread = 0.01) {
  CaseResult result = sample_case(id, "m=64,n=64,k=64,a=f16", Status::pass, Outcome::correct);
  Observation observation;
  observation.facts = {{"cublaslt_us", std::to_string(us)}, {"spread", std::to_string(spread)}};
  result.observation = observation_to_json(observation).dump();
  return result;
}

/// Nodes with one timed case each.
Merged merge_of_times(const std::vector<double>& times, double spread = 0.01) {
  std::vector<NamedReport> reports = reports_of(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    reports[i].report.checks.push_back(
        {"cublas-parity", Status::pass, "", 0, {timed_case("f16.nn", times[i], spread)}});
  }
  return merge_reports(reports);
}

const MergedProperty& property_of(const Merged& merged, const std::string& name) {
  for (const MergedProperty& property : merged.properties) {
    if (property.name == name) return property;
  }
  throw std::out_of_range(name);
}

using Nodes = std::vector<std::size_t>;

TEST(MergeReports, EqualReportsAgree) {
  const Merged merged = merge_reports(reports_of(3));
  EXPECT_EQ(merged.compared_nodes(), 3U);
  EXPECT_TRUE(merged.warnings.empty());
  EXPECT_TRUE(merged.all_usable());
  EXPECT_EQ(merged.differing_nodes(), std::vector<bool>(3));
  EXPECT_TRUE(merged.differing.empty());
  // Five of compute-type and two of alignment: one of its cases was skipped everywhere.
  EXPECT_EQ(merged.compared_cases, 7U);
  ASSERT_EQ(merged.findings.size(), 2U);
  EXPECT_EQ(merged.findings[0].status, Status::fail);
  EXPECT_EQ(merged.findings[0].nodes, (Nodes{0, 1, 2}));
  EXPECT_EQ(merged.findings[1].id, "alignment.must-work-late-refusal");
  EXPECT_EQ(merged.findings[1].title, "A pointer below 16 bytes is refused only by matmul");
  EXPECT_EQ(merged.findings[1].example, "alignment/f16.a.off2");
}

TEST(MergeReports, NobodyAndOneAreMerged) {
  EXPECT_TRUE(merge_reports({}).nodes.empty());
  const Merged one = merge_reports(reports_of(1));
  EXPECT_EQ(one.findings.size(), 2U);
  EXPECT_EQ(one.compared_cases, 0U);
  EXPECT_EQ(one.differing_nodes(), std::vector<bool>(1));
}

TEST(MergeReports, ACaseThatEndsDifferentlyNamesTheMinority) {
  std::vector<NamedReport> reports = reports_of(4);
  CaseResult& changed = reports[2].report.checks[1].cases[0];
  changed.status = Status::fail;
  changed.outcome = Outcome::wrong_result;
  changed.reason = "wrong";
  const Merged merged = merge_reports(reports);
  ASSERT_EQ(merged.differing.size(), 1U);
  EXPECT_EQ(merged.differing[0].id, "f32.f32.n");
  EXPECT_TRUE(merged.differing[0].has_majority());
  EXPECT_EQ(merged.differing[0].ends[0].nodes, (Nodes{0, 1, 3}));
  EXPECT_EQ(merged.differing[0].ends[1].nodes, (Nodes{2}));
  EXPECT_EQ(merged.differing[0].ends[1].outcome, Outcome::wrong_result);
  EXPECT_EQ(merged.differing_nodes(), (std::vector<bool>{false, false, true, false}));
  const MergedFinding& finding = merged.findings[1];
  EXPECT_EQ(finding.id, "compute-type.wrong");
  EXPECT_EQ(finding.nodes, (Nodes{2}));
  EXPECT_EQ(finding.without, (Nodes{0, 1, 3}));
}

TEST(MergeReports, WithoutAMajorityAllDiffer) {
  std::vector<NamedReport> reports = reports_of(2);
  reports[1].report.checks[1].cases[0].outcome = Outcome::unproven;
  const Merged merged = merge_reports(reports);
  ASSERT_EQ(merged.differing.size(), 1U);
  EXPECT_FALSE(merged.differing[0].has_majority());
  EXPECT_EQ(merged.differing_nodes(), (std::vector<bool>{true, true}));
}

TEST(MergeReports, WhatDidNotRunIsNeitherAgreementNorDifference) {
  std::vector<NamedReport> reports = reports_of(3);
  // The check with the first finding, on the last node: another selection. And a case that did not fit there.
  reports[2].report.checks[1].cases.clear();
  reports[2].report.checks[0].cases[0].status = Status::skip;
  reports[2].report.checks[0].cases[0].reason = "not-run";
  const Merged merged = merge_reports(reports);
  EXPECT_TRUE(merged.differing.empty());
  EXPECT_EQ(merged.nodes[2].missing_cases, 6U);
  EXPECT_EQ(merged.findings[0].not_run, (Nodes{2}));
  EXPECT_TRUE(merged.findings[0].without.empty());
  EXPECT_EQ(merged.differing_nodes(), (std::vector<bool>{false, false, true}));
}

TEST(MergeReports, PropertiesNameTheMinority) {
  std::vector<NamedReport> reports = reports_of(3);
  reports[0].report.target.driver_text = "575.57.08";
  reports[1].report.target.cublaslt.build_id = "ffff";
  reports[2].report.depth = "quick";
  const Merged merged = merge_reports(reports);
  const MergedProperty& driver = property_of(merged, "driver");
  ASSERT_EQ(driver.values.size(), 2U);
  EXPECT_EQ(driver.values[0].text, "580.159.04");
  EXPECT_EQ(driver.values[1].nodes, (Nodes{0}));
  EXPECT_EQ(property_of(merged, "cublaslt").values[1].text, "13.1.0 (build ffff)");
  EXPECT_EQ(property_of(merged, "depth").values[1].nodes, (Nodes{2}));
  EXPECT_EQ(property_of(merged, "gpu").values.size(), 1U);
  EXPECT_EQ(merged.differing_nodes(), std::vector<bool>(3, true));
}

TEST(MergeReports, NamesAreUniqueAndSayTheDeviceOrTheFile) {
  std::vector<NamedReport> reports;
  const auto add = [&reports](const std::string& host, const std::string& file, int device) {
    reports.push_back(report_of(host));
    reports.back().file = file;
    reports.back().report.target.device = device;
  };
  add("big", "a.json", 0);
  add("big", "b.json", 1);
  add("alone", "c.json", 3);
  add("twice", "d.json", 0);
  add("twice", "e.json", 0);
  add("", "x/redacted.json", 0);
  add("", "y/same.json", 0);
  add("", "z/same.json", 0);
  add("", "z/same.json", 0);
  std::vector<std::string> names;
  for (const MergedNode& node : merge_reports(reports).nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"big:0", "big:1", "alone", "d", "e", "redacted", "y/same.json",
                                             "z/same.json#8", "z/same.json#9"}));
}

TEST(MergeReports, SimulatorsAndFaultsAreSetAsideBesideRealReports) {
  std::vector<NamedReport> reports = reports_of(4);
  reports[0].report.target.kind = PlatformKind::simulator;
  reports[0].report.checks[1].cases[0].outcome = Outcome::stale;
  reports[1].report.fault = "wrong-element";
  const Merged merged = merge_reports(reports);
  EXPECT_EQ(merged.compared_nodes(), 2U);
  EXPECT_FALSE(merged.all_usable());
  EXPECT_EQ(merged.warnings, (std::vector<std::string>{"gpu00 is SET ASIDE: it is of the simulator",
                                                       "gpu01 is SET ASIDE: fault wrong-element was planted"}));
  EXPECT_TRUE(merged.differing.empty());
  EXPECT_EQ(merged.findings[0].nodes, (Nodes{2, 3}));
  EXPECT_TRUE(merged.findings[0].without.empty());
}

TEST(MergeReports, SimulatorsAloneAreMergedAndSaidLoudly) {
  std::vector<NamedReport> reports = reports_of(2);
  for (NamedReport& named : reports) named.report.target.kind = PlatformKind::simulator;
  const Merged merged = merge_reports(reports);
  EXPECT_EQ(merged.compared_nodes(), 2U);
  ASSERT_EQ(merged.warnings.size(), 1U);
  EXPECT_EQ(merged.warnings[0].substr(0, 10), "SIMULATOR:");
}

TEST(MergeReports, IncompleteReportsAndErrorsAreNamed) {
  std::vector<NamedReport> reports = reports_of(2);
  reports[0].report.complete = false;
  reports[0].report.incomplete_reason = "interrupted by SIGTERM after 3 of 9 cases";
  reports[1].report.checks[0].cases[0].status = Status::error;
  const Merged merged = merge_reports(reports);
  EXPECT_FALSE(merged.all_usable());
  EXPECT_EQ(merged.compared_nodes(), 2U);
  EXPECT_EQ(merged.warnings, (std::vector<std::string>{"gpu00 is INCOMPLETE: interrupted by SIGTERM after 3 of 9 cases",
                                                       "gpu01: 1 case could not be audited (status error)"}));
}

TEST(MergeSpeed, ASlowNodeIsAnOutlier) {
  const Merged merged = merge_of_times({10.0, 10.1, 9.9, 10.05, 12.0});
  ASSERT_EQ(merged.outliers.size(), 1U);
  EXPECT_EQ(merged.outliers[0].node, 4U);
  EXPECT_EQ(merged.outliers[0].id, "f16.nn");
  EXPECT_NEAR(merged.outliers[0].median_us, 10.05, 1e-6);
  // 0.6745 * 1.95 / 0.05, the median of the deviations 0.05, 0.05, 0.15, 0, 1.95 being 0.05.
  EXPECT_NEAR(merged.outliers[0].score, 26.3, 0.1);
  EXPECT_EQ(merged.differing_nodes(), (std::vector<bool>{false, false, false, false, true}));
}

TEST(MergeSpeed, AFastNodeIsOneToo) {
  const Merged merged = merge_of_times({10.0, 10.1, 9.9, 10.05, 8.0});
  ASSERT_EQ(merged.speeds.size(), 5U);
  EXPECT_EQ(merged.speeds[4].faster, 1U);
  EXPECT_EQ(merged.speeds[4].slower, 0U);
  EXPECT_TRUE(merged.speeds[4].differs);
}

TEST(MergeSpeed, FarFromEqualTimesButCloseToThemIsNone) {
  // The score is infinite, the distance 3 %.
  EXPECT_TRUE(merge_of_times({10.0, 10.0, 10.0, 10.0, 10.3}).outliers.empty());
  EXPECT_TRUE(std::isinf(merge_of_times({10.0, 10.0, 10.0, 10.0, 11.0}).outliers.at(0).score));
  // Times that vary from node to node make no outlier of the largest.
  EXPECT_TRUE(merge_of_times({8.0, 9.0, 10.0, 11.0, 12.0}).outliers.empty());
  // Nor is one whose own repetitions vary as much.
  EXPECT_TRUE(merge_of_times({10.0, 10.1, 9.9, 10.05, 12.0}, 0.3).outliers.empty());
}

TEST(MergeSpeed, NeedsFourNodesWithTheSameGpu) {
  EXPECT_EQ(merge_of_times({10.0, 10.0, 30.0}).speed_groups.at(0).not_compared,
            "needs 4 nodes with this GPU, there are 3");
  std::vector<NamedReport> reports = reports_of(6);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    Report& report = reports[i].report;
    report.checks.push_back({"cublas-parity", Status::pass, "", 0, {timed_case("f16.nn", i < 2 ? 40.0 : 10.0)}});
    if (i < 2) report.target.device_facts.name = "NVIDIA L4";
  }
  const Merged merged = merge_reports(reports);
  EXPECT_TRUE(merged.outliers.empty()) << "times of different GPUs were compared";
  ASSERT_EQ(merged.speed_groups.size(), 2U);
  EXPECT_EQ(merged.speed_groups[0].gpu, "NVIDIA H200 (sm_90)");
  EXPECT_EQ(merged.speed_groups[0].nodes, (Nodes{2, 3, 4, 5}));
  EXPECT_EQ(merged.speed_groups[0].timed_cases, 1U);
  EXPECT_FALSE(merged.speed_groups[1].not_compared.empty());
}

TEST(MergeSpeed, OneOutlierOfManyCasesIsChance) {
  std::vector<NamedReport> reports = reports_of(5);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CheckResult check{"cublas-parity", Status::pass, "", 0, {}};
    for (int j = 0; j < 20; ++j) {
      check.cases.push_back(timed_case("case" + std::to_string(j), i == 1 && j == 7 ? 20.0 : 10.0));
    }
    reports[i].report.checks.push_back(check);
  }
  const Merged merged = merge_reports(reports);
  ASSERT_EQ(merged.outliers.size(), 1U);
  EXPECT_EQ(merged.outliers[0].id, "case7");
  EXPECT_EQ(merged.differing_nodes(), std::vector<bool>(5));
  EXPECT_NEAR(merged.speeds[1].median_ratio, 1, 1e-9);
}

TEST(MergeSpeed, TakesTheLargestWorkspaceLimitAndNoSingleLaunch) {
  std::vector<NamedReport> reports = reports_of(4);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    Observation walked;
    walked.facts = {{"times_us", i == 0 ? "0 bytes: 10.0, 64 KiB: 9.0" : "0 bytes: 10.0, 64 KiB: 6.0"}};
    CaseResult steps = sample_case("steps", "m=64,n=64,k=64,a=f16", Status::pass, Outcome::correct);
    steps.observation = observation_to_json(walked).dump();
    Observation single;
    single.times.matmul_gpu_us = i == 0 ? 100 : 10;
    CaseResult launch = sample_case("launch", "m=64,n=64,k=64,a=f16", Status::pass, Outcome::correct);
    launch.observation = observation_to_json(single).dump();
    CaseResult damaged = launch;
    damaged.id = "damaged";
    damaged.observation = R"({"facts":{"times_us":"64 KiB: much","cublaslt_us":"nan"}})";
    reports[i].report.checks.push_back({"workspace", Status::pass, "", 0, {steps, launch, damaged}});
  }
  const Merged merged = merge_reports(reports);
  EXPECT_EQ(merged.speed_groups.at(0).timed_cases, 1U);
  ASSERT_EQ(merged.outliers.size(), 1U);
  EXPECT_NEAR(merged.outliers[0].us, 9, 1e-6);
  EXPECT_NEAR(merged.outliers[0].median_us, 6, 1e-6);
}

}  // namespace
}  // namespace lt_audit
