// Every fault over the scripted library: what it does to a call it targets, and that it leaves another call alone.
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "lt_audit/error.h"
#include "platform/audit_kernels.h"
#include "platform/faults/fault.h"
#include "platform/faults/fault_rows.h"
#include "platform/faults/scripted_library.h"
#include "platform/platforms.h"

namespace lt_audit::faults {
namespace {

/// A library, a run without the fault and a run with it.
struct Comparison {
  ScriptedLibrary plain_library, library;
  ScriptedRun plain, run;
  bool context_lost = false;

  Comparison(const char* fault, const MatmulProblem& p, cublasStatus_t matmul_status = CUBLAS_STATUS_SUCCESS) {
    plain_library.matmul_status = library.matmul_status = matmul_status;
    plain.run(plain_library.platform(), p);
    const Platform planted = inject_fault(library.platform(), fault);
    run.run(planted, p);
    context_lost = planted.cuda.stream_synchronize(nullptr) != cudaSuccess;
  }

  const Seen& seen() const { return library.matmuls.back(); }
  const Seen& expected() const { return plain_library.matmuls.back(); }
  /// Offset of the call's pointers from those of the problem, in bytes.
  std::ptrdiff_t a_shift() { return static_cast<const std::byte*>(seen().call.a) - run.a.bytes.data(); }
  std::ptrdiff_t b_shift() { return static_cast<const std::byte*>(seen().call.b) - run.b.bytes.data(); }

