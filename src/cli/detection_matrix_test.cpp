// The self-test's rules, with audits that are made up.
#include "cli/detection_matrix.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/json_documents.h"
#include "cli/self_test.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

CaseResult make_case(const std::string& id, Status status, const std::string& reason = "") {
  CaseResult result;
  result.id = id;
  result.status = status;
  result.reason = reason;
  return result;
}

/// A complete report of one check "alignment".
Report make_report(std::vector<CaseResult> cases, PlatformKind kind = PlatformKind::simulator) {
  Report report;
  report.complete = true;
  report.target.kind = kind;
  report.checks.resize(1);
  report.checks.front().id = "alignment";
  report.checks.front().cases = std::move(cases);
  return report;
}

TEST(Detections, CountFailsWarnsAndErrorsThatAreNew) {
  const Report clean =
      make_report({make_case("a", Status::pass), make_case("b", Status::pass), make_case("c", Status::pass),
                   make_case("d", Status::pass), make_case("e", Status::skip, "too-big")});
  const Report faulty = make_report({make_case("a", Status::pass), make_case("b", Status::warn, "late"),
                                     make_case("c", Status::fail, "wrong"), make_case("d", Status::error, "broke"),
                                     make_case("e", Status::skip, "too-big")});
  const auto seen = detections_of(clean, faulty);
  ASSERT_EQ(seen.count("alignment"), 1U);
  EXPECT_EQ(seen.at("alignment").red, 3U);
  EXPECT_EQ(seen.at("alignment").example_case, "b");
  EXPECT_EQ(seen.at("alignment").reason, "late");
}

TEST(Detections, WhatTheLibraryDoesWithoutTheFaultIsNotDetection) {
  const Report clean = make_report({make_case("a", Status::warn, "late"), make_case("b", Status::warn, "late")});
  EXPECT_TRUE(detections_of(clean, clean).empty());
  const Report worse = make_report({make_case("a", Status::fail, "wrong"), make_case("b", Status::warn, "other")});
  EXPECT_EQ(detections_of(clean, worse).at("alignment").red, 2U);
}

TEST(FalseAlarms, AreFailsErrorsAndWarnsOfWhatMustWorkOnASimulatorAndOnlyErrorsOnAGpu) {
  std::vector<CaseResult> cases = {make_case("a", Status::pass),      make_case("b", Status::warn, "w"),
                                   make_case("c", Status::fail, "f"), make_case("d", Status::error, "e"),
                                   make_case("s", Status::skip, "s"), make_case("t", Status::warn, "trap")};
  cases[1].expectation = Expectation::must_work;
  std::vector<std::string> ids;
  for (const FalseAlarm& alarm : false_alarms_of(make_report(cases))) ids.push_back(alarm.the_case);
  EXPECT_EQ(ids, (std::vector<std::string>{"b", "c", "d"}));
  const auto on_gpu = false_alarms_of(make_report(cases, PlatformKind::gpu));
  ASSERT_EQ(on_gpu.size(), 1U);
  EXPECT_EQ(on_gpu.front().the_case, "d");
}

const std::vector<FaultInfo> kFaults = {{"f1", "s", "KI-1"}, {"f2", "s", "KI-2"}, {"f3", "s", "KI-3"}};

SelfTestArguments on_simulator() {
  SelfTestArguments arguments;
  arguments.worker.target = TargetChoice::simulator;
  return arguments;
}

/// Every fault named in `seen` turns case "a" red.
AuditFunction audit_that_sees(const std::string& seen) {
  return [seen](const AuditOptions& options) {
    const bool red = !options.worker.fault.empty() && seen.find(options.worker.fault) != std::string::npos;
    return make_report({make_case("a", red ? Status::fail : Status::pass, red ? "wrong" : "")});
  };
}

DetectionMatrix run_self_test(const AuditFunction& audit, const SelfTestArguments& arguments = on_simulator()) {
  return detect_faults(arguments, kFaults, audit, [](const std::string&) {});
}

TEST(SelfTest, IsOkWhenEachFaultIsSeenAndEachCheckSeesThree) {
  const DetectionMatrix matrix = run_self_test(audit_that_sees("f1 f2 f3"));
  EXPECT_TRUE(self_test_ok(matrix));
  ASSERT_EQ(matrix.faults.size(), 3U);
  EXPECT_EQ(matrix.faults[1].name, "f2");
  EXPECT_EQ(matrix.faults[1].modelled_on, "KI-2");
}

