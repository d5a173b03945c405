// The engine over the simulator, with and without planted faults.
#include "matmul/engine.h"

#include <gtest/gtest.h>

#include <string>

#include "lt_audit/measured_facts.h"
#include "lt_audit/verdict.h"
#include "matmul/exact_inputs.h"
#include "matmul/verifier.h"
#include "platform/platforms.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

Observation run(const char* text, const char* fault = nullptr) {
  auto platform = make_simulator_platform({});
  if (fault != nullptr) platform = inject_fault(platform, fault);
  MatmulEngine engine(platform, {});
  return engine.run(problem_from_text(text));
}

Outcome outcome(const char* text, const char* fault = nullptr) { return outcome_of(run(text, fault)); }

TEST(Engine, EveryTypeIsVerifiedExactly) {
  for (const char* text :
       {"m=96,n=80,k=64,a=f64", "m=96,n=80,k=64,a=f32", "m=96,n=80,k=64,a=f16", "m=96,n=80,k=64,a=bf16",
        "m=96,n=80,k=64,ta=t,a=e4m3,d=bf16", "m=96,n=80,k=64,ta=t,a=e4m3,b=e5m2,d=f16",
        "m=96,n=80,k=64,ta=t,a=e4m3,d=e4m3,c=bf16", "m=96,n=80,k=64,ta=t,a=i8,d=i32",
        "m=96,n=80,k=64,ta=t,a=i8,d=i8,scale=f32", "m=96,n=80,k=64,a=f16,compute=16f"}) {
    const auto observation = run(text);
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
    ASSERT_TRUE(observation.verification.has_value()) << text;
    EXPECT_EQ(observation.verification->compared, 96U * 80U) << text;
  }
}

TEST(Engine, EveryFieldOfTheProblemIsHonoured) {
  for (const char* text :
       {"m=33,n=17,k=65,ta=t,tb=t,a=f32,lda=70,ldb=20,ldd=40,ldc=35,alpha=2,beta=-1",
        "m=33,n=17,k=65,a=f16,order_a=row,order_d=row,order_c=row",
        "m=32,n=16,k=8,a=f32,batch=3,stride_a=0,stride_b=200,beta=1", "m=32,n=16,k=8,a=bf16,epilogue=relu_bias,beta=1",
        "m=32,n=16,k=8,a=f32,epilogue=bias,bias_offset=4", "m=32,n=16,k=8,a=f32,in_place=1,beta=2",
        "m=32,n=16,k=8,a=f32,pointer_mode=device,alpha=3,beta=1", "m=32,n=16,k=8,a=f32,algo=null",
        "m=32,n=16,k=8,a=f32,algo=1", "m=32,n=16,k=8,a=f16,a_offset=2,a_alignment=2,d_offset=6,d_alignment=2",
        "m=32,n=16,k=8,a=f32,workspace=0"}) {
    const auto observation = run(text);
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
  }
}

TEST(Engine, SingleProductsShowWhetherAFactorWasRounded) {
  const auto platform = make_simulator_platform({});
  MatmulEngine engine(platform, {});
  const auto seen = [&](const char* text) {
    return outcome_of(engine.run(problem_from_text(text), {.inputs = Inputs::single_products, .digest = false}));
  };
  EXPECT_EQ(seen("m=96,n=80,k=64,a=f32"), Outcome::correct);
  EXPECT_EQ(seen("m=32,n=16,k=8192,a=f32"), Outcome::correct) << "split-K adds zeros";
  EXPECT_EQ(seen("m=96,n=80,k=64,a=f64"), Outcome::correct);
  EXPECT_EQ(seen("m=96,n=80,k=64,a=f16"), Outcome::correct);
  for (const char* compute : {"32f_fast_tf32", "32f_fast_16f", "32f_fast_16bf"}) {
    const auto text = std::string("m=96,n=80,k=64,a=f32,compute=") + compute;
    EXPECT_EQ(seen(text.c_str()), Outcome::wrong_result) << compute;
    EXPECT_EQ(outcome(text.c_str()), Outcome::correct) << compute;
  }
}

