// What a terminal can show: colour, width and a progress line that is rewritten in place.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "cli/arguments.h"

namespace lt_audit {

/// True only for std::cout and std::cerr when they are terminals; string streams and pipes are not.
bool is_terminal(const std::ostream& stream);

/// automatic: a terminal that is not dumb, and NO_COLOR is unset or empty (no-color.org).
bool use_color(When when, const std::ostream& stream);

/// Opens what is missing of descriptors 0 to 2, so that no file of the audit gets such a number and is written to as
/// standard output. Writing to what it opens fails.
void occupy_standard_descriptors();

/// Nobody reads standard output any more, as after `| head`, or it was closed from the start.
bool stdout_reader_is_gone();

/// Of the terminal behind the stream, else COLUMNS, else 100; at least 40.
int columns_of(const std::ostream& stream);

/// One line on a terminal, rewritten at most 10 times a second; elsewhere (--progress always) one line a second at
/// most.
class ProgressLine {
 public:
  ProgressLine(When when, std::ostream& stream);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows the text if it is time for it.
  void show(const std::string& text);
  /// Removes the line, so that other text can follow.
  void clear();

 private:
  std::ostream& stream_;
  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace lt_audit
