// The texts of the library's logger, in the shape of cuBLASLt 13.1.0: key=value pairs, objects in brackets, defaults
// left out.
#pragma once

#include <string>

#include "platform/simulator/lt_algorithms.h"
#include "platform/simulator/lt_objects.h"
#include "platform/simulator/lt_problem.h"

namespace lt_audit::simulator {

/// "0X7F913CB80000"; "0X0" for null.
std::string address_text(const void* pointer);

/// "Adesc=[...] Bdesc=[...] Cdesc=[...] Ddesc=[...] preference=[...] computeDesc=[...]"
std::string heuristic_text(const Objects& objects);

/// What the Trace line of a matmul shows besides the objects.
struct MatmulTrace {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  const void* d = nullptr;
  const void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  const void* stream = nullptr;
  /// In host memory; nothing when it is on the device.
  std::optional<double> beta;
};

std::string matmul_text(const Objects& objects, const Algorithm& algorithm, const MatmulTrace& call);

}  // namespace lt_audit::simulator
