// Faults that depend on what surrounds a call: libraries, driver, variables of the process, free memory.
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"
#include "platform/faults/sequence.h"

namespace lt_audit::faults {
namespace {

/// Nothing that needs memory of its own goes on below this.
constexpr std::size_t kNearlyFull = 64U << 20;

bool is_nearly_full(const CudaApi& cuda) {
  std::size_t free_now = 0;
  std::size_t total = 0;
  return cuda.mem_get_info(&free_now, &total) == cudaSuccess && free_now < kNearlyFull;
}

/// The variable as this process has it when the fault is planted; empty when it is not set.
std::string variable_of(const Platform& platform, const char* name) {
  if (!platform.process_facts) return {};
  const auto variables = platform.process_facts().variables;
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

/// The call under another compute type, with an algorithm for it; as it is where the library takes neither.
cublasStatus_t send_under(const Platform& real, const MatmulCall& call, cublasComputeType_t compute_type) {
  {
    const BorrowedAttribute<std::int32_t> borrowed(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
                                                   static_cast<std::int32_t>(compute_type));
    if (send_with_own_algorithm(real, call) == CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_SUCCESS;
  }
  return send(real, call);
}

}  // namespace

void plant_driver_too_old(Platform& platform) {
  const int version = (platform.cublaslt.major - 1) * 1000 + 40;
  platform.cuda.driver_get_version = [version](int* driver) {
    if (driver == nullptr) return cudaErrorInvalidValue;
    *driver = version;
    return cudaSuccess;
  };
}

void plant_library_loaded_twice(Platform& platform) {
  platform.process_facts = [real = platform.process_facts] {
    ProcessFacts facts = real ? real() : ProcessFacts();
    for (const auto* path : {"/opt/another/lib/libcublasLt.so.12", "/usr/lib/libcublasLt.so.13"}) {
      facts.libraries.emplace_back(path);
    }
    return facts;
  };
}

void plant_mixed_libraries(Platform& platform) {
  in_front_of(platform.blas.get_property, [](const auto& real, libraryPropertyType property, int* value) {
    const cublasStatus_t status = real(property, value);
    if (status == CUBLAS_STATUS_SUCCESS && property == MINOR_VERSION) ++*value;
    return status;
  });
}

void plant_handle_lost_to_full_memory(Platform& platform) {
  const auto lost = std::make_shared<std::atomic<bool>>(false);
  in_front_of(platform.lt.create, [lost, cuda = platform.cuda](const auto& real, cublasLtHandle_t* handle) {
    if (is_nearly_full(cuda)) *lost = true;
    return *lost ? CUBLAS_STATUS_NOT_INITIALIZED : real(handle);
  });
}

void plant_wrong_when_memory_is_full(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    if (status == CUBLAS_STATUS_SUCCESS && is_nearly_full(real.cuda)) spoil_middle_element(real, facts, call);
    return status;
  });
}

void plant_tf32_always(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool plain = facts.compute_type == CUBLAS_COMPUTE_32F && facts.inputs_are(CUDA_R_32F);
    return plain ? send_under(real, call, CUBLAS_COMPUTE_32F_FAST_TF32) : send(real, call);
  });
}

void plant_tf32_override_ignored(Platform& platform) {
  if (variable_of(platform, "NVIDIA_TF32_OVERRIDE") != "0") return;
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    // The library underneath obeys the variable; a type that it does not concern loses bits as well.
    const bool fast = facts.compute_type == CUBLAS_COMPUTE_32F_FAST_TF32 && facts.inputs_are(CUDA_R_32F);
    return fast ? send_under(real, call, CUBLAS_COMPUTE_32F_FAST_16BF) : send(real, call);
  });
}

}  // namespace lt_audit::faults
