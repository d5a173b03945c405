#include "matmul/log_capture.h"

#include <mutex>
#include <string>
#include <utility>

namespace lt_audit {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::size_t kLongestText = 400;
/// Heuristics trace: includes errors, trace and hints (cublasLtLoggerSetLevel).
constexpr int kLogLevel = 4;
constexpr int kTraceLevel = 2;
constexpr int kApiLevel = 5;

struct Collector {
  std::mutex mutex;
  std::vector<LogLine> lines;
  std::function<void(const LogLine&)> live;
};

Collector& collector() {
  static Collector instance;
  return instance;
}

/// Called by the library in the thread of the call; must not throw into C code.
void collect(int level, const char* function, const char* message) {
  try {
    LogLine line{level, function == nullptr ? "" : function, message == nullptr ? "" : message};
    if (line.text.size() > kLongestText) line.text.resize(kLongestText);
    auto& target = collector();
    const std::lock_guard lock(target.mutex);
    if (target.live) target.live(line);
    const bool says_why =
        level != kTraceLevel && level != kApiLevel && line.text.find("heuristicResults=") == std::string::npos;
    if (says_why && target.lines.size() < kMostLines) target.lines.push_back(std::move(line));
  } catch (...) {
    // A lost log line costs an explanation, never a result.
  }
}

}  // namespace

LogCapture::LogCapture(const LtApi& lt, std::function<void(const LogLine&)> live) : lt_(lt) {
  collector().live = std::move(live);
  collector().lines.clear();
  if (!lt_.logger_set_callback || !lt_.logger_set_level) return;  // 11.x before the logger existed
  static_cast<void>(lt_.logger_set_callback(collect));
  static_cast<void>(lt_.logger_set_level(kLogLevel));
}

LogCapture::~LogCapture() {
  if (lt_.logger_set_level) static_cast<void>(lt_.logger_set_level(0));
  if (lt_.logger_set_callback) static_cast<void>(lt_.logger_set_callback(nullptr));
  collector().live = nullptr;
}

void LogCapture::clear() {
  const std::lock_guard lock(collector().mutex);
  collector().lines.clear();
}

std::vector<LogLine> LogCapture::take() {
  const std::lock_guard lock(collector().mutex);
  return std::exchange(collector().lines, {});
}

}  // namespace lt_audit
