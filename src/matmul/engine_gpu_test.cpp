// The engine on a real GPU: everything that is documented runs, is verified, and leaves the guard zones alone.
#include <gtest/gtest.h>

#include <map>

#include "lt_audit/error.h"
#include "lt_audit/verdict.h"
#include "matmul/beside_problems.h"
#include "matmul/engine.h"
#include "platform/platforms.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Null where there is no GPU or no library, for whatever reason.
std::unique_ptr<Platform> gpu() {
  try {
    return std::make_unique<Platform>(make_gpu_platform({}));
  } catch (const AuditError&) {
    return nullptr;
  }
}

class EngineOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (platform_ == nullptr) GTEST_SKIP() << "no GPU";
  }
  std::unique_ptr<Platform> platform_ = gpu();
};

TEST_F(EngineOnGpu, RunsEveryDocumentedTypeWithBiasBetaAndBatch) {
  MatmulEngine engine(*platform_, {});
  for (const char* text :
       {"m=96,n=80,k=64,a=f64,beta=1,epilogue=bias", "m=96,n=80,k=64,a=f32,beta=1,epilogue=relu_bias",
        "m=96,n=80,k=64,a=f16,beta=1,epilogue=bias,ldd=104", "m=96,n=80,k=64,a=bf16,epilogue=bias,beta=1",
        "m=96,n=80,k=64,ta=t,a=e4m3,d=bf16,epilogue=bias", "m=96,n=80,k=64,ta=t,a=i8,d=i32,beta=1",
        "m=96,n=80,k=64,a=f16,batch=3,stride_b=0", "m=96,n=80,k=65536,a=f16",
        "m=96,n=80,k=64,a=f32,pointer_mode=device,alpha=2", "m=96,n=80,k=64,a=f32,algo=null"}) {
    const auto observation = engine.run(problem_from_text(text));
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
  }
}

TEST_F(EngineOnGpu, VerifiesLargeProductsByFreivaldsAndFindsOneWrongElement) {
  const auto problem = problem_from_text("m=2048,n=2048,k=2048,ta=t,a=i8,d=i32,beta=1");
  EXPECT_EQ(MatmulEngine(*platform_, {}).run(problem).verification->method, "freivalds");
  const auto faulty = inject_fault(*platform_, "wrong-element");
  const auto observation = MatmulEngine(faulty, {}).run(problem);
  EXPECT_EQ(outcome_of(observation), Outcome::wrong_result);
  EXPECT_EQ(observation.verification->wrong, 1U);
}

TEST_F(EngineOnGpu, VerifiesWhatGoesWithAProduct) {
  MatmulEngine engine(*platform_, {});
  const auto expect_correct = [&](const auto& texts) {
    for (const char* text : texts) {
      const auto observation = engine.run(problem_from_text(text));
      EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
    }
  };
  expect_correct(kComplexProblems);
  for (const char* text : kPlanarProblems) {
    const auto problem = problem_from_text(text);
    const bool conjugate = problem.transa == CUBLAS_OP_C || problem.transb == CUBLAS_OP_C;
    const auto outcome = outcome_of(engine.run(problem));
    // 13.1.0 refuses conjugates of planes into C_32F (compute-type has it as a finding).
    if (conjugate && problem.type_d == CUDA_C_32F && outcome == Outcome::refused) continue;
    EXPECT_EQ(outcome, Outcome::correct) << text;
  }
  expect_correct(kScaledProblems);
  expect_correct(kEpilogueProblems);
}

TEST_F(EngineOnGpu, SeesAnAttributeThatIsIgnored) {
  // The library is not told of it, and the engine does not know.
  for (const auto& [text, ignored] : std::map<const char*, cublasLtMatmulDescAttributes_t>{
           {"m=96,n=80,k=256,ta=t,a=e4m3,d=bf16,scale_a=scalar", CUBLASLT_MATMUL_DESC_A_SCALE_POINTER},
           {"m=96,n=80,k=64,ta=c,a=c32", CUBLASLT_MATMUL_DESC_TRANSB},
           {"m=96,n=80,k=64,a=f16,epilogue=gelu", CUBLASLT_MATMUL_DESC_EPILOGUE}}) {
    Platform deaf = *platform_;
    deaf.lt.matmul_desc_set_attribute = [this, ignored = ignored](cublasLtMatmulDesc_t desc, auto attribute,
                                                                  const void* value, std::size_t bytes) {
      // For a conjugate: transa as if it were only transposed.
      const auto transposed = static_cast<std::int32_t>(CUBLAS_OP_T);
      const bool conjugate = ignored == CUBLASLT_MATMUL_DESC_TRANSB && attribute == CUBLASLT_MATMUL_DESC_TRANSA;
      if (attribute == ignored && !conjugate) return CUBLAS_STATUS_SUCCESS;
      return platform_->lt.matmul_desc_set_attribute(desc, attribute, conjugate ? &transposed : value, bytes);
    };
    EXPECT_EQ(outcome_of(MatmulEngine(deaf, {}).run(problem_from_text(text))), Outcome::wrong_result) << text;
  }
}

TEST_F(EngineOnGpu, SeesAChangedInputOfALargeProduct) {
  const auto faulty = inject_fault(*platform_, "input-changed");
  const auto observation = MatmulEngine(faulty, {}).run(problem_from_text("m=2048,n=2048,k=2048,a=bf16"));
  EXPECT_EQ(outcome_of(observation), Outcome::input_changed);
}

TEST_F(EngineOnGpu, SeesDefectsBehindTheFirst2To32Bytes) {
  // D spans 2^31 elements of 2 bytes; what is spoilt lies in its middle, between its columns or behind it.
  const auto problem = problem_from_text("m=1024,n=65,k=64,a=f16,ldd=33554416");
  const auto seen_with = [&](const char* fault, const MatmulProblem& p) {
    return MatmulEngine(inject_fault(*platform_, fault), {}).run(p);
  };
  const auto right = MatmulEngine(*platform_, {}).run(problem);
  if (!right.not_run.empty()) GTEST_SKIP() << right.not_run;
  EXPECT_EQ(outcome_of(right), Outcome::correct) << describe(right);
  EXPECT_EQ(seen_with("guard-overwritten", problem).verification->bytes_behind_d, 8U);
  EXPECT_GT(seen_with("padding-overwritten", problem).verification->padding_bytes_changed, 0U);
  const auto i8 = problem_from_text("m=1024,n=65,k=64,ta=t,a=i8,d=i32,ldd=33554416");
  const auto wrong = seen_with("wrong-element", i8);
  if (!wrong.not_run.empty()) GTEST_SKIP() << wrong.not_run;
  EXPECT_EQ(wrong.verification->wrong, 1U);
  EXPECT_EQ(wrong.verification->first_col, 32);
}

}  // namespace
}  // namespace lt_audit