TEST(Engine, DigestsAreOfTheProductAndOfCublasBesideIt) {
  const auto platform = make_simulator_platform({});
  const auto facts = [&](const char* text) {
    return MatmulEngine(platform, {}).run(problem_from_text(text), {.inputs = Inputs::exact, .digest = true}).facts;
  };
  const auto first = facts("m=96,n=80,k=64,a=f16");
  EXPECT_EQ(first.size(), 2U);
  EXPECT_EQ(first.at(kDBitsFact).size(), 16U);
  EXPECT_EQ(first, facts("m=96,n=80,k=64,a=f16"));
  EXPECT_NE(first, facts("m=96,n=80,k=64,a=f32"));
  EXPECT_EQ(facts("m=96,n=80,k=64,ta=t,a=e4m3,d=bf16").count(kCublasDBitsFact), 0U);
  EXPECT_TRUE(facts("m=64,n=64,k=24,ta=t,a=e4m3,d=bf16").empty()) << "refused";
}

TEST(Engine, RefusalIsDataWithTheLibrarysWords) {
  const auto observation = run("m=64,n=64,k=24,ta=t,a=e4m3,d=bf16");
  EXPECT_EQ(outcome_of(observation), Outcome::refused);
  EXPECT_EQ(observation.stage("heuristic")->status, "NOT_SUPPORTED");
  EXPECT_EQ(observation.stage("matmul"), nullptr);
  EXPECT_FALSE(observation.log.empty());
}

TEST(Engine, WorkspaceOffByLessThan256IsRefusedByMatmul) {
  EXPECT_EQ(outcome("m=64,n=64,k=64,a=f16,workspace_offset=128"), Outcome::late_refusal);
}

TEST(Engine, PlantedDefectsAreSeen) {
  struct Planted {
    const char* fault;
    const char* problem;
    Outcome outcome;
  };
  // Each fault acts on the kind of call that its public defect hit (lt-audit list --faults).
  for (const auto& planted : {
           Planted{"wrong-element", "m=96,n=80,k=64,ta=t,a=i8,d=i32", Outcome::wrong_result},
           Planted{"short-write", "m=96,n=80,k=64,ta=t,a=e4m3,d=bf16", Outcome::unwritten},
           Planted{"empty-success", "m=96,n=80,k=64,a=f64", Outcome::unwritten},
           Planted{"input-changed", "m=96,n=80,k=64,a=bf16", Outcome::input_changed},
           Planted{"k-tail-lost", "m=96,n=80,k=64,a=f16", Outcome::wrong_result},
           Planted{"alpha-ignored", "m=96,n=80,k=64,a=f16,alpha=2", Outcome::wrong_result},
           Planted{"beta-ignored", "m=96,n=80,k=64,ta=t,a=f32,beta=1", Outcome::wrong_result},
           Planted{"bias-ignored", "m=96,n=80,k=64,a=f32,epilogue=bias", Outcome::wrong_result},
           Planted{"padding-overwritten", "m=96,n=80,k=64,a=f32,ldd=100", Outcome::out_of_bounds},
           Planted{"guard-overwritten", "m=96,n=80,k=64,a=f16", Outcome::out_of_bounds},
           Planted{"workspace-overrun", "m=96,n=80,k=64,a=f32", Outcome::out_of_bounds},
       }) {
    EXPECT_EQ(outcome(planted.problem), Outcome::correct) << planted.fault;
    EXPECT_EQ(outcome(planted.problem, planted.fault), planted.outcome) << planted.fault;
  }
}

TEST(Engine, NarrowOutputOverrunIsMeasuredInBytes) {
  const char* text = "m=256,n=256,k=64,a=f32,d=f16,compute=32f_fast_tf32";
  EXPECT_EQ(outcome(text), Outcome::refused);
  const auto observation = run(text, "unlisted-d-type-overrun");
  EXPECT_EQ(outcome_of(observation), Outcome::out_of_bounds);
  EXPECT_EQ(observation.verification->reach_behind_d, 256U * 256U * 2U);
}

TEST(Engine, LargeProblemsAreVerifiedByFreivalds) {
  const char* text = "m=700,n=700,k=700,ta=t,a=i8,d=i32,beta=1";
  const auto right = run(text);
  EXPECT_EQ(outcome_of(right), Outcome::correct) << describe(right);
  EXPECT_EQ(right.verification->method, "freivalds");
  const auto wrong = run(text, "wrong-element");
  EXPECT_EQ(outcome_of(wrong), Outcome::wrong_result);
  EXPECT_EQ(wrong.verification->method, "elements");
  EXPECT_EQ(wrong.verification->wrong, 1U);
}

