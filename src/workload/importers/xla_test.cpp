// Custom calls of XLA as cuBLAS sees them, and what is not readable.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workload/importers/xla_test_lines.h"

namespace lt_audit::xla_test {
namespace {

const Words kUsual{"alignment", "declared alignment"};
constexpr const char* kNoShapes =
    "the line names no operand shapes, so k is not known: dump the HLO with --xla_dump_hlo_as_text and "
    "--xla_dump_hlo_as_long_text, which prints them";

TEST(XlaImporter, LiteralLineWithoutOperandShapesIsDamaged) {
  EXPECT_EQ(
      kNoShapes,
      reason_of(
          R"(%custom-call.1 = (f32[1024,256]{1,0}, s8[655360]{0}) custom-call(%Arg_0.1, %Arg_1.2), custom_call_target="__cublas$gemm", backend_config={"operation_queue_id":"0","wait_on_operation_queues":[],"gemm_backend_config":{...,"epilogue":"DEFAULT","damax_output":false,"lhs_stride":"131072","rhs_stride":"32768","grad_x":false,"grad_y":false},...})"));
}

TEST(XlaImporter, LiteralConfigWithOperandShapes) {
  const auto call = only_call(
      "  ROOT %c.1 = (f32[100,100]{1,0}, s8[4194304]{0}) custom-call(f32[100,100]{1,0} %p0, f32[100,100]{1,0} %p1), "
      "custom_call_target=\"__cublas$lt$matmul\", backend_config=" +
      std::string(kSampleConfig));
  EXPECT_EQ(to_text(call.problem), "m=100,n=100,k=100,a=f32,in_place=1,workspace=4MiB");
  EXPECT_EQ(call.api, "__cublas$lt$matmul");
  EXPECT_FALSE(call.lone_query || call.stream);
  EXPECT_EQ(call.algorithm, "selected_algorithm=0");
  EXPECT_EQ(call.assumed, (Words{"alignment", "declared alignment", "types"}));
  EXPECT_TRUE(call.kept.empty());
}

TEST(XlaImporter, ConfigOfOldVersionsIsAnEscapedStringWithoutNesting) {
  EXPECT_EQ(
      text_of(
          R"(  %gemm.2 = f16[64,32]{1,0} custom-call(f16[64,16]{1,0} %a, f16[16,32]{1,0} %b), custom_call_target="__cublas$gemm", backend_config="{\"alpha_real\":2,\"beta\":0,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"]},\"epilogue\":\"DEFAULT\"}")"),
      "m=32,n=64,k=16,a=f16,alpha=2,in_place=1");
}

TEST(XlaImporter, RowMajorResultIsTheTransposedProduct) {
  Line line = typed("f16", "f16", "f16");
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,a=f16,in_place=1,workspace=1KiB");
  // lhs_contracting 0: the left operand is K by M, and becomes op(B).
  line.operands = "f16[128,1024]{1,0} %a, f16[128,256]{1,0} %b";
  line.dims = R"("lhs_contracting_dimensions":["0"],"rhs_contracting_dimensions":["0"])";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,tb=t,a=f16,in_place=1,workspace=1KiB");
  // rhs_contracting 1: the right operand is N by K, and becomes op(A).
  line.operands = "f16[1024,128]{1,0} %a, f16[256,128]{1,0} %b";
  line.dims = R"("lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"])";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,ta=t,a=f16,in_place=1,workspace=1KiB");
  line.operands = "f16[128,1024]{1,0} %a, f16[256,128]{1,0} %b";
  line.dims = R"("lhs_contracting_dimensions":[0],"rhs_contracting_dimensions":[1])";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,ta=t,tb=t,a=f16,in_place=1,workspace=1KiB");
}

TEST(XlaImporter, ColumnMajorOperands) {
  Line line = typed("f16", "f16", "f16");
  line.operands = "f16[1024,128]{0,1} %a, f16[128,256]{1,0} %b";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,tb=t,a=f16,in_place=1,workspace=1KiB");
  line.operands = "f16[1024,128]{1,0} %a, f16[128,256]{0,1} %b";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,ta=t,a=f16,in_place=1,workspace=1KiB");
}

TEST(XlaImporter, ColumnMajorResultKeepsTheOperands) {
  Line line = typed("f8e5m2", "f8e4m3fn", "bf16");
  line.result = "(bf16[1024,256]{0,1}, s8[1024]{0})";
  EXPECT_EQ(text_of(line), "m=1024,n=256,k=128,ta=t,tb=t,a=e5m2,b=e4m3,d=bf16,in_place=1,workspace=1KiB");
  line.operands = "f8e5m2[1024,128]{0,1} %a, f8e4m3fn[128,256]{0,1} %b";
  EXPECT_EQ(text_of(line), "m=1024,n=256,k=128,a=e5m2,b=e4m3,d=bf16,in_place=1,workspace=1KiB");
  // A vocabulary projection's gradient as dumped.
  line.result = "(bf16[2304,8192]{0,1}, s8[4194304]{0})";
  line.operands = "bf16[768,2304]{1,0} %lhs, bf16[8192,768]{1,0} %rhs";
  line.dims = R"("lhs_contracting_dimensions":["0"],"rhs_contracting_dimensions":["1"])";
  EXPECT_EQ(text_of(line), "m=2304,n=8192,k=768,a=bf16,in_place=1,workspace=4MiB");
}

constexpr const char* kBatchDims =
    R"("lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"])";

TEST(XlaImporter, Batches) {
  Line line;
  line.dims = kBatchDims;
  line.result = "(bf16[12,64,80]{2,1,0}, s8[0]{0})";
  line.operands = "bf16[12,64,96]{2,1,0} %a, bf16[12,96,80]{2,1,0} %b";
  EXPECT_EQ(text_of(line), "m=80,n=64,k=96,a=bf16,batch=12,in_place=1,workspace=0");
  // Batches between the rows: [rows][batch][columns].
  line.operands = "bf16[12,64,96]{2,0,1} %a, bf16[12,96,80]{2,0,1} %b";
  line.result = "(bf16[12,64,80]{2,0,1}, s8[0]{0})";
  EXPECT_EQ(text_of(line),
            "m=80,n=64,k=96,a=bf16,lda=960,ldb=1152,ldc=960,ldd=960,batch=12,stride_a=80,stride_b=96,stride_c=80,"
            "stride_d=80,in_place=1,workspace=0");
}

TEST(XlaImporter, AnOperandWithoutBatchesServesAll) {
  Line line;
  line.result = "(bf16[12,64,80]{2,1,0}, s8[0]{0})";
  line.operands = "bf16[12,64,96]{2,1,0} %a, bf16[96,80]{1,0} %b";
  line.dims =
      R"("lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":[])";
  EXPECT_EQ(text_of(line), "m=80,n=64,k=96,a=bf16,batch=12,stride_a=0,in_place=1,workspace=0");
}

TEST(XlaImporter, SeveralDimensionsServeAsOne) {
  Line line = typed("f16", "f16", "f16");
  line.result = "(f16[3,5,7]{2,1,0}, s8[0]{0})";
  line.operands = "f16[3,5,4,8]{3,2,1,0} %a, f16[4,8,7]{2,1,0} %b";
  line.dims = R"("lhs_contracting_dimensions":["2","3"],"rhs_contracting_dimensions":["0","1"])";
  EXPECT_EQ(text_of(line), "m=7,n=15,k=32,a=f16,in_place=1,workspace=0");
  line.operands = "f16[3,5,4,8]{3,1,2,0} %a, f16[4,8,7]{2,1,0} %b";
  EXPECT_EQ(reason_of(line), "the dimensions of a matrix do not lie next to each other in memory");
}

TEST(XlaImporter, VectorsAndSingleRows) {
  Line line = typed("f16", "f16", "f16");
  line.result = "(f16[1,256]{1,0}, s8[0]{0})";
  line.operands = "f16[1,128]{1,0} %a, f16[128,256]{1,0} %b";
  EXPECT_EQ(text_of(line), "m=256,n=1,k=128,a=f16,in_place=1,workspace=0");
  line.result = "(f16[256]{0}, s8[0]{0})";
  line.operands = "f16[128]{0} %a, f16[128,256]{1,0} %b";
  line.dims = R"("lhs_contracting_dimensions":["0"],"rhs_contracting_dimensions":["0"])";
  EXPECT_EQ(text_of(line), "m=256,n=1,k=128,a=f16,in_place=1,workspace=0");
}

TEST(XlaImporter, TypesAndTheirComputeTypes) {
  // A is the right operand.
  const std::vector<std::pair<Line, std::string>> cases{
      {typed("f64", "f64", "f64"), "a=f64"},
      {typed("f32", "f32", "f32"), "a=f32"},
      {typed("f16", "f16", "f16"), "a=f16"},
      {typed("bf16", "bf16", "f32"), "a=bf16,d=f32"},
      {typed("f8e4m3fn", "f8e4m3fn", "bf16"), "a=e4m3,d=bf16"},
      {typed("f8e5m2", "f8e4m3fn", "f16"), "a=e4m3,b=e5m2,d=f16"},
      {typed("s8", "s8", "s32"), "a=i8,d=i32"},
      {typed("s8", "s8", "f32"), "a=i8,d=f32,compute=32f"},
  };
  for (const auto& [line, types] : cases) {
    EXPECT_EQ(text_of(line), "m=256,n=1024,k=128," + types + ",in_place=1,workspace=1KiB");
  }
  EXPECT_EQ(only_call(typed("c64", "c64", "c64")).problem.scale_type, CUDA_C_32F);
  const auto wide = only_call(typed("c128", "c128", "c128")).problem;
  EXPECT_EQ(wide.compute_type, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(wide.scale_type, CUDA_C_64F);
  EXPECT_EQ(reason_of(typed("s8", "s8", "s8")), "cublasLt has no compute type for an s8 result of XLA");
  EXPECT_EQ(reason_of(typed("f8e4m3fnuz", "f16", "f16")), "a type of the line is none of cublasLt");
  EXPECT_EQ(reason_of(typed("f16", "f16", "pred")), "a type of the line is none of cublasLt");
}

TEST(XlaImporter, PrecisionOfSingles) {
  Line line;
  const std::string base = R"("alpha_real":1,"beta":0,"epilogue":"DEFAULT","precision_config":)";
  line.config = base + R"({"operand_precision":["DEFAULT","DEFAULT"],"algorithm":"ALG_DOT_TF32_TF32_F32"})";
  auto call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,a=f32,compute=32f_fast_tf32,in_place=1,workspace=1KiB");
  EXPECT_EQ(call.kept, Words{"algorithm=ALG_DOT_TF32_TF32_F32"});
  EXPECT_EQ(call.assumed, kUsual);
  line.config = base + R"({"operand_precision":["HIGH","HIGHEST"],"algorithm":"ALG_UNSET"})";
  call = only_call(line);
  EXPECT_EQ(call.problem.compute_type, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(call.kept, Words{"operand_precision=HIGH,HIGHEST"});
  EXPECT_EQ(call.assumed, kUsual);
  line.config = base + R"({"operand_precision":["HIGH","DEFAULT"]})";
  EXPECT_EQ(only_call(line).assumed, (Words{"alignment", "declared alignment", "types"}));
  line.config = base + R"({"operand_precision":["a b"]})";
  EXPECT_EQ(reason_of(line), "operand_precision is not readable");
}

TEST(XlaImporter, Epilogues) {
  const std::vector<std::pair<std::string, cublasLtEpilogue_t>> cases{
      {"DEFAULT", CUBLASLT_EPILOGUE_DEFAULT},   {"BIAS", CUBLASLT_EPILOGUE_BIAS},
      {"RELU", CUBLASLT_EPILOGUE_RELU},         {"BIAS_RELU", CUBLASLT_EPILOGUE_RELU_BIAS},
      {"GELU", CUBLASLT_EPILOGUE_GELU},         {"BIAS_GELU", CUBLASLT_EPILOGUE_GELU_BIAS},
      {"GELU_AUX", CUBLASLT_EPILOGUE_GELU_AUX}, {"BIAS_GELU_AUX", CUBLASLT_EPILOGUE_GELU_AUX_BIAS},
      {"RELU_AUX", CUBLASLT_EPILOGUE_RELU_AUX}, {"BIAS_RELU_AUX", CUBLASLT_EPILOGUE_RELU_AUX_BIAS},
  };
  for (const auto& [name, epilogue] : cases) {
    const auto call = only_call(with_config(R"("alpha_real":1,"beta":0,"epilogue":")" + name + "\""));
    EXPECT_EQ(call.problem.epilogue, epilogue) << name;
    EXPECT_EQ(call.assumed, kUsual);
  }
  for (const char* name : {"SILU", "BIAS_SILU_AUX", "", "BIAS_"}) {
    EXPECT_EQ(reason_of(with_config(R"("alpha_real":1,"beta":0,"epilogue":")" + std::string(name) + "\"")),
              "the epilogue is none of cublasLt")
        << name;
  }
}

TEST(XlaImporter, WhatTheConfigLeavesOutIsAssumed) {
  Line line = with_config(R"("selected_algorithm":"-1")");
  line.result = "f16[1024,256]{1,0}";
  const auto call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,a=f16,in_place=1");
  EXPECT_EQ(call.assumed, (Words{"alignment", "declared alignment", "epilogue", "alpha", "beta", "workspace"}));
  EXPECT_EQ(call.algorithm, "selected_algorithm=-1");
}

TEST(XlaImporter, WorkspaceComesFromTheResultThenFromTheConfig) {
  Line line = with_config(R"("alpha_real":1,"beta":0,"epilogue":"GELU_AUX","autotune_workspace_size":"2048")");
  line.result = "(f16[1024,256]{1,0}, f16[1024,256]{1,0}, s8[33554432]{0})";
  EXPECT_EQ(only_call(line).problem.workspace_bytes, 32 << 20);
  line.result = "(f16[1024,256]{1,0}, f16[1024,256]{1,0})";
  EXPECT_EQ(only_call(line).problem.workspace_bytes, 2048);
  EXPECT_EQ(only_call(line).assumed, kUsual);
}

TEST(XlaImporter, Factors) {
  Line line = with_config(R"("alpha_real":-0.25,"beta":1,"epilogue":"DEFAULT")");
  line.operands += ", f16[1024,256]{1,0} %c";
  auto call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,a=f16,alpha=-0.25,beta=1,workspace=1KiB");
  EXPECT_EQ(call.assumed, kUsual);
  line.config = R"("alpha_real":0.088388,"beta":65,"epilogue":"DEFAULT","alpha_imag":0.5)";
  call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,a=f16,beta=0.5,workspace=1KiB");
  EXPECT_EQ(call.assumed, (Words{"alignment", "declared alignment", "alpha", "beta"}));
  EXPECT_EQ(call.kept, (Words{"alpha_real=0.088388", "beta=65", "alpha_imag=0.5"}));
  line.operands = "f16[1024,128]{1,0} %a, f16[128,256]{1,0} %b";
  EXPECT_EQ(reason_of(line), "beta is not 0 and no shape of C stands in the line");
}

TEST(XlaImporter, TypeLayoutAndPlaceOfC) {
  Line line = typed("bf16", "bf16", "bf16");
  line.config = R"("alpha_real":1,"beta":1,"epilogue":"DEFAULT")";
  line.operands += ", f32[1024,256]{1,0} %c";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,a=bf16,c=f32,beta=1,workspace=1KiB");
  line.operands = "bf16[1024,128]{1,0} %a, bf16[128,256]{1,0} %b, bf16[1024,256]{0,1} %c";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,a=bf16,order_c=row,beta=1,workspace=1KiB");
  line.operands = "bf16[1024,128]{1,0} %a, bf16[128,256]{1,0} %b, bf16[1024,256]{1,0} %c";
  line.attributes = "output_to_operand_aliasing={{0}: (2, {})}, ";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,a=bf16,beta=1,in_place=1,workspace=1KiB");
  line.attributes = "output_to_operand_aliasing={{0}: (3, {})}, ";
  EXPECT_FALSE(only_call(line).problem.in_place);
  line.target = "gemm";
  EXPECT_TRUE(only_call(line).problem.in_place);
  line.operands = "bf16[1024,128]{1,0} %a, bf16[128,256]{1,0} %b, bf16[256]{0} %c";
  EXPECT_EQ(reason_of(line), "the dimensions of a matrix do not lie next to each other in memory");
}

TEST(XlaImporter, Fp8ScalesAndIndexComments) {
  Line line = typed("f8e4m3fn", "f8e4m3fn", "bf16");
  line.target = "lt$matmul$f8";
  line.operands = "f8e4m3fn[1024,128]{1,0} %a, f8e4m3fn[128,256]{0,1} %b, f32[] %s.1, f32[] %s.2";
  auto call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,ta=t,a=e4m3,d=bf16,in_place=1,workspace=1KiB");
  EXPECT_EQ(call.api, "__cublas$lt$matmul$f8");
  EXPECT_EQ(call.kept, Words{"scale_operands=2"});
  EXPECT_EQ(call.assumed, kUsual);
  line.config = R"("alpha_real":1,"beta":1,"epilogue":"BIAS","damax_output":true,"scale_mode":1)";
  line.operands =
      "f8e4m3fn[1024,128]{1,0} %a, f8e4m3fn[128,256]{0,1} %b, bf16[1024,256]{1,0} %c, f32[] %s.1, f32[] %s.2, "
      "/*index=5*/f32[] %s.3, f32[] %s.4, bf16[256]{0} %bias";
  call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,ta=t,a=e4m3,d=bf16,epilogue=bias,beta=1,workspace=1KiB");
  EXPECT_EQ(call.kept, (Words{"damax_output=true", "scale_mode=1", "scale_operands=4"}));
}

TEST(XlaImporter, Fp8ResultHasA16BitC) {
  Line line = typed("f8e4m3fn", "f8e4m3fn", "f8e4m3fn");
  line.target = "lt$matmul$f8";
  const auto call = only_call(line);
  EXPECT_EQ(to_text(call.problem), "m=256,n=1024,k=128,a=e4m3,c=bf16,workspace=1KiB");
  EXPECT_EQ(call.assumed, (Words{"alignment", "declared alignment", "types"}));
}

TEST(XlaImporter, AlgorithmAndGradients) {
  const auto call =
      only_call(with_config(R"("alpha_real":1,"beta":0,"epilogue":"DEFAULT","selected_algorithm":"3","grad_x":true,)"
                            R"("grad_y":true)"));
  EXPECT_EQ(call.algorithm, "selected_algorithm=3");
  EXPECT_EQ(call.kept, (Words{"grad_x=true", "grad_y=true"}));
  EXPECT_EQ(only_call(with_config(R"("alpha_real":1,"selected_algorithm":"x\u0000")")).algorithm, "");
}

TEST(XlaImporter, TilesAndMemorySpacesInALayout) {
  Line line = typed("f16", "f16", "f16");
  line.operands = "f16[1024,128]{1,0:T(8,128)S(1)} %a, f16[128,256]{0,1:S(1)} %b";
  EXPECT_EQ(text_of(line), "m=256,n=1024,k=128,ta=t,a=f16,in_place=1,workspace=1KiB");
}

TEST(XlaImporter, ClaimsByTheTarget) {
  const auto importer = make_xla_importer();
  EXPECT_TRUE(importer->claims(std::string(Line{})));
  EXPECT_FALSE(importer->claims(""));
  EXPECT_FALSE(importer->claims("%c = f32[2,2]{1,0} custom-call(%a), custom_call_target=\"__cudnn$convForward\""));
  EXPECT_FALSE(importer->claims("%c = f32[2,2]{1,0} dot(%a, %b), lhs_contracting_dims={1}"));
  EXPECT_FALSE(importer->claims(std::string(65536, ' ') + std::string(Line{})));
}

TEST(XlaImporter, OtherTargets) {
  Line line;
  line.target = "triangularSolve";
  const auto recorded = import(std::string(line));
  EXPECT_TRUE(recorded.calls.empty() && recorded.damages.empty());
  for (const char* target : {"lt$matmul$mx", "lt$groupedMatmul", ""}) {
    line.target = target;
    EXPECT_EQ(reason_of(line), "the target is none of __cublas$gemm, __cublas$lt$matmul and __cublas$lt$matmul$f8");
  }
  line.target = "gemm";
  EXPECT_EQ(only_call(line).api, "__cublas$gemm");
}

TEST(XlaImporter, ShapesThatCannotBeRead) {
  const std::string unreadable = "a shape or its layout is not readable";
  const std::string few = "two operands and a result do not stand in the line";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"%a, f32[128,256]{1,0} %b", kNoShapes},
      {"f32[1024,128]{1,0} %a", few},
      {"", few},
      {"f32[<=1024,128]{1,0} %a, f32[128,256]{1,0} %b", unreadable},
      {"f32[-1,128]{1,0} %a, f32[128,256]{1,0} %b", unreadable},
      {"f32[281474976710657,128]{1,0} %a, f32[128,256]{1,0} %b", unreadable},
      {"f32[1024,128]{1,1} %a, f32[128,256]{1,0} %b", unreadable},
      {"f32[1024,128]{0} %a, f32[128,256]{1,0} %b", unreadable},
      {"f32[1,1,1,1,1,1,1,1024,128]{8,7,6,5,4,3,2,1,0} %a, f32[128,256]{1,0} %b", unreadable},
      {"F32[1024,128]{1,0} %a, f32[128,256]{1,0} %b", unreadable},
      {"f32[1024,128] %a, f32[128,256]{1,0} %b", "a shape names no layout"},
      {"f32[] %a, f32[128,256]{1,0} %b", "a shape names no layout"},
  };
  for (const auto& [operands, reason] : cases) {
    Line line;
    line.operands = operands;
    EXPECT_EQ(reason_of(line), reason) << operands;
  }
}

