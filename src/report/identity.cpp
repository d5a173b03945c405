// Identities of cases and findings.
#include "report/identity.h"

#include <fmt/format.h>

#include <cstdint>

namespace lt_audit {
namespace {

/// No identifier and no problem text holds it.
constexpr char kBetween = '\n';

std::uint64_t fnv1a(std::string_view text, std::uint64_t sum) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) {
    sum ^= static_cast<unsigned char>(c);
    sum *= kPrime;
  }
  return sum;
}

}  // namespace

std::string case_identity(std::string_view check, const CaseResult& result) {
  std::string identity(check);
  identity += kBetween;
  identity += result.problem;
  return identity;
}

std::string finding_identity(std::string_view check, const CaseResult& result) {
  std::string identity = case_identity(check, result);
  identity += kBetween;
  identity += result.reason;
  return identity;
}

std::string fingerprint(std::string_view identity) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325;
  // The second sum begins elsewhere, so that two texts that meet in one do not in the other.
  constexpr std::uint64_t kOtherOffset = 0x6c62272e07bb0142;
  return fmt::format("{:016x}{:016x}", fnv1a(identity, kOffset), fnv1a(identity, kOtherOffset));
}

}  // namespace lt_audit
