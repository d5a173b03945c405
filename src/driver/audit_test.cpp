// A whole audit over fake checks and scripted workers: from plan to report.
#include "driver/audit.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "driver/audit_parts.h"
#include "driver/fake_check.h"
#include "driver/fake_worker.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

std::vector<Case> numbered(const std::string& prefix, int count) {
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) cases.push_back(fake_case(prefix + std::to_string(i)));
  return cases;
}

class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    auto cases = numbered("a", 6);
    cases[1].isolated = true;
    registry_.push_back(std::make_unique<FakeCheck>("alpha", std::move(cases)));
    registry_.push_back(std::make_unique<FakeCheck>("beta", numbered("b", 3)));
    registry_.push_back(std::make_unique<FakeCheck>("gamma", numbered("g", 3), "needs another GPU"));
    options_.worker.target = TargetChoice::simulator;
  }

  Report run(const std::string& script) { return run_audit_with(options_, {registry_, fake_worker_command(script)}); }

  std::vector<std::unique_ptr<Check>> registry_;
  AuditOptions options_;
};

std::vector<std::string> ids_of(const CheckResult& check) {
  std::vector<std::string> ids;
  for (const auto& result : check.cases) ids.push_back(result.id);
  return ids;
}

TEST_F(AuditTest, ReportsEveryCaseInTheOrderOfThePlan) {
  options_.arguments = {"run"};
  const auto report = run("");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.incomplete_reason, "");
  ASSERT_EQ(report.checks.size(), 3U);
  EXPECT_EQ(ids_of(report.checks[0]), (std::vector<std::string>{"a0", "a1", "a2", "a3", "a4", "a5"}));
  EXPECT_EQ(report.checks[0].status, Status::pass);
  EXPECT_EQ(report.checks[2].status, Status::skip);
  EXPECT_EQ(report.checks[2].skip_reason, "needs another GPU");
  EXPECT_EQ(summary_of(report).pass, 9U);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.arguments, std::vector<std::string>{"run"});
  EXPECT_FALSE(report.tool_version.empty());
  EXPECT_EQ(report.depth, "default");
  EXPECT_EQ(report.started.size(), 20U);
  EXPECT_EQ(report.target.device_facts.name, "Fake GPU");
  EXPECT_NE(report.checks[0].cases[0].observation.find("\"stages\""), std::string::npos);
}

TEST_F(AuditTest, CrashesAndRefusalsBecomeFindings) {
  const auto report = run("crash=a1 refuse=b0 refuse=b2");
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].check, "beta");
  EXPECT_EQ(report.findings[0].cases, (std::vector<std::string>{"b0", "b2"}));
  EXPECT_EQ(report.findings[0].repro, "lt-audit replay 'm=16,n=16,k=16,a=f32' --target simulator");
  EXPECT_EQ(report.findings[1].id, "alpha.crashed");
  EXPECT_NE(report.findings[1].measured.find("SIGSEGV"), std::string::npos);
  EXPECT_EQ(report.checks[0].cases[1].outcome, Outcome::crashed);
  EXPECT_EQ(report.checks[0].status, Status::fail);
  for (const auto& check : report.checks) {
    for (const auto& result : check.cases) EXPECT_EQ(result.reason.empty(), result.status == Status::pass);
  }
}

TEST_F(AuditTest, ProgressCountsEachCheckToItsEnd) {
  std::map<std::string, ProgressEvent> last;
  options_.progress = [&last](const ProgressEvent& event) {
    auto& before = last[std::string(event.check->check->info().id)];
    EXPECT_EQ(event.done, before.done + 1);
    before = event;
  };
  run("refuse=b1");
  EXPECT_EQ(last.at("alpha").done, 6U);
  EXPECT_EQ(last.at("alpha").total, 6U);
  EXPECT_EQ(last.at("alpha").non_pass, 0U);
  EXPECT_EQ(last.at("beta").done, 3U);
  EXPECT_EQ(last.at("beta").non_pass, 1U);
}

TEST_F(AuditTest, CheckpointsAreValidAndSayThatTheyAreNotTheEnd) {
  std::vector<std::size_t> sizes;
  options_.checkpoint = [&sizes](const Report& report) {
    EXPECT_FALSE(report.complete);
    EXPECT_FALSE(report.incomplete_reason.empty());
    sizes.push_back(summary_of(report).total);
  };
  EXPECT_TRUE(run("").complete);
  // beta ends before the isolated case of alpha.
  EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 9}));
}

