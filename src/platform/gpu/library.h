// Finds, loads and identifies libcublasLt and libcublas at run time, so that one binary audits any version and runs
// without one where no GPU is needed.
#pragma once

#include <string>

#include "lt_audit/platform.h"
#include "platform/platforms.h"

namespace lt_audit {

/// A loaded library; `handle` is null when none was found. Never closed: both libraries register exit handlers and keep
/// threads, and unloading them under those is not documented to work.
struct SharedLibrary {
  void* handle = nullptr;
  /// Absolute path, links resolved.
  std::string path;
  /// GNU build id in hex, empty if the file has none.
  std::string build_id;
};

/// libcublasLt from `path`, or by soname and in the usual places when it is empty, the newest major version first.
/// Throws AuditError (cannot_run) that says what was tried and what to do.
SharedLibrary load_cublaslt(const std::string& path);

/// libcublas from `path`; throws when that is no library. With an empty path the one of this major version beside
/// `cublaslt` or in the usual places; an empty result when there is none.
SharedLibrary load_cublas(const std::string& path, const SharedLibrary& cublaslt, int major);

/// The functions of the library. Throws AuditError (cannot_run) with the names of the required ones that it lacks;
/// optional ones stay empty.
LtApi bind_cublaslt(const SharedLibrary& library);
BlasApi bind_cublas(const SharedLibrary& library);

/// Version by the library's own word, path and build id.
LibraryFacts facts_of(const LtApi& api, const SharedLibrary& library);
LibraryFacts facts_of(const BlasApi& api, const SharedLibrary& library);

}  // namespace lt_audit
