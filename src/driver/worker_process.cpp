// Spawning, talking to and burying worker processes.
#include "driver/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollExit = std::chrono::milliseconds(1);
constexpr double kExitLimitSeconds = 5;

AuditError system_error(const char* what, int error) {
  return {ErrorKind::cannot_run, fmt::format("cannot start a worker process: {}: {}", what, std::strerror(error))};
}

/// Both ends close-on-exec and above the numbers that the child wants, so that dup2 in the child overwrites none of
/// them.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe", errno);
  std::array<int, 2> moved{};
  for (std::size_t i = 0; i < ends.size(); ++i) moved[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, kResponseFd + 1);
  const int error = errno;
  for (const int end : ends) close(end);
  if (moved[0] >= 0 && moved[1] >= 0) return moved;
  for (const int end : moved) {
    if (end >= 0) close(end);
  }
  throw system_error("pipe", error);
}

struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

/// This process' variables with some replaced or taken away, "NAME=value" each.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) entries.emplace_back(text);
  }
  for (const auto& [name, value] : variables) {
    if (!value.empty()) entries.push_back(fmt::format("{}={}", name, value));
  }
  return entries;
}

/// What exec takes.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const std::vector<std::string>& command, bool stdout_to_stderr,
            const std::map<std::string, std::string>& variables, int requests, int responses) {
  SpawnPlan plan;
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (stdout_to_stderr) {
    posix_spawn_file_actions_adddup2(&plan.actions, STDERR_FILENO, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&plan.actions, requests, kRequestFd);
  posix_spawn_file_actions_adddup2(&plan.actions, responses, kResponseFd);
  // A group of its own: Ctrl-C and Ctrl-Z are for the parent, which ends or waits for its workers.
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETPGROUP);

  std::vector<std::string> words = command;
  const auto argv = pointers_to(words);
  auto entries = environment_with(variables);
  const auto envp = pointers_to(entries);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &plan.actions, &plan.attributes, argv.data(), envp.data());
  if (error != 0) throw system_error(argv[0], error);
  return pid;
}

std::string signal_name(int number) {
  struct Name {
    int number;
    const char* name;
  };
  static constexpr std::array kNames{Name{SIGABRT, "SIGABRT"}, Name{SIGBUS, "SIGBUS"},   Name{SIGFPE, "SIGFPE"},
                                     Name{SIGHUP, "SIGHUP"},   Name{SIGILL, "SIGILL"},   Name{SIGINT, "SIGINT"},
                                     Name{SIGKILL, "SIGKILL"}, Name{SIGPIPE, "SIGPIPE"}, Name{SIGQUIT, "SIGQUIT"},
                                     Name{SIGSEGV, "SIGSEGV"}, Name{SIGSYS, "SIGSYS"},   Name{SIGTERM, "SIGTERM"},
                                     Name{SIGTRAP, "SIGTRAP"}, Name{SIGXCPU, "SIGXCPU"}};
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const Name& n) { return n.number == number; });
  return found == kNames.end() ? fmt::format("signal {}", number) : found->name;
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

void Reaper::collect() {
  std::erase_if(pids_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
}

void Reaper::wait(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (collect(); !pids_.empty() && Clock::now() < end; collect()) std::this_thread::sleep_for(kPollExit);
  pids_.clear();
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, bool stdout_to_stderr, Reaper& reaper,
                             const std::map<std::string, std::string>& variables)
    : reaper_(reaper) {
  auto requests = make_pipe();
  std::array<int, 2> responses{};
  try {
    responses = make_pipe();
  } catch (...) {
    for (int& end : requests) close_fd(end);
    throw;
  }
  request_fd_ = requests[1];
  response_fd_ = responses[0];
  try {
    pid_ = spawn(command, stdout_to_stderr, variables, requests[0], responses[1]);
  } catch (...) {
    for (const int end : {requests[0], requests[1], responses[0], responses[1]}) close(end);
    throw;
  }
  close_fd(requests[0]);
  close_fd(responses[1]);
  // Only the parent's ends: the worker reads and writes blocking.
  fcntl(request_fd_, F_SETFL, O_NONBLOCK);
  fcntl(response_fd_, F_SETFL, O_NONBLOCK);
  // Room for a full pipeline of answers, so that the worker goes on while the parent writes the report; the default of
  // 64 KiB does when the system refuses.
  static_cast<void>(fcntl(response_fd_, F_SETPIPE_SZ, 1 << 20));
}

WorkerProcess::~WorkerProcess() {
  kill();
  close_fd(request_fd_);
  close_fd(response_fd_);
}

void WorkerProcess::send(const std::string& line) {
  unsent_ += line;
  send_more();
}

void WorkerProcess::send_more() {
  std::size_t sent = 0;
  while (sent < unsent_.size() && request_fd_ >= 0) {
    const ssize_t count = write(request_fd_, unsent_.data() + sent, unsent_.size() - sent);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      break;
    } else {
      sent = unsent_.size();
    }
  }
  unsent_.erase(0, sent);
}

void WorkerProcess::close_requests() {
  unsent_.clear();
  close_fd(request_fd_);
}

bool WorkerProcess::receive() {
  std::array<char, 1 << 16> bytes;
  for (;;) {
    const ssize_t count = read(response_fd_, bytes.data(), bytes.size());
    if (count > 0) {
      lines_.append(bytes.data(), static_cast<std::size_t>(count));
      // A short read empties the pipe; a worker that never stops writing must not keep the parent here either.
      return true;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

std::string WorkerProcess::end_reason() {
  if (pid_ < 0) return "ended before";
  const auto limit = Clock::now() + std::chrono::duration<double>(kExitLimitSeconds);
  int status = 0;
  pid_t dead = 0;
  while ((dead = waitpid(pid_, &status, WNOHANG)) == 0 && Clock::now() < limit) std::this_thread::sleep_for(kPollExit);
  if (dead == 0) {
    kill();
    return "a closed connection";
  }
  // Already buried: the number may belong to another process from here on.
  pid_ = -1;
  if (dead < 0) return "unknown end";
  if (WIFSIGNALED(status)) return signal_name(WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

void WorkerProcess::kill() {
  if (pid_ < 0) return;
  // The group too: a library may have started processes. The group exists since before the worker's first instruction.
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  reaper_.add(pid_);
  reaper_.collect();
  pid_ = -1;
}

}  // namespace lt_audit
