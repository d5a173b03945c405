// The real logs with their counts, every kind of key, and lines that are damaged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "workload/importers/recorded_calls.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// What a text gives.
struct Imported : RecordedCalls {
  explicit Imported(std::string_view text) { feed(*make_cublaslt_log_importer(), text); }
};

std::string product_of(const ImportedCall& call) {
  auto problem = call.problem;
  problem.a_offset = problem.b_offset = problem.c_offset = problem.d_offset = 0;
  problem.bias_offset = problem.workspace_offset = 0;
  problem.a_alignment = problem.b_alignment = problem.c_alignment = problem.d_alignment = 256;
  auto text = to_text(problem) + " " + call.api;
  for (const auto& entry : call.kept) text += " " + entry;
  return text;
}

struct Counts {
  std::uint64_t calls = 0;
  std::size_t products = 0;
  std::size_t lone_queries = 0;
  std::size_t damaged = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.calls << " calls of " << counts.products << " products, " << counts.lone_queries
             << " lone queries, " << counts.damaged << " damaged";
}

Counts counted(const RecordedCalls& recorded) {
  Counts counts;
  std::set<std::string> products;
  for (std::size_t i = 0; i < recorded.calls.size(); ++i) {
    const auto& call = recorded.calls[i].second;
    if (call.lone_query) {
      ++counts.lone_queries;
      continue;
    }
    counts.calls += recorded.counts[i];
    products.insert(product_of(call));
  }
  counts.products = products.size();
  counts.damaged = recorded.damages.size();
  return counts;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

bool assumes(const ImportedCall& call, std::string_view what) {
  return std::count(call.assumed.begin(), call.assumed.end(), what) == 1;
}

const std::string kHead = "[2026-11-29 18:34:11][cublasLt][673]";
const std::string kGroups =
    "Adesc=[type=R_16F rows=96 cols=80 ld=104] Bdesc=[type=R_16F rows=96 cols=64 ld=96] "
    "Cdesc=[type=R_16F rows=80 cols=64 ld=80] Ddesc=[type=R_16F rows=80 cols=64 ld=80] ";
const std::string kCompute =
    "computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T epilogue=EPILOGUE_BIAS "
    "biasPointer=0x7fc0ec800006]";
const std::string kTrace =
    kHead +
    "[Trace][cublasLtMatmul] A=0X7F913CB80000 Adesc=[type=R_16F rows=96 cols=80 ld=104] B=0X7F915D280010 "
    "Bdesc=[type=R_16F rows=96 cols=64 ld=96] C=0X7F915D580000 Cdesc=[type=R_16F rows=80 cols=64 ld=80] "
    "D=0X7F915D580000 Ddesc=[type=R_16F rows=80 cols=64 ld=80] " +
    kCompute +
    " algo=[algoId=66 tile=MATMUL_TILE_64x64] workSpace=0X7F90B3C00080 workSpaceSizeInBytes=1048576 beta=0 "
    "outOfPlace=0 stream=0X1F0\n";
const std::string kQuery = kHead + "[Api][cublasLtMatmulAlgoGetHeuristic] " + kGroups +
                           "preference=[maxWavesCount=0.0 maxWorkspaceSizeinBytes=4194304 minBytesAlignmentA=2 "
                           "minBytesAlignmentD=16 implMask=7] " +
                           kCompute + "\n";

TEST(CublasLtLog, RealLogsHaveTheirCounts) {
  const std::map<std::string, Counts> expected{{"lt_mlp.log", {6, 6, 0, 0}},
                                               {"ltonly_gpt2.log", {36, 20, 0, 0}},
                                               {"ltonly_bmm.log", {25, 25, 0, 0}},
                                               {"lt_fp8rows.log", {5, 5, 0, 0}},
                                               {"lt_int8.log", {1, 1, 0, 0}}};
  for (const auto& [name, counts] : expected) EXPECT_EQ(counted(Imported(file_text(name))), counts) << name;
}

TEST(CublasLtLog, RealLogsSayTheirProducts) {
  const auto mlp = Imported(file_text("lt_mlp.log"));
  ASSERT_EQ(mlp.calls.size(), 6U);
  EXPECT_EQ(to_text(mlp.calls[0].second.problem),
            "m=4096,n=512,k=1024,ta=t,a=bf16,epilogue=bias,in_place=1,workspace=1MiB");
  EXPECT_EQ(mlp.calls[0].second.api, "cublasLtMatmul");
  EXPECT_EQ(mlp.calls[2].second.api, "cublasLtTSTMatmul");
  EXPECT_EQ(mlp.calls[2].second.problem.sm_count_target, 132);
  EXPECT_TRUE(mlp.calls[2].second.kept.empty());
  EXPECT_EQ(mlp.calls[2].second.problem.a_alignment, 16U);
  for (const auto& [line, call] : mlp.calls) EXPECT_FALSE(assumes(call, "declared alignment")) << line;
  const auto fp8 = Imported(file_text("lt_fp8rows.log"));
  ASSERT_EQ(fp8.calls.size(), 5U);
  EXPECT_EQ(to_text(fp8.calls[0].second.problem),
            "m=14336,n=512,k=4096,ta=t,a=e4m3,d=bf16,scale_a=scalar,scale_b=scalar,fast_accum=1,workspace=1MiB");
  EXPECT_EQ(to_text(fp8.calls[1].second.problem),
            "m=14336,n=512,k=4096,ta=t,a=e4m3,d=bf16,scale_a=outer_vec,scale_b=outer_vec,workspace=1MiB");
  EXPECT_EQ(to_text(fp8.calls[2].second.problem),
            "m=14336,n=512,k=4096,ta=t,a=e4m3,d=bf16,scale_a=blk128x128,scale_b=vec128,workspace=1MiB");
  for (const auto& [line, call] : fp8.calls) EXPECT_TRUE(call.kept.empty()) << line;
  const auto int8 = Imported(file_text("lt_int8.log"));
  EXPECT_EQ(to_text(int8.calls.at(0).second.problem), "m=2048,n=512,k=1024,ta=t,a=i8,d=i32,in_place=1,workspace=0");
}

TEST(CublasLtLog, TraceLineGivesEveryField) {
  const auto recorded = Imported(kTrace);
  ASSERT_EQ(recorded.calls.size(), 1U);
  const auto& [line, call] = recorded.calls[0];
  EXPECT_EQ(line, 1U);
  EXPECT_EQ(to_text(call.problem),
            "m=80,n=64,k=96,ta=t,a=f16,lda=104,epilogue=bias,in_place=1,b_offset=16,bias_offset=2,"
            "workspace_offset=128,b_alignment=16,workspace=1MiB");
  EXPECT_EQ(call.api, "cublasLtMatmul");
  EXPECT_EQ(call.algorithm, "algoId=66 tile=MATMUL_TILE_64x64");
  EXPECT_EQ(call.stream, 0x1F0U);
  EXPECT_FALSE(call.lone_query);
  EXPECT_EQ(call.assumed, (std::vector<std::string>{"alpha", "declared alignment"}));
  EXPECT_TRUE(call.kept.empty());
}

TEST(CublasLtLog, TimestampIsOptionalAndOtherLogsAreNotClaimed) {
  EXPECT_EQ(counted(Imported(kTrace.substr(kTrace.find("[cublasLt]")))), (Counts{1, 1, 0, 0}));
  EXPECT_EQ(counted(Imported(replaced(kTrace, "\n", "\r\n"))), (Counts{1, 1, 0, 0}));
  const auto importer = make_cublaslt_log_importer();
  EXPECT_FALSE(importer->claims(replaced(kTrace, "cublasLt]", "HIPBLASLT]")));
  EXPECT_FALSE(importer->claims(" " + kTrace));
  EXPECT_FALSE(importer->claims("[" + std::string(60, ' ') + kTrace));
  EXPECT_FALSE(importer->claims(""));
}

TEST(CublasLtLog, PointersStreamAndAlgorithmMakeNoOtherCall) {
  auto second = replaced(kTrace, "A=0X7F913CB80000", "A=0X7F913CB80002");
  second = replaced(second, "algoId=66 tile=MATMUL_TILE_64x64", "algoId=21");
  second = replaced(second, "0X1F0", "0X2");
  second = replaced(second, "18:34:11][cublasLt][673]", "18:34:12][cublasLt][1674]");
  const auto recorded = Imported(kTrace + second);
  ASSERT_EQ(recorded.calls.size(), 1U);
  EXPECT_EQ(recorded.counts[0], 2U);
}

TEST(CublasLtLog, WhatIsPartOfTheProductMakesAnotherCall) {
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{"beta=0", "beta=1"},
                                          {"outOfPlace=0", "outOfPlace=1"},
                                          {"workSpaceSizeInBytes=1048576", "workSpaceSizeInBytes=0"},
                                          {"EPILOGUE_BIAS", "EPILOGUE_RELU_BIAS"},
                                          {"[cublasLtMatmul]", "[cublasLtHSHMatmul]"},
                                          {"ld=104", "ld=96"},
                                          {"biasPointer=", "aScalePointer=0x7f00 biasPointer="},
                                          {"ld=96]", "ld=96 planeOffsetBytes=8]"}}) {
    EXPECT_EQ(counted(Imported(kTrace + replaced(kTrace, from, to))), (Counts{2, 2, 0, 0})) << to;
  }
}

