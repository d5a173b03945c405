// Runs the built program as a child and looks at it from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lt_audit {

/// Where the program's standard output goes.
enum class Output {
  captured,
  reader_gone,  ///< a pipe whose reader has closed it, as after `| head -0`
  closed,       ///< no descriptor 1 at all, as with `>&-`
  full          ///< /dev/full
};

struct Surroundings {
  std::filesystem::path directory = ".";
  /// "NAME=VALUE", added to the environment of the test, which loses its CUDA variables first.
  std::vector<std::string> variables;
  Output output = Output::captured;
};

struct Finished {
  /// Exit code, or 128 + signal.
  int code = -1;
  std::string out;
  std::string err;
};

/// A running lt-audit. Killed by the destructor if wait() was not called.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments, const Surroundings& surroundings = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  /// Reads its output until it ends; kills it after two minutes and says so in `err`. `meanwhile` is called again and
  /// again while it runs.
  Finished wait(const std::function<void()>& meanwhile = {});

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

Finished run_program(const std::vector<std::string>& arguments, const Surroundings& surroundings = {});

/// Direct children of a process.
std::vector<pid_t> children_of(pid_t pid);
std::string file_text(const std::filesystem::path& path);
nlohmann::json file_json(const std::filesystem::path& path);

/// Status by "CHECK/CASE" of a report.
std::map<std::string, std::string> statuses_of(const nlohmann::json& report);
/// Cases of one report that the other lacks or gives another status.
std::vector<std::string> differing_cases(const nlohmann::json& left, const nlohmann::json& right);

}  // namespace lt_audit
