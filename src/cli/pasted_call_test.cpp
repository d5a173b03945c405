// Pasted lines.
#include "cli/pasted_call.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

const std::string kError =
    "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 "
    "transpose_mat2 0 m 80 n 1024 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 scaleType 0";
const std::string kTrace =
    "[2026-11-29 18:47:10][cublasLt][524][Trace][cublasLtMatmul] A=0X7F913CB80008 Adesc=[type=R_16F rows=2304 cols=768 "
    "ld=2304] B=0X7F915D280000 Bdesc=[type=R_16F rows=768 cols=1024 ld=768] C=0X7F915D580000 Cdesc=[type=R_16F "
    "rows=2304 cols=1024 ld=2304] D=0X7F915D580000 Ddesc=[type=R_16F rows=2304 cols=1024 ld=2304] "
    "computeDesc=[computeType=COMPUTE_32F scaleType=R_32F] algo=[algoId=66] workSpace=0X7F90B3C00000 "
    "workSpaceSizeInBytes=1048576 beta=0 outOfPlace=0 stream=0X0";

std::optional<PastedCall> find(const std::string& what, const std::string& standard_input = "") {
  std::istringstream in(standard_input);
  return find_pasted_call(what, in);
}

TEST(PastedCall, AnErrorLineCarriesItsStatus) {
  const auto pasted = find(kError);
  ASSERT_TRUE(pasted.has_value());
  EXPECT_EQ(pasted->status, "NOT_SUPPORTED");
  EXPECT_EQ(pasted->call.problem.m, 80);
  EXPECT_EQ(pasted->call.problem.type_a, CUDA_R_16BF);
  EXPECT_TRUE(has_bias(pasted->call.problem.epilogue));
}

TEST(PastedCall, ALogLineHasPointersAndNoStatus) {
  const auto pasted = find(kTrace);
  ASSERT_TRUE(pasted.has_value());
  EXPECT_EQ(pasted->status, "");
  EXPECT_EQ(pasted->call.problem.a_offset, 8);
}

TEST(PastedCall, ComesFromStandardInputOrAFileToo) {
  EXPECT_TRUE(find("-", "first line\n" + kError + "\n").has_value());
  const std::string path = testing::TempDir() + "lt_audit_pasted.txt";
  std::ofstream(path) << kTrace << '\n';
  EXPECT_TRUE(find(path).has_value());
  std::ofstream(path) << "{\"schema\": \"lt-audit-report\"}";
  EXPECT_FALSE(find(path).has_value());
  std::remove(path.c_str());
}

TEST(PastedCall, TheFirstCallOfSeveralIsTaken) {
  EXPECT_EQ(find(kTrace + "\n" + kError + "\n" + kError)->call.problem.m, 2304);
}

TEST(PastedCall, OtherTextsAreNone) {
  for (const char* what : {"m=64,n=64,k=64,a=f16", "lt-audit.json:alignment/f16.nn", "hello", ""}) {
    EXPECT_FALSE(find(what).has_value()) << what;
  }
}

TEST(PastedCall, ALineWithoutShapesSaysWhy) {
  try {
    static_cast<void>(
        find("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmulAlgoGetHeuristic( ltHandle, "
             "computeDesc.descriptor(), Adesc.descriptor(), 1, &heuristicResult, &returnedResult)`"));
    FAIL() << "taken";
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("CUBLASLT_LOG_MASK"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lt_audit
