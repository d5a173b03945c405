// The real libraries on a real GPU as a platform.
#include <fmt/format.h>

#include "lt_audit/error.h"
#include "platform/gpu/library.h"
#include "platform/gpu/runtime.h"
#include "platform/platforms.h"
#include "platform/process_facts.h"

namespace lt_audit {
namespace {

/// Throws with the reason in the user's words when no GPU can be used.
void require_a_gpu(const CudaApi& cuda) {
  int count = 0;
  const cudaError_t error = cuda.get_device_count(&count);
  if (error == cudaSuccess && count > 0) return;
  int driver = 0;
  if (cuda.driver_get_version(&driver) != cudaSuccess) driver = 0;
  static_cast<void>(cuda.get_last_error());
  if (driver == 0) {
    throw AuditError(
        ErrorKind::cannot_run,
        "no NVIDIA driver: libcuda.so.1 was not found or does not load; install the driver (in a container: "
        "run it with --gpus all), or use --target simulator");
  }
  if (error == cudaErrorInsufficientDriver) {
    throw AuditError(
        ErrorKind::cannot_run,
        fmt::format("the NVIDIA driver is too old: it supports CUDA {}.{}, this program needs {}.{}; update the "
                    "driver, or use --target simulator",
                    driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  }
  const std::string reason = error == cudaSuccess ? "cudaGetDeviceCount counts 0"
                                                  : fmt::format("cudaGetDeviceCount returns {} ({})", name_of(error),
                                                                cudaGetErrorString(error));
  throw AuditError(
      ErrorKind::cannot_run,
      fmt::format("no usable GPU: {}; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --target simulator", reason));
}

}  // namespace

Platform make_gpu_platform(const LibraryPaths& paths) {
  Platform platform;
  platform.kind = PlatformKind::gpu;
  platform.cuda = make_runtime_table();
  require_a_gpu(platform.cuda);
  const SharedLibrary lt = load_cublaslt(paths.cublaslt);
  platform.lt = bind_cublaslt(lt);
  platform.cublaslt = facts_of(platform.lt, lt);
  const SharedLibrary blas = load_cublas(paths.cublas, lt, platform.cublaslt.major);
  if (blas.handle != nullptr) {
    platform.blas = bind_cublas(blas);
    platform.cublas = facts_of(platform.blas, blas);
  }
  platform.kernels = make_gpu_kernel_table();
  platform.process_facts = [] { return ProcessFacts{variables_of_cuda(), cuda_libraries()}; };
  return platform;
}

}  // namespace lt_audit
