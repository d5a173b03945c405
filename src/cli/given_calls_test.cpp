// What replay and doctor are given, and one call after the other.
#include "cli/given_calls.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

const std::string kError =
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 0 m 80 n "
    "1024 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 scaleType 0";

std::vector<GivenCall> read(const CallArguments& arguments, const std::string& standard_input = "") {
  std::istringstream in(standard_input);
  return read_calls(arguments, in);
}

std::string refusal(const CallArguments& arguments) {
  try {
    read(arguments);
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ReadCalls, TakesTextsAndLinesInTheirOrderAndProblemsLast) {
  const auto calls = read({{"m=1,n=1,k=1,a=f16", "-"}, {"m=2,n=2,k=2,a=f32"}}, kError);
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_FALSE(calls[0].pasted || calls[0].reported);
  EXPECT_TRUE(calls[1].pasted.has_value());
  EXPECT_EQ(calls[2].text, "m=2,n=2,k=2,a=f32");
}

TEST(ReadCalls, RefusesBeforeAnythingRuns) {
  EXPECT_TRUE(contains(refusal({{"m=1,n=1,k=1,a=f16"}, {"m=1,n=1,l=1,a=f16"}}), "'l'"));
  EXPECT_TRUE(contains(refusal({{"-", "-"}, {}}), "twice"));
  EXPECT_TRUE(contains(refusal({{"-"}, {}}), "standard input"));
  EXPECT_TRUE(contains(refusal({{"/missing.json:a/b"}, {}}), "/missing.json"));
  // --problem is a problem text and no other.
  EXPECT_FALSE(refusal({{}, {kError}}).empty());
}

struct InTurn : testing::Test {
  Turns run(std::size_t count, const std::function<ExitCode(const GivenCall&)>& one) {
    std::vector<GivenCall> calls;
    for (std::size_t i = 0; i < count; ++i) calls.push_back({"call-" + std::to_string(i), {}, {}});
    return in_turn(calls, text, err, one);
  }
  std::ostringstream text;
  std::ostringstream err;
};

TEST_F(InTurn, HeadingsStandBetweenSeveralAndTheWorstCodeCounts) {
  int calls = 0;
  const auto turns = run(3, [&](const GivenCall&) { return ++calls == 2 ? ExitCode::findings : ExitCode::ok; });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(turns.code, ExitCode::findings);
  EXPECT_EQ(text.str(), "call 1 of 3: call-0\n\ncall 2 of 3: call-1\n\ncall 3 of 3: call-2\n");
  run(1, [](const GivenCall&) { return ExitCode::ok; });
  EXPECT_FALSE(contains(text.str(), "1 of 1"));
}

TEST_F(InTurn, OneThatCannotRunKeepsNoOtherFromRunning) {
  int calls = 0;
  const auto turns = run(2, [&](const GivenCall&) {
    if (++calls == 1) throw AuditError(ErrorKind::cannot_run, "no memory");
    return ExitCode::ok;
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(turns.code, ExitCode::cannot_run);
  ASSERT_EQ(turns.failed.size(), 1U);
  EXPECT_EQ(turns.failed[0].text, "call-0");
  EXPECT_TRUE(contains(err.str(), "call 1: no memory")) << err.str();
  EXPECT_THROW(run(1, [](const GivenCall&) -> ExitCode { throw AuditError(ErrorKind::cannot_run, "no memory"); }),
               AuditError);
}

TEST_F(InTurn, AnInterruptEndsThemAll) {
  int calls = 0;
  const auto turns = run(3, [&](const GivenCall&) {
    ++calls;
    std::raise(SIGINT);
    return ExitCode::ok;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(turns.code, ExitCode::cannot_run);
  EXPECT_TRUE(contains(err.str(), "SIGINT: 2 of 3 calls were not run")) << err.str();
}

}  // namespace
}  // namespace lt_audit
