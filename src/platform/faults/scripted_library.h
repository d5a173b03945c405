// A tiny cuBLASLt for tests of decorators: descriptors and layouts keep their attributes, device memory is host memory,
// and matmul records what it was asked and fills D with one byte. No arithmetic, no rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "platform/faults/fault.h"

namespace lt_audit::faults {

/// What one matmul or heuristic query looked like to the library.
struct Seen {
  CallFacts facts;
  MatmulCall call;
  double alpha = 0;
  double beta = 0;
};

inline double scalar_value(cudaDataType_t type, const void* scalar) {
  const auto read = [scalar](auto value) {
    std::memcpy(&value, scalar, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case CUDA_R_64F:
      return read(double{});
    case CUDA_R_32I:
      return read(std::int32_t{});
    case CUDA_R_16F:
      // The tests use 0 and 1 only.
      return read(std::uint16_t{}) == 0 ? 0.0 : read(std::uint16_t{}) == 0x3C00 ? 1.0 : -1.0;
    default:
      return static_cast<double>(read(float{}));
  }
}

class ScriptedLibrary {
 public:
  static constexpr int kWritten = 0x11;

  cublasStatus_t heuristic_status = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t matmul_status = CUBLAS_STATUS_SUCCESS;
  std::vector<Seen> matmuls;
  std::vector<CallFacts> heuristics;
  std::vector<CallFacts> algo_checks;
  int allocations = 0;

  /// Refers to this object.
  Platform platform() {
    Platform made;
    made.kind = PlatformKind::simulator;
    fill_cuda(made.cuda);
    fill_objects(made.lt);
    fill_calls(made.lt);
    made.kernels.prepare = [](const PrepareSpec&, cudaStream_t) { return cudaSuccess; };
    return made;
  }

 private:
  using Attributes = std::map<int, std::vector<std::byte>>;

  template <class Value>
  static void put(Attributes& attributes, int attribute, Value value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    attributes[attribute] = bytes;
  }
  template <class Handle>
  Handle add(Attributes attributes) {
    objects_.push_back(std::make_unique<Attributes>(std::move(attributes)));
    return reinterpret_cast<Handle>(objects_.back().get());
  }
  template <class Handle>
  static cublasStatus_t set(Handle handle, int attribute, const void* value, std::size_t bytes) {
    auto& stored = (*reinterpret_cast<Attributes*>(handle))[attribute];
    stored.assign(static_cast<const std::byte*>(value), static_cast<const std::byte*>(value) + bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  template <class Handle>
  static cublasStatus_t get(Handle handle, int attribute, void* value, std::size_t bytes, std::size_t* written) {
    const auto& attributes = *reinterpret_cast<Attributes*>(handle);
    const auto found = attributes.find(attribute);
    if (found == attributes.end() || found->second.size() != bytes) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(value, found->second.data(), bytes);
    if (written != nullptr) *written = bytes;
    return CUBLAS_STATUS_SUCCESS;
  }

  void fill_cuda(CudaApi& cuda) {
    cuda.malloc = [this](void** pointer, std::size_t bytes) {
      ++allocations;
      blocks_.push_back(std::make_unique<std::byte[]>(bytes));
      *pointer = blocks_.back().get();
      return cudaSuccess;
    };
    cuda.free = [](void*) { return cudaSuccess; };
    cuda.memset_async = [](void* begin, int value, std::size_t bytes, cudaStream_t) {
      std::memset(begin, value, bytes);
      return cudaSuccess;
    };
    cuda.memcpy_async = [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
      std::memcpy(to, from, bytes);
      return cudaSuccess;
    };
    cuda.stream_is_capturing = [](cudaStream_t, cudaStreamCaptureStatus* status) {
      *status = cudaStreamCaptureStatusNone;
      return cudaSuccess;
    };
    cuda.stream_synchronize = [](cudaStream_t) { return cudaSuccess; };
  }

  void fill_objects(LtApi& lt) {
    lt.matmul_desc_create = [this](cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
      Attributes attributes;
      put(attributes, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, static_cast<std::int32_t>(compute));
      put(attributes, CUBLASLT_MATMUL_DESC_SCALE_TYPE, static_cast<std::int32_t>(scale));
      put(attributes, CUBLASLT_MATMUL_DESC_POINTER_MODE, std::int32_t{CUBLASLT_POINTER_MODE_HOST});
      put(attributes, CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{CUBLAS_OP_N});
      put(attributes, CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{CUBLAS_OP_N});
      put(attributes, CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT});
      put(attributes, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(nullptr));
      *desc = add<cublasLtMatmulDesc_t>(std::move(attributes));
      return CUBLAS_STATUS_SUCCESS;
    };
    lt.matmul_desc_destroy = [](cublasLtMatmulDesc_t) { return CUBLAS_STATUS_SUCCESS; };
    lt.matmul_desc_set_attribute = &set<cublasLtMatmulDesc_t>;
    lt.matmul_desc_get_attribute = &get<cublasLtMatmulDesc_t>;
    lt.matrix_layout_create = [this](cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
                                     std::uint64_t cols, std::int64_t ld) {
      Attributes attributes;
      put(attributes, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(type));
      put(attributes, CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_COL});
      put(attributes, CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
      put(attributes, CUBLASLT_MATRIX_LAYOUT_COLS, cols);
      put(attributes, CUBLASLT_MATRIX_LAYOUT_LD, ld);
      put(attributes, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{1});
      put(attributes, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{0});
      put(attributes, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, std::int64_t{0});
      *layout = add<cublasLtMatrixLayout_t>(std::move(attributes));
      return CUBLAS_STATUS_SUCCESS;
    };
    lt.matrix_layout_destroy = [](cublasLtMatrixLayout_t) { return CUBLAS_STATUS_SUCCESS; };
    lt.matrix_layout_set_attribute = &set<cublasLtMatrixLayout_t>;
    lt.matrix_layout_get_attribute = &get<cublasLtMatrixLayout_t>;
    lt.matmul_preference_create = [this](cublasLtMatmulPreference_t* preference) {
      *preference = add<cublasLtMatmulPreference_t>({});
      return CUBLAS_STATUS_SUCCESS;
    };
    lt.matmul_preference_destroy = [](cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; };
    lt.matmul_preference_set_attribute = &set<cublasLtMatmulPreference_t>;
  }

  void fill_calls(LtApi& lt) {
    lt.get_version = [] { return std::size_t{130100}; };
    lt.matmul_algo_get_heuristic = [this, lt](cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t* results, int* returned) {
      heuristics.push_back(read_facts(lt, {desc, a, b, c, d}).value());
      *returned = heuristic_status == CUBLAS_STATUS_SUCCESS ? 1 : 0;
      if (*returned == 1) *results = {};
      return heuristic_status;
    };
    lt.matmul_algo_check = [this, lt](cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                      cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                      const cublasLtMatmulAlgo_t*, cublasLtMatmulHeuristicResult_t*) {
      algo_checks.push_back(read_facts(lt, {desc, a, b, c, d}).value());
      return CUBLAS_STATUS_SUCCESS;
    };
    lt.matmul = [this, lt](cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                           cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                           const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                           cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                           std::size_t workspace_bytes, cudaStream_t stream) {
      const Operands operands{desc, a_layout, b_layout, c_layout, d_layout};
      const CallFacts facts = read_facts(lt, operands).value();
      matmuls.push_back({facts,
                         {handle, operands, alpha, a, b, beta, c, d, algo, workspace, workspace_bytes, stream},
                         scalar_value(facts.scale_type, alpha),
                         scalar_value(facts.scale_type, beta)});
      if (matmul_status != CUBLAS_STATUS_SUCCESS) return matmul_status;
      const std::size_t element_bytes = bytes_of(facts.d.type);
      for (std::int64_t line = 0; line < line_count(facts.d); ++line) {
        std::memset(element(d, facts.d, line * facts.d.ld), kWritten,
                    static_cast<std::size_t>(line_length(facts.d)) * element_bytes);
      }
      return CUBLAS_STATUS_SUCCESS;
    };
  }

  std::vector<std::unique_ptr<Attributes>> objects_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

/// One problem run through a platform as an application would: heuristic, AlgoCheck, matmul. The buffers hold 0xEE,
/// which is neither what matmul writes nor what a fault writes.
class ScriptedRun {
 public:
  static constexpr std::size_t kBytes = 16384;
  static constexpr std::byte kOld{0xEE};
  struct Buffer {
    alignas(256) std::array<std::byte, kBytes> bytes;
    Buffer() { bytes.fill(kOld); }
    /// In the middle, so that there is room on both sides.
    std::byte* at(std::int64_t offset) { return bytes.data() + 4096 + offset; }
  };

  Buffer a, b, c, d, bias, workspace;
  cublasStatus_t heuristic = CUBLAS_STATUS_SUCCESS;
  int returned = -1;
  cublasStatus_t algo_check = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t matmul = CUBLAS_STATUS_SUCCESS;

  void run(const Platform& platform, const MatmulProblem& p) {
    const LtApi& lt = platform.lt;
    cublasLtMatmulDesc_t object = nullptr;
    lt.matmul_desc_create(&object, p.compute_type, p.scale_type);
    const MatmulDesc desc(lt, object);
    desc.set<CUBLASLT_MATMUL_DESC_TRANSA>(std::int32_t{p.transa});
    desc.set<CUBLASLT_MATMUL_DESC_TRANSB>(std::int32_t{p.transb});
    desc.set<CUBLASLT_MATMUL_DESC_EPILOGUE>(static_cast<std::uint32_t>(p.epilogue));
    if (has_bias(p.epilogue)) {
      desc.set<CUBLASLT_MATMUL_DESC_BIAS_POINTER>(static_cast<const void*>(bias.at(p.bias_offset)));
    }
    const MatrixLayout la = make_layout(lt, shape_a(p));
    const MatrixLayout lb = make_layout(lt, shape_b(p));
    const MatrixLayout lc = make_layout(lt, shape_c(p));
    const MatrixLayout ld = make_layout(lt, shape_d(p));
    cublasLtMatmulHeuristicResult_t result = {};
    heuristic = lt.matmul_algo_get_heuristic(nullptr, desc.get(), la.get(), lb.get(), lc.get(), ld.get(), nullptr, 8,
                                             &result, &returned);
    algo_check =
        lt.matmul_algo_check(nullptr, desc.get(), la.get(), lb.get(), lc.get(), ld.get(), &result.algo, &result);
    std::byte alpha[16] = {};
    std::byte beta[16] = {};
    store(alpha, p.scale_type, p.alpha);
    store(beta, p.scale_type, p.beta);
    matmul = lt.matmul(nullptr, desc.get(), alpha, a.at(p.a_offset), la.get(), b.at(p.b_offset), lb.get(), beta,
                       c.at(p.c_offset), lc.get(), d.at(p.d_offset), ld.get(), &result.algo,
                       workspace.at(p.workspace_offset), static_cast<std::size_t>(p.workspace_bytes), nullptr);
    std::size_t written = 0;
    lt.matmul_desc_get_attribute(object, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias_after, sizeof bias_after, &written);
    lt.matmul_desc_get_attribute(object, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &scale_after, sizeof scale_after, &written);
  }

  /// The descriptor's attributes after the calls.
  const void* bias_after = nullptr;
  std::int32_t scale_after = -1;

 private:
  static void store(std::byte* to, cudaDataType_t type, double value) {
    const auto put = [to](auto typed) { std::memcpy(to, &typed, sizeof typed); };
    if (type == CUDA_R_64F) {
      put(value);
    } else if (type == CUDA_R_32I) {
      put(static_cast<std::int32_t>(value));
    } else if (type == CUDA_R_16F) {
      put(static_cast<std::uint16_t>(value == 0 ? 0 : 0x3C00));
    } else {
      put(static_cast<float>(value));
    }
  }
};

}  // namespace lt_audit::faults
