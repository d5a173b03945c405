// What a comparison says of two reports.
#include "compare/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compare/measures.h"
#include "compare/sample_diff.h"
#include "lt_audit/measured_facts.h"
#include "report/observation_json.h"

namespace lt_audit {
namespace {

constexpr const char* kProblem = "m=96,n=80,k=64,a=f16";
using Facts = std::map<std::string, std::string>;

ReportDiff diff_of(const CaseResult& before, const CaseResult& after) {
  return diff_reports(report_of("alignment", {before}), report_of("alignment", {after}));
}

std::vector<ChangeKind> kinds_of(const ReportDiff& diff) {
  return diff.changes.empty() ? std::vector<ChangeKind>() : diff.changes.front().kinds;
}

NumbersVerdict numbers_of(const ReportDiff& diff) {
  const CheckDiff total = diff.total();
  for (std::size_t i = 0; i < kNumbersVerdicts; ++i) {
    if (total.numbers.at(i) != 0) return static_cast<NumbersVerdict>(i);
  }
  ADD_FAILURE() << "no case in both";
  return NumbersVerdict::not_compared;
}

const EnvironmentDifference* row_of(const ReportDiff& diff, const std::string& what) {
  const auto found = std::find_if(diff.environment.begin(), diff.environment.end(),
                                  [&](const EnvironmentDifference& one) { return one.what == what; });
  return found == diff.environment.end() ? nullptr : &*found;
}

TEST(Diff, OfAReportWithItselfFindsNothing) {
  const Report report = pair_with_every_change().after;
  const ReportDiff diff = diff_reports(report, report);
  EXPECT_TRUE(diff.changes.empty());
  EXPECT_TRUE(diff.environment.empty());
  EXPECT_TRUE(diff.warnings.empty());
  EXPECT_TRUE(diff.findings.empty());
  EXPECT_EQ(diff.findings_unchanged, report.findings.size());
  EXPECT_EQ(diff.total().matched, 15U);
  EXPECT_EQ(diff.total().unchanged, 15U);
}

struct OutcomeChange {
  Outcome before;
  Outcome after;
  ChangeKind kind;
};
class DiffOfOutcomes : public testing::TestWithParam<OutcomeChange> {};

TEST_P(DiffOfOutcomes, NamesTheChange) {
  const auto& [before, after, kind] = GetParam();
  const ReportDiff diff = diff_of(case_with_outcome("one", kProblem, before, Status::warn),
                                  case_with_outcome("one", kProblem, after, Status::warn));
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{kind}) << name_of(before) << " to " << name_of(after);
  EXPECT_EQ(diff.checks.front().count(kind), 1U);
  EXPECT_EQ(diff.checks.front().unchanged, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, DiffOfOutcomes,
    testing::Values(OutcomeChange{Outcome::correct, Outcome::refused, ChangeKind::newly_refused},
                    OutcomeChange{Outcome::correct, Outcome::late_refusal, ChangeKind::newly_refused},
                    OutcomeChange{Outcome::slower, Outcome::refused, ChangeKind::newly_refused},
                    OutcomeChange{Outcome::refused, Outcome::correct, ChangeKind::newly_accepted},
                    OutcomeChange{Outcome::late_refusal, Outcome::unproven, ChangeKind::newly_accepted},
                    OutcomeChange{Outcome::refused, Outcome::late_refusal, ChangeKind::refused_later},
                    OutcomeChange{Outcome::late_refusal, Outcome::refused, ChangeKind::refused_earlier},
                    OutcomeChange{Outcome::correct, Outcome::wrong_result, ChangeKind::newly_wrong},
                    OutcomeChange{Outcome::refused, Outcome::out_of_bounds, ChangeKind::newly_wrong},
                    OutcomeChange{Outcome::correct, Outcome::crashed, ChangeKind::newly_wrong},
                    OutcomeChange{Outcome::unwritten, Outcome::correct, ChangeKind::no_longer_wrong},
                    OutcomeChange{Outcome::out_of_bounds, Outcome::refused, ChangeKind::no_longer_wrong},
                    OutcomeChange{Outcome::wrong_result, Outcome::unwritten, ChangeKind::outcome_changed},
                    OutcomeChange{Outcome::correct, Outcome::slower, ChangeKind::outcome_changed},
                    OutcomeChange{Outcome::correct, Outcome::not_run, ChangeKind::outcome_changed},
                    OutcomeChange{Outcome::audit_error, Outcome::correct, ChangeKind::outcome_changed}));

TEST(Diff, AnotherJudgementOfTheSameOutcomeIsSaid) {
  const ReportDiff diff = diff_of(case_with_outcome("one", kProblem, Outcome::refused, Status::warn),
                                  case_with_outcome("one", kProblem, Outcome::refused, Status::fail));
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::judged_otherwise});
}

