// prepare, inspect, compare and freivalds on the host: planted defects are counted exactly.
#include "platform/host_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "platform/kernel_test_problem.h"
#include "platform/product_math.h"
#include "platform/region_math.h"

namespace lt_audit {
namespace {

constexpr std::size_t kA = 0, kB = 1, kC = 2, kD = 3, kWorkspace = 5;

struct HostKernels : ::testing::Test {
  KernelTestProblem problem;

  HostKernels() {
    problem.extra_ld = 3;
    problem.batch_count = 2;
    problem.extra_stride = 4;
    problem.offset_elements = 1;
  }
};

/// Before and after the call with nothing in between: only D can disagree. Batches have no product check.
void freivalds(const KernelTestProblem& problem, const RegionSet& set, VerificationRecord* record) {
  std::vector<std::uint64_t> scratch(product_scratch_bytes(problem.m, problem.n, problem.k, kProductVectors) / 8 + 1);
  ProductSpec spec = problem.product(set);
  spec.scratch = scratch.data();
  for (const bool before_call : {true, false}) {
    spec.before_call = before_call;
    freivalds_on_host(spec, record);
  }
}

void flip(const Region& region, std::size_t byte) {
  auto* memory = static_cast<std::uint8_t*>(region.begin) + byte;
  *memory = static_cast<std::uint8_t>(*memory ^ 0x40U);
}

std::size_t data_end(const Region& region) {
  return region.data_offset +
         KernelTestProblem::span_of(region.shape) * static_cast<std::size_t>(element_bytes(region.shape.type));
}

VerificationRecord inspect(const RegionSet& set) {
  VerificationRecord record;
  inspect_on_host({set}, &record);
  return record;
}

/// Bytes counted anywhere.
unsigned long long total(const VerificationRecord& record) {
  unsigned long long sum = 0;
  for (std::size_t r = 0; r < kRegionRoles; ++r) {
    sum += record.changed[r] + record.guard_before[r] + record.guard_behind[r] + record.padding[r];
  }
  return sum;
}

TEST(HostKernelsOnAllProblems, PrepareThenInspectIsCleanAndTheRightProductPasses) {
  for (const KernelTestProblem& problem : kernel_test_problems()) {
    SCOPED_TRACE(name_of(problem.type_ab) + " m=" + std::to_string(problem.m));
    const HostMemoryBlock memory(problem);
    prepare_on_host({memory.regions()});
    EXPECT_EQ(total(inspect(memory.regions())), 0U);
    problem.multiply_on_host(memory.regions());
    VerificationRecord record = inspect(memory.regions());
    EXPECT_EQ(total(record), 0U);
    compare_on_host(problem.compare(memory.regions()), &record);
    EXPECT_EQ(record.compared, static_cast<unsigned long long>(problem.m * problem.n * problem.batch_count));
    EXPECT_EQ(record.wrong, 0U);
    EXPECT_EQ(record.first_wrong, ~0ULL);
    EXPECT_GT(record.expected_nonzero * 2, record.compared);
    if (problem.batch_count == 1) freivalds(problem, memory.regions(), &record);
    EXPECT_EQ(record.rows_disagree, 0U);
  }
}

TEST_F(HostKernels, ValuesStandWhereTheShapeSays) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  const Region& a = memory.regions().region[kA];
  const auto at = [&](std::int64_t row, std::int64_t col, std::int64_t batch) {
    return decode(CUDA_R_32F, static_cast<const std::byte*>(a.data()) + element_index(a.shape, row, col, batch) * 4);
  };
  EXPECT_EQ(at(5, 7, 1), value_of(a.pattern, problem.m, 5, 7, 1));
  EXPECT_EQ(at(23, 39, 0), value_of(a.pattern, problem.m, 23, 39, 0));
}

TEST_F(HostKernels, ChangedBytesAreCountedByPlaceAndRole) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  const RegionSet& set = memory.regions();
  flip(set.region[kA], 0);
  flip(set.region[kA], set.region[kA].data_offset - 1);
  flip(set.region[kB], set.region[kB].data_offset);
  flip(set.region[kB], set.region[kB].data_offset + 5);
  // Element m of a column of C is the first of its padding.
  flip(set.region[kC], set.region[kC].data_offset + 4 * static_cast<std::size_t>(problem.m) + 2);
  flip(set.region[kD], data_end(set.region[kD]) + 9);
  flip(set.region[kD], data_end(set.region[kD]) + 99);
  flip(set.region[kWorkspace], set.region[kWorkspace].data_offset - 1);
  const VerificationRecord record = inspect(set);
  EXPECT_EQ(record.guard_before[kA], 2U);
  EXPECT_EQ(record.changed[kB], 2U);
  EXPECT_EQ(record.padding[kC], 1U);
  EXPECT_EQ(record.guard_behind[kD], 2U);
  EXPECT_EQ(record.reach_behind[kD], 100U);
  EXPECT_EQ(record.guard_before[kWorkspace], 1U);
  EXPECT_EQ(total(record), 8U);
}

