// lt-audit doctor as a program, on the simulator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;
using DoctorTest = ScratchTest;

Words doctor(const std::string& what, Words more = {}) {
  Words words = {"doctor", what, "--target", "simulator"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(DoctorTest, ACallThatWorksNeedsNothing) {
  const Finished finished = run_program(doctor("m=64,n=64,k=64,a=f16"), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "The call works as it is")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "SIMULATOR")) << finished.out;
  EXPECT_TRUE(std::filesystem::is_empty(here_));
}

TEST_F(DoctorTest, AWrongTransposeOfInt8IsFound) {
  const Finished finished = run_program(doctor("m=64,n=64,k=64,a=i8,d=i32", {"--json", "d.json"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "CUBLASLT_MATMUL_DESC_TRANSA = CUBLAS_OP_T")) << finished.out;
  const auto document = file_json(here_ / "d.json");
  EXPECT_EQ(document.at("schema"), "lt-audit-doctor");
  EXPECT_EQ(document.at("works"), false);
  EXPECT_EQ(document.at("finished"), true);
  ASSERT_FALSE(document.at("sets").empty());
  bool transposed = false;
  for (const auto& set : document.at("sets")) {
    EXPECT_EQ(set.at("changes").size(), 1U);
    transposed |= set.at("problem") == "m=64,n=64,k=64,ta=t,a=i8,d=i32";
  }
  EXPECT_TRUE(transposed) << document;
}

TEST_F(DoctorTest, TwoCausesAreFoundTogether) {
  const Finished finished =
      run_program(doctor("m=64,n=64,k=62,ta=t,a=i8,d=i32,alpha=2", {"--json", "-", "--budget", "120"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  const auto document = nlohmann::json::parse(finished.out);
  ASSERT_FALSE(document.at("sets").empty()) << finished.out;
  for (const auto& set : document.at("sets")) EXPECT_EQ(set.at("changes").size(), 2U) << set;
}

TEST_F(DoctorTest, AWrongResultOfAPlantedFaultIsNoWorkingCall) {
  // SUCCESS is not what counts.
  const Finished finished = run_program(doctor("m=64,n=64,k=64,a=f64", {"--inject", "empty-success"}), here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  EXPECT_TRUE(contains(finished.out, "SUCCESS (unwritten)")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "No change and no pair of changes makes it work")) << finished.out;
}

TEST_F(DoctorTest, ABudgetThatIsSpentIsSaid) {
  const Finished finished =
      run_program(doctor("m=64,n=64,k=62,ta=t,a=i8,d=i32,alpha=2", {"--budget", "0.001"}), here());
  EXPECT_EQ(finished.code, 1) << finished.err;
  EXPECT_TRUE(contains(finished.out, "the budget ended")) << finished.out;
}

TEST_F(DoctorTest, APastedLineIsDiagnosedAndNonsenseRefused) {
  const Finished pasted = run_program(
      doctor("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 "
             "transpose_mat2 0 m 80 n 1024 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 "
             "scaleType 0"),
      here());
  EXPECT_EQ(pasted.code, 0) << pasted.err;
  EXPECT_TRUE(contains(pasted.err, "the line is read as: A at 2 bytes, 256 promised")) << pasted.err;
  EXPECT_TRUE(contains(pasted.out, "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 2\n")) << pasted.out;
  const Finished nonsense = run_program(doctor("m=64,n=64,l=64,a=f16"), here());
  EXPECT_EQ(nonsense.code, 2);
  EXPECT_TRUE(contains(nonsense.err, "'l'")) << nonsense.err;
  EXPECT_EQ(run_program(doctor("m=64,n=64,k=64,a=f16", {"--budget", "-1"}), here()).code, 2);
}

TEST_F(DoctorTest, ACaseOfAReportIsDiagnosedAndAWholeCheckIsNot) {
  const Words run = {"run", "--target", "simulator", "--problem", "m=64,n=64,k=64,a=i8,d=i32"};
  ASSERT_EQ(run_program(run, here()).code, 0);
  const Finished finished = run_program(doctor("lt-audit.json:problem/problem-1"), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "A stored transposed")) << finished.out;
  for (const char* what : {"lt-audit.json", "lt-audit.json:problem", "lt-audit.json:problem/problem-2"})
    EXPECT_EQ(run_program(doctor(what), here()).code, 2) << what;
}

}  // namespace
}  // namespace lt_audit
