// Facts of device, driver and libraries, as the report and the checks see them.
#include <dlfcn.h>

#include <array>
#include <fstream>
#include <regex>
#include <string>

#include "lt_audit/error.h"
#include "platform/platforms.h"

namespace lt_audit {
namespace {

/// The version from NVML, which is there wherever nvidia-smi works, containers included; empty without it.
std::string driver_text_from_nvml() {
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) return {};
  const auto init = reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlInit_v2"));
  const auto version = reinterpret_cast<int (*)(char*, unsigned)>(dlsym(nvml, "nvmlSystemGetDriverVersion"));
  const auto shutdown = reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlShutdown"));
  std::array<char, 81> text{};
  if (init != nullptr && version != nullptr && shutdown != nullptr && init() == 0) {
    if (version(text.data(), static_cast<unsigned>(text.size() - 1)) != 0) text[0] = '\0';
    shutdown();
  }
  dlclose(nvml);
  return text.data();
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ..."
std::string driver_text() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::smatch match;
  static const std::regex pattern(R"(\s(\d+\.\d+(\.\d+)?)\s)");
  if (std::getline(file, line) && std::regex_search(line, match, pattern)) return match[1].str();
  return driver_text_from_nvml();
}

}  // namespace

Target describe_target(const Platform& platform, int device) {
  Target target;
  target.kind = platform.kind;
  target.device = device;
  require(platform.cuda.get_device_count(&target.device_count), "cudaGetDeviceCount");
  require(platform.cuda.get_device_facts(&target.device_facts, device), "cudaGetDeviceProperties");
  target.cublaslt = platform.cublaslt;
  target.cublas = platform.cublas;
  if (platform.kind == PlatformKind::gpu) {
    require(platform.cuda.driver_get_version(&target.driver_version), "cudaDriverGetVersion");
    require(platform.cuda.runtime_get_version(&target.runtime_version), "cudaRuntimeGetVersion");
    target.driver_text = driver_text();
  }
  return target;
}

}  // namespace lt_audit