TEST(CublasLtLog, BetaThatIsNotPrintedIsAssumed) {
  const auto call = Imported(replaced(kTrace, "beta=0", "beta=?")).calls.at(0).second;
  EXPECT_EQ(call.problem.beta, 0.5);
  EXPECT_EQ(call.assumed, (std::vector<std::string>{"alpha", "beta", "declared alignment"}));
}

TEST(CublasLtLog, BatchesPackedStridedAndBroadcast) {
  auto text = replaced(kTrace, "cols=80 ld=104]", "cols=80 ld=104 batchCount=12 stridedBatchOffset=8320]");
  text = replaced(text, "cols=64 ld=96]", "cols=64 ld=96 batchCount=12]");
  text = replaced(text, "ld=80]", "ld=80 batchCount=12 stridedBatchOffset=6000]");
  text = replaced(text, "ld=80]", "ld=80 batchCount=12 stridedBatchOffset=5120]");
  const auto problem = Imported(text).calls.at(0).second.problem;
  EXPECT_EQ(problem.batch_count, 12);
  EXPECT_EQ(problem.stride_a, -1);
  EXPECT_EQ(problem.stride_b, 0);
  EXPECT_EQ(problem.stride_c, 6000);
  EXPECT_EQ(problem.stride_d, -1);
}

