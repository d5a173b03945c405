#include "batched_call.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "batched_cases.h"
#include "lt_audit/error.h"

namespace lt_audit::batched {
namespace {

/// A scalar as cublasLtMatmul takes it from the host.
struct HostScalar {
  alignas(16) std::array<std::byte, 16> bytes{};

  HostScalar(double value, cudaDataType_t type) {
    if (type == CUDA_R_64F || type == CUDA_C_64F) {
      store(value);
    } else if (type == CUDA_R_32I) {
      store(static_cast<std::int32_t>(value));
    } else if (type == CUDA_R_16F) {
      // Only 0 and 1 are used where the scale type is FP16.
      store(static_cast<std::uint16_t>(value == 0 ? 0 : 0x3C00));
    } else {
      store(static_cast<float>(value));
    }
  }

 private:
  template <class Value>
  void store(Value value) {
    std::memcpy(bytes.data(), &value, sizeof value);
  }
};

/// Whether the algorithm says that it supports the batch mode of the call.
void read_capability(const LtApi& lt, const cublasLtMatmulAlgo_t& algo, bool pointer_arrays, Observation& observation) {
  if (!lt.matmul_algo_cap_get_attribute) return;
  std::int32_t supported = -1;
  std::size_t written = 0;
  const auto attribute =
      pointer_arrays ? CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT : CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT;
  const auto status = lt.matmul_algo_cap_get_attribute(&algo, attribute, &supported, sizeof supported, &written);
  if (status == CUBLAS_STATUS_SUCCESS) observation.facts[kCapability] = fmt::format("{}", supported);
}

}  // namespace

OwnCall::OwnCall(Session& session, PreparedMatmul& matmul) : session_(session), matmul_(matmul) {
  const auto& p = matmul.problem();
  const auto& at = matmul.pointers();
  operands_ = {Operand{shape_a(p), at.a}, Operand{shape_b(p), at.b}, Operand{shape_c(p), at.c},
               Operand{shape_d(p), at.d}};
}

bool OwnCall::make_layouts(Observation& observation) {
  const auto& lt = session_.platform().lt;
  const auto went = [&](const char* stage, const char* call, cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS || record(observation, stage, call, status);
  };
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const auto& shape = operands_[i].shape;
    cublasLtMatrixLayout_t object = nullptr;
    const auto created = lt.matrix_layout_create(&object, shape.type, static_cast<std::uint64_t>(shape.rows),
                                                 static_cast<std::uint64_t>(shape.cols), shape.ld);
    if (!went("create", "cublasLtMatrixLayoutCreate", created)) return false;
    layouts_[i] = MatrixLayout(lt, object);
    const auto& layout = layouts_[i];
    const auto set = [&](cublasStatus_t status) {
      return went("set_attribute", "cublasLtMatrixLayoutSetAttribute", status);
    };
    if (!set(layout.set<CUBLASLT_MATRIX_LAYOUT_ORDER>(static_cast<std::int32_t>(shape.order))) ||
        !set(layout.set<CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT>(shape.batch_count))) {
      return false;
    }
    if (!operands_[i].pointer_array) {
      if (!set(layout.set<CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET>(shape.batch_stride))) return false;
      continue;
    }
    const auto mode = static_cast<std::uint32_t>(CUBLASLT_BATCH_MODE_POINTER_ARRAY);
    if (!set(lt.matrix_layout_set_attribute(object, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode))) {
      return false;
    }
  }
  return true;
}

bool OwnCall::run(Observation& observation) {
  const auto& platform = session_.platform();
  const auto& p = matmul_.problem();
  if (!described_ && !matmul_.describe(observation)) return false;
  described_ = true;
  if (!make_layouts(observation)) return false;
  cublasLtMatmulHeuristicResult_t result{};
  int returned = 0;
  const auto offered = platform.lt.matmul_algo_get_heuristic(session_.handle(), matmul_.desc(), layouts_[0].get(),
                                                             layouts_[1].get(), layouts_[2].get(), layouts_[3].get(),
                                                             matmul_.preference(), 1, &result, &returned);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", offered);
  if (offered != CUBLAS_STATUS_SUCCESS || returned == 0) return false;
  observation.heuristic.push_back(matmul_.read(result));
  if (result.state != CUBLAS_STATUS_SUCCESS) return false;
  read_capability(platform.lt, result.algo, operands_[3].pointer_array, observation);

  const HostScalar alpha(p.alpha, p.scale_type), beta(p.beta, p.scale_type);
  const auto status =
      platform.lt.matmul(session_.handle(), matmul_.desc(), alpha.bytes.data(), operands_[0].pointer, layouts_[0].get(),
                         operands_[1].pointer, layouts_[1].get(), beta.bytes.data(), operands_[2].pointer,
                         layouts_[2].get(), operands_[3].pointer, layouts_[3].get(), &result.algo,
                         matmul_.pointers().workspace, static_cast<std::size_t>(p.workspace_bytes), matmul_.stream());
  const bool accepted = record(observation, "matmul", "cublasLtMatmul", status);
  const auto error = platform.cuda.stream_synchronize(matmul_.stream());
  if (record(observation, "synchronize", "cudaStreamSynchronize", error)) return accepted;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = name_of(error);
  return false;
}

std::size_t bytes_of_one(const MatrixShape& shape) {
  MatrixShape one = shape;
  one.batch_count = 1;
  return static_cast<std::size_t>(one.span()) * bytes_of(shape.type);
}

void* matrix_at(void* first, const MatrixShape& shape, std::int64_t batch) {
  return static_cast<std::byte*>(first) + batch * shape.batch_stride * static_cast<std::int64_t>(bytes_of(shape.type));
}

DeviceMemory allocate(Session& session, std::size_t bytes) {
  const auto& cuda = session.platform().cuda;
  void* memory = nullptr;
  if (cuda.malloc(&memory, bytes) == cudaSuccess) return {cuda, memory};
  static_cast<void>(cuda.get_last_error());
  std::size_t free_bytes = 0, total_bytes = 0;
  require(cuda.mem_get_info(&free_bytes, &total_bytes), "cudaMemGetInfo");
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  throw NotRun(fmt::format("needs {:.1f} GiB of GPU memory, {:.1f} GiB are free", static_cast<double>(bytes) / kGiB,
                           static_cast<double>(free_bytes) / kGiB));
}

std::vector<std::byte> fetch(Session& session, const void* from, std::size_t bytes, cudaStream_t stream) {
  const auto& cuda = session.platform().cuda;
  std::vector<std::byte> memory(bytes);
  require(cuda.memcpy_async(memory.data(), from, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
  return memory;
}

void set_defect(Observation& observation, const char* defect, std::string detail) {
  if (observation.facts.emplace(kDefect, defect).second) observation.facts[kDefectDetail] = std::move(detail);
}

}  // namespace lt_audit::batched
