// The faults over the simulator, with real arithmetic and rules: what an application would see of each.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "platform/faults/fault.h"
#include "platform/faults/fault_rows.h"
#include "platform/platforms.h"

namespace lt_audit::faults {
namespace {

constexpr std::size_t kBlock = 16384;
constexpr std::size_t kSlab = 8 * kBlock;

/// What one problem left behind.
struct Result {
  cublasStatus_t heuristic = CUBLAS_STATUS_SUCCESS;
  int returned = 0;
  cublasStatus_t matmul = CUBLAS_STATUS_SUCCESS;
  cudaError_t synchronize = cudaSuccess;
  std::vector<std::byte> memory;

  bool operator==(const Result&) const = default;
};

/// Bytes that are ordinary positive numbers in every type.
std::vector<std::byte> inputs() {
  std::vector<std::byte> bytes(kSlab);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0x38 + i * 5 % 7);
  return bytes;
}

void store(std::byte* to, cudaDataType_t type, double value) {
  const auto put = [to](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  if (type == CUDA_R_64F) return put(value);
  if (type == CUDA_R_32I) return put(static_cast<std::int32_t>(value));
  if (type == CUDA_R_16F) return put(static_cast<std::uint16_t>(value == 0 ? 0 : 0x3C00));
  put(static_cast<float>(value));
}

class Application {
 public:
  explicit Application(const Platform& platform) : platform_(platform) {
    void* memory = nullptr;
    require(platform_.cuda.malloc(&memory, kSlab), "malloc");
    memory_ = DeviceMemory(platform_.cuda, memory);
    cudaStream_t stream = nullptr;
    require(platform_.cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking), "stream_create");
    stream_ = Stream(platform_.cuda, stream);
    cublasLtHandle_t handle = nullptr;
    require(platform_.lt.create(&handle), "create");
    handle_ = LtHandle(platform_.lt, handle);
  }

  Result run(const MatmulProblem& p) {
    const LtApi& lt = platform_.lt;
    const auto initial = inputs();
    require(platform_.cuda.memcpy_async(memory_.get(), initial.data(), kSlab, cudaMemcpyHostToDevice, stream_.get()),
            "memcpy");
    cublasLtMatmulDesc_t object = nullptr;
    require(lt.matmul_desc_create(&object, p.compute_type, p.scale_type), "desc");
    const MatmulDesc desc(lt, object);
    desc.set<CUBLASLT_MATMUL_DESC_TRANSA>(std::int32_t{p.transa});
    desc.set<CUBLASLT_MATMUL_DESC_TRANSB>(std::int32_t{p.transb});
    desc.set<CUBLASLT_MATMUL_DESC_EPILOGUE>(static_cast<std::uint32_t>(p.epilogue));
    if (has_bias(p.epilogue)) {
      desc.set<CUBLASLT_MATMUL_DESC_BIAS_POINTER>(static_cast<const void*>(at(4, p.bias_offset)));
    }
    const MatrixLayout a = make_layout(lt, shape_a(p));
    const MatrixLayout b = make_layout(lt, shape_b(p));
    const MatrixLayout c = make_layout(lt, shape_c(p));
    const MatrixLayout d = make_layout(lt, shape_d(p));
    const Operands operands{desc.get(), a.get(), b.get(), c.get(), d.get()};
    const MatmulPreference preference = preference_of(p);
    cublasLtMatmulHeuristicResult_t best = {};
    Result result;
    result.heuristic =
        send(platform_, HeuristicCall{handle_.get(), operands, preference.get(), 1, &best, &result.returned});
    if (result.heuristic == CUBLAS_STATUS_SUCCESS && result.returned > 0) {
      std::byte alpha[16] = {};
      std::byte beta[16] = {};
      store(alpha, p.scale_type, p.alpha);
      store(beta, p.scale_type, p.beta);
      result.matmul =
          send(platform_, MatmulCall{handle_.get(), operands, alpha, at(0, p.a_offset), at(1, p.b_offset), beta,
                                     at(2, p.c_offset), at(3, p.d_offset), &best.algo, at(5, p.workspace_offset),
                                     static_cast<std::size_t>(p.workspace_bytes), stream_.get()});
    }
    result.synchronize = platform_.cuda.stream_synchronize(stream_.get());
    result.memory.resize(kSlab);
    static_cast<void>(
        platform_.cuda.memcpy_async(result.memory.data(), memory_.get(), kSlab, cudaMemcpyDeviceToHost, stream_.get()));
    static_cast<void>(platform_.cuda.stream_synchronize(stream_.get()));
    return result;
  }

 private:
  std::byte* at(std::size_t block, std::int64_t offset) {
    return static_cast<std::byte*>(memory_.get()) + (block + 1) * kBlock + offset;
  }
  MatmulPreference preference_of(const MatmulProblem& p) {
    cublasLtMatmulPreference_t object = nullptr;
    require(platform_.lt.matmul_preference_create(&object), "preference");
    MatmulPreference preference(platform_.lt, object);
    preference.set<CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES>(static_cast<std::uint64_t>(p.workspace_bytes));
    preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES>(p.a_alignment);
    preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES>(p.b_alignment);
    preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES>(p.c_alignment);
    preference.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES>(p.d_alignment);
    return preference;
  }

  const Platform& platform_;
  DeviceMemory memory_;
  Stream stream_;
  LtHandle handle_;
};

Result run_once(const Platform& platform, const MatmulProblem& p) { return Application(platform).run(p); }

class FaultOverSimulator : public testing::TestWithParam<Row> {};

TEST_P(FaultOverSimulator, ShowsInACallItTargets) {
  const Row& row = GetParam();
  const Platform simulator = make_simulator_platform({});
  const Result plain = run_once(simulator, row.targeted);
  const Result planted = run_once(inject_fault(simulator, row.fault), row.targeted);
  EXPECT_FALSE(plain == planted);
}

TEST_P(FaultOverSimulator, DoesNotShowInACallItDoesNotTarget) {
  const Row& row = GetParam();
  const Platform simulator = make_simulator_platform({});
  const Result plain = run_once(simulator, row.untargeted);
  // The untargeted call works, so that there is something to spoil.
  EXPECT_EQ(plain.heuristic, CUBLAS_STATUS_SUCCESS);
  EXPECT_GT(plain.returned, 0);
  EXPECT_EQ(plain.matmul, CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(plain == run_once(inject_fault(simulator, row.fault), row.untargeted));
}

INSTANTIATE_TEST_SUITE_P(All, FaultOverSimulator, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name(); });

TEST(FaultsOverSimulator, StickyMisalignedAddressLosesTheContext) {
  const Platform planted = inject_fault(make_simulator_platform({}), "sticky-misaligned-address");
  MatmulProblem p = problem(CUDA_R_16F);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  p.bias_offset = 2;
  const Result result = run_once(planted, p);
  EXPECT_EQ(result.matmul, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result.synchronize, cudaErrorMisalignedAddress);
}

}  // namespace
}  // namespace lt_audit::faults