TEST(CublasLtLog, OutputThatAllBatchesShareIsKept) {
  std::string text = kTrace;
  for (const std::string ld : {"ld=104]", "ld=96]", "ld=80]", "ld=80]"}) {
    text = replaced(text, ld, ld.substr(0, ld.size() - 1) + " batchCount=2]");
  }
  const auto call = Imported(text).calls.at(0).second;
  EXPECT_EQ(call.problem.stride_a, 0);
  EXPECT_EQ(call.problem.stride_d, -1);
  EXPECT_EQ(call.kept, std::vector<std::string>{"Ddesc.stridedBatchOffset=0"});
}

TEST(CublasLtLog, RowOrderAndOrdersThatAProblemDoesNotHold) {
  const auto row = Imported(replaced(kTrace, "cols=80 ld=104", "cols=80 ld=80 order=ORDER_ROW")).calls.at(0).second;
  EXPECT_EQ(row.problem.order_a, CUBLASLT_ORDER_ROW);
  EXPECT_EQ(row.problem.lda, 0);
  const auto other =
      Imported(replaced(kTrace, "ld=104", "ld=3072 order=ORDER_COL32 planeOffsetBytes=4")).calls.at(0).second;
  EXPECT_EQ(other.problem.lda, 3072);
  EXPECT_EQ(other.kept, (std::vector<std::string>{"Adesc.order=ORDER_COL32", "Adesc.planeOffsetBytes=4"}));
}

TEST(CublasLtLog, PlanesOfComplexMatrices) {
  const auto layout = [](int rows, int cols, int plane) {
    return fmt::format("[type=C_16F rows={} cols={} ld={} planeOffsetBytes={}]", rows, cols, rows, plane);
  };
  const auto text = fmt::format(
      "{}[Trace][cublasLtMatmul] A=0x7f0000000000 Adesc={} B=0x7f0000100000 Bdesc={} "
      "C=0x7f0000200000 Cdesc={} D=0x7f0000200000 Ddesc={} computeDesc=[computeType=COMPUTE_32F scaleType=C_32F] "
      "workSpace=0x0 workSpaceSizeInBytes=0 beta=0 outOfPlace=0 stream=0x0\n",
      kHead, layout(64, 32, 4096), layout(32, 48, 6000), layout(64, 48, 6144), layout(64, 48, 6144));
  const auto imported = Imported(text);
  ASSERT_EQ(imported.calls.size(), 1U);
  const auto& problem = imported.calls[0].second.problem;
  EXPECT_EQ(problem.plane_a, kPackedPlane);
  EXPECT_EQ(problem.plane_b, 6000);
  EXPECT_EQ(problem.plane_d, kPackedPlane);
  EXPECT_TRUE(imported.calls[0].second.kept.empty());
}

