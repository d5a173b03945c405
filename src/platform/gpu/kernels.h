// The audit's kernels on the GPU. Requests point to device memory; every call only enqueues on the stream, allocates
// nothing and returns the launch status. cudaErrorInvalidValue means a request that cannot be answered.
#pragma once

#include <cuda_runtime_api.h>

#include "platform/audit_kernels.h"

namespace lt_audit {

cudaError_t prepare_on_gpu(const PrepareSpec& spec, cudaStream_t stream);
cudaError_t inspect_on_gpu(const InspectSpec& spec, VerificationRecord* record, cudaStream_t stream);
cudaError_t compare_on_gpu(const CompareSpec& spec, VerificationRecord* record, cudaStream_t stream);
cudaError_t freivalds_on_gpu(const ProductSpec& spec, VerificationRecord* record, cudaStream_t stream);
/// One thread that looks at the clock until this many nanoseconds have passed.
cudaError_t occupy_on_gpu(std::int64_t nanoseconds, cudaStream_t stream);
/// KernelApi::copy_late.
cudaError_t copy_late_on_gpu(void* to, const void* from, std::size_t bytes, std::int64_t nanoseconds,
                             cudaStream_t stream);

}  // namespace lt_audit
