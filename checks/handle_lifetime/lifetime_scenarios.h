// The scenarios of check "handle-lifetime": what is done to a handle, and what the documentation says about it.
#pragma once

#include <span>

#include "../scenario_check.h"
#include "lt_audit/check.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"

namespace lt_audit::handle_lifetime {

/// All scenarios, in the order of the page.
std::span<const Scenario> scenarios();

/// Facts: bytes that create and destroy have cost for good, after all rounds.
inline constexpr const char* kDeviceBytesLost = "device_bytes_lost";
inline constexpr const char* kHostBytesLost = "host_bytes_lost";
/// Below these the loss is noise: memory is handed out in pages of 2 MiB, and others use the GPU too.
inline constexpr long long kDeviceLossThatCounts = 1LL << 20;
inline constexpr long long kHostLossThatCounts = 64LL << 10;

// By file.
Observation create_and_destroy(Session& session, const Case& the_case);
Observation create_use_and_destroy(Session& session, const Case& the_case);
Observation many_handles(Session& session, const Case& the_case);
Observation one_of_two_destroyed(Session& session, const Case& the_case);
Observation cublas_handle(Session& session, const Case& the_case);
Observation two_streams(Session& session, const Case& the_case);
Observation destroyed_twice(Session& session, const Case& the_case);
Observation used_after_destroy(Session& session, const Case& the_case);
Observation null_handle(Session& session, const Case& the_case);
Observation null_pointers(Session& session, const Case& the_case);

Observation threads_on_one_handle(Session& session, const Case& the_case);
Observation threads_with_own_handles(Session& session, const Case& the_case);
Observation handed_between_threads(Session& session, const Case& the_case);
Observation destroyed_beside_threads(Session& session, const Case& the_case);
Observation used_after_destroy_elsewhere(Session& session, const Case& the_case);

Observation used_in_other_context(Session& session, const Case& the_case);
Observation destroyed_in_other_context(Session& session, const Case& the_case);
Observation created_in_other_context(Session& session, const Case& the_case);
Observation used_after_its_context(Session& session, const Case& the_case);
Observation result_in_other_context(Session& session, const Case& the_case);
Observation unused_stream_of_other_context(Session& session, const Case& the_case);
Observation used_stream_of_other_context(Session& session, const Case& the_case);
Observation used_after_device_reset(Session& session, const Case& the_case);
Observation handle_of_other_device(Session& session, const Case& the_case);
Observation stream_of_other_device(Session& session, const Case& the_case);
Observation handle_per_device(Session& session, const Case& the_case);
Observation devices_in_threads(Session& session, const Case& the_case);

/// Steps that the scenarios share (lifetime_steps.cpp).
LtHandle make_handle(const Platform& platform);
Stream make_stream(const Platform& platform);
/// The problem described, asked about and multiplied with this handle on this stream, then verified. The stages are
/// those of this product alone. True when everything is right.
bool multiply(Session& session, PreparedMatmul& matmul, cublasLtHandle_t handle, cudaStream_t stream,
              Observation& observation);
/// The same in new memory of the current context.
bool multiply_apart(Session& session, const MatmulProblem& problem, cublasLtHandle_t handle, Observation& observation);

}  // namespace lt_audit::handle_lifetime