TEST(XlaImporter, SizesThatContradictEachOther) {
  Line line;
  line.operands = "f32[1024,127]{1,0} %a, f32[128,256]{1,0} %b";
  EXPECT_EQ(reason_of(line), "the sizes do not fit together");
  line.operands = "f32[1023,128]{1,0} %a, f32[128,256]{1,0} %b";
  EXPECT_EQ(reason_of(line), "the sizes do not fit together");
  line.operands = "f32[1024,128]{1,0} %a, f32[128,255]{1,0} %b";
  EXPECT_EQ(reason_of(line), "the sizes do not fit together");
  line.operands = "f32[1024,128]{1,0} %a, f32[128,256,1]{2,1,0} %b";
  EXPECT_EQ(reason_of(line), "the ranks do not fit together");
  line.operands = "f32[1048576,268435457]{1,0} %a, f32[268435457,256]{1,0} %b";
  EXPECT_EQ(reason_of(line), "the dimensions of a matrix do not lie next to each other in memory");
  line.dims = kBatchDims;
  line.result = "(f32[12,64,80]{2,1,0}, s8[0]{0})";
  line.operands = "f32[12,64,96]{2,1,0} %a, f32[11,96,80]{2,1,0} %b";
  EXPECT_EQ(reason_of(line), "the sizes do not fit together");
  line.operands = "f32[12,64,96]{0,2,1} %a, f32[12,96,80]{2,1,0} %b";
  EXPECT_EQ(reason_of(line), "the dimensions of a matrix do not lie next to each other in memory");
}

