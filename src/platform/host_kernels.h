// The audit's kernels as loops on the host, for the simulator and for the tests that compare the GPU with them. Same
// arithmetic (audit_math.h), same counts, same record as kernels.cu.
#pragma once

#include "lt_audit/platform.h"
#include "platform/audit_kernels.h"

namespace lt_audit {

/// All pointers in the requests are host memory. The work is done when the call returns; nothing can fail.
void prepare_on_host(const PrepareSpec& spec);
/// Adds to the record what differs from what prepare wrote, D's elements aside.
void inspect_on_host(const InspectSpec& spec, VerificationRecord* record);
/// Adds to the record what differs from the expected D.
void compare_on_host(const CompareSpec& spec, VerificationRecord* record);
/// Adds the rows that disagree. Does not use the scratch.
void freivalds_on_host(const ProductSpec& spec, VerificationRecord* record);

/// The functions above as a table; the stream is ignored, every call returns cudaSuccess.
KernelApi host_kernel_table();

}  // namespace lt_audit