TEST(Diff, RightOnExactInputsTwiceIsBitIdentical) {
  EXPECT_EQ(numbers_of(diff_of(right_case("one", kProblem), right_case("one", kProblem))),
            NumbersVerdict::bit_identical);
}

TEST(Diff, OfGeluOnlyTheBoundIsKnown) {
  const CaseResult gelu = right_case("one", std::string(kProblem) + ",epilogue=gelu_aux_bias");
  EXPECT_EQ(numbers_of(diff_of(gelu, gelu)), NumbersVerdict::within_bound);
  const CaseResult relu = right_case("one", std::string(kProblem) + ",epilogue=relu_bias");
  EXPECT_EQ(numbers_of(diff_of(relu, relu)), NumbersVerdict::bit_identical);
}

TEST(Diff, OtherBitsOnInputsThatRoundAreChangedNumbers) {
  const auto with_bits = [](const char* bits) { return case_with_facts("one", kProblem, {{kDBitsFact, bits}}); };
  const ReportDiff diff = diff_of(with_bits("00000000000000aa"), with_bits("00000000000000bb"));
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::numbers_changed});
  EXPECT_EQ(numbers_of(diff), NumbersVerdict::bits_differ);
  EXPECT_EQ(numbers_of(diff_of(with_bits("aa"), with_bits("aa"))), NumbersVerdict::bit_identical);
  // A digest that one report lacks says nothing.
  EXPECT_EQ(numbers_of(diff_of(right_case("one", kProblem), with_bits("aa"))), NumbersVerdict::bit_identical);
}

TEST(Diff, OtherBitsOfCublasAreSaidBesideThoseOfCublasLt) {
  const ReportDiff diff = diff_of(case_with_facts("one", kProblem, {{kDBitsFact, "aa"}, {kCublasDBitsFact, "aa"}}),
                                  case_with_facts("one", kProblem, {{kDBitsFact, "aa"}, {kCublasDBitsFact, "bb"}}));
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::numbers_changed});
  EXPECT_TRUE(diff.changes.front().cublas_bits_differ);
  EXPECT_EQ(diff.changes.front().numbers, NumbersVerdict::bit_identical);
}

TEST(Diff, WrongAfterRightIsBeyondTheBound) {
  const ReportDiff diff =
      diff_of(right_case("one", kProblem), case_with_outcome("one", kProblem, Outcome::wrong_result, Status::fail));
  EXPECT_EQ(numbers_of(diff), NumbersVerdict::beyond_bound);
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::newly_wrong});
}

TEST(Diff, NothingIsSaidOfNumbersThatNobodyVerified) {
  Observation unverified = right_observation();
  unverified.verification.reset();
  EXPECT_EQ(numbers_of(diff_of(right_case("one", kProblem, unverified), right_case("one", kProblem))),
            NumbersVerdict::not_compared);
  Observation memory = right_observation();
  memory.verification->method = "memory";
  EXPECT_EQ(numbers_of(diff_of(right_case("one", kProblem), right_case("one", kProblem, memory))),
            NumbersVerdict::not_compared);
  Observation cublas_alone = unverified;
  cublas_alone.cublas = CublasObservation{"cublasGemmEx", "SUCCESS", "", right_observation().verification};
  EXPECT_EQ(numbers_of(diff_of(right_case("one", kProblem, cublas_alone), right_case("one", kProblem))),
            NumbersVerdict::not_compared);
  CaseResult unproven = right_case("one", kProblem);
  unproven.outcome = Outcome::unproven;
  EXPECT_EQ(numbers_of(diff_of(unproven, unproven)), NumbersVerdict::not_compared);
}

TEST(Diff, OtherInputsCannotBeCompared) {
  Report after = report_of("alignment", {right_case("one", kProblem)});
  after.seed = 2;
  const ReportDiff diff = diff_reports(report_of("alignment", {right_case("one", kProblem)}), after);
  EXPECT_NE(diff.why_no_numbers.find("seed 1 and 2"), std::string::npos) << diff.why_no_numbers;
  EXPECT_EQ(numbers_of(diff), NumbersVerdict::not_compared);
}

