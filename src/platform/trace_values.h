// Arguments of API calls as text, for the trace: enumerators by name, pointers in hex, attributes decoded.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "lt_audit/platform.h"

namespace lt_audit {

/// An attribute's name without its prefix and its value, "EPILOGUE, bias"; "attribute 99, 4 bytes" if it is unknown.
std::string show_attribute(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes);
std::string show_attribute(cublasLtMatrixLayoutAttribute_t attribute, const void* value, std::size_t bytes);
std::string show_attribute(cublasLtMatmulPreferenceAttributes_t attribute, const void* value, std::size_t bytes);
std::string show_attribute(cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value, std::size_t bytes);
std::string show_attribute(cublasLtMatmulAlgoCapAttributes_t attribute, const void* value, std::size_t bytes);

inline std::string show(cublasStatus_t status) { return name_of(status); }
inline std::string show(cudaError_t error) { return name_of(error); }
inline std::string show(cudaDataType_t type) { return name_of(type); }
inline std::string show(cublasComputeType_t type) { return name_of(type); }
inline std::string show(cublasOperation_t operation) { return name_of(operation); }
inline std::string show(const DeviceFacts& facts) { return fmt::format("\"{}\"", facts.name); }
std::string show(cudaMemcpyKind kind);

/// Pointers in hex and null as 0, other enumerators and numbers as numbers.
template <class Value>
std::string show(const Value& value) {
  if constexpr (std::is_pointer_v<Value>) {
    if (value == nullptr) return "0";
    if constexpr (std::is_function_v<std::remove_pointer_t<Value>>) {
      return fmt::format("{:#x}", reinterpret_cast<std::uintptr_t>(value));
    } else {
      return fmt::format("{}", fmt::ptr(static_cast<const void*>(value)));
    }
  } else if constexpr (std::is_enum_v<Value>) {
    return fmt::to_string(static_cast<int>(value));
  } else {
    return fmt::to_string(value);
  }
}

/// What a function wrote through a pointer.
template <class Value>
std::string show_behind(const Value& pointer) {
  if constexpr (std::is_pointer_v<Value> && !std::is_function_v<std::remove_pointer_t<Value>> &&
                !std::is_void_v<std::remove_pointer_t<Value>>) {
    using Pointee = std::remove_pointer_t<Value>;
    // An opaque object, behind a handle, has no size here and nothing to show.
    if constexpr (requires { sizeof(Pointee); } &&
                  (std::is_scalar_v<Pointee> || std::is_same_v<Pointee, DeviceFacts>)) {
      if (pointer != nullptr) return show(*pointer);
    }
  }
  return show(pointer);
}

}  // namespace lt_audit
