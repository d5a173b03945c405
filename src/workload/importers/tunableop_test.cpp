// The real files of TunableOp with their counts, every operation and type word, and rows that are damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "workload/importers/recorded_calls.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// What a text gives.
struct Imported : RecordedCalls {
  explicit Imported(std::string_view text) { feed(*make_tunableop_importer(), text); }
};

std::size_t products_of(const RecordedCalls& recorded) {
  std::set<std::string> products;
  for (const auto& [line, call] : recorded.calls) products.insert(to_text(call.problem) + call.api);
  return products.size();
}

ImportedCall only_call(const std::string& row) {
  const Imported imported(row);
  for (const auto& [line, reason] : imported.damages) ADD_FAILURE() << row << ": " << reason;
  EXPECT_EQ(imported.calls.size(), 1U) << row;
  return imported.calls.empty() ? ImportedCall{} : imported.calls[0].second;
}

std::string problem(const std::string& row) { return to_text(only_call(row).problem); }

std::string damage(const std::string& row) {
  const Imported imported(row);
  EXPECT_TRUE(imported.calls.empty()) << row;
  EXPECT_EQ(imported.damages.size(), 1U) << row;
  return imported.damages.empty() ? "" : imported.damages[0].second;
}

bool assumes(const ImportedCall& call, std::string_view word) {
  return std::find(call.assumed.begin(), call.assumed.end(), word) != call.assumed.end();
}

TEST(TunableOp, RealFilesGiveTheirRows) {
  const Imported untuned(file_text("tunableop_untuned0.csv"));
  EXPECT_EQ(untuned.calls.size(), 13U);
  EXPECT_EQ(products_of(untuned), 13U);
  EXPECT_TRUE(untuned.damages.empty());
  const Imported results(file_text("tunableop_results0.csv"));
  EXPECT_EQ(results.calls.size(), 6U);
  EXPECT_EQ(products_of(results), 6U);
  EXPECT_TRUE(results.damages.empty());
}

TEST(TunableOp, AResultAsItStandsInItsFile) {
  const Imported results(file_text("tunableop_results0.csv"));
  ASSERT_FALSE(results.calls.empty());
  const auto& [line, call] = results.calls[0];
  EXPECT_EQ(line, 2U);
  EXPECT_EQ(to_text(call.problem), "m=4096,n=512,k=1024,ta=t,a=bf16,epilogue=bias,workspace=1MiB");
  EXPECT_EQ(call.api, "GemmAndBiasTunableOp");
  EXPECT_EQ(call.algorithm, "Default");
  EXPECT_EQ(call.assumed, (std::vector<std::string>{"alpha", "beta", "alignment", "workspace", "epilogue"}));
  EXPECT_TRUE(call.kept.empty());
  EXPECT_FALSE(call.stream.has_value());
}

TEST(TunableOp, TypeWords) {
  const auto typed = [](const std::string& word) {
    return problem("GemmTunableOp_" + word + "_NN,nn_64_32_16\n").substr(sizeof("m=64,n=32,k=16,a=") - 1);
  };
  EXPECT_EQ(typed("BFloat16"), "bf16,workspace=1MiB");
  EXPECT_EQ(typed("Half"), "f16,workspace=1MiB");
  EXPECT_EQ(typed("float"), "f32,workspace=1MiB");
  EXPECT_EQ(typed("tf32"), "f32,compute=32f_fast_tf32,workspace=1MiB");
  EXPECT_EQ(typed("double"), "f64,workspace=1MiB");
  EXPECT_EQ(typed("c10::complex<float>"), "c32,workspace=1MiB");
  EXPECT_EQ(only_call("GemmTunableOp_c10::complex<double>_NN,nn_64_32_16\n").problem.compute_type, CUBLAS_COMPUTE_64F);
}

TEST(TunableOp, LayoutsAndLeadingDimensions) {
  EXPECT_EQ(problem("GemmTunableOp_float_NT,nt_25088_4096_64,Gemm_Hipblaslt_1219,1.262\n"),
            "m=25088,n=4096,k=64,tb=t,a=f32,workspace=1MiB");
  EXPECT_EQ(problem("GemmTunableOp_float_TN,tn_64_32_16_ld_16_16_64\n"), "m=64,n=32,k=16,ta=t,a=f32,workspace=1MiB");
  EXPECT_EQ(problem("GemmTunableOp_float_TN,tn_64_32_16_ld_20_24_70\n"),
            "m=64,n=32,k=16,ta=t,a=f32,lda=20,ldb=24,ldc=70,ldd=70,workspace=1MiB");
}

TEST(TunableOp, BatchedProductsHaveNoStrides) {
  const auto call = only_call("GemmStridedBatchedTunableOp_float_TN,tn_128_128_64_B_96_ld_64_64_128\n");
  EXPECT_EQ(to_text(call.problem), "m=128,n=128,k=64,ta=t,a=f32,batch=96,workspace=1MiB");
  EXPECT_TRUE(assumes(call, "batch strides"));
  EXPECT_FALSE(assumes(only_call("GemmTunableOp_float_TN,tn_128_128_64\n"), "batch strides"));
}

