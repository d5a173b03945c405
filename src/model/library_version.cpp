#include "model/library_version.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "lt_audit/contract.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

std::optional<int> number_from(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

/// The numbers between the points; empty when something else stands there.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  for (bool more = true; more;) {
    const auto point = text.find('.');
    const auto part = text.substr(0, point);
    const auto number = part.empty() ? std::nullopt : number_from(part);
    if (!number) return {};
    numbers.push_back(*number);
    more = point != std::string_view::npos;
    if (more) text.remove_prefix(point + 1);
  }
  return numbers;
}

}  // namespace

std::string LibraryVersion::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

LibraryVersion exact_version_from(std::string_view text) {
  const auto numbers = numbers_of(text);
  if (numbers.size() != 3)
    throw AuditError(ErrorKind::usage, fmt::format("'{}' is no version: write MAJOR.MINOR.PATCH such as 13.1.0", text));
  return {numbers[0], numbers[1], numbers[2]};
}

LibraryVersion version_from(std::string_view text) {
  const auto numbers = numbers_of(text);
  if (numbers.size() >= 2 && numbers.size() <= 4 && numbers[0] >= 10 && numbers[0] < 100)
    return {numbers[0], numbers[1], numbers.size() > 2 ? numbers[2] : 0};
  if (numbers.size() == 1) {
    const int number = numbers[0];
    if (number >= 100000 && number < 1000000) return {number / 10000, number / 100 % 100, number % 100};
    // Up to 11.x the library counted thousands: 11502 is 11.5.2.
    if (number >= 10000 && number < 12000) return {number / 1000, number / 100 % 10, number % 100};
  }
  throw AuditError(
      ErrorKind::usage,
      fmt::format("'{}' is no version of cuBLASLt: write 13.1.0, 13.1 or the number that cublasLtGetVersion returns, "
                  "130100; it is not the version of CUDA (CUDA 13.0 Update 2 has cuBLASLt 13.1.0)",
                  text));
}

int compute_capability_from(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("sm_")) {
    digits.remove_prefix(3);
    if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
  }
  const auto numbers = numbers_of(digits);
  if (numbers.size() == 2 && digits.size() == text.size() && numbers[0] > 0 && numbers[0] < 100 && numbers[1] < 10)
    return numbers[0] * 10 + numbers[1];
  if (numbers.size() == 1 && numbers[0] >= 30 && numbers[0] < 1000) return numbers[0];
  throw AuditError(ErrorKind::usage,
                   fmt::format("'{}' is no compute capability: write 9.0, 90 or sm_90 for an H100 or H200; `lt-audit "
                               "env` shows that of this machine",
                               text));
}

std::string compute_capability_text(int compute_capability) {
  return fmt::format("{}.{}", compute_capability / 10, compute_capability % 10);
}

std::string IssuePlace::text() const { return fmt::format("{}/sm_{}", version.text(), compute_capability); }

IssuePlace place_of(const Target& target) {
  const auto scope = scope_of(target);
  const int number = scope.library_number;
  return {{number / 10000, number / 100 % 100, number % 100}, scope.compute_capability};
}

}  // namespace lt_audit
