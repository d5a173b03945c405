// What is audited: device, driver and libraries, as plain facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lt_audit {

enum class PlatformKind { gpu, simulator };

/// Facts of one device.
struct DeviceFacts {
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::string uuid;
  std::string pci_bus_id;

  /// 90 for sm_90.
  int compute_capability() const { return compute_major * 10 + compute_minor; }
};

/// One loaded library.
struct LibraryFacts {
  int major = 0;
  int minor = 0;
  int patch = 0;
  /// What the library itself reports as one number (cublasLtGetVersion): 130100 for 13.1.0; 0 if unknown.
  std::uint64_t version_number = 0;
  /// Absolute path with links resolved; empty for the simulator.
  std::string path;
  /// GNU build id in hex; empty if the file has none.
  std::string build_id;

  /// "13.1.0"; empty when the library was not loaded.
  std::string version() const;
  /// 130100 for 13.1.0, for comparisons.
  int number() const { return major * 10000 + minor * 100 + patch; }
  bool loaded() const { return major != 0; }
};

/// Everything that a check may ask about where it runs.
struct Target {
  PlatformKind kind = PlatformKind::gpu;
  int device = 0;
  int device_count = 0;
  DeviceFacts device_facts;
  LibraryFacts cublaslt;
  LibraryFacts cublas;
  /// 13000 for CUDA 13.0, as cudaDriverGetVersion and cudaRuntimeGetVersion report.
  int driver_version = 0;
  int runtime_version = 0;
  /// The driver's own version text, "580.159.04"; empty if unknown.
  std::string driver_text;
};

}  // namespace lt_audit
