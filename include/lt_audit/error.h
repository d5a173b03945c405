// The one exception type: the audit itself could not go on. A status that a check asks about is never thrown.
#pragma once

#include <stdexcept>
#include <string>

#include "lt_audit/types.h"

namespace lt_audit {

/// Which exit code an error leads to.
enum class ErrorKind {
  usage,      ///< wrong arguments or bad input file: exit code 2
  cannot_run  ///< no GPU, no library, worker cannot start, disk full: exit code 3
};

/// Message in three parts as one text: what happened, where, what to do.
class AuditError : public std::runtime_error {
 public:
  AuditError(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Where a call stands. Not std::source_location: clang 14 has no builtin for it, so libstdc++ hides the class from it.
class SourcePlace {
 public:
  static constexpr SourcePlace current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr SourcePlace(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

/// Throws AuditError with call, code and place unless the status is success.
void require(cudaError_t error, const char* call, SourcePlace where = SourcePlace::current());
void require(cublasStatus_t status, const char* call, SourcePlace where = SourcePlace::current());

}  // namespace lt_audit
