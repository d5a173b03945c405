// Sequences of steps over the simulator: what is filled, called and verified apart from each other.
#include "lt_audit/prepared_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>

#include "lt_audit/error.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"
#include "lt_audit/verdict.h"
#include "matmul/engine.h"
#include "platform/audit_math.h"
#include "platform/platforms.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

class PreparedMatmulTest : public testing::Test {
 protected:
  /// Described and asked about, with the first algorithm.
  const cublasLtMatmulAlgo_t* ready(PreparedMatmul& matmul) {
    return matmul.describe(observation) ? matmul.choose(session.handle(), observation) : nullptr;
  }
  /// One call on the matmul's own stream, synchronised.
  void call(PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo) {
    EXPECT_TRUE(matmul.matmul(session.handle(), algo, matmul.stream(), observation));
    EXPECT_EQ(platform.cuda.stream_synchronize(matmul.stream()), cudaSuccess);
  }

  Platform platform = make_simulator_platform({});
  Target target = describe_target(platform, 0);
  MatmulEngine engine{platform, {}};
  Session session{platform, target, engine};
  Observation observation;
  MatmulProblem problem = problem_from_text("m=48,n=40,k=32,a=f32,epilogue=bias");
};

TEST_F(PreparedMatmulTest, StepsDoWhatTheEngineDoes) {
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  ASSERT_NE(algo, nullptr);
  matmul.fill();
  call(matmul, algo);
  EXPECT_TRUE(matmul.verify(observation));
  EXPECT_EQ(outcome_of(observation), Outcome::correct) << describe(observation);
  EXPECT_EQ(observation.verification->compared, 48U * 40U);
  EXPECT_FALSE(observation.heuristic.empty());
}

TEST_F(PreparedMatmulTest, AnotherVariantHasOtherValuesAtTheSameAddresses) {
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  const auto before = matmul.pointers();
  matmul.fill(1);
  call(matmul, algo);
  matmul.fill(2);
  EXPECT_EQ(matmul.pointers().d, before.d);
  EXPECT_TRUE(matmul.verify_untouched(observation));
  call(matmul, algo);
  EXPECT_TRUE(matmul.verify(observation));
  // D of the first values does not pass for the second.
  matmul.fill(1);
  call(matmul, algo);
  EXPECT_TRUE(matmul.verify(observation));
}

TEST_F(PreparedMatmulTest, VerificationMayExpectAnotherEpilogueOrScalar) {
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  auto tripled = problem;
  tripled.alpha = 3;
  auto rectified = problem;
  rectified.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  matmul.set_scalars(3, 0);
  matmul.fill();
  call(matmul, algo);
  EXPECT_FALSE(matmul.verify(observation));
  EXPECT_FALSE(matmul.verify(observation, rectified));
  EXPECT_TRUE(matmul.verify(observation, tripled)) << describe(observation);
}