TEST_F(AuditTest, AnInterruptedAuditKeepsWhatItHas) {
  int answered = 0;
  options_.progress = [&answered](const ProgressEvent&) {
    if (++answered == 2) std::raise(SIGTERM);
  };
  // The worker hangs behind the second case, so that nothing else can be answered in between.
  const auto report = run("hang=a3");
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.incomplete_reason.substr(0, 28), "interrupted by SIGTERM after");
  EXPECT_EQ(ids_of(report.checks[0]), (std::vector<std::string>{"a0", "a2"}));
  EXPECT_EQ(report.checks[1].status, Status::skip);
  EXPECT_FALSE(report.checks[1].skip_reason.empty());
}

TEST_F(AuditTest, AMistypedCheckStartsNoWorker) {
  options_.selection.checks = {"alhpa"};
  try {
    // A worker that were started would be reported as missing.
    run_audit_with(options_, {registry_, {"/nonexistent"}});
    FAIL() << "accepted";
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST_F(AuditTest, ProfilePhasesStandOnceAndEndWithTheTotal) {
  const auto report = run("");
  ASSERT_FALSE(report.profile.empty());
  EXPECT_EQ(report.profile.back().phase, "total");
  std::map<std::string, int> times_named;
  for (const auto& entry : report.profile) {
    EXPECT_EQ(++times_named[entry.phase], 1) << entry.phase;
    EXPECT_GE(entry.seconds, 0) << entry.phase;
  }
}

class AuditsInTurn : public AuditTest {
 protected:
  AuditsInTurn() {
    registry_.clear();
    auto cases = numbered("a", 40);
    cases[3].isolated = true;
    registry_.push_back(std::make_unique<FakeCheck>("alpha", std::move(cases)));
    other_ = options_;
    options_.progress = [this](const ProgressEvent&) { turns_ += 'A'; };
    other_.progress = [this](const ProgressEvent&) { turns_ += 'B'; };
  }

  std::pair<Report, Report> run_both(const std::string& script) {
    return run_audits_in_turn_with(options_, other_, {registry_, fake_worker_command(script)});
  }

  AuditOptions other_;
  std::string turns_;
};

TEST_F(AuditsInTurn, RunTheSameCasesWithinMomentsAndBothToTheirEnd) {
  other_.worker.seed = 7;
  const auto [first, second] = run_both("refuse=a5");
  const std::string a(16, 'A');
  const std::string b(16, 'B');
  EXPECT_EQ(turns_, a + b + b + a + std::string(8, 'A') + std::string(8, 'B'));
  EXPECT_EQ(second.seed, 7U);
  for (const Report& report : {first, second}) {
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(summary_of(report).total, 40U);
    // The isolated case ran last and stands where the plan has it.
    EXPECT_EQ(report.checks[0].cases[3].id, "a3");
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings[0].cases, std::vector<std::string>{"a5"});
  }
}

TEST_F(AuditsInTurn, ASignalEndsBothAndCountsTheCasesOfAllTurns) {
  other_.progress = [this](const ProgressEvent& event) {
    turns_ += 'B';
    if (event.done == 20) std::raise(SIGINT);
  };
  // The worker hangs behind that case, so that nothing else can be answered in between.
  const auto [first, second] = run_both("hang=a21");
  EXPECT_FALSE(first.complete);
  EXPECT_FALSE(second.complete);
  EXPECT_EQ(second.incomplete_reason, "interrupted by SIGINT after 20 of 40 cases");
  EXPECT_EQ(first.incomplete_reason, "the audit that it takes turns with was " + second.incomplete_reason);
  EXPECT_EQ(summary_of(first).total, 16U);
}

TEST_F(AuditsInTurn, WorkersThatOnlyDieAreNoSignalForTheOther) {
  const auto [first, second] = run_both("crash=*");
  EXPECT_FALSE(first.complete);
  EXPECT_FALSE(second.complete);
  EXPECT_EQ(first.incomplete_reason.find("turns"), std::string::npos);
  EXPECT_EQ(second.incomplete_reason.find("turns"), std::string::npos);
}

}  // namespace
}  // namespace lt_audit