TEST_F(HostKernels, TheSpaceBetweenBatchesIsPadding) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  const Region& c = memory.regions().region[kC];
  flip(c, c.data_offset + 4 * static_cast<std::size_t>(c.shape.batch_stride) - 1);
  const VerificationRecord record = inspect(memory.regions());
  EXPECT_EQ(record.padding[kC], 1U);
  EXPECT_EQ(total(record), 1U);
}

TEST_F(HostKernels, ElementsOfDAndTheWorkspaceMayChange) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  problem.multiply_on_host(memory.regions());
  const Region& workspace = memory.regions().region[kWorkspace];
  std::memset(workspace.data(), 7, KernelTestProblem::span_of(workspace.shape));
  EXPECT_EQ(total(inspect(memory.regions())), 0U);
}

TEST_F(HostKernels, EachByteOfDsPaddingIsWatched) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  const Region& d = memory.regions().region[kD];
  std::memset(d.begin, 0, d.bytes);
  const VerificationRecord record = inspect(memory.regions());
  const std::size_t elements = static_cast<std::size_t>(problem.m * problem.n * problem.batch_count) * 4;
  EXPECT_EQ(total(record), d.bytes - elements);
  EXPECT_EQ(record.guard_before[kD], d.data_offset);
  EXPECT_EQ(record.guard_behind[kD], d.bytes - data_end(d));
  EXPECT_EQ(record.reach_behind[kD], d.bytes - data_end(d));
}

TEST_F(HostKernels, PaddingBehindSingleColumnsIsWatched) {
  problem.n = 1;
  problem.extra_stride = 0;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  const Region& d = memory.regions().region[kD];
  flip(d, d.data_offset + static_cast<std::size_t>(problem.m) * 4);
  EXPECT_EQ(inspect(memory.regions()).padding[kD], 1U);
}

TEST_F(HostKernels, InterleavedBatchesHaveNoPaddingInsideEachOther) {
  // Two batches of 8 rows in columns of 16: the second lies in the padding of the first.
  RegionSet set;
  set.count = 1;
  alignas(256) static std::array<std::byte, 4096> bytes;
  Region& region = set.region[0];
  region.begin = bytes.data();
  region.bytes = bytes.size();
  region.data_offset = 512;
  region.shape = {CUDA_R_32F, 8, 10, 16, CUBLASLT_ORDER_COL, 2, 8};
  region.pattern = {3, 9, 1, false};
  prepare_on_host({set});
  for (std::int64_t batch = 0; batch < 2; ++batch) {
    for (std::int64_t col = 0; col < 10; ++col) {
      const std::byte* at = bytes.data() + 512 + element_index(region.shape, 3, col, batch) * 4;
      ASSERT_EQ(decode(CUDA_R_32F, at), value_of(region.pattern, 8, 3, col, batch));
    }
  }
  flip(region, 512 + 8 * 4);
  const VerificationRecord record = inspect(set);
  EXPECT_EQ(record.changed[kA], 1U);
  EXPECT_EQ(total(record), 1U);
}

TEST_F(HostKernels, CompareReportsWrongAndUnwrittenElements) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  problem.multiply_on_host(memory.regions());
  std::memset(problem.d_element(memory.regions(), 2, 3, 1), problem.poison, 4);
  const double right = decode(CUDA_R_32F, problem.d_element(memory.regions(), 5, 3, 1));
  encode(CUDA_R_32F, right + 1, problem.d_element(memory.regions(), 5, 3, 1));
  encode(CUDA_R_32F, 77, problem.d_element(memory.regions(), 0, 9, 0));
  VerificationRecord record;
  compare_on_host(problem.compare(memory.regions()), &record);
  EXPECT_EQ(record.wrong, 3U);
  EXPECT_EQ(record.unwritten, 1U);
  EXPECT_EQ(record.first_wrong, static_cast<unsigned long long>(9 * problem.m));
  EXPECT_EQ(record.first_actual, 77);
  EXPECT_NE(record.first_expected, 77);
}

