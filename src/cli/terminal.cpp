// What a terminal can show.
#include "cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace lt_audit {
namespace {

/// The descriptor behind a standard stream, -1 for any other stream.
int descriptor_of(const std::ostream& stream) {
  if (stream.rdbuf() == std::cout.rdbuf()) return STDOUT_FILENO;
  if (stream.rdbuf() == std::cerr.rdbuf()) return STDERR_FILENO;
  return -1;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool is_terminal(const std::ostream& stream) {
  const int descriptor = descriptor_of(stream);
  return descriptor >= 0 && isatty(descriptor) == 1;
}

void occupy_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

bool stdout_reader_is_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLNVAL | POLLHUP)) != 0) return true;
  // Read only: opened by occupy_standard_descriptors.
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  return flags < 0 || (flags & O_ACCMODE) == O_RDONLY;
}

bool use_color(When when, const std::ostream& stream) {
  if (when != When::automatic) return when == When::always;
  return is_terminal(stream) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

int columns_of(const std::ostream& stream) {
  constexpr int kDefault = 100;
  constexpr int kLeast = 40;
  winsize size{};
  if (is_terminal(stream) && ioctl(descriptor_of(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(size.ws_col, kLeast);
  }
  const std::string columns(environment("COLUMNS"));
  const long asked = columns.empty() ? 0 : std::strtol(columns.c_str(), nullptr, 10);
  if (asked <= 0 || asked > 10000) return kDefault;
  return std::max(static_cast<int>(asked), kLeast);
}

ProgressLine::ProgressLine(When when, std::ostream& stream)
    : stream_(stream),
      enabled_(when == When::always || (when == When::automatic && is_terminal(stream))),
      terminal_(is_terminal(stream)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000));
  if (terminal_) {
    // A line longer than the terminal would wrap, and \r could not take it back.
    const auto limit = static_cast<std::size_t>(std::max(columns_of(stream_) - 1, 1));
    stream_ << "\r\033[K" << text.substr(0, limit) << std::flush;
    shown_ = true;
  } else {
    stream_ << text << '\n' << std::flush;
  }
}

void ProgressLine::clear() {
  if (shown_) stream_ << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace lt_audit
