// The faults of C over the simulator: what each makes of a product that it is for, and that a neighbour of that product
// stays as it is.
#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

using Values = std::vector<double>;

class InPlaceFaults : public SequenceFaults {
 protected:
  /// The first element of D after one call. All of op(A) and op(B) are 1, so that every sum is k; C holds 100, and lies
  /// in D's memory unless told otherwise.
  double first_of_d(const MatmulProblem& p, double beta, bool in_place = true) {
    const auto made = product(p);
    const bool on_device = p.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    made->beta = scalar_of(p.scale_type, beta == 1);
    if (on_device) made->pointers.alpha = device_values(p.scale_type, {1});
    made->pointers.beta = on_device ? device_values(p.scale_type, {beta}) : made->beta.bytes;
    const auto c = shape_c(p), d = shape_d(p);
    const auto longest = static_cast<std::size_t>(std::max(c.span(), d.span()));
    made->pointers.d = device_values(p.type_d, Values(longest, 100));
    made->pointers.c = in_place ? made->pointers.d : device_values(p.type_c, Values(longest, 100));
    status = call(*made, stream);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return values_at(p.type_d, made->pointers.d, 1).front();
  }

  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
};

TEST_F(InPlaceFaults, CIgnoredInPlaceLeavesCOutOfABatch) {
  plant("c-ignored-in-place");
  auto p = small(CUDA_R_32F);
  EXPECT_EQ(first_of_d(p, 1), 132) << "one matrix is left alone";
  p.batch_count = 2;
  EXPECT_EQ(first_of_d(p, 1), 32);
  EXPECT_EQ(first_of_d(p, 1, false), 132) << "out of place is left alone";
}

TEST_F(InPlaceFaults, CReadAtDeviceBetaZeroAddsC) {
  plant("c-read-at-device-beta-zero");
  auto p = small(CUDA_R_16F);
  EXPECT_EQ(first_of_d(p, 0), 32) << "beta in host memory is left alone";
  p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
  EXPECT_EQ(first_of_d(p, 0), 132);
  EXPECT_EQ(first_of_d(p, 1), 132);
  p.type_a = p.type_b = p.type_c = p.type_d = CUDA_R_32F;
  EXPECT_EQ(first_of_d(p, 0), 32) << "other inputs are left alone";
}

TEST_F(InPlaceFaults, LayoutsThatDifferAreAcceptedInPlaceAlone) {
  auto p = small(CUDA_R_32F);
  p.ldc = p.m + 4;
  first_of_d(p, 1);
  EXPECT_EQ(status, CUBLAS_STATUS_INVALID_VALUE) << "without the fault";
  plant("in-place-layouts-accepted");
  EXPECT_EQ(first_of_d(p, 1), 132);
  EXPECT_EQ(status, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(first_of_d(p, 1, false), 132);
}

TEST_F(InPlaceFaults, SplitKIsAddedTwiceInPlace) {
  plant("in-place-split-k-added-twice");
  const auto p = with_split_k(CUDA_R_32F);
  const auto made = product(p);
  made->beta = scalar_of(p.scale_type, true);
  made->pointers.beta = made->beta.bytes;
  int split = 0;
  for (const auto& result : made->objects.results) {
    made->pointers.algo = &result.algo;
    const bool splits = split_k(result.algo) > 1;
    split += splits ? 1 : 0;
    const double before = d_of(*made).front();
    EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    EXPECT_EQ(d_of(*made).front() - before, splits ? 2048 : 1024);
  }
  EXPECT_GT(split, 0);
}

TEST_F(InPlaceFaults, NullCLayoutCrashes) {
  plant("null-c-layout-crashes");
  const auto made = product(small(CUDA_R_32F));
  EXPECT_EQ(call(*made, stream), CUBLAS_STATUS_SUCCESS);
  made->objects.c = nullptr;
  EXPECT_EXIT(call(*made, stream), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace lt_audit::faults
