// What would make a working call faster, against libraries whose times are a rule of a line or two.
#include "doctor/faster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "doctor/search.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

double no_limit() { return std::numeric_limits<double>::infinity(); }

/// Microseconds of a problem; 0 or less is a refusal.
using Clock = std::function<double(const MatmulProblem&)>;

/// The times of one problem differ from call to call: 0, 1, 2, ... 4 times `jitter` more, over and over.
RunProblems library_with(const Clock& clock, double jitter = 0) {
  return [clock, jitter, calls = std::map<std::string, int>()](const std::vector<MatmulProblem>& problems) mutable {
    std::vector<Trial> trials;
    for (const auto& problem : problems) {
      const double us = clock(problem);
      if (us <= 0) {
        trials.push_back({false, "NOT_SUPPORTED", "refused", "", {}});
        continue;
      }
      const int call = calls[to_text(problem)]++;
      trials.push_back({true, "SUCCESS", "correct", "", us + jitter * (call % 5)});
    }
    return trials;
  };
}

Speed speed_of(const char* text, const Clock& clock, double jitter = 0) {
  const auto problem = problem_from_text(text);
  const auto run = library_with(clock, jitter);
  return find_faster(problem, run({problem}).at(0), run, no_limit);
}

TEST(SpeedCandidates, HoldAllFourKindsAndNeverAnotherProduct) {
  const auto given = problem_from_text("m=77,n=64,k=64,a=f16,a_offset=2,a_alignment=2,ldb=77,workspace=1MiB");
  std::set<SpeedKind> kinds;
  for (const auto& one : speed_candidates(given)) {
    kinds.insert(one.kind);
    EXPECT_FALSE(one.problem == given) << one.change.what;
    EXPECT_EQ(one.problem.m, 77) << one.change.what;
    EXPECT_EQ(one.problem.type_d, CUDA_R_16F) << one.change.what;
    EXPECT_GE(one.problem.workspace_bytes, given.workspace_bytes) << one.change.what;
    EXPECT_EQ(one.problem.epilogue, given.epilogue) << one.change.what;
  }
  EXPECT_EQ(kinds.size(), 4U);
}

