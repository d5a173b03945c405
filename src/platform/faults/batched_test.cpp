// The faults of batches over the simulator: what each makes of a batch that it is for, and that a neighbour of that
// batch stays as it is.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "platform/faults/sequence_test_tools.h"

namespace lt_audit::faults {
namespace {

using Values = std::vector<double>;

class BatchedFaults : public SequenceFaults {
 protected:
  /// 1 x 1 x 1 products: A has `a`, B ones, D is asked for `count` values. The heuristic is asked with the layouts as
  /// they are.
  Values run(MatmulProblem p, const Values& a, std::size_t count) {
    p.workspace_bytes = 0;
    Product made(lt, p);
    if (change_layouts) change_layouts(made);
    const auto one = scalar_of(p.scale_type, true), zero = scalar_of(p.scale_type, false);
    made.pointers = {one.bytes, device_values(p.type_a, a), device_values(p.type_b, Values(ones, 1)), zero.bytes};
    made.pointers.d = device_values(p.type_d, Values(count, 0));
    made.pointers.c = made.pointers.d;
    if (as_arrays) set_arrays(made);
    void* const d = made.pointers.d;
    if (as_arrays) made.pointers.d = array_of(d, count, bytes_of(p.type_d));
    if (as_arrays) made.pointers.c = made.pointers.d;
    if (made.objects.heuristic(handle) != CUBLAS_STATUS_SUCCESS) return {};
    made.pointers.algo = &made.objects.results.front().algo;
    EXPECT_EQ(call(made, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_synchronize(stream), cudaSuccess);
    return values_at(p.type_d, d, count);
  }

  void* array_of(void* first, std::size_t count, std::size_t step) {
    auto* const array = static_cast<void**>(device_bytes(count * sizeof(void*)));
    for (std::size_t i = 0; i < count; ++i) array[i] = static_cast<std::byte*>(first) + i * step;
    return static_cast<void*>(array);
  }
  void set_arrays(Product& made) {
    const auto& p = made.problem;
    const auto count = static_cast<std::size_t>(p.batch_count);
    for (auto* layout : {made.objects.a, made.objects.b, made.objects.c, made.objects.d}) {
      EXPECT_EQ(made.objects.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE,
                                        static_cast<std::uint32_t>(CUBLASLT_BATCH_MODE_POINTER_ARRAY)),
                CUBLAS_STATUS_SUCCESS);
    }
    made.pointers.a = array_of(const_cast<void*>(made.pointers.a), count, bytes_of(p.type_a));
    made.pointers.b = array_of(const_cast<void*>(made.pointers.b), count, bytes_of(p.type_b));
  }

  static MatmulProblem batch(cudaDataType_t type, std::int32_t count) {
    auto p = uniform_problem(type, 1, 1, 1);
    p.batch_count = count;
    return p;
  }

  std::size_t ones = 4;
  bool as_arrays = false;
  void (*change_layouts)(Product&) = nullptr;
};

TEST_F(BatchedFaults, IndexOf16BitsStartsAgain) {
  plant("batch-index-of-16-bits");
  ones = 65537;
  Values a(65537, 2);
  a.front() = 3;
  auto d = run(batch(CUDA_R_32F, 65537), a, 65537);
  EXPECT_EQ(d.front(), 3);
  EXPECT_EQ(d[65535], 2);
  EXPECT_EQ(d[65536], 3) << "number 0 again";
  d = run(batch(CUDA_R_32F, 65536), a, 65536);
  EXPECT_EQ(d.back(), 2) << "as many as it counts";
}

TEST_F(BatchedFaults, StrideOf32BitsIsCut) {
  plant("batch-stride-of-32-bits");
  auto p = batch(CUDA_R_32F, 2);
  EXPECT_EQ(run(p, {1, 2}, 2), (Values{1, 2}));
  // 2^32 + 1 elements would not fit: only what is cut is looked at.
  p.stride_a = (std::int64_t{1} << 32) + 1;
  EXPECT_EQ(run(p, {1, 2}, 2), (Values{1, 2}));
}

TEST_F(BatchedFaults, LastPointerForAll) {
  plant("last-pointer-for-all");
  EXPECT_EQ(run(batch(CUDA_R_32F, 3), {1, 2, 3}, 3), (Values{1, 2, 3})) << "no arrays";
  as_arrays = true;
  EXPECT_EQ(run(batch(CUDA_R_32F, 3), {1, 2, 3}, 3), (Values{3, 3, 3}));
}

TEST_F(BatchedFaults, MembersBelow16BytesAreRounded) {
  plant("pointer-members-rounded");
  as_arrays = true;
  EXPECT_EQ(run(batch(CUDA_R_32F, 3), {1, 2, 3}, 3), (Values{1, 1, 1}));
  as_arrays = false;
  EXPECT_EQ(run(batch(CUDA_R_32F, 3), {1, 2, 3}, 3), (Values{1, 2, 3}));
}

TEST_F(BatchedFaults, SharedMatrixIsReadAsPacked) {
  plant("shared-matrix-read-as-packed");
  auto p = batch(CUDA_R_16F, 3);
  p.stride_a = 0;
  EXPECT_EQ(run(p, {1, 2, 3}, 3), (Values{1, 2, 3}));
  p = batch(CUDA_R_32F, 3);
  p.stride_a = 0;
  EXPECT_EQ(run(p, {1, 2, 3}, 3), (Values{1, 1, 1})) << "FP32 is left alone";
}

TEST_F(BatchedFaults, UnequalCountsBecomeThatOfD) {
  change_layouts = [](Product& made) {
    const std::int32_t one = 1;
    EXPECT_EQ(made.objects.set_layout(made.objects.a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, one), CUBLAS_STATUS_SUCCESS);
  };
  EXPECT_EQ(run(batch(CUDA_R_32F, 3), {1, 2, 3}, 3), Values{}) << "refused without the fault";
  plant("unequal-counts-as-of-d");
  EXPECT_EQ(run(batch(CUDA_R_32F, 3), {1, 2, 3}, 3), (Values{1, 2, 3}));
}

}  // namespace
}  // namespace lt_audit::faults
