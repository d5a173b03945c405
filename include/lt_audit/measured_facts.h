// Names of facts that a comparison of two reports reads: what a check measured in a form that another run can be held
// against.
#pragma once

namespace lt_audit {

/// Digest of D's bits on inputs that round (16 hex digits; several, when a case has several such runs), which tell one
/// order of summation from another. The bits of cuBLAS for the same product are those of the second.
inline constexpr const char* kDBitsFact = "d_bits";
inline constexpr const char* kCublasDBitsFact = "cublas_d_bits";

/// GPU time of one product, the best of several in microseconds, through cuBLASLt and through cuBLAS; and how far the
/// median lies above the best, the larger of both: 0.02 is two per cent. A time without a spread proves nothing.
inline constexpr const char* kLtUsFact = "cublaslt_us";
inline constexpr const char* kCublasUsFact = "cublas_us";
inline constexpr const char* kSpreadFact = "spread";

}  // namespace lt_audit