TEST(Diff, AnotherFirstResultIsAnotherAlgorithm) {
  for (auto change : std::vector<void (*)(HeuristicResult&)>{
           [](HeuristicResult& one) { one.algo_id = 7; }, [](HeuristicResult& one) { one.tile = 7; },
           [](HeuristicResult& one) { one.stages = 7; }, [](HeuristicResult& one) { one.split_k = 7; },
           [](HeuristicResult& one) { one.workspace_bytes = 7; }}) {
    Observation other = right_observation();
    change(other.heuristic.front());
    const ReportDiff diff = diff_of(right_case("one", kProblem), right_case("one", kProblem, other));
    ASSERT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::algorithm_changed});
    EXPECT_EQ(diff.changes.front().algorithm_before, right_observation().heuristic.front());
    EXPECT_EQ(diff.changes.front().algorithm_after, other.heuristic.front());
  }
  Observation later = right_observation();
  later.heuristic.back().algo_id = 7;
  later.heuristic.front().waves = 0.75;
  EXPECT_TRUE(diff_of(right_case("one", kProblem), right_case("one", kProblem, later)).changes.empty());
}

TEST(Diff, FewerResultsAreSaid) {
  Observation fewer = right_observation();
  fewer.heuristic.pop_back();
  const ReportDiff diff = diff_of(right_case("one", kProblem), right_case("one", kProblem, fewer));
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::result_count_changed});
  EXPECT_EQ(diff.changes.front().results_before, 2U);
  EXPECT_EQ(diff.changes.front().results_after, 1U);
}

CaseResult timed(const char* us, const char* spread) {
  return case_with_facts("one", kProblem, {{kLtUsFact, us}, {kSpreadFact, spread}});
}

TEST(Diff, ATimeCountsBeyondThresholdAndSpreads) {
  EXPECT_EQ(kinds_of(diff_of(timed("10.00", "0.02"), timed("11.50", "0.02"))),
            std::vector<ChangeKind>{ChangeKind::slower});
  EXPECT_EQ(kinds_of(diff_of(timed("11.50", "0.02"), timed("10.00", "0.02"))),
            std::vector<ChangeKind>{ChangeKind::faster});
  const auto is_noise = [](const CaseResult& before, const CaseResult& after) {
    const ReportDiff diff = diff_of(before, after);
    return diff.changes.empty() && diff.total().timed == 1;
  };
  EXPECT_TRUE(is_noise(timed("10.00", "0.02"), timed("10.90", "0.02"))) << "below ten per cent";
  EXPECT_TRUE(is_noise(timed("10.00", "0.20"), timed("11.50", "0.02"))) << "the old times reach further";
  EXPECT_TRUE(is_noise(timed("11.50", "0.02"), timed("10.00", "0.20"))) << "the new times reach further";
}

TEST(Diff, ATimeWithoutASpreadProvesNothing) {
  const ReportDiff diff = diff_of(case_with_facts("one", kProblem, {{kLtUsFact, "10.00"}}), timed("90.00", "0.01"));
  EXPECT_TRUE(diff.changes.empty());
  EXPECT_EQ(diff.total().timed, 0U);
  for (const char* broken : {"nan", "-1", "0", "ten", "1e400", "10 us"}) {
    EXPECT_EQ(diff_of(timed(broken, "0.01"), timed("90.00", "0.01")).total().timed, 0U) << broken;
  }
}

TEST(Diff, TimesOfBothLibrariesAreCompared) {
  const auto both = [](const char* lt, const char* cublas) {
    return case_with_facts("one", kProblem, {{kLtUsFact, lt}, {kCublasUsFact, cublas}, {kSpreadFact, "0.01"}});
  };
  const ReportDiff diff = diff_of(both("10.00", "10.00"), both("10.00", "20.00"));
  ASSERT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::slower});
  EXPECT_EQ(diff.changes.front().times.front().library, "cuBLAS");
  EXPECT_EQ(diff.total().timed, 2U);
}

/// The pair of slow and fast with another target on one side.
template <class Change>
ReportDiff diff_with_target(const Change& change) {
  Report after = report_of("alignment", {timed("15.00", "0.01")});
  change(after.target);
  return diff_reports(report_of("alignment", {timed("10.00", "0.01")}), after);
}