TEST_F(HostKernels, CompareOfAnUntouchedDCallsEverythingUnwritten) {
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  VerificationRecord record;
  compare_on_host(problem.compare(memory.regions()), &record);
  EXPECT_EQ(record.unwritten, record.compared);
  EXPECT_EQ(record.wrong, record.compared);
}

TEST_F(HostKernels, CompareInPlaceCallsAnOldCUnwritten) {
  problem.beta = 3;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  CompareSpec spec = problem.compare(memory.regions());
  spec.d = memory.regions().region[kC].data();
  spec.d_shape = problem.c();
  spec.in_place = true;
  VerificationRecord record;
  compare_on_host(spec, &record);
  EXPECT_GT(record.wrong, record.compared / 2);
  EXPECT_EQ(record.unwritten, record.wrong);
}

TEST_F(HostKernels, ReluMakesNegativeResultsZero) {
  problem.has_relu = true;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  problem.multiply_on_host(memory.regions());
  VerificationRecord record;
  compare_on_host(problem.compare(memory.regions()), &record);
  EXPECT_EQ(record.wrong, 0U);
  EXPECT_LT(record.expected_nonzero * 3, record.compared * 2);
}

TEST_F(HostKernels, FreivaldsRejectsOneElementThatIsOffByOne) {
  problem.batch_count = 1;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  problem.multiply_on_host(memory.regions());
  std::byte* element = problem.d_element(memory.regions(), 17, 11, 0);
  encode(CUDA_R_32F, decode(CUDA_R_32F, element) + 1, element);
  VerificationRecord record;
  freivalds(problem, memory.regions(), &record);
  EXPECT_EQ(record.rows_disagree, 1U);
}

TEST_F(HostKernels, FreivaldsRejectsNaN) {
  problem.batch_count = 1;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  problem.multiply_on_host(memory.regions());
  std::memset(problem.d_element(memory.regions(), 4, 4, 0), 0xFF, 4);
  VerificationRecord record;
  freivalds(problem, memory.regions(), &record);
  EXPECT_EQ(record.rows_disagree, 1U);
}

TEST_F(HostKernels, FreivaldsTakesFractionalAlphaAndBeta) {
  problem.batch_count = 1;
  problem.alpha = 0.5;
  problem.beta = -0.25;
  problem.has_bias = true;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  problem.multiply_on_host(memory.regions());
  VerificationRecord record;
  freivalds(problem, memory.regions(), &record);
  EXPECT_EQ(record.rows_disagree, 0U);
  encode(CUDA_R_32F, 0.125, problem.d_element(memory.regions(), 4, 4, 0));
  freivalds(problem, memory.regions(), &record);
  EXPECT_EQ(record.rows_disagree, 1U);
}

TEST_F(HostKernels, FreivaldsNoticesInputsThatChangedDuringTheCall) {
  problem.batch_count = 1;
  problem.beta = 1;
  for (std::size_t changed = 0; changed < 3; ++changed) {
    const HostMemoryBlock memory(problem);
    prepare_on_host({memory.regions()});
    std::vector<std::uint64_t> scratch(product_scratch_bytes(problem.m, problem.n, problem.k, kProductVectors) / 8 + 1);
    ProductSpec spec = problem.product(memory.regions());
    spec.scratch = scratch.data();
    spec.before_call = true;
    VerificationRecord record;
    freivalds_on_host(spec, &record);
    auto* element = static_cast<std::byte*>(memory.regions().region[changed].data());
    encode(CUDA_R_32F, decode(CUDA_R_32F, element) + 1, element);
    problem.multiply_on_host(memory.regions());
    spec.before_call = false;
    freivalds_on_host(spec, &record);
    for (std::size_t role = 0; role < 3; ++role) EXPECT_EQ(record.changed[role] > 0, role == changed) << role;
  }
}

