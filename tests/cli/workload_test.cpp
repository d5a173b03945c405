// An application's own products: import of its logs, the audit of the workload, one of its cases again.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;
using WorkloadTest = ScratchTest;

// Lines of pytorch PR#91436 and PR#106840, and one in the form of vllm#5731 with smaller sizes.
const std::string kGemmAndBias =
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 0 m 80 n "
    "1024 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 scaleType 0";
const std::string kInt8Gemm =
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 0 transpose_mat2 0 m 16 n "
    "17 k 16 mat1_ld 16 mat2_ld 16 result_ld 16 abType 3 cType 10 computeType 72 scaleType 10";
const std::string kScaledGemm =
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 t transpose_mat2 n m 96 n "
    "64 k 64 mat1_ld 64 mat2_ld 64 result_ld 96 computeType 68 scaleType 0";

const std::string kBatched = std::string(LT_AUDIT_DATA_DIR) + "/workloads/ltonly_bmm.log";
const std::string kGpt2 = std::string(LT_AUDIT_DATA_DIR) + "/workloads/ltonly_gpt2.log";

/// Some lines of a log as one of their own: the simulator multiplies on the host, and a whole log takes it half a
/// minute under a sanitizer.
void write_lines(const std::string& log, const std::set<int>& wanted, const std::filesystem::path& to) {
  std::ifstream in(log);
  std::ofstream out(to);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    if (wanted.contains(++number)) out << line << '\n';
  }
}

TEST_F(WorkloadTest, ImportWritesTheWorkloadAndSaysWhatIsInIt) {
  const Finished finished = run_program({"import", kGpt2}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "36 calls, 20 distinct problems")) << finished.out;
  const auto workload = file_json(here_ / "workload.json");
  EXPECT_EQ(workload.at("schema"), "lt-audit-workload");
  EXPECT_EQ(workload.at("problems").size(), 20U);
  EXPECT_EQ(workload.at("problems").at(0).at("source").at("file"), kGpt2);
}

TEST_F(WorkloadTest, ImportOnStandardOutputIsOneDocument) {
  const Finished finished = run_program({"import", kGpt2, "-o", "-"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(nlohmann::json::parse(finished.out).at("problems").size(), 20U);
  EXPECT_TRUE(std::filesystem::is_empty(here_));
}

TEST_F(WorkloadTest, WhatIsNoLogGivesTwoAndNoFile) {
  const Finished finished = run_program({"import", "/proc/self/status"}, here());
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "none of its")) << finished.err;
  EXPECT_TRUE(std::filesystem::is_empty(here_));
}

TEST_F(WorkloadTest, RunAuditsEveryProblemOfALogInTheOrderOfItsCalls) {
  // Under a sanitizer every algorithm for 50257x1x768 takes longer than the usual limit of a case.
  const Finished finished =
      run_program({"run", "--workload", kGpt2, "--target", "simulator", "--timeout", "280"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err << finished.out;
  EXPECT_TRUE(contains(finished.out, "20 problems of the workload")) << finished.out;
  const auto report = file_json(here_ / "lt-audit.json");
  for (const auto& check : report.at("checks")) {
    std::uint64_t before = ~0ULL;
    if (check.at("id") == "problem") {
      EXPECT_EQ(check.at("cases").size(), 20U);
    }
    for (const auto& one : check.at("cases")) {
      const auto calls = std::stoull(one.at("parameters").at("calls").get<std::string>());
      EXPECT_LE(calls, before) << one.at("id");
      before = calls;
      EXPECT_TRUE(contains(one.at("parameters").at("source"), "ltonly_gpt2.log:")) << one.at("id");
    }
  }
  const auto statuses = statuses_of(report);
  EXPECT_EQ(statuses.count("heuristic-validity/problem-1.every-algorithm"), 1U);
  EXPECT_EQ(statuses.count("graph-capture/problem-20.replay"), 1U);
}

TEST_F(WorkloadTest, AWorkloadFileGivesTheSameAuditAsItsLog) {
  write_lines(kGpt2, {12, 28, 29}, here_ / "app.log");
  ASSERT_EQ(run_program({"import", "app.log", "-o", "w.json"}, here()).code, 0);
  ASSERT_EQ(run_program({"run", "--workload", "app.log", "--target", "simulator", "--json", "log.json"}, here()).code,
            0);
  ASSERT_EQ(run_program({"run", "--workload", "w.json", "--target", "simulator", "--json", "file.json"}, here()).code,
            0);
  EXPECT_EQ(differing_cases(file_json(here_ / "log.json"), file_json(here_ / "file.json")), Words{});
}

TEST_F(WorkloadTest, AFaultShowsAsWrongWithTheLineOfTheLog) {
  write_lines(kGpt2, {12, 28}, here_ / "app.log");
  const Finished finished =
      run_program({"run", "--workload", "app.log", "--target", "simulator", "--inject", "k-tail-lost"}, here());
  EXPECT_EQ(finished.code, 1);
  EXPECT_TRUE(contains(finished.out, "wrong ")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "app.log:2\n")) << finished.out;
}

TEST_F(WorkloadTest, WhatTheAuditCannotHoldIsNoOk) {
  // The second of these has a scale mode that no problem text can name; both are small enough for the simulator.
  const std::string head =
      "[cublasLt][1][Trace][cublasLtMatmul] A=0X7F715D000000 Adesc=[type=R_8F_E4M3 rows=64 cols=64 "
      "ld=64] B=0X7F715DC00000 Bdesc=[type=R_8F_E4M3 rows=64 cols=48 ld=64] C=0X7F715D000000 "
      "Cdesc=[type=R_16BF rows=64 cols=48 ld=64] D=0X7F715C800000 Ddesc=[type=R_16BF rows=64 cols=48 "
      "ld=64] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T";
  const std::string tail = "] algo=[algoId=66] workSpace=0X0 workSpaceSizeInBytes=0 beta=0 outOfPlace=1 stream=0X0\n";
  std::ofstream(here_ / "app.log") << head << tail << head << " aScaleMode=VEC64_32F bScaleMode=VEC64_32F" << tail;
  const Finished finished = run_program({"run", "--workload", "app.log", "--target", "simulator"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "2 problems of the workload: 1 ok, 1 partly")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "app.log:2 without aScaleMode=VEC64_32F")) << finished.out;
}

