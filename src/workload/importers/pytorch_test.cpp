// Every wording of PyTorch's messages, and what is not readable.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workload/importers/recorded_calls.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

using Words = std::vector<std::string>;

struct Imported {
  std::vector<std::pair<std::uint64_t, ImportedCall>> calls;
  std::vector<std::pair<std::uint64_t, std::string>> damages;
};

Imported import(std::string_view text) {
  RecordedCalls recorded;
  recorded.feed(*make_pytorch_importer(), text);
  return {recorded.calls, recorded.damages};
}

/// The one call of a line; a call without sizes when there is none.
ImportedCall only_call(std::string_view line) {
  const auto recorded = import(line);
  EXPECT_EQ(recorded.damages.size(), 0U) << line << ": "
                                         << (recorded.damages.empty() ? "" : recorded.damages[0].second);
  EXPECT_EQ(recorded.calls.size(), 1U) << line;
  return recorded.calls.empty() ? ImportedCall{} : recorded.calls[0].second;
}

/// The reason why the one line is damaged; empty when it is not.
std::string reason_of(std::string_view line) {
  const auto recorded = import(line);
  EXPECT_EQ(recorded.calls.size(), 0U) << line;
  return recorded.damages.size() == 1 ? recorded.damages[0].second : "";
}

const Words kUsual{"alpha", "beta", "alignment", "declared alignment", "workspace"};

Words usual_and(const Words& more) {
  auto words = kUsual;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

constexpr std::string_view kBias =
    "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 0 m "
    "4096 "
    "n 10 k 7936 mat1_ld 7936 mat2_ld 7936 result_ld 4096 abcType 2 computeType 68 scaleType 0";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const auto at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? result : result.replace(at, from.size(), to);
}

TEST(PytorchImporter, GemmAndBias) {
  const auto call = only_call(kBias);
  EXPECT_EQ(to_text(call.problem), "m=4096,n=10,k=7936,ta=t,a=f16,epilogue=bias,in_place=1,workspace=1MiB");
  EXPECT_EQ(call.api, "cublasLtMatmul");
  EXPECT_FALSE(call.lone_query);
  EXPECT_FALSE(call.stream);
  EXPECT_EQ(call.algorithm, "");
  EXPECT_EQ(call.assumed, usual_and({"epilogue"}));
  EXPECT_EQ(call.kept, Words{"status=EXECUTION_FAILED"});

  const auto other = only_call(
      "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 "
      "transpose_mat2 0 m 80 n 1024 k 160 mat1_ld 160 mat2_ld 160 result_ld 80 abcType 14 computeType 68 scaleType 0");
  EXPECT_EQ(to_text(other.problem), "m=80,n=1024,k=160,ta=t,a=bf16,epilogue=bias,in_place=1,workspace=1MiB");
  EXPECT_EQ(other.kept, Words{"status=NOT_SUPPORTED"});
}

