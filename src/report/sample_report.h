// Reports made by hand for the tests of the formats: no clock, no GPU, every optional part present once.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "lt_audit/error.h"
#include "lt_audit/observation.h"
#include "lt_audit/report.h"

namespace lt_audit {

/// Two checks with cases of every status, one skipped check, findings, an environment with names and directories.
Report sample_report();
/// An observation in which every field holds something.
Observation full_observation();

/// A case whose observation has one refused stage.
CaseResult sample_case(const std::string& id, const std::string& problem, Status status, Outcome outcome);

/// A directory of its own for the running test, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("lt-audit-" + std::to_string(::getpid()) + "-" + test->test_suite_name() + "-" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// The file's path after `text` was written to it.
  std::string file_with(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The message of the AuditError that `action` throws; empty when it throws none.
template <class Action>
std::string error_of(const Action& action, ErrorKind kind) {
  try {
    action();
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return {};
}

}  // namespace lt_audit