TEST(TunableOp, ScaledProductsNameThreeTypesAndTheBias) {
  const std::string sizes = ",tn_64_12288_2048_ld_2048_2048_64_rw_";
  const auto plain = only_call("ScaledGemmTunableOp_Float8_e4m3fn_Float8_e5m2_BFloat16_TN" + sizes + "0_bias_None\n");
  EXPECT_EQ(to_text(plain.problem), "m=64,n=12288,k=2048,ta=t,a=e4m3,b=e5m2,d=bf16,workspace=1MiB");
  EXPECT_TRUE(plain.kept.empty());
  const auto biased =
      only_call("ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN" + sizes + "1_bias_BFloat16\n");
  EXPECT_EQ(biased.problem.epilogue, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(biased.kept, std::vector<std::string>{"rowwise=1"});
  const auto odd = only_call("ScaledGemmTunableOp_Float8_e4m3fnuz_Float8_e4m3fn_Half_TN" + sizes + "0_bias_Float\n");
  EXPECT_EQ(odd.problem.type_a, CUDA_R_8F_E4M3);
  EXPECT_EQ(odd.kept, (std::vector<std::string>{"a_type=Float8_e4m3fnuz", "bias_type=Float"}));
}

TEST(TunableOp, WhatCarriesNoCallIsForgotten) {
  const Imported imported(
      "Validator,PT_VERSION,2.10.0\r\nValidator,\nGemmTunableOp_float_NN,nn_64_*_16_ld_64_*_64,Default,1\n");
  EXPECT_TRUE(imported.calls.empty());
  EXPECT_TRUE(imported.damages.empty());
}

TEST(TunableOp, CarriageReturnsAreFine) {
  EXPECT_EQ(problem("GemmTunableOp_float_NN,nn_256_32_1_ld_256_1_256\r\n"), "m=256,n=32,k=1,a=f32,workspace=1MiB");
  EXPECT_EQ(only_call("GemmTunableOp_float_NN,nn_256_32_1,Default\r\n").algorithm, "Default");
}

TEST(TunableOp, DamagedRowsSayWhy) {
  const std::string gemm = "GemmTunableOp_float_TN,";
  EXPECT_EQ(damage("GemmTunableOp_float_NN\n"), "the sizes are missing");
  EXPECT_EQ(damage("GemmTunableOp_,tn_1_2_3\n"), "a type is missing or unknown");
  EXPECT_EQ(damage("GemmTunableOp_int8_TN,tn_1_2_3\n"), "a type is missing or unknown");
  EXPECT_EQ(damage("GemmTunableOp_float_T1,tn_1_2_3\n"), "the layout cannot be read");
  EXPECT_EQ(damage("GemmNewTunableOp_float_TN,tn_1_2_3\n"), "the operation is unknown");
  EXPECT_EQ(damage(gemm + "nn_1_2_3\n"), "the two layouts differ");
  EXPECT_EQ(damage(gemm + "tn_1_2\n"), "k is missing");
  EXPECT_EQ(damage(gemm + "tn_1_-2_3\n"), "n cannot be read");
  EXPECT_EQ(damage(gemm + "tn_1_2_281474976710657\n"), "k is too large");
  EXPECT_EQ(damage(gemm + "tn_281474976710656_2_3\n"), "a matrix is larger than any memory");
  EXPECT_EQ(damage(gemm + "tn_64_32_16_ld_16_15_64\n"), "ldb is smaller than the rows of its matrix");
  EXPECT_EQ(damage(gemm + "tn_64_32_16_ld_16_16\n"), "ldc is missing");
  EXPECT_EQ(damage(gemm + "tn_64_32_16_B_2\n"), "B does not belong here");
  EXPECT_EQ(damage("GemmStridedBatchedTunableOp_float_TN,tn_1_2_3\n"), "B is missing");
  EXPECT_EQ(damage("GemmStridedBatchedTunableOp_float_TN,tn_1_2_3_B_1073741825\n"), "B is too large");
  EXPECT_EQ(damage(gemm + "tn_1_2_3_x\n"), "the sizes end in something unknown");
  EXPECT_EQ(damage(gemm + "tn_1_2_3_rw_2_bias_None\n"), "rw is neither 0 nor 1");
  EXPECT_EQ(damage(gemm + "tn_1_2_3_rw_1\n"), "bias is missing");
  EXPECT_EQ(damage(gemm + "tn_1_2_3_rw_1_bias_string\n"), "the type of the bias is unknown");
  EXPECT_EQ(damage("GemmTunableOp_float_NN" + std::string(1000, 'x') + ",nn_1_2_3\n"),
            "the name of the operation is too long");
}

TEST(TunableOp, ClaimsItsRowsAlone) {
  const auto importer = make_tunableop_importer();
  for (const char* line : {"Validator,PT_VERSION,2.11.0", "GemmTunableOp_float_NN", "GemmTunableOp_float_NN,nn_1_1_1",
                           "ScaledGemmTunableOp_Half_Half_Half_TN,x"}) {
    EXPECT_TRUE(importer->claims(line)) << line;
  }
  for (const char* line :
       {"", "Validator", "Gemm,GemmTunableOp_float_NN", "a GemmTunableOp_float_NN,", "i!  m: type"}) {
    EXPECT_FALSE(importer->claims(line)) << line;
  }
}

}  // namespace
}  // namespace lt_audit
