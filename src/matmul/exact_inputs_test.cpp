// Bounds of the exact inputs.
#include "matmul/exact_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "matmul/buffers.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

double reach(const MatmulProblem& p, const ExactInputs& in) {
  return std::abs(p.alpha) * static_cast<double>(in.terms) * in.a.amplitude * in.b.amplitude +
         std::abs(p.beta) * in.c.amplitude + (has_bias(p.epilogue) ? in.bias.amplitude : 0);
}

TEST(ExactInputs, StayWithinTheAccumulatorForAnyK) {
  for (const char* text :
       {"m=64,n=64,k=64,a=f16", "m=64,n=64,k=65536,a=f16", "m=64,n=64,k=1000000,a=f16,compute=16f",
        "m=8,n=8,k=4096,ta=t,a=e4m3,d=bf16", "m=8,n=8,k=100000,a=bf16,alpha=2,beta=1,epilogue=bias"}) {
    const auto p = problem_from_text(text);
    const auto in = choose_inputs(p, 1);
    const double limit = p.type_d == CUDA_R_16F ? 2048 : 256;
    EXPECT_LE(reach(p, in), limit) << text;
    EXPECT_GE(in.terms, 1) << text;
    EXPECT_TRUE(in.exact_in_d) << text;
    EXPECT_GE(in.terms * in.b.sparse_block, p.k) << text;
  }
}

TEST(ExactInputs, SumOverColumnsStaysExactInWhatAddsThem) {
  for (const auto& [text, limit] : {std::pair{"m=144,n=112,k=80,a=f16,compute=16f,epilogue=drelu_bgrad", 2048.0},
                                    std::pair{"m=144,n=65536,k=80,a=f32,epilogue=dgelu_bgrad", 0x1p24}}) {
    const auto p = problem_from_text(text);
    EXPECT_LE(reach(p, choose_inputs(p, 1)) * static_cast<double>(p.n), limit) << text;
  }
}

TEST(ExactInputs, UseTheRoomThatFp32Leaves) {
  const auto in = choose_inputs(problem_from_text("m=64,n=64,k=256,a=f32"), 1);
  EXPECT_EQ(in.b.sparse_block, 1);
  EXPECT_EQ(in.a.amplitude, 8);
  EXPECT_EQ(in.b.amplitude, 8);
}

TEST(ExactInputs, OfOneProductFillTheSignificandOfFp32AndFp64Alone) {
  for (const auto& [text, amplitude] :
       {std::pair{"m=64,n=64,k=256,a=f32", 1 << 23}, std::pair{"m=64,n=64,k=256,a=f64", 1 << 30}}) {
    const auto in = choose_inputs(problem_from_text(text), 1, Inputs::single_products);
    EXPECT_EQ(in.a.amplitude, amplitude) << text;
    EXPECT_EQ(in.b.amplitude, amplitude) << text;
    EXPECT_EQ(in.b.sparse_block, 256) << text;
    EXPECT_EQ(in.terms, 1) << text;
    EXPECT_FALSE(in.exact_in_d) << text;
  }
  const auto p = problem_from_text("m=64,n=64,k=256,a=f16");
  EXPECT_EQ(choose_inputs(p, 1, Inputs::single_products).a.amplitude, choose_inputs(p, 1).a.amplitude);
}

TEST(ExactInputs, RoundOnlyInAnFp8Result) {
  const auto p = problem_from_text("m=64,n=64,k=64,ta=t,a=e4m3,d=e4m3,c=bf16");
  const auto in = choose_inputs(p, 1);
  EXPECT_FALSE(in.exact_in_d);
  EXPECT_LE(reach(p, in), 240);
}

TEST(ExactInputs, EachOperandHasItsOwnSeed) {
  const auto in = choose_inputs(problem_from_text("m=8,n=8,k=8,a=f32"), 3);
  EXPECT_NE(in.a.seed, in.b.seed);
  EXPECT_NE(in.b.seed, in.c.seed);
  EXPECT_NE(choose_inputs(problem_from_text("m=8,n=8,k=8,a=f32"), 4).a.seed, in.a.seed);
}

TEST(Buffers, DStandsLastBehindItsOffsetWithRoomForWiderElements) {
  const auto p = problem_from_text("m=256,n=256,k=64,a=f32,d=f16,compute=32f_fast_tf32,d_offset=6,a_offset=4");
  std::vector<std::byte> slab(plan_buffers(p, choose_inputs(p, 1), nullptr).total_bytes + 256);
  auto* base = slab.data() + (256 - reinterpret_cast<std::uintptr_t>(slab.data()) % 256) % 256;
  const auto plan = plan_buffers(p, choose_inputs(p, 1), base);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plan.d) % 256, 6U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plan.a) % 256, 4U);
  const auto& last = plan.regions.region.at(static_cast<std::size_t>(plan.regions.count - 1));
  EXPECT_EQ(last.role, RegionRole::d);
  EXPECT_GE(last.bytes, last.data_offset + 256U * 256U * 2U * 8U);
  EXPECT_EQ(static_cast<std::byte*>(last.begin) + last.bytes, base + plan.total_bytes);
}

TEST(Buffers, RefuseWhatSplitsAnElement) {
  EXPECT_TRUE(cannot_lay_out(problem_from_text("m=8,n=8,k=8,a=f32,b_offset=2")).has_value());
  EXPECT_FALSE(cannot_lay_out(problem_from_text("m=8,n=8,k=8,a=f16,b_offset=2")).has_value());
  EXPECT_TRUE(cannot_lay_out(problem_from_text("m=100000000,n=100000000,k=8,a=f16")).has_value());
}

}  // namespace
}  // namespace lt_audit