TEST_F(WorkloadTest, AProductOfEachTypeOfTheBatchedLogIsAudited) {
  // FP16, BF16, FP32, FP64 and complex FP32.
  write_lines(kBatched, {2, 7, 12, 17, 22}, here_ / "app.log");
  const Finished finished = run_program({"run", "--workload", "app.log", "--target", "simulator"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "a=c32")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "5 problems of the workload: 5 ok")) << finished.out;
}

TEST_F(WorkloadTest, EveryKeyOfAProblemTextStandsInItsPage) {
  const Finished finished = run_program({"replay", "x=1"}, here());
  const std::string mark = "the keys are ";
  const auto begin = finished.err.find(mark);
  ASSERT_NE(begin, std::string::npos) << finished.err;
  std::ifstream file(std::string(LT_AUDIT_DATA_DIR) + "/../../docs/guide/problem.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::istringstream keys(finished.err.substr(begin + mark.size()));
  int count = 0;
  // "order_b" stands in "`order_a` ... `order_d`".
  for (std::string key; keys >> key; ++count) {
    const bool between = key.ends_with("_b") || key.ends_with("_c");
    const auto stem = key.substr(0, key.size() - 1);
    const bool spanned = between && contains(page, "`" + stem + "a` ... `" + stem + "d`");
    const bool offset = (key == "b_offset" || key == "c_offset") && contains(page, "`a_offset` ... `d_offset`");
    const bool alignment = contains(key, "_alignment") && contains(page, "`a_alignment` ... `d_alignment`");
    EXPECT_TRUE(spanned || offset || alignment || contains(page, "`" + key + "`")) << key;
  }
  EXPECT_GT(count, 40);
}

TEST_F(WorkloadTest, ACaseOfAWorkloadRunsAgainFromTheReport) {
  write_lines(kGpt2, {28, 29}, here_ / "app.log");
  run_program({"run", "--workload", "app.log", "--target", "simulator"}, here());
  const Finished finished = run_program({"replay", "lt-audit.json:graph-capture/problem-2.replay"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "cudaStreamBeginCapture(")) << finished.err;
}

TEST_F(WorkloadTest, APastedErrorLineIsReplayedWithTheAlignmentsThatItLeavesOpen) {
  const Finished finished = run_program({"replay", kGemmAndBias, "--target", "simulator"}, here());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "cublasLtMatmulAlgoGetHeuristic(")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "B at 8 bytes, 256 promised")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "as the line reports")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "variant ")) << finished.out;
}

/// The row of a variant in the table of a replay, or nothing.
std::string row_of(const std::string& text, const std::string& variant) {
  const auto begin = text.find("\n  " + variant + " ");
  return begin == std::string::npos ? "" : text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
}

TEST_F(WorkloadTest, APlantedRuleShowsInTheTableOfVariants) {
  // late-refusal: a pointer below 16 bytes is refused by matmul, told or not.
  const Finished pointers =
      run_program({"replay", kGemmAndBias, "--target", "simulator", "--inject", "late-refusal"}, here());
  EXPECT_EQ(pointers.code, 0) << pointers.err;
  EXPECT_TRUE(row_of(pointers.out, "A at 2 bytes, 2 promised").ends_with("yes")) << pointers.out;
  EXPECT_TRUE(row_of(pointers.out, "B at 8 bytes, 256 promised").ends_with("yes")) << pointers.out;
  EXPECT_TRUE(row_of(pointers.out, "epilogue relu_bias").ends_with("no")) << pointers.out;
  EXPECT_TRUE(row_of(pointers.out, "workspace limit 32 MiB").ends_with("no")) << pointers.out;
  EXPECT_TRUE(contains(pointers.out, "a_offset=2,workspace=1MiB'\n")) << pointers.out;
  // valid-call-refused: INT8 is refused whatever else is tried.
  const Finished integers =
      run_program({"replay", kInt8Gemm, "--target", "simulator", "--inject", "valid-call-refused"}, here());
  EXPECT_TRUE(row_of(integers.out, "as the line says, pointers aligned to 256 bytes").ends_with("yes")) << integers.out;
  EXPECT_TRUE(row_of(integers.out, "workspace limit 0 bytes").ends_with("yes")) << integers.out;
}

TEST_F(WorkloadTest, ALineWithoutTypesIsTriedWithEach) {
  // heuristic-success-without-result hits FP8 alone, so the types decide.
  const Finished finished = run_program(
      {"replay", kScaledGemm, "--target", "simulator", "--inject", "heuristic-success-without-result"}, here());
  EXPECT_TRUE(contains(row_of(finished.out, "C and D in f16"), "refused")) << finished.out;
  EXPECT_TRUE(contains(row_of(finished.out, "A, B, C and D in bf16"), "SUCCESS")) << finished.out;
  EXPECT_TRUE(contains(row_of(finished.out, "A, B, C and D in f32"), "correct")) << finished.out;
}

TEST_F(WorkloadTest, ProblemAndWorkloadExcludeEachOther) {
  const Finished finished = run_program({"run", "--workload", kGpt2, "--problem", "m=1,n=1,k=1,a=f32"}, here());
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "--workload")) << finished.err;
}

}  // namespace
}  // namespace lt_audit
