// Runs the built program as a child.
#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace lt_audit {
namespace {

using Clock = std::chrono::steady_clock;
/// A quick audit takes a minute and a half under a sanitizer on two busy cores.
constexpr auto kLimit = std::chrono::minutes(5);

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
  std::array<int, 2> ends{};
};

/// What the developer's shell sets must not decide about the tests.
bool is_kept(const char* variable) {
  for (const char* prefix : {"CUDA", "CUBLAS", "NVIDIA", "NO_COLOR", "COLUMNS", "GITHUB_"}) {
    if (std::strncmp(variable, prefix, std::strlen(prefix)) == 0) return false;
  }
  return true;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Appends what is there; false at the end of the stream.
bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(descriptor, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  const Pipe out;
  const Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (surroundings.output == Output::closed) {
    posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);
  } else if (surroundings.output == Output::full) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/full", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  }
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, surroundings.directory.c_str());
  if (surroundings.output == Output::reader_gone) close(out.ends[0]);

  std::vector<std::string> words = {LT_AUDIT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = surroundings.variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (is_kept(*entry)) variables.emplace_back(*entry);
  }
  const int error =
      posix_spawn(&pid_, LT_AUDIT_BINARY, &actions, nullptr, pointers_of(words).data(), pointers_of(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out.ends[1]);
  close(err.ends[1]);
  out_ = surroundings.output == Output::reader_gone ? -1 : out.ends[0];
  err_ = err.ends[0];
  if (error != 0) throw std::runtime_error(std::string("cannot start " LT_AUDIT_BINARY ": ") + std::strerror(error));
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

Finished Program::wait(const std::function<void()>& meanwhile) {
  Finished finished;
  const auto end = Clock::now() + kLimit;
  std::array<pollfd, 2> streams = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&finished.out, &finished.err};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (meanwhile) meanwhile();
    poll(streams.data(), streams.size(), 5);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd >= 0 && streams[i].revents != 0 && !drain(streams[i].fd, *texts[i])) streams[i].fd = -1;
    }
    if (Clock::now() > end) {
      kill(pid_, SIGKILL);
      finished.err += "\n(killed by the test: no end after five minutes)";
      break;
    }
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

Finished run_program(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Program program(arguments, surroundings);
  return program.wait();
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::istringstream stream(file_text("/proc/" + number + "/task/" + number + "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; stream >> child;) children.push_back(child);
  return children;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

nlohmann::json file_json(const std::filesystem::path& path) { return nlohmann::json::parse(file_text(path)); }

std::map<std::string, std::string> statuses_of(const nlohmann::json& report) {
  std::map<std::string, std::string> statuses;
  for (const auto& check : report.at("checks")) {
    for (const auto& one : check.at("cases")) {
      statuses[check.at("id").get<std::string>() + "/" + one.at("id").get<std::string>()] = one.at("status");
    }
  }
  return statuses;
}

std::vector<std::string> differing_cases(const nlohmann::json& left, const nlohmann::json& right) {
  const auto before = statuses_of(left);
  auto after = statuses_of(right);
  std::vector<std::string> different;
  for (const auto& [name, status] : before) {
    const auto found = after.find(name);
    if (found == after.end() || found->second != status) different.push_back(name);
    if (found != after.end()) after.erase(found);
  }
  for (const auto& [name, status] : after) different.push_back(name);
  return different;
}

}  // namespace lt_audit
