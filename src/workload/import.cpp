#include "workload/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <istream>
#include <memory>

#include "lt_audit/error.h"
#include "workload/importer.h"
#include "workload/workload_builder.h"

namespace lt_audit {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
/// A longer line is of no log; HLO lines with their configuration stay below.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

std::vector<std::unique_ptr<LineImporter>> make_importers() {
  std::vector<std::unique_ptr<LineImporter>> importers;
  // In the order of how many lines each may see.
  importers.push_back(make_cublaslt_log_importer());
  importers.push_back(make_cublas_log_importer());
  importers.push_back(make_hipblaslt_importer());
  importers.push_back(make_xla_importer());
  importers.push_back(make_pytorch_importer());
  importers.push_back(make_tunableop_importer());
  return importers;
}

/// The lines of one file, as its bytes come in.
class FileReader {
 public:
  FileReader(WorkloadBuilder& builder, const std::string& name) : builder_(builder), importers_(make_importers()) {
    file_.name = name;
    builder_.begin_file(name);
    calls_before_ = builder.calls();
    damaged_before_ = builder.damaged_lines();
  }

  void append(std::string_view bytes) {
    for (;;) {
      const auto end = bytes.find('\n');
      if (end == std::string_view::npos) break;
      if (rest_.empty()) {
        line(bytes.substr(0, end));
      } else {
        rest_.append(bytes.substr(0, end));
        line(rest_);
        rest_.clear();
      }
      bytes.remove_prefix(end + 1);
    }
    // Of an endless line only what shows that it is one is kept.
    if (rest_.size() <= kLongestLine) rest_.append(bytes);
  }

  /// The bytes ended too early.
  void broken(const std::string& reason) { builder_.damaged(file_.lines + 1, reason); }

  ImportedFile finish() {
    if (!rest_.empty()) line(rest_);
    for (const auto& importer : importers_) importer->finish(builder_);
    file_.calls = builder_.calls() - calls_before_;
    file_.damaged = builder_.damaged_lines() - damaged_before_;
    return file_;
  }

 private:
  void line(std::string_view text) {
    ++file_.lines;
    if (text.size() > kLongestLine) {
      builder_.damaged(file_.lines, fmt::format("the line is longer than {} bytes", kLongestLine));
      return;
    }
    if (text.ends_with('\r')) text.remove_suffix(1);
    for (std::size_t i = 0; i < importers_.size(); ++i) {
      if (!importers_[i]->claims(text)) continue;
      importers_[i]->take(text, file_.lines, builder_);
      ++file_.claimed[std::string(importers_[i]->format())];
      return;
    }
  }

  WorkloadBuilder& builder_;
  std::vector<std::unique_ptr<LineImporter>> importers_;
  ImportedFile file_;
  std::string rest_;
  std::uint64_t calls_before_ = 0;
  std::uint64_t damaged_before_ = 0;
};

using GzFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

[[noreturn]] void cannot_read(const std::string& name, const char* why) {
  throw AuditError(ErrorKind::usage, fmt::format("cannot read {}: {}; give the path of a log file", name, why));
}

/// Plain files too: zlib hands through what is not gzip.
void read_file(const std::string& name, FileReader& reader) {
  errno = 0;
  const GzFile file(gzopen(name.c_str(), "rb"), gzclose);
  if (!file) cannot_read(name, errno != 0 ? std::strerror(errno) : "out of memory");
  gzbuffer(file.get(), kBlock);
  std::vector<char> block(kBlock);
  for (;;) {
    errno = 0;
    const int count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    if (count > 0) reader.append({block.data(), static_cast<std::size_t>(count)});
    if (count == static_cast<int>(block.size())) continue;
    int error = Z_OK;
    const char* what = gzerror(file.get(), &error);
    if (error == Z_ERRNO) cannot_read(name, std::strerror(errno));
    if (error != Z_OK && error != Z_STREAM_END) reader.broken(fmt::format("the compressed data are damaged: {}", what));
    return;
  }
}

void read_stream(std::istream& in, FileReader& reader) {
  std::vector<char> block(kBlock);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    reader.append({block.data(), static_cast<std::size_t>(in.gcount())});
  }
}

void require_understood(const ImportedFile& file, const Workload& so_far) {
  if (file.claimed.empty()) {
    throw AuditError(ErrorKind::usage,
                     fmt::format("{}: none of its {} lines is of a format that is known: a cuBLASLt log "
                                 "(CUBLASLT_LOG_MASK=2 or more), a cuBLAS log (CUBLAS_LOGINFO_DBG=1), TunableOp CSV, "
                                 "PyTorch error lines, hipblaslt-bench lines, or HLO text",
                                 file.name, file.lines));
  }
  if (file.calls > 0 || file.damaged == 0) return;
  const auto first = std::find_if(so_far.damaged.begin(), so_far.damaged.end(),
                                  [&](const DamagedLine& one) { return one.place.file == file.name; });
  throw AuditError(ErrorKind::usage,
                   fmt::format("{}: no call in it could be read, {} lines are damaged{}", file.name, file.damaged,
                               first == so_far.damaged.end()
                                   ? ""
                                   : fmt::format("; the first is line {}: {}", first->place.line, first->reason)));
}

}  // namespace

std::int64_t offset_of_address(std::uint64_t address) {
  const auto below = address % 256;
  return static_cast<std::int64_t>(below & (~below + 1));
}

ImportResult import_files(const std::vector<std::string>& names, std::istream& standard_input) {
  ImportResult result;
  WorkloadBuilder builder;
  for (const auto& name : names) {
    FileReader reader(builder, name == "-" ? "(standard input)" : name);
    if (name == "-") {
      read_stream(standard_input, reader);
    } else {
      read_file(name, reader);
    }
    result.files.push_back(reader.finish());
  }
  result.workload = builder.take();
  for (const auto& file : result.files) require_understood(file, result.workload);
  return result;
}

ImportResult import_text(std::string_view text) {
  ImportResult result;
  WorkloadBuilder builder;
  FileReader reader(builder, "(text)");
  reader.append(text);
  result.files.push_back(reader.finish());
  result.workload = builder.take();
  return result;
}

}  // namespace lt_audit
