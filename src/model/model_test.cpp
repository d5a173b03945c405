// Names, problem text, contract and verdicts.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "lt_audit/contract.h"
#include "lt_audit/error.h"
#include "lt_audit/verdict.h"
#include "workload/problem_text.h"
#include "workload/problem_values.h"

namespace lt_audit {
namespace {

const ContractScope kHopper{90, 130100};

template <class Enum>
Enum any(std::span<const Named<Enum>> table, std::mt19937& random) {
  return table[random() % table.size()].value;
}

MatmulProblem random_problem(std::mt19937& random) {
  const auto number = [&](int limit) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit)); };
  const auto maybe = [&] { return random() % 3 == 0; };
  MatmulProblem p;
  p.m = number(10000);
  p.n = number(10000);
  p.k = number(10000);
  p.transa = any(operations(), random);
  p.transb = any(operations(), random);
  for (auto* type : {&p.type_a, &p.type_b, &p.type_c, &p.type_d}) *type = any(matrix_types(), random);
  p.compute_type = any(compute_types(), random);
  p.scale_type = any(scale_types(), random);
  for (auto* ld : {&p.lda, &p.ldb, &p.ldc, &p.ldd}) *ld = maybe() ? number(20000) : 0;
  for (auto* order : {&p.order_a, &p.order_b, &p.order_c, &p.order_d}) *order = any(orders(), random);
  for (auto* plane : {&p.plane_a, &p.plane_b, &p.plane_c, &p.plane_d}) {
    *plane = maybe() ? number(1 << 20) : (maybe() ? kPackedPlane : 0);
  }
  p.batch_count = static_cast<std::int32_t>(number(70000));
  for (auto* stride : {&p.stride_a, &p.stride_b, &p.stride_c, &p.stride_d}) *stride = maybe() ? number(1 << 30) : -1;
  p.epilogue = any(epilogues(), random);
  for (auto* type : {&p.type_bias, &p.type_aux}) {
    if (maybe()) *type = any(matrix_types(), random);
  }
  p.stride_bias = maybe() ? number(1 << 20) : 0;
  p.ldaux = maybe() ? number(20000) : 0;
  p.stride_aux = maybe() ? number(1 << 30) : -1;
  for (auto* mode : {&p.scale_a, &p.scale_b, &p.scale_c, &p.scale_d}) {
    if (maybe()) *mode = any(scale_modes(), random);
  }
  p.amax_d = maybe();
  p.fast_accum = maybe();
  p.sm_count_target = maybe() ? number(200) : 0;
  p.alpha = static_cast<double>(number(512) - 256) / 4;
  p.beta = maybe() ? static_cast<double>(number(512) - 256) / 4 : 0;
  for (auto* part : {&p.alpha_imaginary, &p.beta_imaginary}) {
    *part = maybe() ? static_cast<double>(number(512) - 256) / 4 : 0;
  }
  p.pointer_mode = any(pointer_modes(), random);
  p.in_place = maybe();
  for (auto* offset : {&p.a_offset, &p.b_offset, &p.c_offset, &p.d_offset, &p.bias_offset, &p.aux_offset,
                       &p.scale_a_offset, &p.scale_b_offset, &p.workspace_offset}) {
    *offset = maybe() ? number(256) : 0;
  }
  for (auto* alignment : {&p.a_alignment, &p.b_alignment, &p.c_alignment, &p.d_alignment}) {
    *alignment = 1U << number(9);
  }
  p.workspace_bytes = number(1 << 26);
  p.algo = maybe() ? AlgoChoice::null : AlgoChoice::heuristic;
  p.algo_index = p.algo == AlgoChoice::null ? 0 : static_cast<int>(number(8));
  if (number(8) == 0) {
    p.algo = AlgoChoice::given;
    p.algo_index = 0;
    for (auto& word : p.algo_words) word = (static_cast<std::uint64_t>(random()) << 32) + random();
  }
  return p;
}

TEST(ProblemText, AnyProblemSurvivesTextAndBack) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    const auto problem = random_problem(random);
    const auto text = to_text(problem);
    EXPECT_EQ(problem_from_text(text), problem) << text;
    EXPECT_EQ(to_text(problem_from_text(text)), text);
  }
}

