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

// status.cpp: the status says something else than the truth.
void plant_heuristic_success_without_result(Platform& platform);
void plant_late_refusal(Platform& platform);
void plant_unaligned_workspace_accepted(Platform& platform);
void plant_valid_call_refused(Platform& platform);
void plant_wrong_status(Platform& platform);

// process.cpp: the process or its context does not survive the call, or waits for it.
void plant_crash(Platform& platform);
void plant_hang(Platform& platform);
void plant_slow_call(Platform& platform);
void plant_sticky_misaligned_address(Platform& platform);

}  // namespace lt_audit::faults