TEST(Diff, TimesOfOtherGpusAreRefused) {
  const auto refused = [](const ReportDiff& diff, const std::string& why) {
    EXPECT_EQ(diff.total().timed, 0U);
    EXPECT_NE(diff.why_no_times.find(why), std::string::npos) << diff.why_no_times;
  };
  refused(diff_with_target([](Target& target) { target.device_facts.name = "NVIDIA B200"; }), "NVIDIA B200");
  refused(diff_with_target([](Target& target) { target.device_facts.multiprocessors = 114; }), "132 multiprocessors");
  refused(diff_with_target([](Target& target) { target.device_facts.compute_minor = 1; }), "compute capability");
  refused(diff_with_target([](Target& target) { target.device_facts.name.clear(); }), "does not name");
  refused(diff_with_target([](Target& target) { target.kind = PlatformKind::simulator; }), "simulator");
}

TEST(Diff, AnotherGpuOfTheModelNeedsALargerChange) {
  const auto another = [](Target& target) { target.device_facts.uuid = "GPU-other"; };
  const ReportDiff diff = diff_with_target(another);
  EXPECT_EQ(kinds_of(diff), std::vector<ChangeKind>{ChangeKind::slower});
  ASSERT_EQ(diff.warnings.size(), 1U);
  EXPECT_NE(diff.warnings.front().find("another GPU of the same model"), std::string::npos);
  Report after = report_of("alignment", {timed("11.50", "0.01")});
  another(after.target);
  EXPECT_TRUE(diff_reports(report_of("alignment", {timed("10.00", "0.01")}), after).changes.empty());
}

TEST(Diff, ASimulatorBesideAGpuIsTheFirstWarning) {
  Report simulated = report_of("alignment", {right_case("one", kProblem)});
  simulated.target.kind = PlatformKind::simulator;
  simulated.complete = false;
  simulated.incomplete_reason = "interrupted";
  Observation other = right_observation();
  other.heuristic.front().algo_id = 7;
  const Report gpu = report_of("alignment", {right_case("one", kProblem, other)});
  const ReportDiff diff = diff_reports(simulated, gpu);
  ASSERT_EQ(diff.warnings.size(), 2U);
  EXPECT_NE(diff.warnings[0].find("a simulator and a GPU are compared"), std::string::npos) << diff.warnings[0];
  EXPECT_NE(diff.warnings[1].find("the old report is incomplete - interrupted"), std::string::npos);
  EXPECT_TRUE(diff.changes.empty()) << "algorithms of a simulator are its own";
  EXPECT_NE(row_of(diff, "target"), nullptr);
}

TEST(Diff, APlantedFaultIsAWarning) {
  Report after = empty_report();
  after.fault = "wrong-element";
  const ReportDiff diff = diff_reports(empty_report(), after);
  ASSERT_EQ(diff.warnings.size(), 1U);
  EXPECT_NE(diff.warnings.front().find("wrong-element"), std::string::npos);
}

TEST(Diff, ShowsWhatDiffersAroundTheLibrary) {
  Report after = empty_report();
  after.target.cublaslt = {12, 9, 1, 120901, "/opt/libcublasLt.so.12", "c0de"};
  after.target.driver_text = "570.10";
  after.environment.variables = {{"CUBLAS_WORKSPACE_CONFIG", ":0:0"}};
  const ReportDiff diff = diff_reports(empty_report(), after);
  ASSERT_NE(row_of(diff, "cuBLASLt"), nullptr);
  EXPECT_EQ(row_of(diff, "cuBLASLt")->before, "13.1.0");
  EXPECT_EQ(row_of(diff, "cuBLASLt")->after, "12.9.1");
  EXPECT_EQ(diff.environment.front().what, "cuBLASLt");
  EXPECT_NE(row_of(diff, "driver"), nullptr);
  EXPECT_NE(row_of(diff, "cuBLASLt build id"), nullptr);
  EXPECT_NE(row_of(diff, "cuBLASLt path"), nullptr);
  EXPECT_EQ(row_of(diff, "variable CUDA_HOME")->after, "");
  EXPECT_EQ(row_of(diff, "variable CUBLAS_WORKSPACE_CONFIG")->before, "");
  EXPECT_EQ(row_of(diff, "GPU"), nullptr);
}

TEST(Diff, MatchesARenamedCaseByItsProblem) {
  const ReportDiff diff = diff_of(right_case("old-name", kProblem),
                                  case_with_outcome("new-name", kProblem, Outcome::refused, Status::fail));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes.front().id, "new-name");
  EXPECT_EQ(diff.changes.front().id_before, "old-name");
}

