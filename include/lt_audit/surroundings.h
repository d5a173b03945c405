// What surrounds a call and may change it without being an argument of it: modes of the device, variables and loaded
// files of the process.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lt_audit {

/// How a device is shared and protected.
struct DeviceModes {
  /// cudaComputeMode: 0 default, 2 prohibited, 3 exclusive process.
  int compute_mode = 0;
  /// Error correction of the memory is on. Off also where a device has none.
  bool ecc = false;
  /// The device is a part of a GPU (Multi-Instance GPU).
  bool mig = false;
  /// Contexts of this process share the device through a server (Multi-Process Service).
  bool mps = false;
};

/// What the process was started with and what it has loaded.
struct ProcessFacts {
  /// Variables that CUDA and its libraries read, as set: CUDA_*, CUBLAS*, NVIDIA_*, LD_LIBRARY_PATH, LD_PRELOAD.
  std::map<std::string, std::string> variables;
  /// Paths of the mapped files of libcublas, libcublasLt, libcudart and libcuda, sorted; a file that two namespaces of
  /// the dynamic linker hold is there twice.
  std::vector<std::string> libraries;
};

}  // namespace lt_audit