TEST(ProblemText, LeavesDefaultsOut) {
  EXPECT_EQ(to_text(uniform_problem(CUDA_R_16F, 128, 64, 32)), "m=128,n=64,k=32,a=f16");
  EXPECT_EQ(to_text(uniform_problem(CUDA_R_8I, 4, 4, 4)), "m=4,n=4,k=4,ta=t,a=i8,d=i32");
  EXPECT_EQ(to_text(uniform_problem(CUDA_R_8F_E4M3, 16, 16, 16)), "m=16,n=16,k=16,ta=t,a=e4m3,d=bf16");
  EXPECT_EQ(to_text(uniform_problem(CUDA_C_32F, 16, 16, 16)), "m=16,n=16,k=16,a=c32");
  EXPECT_EQ(to_text(uniform_problem(CUDA_C_64F, 16, 16, 16)), "m=16,n=16,k=16,a=c64");
  EXPECT_EQ(to_text(uniform_problem(CUDA_C_16F, 16, 16, 16)), "m=16,n=16,k=16,a=c16");
  EXPECT_EQ(to_text(uniform_problem(CUDA_C_8I, 16, 16, 16)), "m=16,n=16,k=16,a=ci8,d=c32");
}

TEST(ProblemText, PlanesFollowA) {
  const auto planes = [](std::string_view text) {
    const auto p = problem_from_text(text);
    return std::array{p.plane_a, p.plane_b, p.plane_c, p.plane_d};
  };
  constexpr auto kPacked = kPackedPlane;
  EXPECT_EQ(planes("m=8,n=8,k=8,a=c16"), (std::array{kPacked, kPacked, kPacked, kPacked}));
  EXPECT_EQ(planes("m=8,n=8,k=8,a=c16,plane_a=0"), (std::array<std::int64_t, 4>{0, 0, 0, 0}));
  EXPECT_EQ(planes("m=8,n=8,k=8,a=c32"), (std::array<std::int64_t, 4>{0, 0, 0, 0}));
  EXPECT_EQ(planes("m=8,n=8,k=8,a=c32,plane_a=4096,plane_c=0"),
            (std::array<std::int64_t, 4>{4096, kPacked, 0, kPacked}));
  EXPECT_EQ(to_text(problem_from_text("m=8,n=8,k=8,a=c16,plane_a=packed,plane_d=640")),
            "m=8,n=8,k=8,a=c16,plane_d=640");
}

TEST(ProblemText, ReadsTheExampleOfTheDesign) {
  const auto p = problem_from_text(
      "m=128,n=2048,k=2400,ta=t,a=f16,d=f16,compute=32f,ldb=25272,epilogue=bias,b_offset=8,workspace=1MiB");
  EXPECT_EQ(p.transa, CUBLAS_OP_T);
  EXPECT_EQ(shape_b(p).ld, 25272);
  EXPECT_EQ(shape_a(p).ld, 2400);
  EXPECT_EQ(p.workspace_bytes, 1 << 20);
  EXPECT_TRUE(has_bias(p.epilogue));
}

