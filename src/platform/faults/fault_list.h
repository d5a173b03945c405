// The faults as a table, and the functions that plant them, by file.
#pragma once

#include <span>

#include "platform/platforms.h"

namespace lt_audit::faults {

/// One plantable defect: who it is, and the function that replaces functions in a copy of a platform.
struct Fault {
  FaultInfo info;
  void (*plant)(Platform&);
};

/// The table, sorted by name (fault_list.cpp).
std::span<const Fault> all_faults();

// numbers.cpp: the numbers in D are wrong, or some of them are missing.
void plant_alignment_misread(Platform& platform);
void plant_alpha_ignored(Platform& platform);
void plant_batch_stride_rounded(Platform& platform);
void plant_beta_ignored(Platform& platform);
void plant_bias_ignored(Platform& platform);
void plant_c_read_at_beta_zero(Platform& platform);
void plant_k_tail_lost(Platform& platform);
void plant_leading_dimension_rounded(Platform& platform);
void plant_scale_type_misread(Platform& platform);
void plant_unlisted_input_as_fp32(Platform& platform);
void plant_wrong_element(Platform& platform);

// memory.cpp: bytes are changed that must not change, or not changed that must.
void plant_empty_success(Platform& platform);
void plant_guard_overwritten(Platform& platform);
void plant_input_changed(Platform& platform);
void plant_padding_overwritten(Platform& platform);
void plant_short_write(Platform& platform);
void plant_unlisted_d_type_overrun(Platform& platform);
void plant_workspace_overrun(Platform& platform);

// batched.cpp: which matrix of an operand belongs to which matrix of D.
void plant_batch_index_of_16_bits(Platform& platform);
void plant_batch_stride_of_32_bits(Platform& platform);
void plant_last_pointer_for_all(Platform& platform);
void plant_pointer_members_rounded(Platform& platform);
void plant_shared_matrix_read_as_packed(Platform& platform);
void plant_unequal_counts_as_of_d(Platform& platform);

// epilogue.cpp: another bias, aux or bias gradient than the call asks for, or another rounding.
void plant_aux_ld_ignored(Platform& platform);
void plant_bias_added_after_rounding(Platform& platform);
void plant_bias_along_columns(Platform& platform);
void plant_bias_gradient_wrong_at_k_1(Platform& platform);
void plant_first_bias_for_all_batches(Platform& platform);
void plant_gelu_aux_after_activation(Platform& platform);
void plant_gelu_in_place_wrong(Platform& platform);

// complex.cpp: products of complex matrices.
void plant_planar_batch_stride_doubled(Platform& platform);

// in_place.cpp: what becomes of C in D's memory, of a C that is not read, and of a C that is not there.
void plant_c_ignored_in_place(Platform& platform);
void plant_c_read_at_device_beta_zero(Platform& platform);
void plant_in_place_layouts_accepted(Platform& platform);
void plant_in_place_split_k_added_twice(Platform& platform);
void plant_null_c_layout_crashes(Platform& platform);

// int8.cpp: sums, conversion and scalars of INT8 products, and what is left out when there are many columns.
void plant_int32_low_bits_lost(Platform& platform);
void plant_int8_alpha_ignored(Platform& platform);
void plant_int8_columns_cut(Platform& platform);
void plant_int8_many_refused(Platform& platform);
void plant_int8_rounded_before_bias(Platform& platform);
void plant_int8_wraps(Platform& platform);

// shape_limits.cpp: sizes of 0 and 1, beyond 16 bits, and leading dimensions below and far above the rows.
void plant_columns_beyond_65535_lost(Platform& platform);
void plant_empty_product_writes(Platform& platform);
void plant_far_leading_dimension_halved(Platform& platform);
void plant_ld_below_rows_accepted(Platform& platform);
void plant_vector_with_bias_wrong(Platform& platform);
void plant_zero_k_skipped(Platform& platform);

// fp8_scaling.cpp: another scale factor than the call asks for, or none, and amax.
void plant_amax_ignored(Platform& platform);
void plant_block_scale_padding_ignored(Platform& platform);
void plant_first_scale_for_all_blocks(Platform& platform);
void plant_scalar_scale_refused_below_16(Platform& platform);
void plant_scale_d_ignored(Platform& platform);
void plant_vector_scales_read_along_k(Platform& platform);
void plant_wide_d_scale_ignored(Platform& platform);

// status.cpp: the status says something else than the truth.
void plant_heuristic_success_without_result(Platform& platform);
void plant_late_refusal(Platform& platform);
void plant_unaligned_workspace_accepted(Platform& platform);
void plant_valid_call_refused(Platform& platform);
void plant_wrong_status(Platform& platform);

// cublas.cpp: what cuBLAS does with the same product.
void plant_cublas_default_tf32(Platform& platform);
void plant_cublas_refuses_bf16(Platform& platform);
void plant_cublas_writes_behind_c(Platform& platform);

// process.cpp: the process or its context does not survive the call, or waits for it.
void plant_crash(Platform& platform);
void plant_hang(Platform& platform);
void plant_slow_call(Platform& platform);
void plant_sticky_misaligned_address(Platform& platform);

// environment.cpp: what surrounds the call is not what it seems, or decides too much.
void plant_driver_too_old(Platform& platform);
void plant_handle_lost_to_full_memory(Platform& platform);
void plant_library_loaded_twice(Platform& platform);
void plant_mixed_libraries(Platform& platform);
void plant_tf32_always(Platform& platform);
void plant_tf32_override_ignored(Platform& platform);
void plant_wrong_when_memory_is_full(Platform& platform);

// heuristic.cpp: what the heuristic hands out is worth less than it says.
void plant_algorithm_bound_to_stream(Platform& platform);
void plant_one_bad_algorithm(Platform& platform);
void plant_restored_algorithm_refused(Platform& platform);
void plant_result_state_not_success(Platform& platform);
void plant_split_k_tail_lost(Platform& platform);
void plant_workspace_above_limit(Platform& platform);

// workspace.cpp: what an algorithm makes of its workspace.
void plant_bits_change_between_runs(Platform& platform);
void plant_old_workspace_in_result(Platform& platform);
void plant_undersized_workspace_accepted(Platform& platform);

// lifetime.cpp: what a handle is bound to, and what outlives it.
void plant_destroyed_handle_crashes(Platform& platform);
void plant_handle_bound_to_context(Platform& platform);
void plant_leak_per_handle(Platform& platform);

// capture.cpp: what is captured, and whether the capture survives it.
void plant_capture_invalidated(Platform& platform);
void plant_matmul_outside_graph(Platform& platform);
void plant_refused_matmul_in_capture_as_success(Platform& platform);
void plant_stale_descriptor_in_second_capture(Platform& platform);

// streams_workspace.cpp: the order of a call with its neighbours, and what calls on several streams share.
void plant_device_scalar_read_late(Platform& platform);
void plant_split_k_state_per_handle(Platform& platform);
void plant_stream_ignored(Platform& platform);
void plant_workspace_reused_too_early(Platform& platform);

// replay.cpp: what a launched graph reads, needs and was updated to.
void plant_descriptor_read_at_replay(Platform& platform);
void plant_exec_update_ignored(Platform& platform);
void plant_replay_reads_freed_workspace(Platform& platform);

}  // namespace lt_audit::faults
