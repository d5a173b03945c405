// What the simulator's tests share: a platform with one stream and handle, device memory with values, one matmul in a
// few lines.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "platform/platforms.h"
#include "platform/simulator/arithmetic.h"

namespace lt_audit::simulator {

/// A fixture on a fresh simulated machine.
class SimulatorTest : public ::testing::Test {
 protected:
  explicit SimulatorTest(const SimulatorOptions& options = {}) : platform(make_simulator_platform(options)) {
    EXPECT_EQ(lt.create(&handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cuda.stream_create_with_flags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }

  /// Device memory with these values converted to the type.
  void* device_values(cudaDataType_t type, const std::vector<double>& values) {
    std::byte* const memory = static_cast<std::byte*>(device_bytes(values.size() * bytes_of(type)));
    for (std::size_t i = 0; i < values.size(); ++i) store_value(type, memory + i * bytes_of(type), values[i]);
    return memory;
  }
  void* device_bytes(std::size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(cuda.malloc(&memory, bytes), cudaSuccess);
    return memory;
  }
  static std::vector<double> values_at(cudaDataType_t type, const void* memory, std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(load_value(type, static_cast<const std::byte*>(memory) + i * bytes_of(type)));
    }
    return values;
  }

  Platform platform;
  CudaApi& cuda = platform.cuda;
  LtApi& lt = platform.lt;
  cublasLtHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
};

/// Descriptor, layouts and preference of a problem, set as an application would.
class ProblemObjects {
 public:
  ProblemObjects(LtApi& lt, const MatmulProblem& p) : lt_(lt) {
    EXPECT_EQ(lt.matmul_desc_create(&desc, p.compute_type, p.scale_type), CUBLAS_STATUS_SUCCESS);
    set_desc(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(p.transa));
    set_desc(CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(p.transb));
    set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(p.epilogue));
    set_desc(CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<std::int32_t>(p.pointer_mode));
    a = layout(shape_a(p));
    b = layout(shape_b(p));
    c = layout(shape_c(p));
    d = layout(shape_d(p));
    EXPECT_EQ(lt.matmul_preference_create(&preference), CUBLAS_STATUS_SUCCESS);
    set_preference(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(p.workspace_bytes));
    set_preference(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.a_alignment);
    set_preference(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.b_alignment);
    set_preference(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.c_alignment);
    set_preference(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.d_alignment);
  }

  template <class Value>
  void set_desc(cublasLtMatmulDescAttributes_t attribute, Value value) {
    EXPECT_EQ(lt_.matmul_desc_set_attribute(desc, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  template <class Value>
  void set_preference(cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
    EXPECT_EQ(lt_.matmul_preference_set_attribute(preference, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }

  template <class Value>
  cublasStatus_t set_layout(cublasLtMatrixLayout_t which, cublasLtMatrixLayoutAttribute_t attribute, Value value) {
    return lt_.matrix_layout_set_attribute(which, attribute, &value, sizeof value);
  }

  cublasStatus_t heuristic(cublasLtHandle_t handle, int requested = 8) {
    results.assign(static_cast<std::size_t>(requested > 0 ? requested : 1), {});
    int returned = 0;
    const auto status =
        lt_.matmul_algo_get_heuristic(handle, desc, a, b, c, d, preference, requested, results.data(), &returned);
    results.resize(static_cast<std::size_t>(returned));
    return status;
  }

  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> results;

 private:
  cublasLtMatrixLayout_t layout(const MatrixShape& shape) {
    cublasLtMatrixLayout_t created = nullptr;
    EXPECT_EQ(lt_.matrix_layout_create(&created, shape.type, static_cast<std::uint64_t>(shape.rows),
                                       static_cast<std::uint64_t>(shape.cols), shape.ld),
              CUBLAS_STATUS_SUCCESS);
    const auto order = static_cast<std::int32_t>(shape.order);
    EXPECT_EQ(lt_.matrix_layout_set_attribute(created, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(lt_.matrix_layout_set_attribute(created, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &shape.plane_offset, 8),
              CUBLAS_STATUS_SUCCESS);
    if (shape.batch_count != 1) {
      EXPECT_EQ(lt_.matrix_layout_set_attribute(created, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &shape.batch_count, 4),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(
          lt_.matrix_layout_set_attribute(created, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &shape.batch_stride, 8),
          CUBLAS_STATUS_SUCCESS);
    }
    return created;
  }

  LtApi& lt_;
};

/// The pointers of one matmul.
struct MatmulPointers {
  const void* alpha = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* beta = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  const cublasLtMatmulAlgo_t* algo = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

inline cublasStatus_t call_matmul(LtApi& lt, cublasLtHandle_t handle, const ProblemObjects& objects,
                                  const MatmulPointers& p, cudaStream_t stream) {
  return lt.matmul(handle, objects.desc, p.alpha, p.a, objects.a, p.b, objects.b, p.beta, p.c, objects.c, p.d,
                   objects.d, p.algo, p.workspace, p.workspace_bytes, stream);
}

}  // namespace lt_audit::simulator