TEST_F(PreparedMatmulTest, ExpectsTheBiasOfAnother) {
  auto matmul = session.prepare(problem);
  auto other = session.prepare_apart(problem);
  const auto* algo = ready(matmul);
  other.fill(9);
  matmul.fill(1);
  const void* bias = other.pointers().bias;
  ASSERT_EQ(platform.lt.matmul_desc_set_attribute(matmul.desc(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
            CUBLAS_STATUS_SUCCESS);
  call(matmul, algo);
  EXPECT_FALSE(matmul.verify(observation));
  matmul.expect_bias_of(other);
  EXPECT_TRUE(matmul.verify(observation)) << describe(observation);
  matmul.expect_bias_of(matmul);
  EXPECT_FALSE(matmul.verify(observation));
}

TEST_F(PreparedMatmulTest, ExpectsTheFirstColumnOfCAsTheBias) {
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  matmul.fill();
  const void* column = matmul.pointers().c;
  ASSERT_EQ(
      platform.lt.matmul_desc_set_attribute(matmul.desc(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &column, sizeof column),
      CUBLAS_STATUS_SUCCESS);
  call(matmul, algo);
  EXPECT_FALSE(matmul.verify(observation));
  matmul.expect_c_as_bias();
  EXPECT_TRUE(matmul.verify(observation)) << describe(observation);
}

TEST_F(PreparedMatmulTest, CallsOnOtherOperandsThanTheProblems) {
  problem = problem_from_text("m=48,n=40,k=32,a=f32,beta=1");
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  matmul.fill();
  const auto own = matmul.operands();
  EXPECT_EQ(own.a, matmul.pointers().a);
  EXPECT_EQ(own.d, matmul.pointers().d);
  const auto call_on = [&](const CallOperands& operands) {
    const auto status = matmul.matmul_on(session.handle(), algo, matmul.stream(), operands);
    EXPECT_EQ(platform.cuda.stream_synchronize(matmul.stream()), cudaSuccess);
    return status;
  };
  auto changed = own;
  changed.c = nullptr;
  EXPECT_EQ(call_on(changed), CUBLAS_STATUS_INVALID_VALUE);
  changed = own;
  changed.c_layout = nullptr;
  EXPECT_EQ(call_on(changed), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(matmul.verify_untouched(observation));
  changed.c_layout = own.d_layout;
  EXPECT_EQ(call_on(changed), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(matmul.verify(observation)) << describe(observation);
}

TEST_F(PreparedMatmulTest, UntouchedMeansThatNothingWasWritten) {
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  matmul.fill();
  EXPECT_TRUE(matmul.verify_untouched(observation));
  EXPECT_FALSE(observation.verification.has_value());
  EXPECT_FALSE(matmul.verify(observation));
  EXPECT_EQ(observation.verification->unwritten, 48U * 40U);
  call(matmul, algo);
  EXPECT_FALSE(matmul.verify_untouched(observation));
}

TEST_F(PreparedMatmulTest, UntouchedInPlaceMeansThatCIsStillThere) {
  problem.in_place = true;
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  matmul.fill();
  EXPECT_TRUE(matmul.verify_untouched(observation));
  call(matmul, algo);
  EXPECT_FALSE(matmul.verify_untouched(observation));
  ASSERT_EQ(platform.cuda.memset_async(matmul.pointers().d, 0x11, 64, matmul.stream()), cudaSuccess);
  EXPECT_FALSE(matmul.verify_untouched(observation));
}

TEST_F(PreparedMatmulTest, AByteBehindDIsNoUntouchedD) {
  auto matmul = session.prepare(problem);
  matmul.fill();
  auto* behind = static_cast<std::byte*>(matmul.pointers().d) + 48 * 40 * sizeof(float);
  ASSERT_EQ(platform.cuda.memset_async(behind, 0x11, 4, matmul.stream()), cudaSuccess);
  EXPECT_FALSE(matmul.verify_untouched(observation));
  EXPECT_EQ(outcome_of(observation), Outcome::out_of_bounds);
}

TEST_F(PreparedMatmulTest, TheEnginesMemoryIsGivenOnce) {
  {
    const auto first = session.prepare(problem);
    EXPECT_THROW(static_cast<void>(session.prepare(problem)), std::logic_error);
    EXPECT_NO_THROW(static_cast<void>(session.prepare_apart(problem)));
  }
  EXPECT_NO_THROW(static_cast<void>(session.prepare(problem)));
  EXPECT_EQ(outcome_of(session.run(problem)), Outcome::correct);
}

TEST_F(PreparedMatmulTest, TheDigestTellsBitsAndLeavesPaddingOut) {
  problem = problem_from_text("m=48,n=40,k=32,a=f16,ldd=50,batch=2");
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  matmul.fill();
  const auto poisoned = matmul.d_digest();
  call(matmul, algo);
  const auto product = matmul.d_digest();
  EXPECT_NE(product, poisoned);
  auto* bytes = static_cast<unsigned char*>(matmul.pointers().d);
  bytes[48 * 2] ^= 1;
  EXPECT_EQ(matmul.d_digest(), product) << "padding";
  bytes[(50 * 40 + 50 * 39 + 47) * 2] ^= 1;
  EXPECT_NE(matmul.d_digest(), product) << "the last element";
}

TEST_F(PreparedMatmulTest, RoundingInputsTellOneOrderOfSummationFromAnother) {
  for (const auto* text : {"m=48,n=40,k=4096,a=f16,d=f32", "m=48,n=40,k=4096,a=bf16,d=f32", "m=48,n=40,k=4096,a=f32"}) {
    SCOPED_TRACE(text);
    auto matmul = session.prepare(problem_from_text(text));
    ASSERT_TRUE(matmul.describe(observation));
    const auto offered = matmul.query(session.handle(), 8);
    std::set<std::uint64_t> rounded, exact;
    for (const auto& result : offered.results) {
      matmul.fill_rounding();
      call(matmul, &result.algo);
      rounded.insert(matmul.d_digest());
      matmul.fill();
      call(matmul, &result.algo);
      EXPECT_TRUE(matmul.verify(observation)) << "alpha is the problem's again";
      exact.insert(matmul.d_digest());
    }
    EXPECT_GT(rounded.size(), 1U);
    EXPECT_EQ(exact.size(), 1U);
  }
}

TEST_F(PreparedMatmulTest, RoundingInputsStayInRange) {
  for (const auto* text :
       {"m=16,n=16,k=1,a=f16", "m=48,n=48,k=4096,a=f16,compute=16f", "m=48,n=48,k=4096,a=f16", "m=48,n=48,k=64,a=f64",
        "m=48,n=48,k=4096,ta=t,a=e4m3,d=f16", "m=48,n=48,k=64,ta=t,a=i8,d=i32"}) {
    SCOPED_TRACE(text);
    const auto p = problem_from_text(text);
    auto matmul = session.prepare(p);
    const auto* algo = ready(matmul);
    matmul.fill_rounding();
    call(matmul, algo);
    double largest = 0;
    const auto size = static_cast<std::int64_t>(bytes_of(p.type_d));
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      const double value = decode(p.type_d, static_cast<const std::byte*>(matmul.pointers().d) + i * size);
      ASSERT_TRUE(std::isfinite(value)) << i;
      largest = std::max(largest, std::abs(value));
    }
    EXPECT_GT(largest, 0.5);
  }
}

TEST_F(PreparedMatmulTest, CublasRunsTheSameProductInPlace) {
  problem = problem_from_text("m=48,n=40,k=32,a=f16,d=f32,beta=1,in_place=1");
  auto matmul = session.prepare(problem);
  matmul.fill();
  EXPECT_EQ(matmul.cublas(observation), "");
  EXPECT_TRUE(matmul.verify(observation));
  ASSERT_NE(observation.stage("cublas"), nullptr);
  EXPECT_EQ(observation.stage("cublas")->call, "cublasGemmEx");
  matmul.fill_rounding();
  matmul.cublas(observation);
  const auto by_cublas = matmul.d_digest();
  matmul.fill_rounding();
  call(matmul, ready(matmul));
  EXPECT_EQ(matmul.d_digest(), by_cublas) << "alpha is the same for both";
  auto with_bias = session.prepare_apart(problem_from_text("m=48,n=40,k=32,a=f16,epilogue=bias,in_place=1"));
  with_bias.fill();
  EXPECT_EQ(with_bias.cublas(observation), "epilogue bias has no cuBLAS form");
  auto apart = session.prepare_apart(problem_from_text("m=48,n=40,k=32,a=f16"));
  EXPECT_THROW(apart.cublas(observation), std::logic_error);
}

TEST_F(PreparedMatmulTest, ACallTakesTheWorkspaceThatItIsGiven) {
  problem = problem_from_text("m=32,n=16,k=4096,a=f32,workspace=1MiB");
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  ASSERT_NE(algo, nullptr);
  const auto needed = observation.heuristic.front().workspace_bytes;
  ASSERT_GT(needed, 0U);
  auto* const second_half = static_cast<std::byte*>(matmul.pointers().workspace) + (1 << 19);
  const auto call_with = [&](void* workspace, std::size_t bytes) {
    return matmul.matmul_with_workspace(session.handle(), algo, matmul.stream(), workspace, bytes);
  };
  matmul.fill();
  matmul.fill_workspace(0xFF);
  EXPECT_EQ(call_with(nullptr, needed), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call_with(second_half, needed - 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(matmul.verify_untouched(observation));
  EXPECT_EQ(call_with(second_half, needed), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(matmul.verify(observation));
  std::array<unsigned char, 2> first{};
  void* const halves[] = {matmul.pointers().workspace, second_half};
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(platform.cuda.memcpy_async(&first.at(i), halves[i], 1, cudaMemcpyDeviceToHost, matmul.stream()),
              cudaSuccess);
  }
  EXPECT_EQ(first[0], 0xFF);
  EXPECT_NE(first[1], 0xFF);
}

TEST_F(PreparedMatmulTest, CublasIsCalledInTheFormThatIsAskedFor) {
  const auto call_of = [&](const std::string& text, const CublasForm& form) {
    auto matmul = session.prepare(problem_from_text(text + ",beta=2,in_place=1"));
    matmul.fill();
    if (auto reason = matmul.cublas(observation, form); !reason.empty()) return reason;
    EXPECT_TRUE(matmul.verify(observation)) << text;
    return observation.stage("cublas")->call + " " + observation.stage("cublas")->status;
  };
  EXPECT_EQ(call_of("m=48,n=40,k=32,a=f32", {.by_type = true}), "cublasSgemm SUCCESS");
  EXPECT_EQ(call_of("m=48,n=40,k=32,a=f64,alpha=3", {.by_type = true}), "cublasDgemm SUCCESS");
  EXPECT_EQ(
      call_of("m=48,n=40,k=32,a=f32,compute=32f_fast_tf32", {.by_type = true, .math_mode = CUBLAS_TF32_TENSOR_OP_MATH}),
      "cublasSgemm SUCCESS");
  EXPECT_EQ(call_of("m=48,n=40,k=32,a=f16,pointer_mode=device,alpha=2", {.own_workspace = true}),
            "cublasGemmEx SUCCESS");
  EXPECT_EQ(call_of("m=48,n=40,k=32,a=f16", {.by_type = true}),
            "cublasSgemm and cublasDgemm have one type for A, B and C");
  EXPECT_EQ(call_of("m=48,n=40,k=32,a=f32,batch=3", {.by_type = true}), "cublasSgemm and cublasDgemm have no batch");
  EXPECT_EQ(call_of("m=48,n=40,k=32,a=f32,compute=32f_fast_tf32", {.by_type = true}),
            "no math mode of cublasSgemm or cublasDgemm asks for compute type 32f_fast_tf32");
}

TEST_F(PreparedMatmulTest, AModeThatCublasRefusesIsTheStage) {
  platform.blas.set_math_mode = [](cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_NOT_SUPPORTED; };
  platform.blas.set_workspace = nullptr;
  auto matmul = session.prepare(problem_from_text("m=48,n=40,k=32,a=f32,in_place=1"));
  matmul.fill();
  EXPECT_EQ(matmul.cublas(observation, {.math_mode = CUBLAS_PEDANTIC_MATH}), "");
  EXPECT_EQ(*observation.stage("cublas"), (Stage{"cublas", "cublasSetMathMode", "NOT_SUPPORTED"}));
  EXPECT_EQ(matmul.cublas(observation, {.own_workspace = true}), "this libcublas does not export cublasSetWorkspace");
}

TEST_F(PreparedMatmulTest, AProblemThatDoesNotFitIsNotRun) {
  EXPECT_THROW(static_cast<void>(session.prepare(problem_from_text("m=1000000,n=1000000,k=1,a=f32"))), NotRun);
  EXPECT_THROW(static_cast<void>(session.prepare_apart(problem_from_text("m=16,n=16,k=16,a=f32,a_offset=2"))), NotRun);
}

TEST_F(PreparedMatmulTest, DestroyedObjectsAreGone) {
  auto matmul = session.prepare(problem);
  const auto* algo = ready(matmul);
  matmul.fill();
  matmul.destroy_desc();
  EXPECT_EQ(matmul.matmul(session.handle(), algo, matmul.stream()), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(PreparedMatmulTest, TheEngineComesBackAfterTheDeviceWasReset) {
  EXPECT_EQ(outcome_of(session.run(problem)), Outcome::correct);
  session.release_engine();
  ASSERT_EQ(platform.cuda.device_reset(), cudaSuccess);
  ASSERT_EQ(platform.cuda.set_device(0), cudaSuccess);
  EXPECT_EQ(outcome_of(session.run(problem)), Outcome::correct);
}

TEST_F(PreparedMatmulTest, AGivenAlgorithmNeedsNoQuery) {
  auto given = problem;
  {
    auto matmul = session.prepare(problem);
    const auto* algo = ready(matmul);
    ASSERT_NE(algo, nullptr);
    given.algo = AlgoChoice::given;
    std::copy(std::begin(algo->data), std::end(algo->data), given.algo_words.begin());
  }
  const auto seen = session.run(problem_from_text(to_text(given)));
  EXPECT_EQ(outcome_of(seen), Outcome::correct) << describe(seen);
  EXPECT_EQ(seen.stage("heuristic"), nullptr);
  ASSERT_NE(seen.stage("algo_check"), nullptr);
  given.algo_words[2] ^= 1;
  EXPECT_EQ(outcome_of(session.run(given)), Outcome::refused);
}

TEST_F(PreparedMatmulTest, ASessionWithoutProcessesSaysSo) {
  EXPECT_THROW(static_cast<void>(session.run_in_other_process(problem)), AuditError);
}

}  // namespace
}  // namespace lt_audit
