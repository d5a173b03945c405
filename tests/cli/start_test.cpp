// Commands that answer without a GPU do so at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

TEST(Start, VersionListAndExplainTakeUnder50Milliseconds) {
  if (LT_AUDIT_SANITIZED) GTEST_SKIP() << "a sanitizer's start is not the program's";
  using Clock = std::chrono::steady_clock;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--version"}, {"list"}, {"explain", "alignment"}, {"list", "--faults"}}) {
    double best_ms = 1e9;
    // The fastest of a few: the rest measures the machine's other work.
    for (int i = 0; i < 5; ++i) {
      const auto begin = Clock::now();
      EXPECT_EQ(run_program(words).code, 0);
      best_ms = std::min(best_ms, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    EXPECT_LT(best_ms, 50) << testing::PrintToString(words);
  }
}

TEST(Start, VersionIsOneLine) { EXPECT_EQ(run_program({"--version"}).out.rfind("lt-audit ", 0), 0U); }

TEST(Start, WithoutAnyEnvironmentTheProgramStillAnswers) {
  EXPECT_EQ(run_program({"list"}, {".", {"LD_LIBRARY_PATH=", "PATH="}, Output::captured}).code, 0);
}

}  // namespace
}  // namespace lt_audit