TEST(XlaImporter, DimensionNumbersThatDoNotFit) {
  for (const char* dims : {R"("lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["0"])",
                           R"("lhs_contracting_dimensions":["1","1"],"rhs_contracting_dimensions":["0"])",
                           R"("lhs_contracting_dimensions":["-1"],"rhs_contracting_dimensions":["0"])",
                           R"("lhs_contracting_dimensions":"1","rhs_contracting_dimensions":["0"])",
                           R"("lhs_contracting_dimensions":[],"rhs_contracting_dimensions":["0"])",
                           R"("rhs_contracting_dimensions":["0"])",
                           R"("lhs_batch_dimensions":["1"],"lhs_contracting_dimensions":["1"])"}) {
    Line line;
    line.dims = dims;
    EXPECT_EQ(reason_of(line), "dot_dimension_numbers do not fit the operands") << dims;
  }
}

TEST(XlaImporter, ConfigsThatCannotBeRead) {
  const std::string line = Line{};
  const auto config = line.find("backend_config");
  const std::string reason = "backend_config is missing or not readable";
  EXPECT_EQ(reason_of(line.substr(0, config)), reason);
  EXPECT_EQ(reason_of(line.substr(0, line.size() - 1)), reason);
  EXPECT_EQ(reason_of(line.substr(0, config) + "backend_config={...}"), reason);
  EXPECT_EQ(reason_of(line.substr(0, config) + "backend_config={" + std::string(40, '[') + std::string(40, ']') + "}"),
            reason);
  EXPECT_EQ(reason_of(line.substr(0, config) + "backend_config=\"{\\\"a\\\":"), reason);
  // A config of more than 64 KiB, and one that has bytes of no text.
  EXPECT_EQ(reason_of(with_config("\"a\":\"" + std::string(65536, 'x') + "\"")), reason);
  EXPECT_EQ(reason_of(with_config("\"a\":\"\xff\xfe\"")), reason);
  EXPECT_EQ(reason_of(with_config("\"alpha_real\":1e999")), reason);
}

