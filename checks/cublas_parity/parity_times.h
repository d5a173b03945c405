// GPU time of both libraries, side by side.
#pragma once

#include <cublasLt.h>

#include "lt_audit/prepared_matmul.h"
#include "lt_audit/session.h"

namespace lt_audit::cublas_parity {

/// Times the product through cuBLAS in the form and through cuBLASLt with the first result of `answer`, in turn: the
/// facts kCublasUs, kLtUs, kRatio, kSpread and kSpeed. Where cuBLASLt is the slower one, the other results too
/// (kFasterResult). Both calls worked once before.
void compare_times(Session& session, PreparedMatmul& matmul, const CublasForm& form, const HeuristicAnswer& answer,
                   Observation& observation);

}  // namespace lt_audit::cublas_parity
