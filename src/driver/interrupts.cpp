// Signal handlers with a self-pipe. State is static because a handler has no other way to reach it.
#include "driver/interrupts.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

struct Shared {
  std::mutex mutex;
  int users = 0;
  std::array<int, 2> pipe = {-1, -1};
  struct sigaction former_int = {};
  struct sigaction former_term = {};
  struct sigaction former_pipe = {};
};

Shared& shared() {
  static Shared state;
  return state;
}

std::atomic<int> received_signal = 0;
std::atomic<int> wake_fd = -1;

extern "C" void on_interrupt(int signal_number) {
  const int saved = errno;
  received_signal = signal_number;
  const char byte = 0;
  // A full pipe is as readable as one byte more; nothing to do about the result.
  if (write(wake_fd, &byte, 1) < 0) errno = saved;
  errno = saved;
}

}  // namespace

Interrupts::Interrupts() {
  auto& state = shared();
  const std::lock_guard lock(state.mutex);
  if (state.users++ > 0) return;
  if (pipe2(state.pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    --state.users;
    throw AuditError(ErrorKind::cannot_run, "cannot make a pipe: too many open files; raise the limit (ulimit -n)");
  }
  received_signal = 0;
  wake_fd = state.pipe[1];
  struct sigaction action = {};
  // No SA_RESTART: a blocking call returns, so that nothing delays the end.
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &state.former_int);
  sigaction(SIGTERM, &action, &state.former_term);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &state.former_pipe);
}

Interrupts::~Interrupts() {
  auto& state = shared();
  const std::lock_guard lock(state.mutex);
  if (--state.users > 0) return;
  sigaction(SIGINT, &state.former_int, nullptr);
  sigaction(SIGTERM, &state.former_term, nullptr);
  sigaction(SIGPIPE, &state.former_pipe, nullptr);
  wake_fd = -1;
  for (int& fd : state.pipe) {
    close(fd);
    fd = -1;
  }
}

int Interrupts::fd() const {
  auto& state = shared();
  const std::lock_guard lock(state.mutex);
  return state.pipe[0];
}

std::string Interrupts::received() const {
  switch (received_signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    default:
      return {};
  }
}

}  // namespace lt_audit
