// What lines of each format leave open, and which of the calls that they may stand for is the one.
#include "cli/call_variants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "workload/problem_text.h"

namespace lt_audit {
namespace {

// Literal lines of public threads: pytorch PR#91436, PR#106840 and vllm#5731.
const std::string kGemmAndBias =
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 0 m 80 n "
    "1024 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 scaleType 0";
const std::string kInt8 =
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 0 transpose_mat2 0 m 16 n "
    "17 k 16 mat1_ld 16 mat2_ld 16 result_ld 16 abType 3 cType 10 computeType 72 scaleType 10";
const std::string kScaled =
    "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasLtMatmul with transpose_mat1 t transpose_mat2 n m "
    "9216 n 3398 k 7168 mat1_ld 7168 mat2_ld 7168 result_ld 9216 computeType 68 scaleType 0";
const std::string kTrace =
    "[2026-11-29 18:47:10][cublasLt][524][Trace][cublasLtMatmul] A=0X7F913CB80008 Adesc=[type=R_16F rows=2304 cols=768 "
    "ld=2304] B=0X7F915D280000 Bdesc=[type=R_16F rows=768 cols=1024 ld=768] C=0X7F915D580000 Cdesc=[type=R_16F "
    "rows=2304 cols=1024 ld=2304] D=0X7F915D580000 Ddesc=[type=R_16F rows=2304 cols=1024 ld=2304] "
    "computeDesc=[computeType=COMPUTE_32F scaleType=R_32F] algo=[algoId=66] workSpace=0X7F90B3C00000 "
    "workSpaceSizeInBytes=1048576 beta=0 outOfPlace=0 stream=0X0";

PastedCall pasted(const std::string& line) {
  std::istringstream none;
  return find_pasted_call(line, none).value();
}

std::vector<std::string> names_of(const std::string& line) {
  std::vector<std::string> names;
  for (const auto& variant : variants_of(pasted(line))) names.push_back(variant.what);
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string table_of(const PastedCall& call, const std::vector<VariantResult>& results) {
  std::ostringstream out;
  write_variants(call, variants_of(call), results, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Variants, AreAtMostTwentyFourAndEachAnotherCall) {
  for (const auto& line : {kGemmAndBias, kInt8, kScaled, kTrace}) {
    const auto call = pasted(line);
    const auto variants = variants_of(call);
    EXPECT_LE(variants.size(), 24U) << line;
    EXPECT_EQ(variants.front().problem, call.call.problem) << "the call as it was read is the most plausible one";
    std::set<std::string> problems;
    std::set<std::string> names;
    for (const auto& variant : variants) {
      problems.insert(to_text(variant.problem));
      names.insert(variant.what);
    }
    EXPECT_EQ(problems.size(), variants.size()) << line;
    EXPECT_EQ(names.size(), variants.size()) << line;
  }
}

TEST(Variants, OfGemmAndBiasAreEpilogueWorkspaceAndPointersToldAndNot) {
  const auto names = names_of(kGemmAndBias);
  // In this order: what stands in the call before where its pointers point to.
  const std::vector<std::string> first(names.begin() + 1, names.begin() + 6);
  EXPECT_EQ(first, (std::vector<std::string>{"epilogue relu_bias", "no epilogue", "workspace limit 0 bytes",
                                             "workspace limit 32 MiB", "A at 2 bytes, 256 promised"}));
  EXPECT_TRUE(has(names, "B at 8 bytes, 256 promised"));
  EXPECT_TRUE(has(names, "B at 8 bytes, 8 promised"));
  EXPECT_TRUE(has(names, "bias at 2 bytes"));
  for (const auto& name : names) EXPECT_FALSE(contains(name, "f16") || contains(name, "f32")) << "the line has types";
}

TEST(Variants, OfALineWithTypesAndWithoutABiasLeaveBothAlone) {
  const auto names = names_of(kInt8);
  for (const auto& name : names) EXPECT_FALSE(contains(name, "epilogue") || contains(name, "bias")) << name;
  EXPECT_TRUE(has(names, "workspace limit 0 bytes"));
  EXPECT_TRUE(has(names, "D at 4 bytes, 256 promised"));
  EXPECT_FALSE(has(names, "D at 2 bytes, 256 promised")) << "no INT32 lies there";
}

TEST(Variants, OfAScaledProductAreTheTypesThatItsLineNeverSays) {
  const auto names = names_of(kScaled);
  for (const char* name : {"C and D in f16", "C and D in f32", "A in e5m2", "B in e5m2", "A, B, C and D in f16",
                           "A, B, C and D in bf16", "A, B, C and D in f32", "epilogue bias"}) {
    EXPECT_TRUE(has(names, name)) << name;
  }
  EXPECT_FALSE(has(names, "epilogue relu_bias")) << "scaled_gemm has no activation";
  EXPECT_TRUE(has(names, "D at 8 bytes, 256 promised")) << "all of the untold pointers find room";
}

TEST(Variants, OfALogWithPointersAreWhatWasPromisedOfThem) {
  const auto variants = variants_of(pasted(kTrace));
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].what, "as the line says");
  EXPECT_EQ(variants[0].problem.a_alignment, 8U);
  EXPECT_EQ(variants[1].problem.a_alignment, 256U);
  EXPECT_EQ(variants[1].problem.a_offset, 8);
}

TEST(Variants, OfACublasLogIsTheMathModeThatItMayLack) {
  auto call = pasted(kTrace);
  call.call.assumed = {"types"};
  EXPECT_EQ(variants_of(call).size(), 1U) << "FP16 has no other mode";
  call.call.problem = problem_from_text("m=8,n=8,k=8,a=f32");
  const auto variants = variants_of(call);
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[1].problem.compute_type, CUBLAS_COMPUTE_32F_FAST_TF32);
}

TEST(FirstThatFails, HasTheStatusOfTheLineAndIsNoSuccess) {
  const auto call = pasted(kGemmAndBias);
  const VariantResult right{"SUCCESS", Outcome::correct};
  const VariantResult refused{"NOT_SUPPORTED", Outcome::refused};
  const VariantResult other{"EXECUTION_FAILED", Outcome::late_refusal};
  EXPECT_EQ(first_that_fails(call, {right, other, refused, refused}), 2U);
  EXPECT_EQ(first_that_fails(call, {right, other}), std::nullopt);
  auto silent = call;
  silent.status.clear();
  EXPECT_EQ(first_that_fails(silent, {right, {"not run", Outcome::not_run}, other, refused}), 2U);
}

TEST(WriteVariants, IsATableWithYesAndNoAndTheCallToDiagnose) {
  const auto call = pasted(kGemmAndBias);
  std::vector<VariantResult> results(variants_of(call).size(), {"SUCCESS", Outcome::correct});
  EXPECT_TRUE(contains(table_of(call, results), "none of them gives NOT_SUPPORTED here"));
  EXPECT_FALSE(contains(table_of(call, results), "yes"));
  results[2] = {"NOT_SUPPORTED", Outcome::late_refusal};
  const auto text = table_of(call, results);
  EXPECT_TRUE(contains(text, "the line does not say: ")) << text;
  EXPECT_TRUE(contains(text, "reproduces\n")) << text;
  EXPECT_TRUE(contains(text, "1 of 24 give NOT_SUPPORTED, as the line reports\n")) << text;
  EXPECT_TRUE(contains(text, "lt-audit doctor 'm=80,n=1024,k=160,ta=t,a=bf16,in_place=1,workspace=1MiB'\n")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (contains(line, "  no epilogue ")) {
      EXPECT_TRUE(contains(line, "late_refusal   yes")) << line;
    }
    if (contains(line, "  epilogue relu_bias ")) {
      EXPECT_TRUE(contains(line, "correct        no")) << line;
    }
  }
}

TEST(WriteVariants, WithoutAReportedStatusAsksNothingAboutIt) {
  const auto call = pasted(kTrace);
  const auto text = table_of(call, {{"SUCCESS", Outcome::correct}, {"NOT_SUPPORTED", Outcome::late_refusal}});
  EXPECT_FALSE(contains(text, "reproduces")) << text;
  EXPECT_TRUE(contains(text, "lt-audit doctor 'm=2304")) << text;
}

}  // namespace
}  // namespace lt_audit