TEST_F(HostKernels, InspectLeavesFreeInsidesToTheProductCheck) {
  problem.batch_count = 1;
  const HostMemoryBlock memory(problem);
  prepare_on_host({memory.regions()});
  RegionSet set = memory.regions();
  set.region[0].inside_is_free = true;
  flip(set.region[0], set.region[0].data_offset);
  EXPECT_EQ(total(inspect(set)), 0U);
  flip(set.region[0], set.region[0].data_offset - 1);
  EXPECT_EQ(total(inspect(set)), 1U);
}

TEST_F(HostKernels, FreivaldsRefusesAnAlphaThatIsNoShortFraction) {
  problem.alpha = 0.1;
  const HostMemoryBlock memory(problem);
  VerificationRecord record;
  EXPECT_EQ(host_kernel_table().freivalds(problem.product(memory.regions()), &record, nullptr), cudaErrorInvalidValue);
}

TEST(Regions, PlacesAreRightBeyondThirtyTwoBits) {
  // 65 columns over 2^32 elements and two batches behind each other: 32 GiB that nobody has to allocate for this.
  constexpr std::int64_t kLd = (std::int64_t{1} << 26) + 16;
  constexpr std::int64_t kStride = 65 * kLd;
  Region region;
  region.role = RegionRole::d;
  region.shape = {CUDA_R_32F, 1024, 65, kLd, CUBLASLT_ORDER_COL, 2, kStride};
  region.data_offset = 65536;
  region.bytes = 65536 + static_cast<std::size_t>(region.shape.span()) * 4 + 65536;
  const RegionWork work = make_region_work(region);
  EXPECT_EQ(work.span, region.shape.span());
  EXPECT_EQ(work.chunks * kChunkBytes, static_cast<std::int64_t>(region.bytes));
  for (const std::int64_t batch : {0, 1}) {
    for (const std::int64_t major : {0, 1, 63, 64}) {
      const std::int64_t first = batch * kStride + major * kLd;
      const auto place = locate(work, first + 1023);
      EXPECT_TRUE(place.is_element && place.batch == batch && place.major == major && place.minor == 1023) << first;
      EXPECT_EQ(kind_of_byte(work, 65536 + (first + 1023) * 4 + 3), ByteKind::element) << first;
      const bool is_last = batch == 1 && major == 64;
      EXPECT_EQ(kind_of_byte(work, 65536 + (first + 1024) * 4), is_last ? ByteKind::behind : ByteKind::padding)
          << first;
    }
  }
}

TEST(Regions, ASingleColumnIsAllElementsWhateverItsLeadingDimension) {
  Region region;
  region.role = RegionRole::b;
  region.content = RegionContent::values;
  region.shape = {CUDA_R_16F, 64, 1, 1, CUBLASLT_ORDER_COL, 1, 0};
  region.data_offset = 256;
  region.bytes = 1024;
  const RegionWork work = make_region_work(region);
  EXPECT_EQ(work.span, 64);
  for (const std::int64_t index : {0, 1, 63}) EXPECT_TRUE(locate(work, index).is_element) << index;
}

TEST(Regions, PaddingIsPoisonUpToTheLastElementBeforeAColumn) {
  // A column of 5 in 64 elements: chunks of 8 that lie in the padding, at its borders, and in a gap between batches.
  std::vector<std::uint8_t> memory(4096);
  RegionSet set;
  set.count = 1;
  Region& region = set.region[0];
  region.role = RegionRole::b;
  region.content = RegionContent::values;
  region.shape = {CUDA_R_16F, 5, 3, 64, CUBLASLT_ORDER_COL, 2, 256};
  region.pattern = {1, 4, 1, false};
  region.begin = memory.data();
  region.data_offset = 256;
  region.bytes = memory.size();
  prepare_on_host({set});
  const RegionWork work = make_region_work(region);
  for (std::int64_t byte = 0; byte < static_cast<std::int64_t>(memory.size()); ++byte) {
    if (kind_of_byte(work, byte) == ByteKind::element) continue;
    ASSERT_EQ(memory[static_cast<std::size_t>(byte)], region.poison) << byte;
  }
  for (const std::int64_t element : {0, 4, 64, 132, 256, 388}) {
    const double value = decode(CUDA_R_16F, memory.data() + 256 + 2 * element);
    EXPECT_TRUE(std::abs(value) >= 1 && std::abs(value) <= 4) << element << ": " << value;
  }
}

}  // namespace
}  // namespace lt_audit
