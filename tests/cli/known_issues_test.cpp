// lt-audit known-issues from outside: without a GPU, with an application's log, and what is said about mistakes.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;
using KnownIssuesCommandTest = ScratchTest;

Words on_hopper(const Words& more) {
  Words words{"known-issues", "--cublaslt-version", "13.1.0", "--cc", "9.0"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(KnownIssuesCommandTest, NeedsNeitherGpuNorLibraryAndIsQuick) {
  const auto began = std::chrono::steady_clock::now();
  const Finished finished = run_program(on_hopper({}), here());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_TRUE(contains(finished.out, "on        cuBLASLt 13.1.0, compute capability 9.0\n")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "KI-061")) << finished.out;
  if (LT_AUDIT_SANITIZED == 0) {
    EXPECT_LT(took.count(), 1);
  }
}

TEST_F(KnownIssuesCommandTest, ALogLimitsItToWhatTouchesItsProducts) {
  const std::string log = std::string(LT_AUDIT_DATA_DIR) + "/workloads/ltonly_gpt2.log";
  const Finished finished = run_program(on_hopper({"--workload", log, "--json", "-"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json.at("problems"), 20);
  ASSERT_FALSE(json.at("issues").empty());
  for (const auto& issue : json.at("issues")) {
    ASSERT_FALSE(issue.at("touches").empty()) << issue.at("id");
    EXPECT_GT(issue.at("touches").at(0).at("calls"), 0);
    EXPECT_EQ(issue.at("touches").at(0).at("source").at("file"), log);
  }
  EXPECT_TRUE(contains(finished.err, "(for 20 problems)")) << finished.err;
}

TEST_F(KnownIssuesCommandTest, AProblemIsNamedByTheIssueThatTouchesIt) {
  const Finished finished =
      run_program(on_hopper({"--problem", "m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3", "--json", "k.json"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "touches   m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3\n")) << finished.out;
  EXPECT_EQ(file_json(here_ / "k.json").at("issues").at(0).at("id"), "KI-061");
}

TEST_F(KnownIssuesCommandTest, OneIssueIsShownWhole) {
  const Finished finished = run_program({"known-issues", "ki-056"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "source      RN13.4 3.1.8\n")) << finished.out;
}

TEST_F(KnownIssuesCommandTest, TheSimulatorSaysSo) {
  const Finished finished = run_program({"known-issues", "--target", "simulator"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "SIMULATOR")) << finished.out;
}

TEST_F(KnownIssuesCommandTest, MistakesGiveTwoAndSayWhatToWrite) {
  struct Mistake {
    Words words;
    const char* says;
  };
  for (const auto& [words, says] :
       std::vector<Mistake>{{{"known-issues", "KI-61"}, "did you mean 'KI-061'?"},
                            {{"known-issues", "--cublaslt-version", "13", "--cc", "9.0"}, "write 13.1.0"},
                            {{"known-issues", "--cublaslt-version", "13.1", "--cc", "hopper"}, "--cc: 'hopper'"},
                            {on_hopper({"--problem", "m=96,n=80,k=64,typ=f16"}), "there is no key 'typ'"},
                            {on_hopper({"--workload", "absent.log"}), "absent.log"}}) {
    const Finished finished = run_program(words, here());
    EXPECT_EQ(finished.code, 2) << testing::PrintToString(words);
    EXPECT_TRUE(contains(finished.err, says)) << finished.err;
    EXPECT_EQ(finished.out, "") << testing::PrintToString(words);
  }
}

TEST_F(KnownIssuesCommandTest, WithoutTheLibraryItSaysHowToDoWithoutOne) {
  const Finished finished = run_program({"known-issues", "--cublaslt", "/nonexistent/libcublasLt.so"}, here());
  EXPECT_EQ(finished.code, 3);
  EXPECT_TRUE(contains(finished.err, "--cublaslt-version 13.1.0 --cc 9.0")) << finished.err;
}

}  // namespace
}  // namespace lt_audit