TEST(Diff, MatchesProductsOfAWorkloadThatMoved) {
  const auto refused = [](const char* id) {
    return case_with_outcome(id, "m=2,n=2,k=2", Outcome::refused, Status::fail);
  };
  // Two scenarios of one problem; the numbers of the problems change, what they end in does not.
  const Report before =
      report_of("workspace", {right_case("problem-1.steps", "m=1,n=1,k=1"), refused("problem-2.repeat"),
                              right_case("problem-2.steps", "m=2,n=2,k=2")});
  const Report after =
      report_of("workspace", {right_case("problem-1.steps", "m=2,n=2,k=2"), refused("problem-1.repeat"),
                              right_case("problem-2.steps", "m=1,n=1,k=1")});
  const ReportDiff diff = diff_reports(before, after);
  EXPECT_TRUE(diff.changes.empty());
  EXPECT_EQ(diff.total().matched, 3U);
}

TEST(Diff, AnIdThatStandsForAnotherProblemIsNoMatch) {
  const ReportDiff diff = diff_of(right_case("one", "m=1,n=1,k=1"), right_case("one", "m=2,n=1,k=1"));
  EXPECT_EQ(diff.total().matched, 0U);
  ASSERT_EQ(diff.only_before.size(), 1U);
  ASSERT_EQ(diff.only_after.size(), 1U);
  EXPECT_EQ(diff.only_after.front().problem, "m=2,n=1,k=1");
}

TEST(Diff, EqualCasesArePairedOnceEach) {
  const std::vector<CaseResult> two = {right_case("a", kProblem), right_case("b", kProblem)};
  const std::vector<CaseResult> three = {right_case("x", kProblem), right_case("y", kProblem),
                                         right_case("z", kProblem)};
  const ReportDiff diff = diff_reports(report_of("alignment", two), report_of("alignment", three));
  EXPECT_EQ(diff.total().matched, 2U);
  ASSERT_EQ(diff.only_after.size(), 1U);
  EXPECT_EQ(diff.only_after.front().id, "z");
}

TEST(Diff, ChecksThatOneReportLacksAreListed) {
  const ReportDiff diff = diff_reports(report_of("alignment", {right_case("one", kProblem)}),
                                       report_of("workspace", {right_case("one", kProblem)}));
  ASSERT_EQ(diff.checks.size(), 2U);
  EXPECT_EQ(diff.checks[0].id, "workspace");
  EXPECT_EQ(diff.checks[0].presence, Presence::only_after);
  EXPECT_EQ(diff.checks[1].id, "alignment");
  EXPECT_EQ(diff.checks[1].presence, Presence::only_before);
  EXPECT_EQ(diff.total().only_before, 1U);
  EXPECT_EQ(diff.total().only_after, 1U);
}

TEST(Diff, CountsEveryKindOnce) {
  const ReportPair pair = pair_with_every_change();
  const CheckDiff total = diff_reports(pair.before, pair.after).total();
  for (std::size_t i = 0; i < kChangeKinds; ++i) EXPECT_EQ(total.changed.at(i), 1U) << "kind " << i;
  EXPECT_EQ(total.matched, 14U);
  EXPECT_EQ(total.unchanged, 2U);
  EXPECT_EQ(total.only_before, 1U);
  EXPECT_EQ(total.only_after, 1U);
  EXPECT_EQ(total.count(NumbersVerdict::beyond_bound), 1U);
  EXPECT_EQ(total.count(NumbersVerdict::within_bound), 1U);
  EXPECT_EQ(total.count(NumbersVerdict::bits_differ), 1U);
}

TEST(Diff, TheMostImportantChangeStandsFirst) {
  const ReportPair pair = pair_with_every_change();
  const ReportDiff diff = diff_reports(pair.before, pair.after);
  ASSERT_GE(diff.changes.size(), 2U);
  EXPECT_EQ(diff.changes[0].id, "wrong");
  EXPECT_EQ(diff.changes[1].id, "refused");
  EXPECT_EQ(diff.changes.back().id, "mended");
}