TEST(CublasLtLog, EpilogueBiasAuxAndScalesAreOfTheProblem) {
  const auto call = Imported(replaced(replaced(kTrace, "EPILOGUE_BIAS", "EPILOGUE_GELU_AUX_BIAS"), "biasPointer=",
                                      "epilogueAuxPointer=0x7f00ff00 epilogueAuxLd=96 aScalePointer=0x7f1fe004 "
                                      "bScalePointer=0x7f1fe010 bScaleMode=OUTER_VEC_32F cScalePointer=0x0 "
                                      "dScalePointer=0x7f1fe000 biasDataType=0 fastAccumulationFlag=1 "
                                      "smCountTarget=108 biasPointer="))
                        .calls.at(0)
                        .second;
  const auto& p = call.problem;
  EXPECT_EQ(p.type_bias, CUDA_R_32F);
  EXPECT_EQ(p.ldaux, 96);
  EXPECT_EQ(p.aux_offset, 0);
  EXPECT_EQ(p.scale_a, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
  EXPECT_EQ(p.scale_a_offset, 4);
  EXPECT_EQ(p.scale_b, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
  EXPECT_EQ(p.scale_b_offset, 16);
  EXPECT_FALSE(p.scale_c);
  EXPECT_EQ(p.scale_d, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
  EXPECT_TRUE(p.fast_accum);
  EXPECT_EQ(p.sm_count_target, 108);
  EXPECT_TRUE(call.kept.empty());
  const auto mask = Imported(replaced(replaced(kTrace, "EPILOGUE_BIAS", "EPILOGUE_RELU_AUX_BIAS"),
                                      "biasPointer=", "epilogueAuxPointer=0x7f00ff00 epilogueAuxLd=128 biasPointer="))
                        .calls.at(0)
                        .second.problem;
  EXPECT_EQ(mask.ldaux, 0) << "128 bits are what 80 rows need";
}

TEST(CublasLtLog, KeptValuesHaveNoPointers) {
  const auto call = Imported(replaced(kTrace, "biasPointer=",
                                      "epilogueAuxPointer=0x7f00 epilogueAuxLd=64 cScalePointer=0x0 newPointer=0x7f1 "
                                      "aScaleMode=OUTER_VEC_32F bScaleMode=VEC64_32F biasDataType=99 biasPointer="))
                        .calls.at(0)
                        .second;
  EXPECT_EQ(call.kept, (std::vector<std::string>{"aScaleMode=OUTER_VEC_32F", "bScaleMode=VEC64_32F", "biasDataType=99",
                                                 "epilogueAuxLd=64", "epilogueAuxPointer=set", "newPointer=set"}));
  const auto usual = Imported(replaced(kTrace, "biasPointer=", "biasDataType=2 biasPointer=")).calls.at(0).second;
  EXPECT_TRUE(usual.kept.empty());
}

TEST(CublasLtLog, QueryDeclaresTheAlignmentsOfItsMatmul) {
  const auto recorded = Imported(kQuery + kTrace);
  ASSERT_EQ(recorded.calls.size(), 1U);
  const auto& call = recorded.calls[0].second;
  EXPECT_EQ(call.assumed, std::vector<std::string>{"alpha"});
  EXPECT_EQ(call.problem.a_alignment, 2U);
  EXPECT_EQ(call.problem.b_alignment, 256U);
  EXPECT_EQ(call.problem.d_alignment, 16U);
  EXPECT_EQ(call.problem.b_offset, 16);
  EXPECT_EQ(call.problem.workspace_bytes, 1048576);
  EXPECT_TRUE(call.kept.empty());
}

TEST(CublasLtLog, QueryOfAnotherNameIsThatOfItsMatmul) {
  const auto for_stream = replaced(kQuery, "AlgoGetHeuristic]", "AlgoGetHeuristicForStream]");
  EXPECT_EQ(counted(Imported(for_stream + kTrace)), (Counts{1, 1, 0, 0}));
  const auto typed = replaced(kQuery, "cublasLtMatmul", "cublasLtHSHMatmul");
  EXPECT_EQ(counted(Imported(typed + replaced(kTrace, "cublasLtMatmul", "cublasLtHSHMatmul"))), (Counts{1, 1, 0, 0}));
  EXPECT_EQ(counted(Imported(typed + kTrace)), (Counts{1, 1, 1, 0}));
}

TEST(CublasLtLog, QueryWithoutMatmulIsLone) {
  const auto recorded = Imported("\n" + kQuery);
  ASSERT_EQ(recorded.calls.size(), 1U);
  const auto& [line, call] = recorded.calls[0];
  EXPECT_EQ(line, 2U);
  EXPECT_TRUE(call.lone_query);
  EXPECT_EQ(call.api, "cublasLtMatmul");
  EXPECT_FALSE(call.stream);
  EXPECT_EQ(call.problem.workspace_bytes, 4194304);
  EXPECT_EQ(call.problem.a_alignment, 2U);
  EXPECT_EQ(call.problem.c_alignment, 256U);
  EXPECT_EQ(call.problem.b_offset, 0);
  EXPECT_EQ(call.assumed, (std::vector<std::string>{"alignment", "alpha", "beta"}));
  EXPECT_EQ(call.kept, std::vector<std::string>{"preference.implMask=7"});
}

TEST(CublasLtLog, MatmulOfAnotherProcessOrProductDoesNotAnswer) {
  EXPECT_EQ(counted(Imported(kQuery + replaced(kTrace, "[673]", "[674]"))), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(counted(Imported(kQuery + replaced(kTrace, "ld=104", "ld=112"))), (Counts{1, 1, 1, 0}));
}

TEST(CublasLtLog, RefusedQueryBeforeAnotherThatIsAnsweredIsLone) {
  const auto refused = replaced(kQuery, "maxWorkspaceSizeinBytes=4194304", "maxWorkspaceSizeinBytes=1024");
  const auto recorded = Imported(refused + kQuery + kTrace);
  ASSERT_EQ(counted(recorded), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(recorded.calls[1].second.problem.workspace_bytes, 1024);
  EXPECT_EQ(recorded.calls[1].first, 1U);
}

TEST(CublasLtLog, RepeatedQueryIsOneQuery) {
  EXPECT_EQ(counted(Imported(kQuery + kQuery + kTrace)), (Counts{1, 1, 0, 0}));
  EXPECT_EQ(counted(Imported(kQuery + kQuery)), (Counts{0, 0, 1, 0}));
}

TEST(CublasLtLog, QueriesOfTwoThreadsFindTheirMatmuls) {
  const auto other_query = replaced(kQuery, "ld=104", "ld=112");
  const auto other_trace = replaced(kTrace, "ld=104", "ld=112");
  EXPECT_EQ(counted(Imported(kQuery + other_query + kTrace + other_trace)), (Counts{2, 2, 0, 0}));
}

TEST(CublasLtLog, KnownLineStillAnswersItsQuery) {
  EXPECT_EQ(counted(Imported(kTrace + kQuery + kTrace)), (Counts{2, 1, 0, 0}));
}

TEST(CublasLtLog, OpenQueriesAreBounded) {
  const auto importer = make_cublaslt_log_importer();
  RecordedCalls recorded;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    importer->take(replaced(replaced(kQuery, "ld=104", "ld=" + std::to_string(104 + i)), "\n", ""), i + 1, recorded);
  }
  EXPECT_GT(recorded.calls.size(), 900U);
  importer->finish(recorded);
  EXPECT_EQ(recorded.calls.size(), 1000U);
}

TEST(CublasLtLog, OtherLinesCarryNoCall) {
  const auto recorded =
      Imported(kHead + "[Api][cublasLtMatmul] A=0X1 Adesc=0X2 B=0X3 Bdesc=0X4 algo=0X0 stream=0X0\n" + kHead +
               "[Info][cublasLtMatmulAlgoGetHeuristic]  heuristicResults=[66]\n" + kHead +
               "[Error][cublasLtMatmulAlgoGetHeuristic] Failed to query heuristics.\n" + kHead +
               "[Api][cublasLtMatmulDescCreate] matmulDesc=0X7FFD73951020 computeType=COMPUTE_32F scaleType=0\n");
  EXPECT_EQ(counted(recorded), (Counts{0, 0, 0, 0}));
}

struct Damage {
  std::string from;
  std::string to;
  std::string reason;
};

TEST(CublasLtLog, DamagedTraceLinesSayWhy) {
  const std::vector<Damage> damages{
      {"rows=96 cols=80", "cols=80", "Adesc.rows or .cols is missing"},
      {"rows=96 cols=80", "rows=97 cols=80", "rows and cols of A, B, C and D contradict each other"},
      {"transa=OP_T ", "", "rows and cols of A, B, C and D contradict each other"},
      {"rows=96 cols=80", "rows=-96 cols=80", "Adesc.rows cannot be '-96'"},
      {"rows=96", "rows=281474976710657", "Adesc.rows cannot be '281474976710657'"},
      {"rows=96", "rows=99999999999999999999", "Adesc.rows cannot be '99999999999999999999'"},
      {"ld=104", "ld=", "Adesc.ld cannot be ''"},
      {"ld=104", "ld=104 ld=104", "Adesc.ld stands twice"},
      {"ld=104", "ld=104 batchCount=2", "the batch counts contradict each other"},
      {"ld=104", "ld=104 batchCount=1073741825", "Adesc.batchCount cannot be '1073741825'"},
      {"type=R_16F", "type=R_4F_E2M1", "Adesc.type cannot be 'R_4F_E2M1'"},
      {"computeType=COMPUTE_32F ", "", "computeType or scaleType is missing"},
      {"EPILOGUE_BIAS", "EPILOGUE_X", "epilogue cannot be 'EPILOGUE_X'"},
      {"A=0X7F913CB80000 ", "", "A is missing"},
      {"A=0X7F913CB80000", "A=0X", "A cannot be '0X'"},
      {"A=0X7F913CB80000", "A=0X17F913CB8000000000", "A cannot be '0X17F913CB8000000000'"},
      {"outOfPlace=0", "outOfPlace=2", "outOfPlace cannot be '2'"},
      {"beta=0", "beta=2", "beta cannot be '2'"},
      {" beta=0 outOfPlace=0 stream=0X1F0", "", "the line is cut off before workSpaceSizeInBytes, beta and outOfPlace"},
      {"ld=104]", "ld=104", "'Bdesc=[type=R_16F rows=96 cols=64 ld=96' is not key=value"},
      {"stream=0X1F0", "stream", "'stream' is not key=value"},
      {"stream=0X1F0", "stream=0X1F0[2026", "stream cannot be '0X1F0[2026'"},
      {"scaleType=R_32F", "scaleType=R_32F \xff=1", "a key or value is no text: '?'"},
      {"beta=0", std::string("beta=\0", 6), "beta cannot be '?'"},
      {"beta=0", "beta=0 x=" + std::string(20000, 'x'), "the line has more than 16384 bytes"},
      {"[673]", "[x]", "process, level or function is missing in the brackets"},
  };
  for (const auto& [from, to, reason] : damages) {
    // After a whole line too: what is known must not hide damage.
    for (const auto& before : {std::string(), kTrace}) {
      const auto recorded = Imported(before + replaced(kTrace, from, to));
      ASSERT_EQ(recorded.damages.size(), 1U) << reason;
      EXPECT_EQ(recorded.damages[0].second, reason);
      EXPECT_EQ(recorded.calls.size(), before.empty() ? 0U : 1U) << reason;
    }
  }
}

TEST(CublasLtLog, DamagedQueriesSayWhy) {
  const auto alignment = Imported(replaced(kQuery, "minBytesAlignmentA=2", "minBytesAlignmentA=3"));
  ASSERT_EQ(alignment.damages.size(), 1U);
  EXPECT_EQ(alignment.damages[0].second, "minBytesAlignmentA cannot be '3'");
  EXPECT_EQ(Imported(kQuery.substr(0, 200)).damages.size(), 1U);
  EXPECT_TRUE(alignment.calls.empty());
}

TEST(CublasLtLog, EveryCutOfALineIsDamagedOrReadWhole) {
  const auto whole = product_of(Imported(kTrace).calls.at(0).second);
  const auto end_of_head = kTrace.find("[cublasLtMatmul]") + 16;
  const auto end_of_fields = kTrace.find(" stream=");
  for (std::size_t size = end_of_head; size < kTrace.size() - 1; ++size) {
    const auto recorded = Imported(kTrace.substr(0, size));
    ASSERT_EQ(recorded.calls.size() + recorded.damages.size(), 1U) << size;
    if (recorded.calls.empty()) continue;
    EXPECT_GE(size, end_of_fields);
    EXPECT_EQ(product_of(recorded.calls[0].second), whole) << size;
  }
}

}  // namespace
}  // namespace lt_audit