TEST(SelfTest, AnUnseenFaultIsNamed) {
  const DetectionMatrix matrix = run_self_test(audit_that_sees("f1 f3"));
  EXPECT_FALSE(self_test_ok(matrix));
  EXPECT_EQ(undetected_faults(matrix), std::vector<std::string>{"f2"});
  EXPECT_EQ(weak_checks(matrix), std::vector<std::string>{"alignment"});
  const std::string text = matrix_text(matrix);
  EXPECT_NE(text.find("faults that no check sees: f2"), std::string::npos) << text;
  EXPECT_NE(text.find("not ok"), std::string::npos) << text;
}

TEST(SelfTest, AFalseAlarmIsNotOk) {
  const DetectionMatrix matrix = run_self_test([](const AuditOptions& options) {
    return make_report({make_case("a", Status::fail, options.worker.fault.empty() ? "always" : "fault")});
  });
  EXPECT_EQ(matrix.false_alarms.size(), 1U);
  EXPECT_TRUE(undetected_faults(matrix).empty());
  EXPECT_FALSE(self_test_ok(matrix));
}

TEST(SelfTest, NamedChecksNeedNotSeeEveryFault) {
  std::vector<FaultInfo> faults = kFaults;
  faults.push_back({"g4", "s", "KI-4"});
  SelfTestArguments arguments = on_simulator();
  const auto audit = audit_that_sees("f1 f2 f3");
  EXPECT_FALSE(self_test_ok(detect_faults(arguments, faults, audit, [](const std::string&) {})));
  arguments.selection.checks = {"alignment"};
  EXPECT_TRUE(self_test_ok(detect_faults(arguments, faults, audit, [](const std::string&) {})));
}

TEST(SelfTest, AnAuditThatBreaksOffIsARowWithAnErrorAndNotComplete) {
  const DetectionMatrix matrix = run_self_test([](const AuditOptions& options) {
    if (options.worker.fault == "f2") throw AuditError(ErrorKind::cannot_run, "no worker");
    return make_report({make_case("a", options.worker.fault.empty() ? Status::pass : Status::fail, "wrong")});
  });
  EXPECT_FALSE(matrix.complete);
  EXPECT_EQ(matrix.faults[1].error, "no worker");
  EXPECT_FALSE(self_test_ok(matrix));
}

TEST(SelfTest, AnInterruptEndsItBeforeTheOtherFaults) {
  std::vector<FaultInfo> many(50, FaultInfo{"f", "s", "KI"});
  std::atomic<int> audits = 0;
  const auto audit = [&audits](const AuditOptions& options) {
    ++audits;
    Report report = make_report({make_case("a", Status::pass)});
    report.complete = options.worker.fault.empty();
    report.incomplete_reason = report.complete ? "" : "interrupted by SIGINT after 0 of 1 cases";
    return report;
  };
  const DetectionMatrix matrix = detect_faults(on_simulator(), many, audit, [](const std::string&) {});
  EXPECT_FALSE(matrix.complete);
  EXPECT_LE(audits, 4);
}

TEST(SelfTest, WithoutAnAuditOfTheFaultlessLibraryThereIsNothingToCompare) {
  EXPECT_THROW(run_self_test([](const AuditOptions&) { return Report{}; }), AuditError);
  EXPECT_THROW(run_self_test([](const AuditOptions&) -> Report { throw AuditError(ErrorKind::cannot_run, "no GPU"); }),
               AuditError);
}

TEST(SelfTest, JsonHoldsTheMatrix) {
  const auto json = nlohmann::json::parse(detection_json(run_self_test(audit_that_sees("f1 f3"))));
  EXPECT_EQ(json.at("schema_version"), "1.0.0");
  EXPECT_EQ(json.at("target"), "simulator");
  EXPECT_EQ(json.at("checks"), nlohmann::json::array({"alignment"}));
  EXPECT_EQ(json.at("faults").at(0).at("detected_by").at("alignment").at("red"), 1);
  EXPECT_TRUE(json.at("faults").at(1).at("detected_by").empty());
  EXPECT_EQ(json.at("undetected_faults"), nlohmann::json::array({"f2"}));
  EXPECT_EQ(json.at("ok"), false);
}

}  // namespace
}  // namespace lt_audit
