// How a platform comes to be: the real libraries, the simulator, and the decorators over either.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/platform.h"
#include "lt_audit/target.h"

namespace lt_audit {

/// Where to find the libraries; empty = by soname (13, 12, 11) and in the usual places.
struct LibraryPaths {
  std::string cublaslt;
  std::string cublas;
};

/// Loads the real libraries and binds the CUDA runtime. Throws AuditError (cannot_run) when no library or no usable GPU
/// is found; the message says what was looked for and where. cuBLAS is optional: without it `blas` is empty.
Platform make_gpu_platform(const LibraryPaths& paths);

/// A faultless library on simulated devices; see src/platform/simulator.
struct SimulatorOptions {
  int device_count = 2;
  int compute_capability = 90;
  /// cuBLASLt version that the simulator claims, 130100 = 13.1.0.
  int library_number = 130100;
  std::uint64_t memory_bytes = 8ULL << 30;
  /// As cudaDriverGetVersion reports it.
  int driver_version = 13000;
  DeviceModes modes{.ecc = true};
  /// Variables of the simulated process, in place of the real ones of the same name; an empty value takes one away.
  std::map<std::string, std::string> variables = {};
  /// Its loaded files, as ProcessFacts has them.
  std::vector<std::string> libraries = {};
};
Platform make_simulator_platform(const SimulatorOptions& options);

/// One plantable defect.
struct FaultInfo {
  std::string_view name;
  /// What it does, one sentence.
  std::string_view summary;
  /// The public defect that it is modelled on: "CUB-9577 (BR-75): missing pointer alignment checks before 13.3.0".
  std::string_view modelled_on;
};
/// All faults, sorted by name.
std::span<const FaultInfo> fault_list();
/// A copy of the platform with the fault planted. Throws AuditError (usage) with the nearest name if there is no such
/// fault.
Platform inject_fault(const Platform& platform, std::string_view name);

/// A copy of the platform that reports every API call, with arguments and status, as one line when it returns.
Platform trace_calls(const Platform& platform, std::function<void(const std::string&)> line);

/// Facts of the current device and the loaded libraries.
Target describe_target(const Platform& platform, int device);

}  // namespace lt_audit
