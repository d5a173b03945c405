// Guarded buffers of a problem, carved from one pooled slab: [guard][data][guard] per operand, D last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lt_audit/matmul_problem.h"
#include "matmul/exact_inputs.h"
#include "platform/audit_kernels.h"

namespace lt_audit {

/// Where everything of a problem lies. Addresses are relative to the slab until `place` is called.
struct BufferPlan {
  RegionSet regions;
  std::size_t total_bytes = 0;
  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;
  void* d = nullptr;
  void* bias = nullptr;
  void* aux = nullptr;
  void* scale_a = nullptr;
  void* scale_b = nullptr;
  void* scale_c = nullptr;
  void* scale_d = nullptr;
  void* amax_d = nullptr;
  void* workspace = nullptr;
  std::uint8_t d_poison = 0xFF;
};

/// The plan with real addresses; `slab` is 256-byte aligned. With a null slab only total_bytes is meaningful.
BufferPlan plan_buffers(const MatmulProblem& problem, const ExactInputs& inputs, void* slab);

/// Why the problem cannot be laid out and verified: an epilogue, type or scale mode that the verifier does not know, an
/// offset that is no multiple of the element size, a size beyond 2^46 bytes.
std::optional<std::string> cannot_lay_out(const MatmulProblem& problem);

}  // namespace lt_audit