TEST(SpeedCandidates, HoldEightAlgorithmsAndNone) {
  std::set<int> indices;
  bool none = false;
  for (const auto& one : speed_candidates(problem_from_text("m=64,n=64,k=64,a=f16"))) {
    if (one.kind != SpeedKind::algorithm) continue;
    if (one.problem.algo == AlgoChoice::heuristic) indices.insert(one.problem.algo_index);
    none = none || one.problem.algo == AlgoChoice::null;
  }
  EXPECT_EQ(indices, (std::set<int>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(none);
}

TEST(FindFaster, EachKindIsFoundAndTheBestStandsFirst) {
  const auto speed = speed_of("m=64,n=64,k=64,a=f16,a_offset=2,a_alignment=2,workspace=0", [](const auto& problem) {
    if (problem.algo_index == 5) return 50.0;
    if (problem.a_offset == 0 && problem.a_alignment == 256) return 40.0;
    if (problem.workspace_bytes == 4 << 20) return 80.0;
    return problem.transb == CUBLAS_OP_T && problem.transa == CUBLAS_OP_N ? 20.0 : 100.0;
  });
  ASSERT_TRUE(speed.timed);
  ASSERT_EQ(speed.faster.size(), 4U);
  EXPECT_EQ(speed.faster[0].kind, SpeedKind::layout);
  EXPECT_DOUBLE_EQ(speed.faster[0].ratio, 5);
  EXPECT_EQ(speed.faster[1].kind, SpeedKind::alignment);
  EXPECT_EQ(speed.faster[2].kind, SpeedKind::algorithm);
  EXPECT_EQ(speed.faster[2].change.code, "algo = result 5 of cublasLtMatmulAlgoGetHeuristic");
  EXPECT_EQ(speed.faster[3].kind, SpeedKind::workspace);
  EXPECT_DOUBLE_EQ(speed.faster[3].ratio, 1.25);
  EXPECT_DOUBLE_EQ(speed.given_us, 100);
}

TEST(FindFaster, ALeadingDimensionThatIsPaddedIsAnAlignment) {
  const auto speed = speed_of("m=64,n=64,k=64,a=f16,ldb=77",
                              [](const auto& problem) { return shape_b(problem).ld % 8 == 0 ? 10.0 : 30.0; });
  ASSERT_FALSE(speed.faster.empty());
  for (const auto& one : speed.faster) {
    if (one.problem.transb == CUBLAS_OP_N) {
      EXPECT_EQ(one.kind, SpeedKind::alignment) << one.change.what;
    }
  }
  EXPECT_DOUBLE_EQ(speed.faster.front().ratio, 3);
}

TEST(FindFaster, WhatIsWithinTheNoiseIsNoGain) {
  const Clock clock = [](const MatmulProblem& problem) { return problem.algo_index == 1 ? 98.0 : 100.0; };
  EXPECT_EQ(speed_of("m=64,n=64,k=64,a=f16", clock).faster.size(), 1U) << "without noise 2 us are a gain";
  const auto noisy = speed_of("m=64,n=64,k=64,a=f16", clock, 5);
  EXPECT_TRUE(noisy.timed);
  EXPECT_GT(noisy.noise, 0.05);
  EXPECT_TRUE(noisy.faster.empty());
}

TEST(FindFaster, WhatIsRefusedOrFailsOnceIsNotOffered) {
  EXPECT_TRUE(speed_of("m=64,n=64,k=64,a=f16", [](const auto& problem) {
                return problem.algo_index == 0 && problem.algo == AlgoChoice::heuristic &&
                               problem.transa == CUBLAS_OP_N && problem.transb == CUBLAS_OP_N
                           ? 100.0
                           : 0.0;
              }).faster.empty());
  int second = 0;
  const auto speed = speed_of("m=64,n=64,k=64,a=f16", [&second](const auto& problem) {
    if (problem.algo_index != 1) return 100.0;
    return ++second == 4 ? 0.0 : 10.0;
  });
  EXPECT_TRUE(speed.timed);
  EXPECT_TRUE(speed.faster.empty());
}

TEST(FindFaster, TheFirstRoundLoadsKernelsAndDoesNotCount) {
  std::map<std::string, int> calls;
  const auto speed = speed_of("m=64,n=64,k=64,a=f16", [&calls](const auto& problem) {
    // Once as given and as a candidate, then the round that loads.
    const int call = calls[to_text(problem)]++;
    return call < 2 ? 5000.0 : 100.0;
  });
  EXPECT_DOUBLE_EQ(speed.given_us, 100);
  EXPECT_DOUBLE_EQ(speed.noise, 0);
  EXPECT_TRUE(speed.faster.empty());
}

TEST(FindFaster, WithoutATimeNothingIsRun) {
  int runs = 0;
  const RunProblems run = [&runs](const std::vector<MatmulProblem>& problems) {
    ++runs;
    return std::vector<Trial>(problems.size(), Trial{true, "SUCCESS", "correct", "", {}});
  };
  const auto diagnosis = diagnose(problem_from_text("m=64,n=64,k=64,a=f16"), run, no_limit);
  EXPECT_TRUE(diagnosis.as_given.works);
  ASSERT_TRUE(diagnosis.speed.has_value());
  EXPECT_FALSE(diagnosis.speed->timed);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(diagnosis.tried, 1U);
}

TEST(FindFaster, ABudgetThatIsTooSmallIsSaidAndNoRatioGiven) {
  const auto problem = problem_from_text("m=64,n=64,k=64,a=f16");
  const auto run = library_with([](const auto& one) { return one.algo_index == 1 ? 1.0 : 100.0; });
  double left = 4;
  // A round takes one second: three would be left for those that count.
  const auto speed = find_faster(problem, run({problem}).at(0), run, [&left] { return left--; });
  EXPECT_FALSE(speed.finished);
  EXPECT_FALSE(speed.timed);
  EXPECT_TRUE(speed.faster.empty());
  EXPECT_GT(speed.tried, 5U);
}

TEST(Diagnose, ACallThatFailsWhenItIsRepeatedIsDiagnosedAsOneThatFails) {
  int calls = 0;
  const RunProblems run = [&calls](const std::vector<MatmulProblem>& problems) {
    std::vector<Trial> trials;
    for (const auto& problem : problems) {
      const bool flaky = problem.beta != 0 && problem.algo_index == 0;
      const bool works = !flaky || ++calls == 1;
      trials.push_back({works, "SUCCESS", works ? "correct" : "wrong_result", "", 10.0});
    }
    return trials;
  };
  const auto diagnosis = diagnose(problem_from_text("m=64,n=64,k=64,a=f16,beta=2"), run, no_limit);
  EXPECT_FALSE(diagnosis.as_given.works);
  EXPECT_EQ(diagnosis.as_given.outcome, "wrong_result");
  EXPECT_FALSE(diagnosis.speed.has_value());
  EXPECT_FALSE(diagnosis.sets.empty());
}

}  // namespace
}  // namespace lt_audit
