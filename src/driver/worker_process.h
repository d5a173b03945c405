// One worker as a process with two pipes, and the burial of dead ones.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/protocol.h"

namespace lt_audit {

/// Collects dead children without ever waiting for one that is stuck in the kernel.
class Reaper {
 public:
  void add(pid_t pid) { pids_.push_back(pid); }
  /// Takes those that are dead.
  void collect();
  /// Waits until all are dead, at most this long; forgets the rest.
  void wait(double seconds);

 private:
  std::vector<pid_t> pids_;
};

class WorkerProcess {
 public:
  /// Starts `command` (path and arguments) with the request pipe on its fd 3 and the response pipe on its fd 4, in a
  /// process group of its own. Its stdin is /dev/null; its stdout goes to stderr or to /dev/null, never to the parent's
  /// stdout: the library's logger prints there. `variables` are set over there in place of those of the same name here,
  /// or taken away by an empty value. Throws AuditError (cannot_run) when the system starts no process.
  WorkerProcess(const std::vector<std::string>& command, bool stdout_to_stderr, Reaper& reaper,
                const std::map<std::string, std::string>& variables = {});
  /// Kills it if it may still run. Does not wait.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int request_fd() const { return request_fd_; }
  int response_fd() const { return response_fd_; }
  bool has_unsent() const { return !unsent_.empty(); }

  /// Queues the line and sends what the pipe takes; a pipe that nobody reads any more is told by receive().
  void send(const std::string& line);
  void send_more();
  /// End of the requests: the worker ends by itself.
  void close_requests();

  /// Takes what has come. False when the worker closed its end.
  bool receive();
  /// The next complete response line. Throws ProtocolError for an endless one.
  std::optional<std::string> next_line() { return lines_.next(); }

  /// Why it ended, for a worker that closed its end: "SIGSEGV", "exit code 3". Waits up to 5 s for the exit.
  std::string end_reason();
  void kill();

 private:
  pid_t pid_ = -1;
  int request_fd_ = -1;
  int response_fd_ = -1;
  std::string unsent_;
  LineBuffer lines_;
  Reaper& reaper_;
};

}  // namespace lt_audit
