// The supervisor against scripted worker processes that die, hang, babble and lose their context.
#include "driver/supervisor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/fake_worker.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

/// Items with ids and what came back for them.
class Supervision {
 public:
  explicit Supervision(const std::string& script, double timeout_s = 20) {
    options_.command = fake_worker_command(script);
    options_.start.worker.target = TargetChoice::simulator;
    options_.start.worker.timeout_s = timeout_s;
  }

  Supervision& shared(int count) { return add(count, false); }
  Supervision& isolated(int count) { return add(count, true); }
  Supervision& spares(std::size_t count) {
    options_.most_spares = count;
    return *this;
  }
  Supervision& start_limit(double seconds) {
    options_.start_limit_s = seconds;
    return *this;
  }

  void go() {
    for (const auto& [id, alone] : cases_) items_.push_back({0, items_.size(), id, alone});
    Supervisor supervisor(options_);
    supervisor.start();
    end = supervisor.run(items_, [this](std::size_t item, Observation&& observation) {
      if (on_answer) on_answer(item);
      answers[cases_[item].first].push_back(std::move(observation));
    });
    supervisor.finish();
    costs = supervisor.costs();
  }

  const Observation& only(const std::string& id) { return answers.at(id).at(0); }
  /// Ids whose worker did not survive.
  std::set<std::string> not_survived() const {
    std::set<std::string> ids;
    for (const auto& [id, observations] : answers) {
      if (observations[0].end != ProcessEnd::survived || !observations[0].audit_error.empty()) ids.insert(id);
    }
    return ids;
  }
  void expect_each_once() const {
    EXPECT_EQ(answers.size(), cases_.size());
    for (const auto& [id, observations] : answers) EXPECT_EQ(observations.size(), 1U) << id;
  }

  std::function<void(std::size_t)> on_answer;
  std::map<std::string, std::vector<Observation>> answers;
  Supervisor::End end;
  SupervisorCosts costs;

 private:
  Supervision& add(int count, bool alone) {
    for (int i = 0; i < count; ++i) cases_.emplace_back("c" + std::to_string(cases_.size()), alone);
    return *this;
  }

  SupervisorOptions options_;
  std::vector<std::pair<std::string, bool>> cases_;
  std::vector<WorkItem> items_;
};

std::string fresh_file(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() / (name + std::to_string(getpid()));
  std::filesystem::remove(path);
  return path;
}

TEST(Supervisor, RunsEveryCaseOnceInOneWorker) {
  Supervision run("");
  run.shared(500).go();
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
  EXPECT_EQ(run.costs.workers, 1U);
  std::set<std::string> pids;
  for (const auto& [id, observations] : run.answers) {
    pids.insert(observations[0].facts.at("pid"));
    EXPECT_EQ(observations[0].facts.at("id"), id);
  }
  EXPECT_EQ(pids.size(), 1U);
}

TEST(Supervisor, ACrashCostsItsCaseOnly) {
  Supervision run("crash=c3 crash=c70");
  run.shared(200).go();
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), (std::set<std::string>{"c3", "c70"}));
  EXPECT_EQ(run.only("c3").end, ProcessEnd::crashed);
  EXPECT_EQ(run.only("c3").end_detail, "SIGSEGV");
}

TEST(Supervisor, AnExitIsACrashWithItsCode) {
  Supervision run("exit=c0");
  run.shared(3).go();
  run.expect_each_once();
  EXPECT_EQ(run.only("c0").end, ProcessEnd::crashed);
  EXPECT_EQ(run.only("c0").end_detail, "exit code 3");
}

TEST(Supervisor, AHangEndsAtTheTimeLimit) {
  Supervision run("hang=c5", 1);
  run.shared(20).go();
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), std::set<std::string>{"c5"});
  EXPECT_EQ(run.only("c5").end, ProcessEnd::timed_out);
  EXPECT_EQ(run.only("c5").end_detail, "1 s");
}

TEST(Supervisor, RubbishIsAnErrorOfTheAuditAndEndsTheWorker) {
  Supervision run("rubbish=c2");
  run.shared(10).go();
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), std::set<std::string>{"c2"});
  EXPECT_NE(run.only("c2").audit_error.find("Segmentation fault"), std::string::npos);
}

TEST(Supervisor, AnAnswerToAnotherCaseIsNotBelieved) {
  Supervision run("stray=c1");
  run.shared(4).go();
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), std::set<std::string>{"c1"});
}

TEST(Supervisor, CasesBehindALostContextRunInANewWorker) {
  Supervision run("lose=c4");
  run.shared(30).go();
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), std::set<std::string>{"c4"});
  EXPECT_EQ(run.only("c4").end, ProcessEnd::context_lost);
  EXPECT_NE(run.only("c3").facts.at("pid"), run.only("c5").facts.at("pid"));
}

TEST(Supervisor, EachIsolatedCaseHasAWorkerOfItsOwn) {
  Supervision run("crash=c11");
  run.shared(10).isolated(4).go();
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), std::set<std::string>{"c11"});
  std::set<std::string> pids;
  for (const auto* id : {"c0", "c10", "c12", "c13"}) pids.insert(run.only(id).facts.at("pid"));
  EXPECT_EQ(pids.size(), 4U);
  EXPECT_EQ(run.costs.isolated_cases, 4U);
}

TEST(Supervisor, IsolatedCasesThatAllCrashDoNotStopTheAudit) {
  Supervision run("crash=*");
  run.isolated(25).go();
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
}