std::string message_of(std::string_view text) {
  try {
    problem_from_text(text);
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(ProblemText, MistakesAreNamedWithTheNearestWord) {
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,epilog=bias").find("nearest: 'epilogue'"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=bf1").find("'bf16'"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1").find("'a' is missing"), std::string::npos);
  EXPECT_NE(message_of("m=1,m=2,n=1,k=1,a=f16").find("stands twice"), std::string::npos);
  EXPECT_NE(message_of("m=x,n=1,k=1,a=f16").find("whole number"), std::string::npos);
  EXPECT_NE(message_of("m=99999999999999999999,n=1,k=1,a=f16").find("whole number"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,a_alignment=12").find("power of two"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,workspace=9999999999GiB").find("MiB"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,alpha=0.1").find("0.25"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,algo=0x12").find("128 hexadecimal"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,algo=0x" + std::string(127, '0') + "g").find("128"), std::string::npos);
  EXPECT_NE(message_of("m=1,n=1,k=1,a=f16,algo=best").find("whole number"), std::string::npos);
  EXPECT_NE(message_of("hello").find("not key=value"), std::string::npos);
}

TEST(ProblemValues, WhatTheTextLeavesOutIsInForceWithItsDefault) {
  const auto p = problem_from_text("m=64,n=32,k=16,ta=t,a=f16,d=f32,batch=2,epilogue=relu_aux,workspace=2097152");
  const std::map<std::string, std::string> wanted{{"m", "64"},          {"ta", "t"},           {"tb", "n"},
                                                  {"b", "f16"},         {"c", "f32"},          {"compute", "32f"},
                                                  {"scale", "f32"},     {"lda", "16"},         {"ldd", "64"},
                                                  {"stride_a", "1024"}, {"batch", "2"},        {"alpha", "1"},
                                                  {"beta", "0"},        {"workspace", "2MiB"}, {"algo", "0"},
                                                  {"amax_d", "0"},      {"ldaux", "128"},      {"stride_aux", "4096"},
                                                  {"scale_a", ""},      {"order_a", "col"},    {"a_alignment", "256"},
                                                  {"a_offset", "0"}};
  for (const auto& [key, value] : wanted) EXPECT_EQ(value_in_force(p, key), value) << key;
  EXPECT_THROW(static_cast<void>(value_in_force(p, "wrong")), AuditError);
}

TEST(ProblemValues, WrittenValuesAreInForceAsTheyAreWritten) {
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    const auto problem = random_problem(random);
    for (const auto& [key, value] : partial_problem(to_text(problem)))
      EXPECT_EQ(value_in_force(problem, key), value) << key << " of " << to_text(problem);
  }
}

TEST(ProblemValues, AValueHasOneSpelling) {
  EXPECT_EQ(canonical_value("workspace", "33554432"), "32MiB");
  EXPECT_EQ(canonical_value("alpha", "1.0"), "1");
  EXPECT_EQ(canonical_value("b", "f32"), "f32");
  EXPECT_EQ(canonical_value("scale_a", "scalar"), "scalar");
  EXPECT_THROW(static_cast<void>(canonical_value("a", "f61")), AuditError);
  EXPECT_THROW(static_cast<void>(canonical_value("lad", "1")), AuditError);
}

TEST(Shapes, SpanCoversBatchesAndPadding) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 5, 3, 2);
  p.ldd = 8;
  p.batch_count = 2;
  EXPECT_EQ(shape_d(p).batch_stride, 24);
  EXPECT_EQ(shape_d(p).span(), 24 + 2 * 8 + 5);
  p.order_d = CUBLASLT_ORDER_ROW;
  EXPECT_EQ(shape_d(p).span(), 8 * 5 + 4 * 8 + 3);
}

TEST(Shapes, APackedPlaneBeginsAtTheNextMultipleOf256) {
  auto p = problem_from_text("m=33,n=17,k=2,a=c16,d=c32,batch=2");
  EXPECT_EQ(shape_d(p).span(), 2 * 33 * 17);
  EXPECT_EQ(shape_d(p).plane_offset, 4608);
  EXPECT_EQ(shape_d(p).bytes(), 4608 + 2 * 33 * 17 * 4);
  EXPECT_EQ(shape_a(p).stored_type(), CUDA_R_16F);
  p.plane_d = 10000;
  EXPECT_EQ(shape_d(p).plane_offset, 10000);
  EXPECT_EQ(shape_d(problem_from_text("m=33,n=17,k=2,a=c32")).bytes(), 33 * 17 * 8);
}

TEST(Contract, ListedRowsMustWork) {
  for (const auto type : {CUDA_R_64F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8I, CUDA_R_8F_E4M3, CUDA_C_32F,
                          CUDA_C_64F, CUDA_C_16F, CUDA_C_16BF, CUDA_C_8I}) {
    EXPECT_EQ(promise_of(uniform_problem(type, 64, 48, 32), kHopper).expectation, Expectation::must_work)
        << name_of(type);
  }
}

TEST(Contract, NarrowOutputUnderTf32StandsInNoRow) {
  auto p = problem_from_text("m=256,n=256,k=256,a=f32,d=f16,compute=32f_fast_tf32");
  const auto promise = promise_of(p, kHopper);
  EXPECT_EQ(promise.expectation, Expectation::may_refuse);
  EXPECT_EQ(promise.rule_id, "types-unlisted");
  EXPECT_EQ(promise.refused_by, RefusedBy::heuristic);
}

struct RuleCase {
  const char* problem;
  const char* rule_id;
  RefusedBy by;
};

TEST(Contract, EachRuleDecidesItsProblem) {
  const auto cases = std::to_array<RuleCase>({
      {"m=64,n=64,k=64,a=c16,d=c32", "types-listed", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=c16,plane_a=0", "types-unlisted", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=c16,plane_d=0", "types-unlisted", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=c32,plane_a=packed", "types-unlisted", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=c16,compute=32f_pedantic", "types-unlisted", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=c16,plane_b=8200", "plane-below-16", RefusedBy::nothing},
      {"m=64,n=64,k=64,ta=c,a=c32,order_a=row", "conjugate-row-order", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=c,a=c32,order_a=row,order_b=row,order_c=row,order_d=row", "types-listed", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=c32,epilogue=bias", "epilogue-complex", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,epilogue=gelu_aux_bias", "types-listed", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,epilogue=relu_aux,ldaux=136", "aux-ld-128", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,epilogue=gelu_aux,ldaux=68", "aux-ld-8", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,epilogue=gelu_aux,ldaux=56", "aux-ld-8", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,epilogue=gelu_aux,aux_offset=8", "aux-pointer-below-16", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,epilogue=gelu_aux,aux_offset=16", "types-listed", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,epilogue=relu_aux,aux_type=i8", "aux-type-of-mask", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,epilogue=gelu_aux,aux_type=f32", "aux-type", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=e4m3,c=f16,epilogue=gelu_aux,aux_type=f16", "epilogue-fp8-aux",
       RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,epilogue=bgradb", "epilogue-operand-gradient", RefusedBy::heuristic},
      {"m=64,n=64,k=64,tb=t,a=f16,epilogue=bgradb", "types-listed", RefusedBy::nothing},
      {"m=64,n=64,k=64,ta=t,a=f16,epilogue=bgrada", "epilogue-operand-gradient", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=e4m3,c=bf16,epilogue=gelu_aux,in_place=1", "in-place-layouts-differ",
       RefusedBy::matmul},
      {"m=64,n=64,k=64,a=f16,epilogue=drelu_bgrad,order_d=row,order_c=row", "bias-row-order", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,epilogue=bias,bias_type=f32", "bias-type", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,scale_a=scalar", "scale-of-wide-type", RefusedBy::heuristic},
      {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=outer_vec", "scale-modes", RefusedBy::heuristic},
      {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=outer_vec,scale_b=outer_vec", "fp8-types", RefusedBy::nothing},
      {"m=64,n=64,k=128,ta=t,a=e4m3,d=e4m3,c=bf16,scale_a=vec128,scale_b=vec128", "scale-modes-of-d",
       RefusedBy::heuristic},
      {"m=64,n=63,k=128,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=vec128", "scale-multiples-of-4",
       RefusedBy::heuristic},
      {"m=64,n=63,k=128,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=blk128x128", "fp8-types", RefusedBy::nothing},
      {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=vec128,fast_accum=1", "scale-modes-fast-accumulation",
       RefusedBy::heuristic},
      {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=blk128x128,scale_a_offset=8", "scale-16-bytes",
       RefusedBy::matmul},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=bf16,scale_a=scalar,scale_a_offset=4", "scalar-scale-16-bytes",
       RefusedBy::nothing},
      {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=vec128,scale_c=scalar,beta=1",
       "scale-of-c-with-tables", RefusedBy::nothing},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=bf16,scale_d=scalar", "scale-of-wide-d", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=bf16,amax_d=1", "amax-of-wide-d", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=bf16,epilogue=bias,bias_offset=8", "fp8-bias-below-16", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=e4m3,d=bf16", "fp8-needs-tn", RefusedBy::heuristic},
      {"m=64,n=64,k=72,ta=t,a=e4m3,d=bf16", "fp8-16-byte-rule", RefusedBy::heuristic},
      {"m=64,n=63,k=64,ta=t,a=e4m3,d=bf16", "fp8-types", RefusedBy::nothing},
      {"m=64,n=64,k=64,ta=t,a=e5m2,d=bf16", "types-unlisted", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=e5m2,c=bf16", "types-unlisted", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=e4m3,b=e5m2,d=e5m2,c=bf16", "fp8-types", RefusedBy::nothing},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=bf16,a_offset=8", "pointer-below-the-type", RefusedBy::matmul},
      {"m=64,n=64,k=64,ta=t,a=e4m3,d=bf16,a_offset=8,a_alignment=8", "pointer-below-the-type", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=i8,d=i32", "int8-needs-tn", RefusedBy::heuristic},
      {"m=64,n=64,k=63,ta=t,a=i8,d=i32", "int8-multiples-of-4", RefusedBy::heuristic},
      {"m=64,n=64,k=64,ta=t,a=i8,d=i32,alpha=2", "int8-alpha-beta", RefusedBy::matmul},
      {"m=64,n=64,k=64,ta=t,a=i8,d=i32,alpha=2,pointer_mode=device", "int8-alpha-beta", RefusedBy::nothing},
      {"m=64,n=64,k=64,ta=t,a=i8,d=i32,epilogue=relu", "int8-default-epilogue", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,lda=63", "ld-below-rows", RefusedBy::heuristic},
      {"m=64,n=1,k=64,a=f16,ldb=1", "ld-of-one-line", RefusedBy::heuristic},
      {"m=64,n=2,k=64,a=f16,ldb=1", "ld-below-rows", RefusedBy::heuristic},
      {"m=0,n=64,k=64,a=f16,lda=1,ldc=1,ldd=1", "zero-dimension", RefusedBy::heuristic},
      {"m=64,n=64,k=0,a=f16,ldb=1", "k-of-zero", RefusedBy::nothing},
      {"m=64,n=64,k=0,a=e4m3,d=bf16", "fp8-needs-tn", RefusedBy::heuristic},
      {"m=2147483647,n=1,k=1,a=f16", "types-listed", RefusedBy::nothing},
      {"m=64,n=2,k=64,a=f16,ldb=2147483647", "types-listed", RefusedBy::nothing},
      {"m=64,n=2,k=64,a=f16,ldb=2147483648", "ld-above-int32", RefusedBy::nothing},
      {"m=2147483648,n=1,k=1,a=f16", "dimension-above-int32", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f16,b_offset=8", "pointer-below-promise", RefusedBy::matmul},
      {"m=64,n=64,k=64,a=f16,b_offset=16", "pointer-below-promise", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,b_offset=8,b_alignment=8", "types-listed", RefusedBy::nothing},
      {"m=64,n=64,k=64,a=f16,workspace_offset=128", "workspace-256-bytes", RefusedBy::matmul},
      {"m=64,n=64,k=64,a=f16,order_d=row,epilogue=bias", "bias-row-order", RefusedBy::heuristic},
      {"m=64,n=64,k=64,a=f32,compute=32f_emulated_16bfx9", "emulation-not-on-this-gpu", RefusedBy::heuristic},
  });
  for (const auto& entry : cases) {
    const auto promise = promise_of(problem_from_text(entry.problem), kHopper);
    EXPECT_EQ(promise.rule_id, entry.rule_id) << entry.problem;
    EXPECT_EQ(promise.refused_by, entry.by) << entry.problem;
  }
}

TEST(Contract, KnowsOfNoMultiplesOf4ForInt8IntoFp32) {
  const auto expected = [](const char* text) { return promise_of(problem_from_text(text), kHopper).expectation; };
  EXPECT_EQ(expected("m=64,n=64,k=63,ta=t,a=i8,d=i32"), Expectation::must_refuse);
  EXPECT_EQ(expected("m=64,n=64,k=63,ta=t,a=i8,d=f32,compute=32f"), Expectation::may_refuse);
  EXPECT_EQ(expected("m=64,n=64,k=64,ta=t,a=i8,d=f32,compute=32f"), Expectation::must_work);
}

TEST(Contract, HasTheOrdersOfTheImmaKernelsOnTuringAndAmpere) {
  const auto expected = [](cublasLtOrder_t order, int cc) {
    return promise_of_imma_order(order, {cc, 130100}).expectation;
  };
  EXPECT_EQ(expected(CUBLASLT_ORDER_COL4_4R2_8C, 75), Expectation::must_work);
  EXPECT_EQ(expected(CUBLASLT_ORDER_COL32_2R_4R4, 75), Expectation::may_refuse);
  EXPECT_EQ(expected(CUBLASLT_ORDER_COL32_2R_4R4, 80), Expectation::must_work);
  EXPECT_EQ(expected(CUBLASLT_ORDER_COL4_4R2_8C, 89), Expectation::may_refuse);
  EXPECT_EQ(expected(CUBLASLT_ORDER_COL4_4R2_8C, 90), Expectation::must_refuse);
  EXPECT_EQ(promise_of_imma_order(CUBLASLT_ORDER_COL, {80, 130100}).expectation, Expectation::may_refuse);
}

TEST(Contract, FollowsGpuAndVersion) {
  const auto fp8 = uniform_problem(CUDA_R_8F_E4M3, 64, 64, 64);
  EXPECT_EQ(promise_of(fp8, {80, 130100}).rule_id, "types-not-on-this-gpu");
  EXPECT_EQ(promise_of(fp8, {89, 130100}).expectation, Expectation::must_work);
  auto workspace = uniform_problem(CUDA_R_16F, 64, 64, 64);
  workspace.workspace_offset = 16;
  EXPECT_EQ(promise_of(workspace, {90, 120803}).expectation, Expectation::may_refuse);
  const auto rows = problem_from_text("m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=outer_vec,scale_b=outer_vec");
  EXPECT_EQ(promise_of(rows, {90, 120800}).rule_id, "scale-modes");
  EXPECT_EQ(promise_of(rows, {100, 130100}).rule_id, "scale-modes");
  const auto wide = problem_from_text("m=64,n=64,k=64,a=f16,scale_a=scalar");
  EXPECT_EQ(promise_of(wide, {90, 120901}).expectation, Expectation::may_refuse);
}

Observation accepted() {
  Observation o;
  o.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"}, {"matmul", "cublasLtMatmul", "SUCCESS"}};
  Verification v;
  v.method = "elements";
  v.compared = v.expected_nonzero = 100;
  o.verification = v;
  return o;
}

TEST(Outcome, ComesFromTheWorstThingSeen) {
  auto o = accepted();
  EXPECT_EQ(outcome_of(o), Outcome::correct);
  o.verification->wrong = 3;
  EXPECT_EQ(outcome_of(o), Outcome::wrong_result);
  o.verification->unwritten = 1;
  EXPECT_EQ(outcome_of(o), Outcome::unwritten);
  o.verification->a_bytes_changed = 1;
  EXPECT_EQ(outcome_of(o), Outcome::input_changed);
  o.verification->bytes_behind_d = 4;
  EXPECT_EQ(outcome_of(o), Outcome::out_of_bounds);
  o.audit_error = "broke";
  EXPECT_EQ(outcome_of(o), Outcome::audit_error);
  o.end = ProcessEnd::crashed;
  EXPECT_EQ(outcome_of(o), Outcome::crashed);
}

TEST(Outcome, NearlyAllZeroProvesNothing) {
  auto o = accepted();
  o.verification->expected_nonzero = 5;
  EXPECT_EQ(outcome_of(o), Outcome::unproven);
}

TEST(Outcome, RefusalIsLateOnlyAfterAQuery) {
  Observation o;
  o.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "NOT_SUPPORTED"}};
  EXPECT_EQ(outcome_of(o), Outcome::refused);
  o.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"},
              {"matmul", "cublasLtMatmul", "NOT_SUPPORTED"}};
  EXPECT_EQ(outcome_of(o), Outcome::late_refusal);
  o.stages.erase(o.stages.begin());
  EXPECT_EQ(outcome_of(o), Outcome::refused);
}

TEST(Table, MeansWhatTheDesignSays) {
  EXPECT_EQ(status_of(Expectation::must_work, Outcome::correct), Status::pass);
  EXPECT_EQ(status_of(Expectation::must_work, Outcome::refused), Status::fail);
  EXPECT_EQ(status_of(Expectation::must_refuse, Outcome::refused), Status::pass);
  EXPECT_EQ(status_of(Expectation::must_refuse, Outcome::correct), Status::warn);
  EXPECT_EQ(status_of(Expectation::may_refuse, Outcome::refused), Status::pass);
  EXPECT_EQ(status_of(Expectation::may_refuse, Outcome::late_refusal), Status::warn);
  for (const auto outcome : {Outcome::wrong_result, Outcome::unwritten, Outcome::out_of_bounds, Outcome::input_changed,
                             Outcome::context_lost, Outcome::crashed, Outcome::timed_out}) {
    EXPECT_EQ(status_of(Expectation::may_refuse, outcome), Status::fail);
  }
  EXPECT_EQ(status_of(Expectation::must_work, Outcome::not_run), Status::skip);
  EXPECT_EQ(status_of(Expectation::must_work, Outcome::audit_error), Status::error);
}

TEST(Table, EveryNonPassHasReasonAndSentence) {
  auto o = accepted();
  EXPECT_TRUE(judge_by_table(Expectation::must_work, o).reason.empty());
  o.verification->wrong = 2;
  o.verification->first_row = 4;
  const auto verdict = judge_by_table(Expectation::must_work, o);
  EXPECT_EQ(verdict.reason, "must-work-wrong-result");
  EXPECT_NE(verdict.sentence.find("2 of 100 elements of D are wrong"), std::string::npos);
}

TEST(NearestWord, FindsTyposAndNothingFar) {
  EXPECT_EQ(nearest_word("alignmnet", {"alignment", "compute-type"}), "alignment");
  EXPECT_EQ(nearest_word("zzzzzz", {"alignment", "compute-type"}), "");
}

}  // namespace
}  // namespace lt_audit