TEST(Engine, AChangedInputOfALargeProblemIsFoundByItsFingerprint) {
  const char* text = "m=2112,n=2112,k=64,a=bf16";
  EXPECT_EQ(run(text).verification->method, "freivalds");
  const auto changed = run(text, "input-changed");
  EXPECT_EQ(outcome_of(changed), Outcome::input_changed);
  EXPECT_EQ(changed.verification->a_bytes_changed, 1U);
}

TEST(Engine, AVectorIsComparedAndNeedsNoTablesLargerThanItself) {
  const auto platform = make_simulator_platform({});
  const Verifier verifier(platform, nullptr, 1);
  const auto scratch = [&verifier](const char* text) {
    const auto problem = problem_from_text(text);
    return verifier.scratch_bytes(problem, choose_inputs(problem, 1));
  };
  EXPECT_EQ(scratch("m=2147483647,n=1,k=1,a=f16"), 0U);
  EXPECT_EQ(scratch("m=1,n=2147483647,k=1,a=f16"), 0U);
  EXPECT_GT(scratch("m=1536,n=64,k=14688,a=f32"), 0U);
  EXPECT_GT(scratch("m=1048576,n=1,k=2056,a=f16"), 0U) << "4 GiB are not compared element by element";
}

TEST(Engine, MoreThanTheMemoryIsNotRunAndSaysWhy) {
  const auto observation = run("m=100000,n=100000,k=1000,a=f32");
  EXPECT_EQ(outcome_of(observation), Outcome::not_run);
  EXPECT_NE(observation.not_run.find("GiB of GPU memory"), std::string::npos) << observation.not_run;
}

TEST(Engine, CublasRunsBesideAndIsVerified) {
  auto platform = make_simulator_platform({});
  MatmulEngine engine(platform, {});
  const auto same = engine.run_cublas(problem_from_text("m=33,n=17,k=65,ta=t,a=f32,beta=1,alpha=2,d_offset=4"));
  EXPECT_EQ(same.status, "SUCCESS");
  ASSERT_TRUE(same.verification.has_value());
  EXPECT_EQ(same.verification->wrong, 0U);
  const auto batched = engine.run_cublas(problem_from_text("m=33,n=17,k=65,a=f16,batch=3"));
  EXPECT_EQ(batched.call, "cublasGemmStridedBatchedEx");
  EXPECT_EQ(batched.status, "SUCCESS");
  EXPECT_NE(engine.run_cublas(problem_from_text("m=32,n=32,k=32,ta=t,a=e4m3,d=bf16")).not_expressible, "");
  EXPECT_NE(engine.run_cublas(problem_from_text("m=32,n=32,k=32,a=f32,epilogue=bias")).not_expressible, "");
}

TEST(Engine, OneEngineRunsManyProblemsInOneSlab) {
  auto platform = make_simulator_platform({});
  MatmulEngine engine(platform, {});
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_EQ(engine.run(problem_from_text("m=64,n=64,k=64,a=f32")).not_run, "");
  ASSERT_EQ(platform.cuda.mem_get_info(&before, &total), cudaSuccess);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(outcome_of(engine.run(problem_from_text("m=64,n=64,k=64,a=f16"))), Outcome::correct);
  std::size_t after = 0;
  ASSERT_EQ(platform.cuda.mem_get_info(&after, &total), cudaSuccess);
  EXPECT_EQ(before, after);
}

TEST(Engine, AKernelOfTheAuditWithoutMemoryIsNoLostContext) {
  auto platform = make_simulator_platform({});
  platform.kernels.inspect = [](const auto&...) { return cudaErrorMemoryAllocation; };
  MatmulEngine engine(platform, {});
  const auto observation = engine.run(problem_from_text("m=32,n=16,k=8,a=f32"));
  EXPECT_EQ(outcome_of(observation), Outcome::not_run) << describe(observation);
}

TEST(Engine, LostContextIsSaid) {
  const auto observation =
      run("m=64,n=64,k=64,a=f16,epilogue=bias,bias_offset=2,a_offset=2,a_alignment=2", "sticky-misaligned-address");
  EXPECT_EQ(outcome_of(observation), Outcome::context_lost);
  EXPECT_EQ(observation.end_detail, "cudaErrorMisalignedAddress");
}

}  // namespace
}  // namespace lt_audit
