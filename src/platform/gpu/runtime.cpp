// The CUDA runtime and the audit's kernels as tables.
#include "platform/gpu/runtime.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "platform/gpu/kernels.h"

namespace lt_audit {
namespace {

/// A driver function in the form that it has had since this CUDA version (cudaTypedefs.h 13.0): 3020 gives cuCtxCreate
/// with three arguments on every driver, while later versions ask for affinity or parameters. Null without a driver.
template <class Function>
Function* driver_function(const char* symbol, unsigned version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion(symbol, &address, version, cudaEnableDefault, &result) != cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    return nullptr;
  }
  return reinterpret_cast<Function*>(address);
}

/// Calls a driver function. The codes of CUresult and cudaError_t agree in value (driver_types.h, cudaError).
template <class... Arguments>
cudaError_t call_driver(const char* symbol, unsigned version, Arguments... arguments) {
  auto* function = driver_function<int(Arguments...)>(symbol, version);
  return function == nullptr ? cudaErrorNotSupported : static_cast<cudaError_t>(function(arguments...));
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
  }
  return text;
}

cudaError_t get_device_facts(DeviceFacts* facts, int device) {
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  std::array<char, 32> bus_id{};
  if (const cudaError_t error = cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device);
      error != cudaSuccess) {
    return error;
  }
  facts->name = properties.name;
  facts->compute_major = properties.major;
  facts->compute_minor = properties.minor;
  facts->multiprocessors = properties.multiProcessorCount;
  facts->memory_bytes = properties.totalGlobalMem;
  facts->uuid = uuid_text(properties.uuid);
  facts->pci_bus_id = bus_id.data();
  return cudaSuccess;
}

cudaError_t get_device_modes(DeviceModes* modes, int device) {
  int value = 0;
  if (const cudaError_t error = cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, device); error != cudaSuccess) {
    return error;
  }
  modes->compute_mode = value;
  if (const cudaError_t error = cudaDeviceGetAttribute(&value, cudaDevAttrEccEnabled, device); error != cudaSuccess) {
    return error;
  }
  modes->ecc = value != 0;
  // A driver older than the attribute does not know it, and then nothing is known of MPS.
  if (cudaDeviceGetAttribute(&value, cudaDevAttrMpsEnabled, device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    value = 0;
  }
  modes->mps = value != 0;
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  // "NVIDIA H200 MIG 1g.18gb" (MIG User Guide, Device Enumeration).
  modes->mig = std::string_view(properties.name).find(" MIG ") != std::string_view::npos;
  return cudaSuccess;
}

void bind_contexts(CudaApi& api) {
  api.ctx_create = [](ContextHandle* context, int device) {
    return call_driver<ContextHandle*, unsigned, int>("cuCtxCreate", 3020, context, 0U, device);
  };
  api.ctx_destroy = [](ContextHandle context) { return call_driver<ContextHandle>("cuCtxDestroy", 4000, context); };
  api.ctx_set_current = [](ContextHandle context) {
    return call_driver<ContextHandle>("cuCtxSetCurrent", 4000, context);
  };
  api.ctx_get_current = [](ContextHandle* context) {
    return call_driver<ContextHandle*>("cuCtxGetCurrent", 4000, context);
  };
}

}  // namespace

CudaApi make_runtime_table() {
  CudaApi api;
  api.get_device_count = cudaGetDeviceCount;
  api.set_device = cudaSetDevice;
  api.get_device = cudaGetDevice;
  api.get_device_facts = get_device_facts;
  api.get_device_modes = get_device_modes;
  api.driver_get_version = cudaDriverGetVersion;
  api.runtime_get_version = cudaRuntimeGetVersion;
  api.device_synchronize = cudaDeviceSynchronize;
  api.device_reset = cudaDeviceReset;
  api.get_last_error = cudaGetLastError;
  api.peek_at_last_error = cudaPeekAtLastError;
  api.mem_get_info = cudaMemGetInfo;
  // The header overloads the next two for typed pointers.
  api.malloc = static_cast<cudaError_t (*)(void**, std::size_t)>(cudaMalloc);
  api.malloc_host = [](void** memory, std::size_t bytes) { return cudaMallocHost(memory, bytes); };
  api.free = cudaFree;
  api.free_host = cudaFreeHost;
  api.memcpy_async = cudaMemcpyAsync;
  api.memset_async = cudaMemsetAsync;
  api.stream_create_with_flags = cudaStreamCreateWithFlags;
  api.stream_create_with_priority = cudaStreamCreateWithPriority;
  api.device_get_stream_priority_range = cudaDeviceGetStreamPriorityRange;
  api.stream_destroy = cudaStreamDestroy;
  api.stream_synchronize = cudaStreamSynchronize;
  api.stream_wait_event = [](cudaStream_t stream, cudaEvent_t event) { return cudaStreamWaitEvent(stream, event, 0); };
  api.event_create = [](cudaEvent_t* event) { return cudaEventCreate(event); };
  api.event_destroy = cudaEventDestroy;
  api.event_record = [](cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); };
  api.event_synchronize = cudaEventSynchronize;
  api.event_elapsed_time = cudaEventElapsedTime;
  api.stream_begin_capture = cudaStreamBeginCapture;
  api.stream_end_capture = cudaStreamEndCapture;
  api.stream_is_capturing = cudaStreamIsCapturing;
  api.graph_get_node_count = [](cudaGraph_t graph, std::size_t* count) {
    return cudaGraphGetNodes(graph, nullptr, count);
  };
  api.graph_instantiate = [](cudaGraphExec_t* exec, cudaGraph_t graph) {
    return cudaGraphInstantiate(exec, graph, 0ULL);
  };
  api.graph_launch = cudaGraphLaunch;
  api.graph_exec_update = [](cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult* result) {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    *result = info.result;
    return error;
  };
  api.graph_destroy = cudaGraphDestroy;
  api.graph_exec_destroy = cudaGraphExecDestroy;
  bind_contexts(api);
  return api;
}

KernelApi make_gpu_kernel_table() {
  KernelApi api;
  api.prepare = prepare_on_gpu;
  api.inspect = inspect_on_gpu;
  api.compare = compare_on_gpu;
  api.freivalds = freivalds_on_gpu;
  api.occupy = occupy_on_gpu;
  api.copy_late = copy_late_on_gpu;
  return api;
}

}  // namespace lt_audit