TEST(PytorchImporter, EveryFieldOfGemmAndBias) {
  const auto call = only_call(
      "CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling cublasLtMatmul with transpose_mat1 0 transpose_mat2 1 m "
      "11 "
      "n 12 k 13 mat1_ld 21 mat2_ld 22 result_ld 23 abcType 1 computeType 70 scaleType 1");
  EXPECT_EQ(to_text(call.problem),
            "m=11,n=12,k=13,tb=t,a=f64,lda=21,ldb=22,ldc=23,ldd=23,epilogue=bias,in_place=1,workspace=1MiB");
  EXPECT_EQ(call.problem.type_c, CUDA_R_64F);
  EXPECT_EQ(call.problem.compute_type, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(call.problem.scale_type, CUDA_R_64F);
  EXPECT_EQ(call.kept, Words{"status=INTERNAL_ERROR"});
}

TEST(PytorchImporter, GemmAndBiasOfADebugBuildEndsBeforeTheShapes) {
  const auto call = only_call(
      replaced(kBias, "CUDA", "0CUDA") +
      " result_shape 10 4096 result_stride 4096 1 self_shape 4096 self_stride 1 mat1_shape 10 7936 mat1_stride 7936 1 "
      "mat2_shape 7936 4096 mat2_stride 1 7936 m 5 n 6");
  EXPECT_EQ(to_text(call.problem), to_text(only_call(kBias).problem));
}

TEST(PytorchImporter, ScaledGemm) {
  const auto call = only_call(
      "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasLtMatmul with transpose_mat1 t transpose_mat2 n m "
      "9216 n 3398 k 7168 mat1_ld 7168 mat2_ld 7168 result_ld 9216 computeType 68 scaleType 0");
  EXPECT_EQ(to_text(call.problem), "m=9216,n=3398,k=7168,ta=t,a=e4m3,d=bf16,workspace=1MiB");
  EXPECT_EQ(call.problem.type_b, CUDA_R_8F_E4M3);
  EXPECT_EQ(call.problem.type_c, CUDA_R_16BF);
  EXPECT_EQ(call.assumed, usual_and({"epilogue", "types"}));
  EXPECT_EQ(call.kept, Words{"status=EXECUTION_FAILED"});
}

TEST(PytorchImporter, EveryFieldOfScaledGemm) {
  const auto call = only_call(
      "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 n transpose_mat2 t m 16 "
      "n "
      "32 k 48 mat1_ld 64 mat2_ld 80 result_ld 96 computeType 77 scaleType 14");
  EXPECT_EQ(to_text(call.problem),
            "m=16,n=32,k=48,tb=t,a=e4m3,d=bf16,compute=32f_fast_tf32,scale=bf16,lda=64,ldb=80,ldc=96,ldd=96,"
            "workspace=1MiB");
  EXPECT_FALSE(call.problem.in_place);
}

TEST(PytorchImporter, Int8Gemm) {
  const auto call = only_call(
      "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 0 transpose_mat2 0 m 16 "
      "n "
      "17 k 16 mat1_ld 16 mat2_ld 16 result_ld 16 abType 3 cType 10 computeType 72 scaleType 10");
  EXPECT_EQ(to_text(call.problem), "m=16,n=17,k=16,a=i8,d=i32,in_place=1,workspace=1MiB");
  EXPECT_EQ(call.problem.compute_type, CUBLAS_COMPUTE_32I);
  EXPECT_EQ(call.problem.scale_type, CUDA_R_32I);
  EXPECT_EQ(call.problem.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(call.assumed, kUsual);
}

TEST(PytorchImporter, EveryFieldOfInt8Gemm) {
  const auto call = only_call(
      "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 1 m 17 "
      "n "
      "18 k 19 mat1_ld 32 mat2_ld 33 result_ld 34 abType 3 cType 3 computeType 73 scaleType 0");
  EXPECT_EQ(to_text(call.problem),
            "m=17,n=18,k=19,ta=t,tb=t,a=i8,compute=32i_pedantic,scale=f32,lda=32,ldb=33,ldc=34,ldd=34,in_place=1,"
            "workspace=1MiB");
}

TEST(PytorchImporter, BatchedGemm) {
  const auto call = only_call(
      "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 transpose_mat2 0 m 64 "
      "n "
      "128 k 32 lda 40 ldb 41 ldc 65 abcType 0 computeType 77 scaleType 0");
  EXPECT_EQ(to_text(call.problem),
            "m=64,n=128,k=32,ta=t,a=f32,compute=32f_fast_tf32,lda=40,ldb=41,ldc=65,ldd=65,in_place=1,workspace=1MiB");
  EXPECT_EQ(call.assumed, usual_and({"batch", "batch strides"}));
  EXPECT_EQ(call.kept, Words{"status=NOT_SUPPORTED"});
}

TEST(PytorchImporter, WarningOfBatchedGemm) {
  const auto call = only_call(
      "[W1130 10:11:12.000000000 CUDABlas.cpp:481] Warning: bgemm_internal_cublaslt error: "
      "CUBLAS_STATUS_NOT_INITIALIZED "
      "when calling cublasLtMatmul with transpose_mat1 t transpose_mat2 n m 64 n 128 k 32 lda 32 ldb 33 ldc 66 abType "
      "2 "
      "cType 0 computeType 68 scaleType 0. Will attempt to recover by calling cublas instead. (function operator())");
  EXPECT_EQ(to_text(call.problem), "m=64,n=128,k=32,ta=t,a=f16,d=f32,ldb=33,ldc=66,ldd=66,in_place=1,workspace=1MiB");
  EXPECT_EQ(call.problem.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(call.assumed, usual_and({"batch", "batch strides"}));
  EXPECT_EQ(call.kept, Words{"status=NOT_INITIALIZED"});
}

TEST(PytorchImporter, WarningOfGemmAndBias) {
  const auto call = only_call(
      "gemm_and_bias error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasLtMatmul with transpose_mat1 1 "
      "transpose_mat2 0 m 2048 n 2145 k 4608 mat1_ld 4608 mat2_ld 4609 result_ld 2050 abType 14 cType 0 computeType 68 "
      "scaleType 0. Will attempt to recover by calling unfused cublas path.");
  EXPECT_EQ(
      to_text(call.problem),
      "m=2048,n=2145,k=4608,ta=t,a=bf16,d=f32,ldb=4609,ldc=2050,ldd=2050,epilogue=bias,in_place=1,workspace=1MiB");
  EXPECT_EQ(call.assumed, usual_and({"epilogue"}));
  // INT8 with the wording of gemm_and_bias stays gemm_and_bias.
  const auto int8 = only_call(
      "gemm_and_bias error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1 "
      "transpose_mat2 "
      "0 m 4 n 4 k 4 mat1_ld 4 mat2_ld 4 result_ld 4 abType 3 cType 10 computeType 72 scaleType 10.");
  EXPECT_EQ(int8.problem.epilogue, CUBLASLT_EPILOGUE_BIAS);
}

TEST(PytorchImporter, FieldsAreFoundByName) {
  const auto call = only_call(
      "CUDA error: <unknown> when calling cublasLtMatmul with transpose_mat1 1 scaleType 0 computeType 68 abcType 2 "
      "result_ld 4096 mat2_ld 7936 mat1_ld 7936 k 7936 n 10 added 3 m 4096 transpose_mat2 0");
  EXPECT_EQ(to_text(call.problem), to_text(only_call(kBias).problem));
  EXPECT_TRUE(call.kept.empty());
}

TEST(PytorchImporter, MarksBehindTheLastValue) {
  const auto text = to_text(only_call(kBias).problem);
  for (const std::string_view end :
       {"\"}", "')", ".", "\\nException raised from gemm_and_bias", "\r", " (F1, PR#148824)"}) {
    EXPECT_EQ(to_text(only_call(std::string(kBias) + std::string(end)).problem), text) << end;
  }
  for (const std::string_view end : {".5", ",024", "-1", "x", "\t"}) {
    EXPECT_EQ(reason_of(std::string(kBias) + std::string(end)).substr(0, 9), "scaleType") << end;
  }
}

TEST(PytorchImporter, LinesWithoutSizesAreClaimedAndDamaged) {
  for (const std::string_view line :
       {"CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmulAlgoGetHeuristic( ltHandle, "
        "computeDesc.descriptor(), Adesc.descriptor(), Bdesc.descriptor(), Cdesc.descriptor(), Ddesc.descriptor(), "
        "preference.descriptor(), 1, &heuristicResult, &returnedResult)`",
        "CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `::cublasLtMatmulDescSetAttribute(descriptor(), attr, "
        "&value, sizeof(value))`",
        "RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasGemmEx( handle, opa, opb, m, n, k, "
        "alpha_ptr, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, ...)`",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmStridedBatchedEx(handle, opa, opb, (int)m, "
        "(int)n, (int)k, (void*)&falpha, a, CUDA_R_16F, (int)lda, stridea)`"}) {
    EXPECT_EQ(reason_of(line),
              "the line names no m, n, k: switch the cuBLASLt logger on (CUBLASLT_LOG_MASK=63) and import its log")
        << line;
  }
}

TEST(PytorchImporter, OtherLinesAreNotClaimed) {
  const auto importer = make_pytorch_importer();
  for (const std::string_view line :
       {"", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "m 16 n 17 k 16 mat1_ld 16 mat2_ld 16", "the call cublasGemmStridedBatchedEx( is not when calling",
        "[2026-11-29 18:47:10][cublasLt][524][Trace][cublasLtMatmul] A=0X7F913CB80000"}) {
    EXPECT_FALSE(importer->claims(line)) << line;
  }
  EXPECT_TRUE(importer->claims(kBias));
  EXPECT_TRUE(importer->claims(std::string(4096 - 110, ' ') + std::string(kBias)));
  EXPECT_FALSE(importer->claims(std::string(4096, ' ') + std::string(kBias)));
}

TEST(PytorchImporter, EachMissingFieldIsDamage) {
  for (const std::string_view field : {"transpose_mat2 0", "m 4096", "n 10", "k 7936", "mat1_ld 7936", "mat2_ld 7936",
                                       "result_ld 4096", "abcType 2", "computeType 68", "scaleType 0"}) {
    const auto name = std::string(field.substr(0, field.find(' ')));
    EXPECT_EQ(reason_of(replaced(kBias, " " + std::string(field), "")), name + " is missing");
  }
  EXPECT_EQ(reason_of(replaced(kBias, "transpose_mat1 1", "transpose_mat1")),
            "transpose_mat1 is neither 0, 1, n, t nor c");
  EXPECT_EQ(reason_of(kBias.substr(0, kBias.find(" abcType"))), "abcType is missing");
  EXPECT_EQ(reason_of(replaced(kBias, "abcType 2", "abType 2")), "cType is missing");
  EXPECT_EQ(reason_of(replaced(kBias, "abcType 2", "cType 2")), "abType is missing");
}

TEST(PytorchImporter, WhatContradictsItselfIsDamage) {
  EXPECT_EQ(reason_of(std::string(kBias) + " m 4096"), "m stands twice");
  EXPECT_EQ(reason_of(std::string(kBias) + " " + std::string(kBias)), "transpose_mat1 stands twice");
  EXPECT_EQ(reason_of(std::string(kBias) + " lda 7936"), "both lda and mat1_ld names stand in the line");
  EXPECT_EQ(reason_of(std::string(kBias) + " cType 2"), "both abcType and abType or cType stand in the line");
  EXPECT_EQ(reason_of(replaced(kBias, "mat1_ld 7936", "mat1_ld 7935")), "mat1_ld is smaller than the matrix has rows");
  EXPECT_EQ(reason_of(replaced(kBias, "mat2_ld 7936", "mat2_ld 10")), "mat2_ld is smaller than the matrix has rows");
  EXPECT_EQ(reason_of(replaced(kBias, "result_ld 4096", "result_ld 4095")),
            "result_ld is smaller than the matrix has rows");
}

TEST(PytorchImporter, NumbersOfNothingAreDamage) {
  EXPECT_EQ(reason_of(replaced(kBias, "computeType 68", "computeType 99")),
            "computeType is the number of no compute type");
  EXPECT_EQ(reason_of(replaced(kBias, "abcType 2", "abcType 99")), "abcType is the number of no data type");
  EXPECT_EQ(reason_of(replaced(kBias, "scaleType 0", "scaleType 99")), "scaleType is the number of no data type");
  EXPECT_EQ(reason_of(replaced(kBias, "transpose_mat2 0", "transpose_mat2 7")),
            "transpose_mat2 is neither 0, 1, n, t nor c");
  EXPECT_EQ(reason_of(replaced(kBias, "m 4096", "m -4096")), "m has no readable value");
  EXPECT_EQ(reason_of(replaced(kBias, "n 10", "n ten")), "n is no whole number up to 2^48");
  EXPECT_EQ(reason_of(replaced(kBias, "n 10", "n 281474976710657")), "n is no whole number up to 2^48");
  EXPECT_EQ(reason_of(replaced(kBias, "n 10", "n 99999999999999999999")), "n is no whole number up to 2^48");
  EXPECT_EQ(only_call(replaced(kBias, "n 10", "n 281474976710656")).problem.n, std::int64_t{1} << 48);
}

TEST(PytorchImporter, LineNumbersAndStrangeBytes) {
  const auto text = "nothing\n" + std::string(kBias) + "\n" + std::string(kBias.substr(0, 100)) + "\n" +
                    std::string(kBias) + std::string("\0 \xff\xfe", 4);
  const auto recorded = import(text);
  ASSERT_EQ(recorded.calls.size(), 1U);
  EXPECT_EQ(recorded.calls[0].first, 2U);
  ASSERT_EQ(recorded.damages.size(), 2U);
  EXPECT_EQ(recorded.damages[0], std::pair(std::uint64_t{3}, std::string("abcType is missing")));
  EXPECT_EQ(recorded.damages[1], std::pair(std::uint64_t{4}, std::string("scaleType has no readable value")));
}

}  // namespace
}  // namespace lt_audit
