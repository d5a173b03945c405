// A file is whole or not there, and a failure names it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "report/formats.h"
#include "report/sample_report.h"

namespace lt_audit {
namespace {

std::size_t entries_of(const TemporaryDirectory& directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path())) ++count;
  return count;
}

const auto kWriteNew = [](std::ostream& out) { out << "new"; };

TEST(WriteFileAtomically, WritesLargeTextsAndLeavesNothingElse) {
  const TemporaryDirectory directory;
  const std::string text(1000003, 'x');
  write_file_atomically(directory.file("a"), [&](std::ostream& out) { out << text << '\n' << 7; });
  EXPECT_EQ(content_of(directory.file("a")), text + "\n7");
  EXPECT_EQ(entries_of(directory), 1U);
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenWritingThrows) {
  const TemporaryDirectory directory;
  const std::string path = directory.file_with("a", "old");
  const auto broken = [](std::ostream& out) {
    out << "half";
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(write_file_atomically(path, broken), std::runtime_error);
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(entries_of(directory), 1U);
}

TEST(WriteFileAtomically, KeepsPermissionsAndSymbolicLinks) {
  const TemporaryDirectory directory;
  const std::string path = directory.file_with("a", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  std::filesystem::create_symlink("a", directory.file("link"));
  write_file_atomically(directory.file("link"), kWriteNew);
  EXPECT_TRUE(std::filesystem::is_symlink(directory.file("link")));
  EXPECT_EQ(content_of(path), "new");
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(WriteFileAtomically, WritesDevicesDirectly) {
  EXPECT_NO_THROW(write_file_atomically("/dev/null", kWriteNew));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteFileAtomically, NamesPathAndReason) {
  const TemporaryDirectory directory;
  const auto error = [](const std::string& path) {
    return error_of([&] { write_file_atomically(path, kWriteNew); }, ErrorKind::cannot_run);
  };
  const std::string missing = directory.file("no/such/report.json");
  EXPECT_NE(error(missing).find("cannot create " + missing + ": No such file or directory"), std::string::npos);
  EXPECT_NE(error(directory.path().string()).find("Is a directory"), std::string::npos);
  EXPECT_NE(error(""), "");
}

TEST(WriteFileAtomically, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string error = error_of([] { write_file_atomically("/dev/full", kWriteNew); }, ErrorKind::cannot_run);
  EXPECT_NE(error.find("cannot write /dev/full: No space left on device"), std::string::npos) << error;
}

}  // namespace
}  // namespace lt_audit
