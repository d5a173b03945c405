// Faults of products of complex matrices.
#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {

void plant_planar_batch_stride_doubled(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    MatrixShape a = facts.a;
    MatrixShape b = facts.b;
    if (a.batch_count < 2 || !a.is_planar() || !b.is_planar()) return send(real, call);
    a.batch_stride *= 2;
    b.batch_stride *= 2;
    return send_with_inputs(real, call, a, b);
  });
}

}  // namespace lt_audit::faults
