// lt-audit doctor as a program, on the simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;
using DoctorTest = ScratchTest;

Words doctor(const std::string& what, Words more = {}) {
  Words words = {"doctor", what, "--target", "simulator"};
  // Under a sanitizer a trial takes its time.
  if (std::find(more.begin(), more.end(), "--budget") == more.end()) more.insert(more.end(), {"--budget", "240"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(DoctorTest, ACallThatWorksNeedsNothing) {
  const Finished finished = run_program(doctor("m=64,n=64,k=64,a=f16"), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "The call works as it is")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "SIMULATOR")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "nothing was timed")) << finished.out;
  EXPECT_TRUE(std::filesystem::is_empty(here_));
}

TEST_F(DoctorTest, AWrongTransposeOfInt8IsFound) {
  const Finished finished = run_program(doctor("m=64,n=64,k=64,a=i8,d=i32", {"--json", "d.json"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "CUBLASLT_MATMUL_DESC_TRANSA = CUBLAS_OP_T")) << finished.out;
  EXPECT_EQ(file_json(here_ / "d.json").at("schema"), "lt-audit-doctor");
  const auto document = file_json(here_ / "d.json").at("diagnoses").at(0);
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
  const Finished finished = run_program(doctor("m=64,n=64,k=62,ta=t,a=i8,d=i32,alpha=2", {"--json", "-"}), here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  const auto document = nlohmann::json::parse(finished.out);
  const auto sets = document.at("diagnoses").at(0).at("sets");
  ASSERT_FALSE(sets.empty()) << finished.out;
  for (const auto& set : sets) EXPECT_EQ(set.at("changes").size(), 2U) << set;
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

TEST_F(DoctorTest, SeveralCallsAreDiagnosedInTurnIntoOneDocument) {
  const Finished finished = run_program(
      doctor("m=64,n=64,k=64,a=i8,d=i32", {"--problem", "m=64,n=64,k=64,a=f16", "--problem", "m=64,n=64,k=64,a=f64",
                                           "--inject", "empty-success", "--json", "d.json"}),
      here());
  EXPECT_EQ(finished.code, 1) << "the worst: nothing mends the third\n" << finished.err;
  const auto first = finished.out.find("call 1 of 3: m=64,n=64,k=64,a=i8,d=i32\n");
  const auto second = finished.out.find("\ncall 2 of 3: m=64,n=64,k=64,a=f16\n");
  const auto third = finished.out.find("\ncall 3 of 3: m=64,n=64,k=64,a=f64\n");
  EXPECT_TRUE(first < second && second < third && third != std::string::npos) << finished.out;
  const auto diagnoses = file_json(here_ / "d.json").at("diagnoses");
  ASSERT_EQ(diagnoses.size(), 3U);
  EXPECT_FALSE(diagnoses[0].at("sets").empty());
  EXPECT_EQ(diagnoses[1].at("works"), true);
  EXPECT_EQ(diagnoses[1].at("speed").at("timed"), false);
  EXPECT_EQ(diagnoses[2].at("outcome"), "unwritten");
}

TEST_F(DoctorTest, AMistakeInOneOfSeveralIsSaidBeforeAnyRuns) {
  const Finished finished = run_program(doctor("m=64,n=64,k=64,a=f16", {"--problem", "m=64,n=64,l=64,a=f16"}), here());
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(contains(finished.err, "'l'")) << finished.err;
}

TEST_F(DoctorTest, ASequenceOfAReportIsNotCalledWorkingAlthoughItsProductIs) {
  ASSERT_EQ(run_program({"run", "graph-capture", "heuristic-validity", "handle-lifetime", "--target", "simulator",
                         "--depth", "quick", "--inject", "descriptor-read-at-replay"},
                        here())
                .code,
            1);
  const auto report = file_json(here_ / "lt-audit.json");
  for (const auto& check : report.at("checks")) {
    const auto name = check.at("id").get<std::string>() + "/" + check.at("cases").at(0).at("id").get<std::string>();
    const Finished finished = run_program(doctor("lt-audit.json:" + name, {"--json", "d.json"}), here());
    EXPECT_EQ(finished.code, 1) << name << finished.err;
    EXPECT_EQ(finished.out.rfind("case     lt-audit.json:" + name + " is a sequence of calls", 0), 0U) << finished.out;
    EXPECT_FALSE(contains(finished.out, "call works")) << finished.out;
    EXPECT_TRUE(contains(finished.out, "lt-audit replay 'lt-audit.json:" + name + "'")) << finished.out;
    EXPECT_EQ(file_json(here_ / "d.json").at("diagnoses").at(0).at("sequence"), "lt-audit.json:" + name);
  }
}

TEST_F(DoctorTest, ASequenceAboutAProblemOfAWorkloadIsOneToo) {
  std::ofstream(here_ / "app.log")
      << "[cublasLt][1][Trace][cublasLtMatmul] A=0X7F715D000000 Adesc=[type=R_16F rows=64 cols=64 ld=64] "
         "B=0X7F715DC00000 Bdesc=[type=R_16F rows=64 cols=48 ld=64] C=0X7F715C800000 Cdesc=[type=R_16F rows=64 cols=48 "
         "ld=64] D=0X7F715C800000 Ddesc=[type=R_16F rows=64 cols=48 ld=64] computeDesc=[computeType=COMPUTE_32F "
         "scaleType=R_32F] algo=[algoId=66] workSpace=0X0 workSpaceSizeInBytes=0 beta=0 outOfPlace=0 stream=0X0\n";
  ASSERT_EQ(run_program({"run", "--workload", "app.log", "--target", "simulator"}, here()).code, 0);
  const Finished sequence = run_program(doctor("lt-audit.json:heuristic-validity/problem-1.every-algorithm"), here());
  EXPECT_TRUE(contains(sequence.out, "is a sequence of calls")) << sequence.out << sequence.err;
  const Finished call = run_program(doctor("lt-audit.json:problem/problem-1"), here());
  EXPECT_EQ(call.code, 0) << call.err;
  EXPECT_TRUE(contains(call.out, "The call works as it is")) << call.out;
}

TEST_F(DoctorTest, APastedLineStartsFromTheFirstVariantThatFailsAsItReports) {
  // INT8 has the default epilogue only: as read, with a bias, the line fails as it reports on a faultless library.
  const Finished biased = run_program(
      doctor("gemm_and_bias error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 "
             "transpose_mat2 0 m 16 n 16 k 16 mat1_ld 16 mat2_ld 16 result_ld 16 abType 3 cType 10 computeType 72 "
             "scaleType 10."),
      here());
  EXPECT_EQ(biased.code, 0) << biased.err;
  EXPECT_TRUE(contains(biased.err, "the line is read as: as the line says")) << biased.err;
  EXPECT_TRUE(contains(biased.out, "CUBLASLT_MATMUL_DESC_EPILOGUE = CUBLASLT_EPILOGUE_DEFAULT")) << biased.out;
  // What no variant gives is said, and the line as it was read is looked at.
  const Finished other = run_program(
      doctor(
          "CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 "
          "0 m 80 n 64 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 scaleType 0"),
      here());
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_TRUE(contains(other.err, "gives INTERNAL_ERROR here; the first is looked at")) << other.err;
}

}  // namespace
}  // namespace lt_audit
