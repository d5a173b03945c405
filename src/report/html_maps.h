// Heat maps of the HTML page: alignment and workspace limits.
#pragma once

#include <vector>

#include "lt_audit/report.h"
#include "report/html_pictures.h"

namespace lt_audit {

/// Rows are types and transposition, columns what is moved (a pointer, a leading dimension, a batch stride) and the
/// power of two that it is still a multiple of, in bytes. Read from the problem texts; cases that move nothing are left
/// out. One map for pointers whose alignment the preference declares, one for those where it does not, one for
/// leading dimensions, one for the rest.
std::vector<Picture> alignment_maps(const CheckResult& check);

/// Rows are the cases with the scenario "steps" (parameter "limits", facts "step.NN" and "times_us"), columns the
/// limits. Without cells when there are none.
Picture workspace_map(const CheckResult& check);

}  // namespace lt_audit