  bool same_memory() const {
    return run.a.bytes == plain.a.bytes && run.b.bytes == plain.b.bytes && run.c.bytes == plain.c.bytes &&
           run.d.bytes == plain.d.bytes && run.bias.bytes == plain.bias.bytes &&
           run.workspace.bytes == plain.workspace.bytes;
  }
  bool same_statuses() const {
    return run.heuristic == plain.heuristic && run.returned == plain.returned && run.algo_check == plain.algo_check &&
           run.matmul == plain.matmul;
  }
  static bool same_shape(const MatrixShape& x, const MatrixShape& y) {
    return x.type == y.type && x.rows == y.rows && x.cols == y.cols && x.ld == y.ld && x.batch_stride == y.batch_stride;
  }
  static bool same_facts(const CallFacts& x, const CallFacts& y) {
    return same_shape(x.a, y.a) && same_shape(x.b, y.b) && same_shape(x.c, y.c) && same_shape(x.d, y.d) &&
           x.scale_type == y.scale_type && x.epilogue == y.epilogue;
  }
  bool same_calls() {
    if (library.matmuls.size() != plain_library.matmuls.size()) return false;
    if (library.heuristics.size() != plain_library.heuristics.size()) return false;
    if (!same_facts(library.heuristics.front(), plain_library.heuristics.front())) return false;
    if (library.matmuls.empty()) return true;
    const bool same_bias = seen().facts.bias == nullptr || seen().facts.bias == run.bias_after;
    return same_facts(seen().facts, expected().facts) && seen().alpha == expected().alpha && same_bias &&
           seen().beta == expected().beta && seen().call.workspace_bytes == expected().call.workspace_bytes &&
           seen().call.algo != nullptr &&
           a_shift() == static_cast<const std::byte*>(expected().call.a) - plain.a.bytes.data() &&
           b_shift() == static_cast<const std::byte*>(expected().call.b) - plain.b.bytes.data();
  }
};

std::ptrdiff_t count_changed(const ScriptedRun::Buffer& buffer) {
  return std::count_if(buffer.bytes.begin(), buffer.bytes.end(),
                       [](std::byte byte) { return byte != ScriptedRun::kOld; });
}

// What the table says.

TEST(FaultList, IsSortedByNameWithoutDuplicates) {
  const auto list = fault_list();
  ASSERT_GE(list.size(), 20U);
  for (std::size_t i = 1; i < list.size(); ++i) EXPECT_LT(list[i - 1].name, list[i].name);
}

TEST(FaultList, SaysWhatEachFaultDoesAndWhereItComesFrom) {
  for (const FaultInfo& info : fault_list()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_NE(info.summary.back(), '.') << info.name;
    EXPECT_FALSE(info.modelled_on.empty()) << info.name;
    EXPECT_EQ(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos)
        << info.name;
  }
}

TEST(InjectFault, NamesTheNearestFaultWhenThereIsNone) {
  ScriptedLibrary library;
  try {
    static_cast<void>(inject_fault(library.platform(), "wrong-elemnt"));
    FAIL() << "accepted";
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("\"wrong-element\""), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("lt-audit list --faults"), std::string::npos) << error.what();
  }
}

TEST(InjectFault, LeavesThePlatformItWasGivenAlone) {
  ScriptedLibrary library;
  const Platform platform = library.platform();
  static_cast<void>(inject_fault(platform, "empty-success"));
  ScriptedRun run;
  run.run(platform, problem(CUDA_R_64F));
  EXPECT_EQ(library.matmuls.size(), 1U);
}

// One targeted and one untargeted call for each fault.

class FaultRow : public testing::TestWithParam<Row> {};

TEST_P(FaultRow, ChangesACallItTargets) {
  const Row& row = GetParam();
  Comparison comparison(row.fault, row.targeted, row.library_answers);
  EXPECT_TRUE(comparison.context_lost || !comparison.same_memory() || !comparison.same_statuses() ||
              !comparison.same_calls());
}

TEST_P(FaultRow, LeavesACallItDoesNotTargetAlone) {
  const Row& row = GetParam();
  Comparison comparison(row.fault, row.untargeted);
  EXPECT_FALSE(comparison.context_lost);
  EXPECT_TRUE(comparison.same_memory());
  EXPECT_TRUE(comparison.same_statuses());
  EXPECT_TRUE(comparison.same_calls());
}

TEST_P(FaultRow, LeavesTheCallersDescriptorAsItWas) {
  const Row& row = GetParam();
  Comparison comparison(row.fault, row.targeted);
  EXPECT_EQ(comparison.run.scale_after, static_cast<std::int32_t>(row.targeted.scale_type));
  if (has_bias(row.targeted.epilogue)) {
    EXPECT_EQ(comparison.run.bias_after, comparison.run.bias.at(row.targeted.bias_offset));
  }
}

INSTANTIATE_TEST_SUITE_P(All, FaultRow, testing::ValuesIn(rows()), [](const auto& row) { return row.param.name(); });

TEST(FaultRows, NameEveryFaultButTheOnesThatEndOrDelayTheProcessOrNeedSeveralCalls) {
  std::vector<std::string_view> named = {"crash", "hang", "slow-call"};
  named.insert(named.end(), kSequenceFaults.begin(), kSequenceFaults.end());
  for (const Row& row : rows()) named.emplace_back(row.fault);
  std::sort(named.begin(), named.end());
  std::vector<std::string_view> all;
  for (const FaultInfo& info : fault_list()) all.push_back(info.name);
  EXPECT_EQ(named, all);
}

// Exactly what each does.

TEST(NumberFaults, AlignmentMisreadRoundsAAndBDownTo16) {
  Comparison c("alignment-misread",
               with(problem(CUDA_R_32F), [](MatmulProblem& p) { p.a_offset = 20, p.b_offset = 4; }));
  EXPECT_EQ(c.a_shift(), 4096 + 16);
  EXPECT_EQ(c.b_shift(), 4096);
}

TEST(NumberFaults, AlphaIgnoredPassesOneInTheScaleType) {
  Comparison c("alpha-ignored", with(problem(CUDA_R_16F), [](MatmulProblem& p) { p.alpha = 2; }));
  EXPECT_EQ(c.seen().alpha, 1);
  EXPECT_EQ(c.expected().alpha, 2);
}

TEST(NumberFaults, BatchStrideRoundedRoundsDownToEightElements) {
  Comparison c("batch-stride-rounded",
               with(problem(CUDA_R_16F), [](MatmulProblem& p) { p.batch_count = 2, p.stride_a = 515; }));
  EXPECT_EQ(c.seen().facts.a.batch_stride, 512);
  EXPECT_EQ(c.seen().facts.b.batch_stride, c.expected().facts.b.batch_stride);
  EXPECT_EQ(c.seen().facts.a.batch_count, 2);
}

TEST(NumberFaults, BetaIgnoredPassesZero) {
  Comparison c("beta-ignored", with(problem(CUDA_R_8I), [](MatmulProblem& p) { p.beta = 1; }));
  EXPECT_EQ(c.seen().beta, 0);
  EXPECT_EQ(c.expected().beta, 1);
}

TEST(NumberFaults, BiasIgnoredPassesAVectorOfZeros) {
  Comparison c("bias-ignored",
               with(problem(CUDA_R_16F), [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; }));
  EXPECT_EQ(c.seen().facts.epilogue, CUBLASLT_EPILOGUE_BIAS);
  const auto* bias = static_cast<const std::byte*>(c.seen().facts.bias);
  ASSERT_NE(bias, c.run.bias.at(0));
  EXPECT_TRUE(std::all_of(bias, bias + 16 * 2, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(NumberFaults, CReadAtBetaZeroPassesOne) {
  Comparison c("c-read-at-beta-zero", problem(CUDA_R_32F));
  EXPECT_EQ(c.seen().beta, 1);
}

TEST(NumberFaults, KTailLostShortensKBy16InEveryTransposition) {
  for (const auto transa : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const auto transb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      MatmulProblem p = problem(CUDA_R_16BF);
      p.transa = transa;
      p.transb = transb;
      Comparison c("k-tail-lost", p);
      const CallFacts& facts = c.seen().facts;
      EXPECT_EQ(facts.k(), 16);
      EXPECT_EQ(transb == CUBLAS_OP_N ? facts.b.rows : facts.b.cols, 16);
      EXPECT_EQ(transa == CUBLAS_OP_N ? facts.a.rows : facts.a.cols, 16);
      EXPECT_EQ(facts.a.ld, c.expected().facts.a.ld);
      EXPECT_EQ(facts.b.ld, c.expected().facts.b.ld);
      // The algorithm was asked for the shorter product.
      EXPECT_EQ(c.library.heuristics.back().k(), 16);
    }
  }
}

TEST(NumberFaults, AFaultThatTheLibraryRefusesLeavesTheCallAlone) {
  ScriptedLibrary library;
  library.heuristic_status = CUBLAS_STATUS_NOT_SUPPORTED;
  ScriptedRun run;
  run.run(inject_fault(library.platform(), "k-tail-lost"), problem(CUDA_R_16F));
  ASSERT_EQ(library.matmuls.size(), 1U);
  EXPECT_EQ(library.matmuls[0].facts.k(), 32);
}

TEST(NumberFaults, LeadingDimensionRoundedRoundsUpTo16Bytes) {
  Comparison c("leading-dimension-rounded",
               with(problem(CUDA_R_32F), [](MatmulProblem& p) { p.lda = 17, p.ldb = 33; }));
  EXPECT_EQ(c.seen().facts.a.ld, 20);
  EXPECT_EQ(c.seen().facts.b.ld, 36);
}

TEST(NumberFaults, ScaleTypeMisreadShowsHeuristicAndMatmulAnotherScaleType) {
  Comparison c("scale-type-misread",
               with(problem(CUDA_R_16F), [](MatmulProblem& p) { p.compute_type = CUBLAS_COMPUTE_16F; }));
  EXPECT_EQ(c.library.heuristics[0].scale_type, CUDA_R_16F);
  EXPECT_EQ(c.library.algo_checks[0].scale_type, CUDA_R_16F);
  EXPECT_EQ(c.seen().facts.scale_type, CUDA_R_16F);
  // 1.0F begins with the bytes of a half 0.
  EXPECT_EQ(c.seen().alpha, 0);
}

TEST(NumberFaults, UnlistedInputsAreReadAsFp32InEveryCall) {
  Comparison c("unlisted-input-as-fp32", with(problem(CUDA_R_16F), [](MatmulProblem& p) {
                 p.compute_type = CUBLAS_COMPUTE_32F_FAST_16F, p.type_c = p.type_d = CUDA_R_32F;
               }));
  for (const CallFacts& facts : {c.library.heuristics[0], c.library.algo_checks[0], c.seen().facts}) {
    EXPECT_TRUE(facts.inputs_are(CUDA_R_32F));
    EXPECT_EQ(facts.a.ld, c.expected().facts.a.ld);
  }
}

TEST(NumberFaults, WrongElementChangesOneElementOfD) {
  Comparison c("wrong-element", problem(CUDA_R_8I));
  const auto changed = std::count(c.run.d.bytes.begin(), c.run.d.bytes.end(), std::byte{0x3D});
  EXPECT_EQ(changed, 4);
  EXPECT_EQ(count_changed(c.run.d), 16 * 8 * 4);
}

TEST(MemoryFaults, EmptySuccessWritesNothing) {
  Comparison c("empty-success", problem(CUDA_R_64F));
  EXPECT_EQ(c.run.matmul, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count_changed(c.run.d), 0);
}

TEST(MemoryFaults, GuardOverwrittenWritesEightBytesBehindD) {
  Comparison c("guard-overwritten", problem(CUDA_R_16F));
  EXPECT_EQ(count_changed(c.run.d), 16 * 8 * 2 + 8);
  EXPECT_NE(*c.run.d.at(16 * 8 * 2), ScriptedRun::kOld);
  EXPECT_NE(*c.run.d.at(16 * 8 * 2 + 7), ScriptedRun::kOld);
}

TEST(MemoryFaults, InputChangedChangesTheFirstByteOfA) {
  Comparison c("input-changed", with(problem(CUDA_R_16BF), [](MatmulProblem& p) { p.a_offset = 2; }));
  EXPECT_EQ(count_changed(c.run.a), 1);
  EXPECT_EQ(*c.run.a.at(2), std::byte{0x7F});
}

TEST(MemoryFaults, PaddingOverwrittenWritesBehindTwoColumnsOfTheLastBatch) {
  Comparison c("padding-overwritten", with(problem(CUDA_R_8I), [](MatmulProblem& p) { p.ldc = p.ldd = 20; }));
  EXPECT_EQ(count_changed(c.run.d), 16 * 8 * 4 + 2);
  EXPECT_EQ(*c.run.d.at(16 * 4), std::byte{0x5A});
  EXPECT_EQ(*c.run.d.at((20 + 16) * 4), std::byte{0xA5});
}

TEST(MemoryFaults, ShortWriteKeepsTheLastColumn) {
  Comparison c("short-write", problem(CUDA_R_8F_E4M3));
  EXPECT_EQ(count_changed(c.run.d), 16 * 7 * 2);
  EXPECT_EQ(*c.run.d.at(16 * 7 * 2), ScriptedRun::kOld);
  EXPECT_NE(*c.run.d.at(16 * 7 * 2 - 1), ScriptedRun::kOld);
}

TEST(MemoryFaults, UnlistedDTypeOverrunWritesFp32BehindD) {
  Comparison c("unlisted-d-type-overrun", with(problem(CUDA_R_32F), [](MatmulProblem& p) {
                 p.compute_type = CUBLAS_COMPUTE_32F_FAST_16BF, p.type_c = p.type_d = CUDA_R_16BF;
               }));
  for (const CallFacts& facts : {c.library.heuristics[0], c.library.algo_checks[0], c.seen().facts}) {
    EXPECT_EQ(facts.c.type, CUDA_R_32F);
    EXPECT_EQ(facts.d.type, CUDA_R_32F);
  }
  EXPECT_EQ(count_changed(c.run.d), 16 * 8 * 4);
}

TEST(MemoryFaults, WorkspaceOverrunWritesBehindTheGivenSize) {
  Comparison c("workspace-overrun", problem(CUDA_R_32F));
  EXPECT_EQ(count_changed(c.run.workspace), 16);
  EXPECT_NE(*c.run.workspace.at(1024), ScriptedRun::kOld);
  EXPECT_EQ(*c.run.workspace.at(1023), ScriptedRun::kOld);
}

TEST(StatusFaults, HeuristicSuccessWithoutResultReturnsNoResult) {
  Comparison c("heuristic-success-without-result", problem(CUDA_R_8F_E4M3));
  EXPECT_EQ(c.run.heuristic, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.run.returned, 0);
}

TEST(StatusFaults, LateRefusalAcceptsFirst) {
  Comparison c("late-refusal", with(problem(CUDA_R_16F), [](MatmulProblem& p) { p.c_offset = 2; }));
  EXPECT_EQ(c.run.heuristic, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.run.matmul, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(c.library.matmuls.empty());
}

TEST(StatusFaults, UnalignedWorkspaceAcceptedUsesTheAlignedRest) {
  Comparison c("unaligned-workspace-accepted",
               with(problem(CUDA_R_32F), [](MatmulProblem& p) { p.workspace_offset = 16; }));
  EXPECT_EQ(c.seen().call.workspace, c.run.workspace.at(256));
  EXPECT_EQ(c.seen().call.workspace_bytes, 1024U - 240U);
}

TEST(StatusFaults, ValidCallRefusedRefusesInTheHeuristic) {
  Comparison c("valid-call-refused", problem(CUDA_R_8I));
  EXPECT_EQ(c.run.heuristic, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(c.run.returned, 0);
}

TEST(StatusFaults, WrongStatusTurnsARefusalIntoSuccess) {
  for (const auto refusal : {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE}) {
    Comparison c("wrong-status", problem(CUDA_R_32F), refusal);
    EXPECT_EQ(c.run.matmul, CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(count_changed(c.run.d), 0);
  }
  Comparison c("wrong-status", problem(CUDA_R_32F), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(c.run.matmul, CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST(ProcessFaults, StickyMisalignedAddressFailsEveryLaterCudaCall) {
  ScriptedLibrary library;
  const Platform planted = inject_fault(library.platform(), "sticky-misaligned-address");
  MatmulProblem p = problem(CUDA_R_16F);
  p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  p.bias_offset = 16;
  ScriptedRun run;
  run.run(planted, p);
  EXPECT_EQ(planted.cuda.stream_synchronize(nullptr), cudaSuccess);
  p.bias_offset = 2;
  run.run(planted, p);
  EXPECT_EQ(run.matmul, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(planted.cuda.stream_synchronize(nullptr), cudaErrorMisalignedAddress);
  void* memory = nullptr;
  EXPECT_EQ(planted.cuda.malloc(&memory, 16), cudaErrorMisalignedAddress);
  EXPECT_EQ(planted.kernels.prepare({}, nullptr), cudaErrorMisalignedAddress);
  run.run(planted, p);
  EXPECT_EQ(run.matmul, CUBLAS_STATUS_EXECUTION_FAILED);
}

void run_planted(const char* fault, cudaDataType_t type, cublasComputeType_t compute, cudaDataType_t scale) {
  ScriptedLibrary library;
  MatmulProblem p = problem(type);
  p.compute_type = compute;
  p.scale_type = scale;
  ScriptedRun run;
  run.run(inject_fault(library.platform(), fault), p);
}

TEST(ProcessFaultsDeathTest, CrashEndsInSigsegvForItsClassOfCallsOnly) {
  run_planted("crash", CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F);
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);
        run_planted("crash", CUDA_R_64F, CUBLAS_COMPUTE_64F_PEDANTIC, CUDA_R_64F);
        std::exit(0);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(ProcessFaultsDeathTest, HangNeverReturnsForItsClassOfCallsOnly) {
  run_planted("hang", CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F);
  EXPECT_EXIT(
      {
        // Real time: the hanging call sleeps and burns none.
        itimerval timer = {};
        timer.it_value.tv_usec = 100000;
        setitimer(ITIMER_REAL, &timer, nullptr);
        run_planted("hang", CUDA_R_16F, CUBLAS_COMPUTE_16F_PEDANTIC, CUDA_R_16F);
        std::exit(0);
      },
      testing::KilledBySignal(SIGALRM), "");
}

TEST(ProcessFaults, SlowCallDelaysItsClassOfCalls) {
  ScriptedLibrary library;
  MatmulProblem p = problem(CUDA_R_16BF);
  p.type_c = p.type_d = CUDA_R_32F;
  p.compute_type = CUBLAS_COMPUTE_32F_PEDANTIC;
  ScriptedRun run;
  const auto start = std::chrono::steady_clock::now();
  run.run(inject_fault(library.platform(), "slow-call"), p);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(600));
  EXPECT_EQ(library.matmuls.size(), 1U);
}

TEST(Faults, PassACallWithoutLayoutsOn) {
  ScriptedLibrary library;
  Platform platform = library.platform();
  platform.lt.matmul = [](cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t,
                          const void*, cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t, void*,
                          cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, std::size_t,
                          cudaStream_t) { return CUBLAS_STATUS_NOT_INITIALIZED; };
  for (const FaultInfo& info : fault_list()) {
    if (info.name == "wrong-status") continue;
    const Platform planted = inject_fault(platform, info.name);
    EXPECT_EQ(planted.lt.matmul(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr),
              CUBLAS_STATUS_NOT_INITIALIZED)
        << info.name;
  }
}

}  // namespace
}  // namespace lt_audit::faults
