// What the simulated cuBLASLt and cuBLAS share: handles, host objects and the logger.
#pragma once

#include <memory>
#include <string>

#include "lt_audit/contract.h"
#include "platform/simulator/lt_objects.h"
#include "platform/simulator/runtime.h"

namespace lt_audit::simulator {

/// The library's own logger: a callback and a level that includes the lower ones (1 Error .. 5 Api).
class Logger {
 public:
  enum Level { error = 1, trace = 2, hint = 3, info = 4, api = 5 };

  void set_callback(cublasLtLoggerCallback_t callback) { callback_ = callback; }
  void set_level(int level) { level_ = level; }
  /// Texts are costly to make: ask first.
  bool wants(Level level) const { return callback_ != nullptr && level <= level_; }
  void log(Level level, const char* function, const std::string& text) const {
    if (wants(level)) callback_(level, function, text.c_str());
  }

 private:
  cublasLtLoggerCallback_t callback_ = nullptr;
  int level_ = 0;
};

/// A cuBLASLt handle is bound to the device that was current at its creation (measured on two H200: elsewhere matmul
/// answers EXECUTION_FAILED), not to a context (cuBLAS documentation, cublasLtHandle_t).
struct LtHandleState {
  int device = 0;
};

/// A cuBLAS handle belongs to a context and carries a stream (cuBLAS documentation, "cuBLAS Context"); the modes of a
/// new one are those of cuBLAS documentation 13.2, cublasSetPointerMode and cublasSetMathMode.
struct BlasHandleState {
  Context* context = nullptr;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

struct Library {
  Library(std::shared_ptr<World> shared_world, bool no_tf32) : world(std::move(shared_world)), tf32_is_off(no_tf32) {}

  std::shared_ptr<World> world;
  /// NVIDIA_TF32_OVERRIDE=0; read once, as the real library does.
  bool tf32_is_off = false;
  Logger logger;
  HandleTable<cublasLtHandle_t, LtHandleState> lt_handles{0x100000};
  HandleTable<cublasHandle_t, BlasHandleState> blas_handles{0x10000000};
  HandleTable<cublasLtMatmulDesc_t, Attributes> descs{0x20000000};
  HandleTable<cublasLtMatrixLayout_t, Attributes> layouts{0x30000000};
  HandleTable<cublasLtMatmulPreference_t, Attributes> preferences{0x40000000};

  int number() const { return world->machine.options().library_number; }
  ContractScope scope() const { return {world->machine.options().compute_capability, number()}; }
};

constexpr int kMultiprocessors = 132;

LtApi make_lt_api(const std::shared_ptr<Library>& library);
BlasApi make_blas_api(const std::shared_ptr<Library>& library);

/// MAJOR_VERSION, MINOR_VERSION or PATCH_LEVEL of a number like 130100.
cublasStatus_t library_property(int library_number, libraryPropertyType property, int* value);

}  // namespace lt_audit::simulator
