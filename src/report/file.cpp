// Files that are whole or not there: a killed audit must not leave half a report under the report's name.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "lt_audit/error.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw AuditError(ErrorKind::cannot_run,
                   fmt::format("cannot {} {}: {}; choose another place for this file or make room", what, path,
                               std::strerror(error)));
}

/// Writes to a descriptor and keeps the errno of the first failure, which std::ofstream does not promise.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
    setp(block_.data(), block_.data() + block_.size());
  }

  int error() const { return error_; }

 protected:
  int_type overflow(int_type value) override {
    if (sync() != 0) return traits_type::eof();
    if (traits_type::eq_int_type(value, traits_type::eof())) return traits_type::not_eof(value);
    *pptr() = traits_type::to_char_type(value);
    pbump(1);
    return value;
  }

  int sync() override {
    const char* from = pbase();
    while (error_ == 0 && from < pptr()) {
      const ssize_t written = ::write(descriptor_, from, static_cast<std::size_t>(pptr() - from));
      if (written >= 0) {
        from += written;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(block_.data(), block_.data() + block_.size());
    return error_ == 0 ? 0 : -1;
  }

 private:
  int descriptor_;
  int error_ = 0;
  std::array<char, 1UL << 16> block_;
};

/// Closes on the way out; removes the temporary file unless it was renamed.
struct OpenFile {
  int descriptor = -1;
  std::string temporary;

  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }
};

void write_through(int descriptor, const std::string& path, const std::function<void(std::ostream&)>& write) {
  // On the heap: 64 KiB are much for a stack that a caller may have chosen.
  const auto buffer = std::make_unique<DescriptorBuffer>(descriptor);
  std::ostream out(buffer.get());
  write(out);
  out.flush();
  if (buffer->error() != 0) fail(path, "write", buffer->error());
  if (!out) fail(path, "write", EIO);
}

/// A new file beside `path`, so that the rename stays within one file system.
void create_temporary(const std::string& path, OpenFile& file) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = fmt::format("{}.tmp-{}-{}", path, ::getpid(), attempt);
    file.descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor >= 0) {
      file.temporary = name;
      return;
    }
    if (errno != EEXIST) break;
  }
  fail(path, "create", errno);
}

void write_special(const std::string& path, const std::function<void(std::ostream&)>& write) {
  OpenFile file;
  file.descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file.descriptor < 0) fail(path, "open", errno);
  write_through(file.descriptor, path, write);
}

/// The file behind symbolic links: a link that the user made must stay one.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real == nullptr ? path : std::string(real.get());
}

}  // namespace

void write_file_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_special(path, write);

  const std::string target = exists ? resolved(path) : path;
  OpenFile file;
  create_temporary(target, file);
  if (exists) static_cast<void>(::fchmod(file.descriptor, status.st_mode & 0777U));
  write_through(file.descriptor, path, write);
  // Some file systems cannot sync (EINVAL); a full one says so here at the latest.
  if (::fsync(file.descriptor) != 0 && errno != EINVAL && errno != ENOTSUP) fail(path, "write", errno);
  const int descriptor = std::exchange(file.descriptor, -1);
  if (::close(descriptor) != 0) fail(path, "write", errno);
  if (::rename(file.temporary.c_str(), target.c_str()) != 0) fail(path, "write", errno);
  file.temporary.clear();
}

}  // namespace lt_audit
