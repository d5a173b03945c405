// The CUDA runtime and the audit's kernels as tables.
#pragma once

#include "lt_audit/platform.h"

namespace lt_audit {

/// The statically linked CUDA runtime. Making the table touches no driver: without a GPU the functions return their
/// errors.
CudaApi make_runtime_table();

/// The kernels of kernels.cu and product_kernels.cu.
KernelApi make_gpu_kernel_table();

}  // namespace lt_audit
