// What lt-audit self-test found: which planted fault turns which check red. Pure values and functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lt_audit/report.h"

namespace lt_audit {

/// A check that reports something on a library without a planted fault.
struct FalseAlarm {
  std::string check;
  std::string the_case;
  Status status = Status::fail;
  std::string reason;
  std::string sentence;
};

/// How a check saw a fault.
struct Detection {
  std::uint64_t red = 0;
  std::string example_case;
  std::string reason;
};

struct FaultRow {
  std::string name;
  std::string modelled_on;
  /// The audit with this fault could not run at all.
  std::string error;
  /// By check id; only checks with red cases.
  std::map<std::string, Detection> detected_by;
};

struct DetectionMatrix {
  bool simulator = true;
  /// False: interrupted, or an audit broke off.
  bool complete = true;
  /// The user named checks: a fault that none of them sees may be another check's business.
  bool checks_were_named = false;
  std::vector<std::string> checks;
  std::vector<FaultRow> faults;
  std::vector<FalseAlarm> false_alarms;
};

/// On a faultless library: fail, error, and warn of a case that must work; a warn of another case is a trap that the
/// contract leaves open. A real library has defects of its own: there only errors count.
std::vector<FalseAlarm> false_alarms_of(const Report& baseline);

/// Red cases by check: fail, warn or error that the same case does not show, with the same reason, without the fault.
std::map<std::string, Detection> detections_of(const Report& baseline, const Report& with_fault);

/// A check that fewer faults than this can turn red is weak.
inline constexpr std::size_t kFaultsPerCheck = 3;

std::vector<std::string> undetected_faults(const DetectionMatrix& matrix);
std::vector<std::string> weak_checks(const DetectionMatrix& matrix);
/// Complete, no false alarm, no weak check and, unless checks were named, no undetected fault.
bool self_test_ok(const DetectionMatrix& matrix);

/// Rows are faults, columns checks: a mark and the number of red cases; then false alarms, weak checks, undetected
/// faults.
std::string matrix_text(const DetectionMatrix& matrix);

}  // namespace lt_audit