TEST(Diff, FindingsAppearChangeAndGo) {
  const auto failed = [](const char* id, const char* problem, Outcome outcome) {
    return case_with_outcome(id, problem, outcome, Status::fail);
  };
  const Report before = report_of(
      "alignment", {failed("a", "m=1,n=1,k=1", Outcome::refused), failed("b", "m=2,n=1,k=1", Outcome::unwritten),
                    failed("c", "m=3,n=1,k=1", Outcome::crashed)});
  const Report after = report_of(
      "alignment", {failed("a", "m=4,n=1,k=1", Outcome::refused),
                    case_with_outcome("b", "m=2,n=1,k=1", Outcome::stale, Status::warn),
                    failed("c", "m=3,n=1,k=1", Outcome::crashed), failed("d", "m=5,n=1,k=1", Outcome::timed_out)});
  const ReportDiff diff = diff_reports(before, after);
  ASSERT_EQ(diff.findings.size(), 4U);
  EXPECT_EQ(diff.findings[0].id, "alignment.timed_out");
  EXPECT_EQ(diff.findings[0].change, FindingChange::appeared);
  EXPECT_EQ(diff.findings[1].id, "alignment.stale") << "a warning behind a failure";
  EXPECT_EQ(diff.findings[2].id, "alignment.refused");
  EXPECT_EQ(diff.findings[2].change, FindingChange::changed) << "as many cases, and another one";
  EXPECT_EQ(diff.findings[2].cases_added, 1U);
  EXPECT_EQ(diff.findings[2].cases_removed, 1U);
  EXPECT_EQ(diff.findings[3].id, "alignment.unwritten");
  EXPECT_EQ(diff.findings[3].change, FindingChange::gone);
  EXPECT_EQ(diff.findings_unchanged, 1U) << "crashed";
}

TEST(Diff, NeedsOfTheOldReportOnlyWhatIsKept) {
  ReportPair pair = pair_with_every_change();
  const ReportDiff whole = diff_reports(pair.before, pair.after);
  const std::size_t size = pair.before.checks[0].cases[0].observation.size();
  keep_for_diff(pair.before);
  EXPECT_LT(pair.before.checks[0].cases[0].observation.size(), size);
  const ReportDiff kept = diff_reports(pair.before, pair.after);
  EXPECT_EQ(kept.total().changed, whole.total().changed);
  EXPECT_EQ(kept.total().numbers, whole.total().numbers);
  EXPECT_EQ(kept.total().timed, whole.total().timed);
  ASSERT_EQ(kept.changes.size(), whole.changes.size());
  for (std::size_t i = 0; i < kept.changes.size(); ++i) {
    EXPECT_EQ(kept.changes[i].algorithm_before, whole.changes[i].algorithm_before);
    EXPECT_EQ(kept.changes[i].results_before, whole.changes[i].results_before);
  }
}

TEST(DiffMeasures, TakesFieldsAndNotTextsThatLookLikeThem) {
  Observation observation = right_observation();
  // One quotation mark, then what would close everything.
  observation.heuristic.front().state = "\"}]},\\";
  observation.log = {{1, "f", R"("heuristic":[{"algo_id":1}],"facts":{"d_bits":"ee"})"}};
  observation.facts = {{"a", R"("d_bits":"dd")"}, {kDBitsFact, "aa"}, {kLtUsFact, "4.50"}, {kSpreadFact, "0.25"}};
  const CaseResult result = right_case("one", kProblem, observation);
  const Measures measures = measures_of(result);
  EXPECT_EQ(measures.results, 2U);
  EXPECT_EQ(heuristic_result(measures.first_result), observation.heuristic.front());
  EXPECT_EQ(measures.d_bits, "aa");
  EXPECT_EQ(measures.lt_us, 4.5);
  EXPECT_EQ(measures.spread, 0.25);
  EXPECT_TRUE(measures.numbers_verified);
}

TEST(DiffMeasures, OfATextThatIsNoObservationAreEmpty) {
  for (const char* text :
       {"", "{", "[]", "{}", "null", "{\"heuristic\"", "{\"heuristic\":", "{\"heuristic\":[", "{\"heuristic\":[{",
        "{\"facts\":\"x", "{\"a\":}", "{\"\\", "{\"verification\":{\"compared\":"}) {
    CaseResult result;
    result.observation = text;
    const Measures measures = measures_of(result);
    EXPECT_FALSE(measures.lt_us) << text;
    EXPECT_TRUE(measures.d_bits.empty()) << text;
    EXPECT_FALSE(heuristic_result(measures.first_result) && measures.results == 0) << text;
    EXPECT_FALSE(without_the_rest(result).empty()) << text;
  }
}

}  // namespace
}  // namespace lt_audit
