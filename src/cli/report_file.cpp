// Where the report of an audit goes.
#include "cli/report_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

/// A file that a document is to be written to, with the option that named it.
struct Wanted {
  const std::string& path;
  const char* option;
};

[[noreturn]] void refuse(const Wanted& file, const std::string& why) {
  throw AuditError(ErrorKind::cannot_run,
                   fmt::format("the report cannot be written to '{}': {}; give another place with {} FILE", file.path,
                               why, file.option));
}

/// Makes and removes a file: permission bits alone do not tell of read-only or virtual file systems, nor of root.
void require_writable_directory(const Wanted& file, const std::string& directory) {
  std::string name = directory + "/.lt-audit-XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0)
    refuse(file, fmt::format("no file can be made in directory '{}' ({})", directory, std::strerror(errno)));
  close(descriptor);
  unlink(name.c_str());
}

}  // namespace

bool is_stdout_path(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

ReportFile::ReportFile(std::string path, bool redact)
    : path_(std::move(path)), redact_(redact), stdout_(is_stdout_path(path_)) {
  struct stat status {};
  one_document_ = !stdout_ && stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::string ReportFile::shown_path() const { return stdout_ ? "" : path_; }

void ReportFile::require_writable() const { require_writable_file(path_, "--json"); }

void ReportFile::write(const Report& report) const {
  write_file_atomically(path_, [&](std::ostream& file) {
    // A copy only where it is needed: the report is the largest thing that the parent holds.
    if (redact_) {
      write_json(redacted(report), file);
    } else {
      write_json(report, file);
    }
  });
}

void ReportFile::checkpoint(const Report& report) {
  if (path_.empty() || stdout_ || one_document_ || failed_) return;
  try {
    write(report);
  } catch (const AuditError&) {
    failed_ = true;
  }
}

void ReportFile::finish(const Report& report, std::ostream& out) const {
  if (path_.empty()) return;
  if (!stdout_) {
    write(report);
    return;
  }
  if (redact_) {
    write_json(redacted(report), out);
  } else {
    write_json(report, out);
  }
  out.flush();
  if (!out) {
    throw AuditError(
        ErrorKind::cannot_run,
        "the report could not be written to standard output: its reader is gone or the disk is full; write it to "
        "a file with --json FILE");
  }
}

void require_writable_file(const std::string& path, const char* option) {
  if (path.empty() || is_stdout_path(path)) return;
  const Wanted file{path, option};
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse(file, "it is a directory");
    if (access(path.c_str(), W_OK) != 0) refuse(file, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return;
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  if (stat(directory.c_str(), &status) != 0) {
    refuse(file, fmt::format("directory '{}': {}", directory, std::strerror(errno)));
  }
  if (!S_ISDIR(status.st_mode)) refuse(file, fmt::format("'{}' is not a directory", directory));
  require_writable_directory(file, directory);
}

std::string path_for_device(const std::string& path, int device) {
  if (device == 0 || path.empty()) return path;
  std::filesystem::path name(path);
  const std::string extension = name.extension().string();
  name.replace_extension(fmt::format(".{}{}", device, extension));
  return name.string();
}

}  // namespace lt_audit