TEST(XlaImporter, InstructionsThatCannotBeRead) {
  const std::string reason = "no 'name = shape custom-call(operands)' stands before the target";
  EXPECT_EQ(reason_of("custom_call_target=\"__cublas$gemm\","), reason);
  EXPECT_EQ(reason_of(" custom-call(f32[2,2]{1,0} %a), custom_call_target=\"__cublas$gemm\","), reason);
  EXPECT_EQ(reason_of("%c = f32[2,2]{1,0} custom-call(f32[2,2]{1,0} %a, custom_call_target=\"__cublas$gemm\","),
            reason);
  EXPECT_EQ(reason_of("%c = (f32[2,2]{1,0} custom-call(%a, %b), custom_call_target=\"__cublas$gemm\","),
            "two operands and a result do not stand in the line");
}

TEST(XlaImporter, LineNumbers) {
  const auto recorded = import("HloModule m\n" + std::string(Line{}) + "\n\n" + std::string(Line{}) + "\n" +
                               "custom_call_target=\"__cublas$gemm\"\n");
  ASSERT_EQ(recorded.calls.size(), 2U);
  EXPECT_EQ(std::pair(recorded.calls[0].first, recorded.calls[1].first), std::pair(std::uint64_t{2}, std::uint64_t{4}));
  EXPECT_EQ(recorded.damages.at(0).first, 5U);
}

}  // namespace
}  // namespace lt_audit::xla_test