TEST(Supervisor, StopsWhenWorkersDoNothingButDie) {
  Supervision run("crash=*");
  run.shared(60).go();
  EXPECT_FALSE(run.end.complete());
  EXPECT_NE(run.end.reason.find("20 worker processes in a row died"), std::string::npos) << run.end.reason;
  EXPECT_NE(run.end.reason.find("after 20 of 60 cases"), std::string::npos) << run.end.reason;
  EXPECT_NE(run.end.reason.find("SIGSEGV"), std::string::npos) << run.end.reason;
  EXPECT_EQ(run.answers.size(), 20U);
}

TEST(Supervisor, TriesAWorkerThatDiesAtItsStartOnceMore) {
  const auto file = fresh_file("lt_audit_die_once_");
  Supervision run("die-once=" + file);
  run.shared(5).go();
  std::filesystem::remove(file);
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
  EXPECT_EQ(run.costs.workers, 2U);
}

TEST(Supervisor, GivesUpAfterTwoDeathsAtTheStart) {
  Supervision run("die");
  run.shared(1);
  try {
    run.go();
    FAIL() << "no worker came up, and nothing was thrown";
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_run);
    EXPECT_NE(std::string(error.what()).find("exit code 7"), std::string::npos) << error.what();
  }
}

TEST(Supervisor, TellsTheWorkersOwnReasonForNotStarting) {
  Supervision run("fail");
  run.shared(1);
  try {
    run.go();
    FAIL() << "no worker came up, and nothing was thrown";
  } catch (const AuditError& error) {
    EXPECT_STREQ(error.what(), "no GPU was found");
  }
}

TEST(Supervisor, KeepsItsResultsWhenNoSecondWorkerComesUp) {
  const auto file = fresh_file("lt_audit_fail_later_");
  Supervision run("crash=c3 fail-after-first=" + file);
  run.shared(10).go();
  std::filesystem::remove(file);
  EXPECT_EQ(run.answers.size(), 4U);
  EXPECT_NE(run.end.reason.find("after 4 of 10 cases"), std::string::npos) << run.end.reason;
  EXPECT_NE(run.end.reason.find("no GPU was found"), std::string::npos) << run.end.reason;
}

TEST(Supervisor, GoesOnWhenLaterWorkersDieAtTheirStart) {
  const auto file = fresh_file("lt_audit_die_later_");
  Supervision run("crash=c3 die-thrice-after-first=" + file);
  run.shared(10).go();
  for (const char* end : {".0", ".1", ".2", ".3"}) {
    EXPECT_TRUE(std::filesystem::remove(file + end)) << "no worker died with " << end;
  }
  EXPECT_TRUE(run.end.complete()) << run.end.reason;
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), std::set<std::string>{"c3"});
}

TEST(Supervisor, SeveralSparesGiveEachIsolatedCaseAFreshWorker) {
  Supervision run("crash=c11 lose=c2");
  run.spares(3).shared(10).isolated(6).go();
  EXPECT_TRUE(run.end.complete());
  run.expect_each_once();
  EXPECT_EQ(run.not_survived(), (std::set<std::string>{"c11", "c2"}));
  std::set<std::string> pids;
  for (const auto* id : {"c0", "c10", "c12", "c13", "c14", "c15"}) pids.insert(run.only(id).facts.at("pid"));
  EXPECT_EQ(pids.size(), 6U);
  // No more workers than can be used: the first, its replacement, one for each isolated case.
  EXPECT_LE(run.costs.workers, 8U);
}

TEST(Supervisor, ReportsAMissingProgram) {
  SupervisorOptions options;
  options.command = {"/nonexistent/lt-audit", "worker"};
  Supervisor supervisor(options);
  EXPECT_THROW(supervisor.start(), AuditError);
}

TEST(Supervisor, StopsOnSigintWithWhatItHas) {
  Supervision run("");
  run.shared(400);
  int answered = 0;
  run.on_answer = [&answered](std::size_t) {
    if (++answered == 7) std::raise(SIGINT);
  };
  run.go();
  EXPECT_NE(run.end.reason.find("interrupted by SIGINT after "), std::string::npos) << run.end.reason;
  EXPECT_GE(run.answers.size(), 7U);
  EXPECT_LT(run.answers.size(), 400U);
}

TEST(Supervisor, ASignalEndsTheWaitForAHangingCase) {
  Supervision run("kill-parent-signal=c2", 3600);
  run.shared(5).go();
  // The answers to c0 and c1 may still be on their way when the signal of c2 comes.
  EXPECT_EQ(run.end.reason.rfind("interrupted by SIGINT after ", 0), 0U) << run.end.reason;
  EXPECT_LE(run.answers.size(), 2U);
}

TEST(Supervisor, CollectsTheProfilesOfWorkersThatEndInOrder) {
  Supervision run("");
  run.shared(3).isolated(2).go();
  EXPECT_DOUBLE_EQ(run.costs.engine.matmul_us, 3000);
}

TEST(Supervisor, LeavesNoChildBehind) {
  Supervision run("hang=c1", 1);
  run.shared(3).isolated(1).go();
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Interrupts, PutsFormerHandlersBack) {
  struct sigaction before = {};
  sigaction(SIGINT, nullptr, &before);
  {
    const Interrupts outer;
    const Interrupts inner;
    std::raise(SIGTERM);
    EXPECT_EQ(outer.received(), "SIGTERM");
    EXPECT_EQ(inner.received(), "SIGTERM");
  }
  struct sigaction after = {};
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  const Interrupts later;
  EXPECT_EQ(later.received(), "");
}

}  // namespace
}  // namespace lt_audit
