// Whole files of logs to a workload.
#include "workload/import.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lt_audit/error.h"
#include "workload/importer.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

namespace fs = std::filesystem;

const fs::path kLogs = fs::path(LT_AUDIT_DATA_DIR) / "workloads";

ImportResult import(const std::vector<std::string>& names, const std::string& standard_input = "") {
  std::istringstream in(standard_input);
  return import_files(names, in);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint64_t calls_of(const Workload& workload) {
  std::uint64_t calls = 0;
  for (const auto& problem : workload.problems) calls += problem.calls;
  return calls;
}

std::string error_of(const std::vector<std::string>& names, const std::string& standard_input = "") {
  try {
    static_cast<void>(import(names, standard_input));
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

struct Sample {
  const char* file;
  std::uint64_t calls;
  std::size_t problems;
};

class RealLog : public testing::TestWithParam<Sample> {};

TEST_P(RealLog, HasTheCallsAndProblemsOfItsApplication) {
  const auto result = import({(kLogs / GetParam().file).string()});
  EXPECT_EQ(calls_of(result.workload), GetParam().calls);
  EXPECT_EQ(result.workload.problems.size(), GetParam().problems);
  EXPECT_EQ(result.workload.damaged_lines, 0U);
  for (std::size_t i = 1; i < result.workload.problems.size(); ++i) {
    EXPECT_GE(result.workload.problems[i - 1].calls, result.workload.problems[i].calls);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, RealLog,
                         testing::Values(Sample{"lt_mlp.log", 6, 6}, Sample{"ltonly_gpt2.log", 36, 20},
                                         Sample{"ltonly_bmm.log", 25, 25}, Sample{"lt_fp8rows.log", 5, 5},
                                         Sample{"lt_int8.log", 1, 1}, Sample{"cublas_mlp.log", 4, 4},
                                         Sample{"cublas_bmm.log", 25, 20}, Sample{"tunableop_untuned0.csv", 13, 13},
                                         Sample{"tunableop_results0.csv", 6, 6}),
                         [](const auto& one) {
                           std::string name = one.param.file;
                           return name.substr(0, name.find('.'));
                         });

TEST(Import, SeveralFilesAreOneWorkloadWithTheFirstPlace) {
  const auto gpt2 = (kLogs / "ltonly_gpt2.log").string();
  const auto twice = import({gpt2, gpt2});
  EXPECT_EQ(calls_of(twice.workload), 72U);
  EXPECT_EQ(twice.workload.problems.size(), 20U);
  ASSERT_EQ(twice.files.size(), 2U);
  EXPECT_EQ(twice.files[1].calls, 36U);
  for (const auto& problem : twice.workload.problems) EXPECT_EQ(problem.first.file, gpt2);
}

TEST(Import, ReadsStandardInputAndCarriageReturns) {
  auto text = text_of(kLogs / "tunableop_untuned0.csv");
  std::string with_returns;
  for (const char c : text) with_returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto result = import({"-"}, with_returns);
  EXPECT_EQ(calls_of(result.workload), 13U);
  EXPECT_EQ(result.files[0].name, "(standard input)");
  EXPECT_EQ(result.workload.problems[0].first.file, "(standard input)");
}

TEST(Import, ReadsGzipAndTellsWhereItIsDamaged) {
  const auto path = (fs::path(testing::TempDir()) / "lt_audit_import.log.gz").string();
  const auto text = text_of(kLogs / "ltonly_bmm.log");
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(file);
  EXPECT_EQ(import({path}).workload.problems.size(), 25U);
  fs::resize_file(path, fs::file_size(path) - 40);
  const auto cut = import({path});
  EXPECT_GT(cut.workload.problems.size(), 10U);
  EXPECT_TRUE(std::any_of(cut.workload.damaged.begin(), cut.workload.damaged.end(),
                          [](const DamagedLine& line) { return line.reason.find("compressed") != std::string::npos; }));
  fs::remove(path);
}

TEST(Import, OneDamagedLineCostsItselfOnly) {
  auto text = text_of(kLogs / "ltonly_gpt2.log");
  const auto first = text.find("rows=");
  text.replace(first, 5, "rowz=");
  const auto result = import({"-"}, text);
  EXPECT_EQ(calls_of(result.workload), 35U);
  EXPECT_EQ(result.workload.damaged_lines, 1U);
  EXPECT_EQ(result.workload.damaged[0].place.line, 1U);
}

TEST(Import, WhatIsNoLogIsAMistakeOfTheUser) {
  EXPECT_NE(error_of({"/nonexistent/app.log"}).find("cannot read /nonexistent/app.log"), std::string::npos);
  EXPECT_NE(error_of({"/"}).find("cannot read /"), std::string::npos);
  EXPECT_NE(error_of({"-"}, "hello\nworld\n").find("none of its 2 lines"), std::string::npos);
  EXPECT_NE(error_of({"-"}, "").find("none of its 0 lines"), std::string::npos);
  EXPECT_NE(error_of({"-"}, "[cublasLt][1][Trace][cublasLtMatmul] A=0X0 Adesc=[type=R_16F\n").find("no call in it"),
            std::string::npos);
}

TEST(Import, AnEndlessLineIsDamagedAndTheRestIsRead) {
  const auto text = std::string(3U << 20, 'x') + "\n" + text_of(kLogs / "tunableop_untuned0.csv");
  const auto result = import({"-"}, text);
  EXPECT_EQ(calls_of(result.workload), 13U);
  EXPECT_EQ(result.workload.damaged_lines, 1U);
}

TEST(Import, TextInMemoryNeedsNoFile) {
  EXPECT_EQ(import_text(text_of(kLogs / "ltonly_bmm.log")).workload.problems.size(), 25U);
  EXPECT_TRUE(import_text("hello").workload.problems.empty());
}

TEST(OffsetOfAddress, IsTheAlignmentBelow256) {
  EXPECT_EQ(offset_of_address(0x7F913CB80000), 0);
  EXPECT_EQ(offset_of_address(0x7F913CB80008), 8);
  EXPECT_EQ(offset_of_address(0x7F913CB80018), 8);
  EXPECT_EQ(offset_of_address(0x7F913CB80001), 1);
  EXPECT_EQ(offset_of_address(0x7F913CB80080), 128);
  EXPECT_EQ(offset_of_address(0), 0);
}

}  // namespace
}  // namespace lt_audit
