// trace_calls: a copy of the platform whose functions report each call as one line when it returns.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "platform/api_functions.h"
#include "platform/platforms.h"
#include "platform/trace_values.h"

namespace lt_audit {
namespace {

using Line = std::shared_ptr<const std::function<void(const std::string&)>>;
using Clock = std::chrono::steady_clock;

void report(const Line& line, const char* name, const std::string& arguments, const std::string& result,
            Clock::time_point start) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  (*line)(fmt::format("{}({}) = {}  ({} us)", name, arguments, result, us));
}

bool succeeded(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS; }
bool succeeded(cudaError_t error) { return error == cudaSuccess; }
bool succeeded(std::size_t) { return true; }

/// Takes the next name off a comma separated list.
std::string_view next_name(std::string_view& names) {
  const auto comma = names.find(',');
  const std::string_view name = names.substr(0, comma);
  names = comma == std::string_view::npos ? std::string_view{} : names.substr(comma + 1);
  return name;
}

/// What stands behind a result pointer is defined only after success.
template <class... Arguments>
std::string show_arguments(std::string_view names, bool success, const Arguments&... arguments) {
  std::string text;
  [[maybe_unused]] const auto append = [&](const auto& argument) {
    std::string_view name = next_name(names);
    if (!text.empty()) text += ", ";
    const bool result = name.starts_with('*');
    if (result && !success) name.remove_prefix(1);
    text += fmt::format("{}={}", name, result && success ? show_behind(argument) : show(argument));
  };
  (append(arguments), ...);
  return text;
}

template <class Result, class... Arguments>
void trace(Fn<Result(Arguments...)>& function, const char* name, const char* names, const Line& line) {
  function = [real = std::move(function), name, names, line](Arguments... arguments) {
    const auto start = Clock::now();
    const Result result = real(arguments...);
    report(line, name, show_arguments(names, succeeded(result), arguments...), show(result), start);
    return result;
  };
}

/// Set functions: the attribute and its value in place of the last three arguments.
template <class Object, class Attribute>
void trace(Fn<cublasStatus_t(Object, Attribute, const void*, std::size_t)>& function, const char* name,
           const char* names, const Line& line) {
  function = [real = std::move(function), name, names, line](Object object, Attribute attribute, const void* value,
                                                             std::size_t bytes) {
    const auto start = Clock::now();
    const cublasStatus_t status = real(object, attribute, value, bytes);
    std::string_view rest = names;
    report(line, name, fmt::format("{}={}, {}", next_name(rest), show(object), show_attribute(attribute, value, bytes)),
           show(status), start);
    return status;
  };
}

/// Get functions: a value of size 0, or none after a failure, is a query for the size.
template <class Object, class Attribute>
void trace(Fn<cublasStatus_t(Object, Attribute, void*, std::size_t, std::size_t*)>& function, const char* name,
           const char* names, const Line& line) {
  function = [real = std::move(function), name, names, line](Object object, Attribute attribute, void* value,
                                                             std::size_t bytes, std::size_t* written) {
    const auto start = Clock::now();
    const cublasStatus_t status = real(object, attribute, value, bytes, written);
    std::string_view rest = names;
    const void* seen = status == CUBLAS_STATUS_SUCCESS && bytes != 0 ? value : nullptr;
    report(line, name, fmt::format("{}={}, {}", next_name(rest), show(object), show_attribute(attribute, seen, bytes)),
           show(status), start);
    return status;
  };
}

/// The audit's kernels: the last argument is the stream, the others are the audit's own.
template <class... Arguments>
void trace_kernel(Fn<cudaError_t(Arguments...)>& function, const char* name, const Line& line) {
  function = [real = std::move(function), name, line](Arguments... arguments) {
    const auto start = Clock::now();
    const cudaError_t error = real(arguments...);
    const auto all = std::tie(arguments...);
    report(line, name, "stream=" + show(std::get<sizeof...(Arguments) - 1>(all)), show(error), start);
    return error;
  };
}

}  // namespace

Platform trace_calls(const Platform& platform, std::function<void(const std::string&)> line) {
  Platform traced = platform;
  const Line shared = std::make_shared<const std::function<void(const std::string&)>>(std::move(line));
  // An empty function stays empty: callers ask whether the library exports it.
  const auto visit = [&shared](auto& function, const char* name, const char* names) {
    if (function) trace(function, name, names, shared);
  };
  for_each_function(traced.cuda, visit);
  for_each_function(traced.lt, visit);
  for_each_function(traced.blas, visit);
  for_each_function(traced.kernels, [&shared](auto& function, const char* name, const char*) {
    if (function) trace_kernel(function, name, shared);
  });
  return traced;
}

}  // namespace lt_audit
